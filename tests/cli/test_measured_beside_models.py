"""``--measured`` and ``--model``: what a campaign measured beside a model, as a person types it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from compared_campaigns import HERE

from shakedown import machine
from shakedown.cli.main import cli
from shakedown.events.campaigns import create_campaign
from shakedown.events.lease import Lease
from shakedown.events.opening import open_log
from shakedown.model.errors import UsageError
from shakedown.model.events import Event
from shakedown.model.frozen import digest, freeze
from shakedown.plans import read_plan
from shakedown.twin.models.write_streams import KNL

NOISE = """\
test: noise
run: {tasks_per_node: 4, command: x}
figures: {noise: {json: a, unit: "%", better: lower}, worst_core: {json: b, unit: "%", better: lower}}
"""
CHECKPOINT = """\
test: checkpoint
run: {tasks_per_node: 4, command: x}
figures: {write: {json: a, unit: GB/s, better: higher}, read: {json: b, unit: MB/s, better: higher}}
"""
SCALED = """\
test: scaled
parameters: {n: [1, 2, 4]}
scaling: {along: n, kind: strong}
run: {command: x}
"""
PLAN = "plan: p\nsystem: here\ncomponents: [{performance: {tests: [noise, checkpoint, scaled], repeats: 3}}]\n"
VALUES: dict[str, list[dict[str, Any]]] = {
    "noise": [{"figures": {"noise": value, "worst_core": 3.0}} for value in (1.5, 2.0, 2.5)],
    "checkpoint": [{"figures": {"write": value, "read": 1000.0}} for value in (0.8, 0.9, 1.2)],
    "scaled/n=1": [{"elapsed_s": 100.0}],
    "scaled/n=2": [{"elapsed_s": value} for value in (66.0, 60.0, 57.0)],
    "scaled/n=4": [{"elapsed_s": 50.0}],
}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(machine, "this_system", lambda: HERE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "80")
    tests = {f"tests/{text.split()[1]}.yaml": text for text in (NOISE, CHECKPOINT, SCALED)}
    for name, text in {"site.yaml": "site: s\n", "plans/p.yaml": PLAN, **tests}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    document = read_plan(tmp_path, "p", lambda: HERE)
    frozen = freeze(document)
    layout = create_campaign(tmp_path / "campaigns", "p-1", frozen)
    events = [Event("campaign_start", 1, 1000.0, value={"campaign": "p-1", "plan": "p", "document": digest(frozen)})]
    for case in document.cases:
        for repeat, facts in enumerate(VALUES[case.id], 1):
            number = len(events) + 1
            value = {"component": "performance", "repeat": repeat, "attempt": 1, "verdict": "passed", **facts}
            events.append(
                Event("verdict", number, 1000.0 + number, value=value, reason="ok", case=case.id, run=f"r{number:06d}")
            )
    with Lease.acquire(layout) as lease:
        log, _ = open_log(layout.log, lease)
        log.append(events)
        log.close()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told(*words: str) -> str:
    result = CliRunner().invoke(cli, list(words), standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    return result.stdout


def rows(*words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(told(*words, "--json"))["measured"]
    return found


TICK = ("--source", "tick,period=10ms,duration=100us,core")


@pytest.mark.usefixtures("site")
def test_noise_of_each_core_beside_the_sources_on_the_same_ranks() -> None:
    noise, worst = rows("twin", "noise", "--measured", "p-1:noise", *TICK)
    assert (noise["about"], noise["count"], noise["measured"], noise["low"], noise["high"]) == (
        "noise",
        3,
        2.0,
        1.5,
        2.5,
    )
    assert noise["model"] == pytest.approx(100 / 99) and noise["deviation"] == pytest.approx(2 / (100 / 99) - 1)
    assert (worst["figure"], worst["measured"]) == ("worst_core", 3.0) and worst["model"] == pytest.approx(100 / 99)
    text = told("twin", "noise", "--measured", "p-1", *TICK)
    assert text.startswith("Noise of p-1 beside a model; 1 source as given, 1 ms of work.")
    assert "+98.0%" in text and "+197.0%" in text and max(map(len, text.splitlines())) <= 80
    assert "sources assumed" in told("twin", "noise", "--measured", "p-1")


@pytest.mark.usefixtures("site")
def test_a_daemon_of_the_node_is_shared_by_its_cores() -> None:
    daemon = ("--source", "d,period=1s,duration=40ms,node")
    assert rows("twin", "noise", "--measured", "p-1", *daemon)[0]["model"] == pytest.approx(100 / 99)


@pytest.mark.usefixtures("site")
def test_rates_of_checkpoints_beside_the_models_in_one_unit() -> None:
    write, read = rows("twin", "checkpoint", "--measured", "p-1", "--bandwidth", "1 GB/s", "--read", "800 MB/s")
    assert (write["measured"], write["model"], write["unit"]) == (pytest.approx(900.0), 1000.0, "MB/s")
    assert write["deviation"] == pytest.approx(-0.1) and read["deviation"] == pytest.approx(0.25)
    assert "-10.0%" in told("twin", "checkpoint", "--measured", "p-1", "--bandwidth", "1 GB/s")
    streams = rows("twin", "checkpoint", "--measured", "p-1:checkpoint")[0]
    assert streams["model"] == pytest.approx(KNL.bytes_per_s(4) / 1e6), "as many streams as the case has ranks"


@pytest.mark.usefixtures("site")
def test_run_times_beside_the_law_that_fits_best() -> None:
    """As in tests/metrics/test_beside_model.py: 64.6 and 46.9 s where 60 and 50 s were measured."""
    found = rows("scaling", "p-1", "--model")
    assert [one["about"] for one in found] == ["scaled, n=1", "scaled, n=2", "scaled, n=4"]
    assert [round(one["model"], 2) for one in found] == [100.0, 64.62, 46.92]
    assert [(one["low"], one["measured"], one["high"]) for one in found][1] == (57.0, 60.0, 66.0), "of the values"
    text = told("scaling", "p-1", "--model")
    assert "scaled: Amdahl, serial share 29.2%" in " ".join(text.split()) and "+6.6%" in text and "-7.1%" in text


def test_the_figure_has_a_point_for_each_row(site: Path) -> None:
    told("twin", "noise", "--measured", "p-1", *TICK, "--figure", "beside.svg")
    told("scaling", "p-1", "--model", "--figure", "law.svg")
    assert (site / "beside.svg").read_text().startswith("<?xml") and (site / "law.svg").stat().st_size > 2000


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("twin", "noise", "--measured", "p-1:nois"), "no test 'nois' of p-1 measures noise in %"),
        (("twin", "noise", "--measured", "p-1:scaled"), "no test 'scaled' of p-1 measures noise in %"),
        (("twin", "noise", "--measured", "p-1", "--example", "asci-q"), "--measured does not go with --example"),
        (("scaling", "p-1", "--model", "--csv", "a.csv"), "--csv does not go with --model"),
    ],
)
@pytest.mark.usefixtures("site")
def test_wrong_use(words: tuple[str, ...], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        told(*words)
