"""Nodes and jobs of several runs: exclusions, sweeps, packs. Books of its own, from the plan and the log alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from oracle_modes import mode_of, need

from shakedown.model.events import Event
from shakedown.model.nouns import Component, Document
from shakedown.model.ports import ENDED
from shakedown.model.shared_nodes import nodes_of, place_of
from shakedown.twin.machine.jobs import Execution


def unfolded(nodes: str) -> list[str]:
    """Names of a folded node set."""
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet

    return list(NodeSet(nodes, resolver=RESOLVER_NOGROUP)) if nodes else []


class NodeRules:
    """No job is ordered onto a node after its exclusion, and none onto one that is left out, unless to probe it. What probes a held
    queue has none of the nodes that it was kept from.

    A sweep sees each node once a round and keeps few waiting.
    """

    def __init__(self, document: Document) -> None:
        self.names = {place_of(one): [str(n) for n in nodes_of(one)] for one in document.system.partitions()}
        self.cases = {case.id: case for case in document.cases}
        local = {cluster.name for cluster in document.system.clusters if cluster.scheduler == "local"}
        self.sweeps = {
            c.name: c for c in document.components if c.sweep and not {self._place(c).partition(":")[0]} & local
        }
        self.excluded: set[str] = set()
        self.left_out: set[str] = set()
        self.shunned: dict[str, frozenset[str]] = {}  # job -> what was excluded when it was ordered
        self.pools: dict[str, str] = {}  # job -> its pool
        self.failed: dict[str, set[str]] = {}  # pool whose queue is held -> nodes on which launches failed since
        self.let_go: dict[str, float] = {}  # job that probes -> when it was let go
        self.waiting: dict[str, dict[str, None]] = defaultdict(
            dict
        )  # component -> jobs that are not known to have begun
        self.owner: dict[str, str] = {}  # job -> its component
        self.node: dict[str, int] = {}  # job -> the node it was ordered onto
        self.seen: Counter[tuple[str, str, int]] = Counter()  # component, case, repeat -> final verdicts

    def amend(self, document: Document) -> None:
        """Another plan is in force; what was excluded stays so, and what was ordered goes on."""
        after = NodeRules(document)
        self.names, self.sweeps, self.cases = after.names, self.sweeps | after.sweeps, self.cases | after.cases
        self.seen.clear()

    def _place(self, component: Component) -> str:
        return self.cases[component.cases[0]].partition if component.cases else ":"

    def see(self, event: Event) -> None:
        handler = getattr(self, f"_{event.event}", None)
        if handler is not None:
            handler(event)

    def _excluded(self, event: Event) -> None:
        self.excluded |= set(event.value["nodes"])

    def _included(self, event: Event) -> None:
        self.excluded -= set(event.value["nodes"])
        self.left_out -= set(event.value["nodes"])

    def _finding(self, event: Event) -> None:
        if event.value["kind"] == "node_left_out":
            self.left_out |= set(event.value["nodes"])
        elif event.value["kind"] in ("node_let_in", "queue_held"):
            self.left_out -= set(event.value.get("nodes", ()))
        if event.value["kind"] == "queue_held":
            self.failed[event.value["pool"]] = set()
        elif event.value["kind"] == "queue_released":
            self.failed.pop(event.value["pool"], None)

    def _submit_order(self, event: Event) -> None:
        value, pool = event.value, self.cases[event.case].partition
        first = event.job not in self.shunned
        number = value.get("node", 0)
        out = self.left_out - set(value.get("may_have", ()))
        self.shunned.setdefault(event.job, frozenset(self.excluded | out | set(value.get("avoids", ()))))
        self.pools[event.job] = pool
        if first and not (value.get("held") or value.get("after") or number):
            self._probes(event, pool, value.get("units", 1), out | self.excluded)
        if number:
            name = self.names[pool][number - 1]
            need(name not in self.excluded, f"{event.job} is ordered onto {name} after its exclusion")
            need(name not in out, f"{event.job} is ordered onto {name}, which is left out")
        sweep = self.sweeps.get(value["component"])
        if sweep is None or sweep.sweep is None:
            return
        count = len(self.names[pool])
        need(
            number == (value["repeat"] - 1) % count + 1, f"{event.run} sees node {number} for result {value['repeat']}"
        )
        need(self.node.setdefault(event.job, number) == number, f"{event.job} is to see two nodes")
        want = (value["component"], event.case, value["repeat"])
        need(not self.seen[want], f"{event.run}: node {number} was seen by {event.case} in this round already")
        self.owner[event.job] = value["component"]
        waiting = self.waiting[value["component"]]
        waiting[event.job] = None
        most = sweep.sweep.queued
        need(
            not first or len(waiting) <= most,
            f"{event.job} makes {len(waiting)} waiting jobs of a sweep, {most} at most",
        )

    def _probes(self, event: Event, pool: str, units: int, out: set[str]) -> None:
        """In a held queue a job goes where no launch failed since, as long as enough such nodes are left."""
        if pool not in self.failed:
            return
        self.let_go.setdefault(event.job, event.time)
        names = set(self.names[pool])
        failed = (self.failed[pool] & names) - out
        if len(names - out - failed) >= units:
            tried = failed - set(event.value.get("avoids", ()))
            need(not tried, f"{event.job} probes {pool} and may have {sorted(tried)}, where launches just failed")

    def _release_order(self, event: Event) -> None:
        """A job that probes may be kept from nodes, and from fewer when it waited for others in vain."""
        pool = self.pools.get(event.job, "")
        if event.value.get("avoids") == []:
            waited = event.time - self.let_go.get(event.job, event.time)
            need(waited >= 60.0, f"{event.job} probes {pool} on any node after {waited:.0f} s")
        elif event.job not in self.let_go and event.job not in self.node:
            units = self.cases[event.case].shape.units
            self._probes(event, pool, units, self.left_out | self.excluded)
        if "avoids" in event.value and event.job in self.shunned:
            self.shunned[event.job] = frozenset(self.excluded | self.left_out | set(event.value["avoids"]))

    def _job_report(self, event: Event) -> None:
        if event.value["state"] == "running" or event.value["state"] in ENDED:
            self._begun(event)
        if event.value.get("launch_failure") and len(event.value.get("failed_nodes", ())) == 1:
            for failed in self.failed.values():
                failed.update(event.value["failed_nodes"])
        where = set(unfolded(event.value.get("nodes", "")))
        wrong = where & self.shunned.get(event.job, frozenset())
        need(not wrong, f"{event.job} has {sorted(wrong)}, excluded before it was ordered")
        number = self.node.get(event.job)
        if number and where:
            case = next(iter(self.sweeps[self.owner[event.job]].cases))
            name = self.names[self.cases[case].partition][number - 1]
            need(where == {name}, f"{event.job} is to see {name} and has {sorted(where)}")

    def none_avoids_in_vain(self, state: Any) -> None:
        """What waits may have every node that is neither excluded nor left out, or it is about to be ordered again."""
        probes = {guard.probe for guard in state.pools.guards.values()}
        for job in state.jobs.values():
            settled = job.stale or job.restart or job.requests.claim or job.node or job.id in probes
            if settled or job.phase not in ("ordered", "ambiguous", "queued") or job.id in self.let_go:
                continue
            names = set(self.names.get(self.pools.get(job.id, ""), ()))
            vain = (self.shunned.get(job.id, frozenset()) & names) - self.excluded - self.left_out
            need(not vain, f"{job.id} waits and may not have {sorted(vain)}, which are given jobs again")

    def _begun(self, event: Event) -> None:
        self.waiting[self.owner.get(event.job, "")].pop(event.job, None)

    def _claim_taken(self, event: Event) -> None:
        if not event.value.get("part"):
            self._begun(event)

    _submit_deferred = _returned = _claim_taken

    def _verdict(self, event: Event) -> None:
        self._begun(event)
        value = event.value
        if value["component"] in self.sweeps and value.get("final") and "supersedes" not in value:
            want = (value["component"], event.case, value["repeat"])
            self.seen[want] += 1
            need(self.seen[want] == 1, f"{want} was seen {self.seen[want]} times")

    def _given_up(self, event: Event) -> None:
        """It was seen as often as the plan allows, in vain."""
        self.seen[event.value["component"], event.case, event.value["repeat"]] += 1

    def at_the_end(self) -> None:
        """Each test saw each node, in each round, once; of one that runs for a time, the rounds that it came to."""
        for name, component in self.sweeps.items():
            assert component.sweep is not None
            for case in component.cases:
                count = len(self.names[self.cases[case].partition])
                rounds = 1 if component.duration_s else component.sweep.rounds
                missed = [n for n in range(1, count * rounds + 1) if not self.seen[name, case, n]]
                need(not missed, f"sweep {name}: {case} never saw {missed[:5]}")


class PartRules:
    """A run is in one job at a time, is executed once at most, and is never lost."""

    def __init__(self, document: Document) -> None:
        self.home: dict[str, str] = {}  # run that is not judged -> its job
        self.inside: dict[str, set[str]] = defaultdict(set)  # job -> such runs
        self.known: set[str] = set()
        self.judged: dict[str, str] = {}
        self.ends: Counter[tuple[Any, ...]] = Counter()  # wanted result -> final verdicts and givings up

    def amend(self, document: Document) -> None:
        """What another plan wants anew may come to an end again."""
        self.ends.clear()

    def see(self, event: Event) -> None:
        handler: Callable[[Event], None] | None = getattr(self, f"_{event.event}", None)
        if handler is not None:
            handler(event)

    def _submit_order(self, event: Event) -> None:
        need(event.run not in self.home, f"{event.run} is ordered in {event.job} and is in {self.home.get(event.run)}")
        need(event.run not in self.judged, f"{event.run} is ordered again after its verdict")
        self.home[event.run] = event.job
        self.inside[event.job].add(event.run)
        self.known.add(event.run)

    def _requeued(self, event: Event) -> None:
        self.known.add(event.run)
        self.home[event.run] = event.job
        self.inside[event.job].add(event.run)

    def _claim_taken(self, event: Event) -> None:
        for run in [event.run] if event.value.get("part") else list(self.inside[event.job]):
            self._leave(run)

    def _submit_deferred(self, event: Event) -> None:
        for run in list(self.inside[event.job]):
            self._leave(run)

    _returned = _submit_deferred

    def _leave(self, run: str) -> None:
        job = self.home.pop(run, None)
        if job is not None:
            self.inside[job].discard(run)

    def _verdict(self, event: Event) -> None:
        value = event.value
        if "supersedes" in value:
            return
        need(event.run not in self.judged, f"{event.run} is judged twice")
        self.judged[event.run] = value["verdict"]
        self._leave(event.run)
        if value.get("final"):
            self._count(event)

    def _given_up(self, event: Event) -> None:
        self._count(event)

    def _count(self, event: Event) -> None:
        want = (event.value["component"], event.case, mode_of(event.value), event.value["repeat"])
        self.ends[want] += 1
        need(self.ends[want] == 1, f"{want} comes to an end twice")

    def look_at(self, executions: Iterable[Execution]) -> None:
        """Ground truth: of each run that is a part, one execution at most."""
        counts = Counter(one.run for one in executions if one.part)
        for run, count in counts.items():
            need(count == 1, f"{run} was executed {count} times")

    def at_the_end(self, wanted: int | None = None) -> None:
        """``wanted``: how many results were; each came to one end."""
        lost = sorted(self.known - set(self.judged))
        need(not lost, f"{len(lost)} runs have no verdict: {lost[:3]}")
        if wanted is not None:
            need(len(self.ends) == wanted, f"{len(self.ends)} results came to an end, {wanted} were wanted")
