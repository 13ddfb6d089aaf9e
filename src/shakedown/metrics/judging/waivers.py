"""What people accepted as it is: which waivers apply to what, which restrict, and which were given before any result.

A waiver holds for the requirement at the time when it was given; each waiver stands, whatever is later given under its name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from msgspec import Struct

from shakedown.metrics.judging.contract import ContractScore, RowScore, of_rows
from shakedown.metrics.judging.default_criteria import criteria_of
from shakedown.metrics.judging.scorecard import ComponentScore
from shakedown.metrics.rows.rows import WaiverRow
from shakedown.metrics.rows.table import Record
from shakedown.metrics.words import plural
from shakedown.model.judging import Criterion
from shakedown.model.nouns import Component, Document
from shakedown.model.said_words import accepted_words
from shakedown.model.waived import gate_digest, holds, says_of_what


class Standing(Struct, frozen=True):
    """The state of the waivers that no criterion's outcome shows.

    ``others``: waivers of gates and rows; ``gone``: waivers of requirements that the plan in force no longer has; each of both
    restricts. ``idle``: a sentence for each waiver that changes nothing.
    """

    others: tuple[WaiverRow, ...]
    gone: tuple[WaiverRow, ...]
    idle: tuple[str, ...]


def of_criterion(document: Document, component: Component, criterion: Criterion, record: Record) -> list[WaiverRow]:
    """Purpose: every waiver of this criterion, the oldest first."""
    return [row for row in record.waivers if row.is_of_criterion(document, component, criterion)]


def standing(
    document: Document, record: Record, contract: ContractScore | None, components: Iterable[ComponentScore]
) -> Standing:
    """Purpose: the effect of each waiver of the record, except those shown with a criterion."""
    known = {
        (component.name, item.name): (component, item)
        for component in document.components
        for item in criteria_of(component)
    }
    met = {(one.name, item.name) for one in components for item in one.criteria if item.outcome == "met"}
    scores = contract.rows if contract is not None else ()
    others: list[WaiverRow] = []
    gone: list[WaiverRow] = []
    idle: list[str] = []
    for row in _each_once(record.waivers):
        place = (row.component, row.name)
        if row.what in ("conditions", "issue"):
            others += [row] if row.restriction else []  # without one it only lifts what that restricts
        elif row.what == "criterion" and place in known and row.is_of_criterion(document, *known[place]):
            idle += [_changes_nothing(row, f"{row.component}: {row.name}")] if place in met else []
        elif row.what == "criterion" and not row.digest:
            idle.append(
                f"criterion {row.name} of {row.component} is waived, and the plan in force has none of that name"
            )
        elif row.what == "criterion" or _is_gone(row, document):
            gone.append(row)
        elif row.what == "row" and _is_met(row, document, scores):
            idle.append(_changes_nothing(row, f"contract row {row.name}"))
        elif row.what == "gate" and _was_met(row, record):
            idle.append(_changes_nothing(row, f"{row.component}, whose gate is waived,"))
        else:
            others.append(row)
    return Standing(tuple(others), tuple(gone), tuple(idle))


def _each_once(rows: Iterable[WaiverRow]) -> list[WaiverRow]:
    """The waivers, without repetitions in the same words."""
    found = {(row.what, row.component, row.name, row.digest, str(row.row), row.restriction): row for row in rows}
    return list(found.values())


def _changes_nothing(row: WaiverRow, what: str) -> str:
    return f"{what} is met: its waiver by {row.by} ({row.restriction or 'without a restriction'}) changes nothing"


def _is_met(row: WaiverRow, document: Document, scores: Sequence[RowScore]) -> bool:
    mine = [score for score in scores if row.is_of_row(document, score.row)]
    return bool(mine) and all(score.outcome == "met" for score in mine)


def _is_gone(row: WaiverRow, document: Document) -> bool:
    """Whether a gate or row now asks for something else, or of other cases (older records do not say of which cases)."""
    if row.what == "row":
        return says_of_what(row.digest) and not of_rows(document, [row])
    return row.what == "gate" and not holds(row.digest, gate_digest(document, row.component))


def _was_met(row: WaiverRow, record: Record) -> bool:
    """Whether the component was met before its gate was waived, and still is: the waiver then let nothing begin."""
    said = [note for note in record.of_kind("component_outcome") if note.value.get("component") == row.component]
    return bool(said) and said[0].seq < row.seq and all(note.value.get("outcome") == "met" for note in said)


# ---- ahead of results --------------------------------------------------------------------------------------------------


def ahead(waiver: WaiverRow, runs: Collection[str], record: Record) -> str:
    """Purpose: the note that a waiver was given before any, or most, of these runs' verdicts; else "".

    A waiver is not ahead if earlier results of the same cases existed that no longer count: the person saw them. If the record does
    not tell the waiver's cases, results of the whole component count.
    """
    if not waiver.seq or not runs:
        return ""
    mine = [row for row in record.runs if not row.supersedes and row.run in runs]
    known = says_of_what(waiver.digest)
    places = {(row.component, row.case if known else "") for row in mine}
    seen = [row for row in record.runs if row.seq < waiver.seq and (row.component, row.case if known else "") in places]
    if seen and all(row.seq > waiver.seq for row in mine):
        return ""
    return _ahead(waiver, [row.seq for row in mine], "results")


def ahead_of_outcome(waiver: WaiverRow, record: Record) -> str:
    """Purpose: the note that a gate's waiver was given before the gate's component was judged; else ""."""
    said = [note for note in record.of_kind("component_outcome") if note.value.get("component") == waiver.component]
    early = waiver.seq and not any(note.seq < waiver.seq for note in said)
    return "waived ahead: before it was judged" if early else ""


def ahead_of_attestations(waiver: WaiverRow, component: str, record: Record) -> str:
    """Purpose: the note that a waiver was given before any, or most, attestations of a component; else ""."""
    said = [note.seq for note in record.of_kind("attested") if note.value.get("component") == component]
    return _ahead(waiver, said, "attestations") if waiver.seq else ""


def _ahead(waiver: WaiverRow, seqs: Sequence[int], what: str) -> str:
    later = sum(seq > waiver.seq for seq in seqs)
    if later == len(seqs):
        return f"waived ahead: before any of its {plural(len(seqs), what.rstrip('s'))}" if seqs else "waived ahead"
    return f"waived when {len(seqs) - later} of its {len(seqs)} {what} were there" if later else ""


def words(waivers: Iterable[WaiverRow], early: Sequence[str] = ()) -> str:
    """Purpose: the restrictions of some waivers, each with the note on its time: "no wide jobs (waived ahead: ...)"."""
    found = []
    for place, row in enumerate(waivers):
        note = early[place] if place < len(early) else ""
        found.append(accepted_words(row.restriction) + (f" ({note})" if note else ""))
    return "; ".join(dict.fromkeys(found))


def givers(waivers: Iterable[WaiverRow]) -> str:
    """Purpose: the people who gave these waivers, each once."""
    return ", ".join(dict.fromkeys(row.by for row in waivers if row.by))
