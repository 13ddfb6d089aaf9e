"""Where a campaign's node-hours went, from its record: the log is folded again, and the engine says why nodes were idle.

``spent_time`` is the table of contents. The engine answers with the predicates that it ordered by (``engine.policy.idle``), as in a
rehearsal; asking changes nothing. It is asked after each event that holds work back or releases it, and also at regular moments,
because the state just after an event, for example a submission, may last only a few seconds. The start of a job is taken from its
own times, not from when the driver learned of it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterator

from msgspec.structs import replace

from shakedown.conductor.driver.startup import fold_one
from shakedown.conductor.record.documents import Documents
from shakedown.engine import State
from shakedown.engine.policy.idle import why_idle
from shakedown.engine.state.nodes_out import excluded_numbers
from shakedown.engine.state.phases import CampaignPhase, JobPhase
from shakedown.events.reader import read_events
from shakedown.metrics.nodes_used import Node
from shakedown.metrics.overlap import Span, span_of
from shakedown.metrics.rows.table import Record
from shakedown.metrics.time_spent import (
    DOWN,
    EXCLUDED,
    LEFT_OUT,
    US,
    Ground,
    Look,
    Out,
    TimeSpent,
    account,
    grounds_of,
    in_us,
    occupancies,
    time_of,
)
from shakedown.model.clocks import without
from shakedown.model.events import Event
from shakedown.model.layout import Layout
from shakedown.model.nouns import Document
from shakedown.model.shared_nodes import names_in, names_of, place_of

_PARTS = 2000  # that a campaign is cut into: the engine is asked in each
_FEW = 4000  # of a log of fewer events, it is asked at every moment
_AT_ONCE = frozenset({  # events after which it may stand otherwise at once
    "campaign_start", "campaign_end", "driver_start", "driver_stop", "stop_request", "amended", "again", "paused", "continued",
    "drain_request", "clock", "build_end", "capped", "budget_set", "excluded", "included", "cancel_request", "component_outcome",
    "surveyed", "observed",
})  # fmt: skip
_FINDINGS = frozenset({
    "queue_held", "queue_released", "node_left_out", "node_let_in", "time_is_up", "disk_full", "disk_has_room",
    "observed_silent",
})  # fmt: skip
_OF_NODES = frozenset({"surveyed", "excluded", "included", "amended", "finding", "campaign_start"})


def spent_time(layout: Layout, document: Document, record: Record, through: int = 0) -> TimeSpent | None:
    """Purpose: where the node-hours went, from the campaign's begin to the last event that the record was folded to, or to the
    event ``through``; None where it has not begun. A log that the engine cannot fold leaves the causes unknown, and says so.
    """
    if record.started is None:
        return None
    begin, end = time_of(record)
    watch = _Watch(document, record, end - begin)
    trouble = ""
    try:
        watch.replay(layout, through or record.seq)
    except Exception as error:  # noqa: BLE001 - the report of a record that others wrote is made all the same
        trouble = f"the engine cannot fold event {watch.seq + 1}: {type(error).__name__}: {error}"
    said = list(watch.outs(end))
    outs = [*_idle_ones(document, record, said), *_failed(document, record, watch.seen_idle, end)]
    outs.sort(key=lambda one: (one.begin, one.cluster, one.node))
    return account(document, record, watch.looks, outs, trouble)


class _Watch:
    """Examines the campaign at each moment. ``seen_idle``: (cluster, node) -> the times when a look found it idle; ``started``: job
    -> its start as finally known, in microseconds; ``starts``: all these starts, in seconds.
    """

    def __init__(self, document: Document, record: Record, lasts_s: float) -> None:
        begin, end = time_of(record)
        self.grounds = grounds_of(document)
        self.partitions = {place_of(one): one for one in document.system.partitions()}
        self.units = document.system.capacities()
        self.taken = occupancies(document, record, begin, end)[0]
        self.started = _first_starts(record)
        self.starts = [at / US for at in sorted(set(self.started.values()))]
        self.step = 0.0 if record.events <= _FEW else lasts_s / _PARTS
        self.looks: dict[str, list[Look]] = {ground.name: [] for ground in self.grounds}
        self.seen_idle: dict[Node, list[float]] = defaultdict(list)
        self.seq = 0
        self._next = 0.0  # when the engine is to be asked again
        self._anew = True
        self._out: dict[Node, tuple[float, str, str]] = {}  # node -> since when, kind, why
        self._over: list[Out] = []
        self._out_of: dict[str, int] = {}  # ground -> how many are out

    def replay(self, layout: Layout, through: int) -> None:
        """Fold the log up to event ``through``, and examine the state between any two moments."""
        documents, state, now = Documents(layout), State(), 0.0
        for event in read_events(layout.log):
            if event.seq > through:
                break
            if event.time > now and state.plan is not None:
                self._settle(state, now, event.time)
            if event.event == "driver_start" and state.driver.driven:  # the one before died, nobody knows when
                self._all("away", now)
            now = max(now, event.time)
            fold_one(state, event, documents)
            self.seq = event.seq
            self._hear(state, event, now)
        if state.plan is not None:
            self._settle(state, now, now)

    def _hear(self, state: State, event: Event, now: float) -> None:
        kind = str(event.value.get("kind", "")) if event.event == "finding" else ""
        self._anew = self._anew or event.event in _AT_ONCE or kind in _FINDINGS
        if kind == "stood_still":
            seconds = event.value.get("seconds")
            self._all("away", now - float(seconds) if isinstance(seconds, int | float) else now)
        if event.event in _OF_NODES:
            self._see_nodes(state, event, now)

    # ---- why nodes are idle ---------------------------------------------------------------------------------------------

    def _settle(self, state: State, now: float, until: float) -> None:
        """All events of a moment are folded: examine the state now, and at the moments before the next event."""
        if self._anew or not self.step:
            self._ask(state, now)
            self._anew = False
        else:
            self._see_pending(state, now)
        for at, anew in self._between(now, until):
            if anew:
                self._ask(state, at)
            else:
                self._see_pending(state, at)

    def _between(self, now: float, until: float) -> list[tuple[float, bool]]:
        """The moments before the next event at which the state may change, each with whether to ask the engine again."""
        starts = self.starts[bisect_right(self.starts, now) : bisect_left(self.starts, until)]
        moments = dict.fromkeys(starts, not self.step)
        while self.step and self._next < until:
            if self._next >= now:
                moments[self._next] = True
            self._next = max(self._next, now) + self.step
        return sorted(moments.items())

    def _ask(self, state: State, now: float) -> None:
        for ground in self.grounds:
            self.looks[ground.name].append(self._look(state, ground, self._idle(ground, now), now))

    def _see_pending(self, state: State, now: float) -> None:
        """Note each time that jobs begin or cease to wait beside idle nodes, which may last for a moment only."""
        for ground in self.grounds:
            looks = self.looks[ground.name]
            pending = self._pending(state, ground, self._idle(ground, now), now)
            if looks and bool(looks[-1].pending) != bool(pending):
                looks.append(replace(looks[-1], at=now, pending=pending))

    def _idle(self, ground: Ground, now: float) -> float:
        return max(0.0, ground.count - self._out_of.get(ground.name, 0) - self.taken[ground.name].held_at(now))

    def _pending(self, state: State, ground: Ground, idle: float, now: float) -> int:
        """How many jobs that may start wait at the scheduler and would fit on the idle nodes."""
        units = idle * self._units_of_a_node(ground) + 1e-6
        if units < 1:
            return 0
        return sum(0 < amount <= units for place in ground.places for amount in self._waiting(state, place, now))

    def _waiting(self, state: State, place: str, now: float) -> list[int]:
        """The widths of the jobs that wait at the scheduler and may start; without those that had started but were
        reported later.
        """
        jobs = state.job_index.waiting.get(place, {})
        queued = ((job, units) for job, units in jobs.items() if units and state.jobs[job].phase == JobPhase.QUEUED)
        moment = in_us(now)
        return [units for job, units in queued if self.started.get(job, moment + 1) > moment]

    def _all(self, cause: str, at: float) -> None:
        """Set one cause for all idle nodes from that time on."""
        for ground in self.grounds:
            looks = self.looks[ground.name]
            while looks and looks[-1].at >= at:
                looks.pop()
            looks.append(Look(at, ground.count, (("", cause, 1.0),)))
        self._anew = True

    def _look(self, state: State, ground: Ground, idle: float, now: float) -> Look:
        if state.phase == CampaignPhase.ENDED:
            return Look(now, ground.count, (("", "over", 1.0),))
        if not state.driver.driven or state.driver.stopping:
            return Look(now, ground.count, (("", "away" if not state.driver.driven else "stopping", 1.0),))
        if idle * self._units_of_a_node(ground) + 1e-6 < 1:
            return Look(now, 0.0, ())
        found: list[tuple[str, str, float]] = []
        places = [place for place in ground.places if place in state.index.pools]
        for place in places:
            units = int(min(idle * self._units_of_a_node(ground) + 1e-6, self.units.get(place, 0)))
            causes = why_idle(state, place, units, min(self._waiting(state, place, now), default=0), now)
            found += [(one.component, one.cause, one.weight / len(places)) for one in causes]
        return Look(now, idle, tuple(found), self._pending(state, ground, idle, now))

    def _units_of_a_node(self, ground: Ground) -> float:
        place = ground.places[0]
        return self.units.get(place, 1) / max(1, self.partitions[place].count)

    # ---- which nodes are out ---------------------------------------------------------------------------------------------

    def _see_nodes(self, state: State, event: Event, now: float) -> None:
        """Note the nodes that are out from now on, and those that are back."""
        out: dict[Node, tuple[str, str]] = {}
        for ground in self.grounds:
            for place in ground.places:
                mine = dict(self._out_in(state, place))
                out |= {node: said for node, said in mine.items() if node not in out}
        for node, (since, kind, why) in list(self._out.items()):
            if out.get(node, ("", ""))[0] != kind:
                del self._out[node]
                self._over.append(Out(*node, since, now, kind, why))
        for node, (kind, why) in out.items():
            self._out.setdefault(node, (now, kind, why))
        self._count()
        if event.event == "surveyed":
            self._note_idle(event, now)

    def _out_in(self, state: State, place: str) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
        """The nodes of a partition that are out, as (node, (kind, reason)); the worst reason of a node comes last."""
        if place not in state.index.places:
            return
        cluster, names = place.partition(":")[0], names_in(state.index.places[place].nodes)
        for number in sorted(excluded_numbers(state, place)):
            yield (cluster, names[number - 1]), (EXCLUDED, state.overrides.excluded[names[number - 1]])
        for node, left in state.pools.left_out.items():
            if left.pool == place:
                yield (cluster, node), (LEFT_OUT, left.why)
        for why, numbers in state.pools.out.get(place, {}).items():
            for number in numbers:
                if 1 <= number <= len(names):
                    yield (cluster, names[number - 1]), (DOWN, why)

    def _note_idle(self, event: Event, now: float) -> None:
        for place, numbers in event.value.get("idle", {}).items():
            if place in self.partitions:
                names = names_in(self.partitions[place].nodes)
                for number in numbers:
                    if 1 <= number <= len(names):
                        self.seen_idle[place.partition(":")[0], names[number - 1]].append(now)

    def _count(self) -> None:
        for ground in self.grounds:
            names = [(place.partition(":")[0], names_of(self.partitions[place].nodes)) for place in ground.places]
            mine = [node for node in self._out if any(node[0] == one and node[1] in known for one, known in names)]
            self._out_of[ground.name] = len(mine)

    def outs(self, end: float) -> list[Out]:
        """Every stretch in which a node was out, according to people and looks."""
        still = [Out(*node, since, end, kind, why, known=False) for node, (since, kind, why) in self._out.items()]
        return [one for one in (*self._over, *still) if one.end > one.begin]


def _first_starts(record: Record) -> dict[str, int]:
    spans = [(row.job, span_of(row)) for row in record.current() if row.job]
    starts = [(job, span[0]) for job, span in spans if span is not None]
    starts += [(run.job, run.started) for run in record.open.values() if run.job and run.started is not None]
    found: dict[str, int] = {}
    for job, started in starts:
        found[job] = min(in_us(started), found.get(job, in_us(started)))
    return found


def _idle_ones(document: Document, record: Record, outs: list[Out]) -> Iterator[Out]:
    """The stretches in which nodes were out, without the times when runs held them: an excluded node still finishes its job, and a
    node that takes a run is no longer down, whatever was seen before.
    """
    runs = _runs_on({(one.cluster, one.node) for one in outs}, document, record)
    for one in outs:
        mine = [span for span in runs[one.cluster, one.node] if span[1] > one.begin and span[0] < one.end]
        if one.kind == DOWN:
            up = min((begin for begin, _ in mine if begin > one.begin), default=one.end)
            yield Out(one.cluster, one.node, one.begin, up, one.kind, one.why, known=one.known or up < one.end)
            continue
        pieces: tuple[Span, ...] = ((one.begin, one.end),)
        for span in mine:
            pieces = without(pieces, span)
        for begin, end in pieces:
            yield Out(one.cluster, one.node, begin, end, one.kind, one.why, known=one.known or end < one.end)


def _failed(document: Document, record: Record, seen_idle: dict[Node, list[float]], end: float) -> Iterator[Out]:
    """Nodes that failed under a run: down from then until the record shows them at work or idle again."""
    clusters = {case.id: case.partition.partition(":")[0] for case in document.cases}
    failures: dict[Node, dict[float, str]] = defaultdict(dict)
    for row in record.current():
        over = row.over
        for node in row.failed_nodes if row.verdict == "node_fail" and row.case in clusters else ():
            failures[clusters[row.case], node].setdefault(row.time if over is None else over, row.reason)
    runs = _runs_on(failures, document, record)
    for place, found in sorted(failures.items()):
        up = float("-inf")
        for at, why in sorted(found.items()):
            if at < up:
                continue  # it is down already: another run of the same job
            again = [time for time in (*(begin for begin, _ in runs[place]), *seen_idle.get(place, ())) if time > at]
            up = min((time for time in again if time <= end), default=end)
            if up > at:
                yield Out(*place, at, up, DOWN, why, failed=True, known=bool(again))


def _runs_on(wanted: Collection[Node], document: Document, record: Record) -> dict[Node, list[Span]]:
    """Node -> the spans in which runs held it, for some nodes."""
    found: dict[Node, list[Span]] = {node: [] for node in wanted}
    by_cluster: dict[str, list[str]] = defaultdict(list)
    for cluster, node in wanted:
        by_cluster[cluster].append(node)
    clusters = {case.id: case.partition.partition(":")[0] for case in document.cases}
    for row in record.current() if wanted else ():
        span, cluster = span_of(row), clusters.get(row.case, "")
        if span is None or cluster not in by_cluster or not row.nodes:
            continue
        known = names_of(row.nodes)
        for node in by_cluster[cluster]:
            if node in known:
                found[cluster, node].append(span)
    return found
