"""What the record says of a drill: runs lost, the longest time without progress, when the load was back."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from stability_plan import case, document, machine

from shakedown.metrics.judging.criteria import score
from shakedown.metrics.judging.drills import DrillScore, every_drill
from shakedown.metrics.judging.people import acts_of
from shakedown.metrics.judging.scorecard import Scorecard
from shakedown.metrics.judging.settlement import settle
from shakedown.metrics.judging.without import Variants
from shakedown.metrics.newest_results import newest_results, unwanted_rows
from shakedown.metrics.rows.table import Record, fold_runs
from shakedown.metrics.wanted import result_key
from shakedown.model.events import Event
from shakedown.model.nouns import Component, Document, Drill, Party
from shakedown.model.wording import wording_of_drill

EXPECTED: dict[str, Any] = {
    "lost": 0,
    "hole_s": 120.0,
    "back_s": 600.0,
    "written": (("hole", "<= 120s"), ("back", "<= 10min")),
}
FAILOVER = Drill(
    "oss-failover", 3600.0, "fail an OSS over", "vendor", settle_s=300.0, evidence=1, clause="SOW 7", **EXPECTED
)
FILE = [{"name": "console.log", "sha256": "e" * 64, "bytes": 5}]


def plan(drill: Drill = FAILOVER) -> Document:
    """Four nodes, runs of one node, for three hours; a test of a drill beside."""
    cases = (case("a", 1, 3600.0, load=0.0), case("switch", 1, 600.0, load=0.0))
    own = Component("stability", "stability", ("a",), duration_s=10800.0, mix=(("a", 1.0),), drills=(drill,))
    return document(machine(4, targets=False), cases, own)


class Log:
    """A log by hand; times are seconds since its begin, at 1000."""

    def __init__(self) -> None:
        self.events = [Event("campaign_start", seq=1, time=1000.0, value={"campaign": "p-1", "document": "d" * 64})]
        self.runs = 0

    def add(self, name: str, at: float, **fields: Any) -> None:
        self.events.append(Event(name, time=1000.0 + at, **fields))

    def run(self, begin: float, end: float | None, verdict: str = "passed", **more: Any) -> str:
        self.runs += 1
        name, what = f"r{self.runs:06d}", {"component": "stability", "repeat": self.runs, "attempt": 1} | more
        job, test = f"j{self.runs:06d}", "switch" if more else "a"
        self.add("submit_order", begin, run=name, job=job, case=test, value=what)
        self.add(
            "job_report",
            begin,
            run=name,
            job=job,
            value={"state": "running", "source": "marks", "started": 1000.0 + begin},
        )
        if end is not None:
            took = {"started": 1000.0 + begin, "ended": 1000.0 + end, "elapsed_s": end - begin}
            self.add("verdict", end, run=name, case=test, value=what | {"verdict": verdict} | took)
        return name

    def said(self, act: str, at: float, later: float = 0.0, drill: Drill = FAILOVER, files: Any = FILE) -> None:
        value = {"component": "stability", "drill": drill.name, "act": act, "from": 1000.0 + at, "by": "V. Endor"}
        value |= {"evidence": files, "wording": wording_of_drill(drill), "request": "x"}
        self.add("drilled", at + later, value=value, reason="as planned")

    def record(self, ends: float | None = 11000.0) -> Record:
        if ends is not None:
            self.add("finding", 10800.0, value={"kind": "time_is_up", "component": "stability"})
            self.add("campaign_end", ends)
        ordered = sorted(self.events, key=lambda event: event.time)
        return fold_runs([msgspec.structs.replace(event, seq=seq + 1) for seq, event in enumerate(ordered)])


def steady(log: Log, hole: tuple[float, float] = (0.0, 0.0), step: float = 60.0) -> None:
    """On each of four nodes runs of 240 s, one after the other, a minute apart; none begins in the hole."""
    for node in range(4):
        at = node * step
        while at < 10500.0:
            if hole[0] <= at < hole[1]:
                at = hole[1] + node * 10.0
            log.run(at, at + 240.0)
            at += 240.0


def measured(
    log: Log, drill: Drill = FAILOVER, ends: float | None = 11000.0
) -> tuple[DrillScore, dict[str, tuple[str, str]]]:
    """The drill, and its criteria: name -> outcome, and arithmetic or reason."""
    document_, record = plan(drill), log.record(ends)
    (found,) = every_drill(document_, record)
    criteria = score(document_, record).components[0].criteria
    told = {item.name: (item.outcome, item.arithmetic or item.reason) for item in criteria}
    return found, {name: word for name, word in told.items() if name.startswith("drill ")}


def test_a_drill_that_the_load_rides_through() -> None:
    log = Log()
    steady(log)
    log.said("begun", 3600.0)
    log.said("ended", 3660.0)
    found, told = measured(log)
    assert (found.lost, found.hole_s, found.hole_before_s, found.level, found.back_s) == ((), 60.0, 60.0, 4.0, 0.0)
    assert told == {
        "drill oss-failover: lost": ("met", "0 runs lost, in a drill of 1 min 00 s and 5 min 00 s after it, must <= 0"),
        "drill oss-failover: hole": (
            "met",
            "60 s without progress from 0 ms after its begin, in a drill of 1 min 00 s and 5 min 00 s after it; "
            "1 min 00 s at the most in as long a time before, must <= 120s",
        ),
        "drill oss-failover: back": (
            "met",
            "the load was back after 0 min (4 of 4 nodes in use at the least), in a drill of 1 min 00 s and 5 min 00 s "
            "after it, must <= 10min",
        ),
    }


def test_a_hole_and_a_load_that_comes_back_late() -> None:
    """Nothing begins for 20 minutes: what runs ends, and then nothing is in use until the load begins again."""
    log = Log()
    steady(log, hole=(3600.0, 4800.0))
    log.said("begun", 3600.0)
    log.said("ended", 3660.0)
    found, told = measured(log)
    assert found.lost == ()
    assert found.hole == (1000.0 + 3780.0, 1000.0 + 4800.0) and found.hole_s == 1020.0
    assert (found.lowest, found.back_s) == (0.0, 1230.0), "the last of four begins 30 s after the first"
    assert [outcome for outcome, _ in told.values()] == ["met", "not met", "not met"]


def test_runs_that_were_live_and_came_to_no_end_are_lost_unless_somebody_says_otherwise() -> None:
    log = Log()
    steady(log)
    log.said("begun", 3600.0)
    log.said("ended", 3660.0)
    before, dies = log.run(3000.0, 3599.0, "failed"), log.run(3500.0, 3605.0, "node_fail")
    hangs, wrong = log.run(3650.0, 7250.0, "timeout"), log.run(3600.0, 3700.0, "incorrect")
    late, ruled = log.run(3970.0, 4000.0, "failed"), log.run(3600.0, 3610.0, "failed")
    log.add("ruled", 9000.0, run=ruled, value={"as": "application", "by": "Ada"})
    found, told = measured(log)
    assert set(found.lost) == {dies, hangs} and not {before, wrong, late} & {*found.lost}
    outcome, words = told["drill oss-failover: lost"]
    assert outcome == "not met" and words.startswith("2 runs lost, ") and dies in words


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ([], "it was not done yet by the vendor"),
        ([("begun", 3600.0)], "it began, by V. Endor; nobody has said that it ended"),
        ([("begun", 3600.0), ("ended", 3500.0)], "it began, by V. Endor; nobody has said that it ended"),
    ],
)
def test_what_is_not_done_is_undecided(said: list[tuple[str, float]], why: str) -> None:
    log = Log()
    steady(log)
    for act, at in said:
        log.said(act, at)
    _, told = measured(log)
    assert set(told.values()) == {("undecided", why)} and len(told) == 3


def test_too_little_evidence_and_another_text_leave_it_undecided() -> None:
    log = Log()
    steady(log)
    log.said("begun", 3600.0, files=[])
    log.said("ended", 3660.0, files=[])
    _, told = measured(log)
    assert set(told.values()) == {("undecided", "0 of the 1 file of evidence that it asks for")}
    log = Log()
    steady(log)
    log.said("begun", 3600.0)
    log.said("ended", 3660.0)
    other = msgspec.structs.replace(FAILOVER, about="fail two over")
    assert set(measured(log, other)[1].values()) == {
        ("undecided", "it was done before the plan asked for something else")
    }


def test_a_later_word_takes_the_place_of_an_earlier_one_and_a_late_one_is_marked() -> None:
    log = Log()
    steady(log, hole=(3600.0, 4800.0))
    log.said("begun", 3600.0)
    log.said("ended", 3660.0)
    log.said("begun", 7000.0, later=30.0)
    assert "nobody has said that it ended" in measured(log)[0].why
    log.said("ended", 7060.0)
    found, told = measured(log)
    assert found.backdated and found.hole_s == 210.0 and len(found.words) == 4
    assert "its begin said afterwards" in told["drill oss-failover: hole"][1]
    acts = [act for act in acts_of(log.record()) if act.kind == "drill"]
    assert [act.backdated for act in acts] == [False, False, True, False]
    assert acts[0].what == "said that drill oss-failover of stability began, with 1 file of evidence"


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("agreed", [False, True])
def test_a_word_that_moves_a_drill_to_a_quieter_time_takes_away(times: int, agreed: bool) -> None:
    """A hole and a load that came back late are not counted after it, whoever says so, however often, and also where all agree."""
    parties = (Party("site", ("Ada",)), Party("vendor", ("V. Endor",))) if agreed else ()
    document_ = msgspec.structs.replace(plan(msgspec.structs.replace(FAILOVER, hole_s=300.0)), parties=parties)

    def card(log: Log) -> Scorecard:
        record = log.record()
        acts = [act for act in acts_of(record) if agreed]
        for act in acts:
            log.add("agreed", 20000.0, value={"acts": [[act.number, act.digest]], "by": "Ada"}, reason="so be it")
        record = log.record()
        return settle(document_, record, lambda name: document_, lambda: iter(log.events))

    def logged(words: int) -> Log:
        log = Log()
        steady(log, hole=(3600.0, 4800.0))
        for at in (3600.0, *[7000.0 + 10.0 * place for place in range(words)]):
            log.said("begun", at, later=9000.0 - at if at > 3600.0 else 0.0)
            log.said("ended", at + 60.0, later=9000.0 - at if at > 3600.0 else 0.0)
        return log

    assert card(logged(0)).outcome == "rejected"
    moved = card(logged(times))
    assert moved.outcome == "accepted with restrictions", moved.summary
    words = [act for act in moved.acts if act.kind == "drill"]
    assert not any(act.takes for act in words[:2])
    (first,) = [act for act in words if act.takes]
    assert len(first.together) == (0 if times == 1 else 2)
    assert first.takes == (
        "13 min 30 s of the 17 min 00 s that drill oss-failover: hole of stability would count",
        "20 min 30 s of the 20 min 30 s that drill oss-failover: back of stability would count",
    )


def test_without_the_words_it_is_not_done() -> None:
    log = Log()
    steady(log)
    log.said("begun", 3600.0)
    log.said("ended", 3660.0)
    record = log.record()
    acts = acts_of(record)
    bare = Variants(record, acts, lambda: iter(())).without([acts[1].number])
    assert every_drill(plan(), bare)[0].why == "it began, by V. Endor; nobody has said that it ended"
    assert not every_drill(plan(), record)[0].why


def test_while_its_window_is_open_nothing_is_met_and_what_is_missed_is_known() -> None:
    log = Log()
    for node in range(4):
        for at in range(node * 60, 3600, 240):
            log.run(float(at), at + 240.0)
    log.said("begun", 3600.0)
    log.said("ended", 3660.0)
    log.run(3700.0, None)
    log.add("asked", 3800.0)
    found, told = measured(log, ends=None)
    assert not found.over and found.live == 4 - 3
    assert {outcome for outcome, _ in told.values()} == {"undecided"}
    log.add("asked", 4500.0)
    assert measured(log, ends=None)[1]["drill oss-failover: hole"][0] == "not met", "800 s and more without progress"


def test_what_was_done_before_the_clock_began_anew_counts_nothing() -> None:
    log = Log()
    steady(log)
    log.said("begun", 3600.0)
    log.said("ended", 3660.0)
    log.add("clock", 5000.0, value={"component": "stability", "act": "restart", "from": 6000.0, "by": "Ada"})
    found, _ = measured(log)
    assert found.why == "it was done before the component's clock was started, or started anew"


def test_a_test_that_is_a_drill_says_by_its_run_when_it_was() -> None:
    drill = msgspec.structs.replace(FAILOVER, case="switch", evidence=0)
    log = Log()
    steady(log)
    run = log.run(3600.0, 3630.0, mode="drill", of="oss-failover")
    found, told = measured(log, drill)
    assert (found.run, found.begun, found.ended, found.lost) == (run, 4600.0, 4630.0, ())
    assert [outcome for outcome, _ in told.values()] == ["met", "met", "met"]
    log = Log()
    steady(log)
    log.run(3600.0, 3630.0, "failed", mode="drill", of="oss-failover")
    assert measured(log, drill)[0].why.startswith("its test did not pass: it was judged failed as ")


@pytest.mark.parametrize("renamed", [True, False], ids=["renamed", "taken out"])
def test_a_drill_that_an_amendment_renames_or_takes_out_is_told_as_it_was(renamed: bool) -> None:
    """Its criteria are held against the plan that had them; a report is made of it in any case."""
    log = Log()
    log.run(0.0, 3000.0)
    lost = log.run(3500.0, 3700.0, "node_fail")
    log.said("begun", 3600.0)
    log.said("ended", 3900.0)
    log.add("amended", 5000.0, value={"document": "e" * 64, "by": "Bo", "components": ["stability"]}, reason="so")
    log.run(5100.0, 6000.0)
    log.add("campaign_end", 7000.0, value={"counts": {}})
    events = [msgspec.structs.replace(event, seq=number) for number, event in enumerate(log.events, 1)]
    before, after = plan(), plan(msgspec.structs.replace(FAILOVER, name="other"))
    if not renamed:
        after = msgspec.structs.replace(
            before, components=(msgspec.structs.replace(before.components[0], drills=()), *before.components[1:])
        )
    card = score(after, fold_runs(events), earlier=(before,))
    told = [text for text in card.restrictions if "drill oss-failover: lost" in text]
    assert len(told) == 1 and "as it was it would be not met (1 run lost" in told[0] and f"({lost})" in told[0]


@pytest.mark.parametrize(("gap", "back"), [(3.0, 0.0), (400.0, 460.0)], ids=["a turnover", "a longer one"])
def test_the_turnover_of_runs_is_no_load_that_is_gone(gap: float, back: float) -> None:
    """Four runs at a time follow four others; between them nothing is in use, at most 5 s before the drill. It begins 60 s before
    the next such moment.
    """
    log, moment, begin = Log(), 0.0, 0.0
    for number in range(70):
        for _ in range(4):
            log.run(moment, moment + 120.0)
        begin = moment + 60.0 if number == 30 else begin
        moment += 120.0 + {29: 5.0, 30: gap}.get(number, 1.0)
    log.said("begun", begin)
    log.said("ended", begin + 100.0)
    found, _ = measured(log)
    assert found.back_s == pytest.approx(back, abs=1e-6)


def test_a_run_that_its_node_took_with_it_is_lost_although_it_left_no_end() -> None:
    """Slurm says of it when it began; when it ended nobody knows. It is heard of after the drill's time is over."""
    log = Log()
    steady(log)
    run, what = log.run(3500.0, None), {"component": "stability", "repeat": log.runs, "attempt": 1}
    log.add("verdict", 4400.0, run=run, case="a", value=what | {"verdict": "node_fail", "started": 4500.0})
    log.said("begun", 3600.0)
    log.said("ended", 3660.0)
    found, told = measured(log)
    assert found.lost == (run,) and told["drill oss-failover: lost"][0] == "not met"


@pytest.mark.parametrize("amended", [False, True], ids=["at first", "after an amendment"])
def test_two_drills_that_run_the_same_test_have_a_result_each(amended: bool) -> None:
    """The second one's failure is not the first one's, whose run counts, also where the plan was amended between them."""
    first = msgspec.structs.replace(FAILOVER, case="switch", evidence=0)
    second = msgspec.structs.replace(first, name="mds-failover", at_s=7200.0)
    document_ = plan(first)
    part = msgspec.structs.replace(document_.components[0], drills=(first, second))
    document_ = msgspec.structs.replace(document_, components=(part,))
    log = Log()
    steady(log)
    passed = log.run(3600.0, 3630.0, mode="drill", of=first.name, repeat=1)
    if amended:
        log.add("amended", 5000.0, value={"document": "e" * 64, "by": "Bo", "components": ["stability"]}, reason="so")
    failed = log.run(7200.0, 7230.0, "failed", mode="drill", of=second.name, repeat=1)
    record = log.record()
    one, two = every_drill(document_, record)
    assert (one.run, one.begun, one.why) == (passed, 4600.0, "")
    assert two.why == f"its test did not pass: it was judged failed as {failed}"
    results = {row.run: row.result for row in record.current() if row.mode == "drill"}
    newest = newest_results(record)
    assert {newest[result_key(row)] for row in record.current() if row.run in results} == set(results.values())
    assert not [row for row in unwanted_rows(document_, record) if row.run in results]
    alone = msgspec.structs.replace(document_, components=(msgspec.structs.replace(part, drills=(first,)),))
    assert [row.run for row in unwanted_rows(alone, record)] == [failed]


def test_a_drill_under_way_is_not_another_one_that_runs_the_same_test() -> None:
    first = msgspec.structs.replace(FAILOVER, case="switch", evidence=0)
    second = msgspec.structs.replace(first, name="mds-failover", at_s=7200.0)
    part = msgspec.structs.replace(plan(first).components[0], drills=(first, second))
    log = Log()
    log.run(3600.0, None, mode="drill", of=first.name, repeat=1)
    found = every_drill(msgspec.structs.replace(plan(), components=(part,)), log.record(None))
    assert [one.why for one in found] == ["it is under way", "its test has not run yet"]
