"""What is signed: the newest seal and what it covers, or the record where nothing is sealed; then what the page shows."""

from __future__ import annotations

from collections.abc import Iterator

from shakedown.metrics.judging.scorecard import AfterSeal
from shakedown.metrics.rows.rows import SealRow
from shakedown.metrics.rows.table import Record
from shakedown.metrics.words import plural
from shakedown.report.words import one_line, show_time


def what_is_signed(
    record: Record, digest: str, plan: str, outcome: str, most: int = 0, after: AfterSeal | None = None
) -> list[tuple[str, str]]:
    """Purpose: (sentence, the digest that it ends with or "") each. A seal covers its own event, as 'seal' and 'verify' count.

    ``digest``: of the lines that the page was made from; ``plan``: of the frozen plan; ``most``: seals that are told, 0 = all;
    ``after``: what came after the seal up to which the record is judged.
    """
    if not record.seals:
        return [
            (f"The record, events 1 to {record.seq}, with the outcome {outcome}, by its digest", digest),
            ("It is judged by the frozen plan", plan),
        ]
    return [*_seals(record, most, after), *_page(record, digest, plan, outcome, after)]


def _seals(record: Record, most: int, after: AfterSeal | None) -> Iterator[tuple[str, str]]:
    *earlier, newest = record.seals
    outcome = f", with the outcome {one_line(newest.outcome, 40)}" if newest.outcome else ""
    yield (
        f"The seal of {_made(newest)} covers events 1 to {newest.seq}{outcome}. Its digest is what is signed",
        one_line(newest.digest),
    )
    if after is not None:
        yield f"Every party agreed to this seal. What came after it does not count: {after.words}", ""
    elif record.seq > newest.seq:
        since = record.seq - newest.seq
        yield f"The record has grown since: {plural(since, 'event')} came after this seal, under none", ""
    told = earlier[-(most - 1) :] if most > 1 else earlier
    for seal in told:
        yield f"An earlier seal, of {_made(seal)}, covers events 1 to {seal.seq}", one_line(seal.digest)
    if len(told) < len(earlier):
        yield f"'shakedown verify' lists {plural(len(earlier) - len(told), 'seal')} before these", ""


def _page(record: Record, digest: str, plan: str, outcome: str, after: AfterSeal | None) -> Iterator[tuple[str, str]]:
    if after is not None:
        shown = f"events 1 to {after.seal}, and in a part of its own what came after them up to event {after.through}"
        yield f"This page shows {shown}, with the outcome {outcome}, judged by the frozen plan", plan
        yield (
            f"A copy of this page is checked by the sum of the lines of all {after.through} events, which is no seal",
            digest,
        )
        return
    yield f"This page shows events 1 to {record.seq}, with the outcome {outcome}, judged by the frozen plan", plan
    yield "A copy of this page is checked by the sum of their lines, which is no seal", digest


def _made(seal: SealRow) -> str:
    return f"{show_time(seal.time)} UTC by {one_line(seal.by, 80) or 'somebody'}"
