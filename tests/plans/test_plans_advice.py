"""Plans without a fault that may not do what they were meant to: check says so, and what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from shakedown.model.nouns import Cluster, NodeType, Partition, System
from shakedown.plans.checking import check_site

HERE = System(
    name="here",
    clusters=(Cluster("local", "local", (Partition("all", "local", "localhost", 1, "host"),)),),
    node_types=(NodeType("host", cores=4),),
)
SYSTEM = """\
system: big
clusters: {one: {scheduler: slurm, LICENCES, partitions: {batch: {nodes: "n[001-100]", type: t, time_limit: 1d}}}}
node_types: {t: {cores: 16}}
filesystems: {f2: {path: "/f2/{mdt}", targets: {mdt: [a, b, c, d]}}}
budgets: {f2/mdt: BUDGET, band: 40 GB/s}
"""
TESTS = {
    "narrow": "run: {command: x, time_limit: 1h}\nloads: {f2/mdt: 1}",
    "wide": "run: {command: srun x, nodes: 4, time_limit: 2h}\nloads: {band: 4 GB/s}",
    "light": "run: {command: x, time_limit: 10min}",
}
PLAN = "plan: p\nsystem: big\ncomponents:\n  - stability:\n      tests: [TESTS]\n      duration: 10d\n      KEYS\n"


def warned(
    site: Any, tests: str, keys: str, budget: str = "8 per target", licences: str = "licences: {x: 1}"
) -> list[str]:
    site.write("systems/big.yaml", SYSTEM.replace("BUDGET", budget).replace("LICENCES", licences))
    for name, text in TESTS.items():
        site.write(f"tests/{name}.yaml", f"test: {name}\n{text}\n")
    site.write("plans/p.yaml", PLAN.replace("TESTS", tests).replace("KEYS", keys))
    checked = check_site(Path(site.path), lambda: HERE)
    assert checked.problems == ()
    return [f"{p.line}:{p.column}: {p.message} ({p.hint})" for p in checked.warnings]


@pytest.mark.parametrize(
    ("tests", "keys", "share"),
    [
        ("narrow", "fill: {target: 98%}", "32%"),  # 4 targets with 8 each, of 100 nodes
        ("narrow", "fill: {target: 98%}\n      limits: {budgets: {f2/mdt: 50%}}", "16%"),
        ("narrow", "fill: {target: 98%}\n      limits: {copies: {narrow: 7}}", "7%"),
        ("wide", "fill: {target: 98%}", "40%"),  # 10 of them
        ("narrow, wide", "fill: {target: 98%}\n      limits: {copies: {narrow: 10, wide: 4}}", "26%"),
        ("narrow, wide", "fill: {target: 70%}\n      limits: {copies: {narrow: 99}}", ""),
    ],
)
def test_caps_that_leave_the_machine_idle(site: Any, tests: str, keys: str, share: str) -> None:
    target = "98%" if share else "70%"
    said = f"stability: caps and budgets leave at most {share} of one:batch busy, and the target is {target}"
    way = "raise limits, add a filler that they do not bind, or lower fill.target"
    assert warned(site, tests, keys) == ([f"7:14: {said} ({way})"] if share else [])


def test_a_filler_takes_what_caps_leave(site: Any) -> None:
    assert warned(site, "narrow", "fill: {target: 98%}\n      filler: light") == []


def test_who_does_not_say_how_full_is_told_nothing(site: Any) -> None:
    assert warned(site, "narrow", "limits: {copies: {narrow: 7}}") == []


def test_what_survives_without_a_licence_waits_in_chains(site: Any) -> None:
    (said,) = warned(site, "narrow, light", "fill: {target: 1%, survive: 8h}")
    assert said == (
        "7:26: stability: f2/mdt is no licence of cluster one: for 8 h 00 min without a conductor its runs wait in chains"
        " of at least 8 jobs, by the time limit of narrow, 1 h 00 min (with licences they need no chains:"
        ' in the system\'s file: budgets: {f2/mdt: {amount: 8 per target, licence: "NAME_{target}"}}, with the name of the licence)'
    )
    budget, licences = '{amount: 8 per target, licence: "l_{target}"}', "licences: {l_a: 8, l_b: 8, l_c: 8, l_d: 8}"
    assert warned(site, "narrow, light", "fill: {target: 1%, survive: 8h}", budget, licences) == []
    wider = licences.replace("8", "9")
    (said,) = warned(site, "narrow, light", "fill: {target: 1%, survive: 8h}", budget, wider)
    assert "cluster one hands out 9 of licence l_a, and f2/mdt is 8: for 8 h 00 min" in said
    assert said.endswith("leave f2/mdt as wide as its licence)")


@pytest.mark.parametrize(
    ("windows", "closed"),
    [
        ('{days: daily, from: "00:00", to: "24:00", closed: yes}', True),
        ('{from: "Mon 06:00", to: "Fri 18:00", closed: yes}, {from: "Fri 12:00", to: "Mon 06:00", closed: yes}', True),
        ('{from: "Mon 06:00", to: "Fri 18:00", closed: yes}, {from: "Fri 18:01", to: "Mon 06:00", closed: yes}', False),
        ('{days: daily, from: "00:00", to: "24:00", copies: {light: 1}}', False),
    ],
)
def test_windows_that_are_closed_the_whole_week(site: Any, windows: str, closed: bool) -> None:
    said = "7:7: stability: its windows are closed the whole week: nothing of it is ever ordered (leave a time open)"
    assert warned(site, "light", f"windows: [{windows}]") == ([said] if closed else [])


def test_a_run_that_cannot_be_over_in_time(site: Any) -> None:
    phases = "phases: [{name: x, duration: 10min}, {name: y, duration: 9d23h50min}]"
    (said,) = warned(site, "light", phases)
    assert said.startswith(
        "7:7: stability: a run of light may take 10 min 00 s, and there are only 10 min 00 s: the first ones may end late"
    )
    assert warned(site, "light", f"{phases}\n      fill: {{drain: no}}") == []


def test_a_pack_that_the_scheduler_gives_no_job_for(site: Any) -> None:
    site.write("tests/one.yaml", "test: one\nrun: {command: srun x, tasks_per_node: 8, time_limit: 6h}\n")
    keys = "name: x\n  - functionality:\n      tests: [one]\n      repeats: 50\n      pack: {runs: 10}"
    (said,) = warned(site, "light", keys)
    assert said == (
        "11:7: functionality: 10 runs of a pack may take 1 d 6 h together: an allocation will have fewer"
        " (partition batch gives a job 1 d 0 h; shorter time limits let it have more)"
    )


def test_a_pack_on_the_machine_that_the_driver_runs_on_has_no_effect(site: Any) -> None:
    site.write("tests/one.yaml", "test: one\nrun: {command: x}\n")
    site.write(
        "plans/p.yaml", "plan: p\nsystem: here\ncomponents:\n  - functionality: {tests: [one], pack: {at_once: 1}}\n"
    )
    (warning,) = check_site(Path(site.path), lambda: HERE).warnings
    assert warning.line == 4 and str(warning.hint).startswith("limit how many run at once with limits: copies")
    assert warning.message.startswith("functionality: pack has no effect on local:all:")
    site.write("plans/p.yaml", "plan: p\nsystem: here\ncomponents:\n  - functionality: {tests: [one]}\n")
    assert check_site(Path(site.path), lambda: HERE).warnings == ()


def test_the_command_prints_them_and_ends_well(site: Any, here: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner

    from shakedown import machine
    from shakedown.cli.main import cli

    monkeypatch.setattr(machine, "this_system", lambda: here)
    warned(site, "narrow", "fill: {target: 98%}")
    result = CliRunner().invoke(cli, ["check", "--site", str(site.path)], standalone_mode=False)
    assert (result.exception, result.return_value) == (None, 0)
    first, hint, last = result.output.splitlines()
    assert first.startswith("warning: site/plans/p.yaml:7:14: stability: caps and budgets leave at most 32%")
    assert hint.startswith("hint: raise limits")
    assert last.endswith("nothing is wrong")
