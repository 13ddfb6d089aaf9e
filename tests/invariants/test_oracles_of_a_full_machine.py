"""The rules that watch a full machine are only worth something if they catch logs that break them: logs made by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from fill_measures import Span, full, longest_hole, node_seconds, off_shares
from oracle_loads import LoadRules
from oracle_modes import Violation
from oracle_nodes import NodeRules, PartRules
from stability_plan import BUDGET, Wish, small_stability, sweep_of_five

from shakedown.model.events import Event
from shakedown.model.filling import Window, Yield
from shakedown.model.nouns import Document, Limits
from shakedown.twin.machine.jobs import Execution

MONDAY = 1_600_041_600.0  # 2020-09-14 00:00 UTC


class Log:
    """A log made by hand, held against rules event by event."""

    def __init__(self, document: Document, *kinds: Callable[[Document], Any]) -> None:
        self.rules: list[Any] = [kind(document) for kind in kinds or (LoadRules, NodeRules, PartRules)]
        self.now = MONDAY + 12 * 3600
        self.seq = 0

    def say(self, name: str, after: float = 1.0, reason: str = "so it was seen", **fields: Any) -> None:
        self.now += after
        self.seq += 1
        for rules in self.rules:
            rules.see(Event(name, self.seq, self.now, reason=reason, **fields))

    def order(self, job: str, case: str = "cm4", run: str = "", after_s: float = 1.0, **value: Any) -> None:
        target = value.pop("on", "mdt0")
        if target and not value.get("held"):
            value["targets"] = {BUDGET: target}
        value = {"component": "stability", "repeat": int(job[1:]), "attempt": 1, "now": self.now} | value
        self.say("submit_order", after_s, job=job, run=run or f"r{job[1:]}", case=case, value=value)

    def release(self, job: str, target: str = "mdt0", case: str = "cm4", **value: Any) -> None:
        self.say("release_order", job=job, run=f"r{job[1:]}", case=case, value={"targets": {BUDGET: target}} | value)

    def report(self, job: str, state: str, **value: Any) -> None:
        run = value.pop("run", f"r{job[1:]}")
        self.say("job_report", job=job, run=run, value={"state": state, "source": "queue"} | value)

    def judge(self, job: str, verdict: str = "passed", case: str = "cm4", **value: Any) -> None:
        run = value.pop("run", f"r{job[1:]}")
        value = {
            "verdict": verdict,
            "component": "stability",
            "repeat": int(job[1:]),
            "attempt": 1,
            "final": True,
        } | value
        self.say("verdict", job=job, run=run, case=case, value=value)


def stability(**more: Any) -> Document:
    return small_stability(Wish(per_target=2.0, **more))


# ---- loads ---------------------------------------------------------------------------------------------------------------


def test_a_target_that_is_loaded_to_the_full_takes_no_more_until_an_end_is_confirmed() -> None:
    log = Log(stability())
    log.order("j1")
    log.order("j2")
    log.order("j3", on="mdt1")
    log.order("j4", held=True)
    log.report("j1", "node_fail")
    log.judge("j1", "node_fail", alive=True)
    with pytest.raises(Violation, match=r"f2/mdt@mdt0: j4 may start, which makes it 3 of 2"):
        log.release("j4")


@pytest.mark.parametrize("how", ["report", "verdict", "claim", "dead"])
def test_an_end_that_is_confirmed_makes_room(how: str) -> None:
    log = Log(stability())
    log.order("j1")
    log.order("j2")
    if how == "report":
        log.report("j1", "completed")
    elif how == "verdict":
        log.judge("j1", "lost")
    elif how == "claim":
        log.say("claim_taken", job="j1", run="r1")
    else:
        log.judge("j1", "node_fail", alive=True)
        log.say("finding", job="j1", value={"kind": "believed_dead", "dead": True})
    log.order("j3")
    with pytest.raises(Violation, match=r"3 of 2"):
        log.order("j4")


def test_a_run_that_may_start_has_a_target() -> None:
    with pytest.raises(Violation, match=r"j1 may start and no target of f2/mdt was chosen"):
        Log(stability()).order("j1", on="")
    with pytest.raises(Violation, match=r"no target of f2/mdt was chosen: \{'f2/mdt': 'mdt9'\}"):
        Log(stability()).order("j1", on="mdt9")


def test_a_follower_takes_the_place_of_the_one_before_it() -> None:
    log = Log(stability())
    log.order("j1")
    log.order("j2", after="j1")
    log.order("j3", after="j2")
    log.order("j4")
    log.report("j1", "completed")
    log.report("j2", "running")
    with pytest.raises(Violation, match=r"3 of 2"):
        log.order("j5")
    log = Log(stability())
    log.order("j1")
    log.order("j2", after="j1")
    log.report("j2", "running")
    log.order("j3")
    with pytest.raises(Violation, match=r"3 of 2"):
        log.order("j4")


def test_who_follows_one_that_went_on_beside_another_takes_its_place_and_no_other() -> None:
    """Somebody else ended j2, so j3 began beside j1, which nobody could help. j4 gets what j3 had, and not a place elsewhere."""
    for target, refused in (("mdt0", False), ("mdt1", True)):
        log = Log(stability())
        log.order("j1")
        log.order("j5")
        log.order("j2", after="j1")
        log.order("j3", after="j2")
        log.order("j4", after="j3", on=target)
        log.order("j7", on="mdt1")
        log.order("j8", on="mdt1")
        log.report("j2", "cancelled")
        if not refused:
            log.report("j3", "completed")
            continue
        with pytest.raises(Violation, match=r"f2/mdt@mdt1: j4 may start, which makes it 3 of 2"):
            log.report("j3", "completed")


def test_a_budget_that_shrinks_kills_nothing_and_lets_nothing_in() -> None:
    log = Log(stability())
    log.order("j1")
    log.order("j2")
    log.say("budget_set", value={"budget": f"{BUDGET}@mdt0", "amount": 1.0})
    log.order("j3", on="mdt1")
    log.report("j1", "completed")
    with pytest.raises(Violation, match=r"f2/mdt@mdt0: j4 may start, which makes it 2 of 1"):
        log.order("j4")
    log = Log(stability())
    log.say("budget_set", value={"budget": BUDGET, "amount": 1.0})
    log.say("budget_set", value={"budget": BUDGET})
    log.order("j1")
    log.order("j2")


def test_what_really_runs_is_held_against_the_same_limits() -> None:
    rules = LoadRules(stability())
    running = [Execution(f"j{n}", 0, f"r{n}", "cm4", 0.0) for n in range(3)]
    rules.look_at(running, {"j0": {BUDGET: "mdt0"}, "j1": {BUDGET: "mdt0"}, "j2": {BUDGET: "mdt1"}})
    with pytest.raises(Violation, match=r"f2/mdt@mdt0: 3 of 2 is really loaded"):
        rules.look_at(running, {f"j{n}": {BUDGET: "mdt0"} for n in range(3)})


def test_copies_by_the_plan_and_by_people() -> None:
    log = Log(stability(copies=(("cm4", 2),)))
    log.order("j1")
    log.order("j2", on="mdt1")
    log.order("j3", case="ufs", on="mdt2")
    with pytest.raises(Violation, match=r"copies:cm4: j4 may start, which makes it 3 of 2"):
        log.order("j4", on="mdt3")
    log = Log(stability())
    log.order("j1")
    log.say("capped", value={"test": "cm4", "copies": 1})
    log.order("j2", held=True)
    with pytest.raises(Violation, match=r"copies:cm4: j2 may start, which makes it 2 of 1"):
        log.release("j2", "mdt1")


def test_a_component_has_limits_of_its_own() -> None:
    log = Log(stability(more={"limits": Limits(copies=(("cm4", 1),), stagger_s=2.0)}))
    log.order("j1", after_s=10)
    with pytest.raises(Violation, match=r"copies:cm4: j2 may start, which makes it 2 of 1 for stability"):
        log.order("j2", on="mdt1", after_s=10)


NOON_TO_FOUR = Window("", 12 * 3600.0, 16 * 3600.0, budgets=((BUDGET, 1.0),))
SUNDAY_NIGHT = Window("", 6 * 86400 + 20 * 3600.0, 8 * 3600.0, "Europe/Berlin", copies=(("cm4", 1),))
CLOSED_AT_ONE = Window("", 13 * 3600.0, 14 * 3600.0, closed=True)


@pytest.mark.parametrize(
    ("window", "at_s", "said"),
    [
        (NOON_TO_FOUR, 12 * 3600.0, "2 of 1 for stability"),
        (NOON_TO_FOUR, 16 * 3600.0, ""),
        (SUNDAY_NIGHT, 7 * 86400 - 5 * 3600.0, "2 of 1 for stability"),
        (SUNDAY_NIGHT, 5 * 3600.0, "2 of 1 for stability"),
        (SUNDAY_NIGHT, 7 * 3600.0, ""),
        (CLOSED_AT_ONE, 13.5 * 3600.0, "although stability orders nothing now"),
        (CLOSED_AT_ONE, 14 * 3600.0, ""),
    ],
)
def test_windows_of_the_week(window: Window, at_s: float, said: str) -> None:
    log = Log(stability(more={"windows": (window,)}))
    log.now = MONDAY + at_s - 1
    if not said:
        log.order("j1")
        log.order("j2")
        return
    with pytest.raises(Violation, match=said):
        log.order("j1")
        log.order("j2")


def test_room_for_others_until_few_of_them_wait() -> None:
    word = Yield(("c3", "c4"), pending=50, until=10, copies=(("cm4", 1),))
    log = Log(stability(more={"yields": (word,)}))
    log.order("j1")
    log.order("j2", on="mdt1")
    log.say("surveyed", value={"pending": {"c3": 50, "c4": 0}})
    log.say("surveyed", value={"pending": {"c3": 11}})
    with pytest.raises(Violation, match=r"copies:cm4: j3 may start, which makes it 3 of 1 for stability"):
        log.order("j3", on="mdt2")
    log.rules[0].jobs.pop("j3")
    log.say("surveyed", value={"pending": {"c3": 10}})
    log.order("j4", on="mdt2")


def test_runs_of_one_test_start_apart() -> None:
    log = Log(stability(stagger_s=5.0))
    log.order("j1")
    log.order("j2", case="ufs", on="mdt1")
    log.order("j3", held=True)
    log.order("j4", on="mdt1", after="j1")
    with pytest.raises(Violation, match=r"j3: a run of cm4 may start at .*, 5.0 s are to lie after"):
        log.release("j3", "mdt2")


def test_nothing_is_let_go_while_paused_or_when_its_time_is_up() -> None:
    log = Log(stability())
    log.order("j1", held=True)
    log.say("paused", value={"component": "stability"})
    with pytest.raises(Violation, match="j1 is released although stability is paused"):
        log.release("j1")
    with pytest.raises(Violation, match="r2 is ordered although stability is paused"):
        log.order("j2")
    log.say("continued", value={"component": "stability"})
    log.say("finding", value={"kind": "time_is_up", "component": "stability"})
    with pytest.raises(Violation, match="j1 is released although the time of stability is up"):
        log.release("j1")
    log.say("drain_request", value={})
    with pytest.raises(Violation, match="r4 is ordered although stability is to come to its end"):
        log.order("j4")


def test_a_job_is_released_once_and_again_only_if_that_is_said() -> None:
    log = Log(stability())
    log.order("j1", held=True)
    log.release("j1")
    log.release("j1", again=True)
    with pytest.raises(Violation, match="j1 is released twice"):
        log.release("j1")


# ---- nodes, sweeps, parts --------------------------------------------------------------------------------------------------


def swept(log: Log, job: str, node: int, run: str, repeat: int = 0, case: str = "see1") -> None:
    more: dict[str, Any] = {"component": "sweep", "node": node, "repeat": repeat or node, "bundle": "sweep", "part": 1}
    log.order(job, case, run, on="", **more)


def test_no_job_on_a_node_after_its_exclusion() -> None:
    log = Log(sweep_of_five())
    swept(log, "j1", 3, "r1")
    log.say("excluded", value={"nodes": ["n03", "n04"]})
    log.report("j1", "running", nodes="n03", run="r1")
    log.say("included", value={"nodes": ["n03"]})
    swept(log, "j2", 3, "r2", case="see2")
    with pytest.raises(Violation, match="j3 is ordered onto n04 after its exclusion"):
        swept(log, "j3", 4, "r3")
    log = Log(stability())
    log.say("excluded", value={"nodes": ["n07"]})
    log.order("j1")
    with pytest.raises(Violation, match=r"j1 has \['n07'\], excluded before it was ordered"):
        log.report("j1", "running", nodes="n[05-08]")


def test_a_sweep_sees_the_node_that_it_says_and_keeps_few_waiting() -> None:
    log = Log(sweep_of_five(queued=2))
    with pytest.raises(Violation, match="r1 sees node 2 for result 3"):
        swept(log, "j1", 2, "r1", repeat=3)
    log = Log(sweep_of_five(queued=2))
    swept(log, "j1", 1, "r1", repeat=17)
    swept(log, "j2", 2, "r2")
    with pytest.raises(Violation, match=r"j1 is to see n01 and has \['n02'\]"):
        log.report("j1", "running", nodes="n02", run="r1")
    with pytest.raises(Violation, match="j3 makes 2 waiting jobs of a sweep, 1 at most"):
        again = Log(sweep_of_five(queued=1))
        swept(again, "j1", 1, "r1")
        swept(again, "j3", 3, "r3")


def test_a_node_is_seen_once_a_round_and_none_is_left_out() -> None:
    log = Log(sweep_of_five(nodes=2, queued=9), NodeRules)
    for number in (1, 2):
        swept(log, f"j{number}", number, f"r{number}")
        log.judge(f"j{number}", case="see1", component="sweep")
    with pytest.raises(Violation, match="r9: node 2 was seen by see1 in this round already"):
        swept(log, "j9", 2, "r9")
    with pytest.raises(Violation, match=r"sweep sweep: see2 never saw \[1, 2\]"):
        log.rules[0].at_the_end()


def test_a_run_is_in_one_job_at_a_time_and_has_one_verdict() -> None:
    log = Log(sweep_of_five(), PartRules)
    swept(log, "j1", 1, "r1")
    swept(log, "j1", 1, "r2", case="see2")
    with pytest.raises(Violation, match="r2 is ordered in j2 and is in j1"):
        swept(log, "j2", 1, "r2", case="see2")
    log.say("claim_taken", job="j1", run="r2", value={"part": True})
    swept(log, "j2", 1, "r2", case="see2")
    log.judge("j1", run="r1", case="see1", component="sweep")
    with pytest.raises(Violation, match="r1 is judged twice"):
        log.judge("j1", run="r1", case="see1", component="sweep")
    with pytest.raises(Violation, match=r"1 runs have no verdict: \['r2'\]"):
        log.rules[0].at_the_end()
    log.judge("j2", run="r2", case="see2", component="sweep")
    log.rules[0].at_the_end(wanted=2)
    with pytest.raises(Violation, match="2 results came to an end, 3 were wanted"):
        log.rules[0].at_the_end(wanted=3)
    with pytest.raises(Violation, match="r1 was executed 2 times"):
        log.rules[0].look_at([Execution("j1", 0, "r1", "see1", 0.0, part=True)] * 2)


# ---- measures --------------------------------------------------------------------------------------------------------------


def test_what_a_machine_was_kept_full_with() -> None:
    spans = [
        Span("r1", "a", 0.0, 50.0, 1),
        Span("r2", "b", 0.0, 100.0, 2),
        Span("r3", "a", 80.0, 100.0, 1),
        Span("r4", "z", 50.0, 80.0, 1, filler=True),
    ]
    assert node_seconds(spans) == {"a": 70.0, "b": 200.0, "z": 30.0}
    assert full(spans, 4, 0.0, 100.0) == 0.75
    assert full(spans, 4, 50.0, 80.0) == 0.75
    off = off_shares(spans, (("a", 0.5), ("b", 0.5)), 0.0, 100.0)
    assert off == pytest.approx({"a": 70 / 270 - 0.5, "b": 200 / 270 - 0.5})
    assert longest_hole(spans, "a", 0.0, 120.0) == 30.0
    assert longest_hole(spans, "a", 0.0, 120.0, nodes=4, needs=2) == 20.0, "between 50 and 80 s one node was free"
    assert longest_hole(spans, "a", 0.0, 120.0, nodes=4, needs=1) == 30.0
    assert longest_hole([], "a", 0.0, 120.0) == 120.0


def test_the_plans_are_what_they_say() -> None:
    plan = small_stability()
    assert [case.shape.nodes for case in plan.cases] == [1, 1, 1, 1, 2, 1, 1]
    (part,) = plan.components
    assert sum(share for _, share in part.mix) == pytest.approx(1.0)
    assert dict(part.mix)["shield"] == pytest.approx(96_459 / 216_736, abs=1e-5), "node-hours by the table"
    assert msgspec.json.decode(msgspec.json.encode(plan), type=Document) == plan
