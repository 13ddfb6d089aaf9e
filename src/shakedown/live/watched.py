"""A campaign that is watched on a terminal: its record, updated as the log grows, and the lines of each stream.

``Watched.lines`` is the main function. Nothing here draws.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence

from shakedown.events.campaigns import read_document
from shakedown.events.follower import Follower
from shakedown.events.looks import Looks
from shakedown.metrics.failures import NO_FAILURE
from shakedown.metrics.rows.rows import NoteRow, OpenRun, RunRow
from shakedown.metrics.rows.table import Record
from shakedown.model.errors import ShakedownError, UsageError, did_you_mean
from shakedown.model.frozen import thaw
from shakedown.model.layout import Layout
from shakedown.model.ports import ENDED
from shakedown.model.shared_nodes import has_node
from shakedown.queries.folds import Folds
from shakedown.queries.run_view import show_run
from shakedown.queries.status import status
from shakedown.queries.status_words import clock_in_words, deadline_in_words, shut_in_words
from shakedown.queries.why import why
from shakedown.report.words import harmless, one_line, show_time

MOST = 500  # lines of a stream that are shown, the newest
OUTPUT_LETTERS = 20_000  # of the end of a run's output
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "failures": ("changed", "run", "case", "state", "cause", "reason", "nodes"),
    "runs": ("run", "case", "state", "attempt", "began", "seconds", "reason", "component", "nodes"),
    "notes": ("changed", "kind", "run", "reason"),
}
STREAMS = tuple(COLUMNS)
Line = dict[str, str]


class Watched:
    """One campaign. ``record`` is that of the last ``refresh``. Errors: RecordError where the log cannot be read."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.record, self._follower = self._begin()
        self._expected: tuple[str, dict[str, str]] = ("", {})

    def _begin(self) -> tuple[Record, Follower]:
        return Folds(self.layout, Looks(self.layout)).followed()

    def refresh(self) -> bool:
        """Purpose: read new events; returns whether there were any."""
        events = self._follower.new_events()
        if self._follower.rewound:  # the log was cut back: what was read of it may be gone
            self.record, self._follower = self._begin()
            return True
        for event in events:
            self.record.add(event)
        return bool(events)

    def counts(self) -> dict[str, int]:
        """Purpose: the number of runs that passed, did not pass, ended otherwise, run, and are queued."""
        found = dict.fromkeys(("passed", "not passed", "other", "running", "queued"), 0)
        for row in self.record.current():
            found["passed" if row.verdict == "passed" else "other" if row.verdict in NO_FAILURE else "not passed"] += 1
        for run in self.record.open.values():
            found["running" if run.state == "running" or run.state in ENDED else "queued"] += 1
        return found

    def lines(self, stream: str, words: str = "") -> tuple[list[Line], int]:
        """Purpose: the newest lines of a stream that match ``words``, and how many match. Errors: UsageError.

        ``words``: each is a regular expression for any column, or COLUMN=EXPRESSION for one column; node=NAME is a node of the run.
        """
        wanted = _tests(words, COLUMNS[stream])
        found = [line for line in self._all(stream) if all(test(line) for test in wanted)]
        return found[:MOST], len(found)

    def standing(self) -> str:
        """Purpose: what waits and why, what runs, clocks and budgets, after the last event, as text."""
        data = status(self.layout, Folds(self.layout, Looks(self.layout)), ask=False)
        lines = [
            f"{one['name']}: {one['closed']} of {one['wanted']} closed, {one['in_flight']} live, {one['waiting']} wait"
            for one in data["components"]
        ]
        lines += [*map(clock_in_words, data.get("clocks", [])), *map(deadline_in_words, data.get("deadlines", []))]
        lines += [f"{group['count']} wait: {group['reason']}" for group in data["waiting"]]
        lines += [*data.get("held", []), *data.get("unused", [])]
        lines += [shut_in_words(pool, data["time"]) for pool in data.get("shut", [])]
        lines += [f"{run['run']}  {run['case']}: {run['doing']}" for run in data.get("live", [])[:MOST]]
        lines += [f"standing order: {sentence}" for sentence in data.get("standing", [])]
        lines += [f"budget {name}: {one['said']}" for name, one in data.get("budgets", {}).items()]
        return "\n".join(one_line(line) for line in lines) or "nothing is wanted yet"

    def detail(self, run: str) -> str:
        """Purpose: one run as text: why it has its state, the end of its output, its job script. Says what cannot be read."""
        parts = []
        for title, part in (("", self._why), ("output", self._output), ("job script", self._script)):
            try:
                text = part(run)
            except ShakedownError as error:
                text = error.message
            parts.append(f"{'─' * 8} {title}\n{text}" if title else text)
        return harmless("\n\n".join(parts))

    def _why(self, run: str) -> str:
        answer = why(self.layout, run, Folds(self.layout, Looks(self.layout)))
        return "\n".join([f"{answer.kind} {answer.subject}", *answer.lines])

    def _output(self, run: str) -> str:
        return show_run(self.layout, run).output[-OUTPUT_LETTERS:] or "nothing is kept of its output yet"

    def _script(self, run: str) -> str:
        return show_run(self.layout, run).script

    # ---- lines

    def _all(self, stream: str) -> Iterator[Line]:
        if stream == "notes":
            yield from map(_note_line, reversed(self.record.notes))
            return
        expected = self._expectations() if stream == "failures" else {}
        if stream == "runs":
            yield from map(_open_line, reversed(list(self.record.open.values())))
        for row in reversed(self.record.runs):
            if not row.superseded_by and (stream == "runs" or _is_bad(row, expected)):
                yield _run_line(row)

    def _expectations(self) -> dict[str, str]:
        """Case -> the verdict that the plan in force expects."""
        digest = self.record.document
        if digest and self._expected[0] != digest:
            cases = thaw(read_document(self.layout, digest)).cases
            self._expected = digest, {case.id: case.expect for case in cases if case.expect}
        return self._expected[1]


def _is_bad(row: RunRow, expected: Mapping[str, str]) -> bool:
    return bool(row.failure_class) and not row.was_taken_back and row.verdict != expected.get(row.case)


def _run_line(row: RunRow) -> Line:
    seconds = "" if row.elapsed_s is None else f"{row.elapsed_s:.3f}"
    began = "" if row.started is None else show_time(row.started)
    more = {"began": began, "seconds": seconds, "nodes": row.nodes, "cause": row.cause, "reason": row.reason}
    return _line(row, row.verdict, show_time(row.time)) | more


def _open_line(run: OpenRun) -> Line:
    began = "" if run.started is None else show_time(run.started)
    more = {"began": began, "seconds": "", "nodes": "", "cause": "", "reason": ""}
    return _line(run, "judging" if run.state in ENDED else run.state, "") | more


def _line(row: RunRow | OpenRun, state: str, changed: str) -> Line:
    names = {"run": row.run, "case": row.case, "component": row.component, "state": state, "changed": changed}
    return names | {"attempt": str(row.attempt), "kind": "", "job": row.job}


def _note_line(note: NoteRow) -> Line:
    kind = f"finding: {note.value.get('kind', '')}" if note.kind == "finding" else note.kind
    return {"changed": show_time(note.time), "kind": kind, "run": note.run, "reason": note.reason, "nodes": ""}


# ---- filters -------------------------------------------------------------------------------------------------------------


def _tests(words: str, columns: Sequence[str]) -> list[Callable[[Line], bool]]:
    """A test of a line for each word. Errors: UsageError for an unknown column or an invalid expression."""
    try:
        said = shlex.split(words, posix=True)
    except ValueError as error:
        raise UsageError(f"{words}: {error}") from error
    return [_test(word, columns) for word in said]


def _test(word: str, columns: Sequence[str]) -> Callable[[Line], bool]:
    column, equals, text = word.partition("=")
    if not equals or not column.isidentifier():
        anything = _expression(word)
        return lambda line: any(anything.search(line[one]) for one in columns)
    if column == "node":
        return lambda line: has_node(line["nodes"], text)
    if column not in columns:
        near = did_you_mean(column, [*columns, "node"])
        raise UsageError(f"there is no column '{column}' here", hint=near or f"there are {', '.join(columns)}, node")
    expression = _expression(text)
    return lambda line: bool(expression.search(line[column]))


def _expression(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise UsageError(f"'{text}' is not a regular expression: {error}") from error
