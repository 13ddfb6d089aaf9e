"""Judging kept outputs again: what changes is a new verdict beside the old one, what cannot be read again is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec.structs import replace
from tests.conductor.workers.conftest import Room

from shakedown.audit.rejudge import Act, Outcome, read_verdicts, rejudge, rejudge_campaign
from shakedown.checks.judge import judge
from shakedown.cli.steer.rejudge import command
from shakedown.engine import State, evolve, index_plan
from shakedown.events.campaigns import create_campaign, write_document
from shakedown.events.lease import Lease
from shakedown.events.opening import open_log
from shakedown.events.reader import read_events
from shakedown.metrics.rows.table import fold_runs
from shakedown.model.errors import LeaseHeld, UsageError
from shakedown.model.events import Event
from shakedown.model.frozen import digest, freeze
from shakedown.model.judging import Contract, ContractRow
from shakedown.model.layout import Layout
from shakedown.model.nouns import Case, Check, Component, Document, FigureSpec, System, Test
from shakedown.model.ports import Evidence, JobReport

ACT = Act("ada", "the check was wrong")
NOTHING: dict[str, Any] = {}
REJUDGED = {"by": "ada", "because": "the check was wrong"}


def contains(argument: str) -> Check:
    return Check("contains", "output", argument, f'output contains "{argument}"')


def document(*checks: Check, figures: tuple[FigureSpec, ...] = ()) -> Document:
    case = Case("hello", "hello", "local:all")
    test = Test("hello", checks=checks, figures=figures)
    return Document(
        "p", System("s", (), ()), (Component("ft", "functionality", ("hello",), repeats=2),), (case,), (test,)
    )


def verdict(room: Room, plan: Document, output: dict[str, Any], seq: int, but: dict[str, Any] = NOTHING) -> Event:
    """The verdict as the conductor logs it after collecting, ``but`` with these values."""
    order = room.order(plan.tests[0], output)
    report = JobReport("j000001", "completed", "marks", exit_status=0)
    judgement = judge(plan.cases[0], plan.tests[0], report, room.one(order))
    value = {"component": "ft", "repeat": 1, "attempt": 1, "exit": 0, "elapsed_s": 0.5, "output": output}
    value |= judgement.value() | but
    return Event("verdict", seq, 10.0, case="hello", run=order.run, value=value, reason=judgement.reason)


def again(room: Room, events: list[Event], plan: Document, *runs: str) -> list[Event]:
    wait = lambda: room.reactor.wait(room.reactor.now() + 1)  # noqa: E731
    return list(rejudge(events, plan, room.layout, room.open(), ACT, runs, wait))


def test_a_verdict_that_comes_out_the_same_is_no_new_event(room: Room) -> None:
    plan = document(contains("done"), figures=(FigureSpec("n", regex=r"(?P<value>\d+)"),))
    events = [verdict(room, plan, room.packed(b"7 done\n"), 5), verdict(room, plan, room.packed(b"8 bad\n"), 6)]
    assert [event.value["verdict"] for event in events] == ["passed", "incorrect"]
    assert again(room, events, plan) == []


def test_an_amended_check_gives_a_verdict_that_supersedes_the_old_one(room: Room) -> None:
    before = document(contains("Done"), figures=(FigureSpec("n", regex=r"(?P<value>\d+)"),))
    old = verdict(room, before, room.packed(b"7 done\n"), 5)
    assert (old.value["verdict"], old.value["figures"]) == ("incorrect", {"n": 7.0})
    (new,) = again(room, [old], document(contains("done")))
    assert new.event == "verdict"
    assert (new.run, new.case, new.reason) == ("r000001", "hello", "exit status 0, 1 check holds")
    assert new.value == {
        "verdict": "passed",
        "was": "incorrect",
        "supersedes": 5,
        "rejudged": REJUDGED,
        "component": "ft",
        "repeat": 1,
        "attempt": 1,
        "exit": 0,
        "elapsed_s": 0.5,
        "output": old.value["output"],
        "checks": [['output contains "done"', True, ""]],
        "figures": {},
        "problems": [],
    }


def test_the_verdict_that_stands_is_superseded_and_never_an_older_one(room: Room) -> None:
    old = verdict(room, document(contains("Done")), room.packed(b"done\n"), 5)
    (first,) = again(room, [old], document(contains("done")))
    (second,) = again(room, [old, replace_seq(first, 9)], document(contains("nothing")))
    assert (second.value["supersedes"], second.value["was"], second.value["verdict"]) == (9, "passed", "incorrect")


def replace_seq(event: Event, seq: int) -> Event:
    return Event(event.event, seq, 11.0, case=event.case, run=event.run, value=event.value, reason=event.reason)


def test_runs_that_cannot_be_judged_again_are_said(room: Room) -> None:
    plan = document(contains("done"))
    packed = room.packed(b"done\n")
    gone = verdict(room, plan, room.packed(b"done\n"), 5, {"output": {"pack": "000007.pack", "offset": 0, "bytes": 5}})
    short = verdict(room, plan, packed, 6, {"output": packed | {"bytes": 500}})
    lost = verdict(room, plan, packed, 7, {"output": {"lost": "No space left on device"}})
    late = verdict(room, plan, packed, 8, {"verdict": "timeout"})
    strange = replace_case(verdict(room, plan, packed, 9), "goodbye")
    found = again(room, [gone, short, lost, late, strange], plan)
    assert [(event.event, event.run, event.value["kind"]) for event in found] == [
        ("finding", run, "not_rejudged") for run in ("r000001", "r000002", "r000003", "r000005")
    ]
    size = (room.layout.packs / "000001.pack").stat().st_size
    assert [event.reason.partition("keeps its verdict: ")[2] for event in found] == [
        "its output in 000007.pack is gone: No such file or directory",
        f"the output in packs/000001.pack is damaged: it is cut short: that output lies in bytes 0 to 500, and {size} are there",
        "its output could not be kept: No space left on device",
        "case goodbye is not in the plan that it would be judged by",
    ]
    (named,) = again(room, [late], plan, "r000004")
    assert named.reason == "r000004 keeps its verdict: it was judged 'timeout', which does not come from its output"


def replace_case(event: Event, case: str) -> Event:
    return Event(event.event, event.seq, event.time, case=case, run=event.run, value=event.value, reason=event.reason)


def test_files_that_were_cleared_away_are_not_taken_for_files_that_never_were(room: Room) -> None:
    check = Check("exists", "result.nc", "", "file result.nc exists")
    (room.work() / "result.nc").write_text("x")
    old = verdict(room, document(check), {}, 5)
    assert old.value["verdict"] == "passed"
    (room.layout.work_directory("r000001") / "result.nc").unlink()
    room.layout.work_directory("r000001").rmdir()
    (found,) = again(room, [old], document(check))
    assert found.reason == "r000001 keeps its verdict: its directory with the files that the checks look at is gone"


def test_only_the_named_runs_are_looked_at_and_a_wrong_name_is_told(room: Room) -> None:
    events = [verdict(room, document(contains("Done")), room.packed(b"done\n"), seq) for seq in (5, 6)]
    assert [event.run for event in again(room, events, document(contains("done")), "r000002")] == ["r000002"]
    with pytest.raises(UsageError) as caught:
        again(room, events, document(contains("done")), "r000003")
    assert str(caught.value) == (
        "run 'r000003' has no verdict, so it cannot be judged again\nhint: 'shakedown runs' lists runs with their verdicts"
    )


def test_a_long_reason_of_the_person_does_not_burst_the_event(room: Room) -> None:
    old = verdict(room, document(contains("Done")), room.packed(b"done\n"), 5)
    act = Act("ä" * 500, "ö" * 5000)
    (new,) = rejudge(
        [old], document(contains("done")), room.layout, room.open(), act, (), lambda: room.reactor.wait(None)
    )
    assert len(new.value["rejudged"]["because"]) == 300


# ---- contract rows ------------------------------------------------------------------------------------------------------


def bound(document: Document, most: float) -> Document:
    """The document with a row that judges run times; the verdicts of this file ran for half a second."""
    row = ContractRow(
        "c:1", "c", "hello", "elapsed", f"<= {most:g} s", "contract", high=most, unit="s", verdict=True, clause="SOW 1"
    )
    case = replace(document.cases[0], rows=("c:1",))
    return replace(document, cases=(case,), contracts=(Contract("c", (row,)),))


def test_a_contract_row_judges_again_what_it_judges_at_first(room: Room) -> None:
    plan = bound(document(contains("done")), 0.1)
    old = verdict(room, plan, room.packed(b"done\n"), 5)
    (new,) = again(room, [old], plan)
    assert (new.value["was"], new.value["verdict"]) == ("passed", "performance")
    assert new.reason == "elapsed is 0.5 s, must be <= 0.1 s (c:1, contract, SOW 1)"
    assert again(room, [replace_seq(new, 6)], plan) == []


def test_later_bounds_cannot_change_an_earlier_verdict(room: Room) -> None:
    """A run keeps the rows of the plan it was first judged by, also once an amendment has put tighter ones into force."""
    first, tighter = bound(document(contains("Done")), 1.0), bound(document(contains("done")), 0.1)
    room.layout.documents.mkdir(exist_ok=True)
    for plan in (first, tighter):
        write_document(room.layout, freeze(plan))
    start = Event("campaign_start", 1, 9.0, value={"document": digest(freeze(first))})
    before = verdict(room, first, room.packed(b"done\n"), 2)
    amended = Event("amended", 3, 10.0, value={"document": digest(freeze(tighter))})
    after = verdict(room, tighter, room.packed(b"done\n"), 4)
    assert (before.value["verdict"], after.value["verdict"]) == ("incorrect", "passed")
    found = again(room, [start, before, amended, after], tighter)
    assert [(event.run, event.value["verdict"]) for event in found] == [
        ("r000001", "passed"),
        ("r000002", "performance"),
    ]


# ---- a campaign on disk ----------------------------------------------------------------------------------------------


@pytest.fixture
def campaign(room: Room, tmp_path: Path) -> Layout:
    """Two judged runs: one that its check was wrong about, and one that is well."""
    plan = document(contains("Done"))
    layout = create_campaign(tmp_path / "site" / "campaigns", "p-1", freeze(plan))
    on_disk = Room(layout, room.reactor, room.collectors)
    start = Event("campaign_start", 1, 9.0, value={"document": digest(freeze(plan)), "campaign": "p-1", "plan": "p"})
    with Lease.acquire(layout) as lease:
        log, _ = open_log(layout.log, lease)
        events = [
            start,
            verdict(on_disk, plan, on_disk.packed(b"done\n"), 2),
            verdict(on_disk, plan, on_disk.packed(b"Done\n"), 3, {"repeat": 2}),
        ]
        log.append(events)
        log.close()
    return layout


def test_the_record_keeps_the_old_verdict_and_gains_the_new_one(campaign: Layout) -> None:
    amended = document(contains("one"), Check("exit", "", "0", "exit is 0"))
    outcome = rejudge_campaign(campaign.root, "ada", "one is enough", document=amended)
    why = "exit status 0, 1 check holds"
    assert outcome == Outcome(2, (("r000001", "incorrect", "passed", why), ("r000002", "passed", "passed", why)), ())
    events = list(read_events(campaign.log))
    assert [event.seq for event in events] == [1, 2, 3, 4, 5, 6]
    act = events[5]
    assert (act.event, act.reason, act.value["by"]) == ("rejudged", "one is enough", "ada")
    assert [act.value[name] for name in ("examined", "replaced", "kept", "not_judged")] == [2, 2, 0, 0]
    assert events[3].value["rejudged"] == {"by": "ada", "because": "one is enough", "document": digest(freeze(amended))}
    assert campaign.document(digest(freeze(amended))).is_file()
    rows = [(row.run, row.verdict, row.superseded_by) for row in fold_runs(events).runs]
    assert rows == [
        ("r000001", "incorrect", 4),
        ("r000002", "passed", 5),
        ("r000001", "passed", 0),
        ("r000002", "passed", 0),
    ]
    assert read_verdicts(events).verdicts["r000001"].seq == 4


def test_a_plan_that_takes_a_figure_in_another_unit_is_refused(campaign: Layout) -> None:
    """Its values would stand in the record as if they were in the unit of the plan in force."""
    layout = create_campaign(campaign.root.parent, "p-2", freeze(_with_unit("GB/s")))
    start = {"document": digest(freeze(_with_unit("GB/s"))), "campaign": "p-2", "plan": "p"}
    with Lease.acquire(layout) as lease:
        log, _ = open_log(layout.log, lease)
        log.append([Event("campaign_start", 1, 9.0, value=start)])
        log.close()
    with pytest.raises(UsageError) as caught:
        rejudge_campaign(layout.root, "ada", "MB now", document=_with_unit("MB/s"))
    assert caught.value.message.endswith(" is in GB/s on record and would be in MB/s")
    assert caught.value.hint == "give the figure a new name: then it has no values of before"
    assert rejudge_campaign(layout.root, "ada", "again", document=_with_unit("GB/s")).examined == 0


def _with_unit(unit: str) -> Document:
    return document(contains("Done"), figures=(FigureSpec("rate", unit=unit, regex="(?P<value>1)"),))


def test_judging_again_by_the_same_plan_changes_nothing_and_is_an_act_all_the_same(campaign: Layout) -> None:
    assert rejudge_campaign(campaign.root, "ada", "to be sure") == Outcome(2, (), ())
    *_, act = events = list(read_events(campaign.log))
    assert len(events) == 4
    assert (act.event, act.value["examined"], act.value["replaced"], act.value["kept"]) == ("rejudged", 2, 0, 2)


def test_the_time_of_a_campaign_does_not_grow_by_judging_it_again(campaign: Layout) -> None:
    """The events of judging again are written years after the campaign's own, which end at 10 s."""
    before = fold_runs(read_events(campaign.log))
    rejudge_campaign(campaign.root, "ada", "one is enough", document=document(contains("one")))
    events = list(read_events(campaign.log))
    after = fold_runs(events)
    assert events[-1].time > 1e9
    assert (after.last, before.last) == (10.0, 10.0)
    assert {row.time for row in after.runs} == {10.0}
    state = State(plan=index_plan(document(contains("Done"))))
    for seq, event in enumerate([events[0], *events[3:]], 1):  # the log has no orders of the runs that it judges
        evolve(state, replace(event, seq=seq))
    assert (state.campaign.last, state.time) == (9.0, events[-1].time)


def test_while_a_conductor_drives_the_campaign_nobody_else_judges(campaign: Layout) -> None:
    with Lease.acquire(campaign), pytest.raises(LeaseHeld):
        rejudge_campaign(campaign.root, "ada", "now")


def test_the_command_says_what_changed(campaign: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    (campaign.root.parent.parent / "site.yaml").touch()
    monkeypatch.chdir(campaign.root.parent.parent)
    pack = campaign.packs / "000001.pack"
    pack.write_bytes(b"Done\n")
    result = CliRunner().invoke(command, ["--by", "ada", "--because", "a pack was put back"], standalone_mode=False)
    assert result.exception is None
    assert result.output == (
        "run      was        is now  because\n"
        "r000001  incorrect  passed  exit status 0, 1 check holds\n"
        "r000002 keeps its verdict: the output in packs/000001.pack is damaged: it is cut short: "
        "that output lies in bytes 5 to 10, and 5 are there\n"
        "2 verdicts looked at: 1 replaced, 1 stand\n"
    )


def test_evidence_of_a_collector_in_any_order_is_put_in_the_order_of_the_runs(room: Room) -> None:
    class Backwards:
        def __init__(self) -> None:
            self.runs: list[str] = []

        def start(self, orders: Any) -> None:
            self.runs += [order.run for order in orders]

        def poll(self) -> list[Evidence]:
            return [Evidence(self.runs.pop())] if self.runs else []

    facts: dict[str, Any] = {"verdict": "incorrect", "component": "ft"}
    events = [Event("verdict", n, 1.0, case="hello", run=f"r{n:06d}", value=facts, reason="x") for n in range(1, 200)]
    new = rejudge(events, document(), room.layout, Backwards(), ACT)
    assert [event.value["supersedes"] for event in new] == list(range(1, 200))
