"""The simulated machine as it is, and beside it a count of how often each of its switches changed something.

A lie counts where an answer is not what a scheduler that tells the truth at once would have said; a fate where it came true.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from shakedown.model.ports import Evidence, JobOrder, JobReport, JobView, ReleaseOrder, SubmitAnswer, Survey, Wanted
from shakedown.twin import SimulatedBuilder, SimulatedCollector, SimulatedScheduler, World
from shakedown.twin.machine.jobs import IN_QUEUE, SimulatedJob


class CountedScheduler(SimulatedScheduler):
    """One driver's view, as it is; ``seen`` counts its lies."""

    seen: Counter[str]

    def _submit(self, order: JobOrder) -> SubmitAnswer:
        known, answer = order.job in self.world.jobs, super()._submit(order)
        if answer.outcome == "refused":
            away = "away" if "is away" in answer.message else "outage"
            self.seen["refused" if "limit" in answer.message else away] += 1
        elif answer.outcome == "unknown" and order.job in self.world.jobs and not known:
            self.seen["timed_out"] += 1
        elif answer.outcome == "unknown" and not self._comes_later:
            self.seen["lost_submit"] += 1
        self._comes_later = False
        return answer

    _comes_later = False

    def _accept_later(self, order: JobOrder) -> None:
        self._comes_later = True
        self.seen["late_submit"] += 1
        self.seen["late_s"] += self.world.lies.late_s != 90.0
        super()._accept_later(order)

    def _release(self, order: ReleaseOrder) -> bool:
        lies, taken = self.world.lies, super()._release(order)
        held = any(job.held and job.state == "queued" for job in self.world.jobs.get(order.id, []))
        if not taken:
            self.seen["release_lost" if held and not lies.release_s else "release_unheard"] += 1
        elif held and lies.release_s:
            self.seen["release_s"] += 1
        return taken

    def _about(self, view: JobView, job: SimulatedJob | None) -> JobReport:
        report = super()._about(view, job)
        away = self.world.is_away()
        self.seen["away" if away else "outage"] += report.state == "no_answer"
        return report

    def _from_marks(self, view: JobView, job: SimulatedJob | None) -> JobReport | None:
        found = super()._from_marks(view, job)
        if found is None and job is not None and job.end_mark is not None and not job.void:
            self.seen["marks_late_s"] += 1
        return found

    def _from_queue(self, job: SimulatedJob) -> JobReport | None:
        found = super()._from_queue(job)
        if found is not None and (found.state, found.restart) != (job.state, job.restart):
            self.seen["stale_s"] += 1
        if (
            found is None
            and job.state not in (*IN_QUEUE, "gone")
            and job.history[0][0] <= self.world.clock.now() - self.world.lies.stale_s
        ):
            self.seen["purge_s"] += self.world.lies.purge_s != 300.0
        return found

    def _from_accounting(self, job: SimulatedJob) -> JobReport | None:
        found, lies = super()._from_accounting(job), self.world.lies
        draw = self.world.draw("accounting", job.order.job)
        if found is None and job.state != "gone":
            self.seen["accounting_missing" if draw.random() < lies.accounting_missing else "accounting_late_s"] += 1
        elif found is not None and found.state == "running" and job.state != "running":
            self.seen["runaway"] += 1
        return found

    def survey(self, wanted: Wanted) -> Survey | None:
        found = super().survey(wanted)
        for pool, idle in found.idle.items() if found is not None else ():
            room = self.world.rooms[pool]
            truth = {number for number in range(1, room.pool.count + 1) if room.pool.idle >> (number - 1) & 1}
            self.seen["idle_untrue"] += bool(set(idle) - truth) and self.world.lies.idle_untrue > 0
        if found is not None and any(found.pending.values()):
            self.seen["pending"] += 1
        return found


class CountedWorld(World):
    """The machine as it is; ``seen`` counts what became of runs and nodes."""

    def __init__(self, seen: Counter[str], *what: Any) -> None:
        self.seen = seen
        super().__init__(*what)

    def becomes(self, job: SimulatedJob, state: str) -> None:
        self.seen["away" if self.is_away() else "unstartable"] += state == "refused"
        self.seen["launch_failure"] += state == "node_fail" and job.launch_failure
        super().becomes(job, state)

    def _launch_nothing(self, job: SimulatedJob) -> tuple[str, ...]:
        bad = super()._launch_nothing(job)
        self.seen["launches_nothing"] += bool(bad)
        return bad

    def _marks_lost(self, job: SimulatedJob) -> bool:
        lost = super()._marks_lost(job)
        self.seen["marks_lost"] += lost
        return lost

    def _finish_alone(self, job: SimulatedJob, left_s: float) -> None:
        self.seen["alive_after_node_fail"] += left_s > 0
        super()._finish_alone(job, left_s)

    def _requeue(self, job: SimulatedJob) -> None:
        self.seen["requeued"] += 1
        super()._requeue(job)

    def end(self, job: SimulatedJob, state: str, status: int | None) -> None:
        for name in ("failed", "timeout"):
            self.seen[name] += state == name and not job.void
        slow = self.fates.slow_nodes
        self.seen["slow_nodes"] += any(node in slow for node in self.rooms[job.pool].named(job.nodes)) if slow else 0
        super().end(job, state, status)

    def lose_node(self, job: SimulatedJob, left_s: float, node: str = "", repair_s: float | None = None) -> None:
        self.seen["node_fail"] += 1
        self.seen["repair_s"] += repair_s is None and self.fates.repair_s > 0 and bool(node)
        self.seen["deaths"] += repair_s is not None
        super().lose_node(job, left_s, node, repair_s)

    def chance(self, share: float, *what: object) -> bool:
        found = super().chance(share, *what)
        if found and what[0] == "marks" and len(what) == 3 and isinstance(what[2], str):
            self.seen["marks_lost"] += 1
        return found

    def draw(self, *what: object) -> Any:
        found = super().draw(*what)
        if what[0] == "bad" and self.fates.bad_nodes.get(str(what[1]), 0.0) > super().draw(*what).random():
            self.seen["bad_nodes"] += 1
            self.seen["bad_as"] += self.fates.bad_as == "node_fail"
        return found

    def _begin(self, room: Any, ticket: int, nodes: int) -> None:
        self.seen["busy"] += ticket in self.theirs
        super()._begin(room, ticket, nodes)


class CountedBuilder(SimulatedBuilder):
    seen: Counter[str]

    def poll(self) -> Sequence[Any]:  # type: ignore[override]
        news = super().poll()
        self.seen["build_failed"] += sum(report.state == "failed" for report in news)
        return news


class CountedCollector(SimulatedCollector):
    seen: Counter[str]

    def _evidence(self, order: Any) -> Evidence:
        evidence = super()._evidence(order)
        self.seen["incorrect"] += any(not check.held for check in evidence.checks)
        return evidence
