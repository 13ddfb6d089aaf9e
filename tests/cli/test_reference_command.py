"""shakedown reference: what it prints is a contract, of the history it was asked for."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from shakedown import machine
from shakedown.cli.main import cli
from shakedown.events.campaigns import create_campaign
from shakedown.events.lease import Lease
from shakedown.events.opening import open_log
from shakedown.model.errors import UsageError
from shakedown.model.events import Event
from shakedown.model.frozen import digest, freeze
from shakedown.model.nouns import Cluster, Document, NodeType, Partition, System
from shakedown.plans import read_plan
from shakedown.plans.checking import check_site

HERE = System(
    name="here",
    clusters=(Cluster("local", "local", (Partition("all", "local", "localhost", 1, "host"),)),),
    node_types=(NodeType("host", cores=4),),
)
TEST = """\
test: a
parameters: {n: [1, 2], kind: ["x;y", z]}
run: {command: x}
figures: {triad: {json: a, unit: GB/s, better: higher}}
"""
PLAN = "plan: p\nsystem: here\ncomponents: [{performance: {tests: [a], repeats: 5}}]\n"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A site with two campaigns of its plan; each value of the case a/n=1 is the campaign's number more."""
    monkeypatch.setattr(machine, "this_system", lambda: HERE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "site"
    for name, text in {"site.yaml": "site: s\n", "tests/a.yaml": TEST, "plans/p.yaml": PLAN}.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)
    document = read_plan(path, "p", lambda: HERE)
    for number in (1, 2):
        campaign(path, document, f"p-{number}", [10.0 * number + value for value in range(5)])
    monkeypatch.chdir(path)
    return path


def campaign(site: Path, document: Document, name: str, values: list[float]) -> None:
    """The record of a campaign in which the first case gave these values, the others none."""
    frozen = freeze(document)
    layout = create_campaign(site / "campaigns", name, frozen)
    start = {"campaign": name, "plan": "p", "document": digest(frozen)}
    events = [Event("campaign_start", 1, 100.0 + len(name) + float(name[-1]), value=start)]
    for number, value in enumerate(values, 1):
        fact: dict[str, Any] = {"component": "performance", "repeat": number, "attempt": 1, "verdict": "passed"}
        fact |= {"figures": {"triad": value}, "elapsed_s": 2.0}
        case, run = document.cases[0].id, f"r{number:06d}"
        events.append(Event("verdict", number + 1, 200.0, case=case, run=run, value=fact, reason="passed"))
    with Lease.acquire(layout) as lease:
        log, _ = open_log(layout.log, lease)
        log.append(events)
        log.close()


def invoke(*words: str) -> Result:
    result = CliRunner().invoke(cli, ["reference", *words], standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    return result


@pytest.mark.parametrize(("form", "suffix"), [("--yaml", "yaml"), ("--csv", "csv")])
def test_what_is_printed_is_a_contract_that_the_plan_can_name(site: Path, form: str, suffix: str) -> None:
    (site / "contracts").mkdir()
    (site / f"contracts/history.{suffix}").write_text(invoke("--from", "p-1", "p-2", form).stdout)
    (site / "plans/p.yaml").write_text(PLAN + "contract: history\n")
    assert check_site(site, lambda: HERE).problems == ()
    document = read_plan(site, "p", lambda: HERE)
    assert [(row.figure, row.must, row.low, row.high) for row in document.contracts[0].rows] == [
        ("elapsed", "2 s +0.06 s", None, 2.06),
        ("triad", "17 GB/s -22.2 GB/s", pytest.approx(-5.2), None),
    ]
    assert [case.rows for case in document.cases] == [("history:1", "history:2"), (), (), ()]


def test_rows_say_what_they_rest_on_and_warnings_go_to_standard_error(site: Path) -> None:
    result = invoke("--from", "p-1", "--tolerance", "5%", "--basis", "site", "--name", "base")
    lines = result.stdout.splitlines()
    assert lines[0] == "contract: base"
    assert (
        '"triad", "12 GB/s -5%", "site", "", "n 5, median 12 GB/s, spread 1.483 GB/s, 10..14 GB/s; p-1 epoch 1"]'
        in lines[-1]
    )
    assert result.stderr.splitlines() == [
        "warning: p-1: no run of a/n=1,kind=z passed",
        "warning: p-1: no run of a/n=2,kind=x;y passed",
        "warning: p-1: no run of a/n=2,kind=z passed",
    ]


def test_without_a_campaign_the_newest_is_taken_and_json_has_the_numbers(site: Path) -> None:
    data = json.loads(invoke("--json").stdout)
    triad = data["rows"][1]
    assert (triad["median"], triad["count"], triad["origins"]) == (22.0, 5, ["p-2 epoch 1"])
    assert triad["spread"] == pytest.approx(1.4826)


WORDS = "is no distance from a median\nhint: write 3 (spreads) or 5% (of the median)"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--tolerance", "tight"), f"--tolerance 'tight' {WORDS}"),
        (("--tolerance", "0"), f"--tolerance '0' {WORDS}"),
        (("--name", "a b"), "--name 'a b' is no name for a contract\nhint: use letters, digits, '_', '-', '.' and '+'"),
        (("--from", "p-3"), "there is no campaign 'p-3' in "),
    ],
)  # fmt: skip
def test_wrong_use_is_told(site: Path, words: tuple[str, ...], message: str) -> None:
    with pytest.raises(UsageError, match=f"^{re.escape(message)}"):
        invoke(*words)


def test_a_campaign_in_which_nothing_passed_proposes_nothing(site: Path) -> None:
    campaign(site, read_plan(site, "p", lambda: HERE), "p-9", [])
    with pytest.raises(UsageError, match="no run of p-9 passed, so there is nothing to propose"):
        invoke("--from", "p-9")
