"""Cases that cannot run: check names them, and a plan starts without them only where somebody says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from shakedown.cli.check import _render
from shakedown.model.errors import UsageError
from shakedown.model.frozen import freeze, thaw
from shakedown.model.nouns import Document
from shakedown.plans.checking import check_site
from shakedown.plans.unavailable import WAY, lost_cases, started_with

SYSTEM = """\
system: big
clusters:
  one:
    scheduler: slurm
    licences: {solver: 2}
    partitions: {batch: {nodes: "n[1-4]", type: t, time_limit: 1h}}
node_types: {t: {cores: 16}}
toolchains: {gcc: {cc: gcc}}
budgets: {solver: 2}
"""
ELSEWHERE = "system: other\nclusters: {two: {scheduler: slurm, partitions: {far: {nodes: n1, type: t}}}}\n" + (
    "node_types: {t: {cores: 2}}\ntoolchains: {intel: {cc: icc}}\n"
)
PLAN = "plan: p\nsystem: big\nKEYS\ncomponents:\n  - functionality: {tests: [fine, odd]}\n"
REASONS = [
    ("run: {command: x, time_limit: 2h}", "its time limit is 2 h 00 min and partition batch allows 1 h 00 min"),
    ("run: {command: x, nodes: 5}", "it takes 5 nodes and partition batch has 4 nodes"),
    ("run: {command: x, cpus_per_task: 17}", "it takes 17 cores of a node and one of partition batch has 16"),
    ("run: {command: x}\nloads: {solver: 3}", "one run takes 3 of solver and the budget is 2"),
    ("run: {command: x}\nparameters: {toolchain: [intel]}", "system big has no toolchain intel"),
    ("run: {command: x}\nwhere: {partitions: [far]}", "system big has no partition far"),
]


@pytest.fixture
def write(site: Any) -> Any:
    def files(odd: str, keys: str = "", plan: str = PLAN) -> Any:
        site.write("systems/big.yaml", SYSTEM)
        site.write("systems/other.yaml", ELSEWHERE)
        site.write("tests/fine.yaml", "test: fine\nrun: {command: x}\n")
        site.write("tests/odd.yaml", f"test: odd\n{odd}\n")
        return site.plan(plan.replace("KEYS", keys))

    return files


@pytest.mark.parametrize(("odd", "reason"), REASONS)
def test_a_plan_is_refused_by_the_case_that_cannot_run(write: Any, site: Any, here: Any, odd: str, reason: str) -> None:
    document: Document = write(odd)
    (case,) = [case.id for case in document.cases if case.test == "odd"]

    with pytest.raises(UsageError) as refused:
        started_with(document, None)

    assert refused.value.status == 2
    assert refused.value.message == f"plan p does not start: 1 of its 2 cases cannot run\n  {case}: {reason}"
    assert refused.value.hint == WAY
    checked = check_site(Path(site.path), lambda: here)
    assert checked.problems == ()
    (warning,) = checked.warnings
    assert (warning.path, warning.line, warning.column) == ("site/plans/p.yaml", 5, 35)
    assert warning.message == f"functionality: {case} cannot run: {reason}"
    assert [(lost.case, lost.reason) for lost in checked.unavailable] == [(case, reason)]


def test_it_starts_where_the_plan_or_the_person_says_so(write: Any) -> None:
    odd = "run: {command: x, nodes: 5}"
    assert started_with(write(odd, "unavailable: restrict"), None).unavailable == "restrict"
    chosen = started_with(write(odd), "restrict")
    assert thaw(freeze(chosen)).unavailable == "restrict"  # the record keeps that somebody decided it
    with pytest.raises(UsageError):
        started_with(write(odd, "unavailable: restrict"), "refuse")


def test_a_plan_whose_cases_all_run_needs_no_word(write: Any) -> None:
    document = write("run: {command: x}")
    assert lost_cases(document) == []
    assert started_with(document, None) == document


def test_a_filler_that_cannot_run_counts_too(write: Any) -> None:
    plan = "plan: p\nsystem: big\ncomponents:\n  - stability: {tests: [fine], duration: 1d, filler: odd}\n"
    with pytest.raises(UsageError, match="1 of its 2 cases cannot run"):
        started_with(write("run: {command: x, nodes: 5}", plan=plan), None)


def test_many_cases_of_one_reason_are_one_warning_and_all_are_in_the_refusal(write: Any, site: Any, here: Any) -> None:
    numbers = ", ".join(str(17 + number) for number in range(9))
    document = write(f'parameters: {{n: [{numbers}]}}\nrun: {{command: x, nodes: 5, cpus_per_task: "{{n}}"}}')
    with pytest.raises(UsageError) as refused:
        started_with(document, None)
    assert all(f"odd/n={17 + number}: " in refused.value.message for number in range(9))
    (warning,) = check_site(Path(site.path), lambda: here).warnings
    assert "odd/n=22 and 3 more cannot run: it takes 5 nodes" in warning.message


def test_an_old_document_keeps_its_meaning(write: Any) -> None:
    """Before, a plan started without asking."""
    import msgspec

    data = msgspec.json.decode(freeze(write("run: {command: x, nodes: 5}")))
    del data["unavailable"]
    old = thaw(msgspec.json.encode(data))
    assert old.unavailable == ""
    assert [lost.case for lost in lost_cases(old)] == ["odd"]


LONG = "test: long\nparameters: {hours: [1, 2]}\nrun: {time_limit: '{hours}h', command: x}\n"
FAR = "test: far\nrun: {command: x}\nwhere: {partitions: [far]}\n"


def test_check_says_what_a_system_does_not_allow_also_where_no_plan_asks_for_it(site: Any, here: Any) -> None:
    site.write("systems/big.yaml", SYSTEM)
    site.write("systems/other.yaml", ELSEWHERE)
    site.write("tests/long.yaml", LONG)
    site.write("tests/far.yaml", FAR)  # is for the other system, and no mistake on this one
    checked = check_site(site.path, lambda: here)
    assert checked.problems == ()
    assert checked.beyond == {
        "big": {"long/hours=2": "its time limit is 2 h 00 min and partition batch allows 1 h 00 min"}
    }
    line = (
        "system big: long/hours=2 cannot run there: its time limit is 2 h 00 min and partition batch allows 1 h 00 min"
    )
    assert _render(checked, ()).endswith(f"nothing is wrong\n{line}")
    assert check_site(site.path, lambda: here, (str(site.path / "tests/far.yaml"),)).beyond == {}

    site.write("tests/long.yaml", LONG.replace("[1, 2]", "[2, 3]"))
    told = _render(check_site(site.path, lambda: here), ())
    assert told.endswith("system big: 2 cases cannot run there; 'shakedown list cases --system big' says why")
