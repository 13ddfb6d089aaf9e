"""The outcomes of components, recorded where a gate waits for them: the metrics judge, the engine opens gates.

Only components that another one waits for with ``gate: met`` are judged here: once they are over, and again after whatever may
change that. The rows are folded together with the events; they only repeat the log and are made again after a crash.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shakedown.metrics.words import plural
from shakedown.model.events import Event

if TYPE_CHECKING:
    from collections.abc import Callable

    from shakedown.conductor.driver.conductor import Conductor
    from shakedown.metrics.judging.consent import Consent
    from shakedown.metrics.judging.scorecard import ComponentScore
    from shakedown.metrics.rows.rows import WaiverRow
    from shakedown.metrics.rows.table import Record
    from shakedown.model.nouns import Document

_OUTCOMES = {"accepted": "met", "accepted with restrictions": "met", "rejected": "not met"}
_SHOWN = 3  # criteria that are named
_LONGEST = 500


def log_outcomes(conductor: Conductor) -> None:
    """Purpose: record an event for each awaited component that is over and whose outcome differs from what was recorded."""
    state = conductor.state
    for name in state.index.awaited:
        if not state.finished(name):
            continue
        said = state.gates.outcomes.get(name)
        if said is not None and state.campaign.doubted <= max(said.seq, conductor.weighed.get(name, 0)):
            continue
        conductor.weighed[name] = state.seq
        outcome, why = weigh(conductor, name)
        if said is None or (said.outcome, said.why) != (outcome, why):
            conductor.log(
                Event("component_outcome", value={"component": name, "outcome": outcome}, reason=why[:_LONGEST])
            )


def weigh(conductor: Conductor, name: str) -> tuple[str, str]:
    """Purpose: the outcome of a component (met, not met or undecided), and the criteria that decide it."""
    from shakedown.metrics.judging.criteria import score

    state = conductor.state
    document, record = _with_consent(conductor, name)
    over = [found.name for found in document.components if state.finished(found.name)]
    scorecard = score(document, record, over)
    component = next(found for found in scorecard.components if found.name == name)
    outcome = _OUTCOMES.get(component.outcome, "undecided")
    return outcome, _why(component, outcome)


def _with_consent(conductor: Conductor, name: str) -> tuple[Document, Record]:
    """The plan and the rows, without what has no effect yet because a party whose consent is required has not agreed. If only the
    newest plan has the component, that plan is used.
    """
    document, record = conductor.state.index.document, rows_of(conductor)
    from shakedown.metrics.judging.what_if import plans_of

    documents = documents_of(conductor)
    record.plans = plans_of(record, documents)
    if not consent_now(conductor).void:
        return document, record
    from shakedown.conductor.record.settling import signatures_under
    from shakedown.metrics.judging.in_effect import in_effect

    plan, judged = in_effect(document, record, documents, conductor.reread, signatures_under(record))
    return (plan, judged) if any(part.name == name for part in plan.components) else (document, record)


def consent_now(conductor: Conductor, then: Record | None = None) -> Consent:
    """Purpose: who agreed to what, as the report says it. ``then``: the rows including something that is about to be said. Where no
    plan asks for consent, the answer is empty: then nothing is without effect.
    """
    from shakedown.conductor.record.settling import signatures_under
    from shakedown.metrics.judging.consent import Consent
    from shakedown.metrics.judging.consent import weigh as weigh_consent
    from shakedown.metrics.judging.people import acts_of

    record = rows_of(conductor) if then is None else then
    plans = documents_of(conductor)
    if not any(plans(digest).consent for digest in record.documents if digest):
        return Consent()
    return weigh_consent(record, acts_of(record), plans, signatures_under(record))


def documents_of(conductor: Conductor) -> Callable[[str], Document]:
    """Purpose: a function that gives the plans that were in force, by their digests."""
    assert conductor.documents is not None, "nobody said where the plans of the campaign are"
    return conductor.documents


def gates_that_open(conductor: Conductor, said: Event, plan: Document | None = None) -> dict[str, str]:
    """Purpose: component -> why its gate is waived, once ``said`` is recorded. ``plan``: the plan in force then."""
    from msgspec.structs import replace

    from shakedown.metrics.judging.without import copied

    record = rows_of(conductor)
    if said.event != "waived" and not record.waivers:
        return {}
    then = copied(record)
    then.add(replace(said, seq=record.seq + 1, time=record.last))
    return {row.component: row.reason or "waived" for row in waivers_of_gates(conductor, then, plan)}


def waivers_of_gates(conductor: Conductor, then: Record | None = None, plan: Document | None = None) -> list[WaiverRow]:
    """Purpose: the waivers that open gates of a plan: those in effect, and for the same terms that the gate has in this plan.
    ``then``: as in ``consent_now``; ``plan``: by default the one in force.
    """
    from shakedown.model.waived import gate_digest, holds

    record, document = rows_of(conductor) if then is None else then, plan or conductor.state.index.document
    gates = [row for row in record.waivers if row.what == "gate"]
    gates = [row for row in gates if holds(row.digest, gate_digest(document, row.component))]
    void = consent_now(conductor, then).void if gates else frozenset()
    return [row for row in gates if row.seq not in void]


def rows_of(conductor: Conductor) -> Record:
    """The rows of the whole log, kept up to date from the first call on."""
    from shakedown.metrics.rows.table import fold_runs

    if conductor.record is None:
        conductor.commit()
        conductor.record = fold_runs(conductor.reread())
        assert conductor.record.seq == conductor.state.seq, "the log that is read again ends elsewhere"
    return conductor.record


def _why(component: ComponentScore, outcome: str) -> str:
    """The criteria that lead to this outcome, each with its arithmetic."""
    if outcome == "met":
        return _met(component)
    mine = [item for item in component.criteria if item.outcome == outcome] or list(component.criteria)
    told = [f"{item.name}: {item.arithmetic or item.reason or item.outcome}" for item in mine[:_SHOWN]]
    more = f" and {len(mine) - _SHOWN} more" if len(mine) > _SHOWN else ""
    return "; ".join(told) + more


def _met(component: ComponentScore) -> str:
    """The words of the page: how many criteria are met, and how many were waived or could not be judged."""
    every = [item for item in component.criteria if not item.restricted]
    met = sum(item.outcome == "met" for item in every)
    waived = [item.name for item in every if item.outcome == "waived"]
    parts = (
        [f"{len(waived)} waived ({', '.join(waived[:_SHOWN])}{', ...' if len(waived) > _SHOWN else ''})"]
        if waived
        else []
    )
    unjudged = len(component.criteria) - len(every)
    parts += [f"{unjudged} not judged"] if unjudged else []
    parts += [f"{plural(len(component.unavailable), 'case')} unavailable"] if component.unavailable else []
    if not parts:
        return "the only criterion is met" if met == 1 else f"{met} criteria are met"
    return f"accepted with restrictions: {met} of {len(component.criteria)} criteria are met, {', '.join(parts)}"
