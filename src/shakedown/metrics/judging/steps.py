"""The steps from one plan to the next by amendments, and which amendments affected results: ``Steps``.

An amendment that makes runs easier has a lasting effect if results came about under it, whatever later plans require; one
that makes runs harder has one if a run did not pass because of it; one that steers runs has one if something was ordered after it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from math import inf

from msgspec.structs import replace

from shakedown.metrics.judging import beyond
from shakedown.metrics.judging.asked_less import eased, eases_runs, held_back, steers_runs
from shakedown.metrics.judging.harder import Harder, Way
from shakedown.metrics.judging.people import Act
from shakedown.metrics.judging.quiet import is_quiet
from shakedown.metrics.judging.timed import timed_otherwise
from shakedown.metrics.rows.rows import CLEAN_UP, RunRow
from shakedown.metrics.rows.table import Record
from shakedown.metrics.wanted import wanted_results
from shakedown.model.nouns import Document


class Steps:
    """Every amendment of a campaign, with the plan that was in force before it. ``void``: acts without effect; ``missing``: act ->
    the parties that have not agreed, if a plan names parties.
    """

    def __init__(
        self,
        record: Record,
        acts: Sequence[Act],
        void: Collection[int],
        document_of: Callable[[str], Document],
        missing: Mapping[int, Sequence[str]],
    ) -> None:
        self.record, self.void, self.document_of, self.missing = record, void, document_of, missing
        self.amends = [act for act in acts if act.kind == "amend"]

    def steering(self) -> set[int]:
        """The amendments that caused other runs: some were ordered while they were in force."""
        orders = [row.ordered_by for row in self.record.current()] + [run.seq for run in self.record.open.values()]
        last = max(orders, default=0)
        steers = {act.number for act in self.amends if act.number < last and self._steers(act)}
        steers |= {act.number for act in self.amends if self._holds_back(act) or self._steers_timed(act)}
        return steers - self._put_back_at_once()

    def _put_back_at_once(self) -> set[int]:
        """Amendments that steered nothing because the same person reverted them at once, and the reverting amendments."""
        found: set[int] = set()
        for act, back in pairwise(self.amends):
            before, after = self.of(act)[0], self.of(back)[1]
            steers = steers_runs(before, after) or timed_otherwise(before, after) or held_back(before, after)
            if act.by == back.by and not steers and is_quiet(act, back, self.record):
                found |= {act.number, back.number}
        return found

    def _steers_timed(self, act: Act) -> bool:
        """Whether the amendment changed the runs of a component that runs for a time: some were ordered later (clean-ups aside)."""
        names = timed_otherwise(*self.of(act))
        rows = (row for row in self.record.current() if row.component in names and row.mode != CLEAN_UP)
        live = (run for run in self.record.open.values() if run.component in names and run.mode != CLEAN_UP)
        return any(row.ordered_by > act.number for row in rows) or any(run.seq > act.number for run in live)

    def _steers(self, act: Act) -> bool:
        """Whether other runs came about by the amendment. A changed clean-up runs last, so it affects only its own runs."""
        before, after = self.of(act)
        if not steers_runs(before, after):
            return False
        was = {part.name: part.clean_up for part in before.components}
        cleans = {part.name for part in after.components if was.get(part.name, part.clean_up) != part.clean_up}
        parts = (replace(part, clean_up=was.get(part.name, part.clean_up)) for part in after.components)
        if steers_runs(before, replace(after, components=tuple(parts))):
            return True
        others = (row for row in self.record.current() if row.component not in cleans or row.mode != CLEAN_UP)
        live = (run for run in self.record.open.values() if run.component not in cleans or run.mode != CLEAN_UP)
        return any(_began_after(act, row) for row in others) or any(
            run.started is None or run.started >= act.said for run in live
        )

    def _holds_back(self, act: Act) -> bool:
        """Whether the amendment closed a gate, or made a component wait, before all work of that component was done."""
        return any(self._had_more_to_come(name, act) for name in held_back(*self.of(act)))

    def _had_more_to_come(self, name: str, act: Act) -> bool:
        """Whether part of a component was ordered or judged after an amendment, or the component was not complete then."""
        orders = [row for row in self.record.current() if row.component == name]
        later = any(max(row.ordered_by, row.seq) > act.number for row in orders)
        if later or any(run.component == name for run in self.record.open.values()):
            return True
        plan = self.of(act)[0]
        part = next(one for one in plan.components if one.name == name)
        if part.duration_s:
            return not any(
                note.value.get("kind") == "time_is_up" and note.value.get("component") == name and note.seq < act.number
                for note in self.record.of_kind("finding")
            )
        cases = {case.id: case for case in plan.cases}
        wanted = [
            sum(count for _, count in wanted_results(part, cases[case], plan.system))
            for case in part.cases
            if case in cases and not cases[case].unavailable
        ]
        return len({row.result for row in orders}) < sum(wanted)

    def relied(self) -> set[int]:
        """The amendments whose easier plan produced results, so that the results without them are unknown."""
        return {
            act.number
            for act in self.amends
            if eases_runs(*self.of(act)) and not beyond.is_known(*self.of(act)) and self.is_relied_on(act)
        }

    def of(self, act: Act, gone: Collection[int] = ()) -> tuple[Document, Document]:
        """The plan in force before an amendment, and the plan that it put into force. ``gone``: acts that are left out, so that an
        earlier plan counts as the one before.
        """
        place, idle = self.amends.index(act), {*self.void, *gone}
        last = max((k for k in range(place) if self.amends[k].number not in idle), default=-1)
        before, after = (self.record.documents[k + 1] for k in (last, place))
        return self.document_of(before), self.document_of(after)

    def stood_by(self, act: Act, gone: Collection[int] = ()) -> Document:
        """The last plan before an amendment that every party agreed to, or the first plan. Requirements that one party alone added
        since then are not lost if they are removed. ``gone``: as in ``of``.
        """
        place, idle = self.amends.index(act), {*self.void, *gone}
        numbers = [one.number for one in self.amends[:place]]
        agreed = (k for k in reversed(range(place)) if numbers[k] not in idle and not self.missing.get(numbers[k]))
        return self.document_of(self.record.documents[next(agreed, -1) + 1])

    def is_relied_on(self, act: Act, gone: Collection[int] = ()) -> bool:
        """Whether a counting verdict was given, or its run let start, before a later amendment restored all requirements.
        ``gone``: as in ``of``.
        """
        return any(True for _ in self._relying(act, gone))

    def _relying(self, act: Act, gone: Collection[int] = ()) -> Iterator[RunRow]:
        """The runs with a verdict or start that an amendment's easier terms made possible."""
        before, after = self.of(act, gone)
        until = self._until(act, lambda plan: bool(eases_runs(before, plan)))
        parts, cases = eased(before, after)
        rows = (row for row in self.record.current() if row.component in parts or row.case in cases)
        return (row for row in rows if _came_between(row, act, until))

    def by_outputs(self, act: Act) -> frozenset[str] | None:
        """The runs whose kept outputs give the results without an easing amendment; None if outputs cannot give them."""
        if not beyond.is_known(*self.of(act), evaluated=True):
            return None
        return frozenset(row.run for row in self._relying(act))

    def hardened(self) -> dict[int, dict[str, Way]]:
        """Amendment whose harder plan produced verdicts that might differ without it -> these runs, and in which way."""
        found = {}
        for act in self.amends:
            runs = self._harder_for(act)
            if runs:
                found[act.number] = runs
        return found

    def is_harder_than_agreed(self, act: Act, runs: Collection[str], gone: Collection[int] = ()) -> bool:
        """Whether some of these runs came about under a harder plan than the parties agreed to. ``gone``: as in ``of``."""
        harder = Harder(self.stood_by(act, gone), self.of(act, gone)[1])
        return any(row.run in runs and harder.way(row) is not None for row in self.record.current())

    def _harder_for(self, act: Act) -> dict[str, Way]:
        before, after = self.of(act)
        harder = Harder(before, after)
        if not harder:
            return {}
        until = self._until(act, lambda plan: bool(Harder(before, plan)))
        rows = ((row, way) for row in self.record.current() if (way := harder.way(row)) is not None)
        return {row.run: way for row, way in rows if _came_between(row, act, until)}

    def _until(self, act: Act, is_so: Callable[[Document], bool]) -> tuple[float, float]:
        """(event, time) of the first later amendment whose plan no longer meets the condition; infinite if there is none."""
        later = (one for one in self.amends if one.number > act.number)
        until = next((one for one in later if not is_so(self.of(one)[1])), None)
        return (until.number, until.said) if until is not None else (inf, inf)


def _began_after(act: Act, row: RunRow) -> bool:
    """Whether a run started, or was let start, after an act; if its start is unknown, whether it was judged after the act."""
    began = row.charged if row.charged is not None else row.started
    return began >= act.said if began is not None else row.seq > act.number


def _came_between(row: RunRow, act: Act, until: tuple[float, float]) -> bool:
    """Whether a run was judged, or let start, after an act and before the end of its effect."""
    began = row.charged if row.charged is not None else row.started
    return act.number < row.seq < until[0] or (began is not None and act.said <= began < until[1])
