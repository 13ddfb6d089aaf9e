"""Explain why a run or a case has its state, from its state, its verdicts and their reasons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice

from shakedown.engine import State
from shakedown.engine.constraints.queue_guard import held_queues, queue_in_words
from shakedown.engine.fold.queue_guard import pool_of
from shakedown.engine.state.phases import JobPhase
from shakedown.events.reader import read_events
from shakedown.metrics.rows.rows import RunRow
from shakedown.metrics.rows.table import Record
from shakedown.model.errors import UsageError
from shakedown.model.events import COMPLETED, SPARED, UNDETERMINED
from shakedown.model.layout import Layout
from shakedown.model.near_names import near_case
from shakedown.model.retrying import NEVER_RETRIED
from shakedown.model.shared_nodes import names_of
from shakedown.queries.folds import Folds
from shakedown.queries.seen_of_runs import no_run_time, seen_at_the_scheduler
from shakedown.queries.status import explained, is_left_alone, what_it_does
from shakedown.queries.status_words import said_of_run


@dataclass(slots=True)
class Answer:
    """Sentences that explain something, the most important first."""

    subject: str
    kind: str
    lines: list[str]


def why(layout: Layout, subject: str, folds: Folds | None = None) -> Answer:
    """Purpose: explain a run (``r000012``) or a case, from its state, its verdicts and their reasons. Errors: UsageError for an
    unknown name.
    """
    folds = folds or Folds(layout)
    (state, refused), record = folds.state(), folds.whole_record()
    told = [f"log/snapshots/{name} is not what the log leads to: this is folded from the log" for name in refused]
    alone = is_left_alone(layout, state)
    rows = [row for row in record.runs if row.run == subject]
    if rows or subject in state.runs:
        lines = _why_run(state, record, rows, subject, _ends_in(layout, record, rows), alone)
        return Answer(subject, "run", lines + _given_to(layout, state, subject) + told)
    if state.plan is not None and subject in state.index.cases:
        mine = [row for row in record.runs if row.case == subject]
        return Answer(subject, "case", _why_case(state, record, subject, _ends_in(layout, record, mine), alone) + told)
    raise UsageError(f"{layout.root.name} has no run and no case '{subject}'", hint=_near(state, record, subject))


def _near(state: State, record: Record, subject: str) -> str:
    """A hint for a word that is neither a run nor a case."""
    listed = "'shakedown runs' lists runs, 'shakedown list cases' cases"
    if state.plan is None:
        return listed
    if any(subject in names_of(partition.nodes) for partition in state.index.document.system.partitions()):
        return f"{subject} is a node: 'shakedown nodes' says what it did"
    cases = [(case.id, case.test) for case in state.index.document.cases]
    return near_case(subject, cases, {row.run for row in record.runs}) or listed


def _ends_in(layout: Layout, record: Record, rows: Iterable[RunRow]) -> dict[str, str]:
    """Run -> why no further attempt follows, for those of these runs after which a result was given up."""
    seqs = {record.given_up[row.run] for row in rows if row.run in record.given_up}
    if not seqs:
        return {}
    events = islice(read_events(layout.log, after=min(seqs) - 1), max(seqs) - min(seqs) + 1)
    return {event.run: event.reason for event in events if event.seq in seqs}


def _what_followed(record: Record, row: RunRow, ends: Mapping[str, str]) -> str:
    """For an attempt that did not pass: the next attempt, or how many there were and why no more follow; "" where that is open."""
    if row.verdict in ("passed", SPARED) or row.superseded_by:
        return ""
    mine = {other.run: other.attempt for other in record.current() if other.result == row.result}
    mine |= {run: other.attempt for run, other in record.open.items() if other.result == row.result}
    after = [run for run, attempt in mine.items() if attempt > row.attempt]
    if after:
        following = min(after, key=mine.__getitem__)
        return f"attempt {mine[following]} followed: {following}"
    made = "1 attempt was made at this result" if len(mine) == 1 else f"{len(mine)} attempts were made at this result"
    if row.verdict == UNDETERMINED:
        return f"{made}, and no more follows: the campaign ended before another one" if record.ended is not None else ""
    if row.run in record.given_up:
        return f"{made}, and no more follows: {ends.get(row.run) or 'it was given up'}"
    if row.verdict in NEVER_RETRIED:
        return f"{made}, and no more follows: '{row.verdict}' is final, whatever a plan retries"
    return ""


def _why_run(
    state: State,
    record: Record,
    rows: list[RunRow],
    run: str,
    ends: Mapping[str, str] | None = None,
    alone: bool = False,
) -> list[str]:
    lines = [what_it_does(state, run, alone)[1], *_held_there(state, run)] if run in state.runs else []
    lines += seen_at_the_scheduler(record, run)
    for row in rows:
        old = f" (replaced by the verdict at event {row.superseded_by})" if row.superseded_by else ""
        new = f" (judged again by {row.judged_by}: {row.judged_because})" if row.judged_by else ""
        lines.append(f"attempt {row.attempt}, repeat {row.repeat} of {row.case}: {row.verdict}{old}{new}: {row.reason}")
        followed = _what_followed(record, row, ends or {})
        lines += [f"  {followed}"] if followed else []
        lines += [
            f"  check '{text}': {_held(held)}{': ' + detail if detail else ''}" for text, held, detail in row.checks
        ]
        lines += [f"  {problem}" for problem in row.problems]
        if row.verdict in COMPLETED and row.elapsed_s is None:
            lines.append(no_run_time(record, row))
        lines += said_of_run(record, row)
        if row.excerpt:
            lines += ["  the output ends with:", *(f"    {line}" for line in row.excerpt.splitlines())]
    return [line for line in lines if line]


def _held_there(state: State, run: str) -> list[str]:
    """For a live run that has not begun: why the queue of its pool is held; [] where it is not."""
    job = state.jobs.get(state.runs[run].job)
    pool = pool_of(state, job) if job is not None and job.phase == JobPhase.QUEUED else ""
    return [queue_in_words(state, pool, state.pools.guards[pool])] if pool in held_queues(state) else []


def _given_to(layout: Layout, state: State, run: str) -> list[str]:
    """The files of other runs that a run received, according to its order in the log."""
    if state.plan is None or not state.index.handing:
        return []
    order = next((e for e in read_events(layout.log) if e.event == "submit_order" and e.run == run), None)
    return [
        f"  it was given {path} of {handed['run']} (sha256 {digest})"
        for handed in (order.value.get("handed", ()) if order is not None else ())
        for path, digest in handed["files"].items()
    ]


def _held(held: bool | None) -> str:
    return {True: "held", False: "did not hold", None: "could not be decided"}[held]


def _why_case(state: State, record: Record, case: str, ends: Mapping[str, str], alone: bool) -> list[str]:
    lines = []
    unavailable = state.index.cases[case].unavailable
    if unavailable:
        lines.append(f"unavailable: {unavailable}")
    lines += [f"{w.count} of its results in {w.component} wait: {w.text}" for w in explained(state, alone, case)]
    live = [run.id for run in state.runs.values() if run.case == case]
    lines += [f"{run}: {what_it_does(state, run, alone)[1]}" for run in live]
    lines += dict.fromkeys(
        said for run in live for said in _held_there(state, run) if not any(said in line for line in lines)
    )
    for row in record.runs:
        if row.case == case and not row.superseded_by:
            again = f" (judged again by {row.judged_by}: {row.judged_because})" if row.judged_by else ""
            lines.append(f"{row.run}: {row.verdict}{again}: {row.reason}")
            followed = _what_followed(record, row, ends)
            lines += [f"  {followed}"] if followed else []
    return lines or ["nothing of it waits, runs or has run"]
