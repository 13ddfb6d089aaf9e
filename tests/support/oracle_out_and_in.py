"""How far results were that a plan stopped wanting: which attempt is to follow once a plan wants them again.

What was attempted again already when its case was taken out, or would have been when its run ended while it was out, goes on where
it was. All else is wanted anew. Books of its own, from events alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection

from oracle_modes import Want, is_step, swept_nodes

from shakedown.model.events import Event
from shakedown.model.nouns import Document

USUAL = {"interrupted": 1000, "node_fail": 2, "submit_failed": 5, "lost": 1, "undetermined": 1000}
MOST_OF_A_SWEEP = {"interrupted": 3, "submit_failed": 3}


class OutAndIn:
    """``see`` is told every event, ``amended`` of every plan."""

    def __init__(self, want_of: Callable[[Event], Want]) -> None:
        self.want_of = want_of
        self.runs: dict[Want, dict[str, str]] = {}  # the verdicts on the runs of each result
        self.waits: set[Want] = set()  # another attempt was granted
        self.last: dict[Want, str] = {}  # how a run ended while its result was out, where nobody cancelled it
        self.kept: dict[Want, int] = {}  # of results that are out: how many attempts there were

    def see(self, event: Event, out: Collection[Want]) -> None:
        """``out``: results that the plan in force does not want, whose runs were live when it came."""
        if event.event not in ("submit_order", "verdict", "retry", "given_up"):
            return
        want = self.want_of(event)
        if event.event == "submit_order":
            self.waits.discard(want)
        elif event.event == "verdict":
            self.runs.setdefault(want, {})[event.run] = event.value["verdict"]
            if event.value.get("final"):
                self.waits.discard(want)
        elif event.event == "retry":
            self.waits.add(want)
        elif want in out and "cancelled" not in event.reason:
            self.last[want] = self.runs[want][event.run]

    def amended(self, forgotten: dict[Want, int], wanted: Collection[Want], document: Document) -> dict[Want, int]:
        """How many attempts there were at each result that goes on by a plan. ``forgotten``: the same of those that the plan before
        stopped wanting, or this one does.
        """
        for want, count in forgotten.items():
            if want in self.waits or want in self.last:
                self.kept[want] = count
            else:
                self.runs.pop(want, None)
        back = {want: self.kept.pop(want) for want in list(self.kept) if want in wanted}
        going = {want: count for want, count in back.items() if self._goes_on(want, document)}
        for want in back:
            self.last.pop(want, None)
            if want not in going:
                self.waits.discard(want)
                self.runs.pop(want, None)
        return going

    def _goes_on(self, want: Want, document: Document) -> bool:
        component = next(one for one in document.components if one.name == want[0])
        if want[2].startswith("drill ") or (component.duration_s and not is_step(want[2])):
            return False  # nobody does a drill twice unasked; a mix counts no results
        if want not in self.last:
            return True
        verdict = self.last[want]
        said = {rule.verdict for rule in component.retry}
        times = USUAL | {rule.verdict: rule.times for rule in component.retry}
        case = next(case for case in document.cases if case.id == want[1])
        few = MOST_OF_A_SWEEP if swept_nodes(document, component, case) and verdict not in said else {}
        return Counter(self.runs[want].values())[verdict] <= few.get(verdict, times.get(verdict, 0))
