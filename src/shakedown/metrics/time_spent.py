"""The node-hours of a campaign by cause: time of runs, nodes that were out, and the reasons why other nodes were idle.

Start reading at ``account``. Amounts are whole node-microseconds: each moment of each node is in exactly one part, so
the parts add up exactly to the nodes times the campaign's time. The rows tell when runs had nodes; the caller passes in which
nodes were out and why others were idle (``Out`` and ``Look``), which ``report.time_spent`` reads from the record.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

from shakedown.metrics.limits import Books, Limit, idle_by_cause, limits_of
from shakedown.metrics.limits import Nodes as NodesOfPartitions
from shakedown.metrics.node_hours import RIGHT, Nodes, never_ran
from shakedown.metrics.overlap import span_of
from shakedown.metrics.rows.rows import RunRow
from shakedown.metrics.rows.table import Record
from shakedown.metrics.wanted import UNCOUNTED
from shakedown.model.nouns import Document
from shakedown.model.shared_nodes import different_nodes, names_of, place_of, sharing

US = 1_000_000  # microseconds in a second
HOUR_US = 3600 * US
WORKED, LIVE, DOWN, LEFT_OUT, EXCLUDED, UNKNOWN = "worked", "live", "down", "left_out", "excluded", "unknown"
_SLICES = 60  # the most slices into which a campaign is divided, to show changes over time
_LENGTHS_S = (1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 7 * 86400, 28 * 86400)

# Group -> its description for people, in the order of display.
GROUPS = {
    "worked": "runs that ran to their end with the right answer; of a filler and of warm-ups too, as the cause says",
    "came to nothing": "runs with any other verdict",
    "live": "runs that are not judged yet",
    "down": "nodes that failed under a run, or were down or drained at a look, until the record shows them at work again",
    "left out": "nodes that people or the plan excluded, or that launched nothing and were given no more work",
    "nobody drove": "no conductor drove the campaign, or it was told to stop",
    "held queue": "the queue was held because job after job did not come to run",
    "build": "runs waited for their builds",
    "budgets": "budgets, copies, licences and starts that must lie apart",
    "scheduler": "jobs waited at the scheduler that might start, or it took none",
    "between jobs": "nothing waited at the scheduler when nodes fell idle, and nothing held it back: from one job to the next",
    "order of the plan": "gates, modes that want the machine to themselves, sweeps, drills, shares of a mix, runs that need others",
    "drained": "the beginning and the end of a component: nothing was left to order, or nothing that would end in time",
    "windows": "windows of the plan, room that was left to others, pauses and caps",
    "over": "the campaign had ended, and was taken up again later",
    "not known": "the record does not say",
}
_GROUP_OF = {
    WORKED: "worked", "verdict": "came to nothing", LIVE: "live", DOWN: "down", LEFT_OUT: "left out", EXCLUDED: "left out",
    "away": "nobody drove", "stopping": "nobody drove", "no_room": "nobody drove", "held": "held queue",
    "build": "build", "builds": "build",
    "budget": "budgets", "observed": "budgets", "copies": "budgets", "stagger": "budgets", "licence": "budgets",
    "wide": "scheduler", "walltime": "scheduler", "says": "scheduler", "shut": "scheduler", "queued": "scheduler",
    "reserved": "scheduler", "ahead": "between jobs",
    "gate": "order of the plan", "turn": "order of the plan", "alone": "order of the plan", "warm-up": "order of the plan",
    "share": "order of the plan", "drill": "order of the plan", "clean-up": "order of the plan", "need": "order of the plan",
    "idle": "order of the plan", "busy": "order of the plan", "out": "order of the plan", "allocations": "order of the plan",
    "drain": "drained", "drained": "drained", "tail": "drained", "ramp": "drained",
    "window": "windows", "yield": "windows", "paused": "windows", "stopped": "windows", "cap": "windows", "clock": "windows",
    "over": "over", UNKNOWN: "not known",
}  # fmt: skip


def group_of(cause: str) -> str:
    """Purpose: the group in which a cause (named as in ``engine.policy.idle`` or this file) is shown."""
    kind, _, about = cause.partition(":")
    if kind == "says" and about.startswith("Licenses"):
        return "budgets"
    return _GROUP_OF.get(kind, "not known")


class Ground(Struct, frozen=True):
    """Nodes that some partitions of the plan share, each counted once. ``places``: these partitions, as "cluster:partition"."""

    name: str
    places: tuple[str, ...]
    count: int

    def has(self, document: Document, cluster: str, node: str) -> bool:
        """Whether a node belongs to this ground."""
        mine = (one for one in document.system.partitions() if place_of(one) in self.places)
        return any(one.cluster == cluster and node in names_of(one.nodes) for one in mine)


class Look(Struct, frozen=True):
    """The state of a ground's idle nodes from ``at`` on (seconds since 1970), until the next look.

    ``idle``: the number of idle nodes; ``causes``: (component, cause, weight), the weights add up to one. ``pending``: jobs that
    waited at the scheduler, were free to start and needed no more nodes than that.
    """

    at: float
    idle: float
    causes: tuple[tuple[str, str, float], ...]
    pending: int = 0


class Out(Struct, frozen=True):
    """A period in which a node was given no work. ``kind``: down, left_out or excluded. ``failed``: the node failed during a run.

    ``end``: when the record shows it at work, idle or let in again; if that is not ``known``, the end of the campaign.
    """

    cluster: str
    node: str
    begin: float
    end: float
    kind: str
    why: str = ""
    failed: bool = False
    known: bool = True


class Part(Struct, frozen=True):
    """The node-microseconds of one cause. ``component``: the component that worked or was held back, "" = none."""

    component: str
    cause: str
    node_us: int

    @property
    def group(self) -> str:
        return group_of(self.cause)

    @property
    def node_hours(self) -> float:
        return self.node_us / HOUR_US


class Slice(Struct, frozen=True):
    """One slice of the campaign's time: group -> node-microseconds."""

    begin: float
    end: float
    groups: Mapping[str, int]


class Stretch(Struct, frozen=True):
    """A period in which nodes of a ground were idle while jobs that fit them waited at the scheduler.

    ``nodes``: the average number of idle nodes; ``jobs``: the largest number of waiting jobs.
    """

    ground: str
    begin: float
    end: float
    node_us: int
    jobs: int

    @property
    def nodes(self) -> float:
        return self.node_us / US / (self.end - self.begin) if self.end > self.begin else 0.0


class TimeSpent(Struct, frozen=True):
    """A campaign's node-hours from ``begin`` to ``end``, of the nodes that its plan can use.

    ``node_us``: all node-microseconds; ``parts`` add up to it, the largest first. ``slices``: the same over time; ``grounds``:
    (ground, its node-microseconds, those that worked). ``pending``: periods with idle nodes and waiting jobs. ``untimed``: runs in
    no part, because their times are unknown; ``twice_us``: time of runs beyond the existing nodes, because clocks differ: in no
    part. ``trouble``: why the causes are unknown, "" if they are known.
    """

    begin: float
    end: float
    nodes: int
    node_us: int
    parts: tuple[Part, ...]
    slices: tuple[Slice, ...]
    grounds: tuple[tuple[Ground, int, int], ...]
    pending: tuple[Stretch, ...]
    outs: tuple[Out, ...] = ()
    untimed: int = 0
    twice_us: int = 0
    trouble: str = ""

    @property
    def node_hours(self) -> float:
        return self.node_us / HOUR_US

    def groups(self) -> dict[str, int]:
        """Group -> node-microseconds, in the order of ``GROUPS``, without groups of 0."""
        found: dict[str, int] = defaultdict(int)
        for part in self.parts:
            found[part.group] += part.node_us
        return {name: found[name] for name in GROUPS if found[name]}

    def share(self, node_us: int) -> float:
        return node_us / self.node_us if self.node_us else 0.0

    @property
    def idle_while_pending_us(self) -> int:
        return sum(one.node_us for one in self.pending)


def grounds_of(document: Document) -> tuple[Ground, ...]:
    """Purpose: the nodes that the plan can use, grouped by partitions that share nodes, in the order of the system."""
    partitions = {place_of(one): one for one in document.system.partitions()}
    used = {case.partition for case in document.cases if not case.unavailable} & partitions.keys() or set(partitions)
    near = sharing(document.system, used)
    found: list[Ground] = []
    taken: set[str] = set()
    for place in partitions:
        if place not in used or place in taken:
            continue
        mine, edge = {place}, [place]
        while edge:
            more = near[edge.pop()] - mine
            mine |= more
            edge += sorted(more)
        taken |= mine
        places = tuple(one for one in partitions if one in mine)
        found.append(Ground(", ".join(places), places, different_nodes([partitions[one] for one in places])))
    return tuple(found)


class Occupancy:
    """How many nodes of a ground runs had over time, by component and result.

    ``edges``: time in microseconds -> (component, cause) -> the change of the number of nodes at that time.
    """

    def __init__(self) -> None:
        self.edges: dict[int, dict[tuple[str, str], float]] = defaultdict(lambda: defaultdict(float))
        self._times: list[int] = []
        self._held: list[float] = []

    def add(self, begin: int, end: int, what: tuple[str, str], nodes: float) -> None:
        if end > begin:
            self.edges[begin][what] += nodes
            self.edges[end][what] -= nodes

    def held_at(self, time: float) -> float:
        """The number of nodes that runs had at a time. Nothing may be added after the first call."""
        if not self._times and self.edges:
            held = 0.0
            for at in sorted(self.edges):
                held += sum(self.edges[at].values())
                self._times.append(at)
                self._held.append(max(0.0, held))
        place = bisect_right(self._times, in_us(time)) - 1
        return self._held[place] if place >= 0 else 0.0


def occupancies(document: Document, record: Record, begin: float, end: float) -> tuple[dict[str, Occupancy], int]:
    """Purpose: (ground name -> the nodes that runs had between two times, the number of runs left out because their times are
    unknown).
    """
    grounds = {place: ground.name for ground in grounds_of(document) for place in ground.places}
    rows = list(record.current())
    nodes = Nodes(document, record)
    found = {name: Occupancy() for name in grounds.values()}
    low, high, untimed = in_us(begin), in_us(end), 0
    for row in rows:
        case = nodes.cases.get(row.case)
        ground = grounds.get(case.partition) if case is not None else None
        span = span_of(row)
        if case is None or ground is None or span is None:
            untimed += span is None and not never_ran(row)
            continue
        what = (row.component, _became(row))
        for piece, share in nodes.parts(row, span):
            found[ground].add(max(low, in_us(piece[0])), min(high, in_us(piece[1])), what, share * nodes.held(case))
    for run in record.open.values():
        case = nodes.cases.get(run.case)
        ground = grounds.get(case.partition) if case is not None else None
        if case is not None and ground is not None and run.started is not None:
            until = end if run.freed is None else run.freed
            found[ground].add(
                max(low, in_us(run.started)), min(high, in_us(until)), (run.component, LIVE), nodes.held(case)
            )
    return found, untimed


def _became(row: RunRow) -> str:
    if row.verdict not in RIGHT:
        return f"verdict:{row.verdict}"
    return f"{WORKED}:{row.mode}" if row.mode in UNCOUNTED else WORKED


def account(
    document: Document,
    record: Record,
    looks: Mapping[str, Sequence[Look]],
    outs: Sequence[Out],
    trouble: str = "",
) -> TimeSpent | None:
    """Purpose: every node-hour from the campaign's begin to its end, each in one part; None if the campaign has not begun.

    ``looks``: ground name -> its looks, by time.
    """
    begin, end = time_of(record)
    if end <= begin:
        return None
    taken, untimed = occupancies(document, record, begin, end)
    books = _Books(in_us(begin), in_us(end))
    grounds = []
    for ground in grounds_of(document):
        mine = [one for one in outs if ground.has(document, one.cluster, one.node)]
        had = ground.count * (books.end - books.begin)
        worked = books.enter(ground, taken.get(ground.name, Occupancy()), looks.get(ground.name, ()), mine)
        grounds.append((ground, had, worked))
    parts = [Part(component, cause, node_us) for (component, cause), node_us in books.parts.items() if node_us]
    return TimeSpent(
        begin,
        end,
        sum(ground.count for ground, _, _ in grounds),
        sum(had for _, had, _ in grounds),
        tuple(sorted(parts, key=lambda one: (-one.node_us, one.component, one.cause))),
        books.sliced(),
        tuple(grounds),
        tuple(sorted(books.pending, key=lambda one: (one.begin, one.ground))),
        tuple(outs),
        untimed,
        books.twice,
        trouble,
    )


def time_of(record: Record) -> tuple[float, float]:
    """Purpose: (begin, end) of a campaign in seconds since 1970; the end is that of the record if the campaign is not over."""
    begin = record.started if record.started is not None else 0.0
    return begin, max(begin, record.last if record.ended is None else record.ended)


def in_us(seconds: float) -> int:
    return round(seconds * US)


class _Books:
    """Node-microseconds by component and cause, and by slice and group. ``begin`` and ``end`` in microseconds."""

    def __init__(self, begin: int, end: int) -> None:
        self.begin, self.end = begin, end
        self.parts: dict[tuple[str, str], int] = defaultdict(int)
        self.pending: list[Stretch] = []
        self.twice = 0
        self._length = _slice_length(end - begin)
        count = -(-(end - begin) // self._length)
        self._slices: list[dict[str, int]] = [defaultdict(int) for _ in range(count)]

    def enter(self, ground: Ground, taken: Occupancy, looks: Sequence[Look], outs: Sequence[Out]) -> int:
        """Add all node-time of one ground; return the node-microseconds that worked."""
        edges = _out_edges(outs, self.begin, self.end)
        at_look = {min(max(in_us(look.at), self.begin), self.end): look for look in looks}
        cuts = {self.begin, self.end, *edges, *at_look, *range(self.begin, self.end, self._length)}
        cuts |= {time for time in taken.edges if self.begin < time < self.end}
        times = sorted(cuts)
        held: dict[tuple[str, str], float] = {}
        out: dict[str, int] = defaultdict(int)
        look, worked = Look(0.0, 0.0, (("", UNKNOWN, 1.0),)), 0
        for time, until in pairwise(times):
            for what, more in taken.edges.get(time, {}).items():
                held[what] = held.get(what, 0.0) + more
                if abs(held[what]) < 1e-9:
                    del held[what]
            for kind, count in edges.get(time, {}).items():
                out[kind] += count
            look = at_look.get(time, look)
            worked += self._moment(ground, (time, until), held, out, look)
        return worked

    def _moment(
        self,
        ground: Ground,
        span: tuple[int, int],
        held: Mapping[tuple[str, str], float],
        out: Mapping[str, int],
        look: Look,
    ) -> int:
        """Add a period without changes: first the nodes of runs, then nodes that were out; the rest was idle."""
        begin, end = span
        lasted = end - begin
        left, worked = ground.count * lasted, 0
        for what, nodes in held.items():
            wanted = round(nodes * lasted)
            had = min(left, wanted)
            self.twice += wanted - had
            self._put(begin, what, had)
            worked += had if group_of(what[1]) == WORKED else 0
            left -= had
        for kind in (DOWN, LEFT_OUT, EXCLUDED):
            gone = min(left, out.get(kind, 0) * lasted)
            self._put(begin, ("", kind), gone)
            left -= gone
        known = min(left, round(look.idle * lasted))
        for what, amount in _whole(idle_by_cause(look.causes, "", known, left - known), left):
            self._put(begin, what, amount)
        if look.pending and left:
            self._wait(ground, span, known, look.pending)
        return worked

    def _put(self, begin: int, what: tuple[str, str], node_us: int) -> None:
        if node_us:
            self.parts[what] += node_us
            self._slices[(begin - self.begin) // self._length][group_of(what[1])] += node_us

    def _wait(self, ground: Ground, span: tuple[int, int], node_us: int, jobs: int) -> None:
        """Record nodes that are idle while jobs wait; a period directly after the last one extends it."""
        begin, end = span[0] / US, span[1] / US
        last = self.pending[-1] if self.pending else None
        if last is not None and (last.ground, last.end) == (ground.name, begin):
            self.pending[-1] = Stretch(ground.name, last.begin, end, last.node_us + node_us, max(jobs, last.jobs))
        elif node_us:
            self.pending.append(Stretch(ground.name, begin, end, node_us, jobs))

    def sliced(self) -> tuple[Slice, ...]:
        return tuple(
            Slice(
                (self.begin + place * self._length) / US,
                min(self.end, self.begin + (place + 1) * self._length) / US,
                {name: groups[name] for name in GROUPS if groups.get(name)},
            )
            for place, groups in enumerate(self._slices)
        )


def _slice_length(lasts_us: int) -> int:
    """The shortest usual slice length that gives at most ``_SLICES`` slices."""
    usual = next((length for length in _LENGTHS_S if lasts_us <= length * US * _SLICES), 0)
    return usual * US or -(-lasts_us // _SLICES)


def _out_edges(outs: Iterable[Out], low: int, high: int) -> dict[int, dict[str, int]]:
    """Time -> kind -> change of the number of nodes out; of overlapping periods of one node, the worst kind counts."""
    of_node: dict[tuple[str, str], list[Out]] = defaultdict(list)
    for out in outs:
        of_node[out.cluster, out.node].append(out)
    edges: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for mine in of_node.values():
        for begin, end, kind in _worst(mine, low, high):
            edges[begin][kind] += 1
            edges[end][kind] -= 1
    return edges


def _worst(outs: Sequence[Out], low: int, high: int) -> Iterator[tuple[int, int, str]]:
    """The periods of one node, divided so that none overlap."""
    spans = [(max(low, in_us(one.begin)), min(high, in_us(one.end)), one.kind) for one in outs]
    times = sorted({time for begin, end, _ in spans for time in (begin, end)})
    for begin, end in pairwise(times):
        kinds = {kind for since, until, kind in spans if since <= begin and end <= until}
        worst = next((kind for kind in (DOWN, LEFT_OUT, EXCLUDED) if kind in kinds), "")
        if worst and end > begin:
            yield begin, end, worst


def _whole(amounts: Iterable[tuple[str, str, float]], total: int) -> Iterator[tuple[tuple[str, str], int]]:
    """Round amounts to whole numbers that add up to the total: each is the difference of consecutive rounded running sums."""
    every = list(amounts)
    so_far, given = 0.0, 0
    for place, (component, cause, amount) in enumerate(every, 1):
        so_far += amount
        upto = total if place == len(every) else min(total, round(so_far))
        yield (component, cause), upto - given
        given = upto


def causes_in_words(document: Document, spent: TimeSpent) -> tuple[Limit, ...]:
    """Purpose: each cause of at least a hundredth of the node-hours, except the work itself, in the words of rehearsals."""
    found = limits_of(document, as_books(spent))
    return found.limits if found is not None else ()


def as_books(spent: TimeSpent) -> Books:
    """Purpose: the time spent in a campaign, in the form of the books that a rehearsal keeps."""
    books = Books(capacity=spent.node_us / US, seconds=spent.end - spent.begin)
    for part in spent.parts:
        if part.group == WORKED:
            books.right += part.node_us / US
        else:
            books.lose(part.component, part.cause, part.node_us / US)
    for ground, had, worked in spent.grounds:
        books.nodes[ground.name.replace(", ", " + ")] = NodesOfPartitions(ground.count, had / US, worked / US)
    return books
