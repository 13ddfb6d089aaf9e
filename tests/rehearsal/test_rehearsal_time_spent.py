"""Where the time went, as the record of a rehearsal tells it, beside the books that the simulated machine itself kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec.structs import replace
from rehearsal_plans import NODES, USUAL, Mixed, Played, play, times

from shakedown.cli.main import cli
from shakedown.events.reader import read_events
from shakedown.metrics.overlap import span_of
from shakedown.metrics.time_spent import TimeSpent, group_of
from shakedown.model.clocks import without
from shakedown.model.scenario import Builds, Scenario
from shakedown.report.reading import read_campaign
from shakedown.report.time_spent import spent_time

CLOSE = 0.02  # of the node-hours


def told(played: Played) -> TimeSpent:
    read = read_campaign(played.layout.root)
    found = spent_time(read.layout, read.document, read.record)
    assert found is not None and not found.trouble
    assert sum(part.node_us for part in found.parts) == found.node_us
    return found


def share(found: TimeSpent, *groups: str) -> float:
    return sum(found.share(found.groups().get(group, 0)) for group in groups)


@pytest.mark.parametrize(
    ("wish", "seconds", "faults"),
    [
        ({"per_target": 2.0}, {}, ()),
        ({"copies": (("small", 3), ("large", 3))}, {}, ()),
        ({"stagger_s": 200.0}, {}, ()),
        ({"widths": (9, 9)}, {}, ()),
        ({"hours": 1.0, "limit_s": 7200.0}, {"small": 1500.0, "large": 1500.0}, ()),
        ({"ramp_s": 3 * 3600.0}, {}, ()),
        ({}, {}, ("timeout=30%",)),
        ({}, {}, ("crash=2h/1h",)),
        ({"hours": 0.3, "queue_ahead_s": 0.0, "limit_s": 60.0}, {"small": 10.0, "large": 10.0}, ()),
    ],
)
def test_the_record_tells_what_the_machine_kept_in_its_books(
    wish: dict[str, Any], seconds: dict[str, float], faults: tuple[str, ...], tmp_path: Path
) -> None:
    """Both by group: what worked, what came to nothing, and what kept the others idle."""
    played = play(tmp_path, Mixed(**wish).plan(), times(**(USUAL | seconds)), *faults)
    found, limits = told(played), played.limits
    assert share(found, "worked") == pytest.approx(limits.share, abs=CLOSE)
    books: dict[str, float] = {}
    for limit in limits.limits:
        books[group_of(limit.cause)] = books.get(group_of(limit.cause), 0.0) + limit.share
    for group, part in books.items():
        assert share(found, group) == pytest.approx(part, abs=CLOSE), (group, found.groups(), books)


def test_builds_that_runs_wait_for_are_told_apart(tmp_path: Path) -> None:
    wish = Mixed(building=True, hours=3.0, copies=(("small", 4),), builds=1)
    played = play(tmp_path, wish.plan(), replace(times(**USUAL), builds=Builds(mean_s=1500.0)))
    building = sum(limit.share for limit in played.limits.limits if limit.cause.startswith("build"))
    assert building > 0.1
    assert share(told(played), "build") == pytest.approx(building, abs=CLOSE)


def test_nodes_that_fail_are_down_until_they_are_at_work_again(tmp_path: Path) -> None:
    """A node that is dead for two hours of six: the record knows it from the run that it took with it to its next run."""
    played = play(tmp_path, Mixed().plan(), times(**USUAL), "dead_node=n03@1h/2h")
    found = told(played)
    down = [one for one in found.outs if one.kind == "down"]
    assert [(one.node, one.failed, one.known) for one in down] == [("n03", True, True)]
    assert down[0].end - down[0].begin == pytest.approx(7200, abs=700), "it waits for its next run of ten minutes"
    assert found.groups()["down"] / 1e6 == pytest.approx(down[0].end - down[0].begin, abs=1e-3)


def test_a_node_that_launches_nothing_is_down_for_as_long(tmp_path: Path) -> None:
    played = play(tmp_path, Mixed().plan(), times(**USUAL), "launches_nothing=n05@1h/3h")
    found = told(played)
    assert {one.node for one in found.outs} == {"n05"}
    down = sum(limit.share for limit in played.limits.limits if limit.cause == "down")
    assert down > 0.5 * 3 / 6 / NODES
    assert share(found, "down") == pytest.approx(down, abs=0.005)


def test_a_held_queue_has_its_time(tmp_path: Path) -> None:
    """The campaign's directory is away for an hour: what starts then ends before its claim, and the queue is held."""
    played = play(tmp_path, Mixed().plan(), times(**USUAL), "away=1h/1h")
    found = told(played)
    assert b'"kind":"queue_held"' in played.log()
    assert played.worst.cause == "held:c:batch", "no key of the plan keeps it: advice to queue more would be wrong"
    assert share(found, "held queue") == pytest.approx(played.worst.share, abs=CLOSE)


def test_the_command_prints_it_and_its_parts_add_up(tmp_path: Path) -> None:
    played = play(tmp_path, Mixed(per_target=2.0).plan(), times(**USUAL))
    words = ["nodes", str(played.layout.root), "--time"]
    result = CliRunner().invoke(cli, [*words, "--json"], standalone_mode=False)
    data = json.loads(result.stdout)
    assert sum(one["node_microseconds"] for one in data["causes"]) == data["node_microseconds"]
    assert sum(one["node_microseconds"] for one in data["groups"]) == data["node_microseconds"]
    assert {one["name"] for one in data["availability"]} >= {
        "scheduled availability",
        "mean time to interrupt by outages (MTTI)",
    }
    text = CliRunner().invoke(cli, words, standalone_mode=False).stdout
    assert "budgets" in text and "f2/mdt" in text and "availability of nodes" in text
    every = CliRunner().invoke(cli, [*words, "--all"], standalone_mode=False).stdout
    assert "budget:f2/mdt" in every


def test_a_log_that_the_engine_cannot_fold_leaves_the_causes_unknown_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played = play(tmp_path, Mixed(hours=1.0).plan(), Scenario())

    def fails(*_: object) -> None:
        raise KeyError("a case of another plan")

    monkeypatch.setattr("shakedown.report.time_spent.fold_one", fails)
    read = read_campaign(played.layout.root)
    found = spent_time(read.layout, read.document, read.record)
    assert found is not None and "event 1" in found.trouble
    assert set(found.groups()) <= {"worked", "came to nothing", "not known"}
    assert sum(part.node_us for part in found.parts) == found.node_us


def test_nodes_are_idle_beside_a_job_only_until_it_began(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the time at which it began, that is known in the end: not until the driver heard of it, here once a minute."""
    wish = Mixed(widths=(5, 7), hours=2.0, queue_ahead_s=0.0)
    played = play(tmp_path, wish.plan(), times(small=250.0, large=250.0))
    events = [replace(event, time=-(-event.time // 60) * 60) for event in read_events(played.layout.log)]
    monkeypatch.setattr("shakedown.report.time_spent.read_events", lambda _: iter(events))
    read = read_campaign(played.layout.root)
    began = {row.job: span[0] for row in read.record.current() if (span := span_of(row)) is not None}
    accepted = [event for event in events if event.event == "submit_accepted" and event.job in began]
    pending = told(played).pending
    assert pending
    for one in pending:
        rest: Any = ((one.begin, one.end),)
        for event in accepted:
            rest = without(rest, (event.time, began[event.job]))
        assert all(until - since < 1e-5 for since, until in rest), (one, "no job waited then")
