"""The criteria of a component: those that its plan states, and the default ones where the plan states none."""

from __future__ import annotations

from collections.abc import Iterator

from shakedown.model.judging import Criterion
from shakedown.model.nouns import Component, Drill
from shakedown.model.units import show_duration

USUAL_CRITERION = Criterion("passed", "passed / wanted", "=", 1.0, unit="%", must="= 100%")  # if a plan states none
USUAL_PROCEDURES = Criterion("procedures", "attested", "=", 1.0, unit="%", must="= 100%")  # if none is on attested
USUAL_CRITERIA = (USUAL_CRITERION, USUAL_PROCEDURES)
DRILLS = ("drill: lost", "drill: hole", "drill: back")  # the measures of a drill's expectations
DRILL_TIMES = frozenset(DRILLS[1:])  # the measures that are times: longer is worse
PLANNED_TIME = "planned time"  # the criterion's name, which no plan can write, and its measure


SET_UP = Criterion("set up", "set up", "=", 1.0, unit="%", must="= 100%")  # no plan can write this name or the next
CLEAN_UP = Criterion("clean up", "clean up", "=", 1.0, unit="%", must="= 100%")


def is_usual(criterion: Criterion) -> bool:
    """Purpose: whether a criterion is a default or an implied one, which the plan does not state."""
    return criterion in USUAL_CRITERIA or criterion.measure in (PLANNED_TIME, SET_UP.measure, CLEAN_UP.measure, *DRILLS)


def criteria_of(component: Component) -> tuple[Criterion, ...]:
    """Purpose: every criterion of a component. A component that only lists procedures is judged on them too, and a component that
    runs for a time must run for that time.
    """
    stated = component.criteria
    runs = (USUAL_CRITERION,) if not stated and (component.cases or not component.procedures) else ()
    listed = component.procedures and all(criterion.measure != "attested" for criterion in stated)
    return (
        *stated,
        *runs,
        *((USUAL_PROCEDURES,) if listed else ()),
        *_planned_time(component),
        *_steps(component),
        *_drills(component),
    )


def _steps(component: Component) -> tuple[Criterion, ...]:
    return (*((SET_UP,) if component.set_up else ()), *((CLEAN_UP,) if component.clean_up else ()))


def _drills(component: Component) -> tuple[Criterion, ...]:
    return tuple(one for drill in component.drills for one in criteria_of_drill(drill))


def criteria_of_drill(drill: Drill) -> Iterator[Criterion]:
    """Purpose: a criterion for each expectation of a drill. No plan can write their names; ``files`` holds the drill's name."""
    written = dict(drill.written)
    if drill.lost is not None:
        yield _of_drill(drill, "lost", float(drill.lost), f"<= {drill.lost}", "")
    if drill.hole_s is not None:
        yield _of_drill(drill, "hole", drill.hole_s, written.get("hole", ""), "s")
    if drill.back_s is not None:
        yield _of_drill(drill, "back", drill.back_s, written.get("back", ""), "s")


def _of_drill(drill: Drill, what: str, bound: float, must: str, unit: str) -> Criterion:
    name = f"drill {drill.name}: {what}"
    return Criterion(name, f"drill: {what}", "<=", bound, unit=unit, must=must, clause=drill.clause, files=drill.name)


def _planned_time(component: Component) -> tuple[Criterion, ...]:
    if not component.duration_s:
        return ()
    must = f">= {show_duration(component.duration_s)}"
    return (Criterion(PLANNED_TIME, PLANNED_TIME, ">=", component.duration_s, unit="s", must=must),)
