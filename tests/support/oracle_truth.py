"""What really happens on the machine, held against the log at every start and every event; and at the end, second for second."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from oracle_modes import need

from shakedown import __version__
from shakedown.metrics.rows.rows import RunRow
from shakedown.model.events import Event
from shakedown.twin.machine.jobs import Execution

ASKED_AGAIN_S = 120.0  # a release that the scheduler did not take is asked for again much sooner
CLOSE_S = 1e-5  # times in the log are rounded


class TruthRules:
    """Sees every event, and every payload as it begins. ``campaign`` is asked for its world and its log's durable lines."""

    def __init__(self, campaign: Any) -> None:
        self.campaign = campaign
        self.ordered: dict[str, str] = {}  # job -> its first run
        self.excluded: set[str] = set()
        self.shunned: dict[str, frozenset[str]] = {}  # job -> nodes excluded when that was last said
        self.over: set[tuple[str, str]] = set()  # (job, run) that a verdict closed for good: nothing of it is alive
        self.taken: set[tuple[str, str]] = set()  # (job, run) that was to begin nevermore; run "": the whole job
        self.held: set[str] = set()
        self.held_queues: set[str] = set()  # pools in which nothing is let go but what probes
        self.let_go: dict[str, float] = {}  # job -> when it was last asked for that it is
        self.unwanted: set[str] = set()  # jobs that were started again although nobody wanted it
        self.lost: set[str] = set()  # jobs of which nobody could tell anything until the deadline
        self.seen: dict[str, int] = {}  # job -> the last start of it that any source told of
        self.burnt: dict[str, set[str]] = {}  # pool -> jobs whose attempts were spent while the directory was away

    def amend(self, document: Any) -> None:
        """What really runs does not ask for plans."""

    def see(self, event: Event) -> None:
        handler = getattr(self, f"_{event.event}", None)
        if handler is not None:
            handler(event)

    def _submit_order(self, event: Event) -> None:
        self.ordered.setdefault(event.job, event.run)
        self.shunned.setdefault(event.job, frozenset(self.excluded))
        if event.value.get("held"):
            self.held.add(event.job)

    def _release_order(self, event: Event) -> None:
        """One that says what its job avoids tells the scheduler anew which nodes the job must not have."""
        if "avoids" in event.value and event.job in self.shunned:
            self.shunned[event.job] = frozenset(self.excluded)
        self.held.discard(event.job)
        self.let_go[event.job] = event.time

    def _excluded(self, event: Event) -> None:
        self.excluded |= set(event.value["nodes"])

    def _included(self, event: Event) -> None:
        self.excluded -= set(event.value["nodes"])

    def _finding(self, event: Event) -> None:
        kind = event.value.get("kind")
        if kind == "unwanted_restart":
            self.unwanted.add(event.job)
        elif kind == "queue_held":
            self.held_queues.add(event.value["pool"])
        elif kind == "queue_released":
            self.held_queues.discard(event.value["pool"])

    def _hold_order(self, event: Event) -> None:
        self.let_go.pop(event.job, None)

    def _job_report(self, event: Event) -> None:
        if event.value["state"] not in ("absent", "no_answer", "unknown"):
            start = event.value.get("restart", 0)
            self.seen[event.job] = max(start, self.seen.get(event.job, 0))

    def was_unseen(self, execution: Execution) -> bool:
        """A start of a lost job that no source ever told of: nobody can tell of it."""
        return execution.job in self.lost and execution.restart > self.seen.get(execution.job, 0)

    def _verdict(self, event: Event) -> None:
        """What came to its own end and said so in time was not cut off: marks that are late are waited for.

        What is said not to have been launched never ran, and what was not launched is said to be so.
        """
        world, policy = self.campaign.world, self.campaign.policy
        if event.value["verdict"] == "lost":
            self.lost.add(event.job)
        self._burns(event)
        self._launched(event)
        jobs = world.jobs.get(event.job, [])
        marks = jobs[-1].marks.get(event.run) if jobs else None
        if event.value["verdict"] != "interrupted" or marks is None or marks.ended is None or policy is None:
            return
        in_time = world.lies.marks_late_s + 2 * self.campaign.poll_s < policy.grace_s
        need(not in_time or jobs[-1].state != "completed", f"{event.run} is interrupted although it came to its end")

    def _burns(self, event: Event) -> None:
        """A few jobs are judged before anybody sees that all fare alike: no more spend an attempt."""
        world = self.campaign.world
        jobs = world.jobs.get(event.job, [])
        if event.value["verdict"] != "submit_failed" or not jobs:
            return
        when = jobs[-1].history[-1][0] - world.began
        if any(since <= when < since + lasts for since, lasts in world.lies.away):
            burnt = self.burnt.setdefault(jobs[-1].pool, set())
            burnt.add(event.job)
            need(len(burnt) <= 2, f"{event.run} spends an attempt while nothing can start")

    def _launched(self, event: Event) -> None:
        world, said = self.campaign.world, bool(event.value.get("launch_failure"))
        failed = any(job.launch_failure for job in world.jobs.get(event.job, []))
        ran = any((one.job, one.run) == (event.job, event.run) for one in world.executions)
        need(
            not said or (failed and not ran), f"{event.run} of {event.job} was launched, and is judged not to have been"
        )
        need(
            said or not failed or event.value["verdict"] != "node_fail",
            f"{event.run} was not launched, and nobody says so",
        )

    def _claim_taken(self, event: Event) -> None:
        self.taken.add((event.job, event.run if event.value.get("part") else ""))

    _returned = _claim_taken

    # ---- the machine -----------------------------------------------------------------------------------------------------

    def begins(self, execution: Execution) -> None:
        """A payload begins: it has an order, none but it claims its run, its nodes are its own and not excluded."""
        world, job, run = self.campaign.world, execution.job, execution.run
        need(job in self.ordered, f"{job} runs and was never ordered")
        claims = [one for one in world.executions if (one.job, one.restart, one.run) == (job, execution.restart, run)]
        need(len(claims) == 1, f"{run} of {job} is executed {len(claims)} times")
        gone = {(job, ""), (job, run)} & self.taken
        need(not gone or execution.restart > 0, f"{job} ran although its claim was taken")
        need(job not in self.held, f"{job} is held and runs before its release was ordered")
        if world.local:
            return
        self._on_its_nodes(execution)

    def at_rest(self, now: float) -> None:
        """What was to be let go is, or is asked for again."""
        world = self.campaign.world
        for job, since in list(self.let_go.items()):
            if self.held_queues & {one.pool for one in world.jobs.get(job, [])}:
                self.let_go[job] = now  # asked for again when its queue goes on
            elif now > since + world.lies.release_s + ASKED_AGAIN_S:
                del self.let_go[job]
                held = [one for one in world.jobs.get(job, []) if one.held and one.state == "queued"]
                need(not held, f"{job} was to be let go, and the scheduler holds it")

    def _on_its_nodes(self, execution: Execution) -> None:
        world, job = self.campaign.world, execution.job
        mine = world.jobs[job][-1]
        room = world.rooms[mine.pool]
        names = set(room.named(execution.nodes))
        wrong = names & self.shunned.get(job, frozenset())
        need(not wrong, f"{job} has {sorted(wrong)}, excluded before it was ordered")
        for other in world.live.values():
            theirs = world.jobs[other.job][-1]
            if other.job != job and theirs.pool == mine.pool and theirs.state == "running":
                need(not other.nodes & execution.nodes, f"{job} and {other.job} have the same nodes")

    # ---- at the end --------------------------------------------------------------------------------------------------------

    def jobs_one_to_one(self, ended: bool) -> None:
        """The scheduler's jobs with our names are the log's, each once; what it never got was certainly not taken, or claimed."""
        world = self.campaign.world
        for name, jobs in world.jobs.items():
            need(name in self.ordered, f"the scheduler has {name}, which the log does not know")
            need(len(jobs) == 1, f"the scheduler has {len(jobs)} jobs named {name}")
            alive = [job for job in jobs if job.state in ("queued", "running") and not job.void]
            need(
                not alive or not ended or (name, "") in self.taken,
                f"the campaign is over and {name} is {jobs[0].state}",
            )

    def node_seconds(self, rows: list[RunRow]) -> None:
        """What the log says how long runs took, where they said it themselves, is how long they really took."""
        really: dict[str, list[Execution]] = {}
        for execution in self.campaign.world.executions:
            really.setdefault(f"{execution.job}.{execution.run}" if execution.part else execution.job, []).append(
                execution
            )
        logged = truth = 0.0
        for row in rows:
            found = really.get(f"{row.job}.{row.run}") or really.get(row.job, [])
            if (
                row.elapsed_s is None
                or not found
                or row.verdict not in ("passed", "incorrect", "performance", "failed")
            ):
                continue
            mine = min(found, key=lambda one: abs((one.end or 0.0) - one.start - (row.elapsed_s or 0.0)))
            need(mine.end is not None, f"{row.run} is {row.verdict} and still runs")
            units = self.campaign.oracle.loads.cases[row.case].shape.units
            logged, truth = logged + units * row.elapsed_s, truth + units * ((mine.end or 0.0) - mine.start)
            need(
                abs(row.elapsed_s - ((mine.end or 0.0) - mine.start)) < CLOSE_S,
                f"{row.run} took {row.elapsed_s} s by the log",
            )
        need(
            abs(logged - truth) <= CLOSE_S * max(1.0, len(rows)) * 10,
            f"{logged} node-seconds by the log, {truth} really",
        )


_UUID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def nothing_of_this_process(log: bytes) -> None:
    """No process number, path, host, user or version is in a log of the twin."""
    strange = [str(Path.cwd()) + "/", os.uname().nodename, f'"{__version__}"', f"{os.getpid()}:", "/tmp", "/home"]
    for word in (word for word in strange if word.strip("/")):
        need(word.encode() not in log, f"'{word}' is in the log")
    need(_UUID.search(log) is None, "a uuid is in the log")
