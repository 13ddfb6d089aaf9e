"""Cases of a plan that cannot run: which and why, and whether the plan may start without them.

A plan that starts without some of its cases is accepted with restrictions at best. Only a person may decide that: in the plan, or
on the command line. Otherwise a misspelt number would leave out what was to be tried, and nobody would see it.
"""

from __future__ import annotations

from dataclasses import dataclass

from msgspec.structs import replace

from shakedown.model.errors import UsageError
from shakedown.model.nouns import Document

RESTRICT = "restrict"
CHOICES = ("refuse", RESTRICT)
WAY = f"'--unavailable {RESTRICT}', or 'unavailable: {RESTRICT}' in the plan, accepts the rest without them, with restrictions"

AD_HOC_WAY = f"'--unavailable {RESTRICT}' runs the rest without them, with restrictions"

_NAMED = 6  # cases that a sentence names


@dataclass(frozen=True, slots=True)
class Lost:
    """A case that cannot run, in a component of a plan. ``restrict``: the plan may start without it."""

    plan: str
    component: str
    case: str
    reason: str
    restrict: bool = False


def lost_cases(document: Document) -> list[Lost]:
    """Purpose: the cases that cannot run, by component, in the order of the plan; fillers, set-ups and clean-ups too."""
    reasons = {case.id: case.unavailable for case in document.cases if case.unavailable}
    restrict = document.unavailable == RESTRICT
    return [
        Lost(document.plan, component.name, case, reasons[case], restrict)
        for component in document.components
        for case in dict.fromkeys(component.every_case)
        if case in reasons
    ]


def started_with(document: Document, wish: str | None) -> Document:
    """Purpose: the document as it may start; ``wish`` is what the command line says, and goes before the plan.

    Errors: UsageError where cases cannot run and nobody said that the plan may start without them.
    """
    if wish is not None:
        document = replace(document, unavailable=wish)
    lost = lost_cases(document)
    if not lost or document.unavailable == RESTRICT:
        return document
    raise UsageError(
        "\n".join([f"plan {document.plan} does not start: {in_short(lost, document)}", *lines(lost)]),
        AD_HOC_WAY if document.ad_hoc else WAY,
    )


def in_short(lost: list[Lost], document: Document) -> str:
    """A phrase on how many of the plan's cases cannot run."""
    count, every = len({one.case for one in lost}), len(document.cases)
    return f"{count} of its {every} cases cannot run" if every > 1 else "its only case cannot run"


def lines(lost: list[Lost]) -> list[str]:
    """Lines for a person: each case once, with its reason."""
    reasons = {one.case: one.reason for one in lost}
    return [f"  {case}: {reason}" for case, reason in reasons.items()]


def some(cases: list[str]) -> str:
    """The first few cases by name, and how many there are beside them."""
    more = f" and {len(cases) - _NAMED} more" if len(cases) > _NAMED else ""
    return f"{', '.join(cases[:_NAMED])}{more}"
