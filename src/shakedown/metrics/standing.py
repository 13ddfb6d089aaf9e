"""The criteria that a component is held to: those its plan states, and the usual ones where it states none."""

from __future__ import annotations

from shakedown.model.judging import Criterion
from shakedown.model.nouns import Component

USUAL_CRITERION = Criterion("passed", "passed / wanted", "=", 1.0, unit="%", must="= 100%")  # where a plan states none
USUAL_PROCEDURES = Criterion("procedures", "attested", "=", 1.0, unit="%", must="= 100%")  # where none is on attested
USUAL_CRITERIA = (USUAL_CRITERION, USUAL_PROCEDURES)


def criteria_of(component: Component) -> tuple[Criterion, ...]:
    """Purpose: every criterion of a component. Procedures are asked for even where the plan only lists them."""
    stated = component.criteria
    runs = (USUAL_CRITERION,) if not stated and (component.cases or not component.procedures) else ()
    listed = component.procedures and all(criterion.measure != "attested" for criterion in stated)
    return (*stated, *runs, *((USUAL_PROCEDURES,) if listed else ()))
