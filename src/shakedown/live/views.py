"""What each page shows, as plain data: from the index where that is enough, from the record itself where it must be judged.

``Views`` is the table of contents. What is judged (the scorecard, the nodes) costs seconds for 100,000 runs: it is worked out once
for each state of the record, by one thread at a time, and every page that asks meanwhile gets the same.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shakedown.diagnosis.node_report import NodeRow, NodesExamined, examine_nodes
from shakedown.events.lease import holder
from shakedown.live.charts import Square, counts_over_time, machine_map, run_times
from shakedown.live.indexing import JUDGING, Indexer
from shakedown.metrics.failures import NO_FAILURE
from shakedown.metrics.judging.scorecard import Scorecard
from shakedown.model.errors import UsageError, did_you_mean
from shakedown.model.events import VERDICTS
from shakedown.model.layout import Layout
from shakedown.model.nouns import Document
from shakedown.model.shared_nodes import names_in
from shakedown.queries.run_view import RunView, show_run
from shakedown.report.reading import read_campaign, scorecard_of
from shakedown.store.reading import (
    Filter,
    campaign_named,
    campaigns_in,
    counted_by_minute,
    counts_of,
    figures_of,
    has_run,
    notes_of,
    runs_of,
)
from shakedown.store.reading import run_times as times_of

DRAWN_RUNS = 20_000
PATIENCE = 10.0  # what is judged is judged again at the earliest after so many times the seconds that it took
KEPT = 32  # campaigns whose judged pages are kept
RUNNING, QUEUED = ("running", JUDGING), ("ordered", "queued", "waiting again", "unknown", "no_answer", "absent")


@dataclass(slots=True)
class _Worked:
    version: int
    took: float
    done: float
    value: Any


class NotThere(UsageError):
    """There is no campaign, or no run, of this name."""


class Views:
    """The data of every page of a site. Errors of all: UsageError for what there is not."""

    def __init__(self, indexer: Indexer) -> None:
        self.indexer = indexer
        self.index = indexer.index
        self._worked: OrderedDict[tuple[str, str], _Worked] = OrderedDict()
        self._working = threading.Lock()

    def overview(self) -> list[dict[str, Any]]:
        """Purpose: the campaigns of the site, the newest first, each with its runs by group of states and its phase."""
        with self.index.reading() as connection:
            found = campaigns_in(connection)
        return [row | {"phase": self._phase(row), "groups": grouped(row["states"])} for row in found]

    def campaign(self, name: str) -> dict[str, Any]:
        """Purpose: one campaign: its facts, counts, drawings, and what was last found and done."""
        row = self.facts(name)
        with self.index.reading() as connection:
            states = counts_of(connection, row["id"]).get(row["id"], {})
            minutes = counted_by_minute(connection, row["id"])
            times = times_of(connection, Filter(campaign=name, limit=DRAWN_RUNS, live=False))
            notes = notes_of(connection, row["id"], 20)
            failed, failures = runs_of(connection, Filter(campaign=name, bad=True, limit=10))
        live = [state for state in states if state not in VERDICTS]
        return row | {
            "phase": self._phase(row),
            "states": states,
            "groups": grouped(states),
            "counts_drawn": counts_over_time(minutes, live),
            "times_drawn": run_times(times),
            "notes": notes,
            "failed": failed,
            "failures": failures,
        }

    def damaged(self) -> dict[str, str]:
        """Purpose: campaign -> why its record cannot be believed; only those of which that is so."""
        return {name: why for name, why in self.index.damages().items() if why}

    def stream(self, wanted: Filter) -> dict[str, Any]:
        """Purpose: the runs that a filter lets through, and how many there are."""
        if wanted.campaign:
            self.facts(wanted.campaign)
        with self.index.reading() as connection:
            rows, total = runs_of(connection, wanted)
        return {"rows": rows, "total": total}

    def notes(self, name: str, limit: int = 500) -> list[dict[str, Any]]:
        """Purpose: what was found and done, the newest first."""
        row = self.facts(name)
        with self.index.reading() as connection:
            return notes_of(connection, row["id"], limit)

    def run(self, name: str, run: str) -> tuple[dict[str, Any] | None, dict[str, float], RunView]:
        """Purpose: one run: its row, its figures, its script and the end of its output."""
        row = self.facts(name)
        with self.index.reading() as connection:
            if not has_run(connection, row["id"], run):
                raise NotThere(f"{name} has no run '{run}'", hint="its page of runs lists them")
            figures = figures_of(connection, row["id"], run)
        return row, figures, show_run(Layout(self._path(name)), run)

    def scorecard(self, name: str) -> tuple[Scorecard, float]:
        """Purpose: the scorecard as the record stands, and the seconds since it was worked out."""
        return self._judged("scorecard", name, lambda path: scorecard_of(read_campaign(path)))

    def nodes(self, name: str) -> tuple[NodesExamined, Any, float]:
        """Purpose: the nodes with what stands out, the map of the machine, and the seconds since that was worked out."""
        (examined, drawn), age = self._judged("nodes", name, _examined)
        return examined, drawn, age

    def version(self, name: str) -> int:
        """Purpose: a number that grows whenever something changed: of one campaign, or with "" of any."""
        if name:
            return self.indexer.versions.get(name, 0)
        return sum(self.indexer.versions.values())

    def facts(self, name: str) -> dict[str, Any]:
        """Purpose: what the index has of a campaign. Errors: UsageError where there is none of this name."""
        with self.index.reading() as connection:
            row = campaign_named(connection, name)
        if row is None:
            hint = did_you_mean(name, self.indexer.paths) or "the first page lists them"
            raise NotThere(f"there is no campaign '{name}'", hint=hint)
        return row

    # ---- parts

    def _path(self, name: str) -> Path:
        path = self.indexer.paths.get(name)
        if path is None:
            raise NotThere(f"the campaign '{name}' is not there any more")
        return path

    def _phase(self, row: dict[str, Any]) -> str:
        """Where a campaign stands, in a word or two."""
        if row["ended"] is not None:
            return "over"
        path = self.indexer.paths.get(row["name"])
        held = holder(Layout(path)) if path is not None else None
        if held is None or held.gone:
            return "not over; nobody drives it"
        return f"running; its conductor has not answered for {held.silent_s:.0f} s" if held.hung else "running"

    def _judged(self, what: str, name: str, work: Callable[[Path], Any]) -> tuple[Any, float]:
        """What is worked out from the record, and how many seconds ago: again where it changed, but not all the time."""
        self.facts(name)
        with self._working:
            known, version, now = self._worked.get((what, name)), self.version(name), time.monotonic()
            if known is None or (known.version != version and now - known.done > PATIENCE * known.took):
                value = work(self._path(name))
                known = _Worked(version, time.monotonic() - now, time.monotonic(), value)
                self._worked[what, name] = known
                while len(self._worked) > KEPT:
                    self._worked.popitem(last=False)
            return known.value, time.monotonic() - known.done


def grouped(states: dict[str, int]) -> dict[str, int]:
    """Purpose: runs by what a person asks first: passed, not passed (as ``failures`` counts), other verdicts, running, queued."""
    found = dict.fromkeys(("passed", "failed", "other", "running", "queued"), 0)
    for state, count in states.items():
        if state in RUNNING:
            found["running"] += count
        elif state not in VERDICTS:
            found["queued"] += count
        elif state == "passed":
            found["passed"] += count
        else:
            found["other" if state in NO_FAILURE else "failed"] += count
    return found


def _examined(path: Path) -> tuple[NodesExamined, Any]:
    read = read_campaign(path)
    examined = examine_nodes(read.document, read.record)
    return examined, machine_map(_groups(examined, read.document))


def _groups(examined: NodesExamined, document: Document) -> Sequence[tuple[str, Sequence[Square]]]:
    """The nodes by partition, in the order of the system; each node once."""
    known = {row.node: row for row in examined.nodes}
    groups: list[tuple[str, list[Square]]] = []
    placed: set[str] = set()
    for cluster in document.system.clusters:
        for partition in cluster.partitions:
            names = [node for node in names_in(partition.nodes) if node in known and node not in placed]
            placed |= set(names)
            if names:
                groups.append((f"{cluster.name}:{partition.name}", [_square(known[node]) for node in names]))
    rest = [row for row in examined.nodes if row.node not in placed]
    return [*groups, ("elsewhere", [_square(row) for row in rest])] if rest else groups


def _square(row: NodeRow) -> Square:
    said = f"{row.runs} runs, {row.failed} of {row.counted} failed" if row.runs else "no run has used it"
    if row.excluded:
        return Square(row.node, "out", f"excluded; {said}")
    if row.findings or row.failed:
        return Square(row.node, "bad", f"{said}{'; stands out' if row.findings else ''}")
    return Square(row.node, "good" if row.runs else "unused", said)
