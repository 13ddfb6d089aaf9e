"""The measure ``attested``: procedures attested as met, of all procedures of a component."""

from __future__ import annotations

from shakedown.metrics.judging.populations import Population
from shakedown.metrics.judging.scope import MeasureContext
from shakedown.metrics.judging.scorecard import Measured
from shakedown.metrics.rows.rows import AttestationRow
from shakedown.metrics.words import plural, show_share, some
from shakedown.model.judging import Criterion
from shakedown.model.nouns import Procedure
from shakedown.model.wording import wording_of


def attested(criterion: Criterion, population: Population, around: MeasureContext) -> Measured:
    """The measure ``attested``: procedures attested as met, with the required evidence, of all procedures; runs do not matter."""
    asked = around.component.procedures
    if not asked:
        return Measured(None, 0, "", reason="the component has no procedures")
    attestations = around.record.attestations
    said = {item.name: standing_of(item, attestations.get((around.component.name, item.name))) for item in asked}
    met = [name for name, word in said.items() if word == "met"]
    waiting = [name for name, word in said.items() if word in ("", "evidence", "wording")]
    value, count = len(met) / len(asked), len(asked) - len(waiting)
    text = f"{len(met)} attested as met / {plural(len(asked), 'procedure')} = {show_share(value, criterion.bound)}"
    failed = [name for name, word in said.items() if word == "not met"]
    text += f" (not met: {some(failed)})" if failed else ""
    text += f" (not attested: {some([name for name in waiting if not said[name]])})" if "" in said.values() else ""
    poor, other = ([name for name in waiting if said[name] == word] for word in ("evidence", "wording"))
    text += f" (attested before the plan asked for something else: {some(other)})" if other else ""
    text += f" (attested with too few files of evidence: {some(poor)})" if poor else ""
    if not count:
        since = f"; attested before the plan asked for something else: {some(other)}" if other else ""
        return Measured(None, 0, "", reason=f"not attested yet: {some(waiting)}{since}")
    return Measured(value, count, text, value, (len(met) + len(waiting)) / len(asked))


def standing_of(procedure: Procedure, row: AttestationRow | None) -> str:
    """Purpose: "met", "not met", "evidence" if too few files were attached, "wording" if the plan's procedure changed after the
    attestation, or "" if there is no attestation.
    """
    if row is None:
        return ""
    if row.wording and row.wording != wording_of(procedure):
        return "wording"
    if not row.met:
        return "not met"
    return "met" if len({digest for _, digest in row.evidence}) >= procedure.evidence else "evidence"
