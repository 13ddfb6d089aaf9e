"""Read campaigns for a comparison: the plan in force and the rows of each, and how their conditions differ."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct

from shakedown.conductor.record.differences import differences
from shakedown.conductor.record.documents import Documents
from shakedown.events.campaigns import read_document
from shakedown.events.reader import read_events
from shakedown.metrics.comparing.cells import BY, Pair, Source, cells_of, node_pairs, pairs_of
from shakedown.metrics.comparing.compare import Comparison, compare
from shakedown.metrics.judging.what_if import plans_of
from shakedown.metrics.rehearsed import in_words
from shakedown.metrics.rows.table import Record, fold_runs
from shakedown.model.errors import UsageError, did_you_mean
from shakedown.model.frozen import thaw
from shakedown.model.layout import Layout
from shakedown.model.nouns import Document, Toolchain
from shakedown.model.shared_nodes import names_in


class Asked(NamedTuple):
    """A campaign to compare, by its directory; one ``epoch`` of it, or 0 for the whole campaign."""

    path: Path
    label: str
    epoch: int = 0


class Conditions(Struct, frozen=True):
    """How the conditions of two sides differ, a line for each difference: the plan with its contracts and system, the machine by
    its fingerprints, toolchains, and the versions of Shakedown; and what opened the epochs between two epochs of one campaign.
    """

    before: str
    after: str
    plan: tuple[str, ...] = ()
    machine: tuple[str, ...] = ()
    toolchains: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    epochs: tuple[str, ...] = ()


class Compared(Struct, frozen=True):
    """A comparison, and the differences in the conditions. ``notes``: which sides are rehearsals, and which are not over."""

    comparison: Comparison
    conditions: tuple[Conditions, ...]
    notes: tuple[str, ...] = ()
    rehearsed: bool = False


def compare_campaigns(asked: Sequence[Asked], by: str, against: str | None, least: float) -> Compared:
    """Purpose: compare campaigns, epochs, or groups of their runs. ``by``: one of BY or a parameter.

    ``against``: the group that the others are compared with; the first where it is None. Errors: UsageError where there is nothing
    to compare, RecordError where a record cannot be read.
    """
    sources = read_sources(asked)
    _check_by(sources, by)
    cells = cells_of(sources, by)
    if by == "node":
        if against is not None:
            raise UsageError("each node is compared with all others", hint="leave --against out")
        pairs = node_pairs(cells, names_in)
        if not pairs:
            raise UsageError("there is nothing to compare by node: no case ran on one node and on others without it")
        baseline = "all other nodes"
    else:
        baseline = _baseline(list(cells), by, against)
        pairs = pairs_of(cells, baseline, partial=by != "campaign" or len({one.path for one in asked}) == 1)
    conditions = _conditions(asked, sources, by, baseline, pairs)
    return Compared(compare(pairs, by, baseline, least), conditions, tuple(notes_on(sources)), any_rehearsed(sources))


def _check_by(sources: Sequence[Source], by: str) -> None:
    parameters = {name for one in sources for case in one.document.cases for name, _ in case.parameters}
    if by not in (*BY, *parameters):
        known = [*BY, *sorted(parameters)]
        hint = did_you_mean(by, known) or f"there are {', '.join(known)}"
        raise UsageError(f"--by '{by}' is not a way to compare runs", hint=hint)


def _baseline(groups: list[str], by: str, against: str | None) -> str:
    if len(groups) < 2:
        found = f"only {groups[0]}" if groups else "none"
        raise UsageError(f"there is nothing to compare by {by}: {found}", hint="name another campaign, or another --by")
    if against is None:
        return groups[0]
    if against not in groups:
        hint = did_you_mean(against, groups) or f"there are {', '.join(groups)}"
        raise UsageError(f"--against '{against}' is no {by} of these campaigns", hint=hint)
    return against


# ---- reading ---------------------------------------------------------------------------------------------------------


def read_sources(asked: Sequence[Asked]) -> list[Source]:
    """Purpose: each campaign or epoch with its plan and rows. Every log is read once.

    Errors: UsageError where a campaign has not begun or has no such epoch; RecordError.
    """
    records: dict[Path, Record] = {}
    for one in asked:
        if one.path not in records:
            records[one.path] = record = fold_runs(read_events(Layout(one.path).log))
            record.plans = plans_of(record, Documents(Layout(one.path)))
    return [_source(one, records[one.path]) for one in asked]


def _source(one: Asked, record: Record) -> Source:
    if not record.document:
        raise UsageError(f"campaign {one.path.name} has not started: it has no runs to compare")
    return Source(one.label, _document(one, record), record, one.epoch)


def _document(one: Asked, record: Record) -> Document:
    """The plan in force; for an epoch, the plan in force during that epoch."""
    digest = record.document
    if one.epoch:
        numbers = [epoch.number for epoch in record.epochs]
        if one.epoch not in numbers:
            had = f"epochs {numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else "one epoch"
            raise UsageError(f"campaign {one.path.name} has no epoch {one.epoch}: it had {had}")
        amended = sum(epoch.opened_by == "amended" and epoch.number <= one.epoch for epoch in record.epochs)
        digest = record.documents[min(amended, len(record.documents) - 1)]
    return thaw(read_document(Layout(one.path), digest))


def any_rehearsed(sources: Iterable[Source]) -> bool:
    """Whether one of these sources is a rehearsal, so that its numbers come from a model."""
    return any(one.record.rehearsal for one in sources)


def notes_on(sources: Iterable[Source]) -> Iterable[str]:
    """Purpose: a sentence on each source that is a rehearsal, and on each that is not over."""
    for one in sources:
        if one.record.rehearsal:
            yield f"{one.label}: {in_words(one.record.rehearsal)}"
        if one.record.ended is None:
            yield f"{one.label} is not over: what it says may still change"


# ---- conditions --------------------------------------------------------------------------------------------------------


def _conditions(
    asked: Sequence[Asked], sources: Sequence[Source], by: str, baseline: str, pairs: Sequence[Pair]
) -> tuple[Conditions, ...]:
    """The differences between each compared campaign or epoch and the baseline; () where groups of runs are compared."""
    if by != "campaign":
        return ()
    sides = {source.label: (one, source) for one, source in zip(asked, sources, strict=True)}
    return tuple(_conditions_between(*sides[baseline], *sides[pair.after]) for pair in pairs)


def _conditions_between(first: Asked, before: Source, second: Asked, after: Source) -> Conditions:
    real = not any_rehearsed((before, after))  # nobody asks a model for its firmware
    return Conditions(
        before.label,
        after.label,
        tuple(differences(before.document, after.document)),
        tuple(_machines(first, before, second, after) if real else ()),
        tuple(_toolchains(before.document.system.toolchains, after.document.system.toolchains)),
        tuple(_versions(before.record, after.record) if real and first.path != second.path else ()),
        tuple(_epochs(first, second, after.record)),
    )


def _machines(first: Asked, before: Source, second: Asked, after: Source) -> Iterable[str]:
    """Differences between the fingerprints. Two systems have different nodes, so their largest groups of equal
    nodes are compared.
    """
    from shakedown.conductor.commands.fingerprints import read_facts_file
    from shakedown.machine.fingerprint import differences as of_facts
    from shakedown.machine.fingerprint import group_nodes
    from shakedown.machine.fingerprint_facts import changes

    facts = []
    for one, source in ((first, before), (second, after)):
        digest = _fingerprint(source)
        found = read_facts_file(Layout(one.path), digest) if digest else None
        if not found:
            why = "its file of facts is gone or changed" if digest else "no fingerprint was taken"
            return [f"{source.label}: {why}, so the machines cannot be compared"]
        facts.append(found)
    if set(facts[0]) & set(facts[1]):
        return changes(*facts)
    return of_facts(*(group_nodes(found)[0].facts for found in facts))


def _fingerprint(source: Source) -> str:
    """The digest of the last fingerprint of the campaign or, for an epoch, up to that epoch; "" where there is none."""
    rows = [row for row in source.record.fingerprints if not source.epoch or row.epoch <= source.epoch]
    return rows[-1].digest if rows else ""


def _toolchains(before: Sequence[Toolchain], after: Sequence[Toolchain]) -> Iterable[str]:
    old, new = ({one.name: msgspec.structs.asdict(one) for one in side} for side in (before, after))
    for name in (name for name in new if name in old):
        for field, value in new[name].items():
            if old[name][field] != value:
                yield f"{name}: {field} {_shown(old[name][field])} -> {_shown(value)}"
    yield from (f"{name} is gone" for name in old if name not in new)
    yield from (f"{name} is new" for name in new if name not in old)


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join("=".join(one) if isinstance(one, tuple) else str(one) for one in value) or "none"
    return str(value or "none")


def _versions(before: Record, after: Record) -> Iterable[str]:
    """Differences between the versions of Shakedown and Python that drove each side."""
    for name, word in (("version", "Shakedown"), ("python", "Python")):
        old, new = (_driven_by(record, name) for record in (before, after))
        if old != new:
            yield f"{word} {', '.join(old) or 'unknown'} -> {', '.join(new) or 'unknown'}"


def _driven_by(record: Record, name: str) -> list[str]:
    drivers = [note.value.get("driver") for note in record.of_kind("driver_start")]
    return sorted({str(driver[name]) for driver in drivers if isinstance(driver, dict) and driver.get(name)})


def _epochs(first: Asked, second: Asked, record: Record) -> Iterable[str]:
    """What opened each epoch after the first side, up to the second."""
    if first.path == second.path and first.epoch and second.epoch:
        low, high = sorted((first.epoch, second.epoch))
        for _, epoch in pairwise(record.epochs):
            if low < epoch.number <= high:
                by = f" by {epoch.by}" if epoch.by else ""
                said = "; ".join(filter(None, (epoch.reason, *epoch.difference)))
                yield f"epoch {epoch.number} was opened by '{epoch.opened_by}'{by}" + (f": {said}" if said else "")
