"""The simulated machine: nodes that run jobs, and the ground truth of what really happened.

It outlives conductors, as a real machine does. ``scheduler.py`` decides which of the facts a conductor gets to see.
Every random draw depends on the seed and on the thing drawn, not on the order of calls: the same seed gives the same world.
``SimulatedMachine`` is its interface for its laws (accidents, calendar, harness, physics).
"""

from __future__ import annotations

import math
from collections.abc import Callable

from msgspec import structs

from shakedown.model.nouns import Case, Document
from shakedown.model.ports import JobOrder
from shakedown.model.scenario import Scenario
from shakedown.twin.machine import parts
from shakedown.twin.machine.accidents import arrange, take_down
from shakedown.twin.machine.allocator import Need, bits
from shakedown.twin.machine.clock import VirtualClock
from shakedown.twin.machine.jobs import IN_QUEUE, Execution, SimulatedJob
from shakedown.twin.machine.laws import SimulatedMachine
from shakedown.twin.machine.nodes import Room, licences_of, rooms_of
from shakedown.twin.machine.outcomes import Fate, Fates, Lies, Others, fate_of
from shakedown.twin.machine.physics import Physics

_LEAVES_NO_MARK = ("node_fail", "completed", "failed")  # or may: a job that is told to end writes its mark first

__all__ = ["Execution", "Fates", "Lies", "Others", "SimulatedJob", "World"]


IN_VAIN_S = 1.0  # how long a job that cannot take its claim holds its nodes


class World(SimulatedMachine):
    """The simulated machine. ``local``: jobs die with the conductor, because the embedded scheduler runs them.

    ``cycle_s``: seconds between backfill cycles, 0 = backfill at every change. ``fifo``: no backfill.
    ``scenario``: its laws; None: only the fates apply.
    """

    def __init__(
        self,
        document: Document,
        seed: int,
        clock: VirtualClock,
        fates: Fates | None = None,
        lies: Lies | None = None,
        local: bool = False,
        others: Others | None = None,
        cycle_s: float = 0.0,
        fifo: bool = False,
        scenario: Scenario | None = None,
    ) -> None:
        self.document, self.seed, self.clock, self.local = document, seed, clock, local
        self.fates, self.lies, self.others, self.cycle_s = fates or Fates(), lies or Lies(), others or Others(), cycle_s
        self.began = clock.now()
        self.rooms = rooms_of(document.system, fifo or local)
        self.clusters = {cluster.name: cluster for cluster in document.system.clusters}
        self.jobs: dict[str, list[SimulatedJob]] = {}  # our name -> jobs of that name, whatever their number
        self.claims: set[tuple[str, int | str]] = set()  # (job, restart), or (job, part)
        self.conductors: set[tuple[str, int | str]] = set()  # those that a conductor holds
        self.executions: list[Execution] = []
        self.live: dict[tuple[str, int, str], Execution] = {}  # (job, restart, run) -> what runs now
        self.noticed: Callable[[SimulatedJob | None], None] = lambda job: (
            None
        )  # is told of every change of a job; None: of nodes
        self.next_id = 1
        self.by_ticket: dict[int, SimulatedJob] = {}  # what waits for nodes or has some
        self.theirs: dict[int, float] = {}  # tickets of other people's jobs -> until when they stay
        self._by_id: dict[str, SimulatedJob] = {}
        self._successors: dict[str, list[SimulatedJob]] = {}
        self._tickets = 0
        self._dirty: dict[str, None] = {}
        self._looking = False
        self._backfill_at = 0.0
        self.node_failures = 0
        self.called: dict[str, tuple[str, int]] = {}  # run -> (job, restart), as the conductor calls it
        self.known: dict[str | tuple[str, int], Execution] = {}  # by (job, restart); parts by their run
        self.physics = Physics(self, scenario) if scenario is not None else None
        arrange(self)
        if self.physics is not None:
            self.physics.begin()

    # ---- into the queue and out of it ------------------------------------------------------------------------------------

    def accept(self, order: JobOrder) -> SimulatedJob:
        """Accept a submitted job into the scheduler's queue."""
        job = SimulatedJob(str(self.next_id), order, self.clock.now(), held=order.held, after=order.after[1])
        job.targets = dict(order.targets)
        self.next_id += 1
        self.jobs.setdefault(order.job, []).append(job)
        self._by_id[job.id] = job
        self.becomes(job, "queued")
        if self.physics is not None:
            self.physics.harness.take(job)
        self.enter(job)
        return job

    def becomes(self, job: SimulatedJob, state: str) -> None:
        job.becomes(state, self.clock.now())
        self.noticed(job)

    def enter(self, job: SimulatedJob) -> None:
        """Queue a job for nodes, unless it is held or must wait for the end of another job."""
        before = self._by_id.get(job.after)
        if job.held or job.delayed or job.state != "queued":
            return
        if before is not None and before.state in IN_QUEUE:
            self._successors.setdefault(before.id, []).append(job)
            return
        room, case = self.rooms[job.pool], job.case
        licences = licences_of(self.document.system, self.clusters[room.cluster], case.loads, job.targets)
        without = bits(room.number, job.order.exclude)
        node = room.own[job.order.node - 1] if job.order.node else 0
        job.need = Need(case.shape.units, case.shape.time_limit_s, node, without, licences, room.within)
        job.ticket = self.ticket()
        self.by_ticket[job.ticket] = job
        room.pool.queue(job.ticket, job.need, self.clock.now())
        self.look_at(room)

    def ticket(self) -> int:
        self._tickets += 1
        return self._tickets

    def release(self, name: str, targets: dict[str, str], exclude: tuple[str, ...] | None = None) -> None:
        """Release held jobs of this name. ``exclude``: the nodes that jobs of this name must avoid from now on."""
        for job in self.jobs.get(name, []):
            if exclude is not None and job.state == "queued":
                job.order = structs.replace(job.order, exclude=exclude)
                if not job.held:
                    self._leave_queue(job)
                    self.enter(job)
            if job.held and job.state == "queued":
                job.held = False
                job.targets |= targets
                self.noticed(job)
                self.enter(job)

    def hold(self, name: str) -> bool:
        """Hold waiting jobs of this name until they are released; returns whether there was any."""
        found = False
        for job in self.jobs.get(name, []):
            if job.state == "queued":
                self._leave_queue(job)
                job.held = found = True
                self.look_at(self.rooms[job.pool])
        return found

    def is_away(self) -> bool:
        """Whether the campaign's directory is unavailable now, to the conductor and to jobs."""
        after = self.clock.now() - self.began
        return any(since <= after < since + lasts for since, lasts in self.lies.away)

    def cancel(self, name: str) -> None:
        """Cancel every job of this name."""
        for job in self.jobs.get(name, []):
            if job.state == "queued":
                self._leave_queue(job)
                self.becomes(job, "cancelled")
                self._let_on(job)
                self.look_at(self.rooms[job.pool])
            elif job.state == "running":
                self.end(job, "cancelled", None)

    def _leave_queue(self, job: SimulatedJob) -> None:
        if job.ticket:
            self.rooms[job.pool].pool.withdraw(job.ticket)
            del self.by_ticket[job.ticket]
            job.ticket = 0

    # ---- who starts ------------------------------------------------------------------------------------------------------

    def look_at(self, room: Room) -> None:
        """Start the jobs that can start after a change in this partition; with licences, look at the whole cluster."""
        self._dirty[room.name] = None
        if self.clusters[room.cluster].licences:
            self._dirty |= dict.fromkeys(name for name, other in self.rooms.items() if other.cluster == room.cluster)
        if self.cycle_s:
            self._backfill_later()
        self._look(backfills=not self.cycle_s)

    def _look(self, backfills: bool) -> None:
        if self._looking:
            return
        self._looking = True
        while self._dirty:
            room = self.rooms[next(iter(self._dirty))]
            del self._dirty[room.name]
            started: list[tuple[int, int]] = []
            room.pool.cycle(self.clock.now(), lambda ticket, nodes: started.append((ticket, nodes)), backfills)  # noqa: B023
            for ticket, nodes in started:
                self._begin(room, ticket, nodes)
            room.noticed(self.clock.now())
        self._looking = False

    def _backfill_later(self) -> None:
        """Schedule the next backfill cycle, which also looks at jobs behind the first waiting one."""
        now = self.clock.now()
        if self._backfill_at > now:
            return
        self._backfill_at = self.began + self.cycle_s * (math.floor((now - self.began) / self.cycle_s) + 1)

        def look() -> bool:
            self._dirty |= dict.fromkeys(self.rooms)
            self._look(backfills=True)
            return self.local

        self.clock.at(self._backfill_at, look)

    def _begin(self, room: Room, ticket: int, nodes: int) -> None:
        if ticket in self.theirs:
            until = max(self.theirs.pop(ticket), self.clock.now())
            self.clock.at(until, lambda: self._give_back(room, ticket))
            self.noticed(None)
            return
        job = self.by_ticket[ticket]
        job.nodes = nodes
        self._start(job)

    def _give_back(self, room: Room, ticket: int) -> bool:
        room.pool.release(ticket)
        self.noticed(None)
        self.look_at(room)
        return self.local

    def _start(self, job: SimulatedJob) -> None:
        if self.is_away():
            self._start_in_vain(job)
            return
        if self.chance(self.lies.unstartable, "start", job.name, job.restart):
            self._free(job)
            self.becomes(job, "refused")
            self._let_on(job)
            self._dirty[job.pool] = None
            return
        if self.chance(self.lies.launch_failure, "launch", job.name, job.restart):
            self._fail_to_launch(job)
            return
        if self.lies.launches_nothing and (bad := self._launch_nothing(job)):
            self._fail_to_launch(job, bad)
            return
        job.started = self.clock.now()
        self.becomes(job, "running")
        claim = (job.name, job.restart)
        if claim in self.claims:  # the script finds its claim taken and ends: nothing runs
            job.void = True
            self.end(job, "failed", 97)
            return
        if self._may_run_beside(job):
            job.void, job.void_at = True, job.started
            self.end(job, "failed", 97)
            return
        self.claims.add(claim)
        if job.order.parts:
            parts.begin(self, job)
            return
        self.execute(job, job.order.run, job.case.id)
        self._live_on(job)

    def _may_run_beside(self, job: SimulatedJob) -> bool:
        """Whether the last earlier job that ran left no end mark: then this job's script takes no claim, as on Slurm."""
        before = job.order.after[0]
        while before:
            ours = self.jobs.get(before, [])
            ran = [one for one in ours if not one.void and self._took_its_claim(one)]
            if ran:
                return any(one.state in _LEAVES_NO_MARK and one.end_mark is None for one in ran)
            before = ours[0].order.after[0] if ours else ""
        return False

    def _took_its_claim(self, job: SimulatedJob) -> bool:
        claim = (job.name, job.restart)
        return claim in self.claims and claim not in self.conductors

    def _launch_nothing(self, job: SimulatedJob) -> tuple[str, ...]:
        """The nodes of a job that cannot launch jobs now."""
        since = self.clock.now() - self.began
        names = self.rooms[job.pool].named(job.nodes)
        return tuple(name for name, start, end in self.lies.launches_nothing if name in names and start <= since < end)

    def _fail_to_launch(self, job: SimulatedJob, bad: tuple[str, ...] = ()) -> None:
        """Fail a job because its first node, or a bad one, cannot start the script. The conductor's claim is taken, so that the job
        cannot run later.
        """
        room, claim = self.rooms[job.pool], (job.name, job.restart)
        job.failed_nodes, job.launch_failure = bad[:1] or room.named(job.nodes)[:1], True
        if claim not in self.claims:
            self.claims.add(claim)
            self.conductors.add(claim)
        self._free(job)
        for node in job.failed_nodes if self.fates.repair_s else ():
            take_down(self, room, room.number[node], self.fates.repair_s)
        self.becomes(job, "node_fail")
        self._let_on(job)

    def _start_in_vain(self, job: SimulatedJob) -> None:
        """Start a job whose script cannot take its claim; it ends as "refused"."""
        job.started, life = self.clock.now(), job.incarnation
        self.becomes(job, "running")

        def end() -> bool:
            if job.incarnation != life or job.state != "running":
                return False
            job.incarnation += 1
            self._free(job)
            self.becomes(job, "refused")
            self._let_on(job)
            self.look_at(self.rooms[job.pool])
            return self.local

        self.clock.at(self.clock.now() + IN_VAIN_S, end)

    # ---- what becomes of it ----------------------------------------------------------------------------------------------

    def execute(self, job: SimulatedJob, run: str, case: str, part: bool = False) -> None:
        """Enter the start of a payload."""
        execution = Execution(job.name, job.restart, run, case, self.clock.now(), nodes=job.nodes, part=part)
        self.executions.append(execution)
        self.known[run if part else (job.name, job.restart)] = execution
        job.live[job.restart, run] = self.live[job.name, job.restart, run] = execution

    def over(self, job: SimulatedJob, restart: int, run: str) -> None:
        """Enter the end of a payload, if it still runs."""
        execution = job.live.pop((restart, run), None)
        if execution is not None:
            execution.end = self.clock.now()
            if self.physics is not None:
                self.physics.over(job, restart, run)
            self.live.pop((job.name, restart, run), None)

    def names_of(self, job: SimulatedJob) -> tuple[str, ...]:
        """The names of a job's nodes if its fate depends on them; else ()."""
        fates = self.fates
        matters = fates.slow_nodes or fates.bad_nodes or fates.node_fail
        return self.rooms[job.pool].named(job.nodes) if matters and not self.local else ()

    def _live_on(self, job: SimulatedJob) -> None:
        """Draw the fate of a running job and schedule it; a fate after the time limit is replaced by the end at the time limit."""
        run, case, limit = job.order.run, job.case, job.case.shape.time_limit_s
        fate = self.fate(job, run, case, (job.name, job.restart))
        happen = self._happens(job, fate.state, fate.status, fate.lasts_s - fate.after_s, fate.node)
        after = self.begins(job, run, case, fate, happen)
        if after is not None and after <= limit:
            self.clock.at(self.clock.now() + after, happen)
        else:
            self.at_its_limit(job)

    def fate(self, job: SimulatedJob, run: str, case: Case, key: tuple[object, ...]) -> Fate:
        """The fate of a run on its nodes without other load. A part (whose key is its name) is never requeued."""
        names, again = self.names_of(job), len(key) == 1 or job.restart > 0
        if self.physics is None:
            return fate_of(self.fates, self.draw, case, key, names, again)
        fate = self.physics.fate(case, key, names, again)
        self.live[job.name, job.restart, run].healthy_s = fate.healthy_s
        return fate

    def begins(self, job: SimulatedJob, run: str, case: Case, fate: Fate, finish: Callable[[], bool]) -> float | None:
        """Start a run; returns the seconds until its fate, or None if this depends on other runs: then ``finish`` is called."""
        return fate.after_s if self.physics is None else self.physics.begins(job, run, case, fate, finish)

    def at_its_limit(self, job: SimulatedJob) -> None:
        """Schedule the end of a job at its time limit; an earlier end takes precedence."""
        limit = job.case.shape.time_limit_s
        self._later(job, limit, "timeout", None, limit)

    def _later(self, job: SimulatedJob, after: float, state: str, status: int | None, lasts: float) -> None:
        self.clock.at(self.clock.now() + after, self._happens(job, state, status, lasts - after))

    def _happens(
        self, job: SimulatedJob, state: str, status: int | None, left_s: float, node: str = ""
    ) -> Callable[[], bool]:
        """A callback that applies a fate to a job, unless the job ended before. ``left_s``: the work left if its node fails."""
        life = job.incarnation

        def happen() -> bool:
            if job.incarnation != life or job.state != "running":
                return False
            if state == "requeued":
                self._requeue(job)
            elif state == "node_fail":
                self.lose_node(job, left_s, node)
            else:
                self.end(job, state, status)
            return self.local

        return happen

    def end(self, job: SimulatedJob, state: str, status: int | None) -> None:
        now = self.clock.now()
        if not job.void:
            self._stop_executing(job)
        if state in ("completed", "failed") and not self._marks_lost(job):
            job.end_mark = (now, status or 0, now - job.started)
        job.exit_status = status
        job.incarnation += 1
        self._free(job)
        self.becomes(job, state)
        self._let_on(job)
        self.look_at(self.rooms[job.pool])

    def _marks_lost(self, job: SimulatedJob) -> bool:
        return self.chance(self.lies.marks_lost, "marks", job.name, job.restart)

    def _stop_executing(self, job: SimulatedJob) -> None:
        for restart, run in [key for key in job.live if key[0] == job.restart]:
            self.over(job, restart, run)

    def _free(self, job: SimulatedJob) -> None:
        self.rooms[job.pool].pool.release(job.ticket)
        del self.by_ticket[job.ticket]
        job.ticket = 0

    def _let_on(self, job: SimulatedJob) -> None:
        """Queue the jobs that waited for the end of this job."""
        for successor in self._successors.pop(job.id, []):
            self.enter(successor)

    def _requeue(self, job: SimulatedJob) -> None:
        self._stop_executing(job)
        self._free(job)
        job.restart += 1
        job.incarnation += 1
        job.end_mark = None
        self.becomes(job, "queued")
        self.look_at(self.rooms[job.pool])
        self.enter(job)

    def lose_node(self, job: SimulatedJob, left_s: float, node: str = "", repair_s: float | None = None) -> None:
        """End a job with NODE_FAIL at once; its processes may continue and write their mark at their end."""
        down_s = self.fates.repair_s if repair_s is None else repair_s
        alive = not job.order.parts and self.chance(self.lies.alive_after_node_fail, "alive", job.name, job.restart)
        room = self.rooms[job.pool]
        job.failed_nodes = (node,) if node else ()
        job.incarnation += 1
        self._free(job)
        if node and down_s:
            take_down(self, room, room.number[node], down_s)
        self.becomes(job, "node_fail")
        if not alive:
            self._stop_executing(job)
        else:
            self._finish_alone(job, left_s)
        self._let_on(job)
        self.look_at(room)

    def _finish_alone(self, job: SimulatedJob, left_s: float) -> None:
        """Let the processes of a lost job finish; at the time limit their node ends them, and they write no mark."""
        started, restart, run = job.started, job.restart, job.order.run
        limit_s = job.case.shape.time_limit_s - (self.clock.now() - started)
        ends_itself, left_s = left_s <= limit_s, min(left_s, limit_s)

        def finish() -> bool:
            self.over(job, restart, run)
            if ends_itself:
                job.end_mark = (self.clock.now(), 0, self.clock.now() - started)
            assert job.restart == restart
            self.noticed(job)
            return False

        self.clock.at(self.clock.now() + max(0.0, left_s), finish)

    def conductor_died(self) -> None:
        """On a local machine, end running jobs and forget queued ones, because no job outlives the conductor."""
        if not self.local:
            return
        for jobs in self.jobs.values():
            for job in jobs:
                if job.state == "running":
                    self._stop_executing(job)
                    self._free(job)
                    job.incarnation += 1
                    self.becomes(job, "interrupted")
                elif job.state == "queued":
                    self._leave_queue(job)
                    job.void = True
                    self.becomes(job, "gone")
