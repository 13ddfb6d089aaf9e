"""The data of each page: from the index where that is enough, else from the record itself.

``Views`` is the table of contents. What takes seconds for 100,000 runs (the scorecard, the nodes, what waits and why, figures) is
computed by ``judged`` in a thread of its own.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from shakedown.diagnosis.node_report import NodesExamined
from shakedown.events.campaigns import read_document
from shakedown.events.lease import holder
from shakedown.events.looks import Looks
from shakedown.live.beside import Beside, ToCompare, ToLookBack, compared, looked_back
from shakedown.live.charts import counts_over_time, run_times
from shakedown.live.indexing import JUDGING, Indexer
from shakedown.live.judged import QUICK_S, STALE_S, Judged, NotYet, Worked
from shakedown.live.maps import COLOURS, map_of
from shakedown.live.pictures import Gallery, gallery_of, painted
from shakedown.live.sayings import Said, Sayings
from shakedown.metrics.failures import NO_FAILURE
from shakedown.metrics.judging.scorecard import Scorecard
from shakedown.model.errors import RecordError, UsageError, did_you_mean
from shakedown.model.events import VERDICTS
from shakedown.model.frozen import thaw
from shakedown.model.layout import Layout
from shakedown.model.nouns import Document
from shakedown.queries.folds import Folds
from shakedown.queries.nodes import nodes_of
from shakedown.queries.run_view import RunView, show_run
from shakedown.queries.status import status
from shakedown.queries.why import Answer, why
from shakedown.queries.why_components import why_component
from shakedown.report.reading import plan_in_force, read_campaign, scorecard_of
from shakedown.store.reading import (
    Filter,
    campaign_named,
    campaigns_in,
    compiled,
    counted_by_minute,
    counts_of,
    figure_names,
    figures_of,
    has_run,
    kinds_of_notes,
    literal,
    notes_of,
    page_of,
    runs_of,
)
from shakedown.store.reading import run_times as times_of

DRAWN_RUNS = 20_000
MOVES_S = 10.0  # clocks, and how long something has waited, move on although nothing happens
_SAID = {"ruling": "ruled", "failure": "put down to", "ticket": "ticket"}  # columns of a run that people speak of
WAITING = "waiting"  # the kind of events that say why something waits: the page says that as it is now
RUNNING, QUEUED = ("running", JUDGING), ("ordered", "queued", "waiting again", "unknown", "no_answer", "absent")


class NotThere(UsageError):
    """No campaign, or no run, has this name."""


class Views:
    """The data of every page of a site. All methods raise UsageError for a name that does not exist."""

    def __init__(self, indexer: Indexer, wait_s: float | None = QUICK_S) -> None:
        self.indexer = indexer
        self.index = indexer.index
        self.judged = Judged(indexer, wait_s)

    def overview(self) -> list[dict[str, Any]]:
        """Purpose: the campaigns of the site, the newest first, each with its phase and its number of runs by group of states."""
        with self.index.reading() as connection:
            found = campaigns_in(connection)
        return [row | {"phase": self._phase(row), "groups": grouped(row["states"])} for row in found]

    def campaign(self, name: str) -> dict[str, Any]:
        """Purpose: one campaign: its facts, counts, charts, and the latest findings and acts."""
        row = self.facts(name)
        with self.index.reading() as connection:
            states = counts_of(connection, row["id"]).get(row["id"], {})
            minutes = counted_by_minute(connection, row["id"])
            times = times_of(connection, Filter(campaign=name, limit=DRAWN_RUNS, live=False))
            kinds = [kind for kind in kinds_of_notes(connection, row["id"]) if kind != WAITING]
            notes = notes_of(connection, row["id"], 20, kinds) if kinds else []
            failed, failures = runs_of(connection, Filter(campaign=name, bad=True, limit=10))
        live = [state for state in states if state not in VERDICTS]
        worked = self._status(name, MOVES_S if row["ended"] is None else math.inf)
        return row | {
            "phase": self._phase(row),
            "states": states,
            "groups": grouped(states),
            "counts_drawn": counts_over_time(minutes, live),
            "times_drawn": run_times(times),
            "notes": notes,
            "failed": failed,
            "failures": failures,
            "status": worked.value if worked else None,
            "status_at": worked.at if worked else None,
        }

    def _status(self, name: str, good_s: float) -> Worked | None:
        """The state of a campaign, what waits and why; None while that is being computed, or where the record cannot be read."""
        with suppress(NotYet, RecordError):
            return self.judged.of("status", name, lambda: _status_of(self._folds(name)), STALE_S, good_s)
        return None

    def damaged(self) -> dict[str, str]:
        """Purpose: campaign -> why its record is damaged; only damaged ones."""
        return {name: why for name, why in self.index.damages().items() if why}

    def stream(self, wanted: Filter, draw: bool = False) -> dict[str, Any]:
        """Purpose: the runs that match a filter, their number, and with ``draw`` a chart of run times against starts.

        ``earlier``, ``later``: the places at which the pages before and behind this one are; None where there is none.
        """
        if wanted.campaign:
            self.facts(wanted.campaign)
        with self.index.reading() as connection:
            page = page_of(connection, wanted)
            times = times_of(connection, replace(wanted, limit=DRAWN_RUNS, place=None)) if draw else []
        return page | {"drawn": run_times(times)}

    def notes(self, name: str, of_kind: str, limit: int = 500) -> tuple[list[dict[str, Any]], list[str]]:
        """Purpose: findings and acts, the newest first, whose kind matches a regular expression; and all kinds.

        Without an expression: all kinds except waiting, of which there may be so many that they displace the others.
        """
        row = self.facts(name)
        with self.index.reading() as connection:
            kinds = kinds_of_notes(connection, row["id"])
            chosen = [kind for kind in kinds if (compiled(of_kind).search(kind) if of_kind else kind != WAITING)]
            return notes_of(connection, row["id"], limit, chosen) if chosen else [], kinds

    def run(self, name: str, run: str) -> tuple[dict[str, Any], dict[str, float], list[tuple[str, str]], RunView]:
        """Purpose: one run: its campaign, its figures, what people said about it, its script and the end of its output."""
        row = self.facts(name)
        with self.index.reading() as connection:
            if not has_run(connection, row["id"], run):
                raise NotThere(f"{name} has no run '{run}'", hint="its page of runs lists them")
            figures = figures_of(connection, row["id"], run)
            mine, _ = runs_of(connection, Filter(campaign=name, patterns={"run": f"^{literal(run)}$"}, limit=1))
        said = [(word, _with_name(one, key)) for one in mine for key, word in _SAID.items() if one[key]]
        return row, figures, said, show_run(Layout(self._path(name)), run)

    def say(self, name: str, said: Said, sayings: Sayings) -> dict[str, Any]:
        """Purpose: leave the requests of a form in the campaign's inbox. Errors: UsageError, RecordError."""
        folds = self._folds(name)

        def ruled(run: str) -> bool:
            return folds.checked(lambda record: (row := record.row_of(run)) is not None and bool(row.ruling))

        return sayings.say(folds.layout, said, lambda: folds.state()[0], ruled)

    def why(self, name: str, subject: str) -> Answer:
        """Purpose: why a run, a case, a component or a criterion has its state. Errors: UsageError, RecordError."""
        self.facts(name)
        folds = self._folds(name)
        try:
            return why(folds.layout, subject, folds)
        except UsageError as error:
            answer = why_component(folds.layout, subject, folds)
            if answer is None:
                raise NotThere(error.message, hint=error.hint) from error
            return answer

    def scorecard(self, name: str) -> tuple[Scorecard, float]:
        """Purpose: the scorecard for the record, and its age in seconds. Errors: NotYet, also in all methods below."""
        self.facts(name)
        found = self.judged.of("scorecard", name, lambda: scorecard_of(read_campaign(self._path(name))))
        return found.value, found.age

    def nodes(self, name: str, colour: str) -> tuple[NodesExamined, Any, float]:
        """Purpose: the nodes with findings, the map of the machine, and the age of both in seconds."""
        self.facts(name)
        wanted = next((one for one in COLOURS if one == colour), None)
        if wanted is None:
            raise UsageError(f"colour={colour}: the map is coloured by one of {', '.join(COLOURS)}")
        found = self.judged.of("nodes", name, lambda: _examined(self._folds(name)))
        examined, document = found.value
        return examined, map_of(examined, document, name, wanted), found.age

    def figures(self, name: str) -> tuple[Gallery, float]:
        """Purpose: the figures of the report, and their age in seconds."""
        self.facts(name)
        found = self.judged.of("figures", name, lambda: gallery_of(self._path(name)))
        return found.value, found.age

    def figure(self, name: str, file: str) -> tuple[bytes, int]:
        """Purpose: one of the figures as SVG, and the event that it shows."""
        gallery, _ = self.figures(name)
        try:
            return painted(gallery.named(file)), gallery.seq
        except UsageError as error:
            raise NotThere(error.message, hint=error.hint) from error

    def compare(self, asked: ToCompare) -> Beside:
        """Purpose: a comparison of two campaigns."""
        paths = dict(self.indexer.paths)
        found = self.judged.of(f"compare {asked}", "", lambda: compared(asked, paths))
        beside: Beside = found.value
        return replace(beside, at=found.at)

    def history(self, asked: ToLookBack) -> Beside:
        """Purpose: one figure over all campaigns that are shown."""
        paths = dict(self.indexer.paths)
        with self.index.reading() as connection:
            figures = ("elapsed", *figure_names(connection))
        found = self.judged.of(f"history {asked}", "", lambda: looked_back(asked, paths, figures))
        beside: Beside = found.value
        return replace(beside, at=found.at)

    def version(self, name: str) -> int:
        """Purpose: a number that grows whenever one campaign changes, or with "" any campaign."""
        told = self.judged.told
        return self.judged.version(name) + (told.get(name, 0) if name else sum(list(told.values())))

    def facts(self, name: str) -> dict[str, Any]:
        """Purpose: the row of a campaign in the index. Errors: UsageError where there is none of this name."""
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

    def _folds(self, name: str) -> Folds:
        """The folds of a campaign: what was kept, and the new end of its log; for a damaged one only its log."""
        layout = Layout(self._path(name))
        return Folds(layout, Looks(layout), damaged=name in self.damaged())

    def _phase(self, row: dict[str, Any]) -> str:
        """The state of a campaign in a few words."""
        if row["ended"] is not None:
            return "over"
        path = self.indexer.paths.get(row["name"])
        held = holder(Layout(path)) if path is not None else None
        if held is None or held.gone:
            return "not over; nobody drives it"
        return f"running; its conductor has not answered for {held.silent_s:.0f} s" if held.hung else "running"


def _with_name(row: dict[str, Any], column: str) -> str:
    """What a person said about a run, with the person's name where the index knows it: "INC-17 (by Anna)"."""
    name = row.get(f"{column}_by", "")
    return f"{row[column]} (by {name})" if name else str(row[column])


def grouped(states: dict[str, int]) -> dict[str, int]:
    """Purpose: number of runs by group: passed, not passed (as ``failures`` counts), other verdicts, running, queued."""
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


def _status_of(folds: Folds) -> dict[str, Any]:
    """The state of a campaign. Does not ask the scheduler, because pages are requested too often for that."""
    return status(folds.layout, folds, ask=False)


def _examined(folds: Folds) -> tuple[NodesExamined, Document]:
    layout = folds.layout
    examined, _ = nodes_of(layout, folds)
    return examined, thaw(read_document(layout, plan_in_force(layout, folds.record())))
