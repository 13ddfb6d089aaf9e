"""What limits a plan, measured: each thing is made the bottleneck, and what is advised is rehearsed again: it helps as told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from rehearsal_plans import HOUR, NODES, USUAL, Mixed, play, times
from stability_plan import case, document, machine

from shakedown.metrics.trials import (
    LEAST_GAIN,
    LEAST_SEEDS,
    MOST_SEEDS,
    Judged,
    Repeat,
    Trial,
    Verdict,
    lines_of,
    to_repeat,
    verdict_of,
    with_gain,
)
from shakedown.model.filling import Fill, Window, Yield
from shakedown.model.judging import Criterion
from shakedown.model.nouns import Component, Document, Retry
from shakedown.model.scenario import Builds, Neighbour, Nodes, Scenario
from shakedown.rehearsal.faults import troubles
from shakedown.rehearsal.levers import levers_of
from shakedown.rehearsal.trials import Base, levers, try_all
from shakedown.rehearsal.virtual_session import Rehearsal

CLOSE = 0.03  # of the node-hours: what two ways to count them may differ by, at the ends of a rehearsal
SEEDS_DIFFER = 0.1  # and the mean over other seeds from what one seed gained
TAKES = times(**USUAL)


def component_of(plan: Document, **fields: Any) -> Document:
    (one,) = plan.components
    return replace(plan, components=(replace(one, **fields),))


def licensed(licences: float = 2.0) -> Document:
    """Each run takes one of a few licences; the scheduler hands them out."""
    system = machine(NODES, licences=(("app", licences),), targets=False)
    cases = tuple(
        replace(case(name, width, 1800.0, load=0.0), loads=(("app", 1.0),))
        for name, width in (("small", 1), ("large", 2))
    )
    steady = Component(
        "steady",
        "stability",
        ("small", "large"),
        duration_s=2 * HOUR,
        mix=(("small", 0.5), ("large", 0.5)),
        fill=Fill(queue_ahead_s=900.0),
    )
    return document(replace(system, budgets=(("app", licences),)), cases, steady)


def filler_behind_a_stagger() -> Document:
    """The mix has copies for half of the nodes; the filler could have the others, and may start too rarely to."""
    plan = Mixed(hours=2.0, filler=True, stagger_s=120.0, copies=(("small", 1), ("large", 1))).plan()
    return component_of(plan, limits=replace(plan.limits, copies=(), stagger_s=0.0))


def windowed() -> Document:
    week = Window("every day", 0.0, 7 * 86400.0, budgets=(("f2/mdt", 1.0),))
    return component_of(Mixed(hours=2.0).plan(), windows=(week,))


def yielding() -> Document:
    return component_of(
        Mixed(hours=2.0).plan(), yields=(Yield(("c",), pending=5, until=1, copies=(("small", 1), ("large", 1))),)
    )


def waiting_others() -> Scenario:
    return replace(TAKES, others=(Neighbour("c", 0.0, 7 * 86400.0, pending=20),))


def targeted() -> Document:
    plan = Mixed(hours=2.0, queue_ahead_s=0.0, widths=(1, 1)).plan()
    return component_of(plan, fill=Fill(target=0.5))


def asks_for_much() -> Document:
    """Nodes are taken away every two hours: jobs that ask for more than is left do not start."""
    return Mixed(hours=6.0, limit_s=7200.0).plan()


def maintained() -> Scenario:
    from shakedown.model.scenario import Maintenance

    return replace(TAKES, maintenance=tuple(Maintenance(hour * HOUR, 60.0) for hour in (2.0, 4.0, 5.9)))


# what limits it: (the plan, the machine, faults, the cause that is to be found)
BOTTLENECKS: dict[str, tuple[Callable[[], Document], Callable[[], Scenario], tuple[str, ...], tuple[str, ...]]] = {
    "a budget": (Mixed(hours=2.0, per_target=1.0).plan, lambda: TAKES, (), ("budget:f2/mdt",)),
    "licences": (licensed, lambda: TAKES, (), ("licence:app",)),
    "copies": (
        Mixed(hours=2.0, copies=(("small", 3), ("large", 3))).plan,
        lambda: TAKES,
        (),
        ("copies:large", "copies:small"),
    ),
    "stagger": (Mixed(hours=2.0, stagger_s=200.0).plan, lambda: TAKES, (), ("stagger",)),
    "a filler behind a stagger": (filler_behind_a_stagger, lambda: TAKES, (), ("stagger",)),
    "windows": (windowed, lambda: TAKES, (), ("window",)),
    "yields": (yielding, waiting_others, (), ("yield",)),
    "the ramp": (Mixed(hours=3.0, ramp_s=2 * HOUR).plan, lambda: TAKES, (), ("ramp",)),
    "the share to be busy": (targeted, lambda: TAKES, (), ("target", "filler")),
    "time limits": (asks_for_much, maintained, (), ("walltime",)),
    "jobs at the scheduler": (Mixed(hours=2.0, queued=4, queue_ahead_s=0.0).plan, lambda: TAKES, (), ("queued",)),
    "nobody drives": (
        Mixed(hours=4.0).plan,
        lambda: TAKES,
        ("crash=1h/80 min",),
        ("away", "ahead"),
    ),
    "one build at a time": (
        Mixed(hours=2.0, building=True, builds=1).plan,
        lambda: replace(TAKES, builds=Builds(mean_s=1500.0)),
        (),
        ("build:time", "build:slots"),
    ),
    "wide jobs": (Mixed(hours=2.0, widths=(9, 9)).plan, lambda: TAKES, (), ("wide",)),
}


@pytest.fixture(autouse=True)
def few_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is still in doubt after the fewest seeds stays so: more of them take time and show nothing else here."""
    monkeypatch.setattr("shakedown.rehearsal.trials.MOST_SEEDS", LEAST_SEEDS)


def measured(root: Path, plan: Document, scenario: Scenario, *faults: str) -> tuple[Base, Verdict]:
    played = play(root, plan, scenario, *faults)
    base = Base(played.layout, plan, Rehearsal(troubles(scenario, faults, plan.system), 0), played.outcome)
    found = try_all(base, processes=2)
    assert found is not None
    return base, found


@pytest.mark.parametrize("name", BOTTLENECKS)
def test_the_bottleneck_is_found_and_what_is_advised_helps_as_much_as_is_said(name: str, tmp_path: Path) -> None:
    make, scenario, faults, causes = BOTTLENECKS[name]
    base, found = measured(tmp_path, make(), scenario(), *faults)
    told = "\n".join(lines_of(found))
    assert found.best is not None, told
    assert found.best.cause in causes, told
    assert found.best.gain >= 0.03, told
    assert found.best.spread is not None and found.best.spread < found.best.gain, told
    assert LEAST_SEEDS <= len(found.best.repeats) <= MOST_SEEDS, told

    limits = base.outcome.limits
    assert limits is not None
    (lever,) = [
        lever
        for lever in levers_of(base.document, base.rehearsal, limits, base.outcome.longest, base.outcome.overran)
        if lever.cause == found.best.cause
    ]
    if lever.again is not None:
        lever = lever.again(found.best.times)
    assert lever.change == found.best.change and lever.plan is not None
    plan = lever.plan(base.document)
    machine_then = lever.machine.scenario if lever.machine is not None else scenario()
    again = play(tmp_path, plan, _as_known(base, machine_then, plan), *faults)
    before = play(tmp_path, base.document, scenario(), *faults)
    assert again.busy() - before.busy() == pytest.approx(found.best.worked - found.base.worked, abs=CLOSE), told
    assert found.best.gain == pytest.approx(found.best.worked - found.base.worked, abs=SEEDS_DIFFER), told
    assert lever.change in told


def _as_known(base: Base, scenario: Scenario, plan: Document) -> Scenario:
    """What the plan has more takes as long as what it had."""
    known = base.outcome.times
    one = min(known.values(), key=lambda time: time.mean_s)
    return replace(scenario, times=tuple((case.id, known.get(case.id, one)) for case in plan.cases))


def test_a_time_limit_that_runs_come_to_is_advised_to_be_longer(tmp_path: Path) -> None:
    """Never to be shorter: the runs that passed were the short ones."""
    base, found = measured(tmp_path, Mixed(hours=4.0, limit_s=600.0).plan(), TAKES)
    told = "\n".join(lines_of(found))
    assert found.best is not None and found.best.cause == "verdict:timeout", told
    longer = "in test small: run: {time_limit: 13 min 00 s}; in test large: run: {time_limit: 13 min 00 s}"
    assert f"{longer}: with it, it is met on 4 of 4 seeds" in told
    assert base.outcome.overran and not any(trial.cause == "walltime" for trial in found.tried), told
    (lever,) = [one for one in levers(base) if one.cause == "verdict:timeout"]
    assert lever.plan is not None
    again = play(tmp_path, lever.plan(base.document), TAKES)
    assert again.outcome.overran == (), "what is advised is true when it is followed"


def test_what_does_not_bind_gains_nothing_and_is_not_advised(tmp_path: Path) -> None:
    """Stagger binds, the budget does not: the budget was tried, and gained nothing."""
    _, found = measured(tmp_path, Mixed(hours=2.0, stagger_s=200.0, per_target=6.0).plan(), TAKES)
    budget = next(one for one in found.tried if one.cause == "budget:f2/mdt")
    assert abs(budget.gain) < LEAST_GAIN
    assert "f2/mdt" not in "\n".join(line for line in lines_of(found) if line.startswith(("what", "or")))


def test_two_things_that_bind_together_are_named_together(tmp_path: Path) -> None:
    """Four copies, and a budget for four runs: either alone gains nothing."""
    plan = Mixed(hours=2.0, per_target=1.0, copies=(("small", 2), ("large", 2))).plan()
    _, found = measured(tmp_path, plan, TAKES)
    assert {one.cause for one in found.jointly} >= {"budget:f2/mdt", "copies:small", "copies:large"}, lines_of(found)
    assert found.everything is not None and found.everything.gain > 0.2


# ---- failures: the advice is about the criterion ---------------------------------------------------------------------------


def criterion(name: str, measure: str, must: str, bound: float) -> Criterion:
    return Criterion(name, measure, must.split(maxsplit=1)[0], bound, unit="%", must=must)  # type: ignore[arg-type]


PASSED = criterion("most", "passed / attempts", ">= 99%", 0.99)
WANTED = criterion("all", "passed / wanted", "= 100%", 1.0)


def repeated(*criteria: Criterion, retry: tuple[Retry, ...] = (), building: bool = False) -> Document:
    """Twenty results of each test, with what is to be said of them."""
    plan = Mixed(building=building).plan()
    return component_of(plan, duration_s=0.0, mix=(), repeats=20, criteria=criteria, retry=retry, fill=Fill())


MACHINE_TROUBLES: dict[str, tuple[Document, Scenario, tuple[str, ...], str]] = {
    "failing runs": (repeated(PASSED), TAKES, ("failed=20%",), "no runs that fail"),
    "node failures": (
        repeated(PASSED),
        replace(TAKES, nodes=Nodes(mtbf_s=3 * HOUR, repair_s=600.0)),
        (),
        "nodes that do not fail",
    ),
    "failing builds": (
        repeated(WANTED, building=True),
        replace(TAKES, builds=Builds(mean_s=60.0, broken=("small",))),
        (),
        "builds that do not fail",
    ),
    "lost marks": (repeated(PASSED), TAKES, ("marks_lost=30%", "accounting_missing=100%", "purge=1 s"), "'marks_lost'"),
}


@pytest.mark.parametrize("name", MACHINE_TROUBLES)
def test_what_only_the_machine_could_mend_is_said_to_be_so(name: str, tmp_path: Path) -> None:
    plan, scenario, faults, words = MACHINE_TROUBLES[name]
    _, found = measured(tmp_path, plan, scenario, *faults)
    told = "\n".join(lines_of(found))
    (advice,) = found.criteria
    assert advice.met_by and not any(one.of_plan for one in advice.met_by), told
    assert any(words in one.change for one in advice.met_by), told
    assert "no change of the plan that was tried" in told


def test_retries_are_advised_where_they_mend_the_criterion(tmp_path: Path) -> None:
    """One attempt each: some fail. With more attempts every wanted result passes."""
    _, found = measured(tmp_path, repeated(WANTED), TAKES, "failed=20%")
    (advice,) = found.criteria
    assert any(one.cause == "retry" for one in advice.met_by), lines_of(found)
    assert f"what mends it: {next(one.change for one in advice.met_by if one.of_plan)}" in "\n".join(lines_of(found))


def test_a_criterion_that_nothing_mends_is_told_as_such(tmp_path: Path) -> None:
    quick = Criterion("quick", "value", "<=", 1.0, unit="s", of="elapsed", must="<= 1 s")
    _, found = measured(tmp_path, repeated(quick), TAKES)
    assert "nothing that was tried" in "\n".join(lines_of(found))


# ---- luck --------------------------------------------------------------------------------------------------------------------

MET, SHORT = ("perf.share",), ()


def trial(
    cause: str,
    *gains: float,
    worked: float = 0.9,
    met: tuple[tuple[str, ...], tuple[str, ...]] = (SHORT, SHORT),
    **more: Any,
) -> Trial:
    """A change that gained so much on each further seed, above 80 % of the node-hours."""
    repeats = tuple(Repeat(number, 0.8, 0.8 + gain, *met) for number, gain in enumerate(gains, 1))
    return with_gain(BASE, Trial(cause, f"limits: {{{cause}: 9}}", True, worked=worked, repeats=repeats, **more))


BASE = Trial("", "", False, worked=0.8)


def test_a_gain_within_its_spread_is_luck_and_not_advised() -> None:
    """On the first seed it gained 10 %; on others it gains and loses: nothing is advised, and that is said."""
    lucky = trial("stagger", 0.06, -0.05, 0.04, -0.03)
    assert lucky.gain == pytest.approx(0.005) and lucky.spread is not None and lucky.spread > 0.05
    found = verdict_of(BASE, [lucky], None, [])
    told = "\n".join(lines_of(found))
    assert found.best is None and found.doubtful == (lucky,)
    assert "what to change: nothing is known" in told
    assert "may be the luck of the draw" in told and "limits: {stagger: 9}" in told


def test_a_gain_beyond_its_spread_is_advised_with_both() -> None:
    sure = trial("stagger", 0.05, 0.06, 0.04)
    found = verdict_of(BASE, [sure], None, [])
    assert found.best == sure
    (line,) = [line for line in lines_of(found) if line.startswith("what to change")]
    assert "limits: {stagger: 9}" in line and "+5.0% \u00b1 2.5% (3 seeds)" in line, line


def test_what_was_rehearsed_once_is_never_advised() -> None:
    once = trial("stagger", worked=0.99)
    assert once.spread is None and verdict_of(BASE, [once], None, []).best is None


def most(*tried: Trial) -> list[str]:
    """The line on what gained most of all."""
    return most_of(lines_of(verdict_of(BASE, tried, None, [])))


def most_of(told: list[str]) -> list[str]:
    return [line.removeprefix("what gained most: ") for line in told if line.startswith("what gained most")]


def test_the_largest_gain_is_named_with_how_sure_it_is_where_the_advice_does_not_name_it() -> None:
    """Of one seed it is never advised; another plan is not advised where a smaller change helps; luck is called luck."""
    sure, once = trial("stagger", 0.05, 0.06, 0.04), trial("copies", worked=0.99)
    (line,) = most(sure, once)
    assert line.startswith("limits: {copies: 9} (+19.0%, measured on one seed alone") and "luck of the draw" in line
    (line,) = most(sure, trial("filler", 0.3, 0.31, 0.29))
    assert line.startswith("limits: {filler: 9} (+30.0% \u00b1 ") and "more than its spread" in line
    (line,) = most(sure, trial("copies", 0.9, -0.1, 0.9))
    assert "may be the luck of the draw" in line
    (line,) = most(once)
    assert line.startswith("limits: {copies: 9}")


def test_what_the_advice_names_is_not_named_again_as_the_largest_gain() -> None:
    sure = trial("stagger", 0.05, 0.06, 0.04)
    assert most(sure) == most(sure, trial("stagger", worked=0.99)) == most(sure, trial("copies", worked=0.855)) == []
    machine = replace(trial("nodes", 0.3, 0.31, 0.29), of_plan=False)
    assert most(sure, machine) == most(machine) == [] == most(trial("copies", worked=0.805))


@pytest.mark.parametrize("cause", ["filler", "copies"])
def test_the_largest_gain_is_rehearsed_on_further_seeds_whatever_it_is(cause: str) -> None:
    others = [trial(name, worked=0.85) for name in ("stagger", "retry", "modes", "builds")]
    largest = trial(cause, worked=0.99)
    assert largest in to_repeat(BASE, [*others, largest], None, [])
    assert len(to_repeat(BASE, [*others, largest], None, [])) <= 4


def test_a_change_that_breaks_a_criterion_is_not_advised_and_both_advices_agree() -> None:
    def judged(*outcomes: str) -> tuple[Judged, ...]:
        return tuple(
            Judged("perf", name, outcome, "", 0.1) for name, outcome in zip(("share", "floor"), outcomes, strict=True)
        )

    base = replace(BASE, criteria=judged("not met", "met"))
    more = trial("copies", 0.11, 0.12, 0.10, criteria=judged("met", "not met"))
    less = trial("stagger", 0.05, 0.06, 0.04, met=(SHORT, MET), criteria=judged("met", "met"))
    found = verdict_of(base, [more, less], None, [])
    assert found.best is not None and found.best.cause == "stagger"
    told = "\n".join(lines_of(found))
    assert "what mends it: limits: {stagger: 9}: with it, it is met on 4 of 4 seeds, as it is on 0" in told
    alone_it_says = lines_of(verdict_of(base, [more], None, []))
    assert (
        "what to change: nothing is known that would make more of the machine work and breaks no criterion that is met"
        in (alone_it_says)
    )
    (largest,) = most_of(alone_it_says)
    assert largest.startswith("limits: {copies: 9}") and "with it perf.floor is not met any more" in largest
    together = verdict_of(base, [less], replace(more, cause="together"), [trial("copies", 0.01, 0.01, 0.01)])
    assert together.jointly == ()


def test_criteria_that_a_change_breaks_on_other_seeds_are_told_in_one_sentence() -> None:
    """They are met on the first seed with it and without, and on the further ones only without."""
    both = ("perf.share", "perf.floor")
    criteria = tuple(Judged("perf", name, "met", "", 0.0) for name in ("share", "floor"))
    base = replace(BASE, criteria=criteria)
    change = trial("ahead", 0.11, 0.12, 0.10, met=(both, ()), criteria=criteria)
    found = verdict_of(base, [change], None, [])
    assert found.best is None
    (line,) = most_of(lines_of(found))
    assert "with it perf.share and perf.floor are not met any more" in line
    assert verdict_of(
        base, [replace(change, repeats=trial("", 0.1, 0.1, 0.1, met=(both, both)).repeats)], None, []
    ).best


def test_a_criterion_that_is_met_on_other_seeds_as_it_is_needs_nothing() -> None:
    base = replace(BASE, criteria=(Judged("perf", "share", "not met", "", 0.1),))
    change = trial("stagger", 0.0, 0.0, 0.0, met=(MET, MET), criteria=(Judged("perf", "share", "met", "", 0.0),))
    told = "\n".join(lines_of(verdict_of(base, [change], None, [])))
    assert "what mends it: nothing for certain" in told and "luck of the draw" in told


def test_no_more_seeds_are_drawn_than_it_takes(tmp_path: Path) -> None:
    """What gains much is clear after the fewest seeds, and what binds nothing is rehearsed on one."""
    _, found = measured(tmp_path, licensed(), TAKES)
    assert found.best is not None and len(found.best.repeats) == LEAST_SEEDS
    assert all(not one.repeats for one in found.tried if one.gain == 0)


def test_budgets_are_advised_in_their_units_wherever_they_are_said(tmp_path: Path) -> None:
    plan = licensed(3e9)
    cases = tuple(replace(one, loads=(("bw", 1e9),)) for one in plan.cases)
    system = machine(NODES, targets=False)
    system = replace(system, budgets=(("bw", 3e9),), budget_units=(("bw", "GB/s"),))
    plan = replace(plan, system=system, cases=cases, limits=replace(plan.limits, budgets=(("bw", 2e9),)))
    base, found = measured(tmp_path, plan, TAKES)
    assert found.best is not None and found.best.cause == "budget:bw"
    places = dict(part.partition("budgets: ")[::2] for part in found.best.change.split("; "))
    assert set(places) == {"limits: {", "in the system's file: "}, found.best.change
    assert all("GB/s}" in amount for amount in places.values())
    assert base.outcome.limits is not None and base.outcome.limits.worst is not None
    assert "2 GB/s" in base.outcome.limits.worst.says and "GB/s}" in base.outcome.limits.worst.change
