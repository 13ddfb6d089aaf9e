"""Jobs of several runs on the simulated machine: lanes take one part after the other, each with its own claim and marks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shakedown.model.ports import Part
from shakedown.twin.machine.jobs import PartMarks, SimulatedJob

if TYPE_CHECKING:
    from shakedown.twin.machine.laws import SimulatedMachine


def begin(world: SimulatedMachine, job: SimulatedJob) -> None:
    """Purpose: the job runs: as many parts begin as run side by side, and its time limit does."""
    job.next_part, job.lanes = 0, 0
    world.at_its_limit(job)
    for _ in range(max(1, job.order.at_once)):
        if job.state == "running":
            _next(world, job)


def _next(world: SimulatedMachine, job: SimulatedJob) -> None:
    """A lane takes the first part that nobody claimed; the job is over when all lanes are out of work."""
    while job.next_part < len(job.order.parts):
        part = job.order.parts[job.next_part]
        job.next_part += 1
        claim = (job.name, part.run)
        if claim not in world.claims:
            world.claims.add(claim)
            job.lanes += 1
            _run(world, job, part)
            return
    if job.lanes == 0 and job.state == "running":
        world.end(job, "completed", 0)


def _run(world: SimulatedMachine, job: SimulatedJob, part: Part) -> None:
    """One part: its own fate. Its own time limit ends it, and the others go on; where its node fails, so does the job."""
    job.marks[part.run] = PartMarks(world.clock.now())
    world.execute(job, part.run, part.case.id, part=True)
    fate = world.fate(job, part.run, part.case, (part.run,))
    world.noticed(job)
    life = job.incarnation

    def happen() -> bool:
        if job.incarnation != life or job.state != "running":
            return False
        if fate.state == "node_fail":
            world.lose_node(job, 0.0, fate.node)
        else:
            _over(world, job, part.run, fate.status or 0)
        return world.local

    after = world.begins(job, part.run, part.case, fate, happen)
    limit = part.case.shape.time_limit_s

    def too_late() -> bool:
        if job.incarnation == life and job.state == "running" and (job.restart, part.run) in job.live:
            _over(world, job, part.run, 0, timed_out=True)
        return world.local

    if fate.state != "timeout" and after is not None and after <= limit:
        world.clock.at(world.clock.now() + after, happen)
    elif limit:
        world.clock.at(world.clock.now() + limit, too_late)


def _over(world: SimulatedMachine, job: SimulatedJob, run: str, status: int, timed_out: bool = False) -> None:
    marks, now = job.marks[run], world.clock.now()
    world.over(job, job.restart, run)
    if not world.chance(world.lies.marks_lost, "marks", job.name, run):
        marks.ended, marks.status, marks.elapsed, marks.timed_out = now, status, now - marks.began, timed_out
    job.lanes -= 1
    world.noticed(job)
    _next(world, job)
