"""Builds in jobs of their own, for clusters whose login node must not or cannot compile for their nodes.

A build's job is like that of a run: it has its own directory, claim and marks, and is found again by its name after a crash. Each
attempt at a build is another job, named ``b<digits of the key><attempt>``, and builds in ``<key>.tmp-<job>``. A complete build is
renamed to ``<key>``, as ``LocalBuilder`` does it.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import Struct

from shakedown.builds.builder import has_no_room
from shakedown.builds.sharing import SharedScheduler
from shakedown.builds.telling import why_it_failed
from shakedown.model.layout import Layout
from shakedown.model.nouns import Build, Case, Patience, Shape, System
from shakedown.model.ports import BuildReport, Clock, JobOrder, JobReport, SubmitAnswer

_MOST_ATTEMPTS = 99  # two digits of a job's name
_SILENT = frozenset({"absent", "no_answer", "unknown"})


class BuildJob(Struct):
    """A build's job, as a scheduler's JobView. ``run``: only for people to read."""

    id: str
    run: str
    scheduler_id: str = ""
    restart: int = 0
    ordered: float = 0.0  # when, for searches in accounting; seconds since 1970
    parts: tuple[str, ...] = ()  # a build is one thing


@dataclass(slots=True, eq=False)
class _Building:
    """A build under way. ``silence``: what was last reported of its job, if no source knows it; else ""."""

    build: Build
    attempt: int
    job: BuildJob
    place: Path
    silence: str = ""
    silent_since: float = 0.0
    claimed: bool = False  # by its job, as far as we know
    told: bool = False  # that it started


@dataclass(slots=True)
class JobBuilder:
    """The Builder port for builds with ``where: job``. It uses the scheduler of the runs, in the looks that this takes anyway."""

    layout: Layout
    system: System
    scheduler: SharedScheduler
    clock: Clock
    _building: dict[str, _Building] = field(default_factory=dict)  # by job id
    _over: dict[str, int] = field(default_factory=dict)  # key -> the last attempt that came to nothing
    _news: list[BuildReport] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.layout = Layout(self.layout.root.absolute())

    def start(self, builds: Sequence[Build]) -> None:
        """Submit a job for each build, unless it is complete, or a job of an earlier driver is building it."""
        for build in builds:
            if self.layout.build(build.key).is_dir():
                self._say(build, "done", "it was built before")
            elif not any(building.build.key == build.key for building in self._building.values()):
                self._start(build)

    def poll(self) -> Sequence[BuildReport]:
        """What changed since the last poll."""
        if self._building:
            for report in self.scheduler.reports_of_builds(self._views(), self.clock.now()):
                building = self._building.get(report.job)
                if building is not None:
                    self._hear(building, report)
            for building in [silent for silent in self._building.values() if silent.silence]:
                self._lose_patience(building)
            self.scheduler.builds = self._views()
        news, self._news = self._news, []
        return news

    # ---- starting ----

    def _start(self, build: Build) -> None:
        """Begin another attempt; or follow the one that an earlier driver began, about which the scheduler is asked first."""
        try:
            self.layout.builds.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            self._say(build, "failed", f"it cannot be started: {self.layout.builds}: {error.strerror}", transient=True)
            return
        attempt = self._newest_attempt(build.key)
        if attempt > self._over.get(build.key, 0):
            self._watch(build, attempt)
        elif attempt < _MOST_ATTEMPTS:
            self._submit(self._watch(build, attempt + 1))
        else:
            self._say(build, "failed", f"it came to nothing in {attempt} jobs")

    def _watch(self, build: Build, attempt: int) -> _Building:
        job = job_id(build.key, attempt)
        place = self.layout.builds / f"{build.key}.tmp-{job}"
        building = self._building[job] = _Building(build, attempt, self._job(job, build), place)
        self.scheduler.builds = self._views()
        return building

    def _job(self, job: str, build: Build) -> BuildJob:
        ordered = self.clock.now()
        with suppress(OSError):  # a former driver's
            ordered = self.layout.job(job).stat().st_mtime
        return BuildJob(job, f"build {build.name}", ordered=ordered)

    def _newest_attempt(self, key: str) -> int:
        """The number of the last job that may have been submitted: its directory is made before that."""
        attempt = self._over.get(key, 0)
        while attempt < _MOST_ATTEMPTS and self.layout.job(job_id(key, attempt + 1)).is_dir():
            attempt += 1
        return attempt

    def _submit(self, building: _Building) -> None:
        case = _as_case(building, self._stale(building), self._log(building.build))
        # the directory tells the next driver that a job by this name may exist, and it survives a crash from here on
        with suppress(OSError):
            _make_durable(self.layout.job(building.job.id))
        (answer,) = self.scheduler.submit([JobOrder(building.job.id, building.job.run, case)])
        self._answered(building, answer)

    def _answered(self, building: _Building, answer: SubmitAnswer) -> None:
        if answer.outcome == "accepted":
            building.job.scheduler_id = answer.scheduler_id
            self._started(building)
        elif answer.outcome == "refused":
            self._close(building, f"its job was refused: {answer.message}", transient=answer.transient)
        else:
            self._silence(building, "unknown")

    def _stale(self, building: _Building) -> list[Path]:
        return sorted(self.layout.builds.glob(f"{building.build.key}.tmp-*"))

    # ---- hearing of its job ----

    def _hear(self, building: _Building, report: JobReport) -> None:
        building.job.scheduler_id = report.scheduler_id or building.job.scheduler_id
        if report.state in _SILENT:
            self._silence(building, report.state)
            return
        building.silence = ""
        if report.state in ("queued", "running", "requeued"):
            self._started(building)
        elif report.state == "completed":
            self._completed(building, report)
        else:
            self._failed(building, report)

    def _completed(self, building: _Building, report: JobReport) -> None:
        try:
            building.place.rename(self.layout.build(building.build.key))
        except OSError as error:
            why = f"it was built, but cannot be put in its place: {error.strerror}"
            self._close(building, why, transient=True, elapsed_s=report.elapsed_s)
            return
        self._close(building, "", elapsed_s=report.elapsed_s)

    def _failed(self, building: _Building, report: JobReport) -> None:
        build, job, words = building.build, _named(building.job), report.message
        why, transient = f"{job} ended as {report.state}", True
        if report.state == "failed":
            why = why_it_failed(report.exit_status, self._log(build))
            transient, words = has_no_room(self.layout), ""
        elif report.state == "timeout":
            why, transient = f"{job} was ended at its time limit of {build.time_limit_s:g} s", False
        elif report.state == "cancelled":
            why, transient = f"{job} was cancelled", False
        elif report.state == "node_fail":
            why = f"the node of {job} failed"
        elif report.state == "refused":
            why = f"{job} never ran"
        self._close(building, f"{why}: {words}" if words else why, transient, report.elapsed_s)

    def _silence(self, building: _Building, state: str) -> None:
        if not building.silence:
            building.silent_since = self.clock.now()
        building.silence = state

    def _lose_patience(self, building: _Building) -> None:
        """No source knows the job. It is tried again once it can never run, or has been unknown for long."""
        silent_s, patience = self.clock.now() - building.silent_since, self._patience(building.build)
        absent = building.silence == "absent"
        if absent and silent_s >= patience.grace_s and self._can_never_run(building):
            self._close(building, f"{_named(building.job)} vanished before it ran", transient=True)
        elif silent_s >= (patience.lost_after_s if absent else patience.no_answer_s):
            self._close(building, f"{_named(building.job)} was lost: nobody knew of it for {silent_s:.0f} s", True)

    def _can_never_run(self, building: _Building) -> bool:
        """Whether we have its claim, so that it can never run. A claim that the job has stays taken, so it is only
        asked for once.
        """
        if building.claimed:
            return False
        building.claimed = not self.scheduler.take_claim(building.job)
        return not building.claimed

    def _patience(self, build: Build) -> Patience:
        name = build.partition.partition(":")[0]
        return next((cluster.patience for cluster in self.system.clusters if cluster.name == name), Patience())

    # ---- telling ----

    def _started(self, building: _Building) -> None:
        if not building.told:
            building.told = True
            self._news.append(BuildReport(building.build.key, "started", identity=_named(building.job)))

    def _close(self, building: _Building, why: str, transient: bool = False, elapsed_s: float | None = None) -> None:
        del self._building[building.job.id]
        self.scheduler.builds = self._views()
        if why:
            self._over[building.build.key] = building.attempt
        with suppress(OSError):  # nothing is built in the job's own directory
            self.layout.job_work(building.job.id, 0).rmdir()
        self._say(building.build, "failed" if why else "done", why, elapsed_s, transient)

    def _say(
        self, build: Build, state: str, message: str, elapsed_s: float | None = None, transient: bool = False
    ) -> None:
        log = str(self._log(build).relative_to(self.layout.root))
        ended: BuildReport = BuildReport(build.key, "done", message, log, elapsed_s)
        if state == "failed":
            ended = BuildReport(build.key, "failed", message, log, elapsed_s, "", transient)
        self._news.append(ended)

    def _log(self, build: Build) -> Path:
        return self.layout.builds / f"{build.key}.log"

    def _views(self) -> Mapping[str, BuildJob]:
        return {building.job.id: building.job for building in self._building.values()}


def job_id(key: str, attempt: int) -> str:
    """Purpose: our id of the job for one attempt at a build: letters and then digits, as for all our jobs."""
    return f"b{int(key[:12], 16) % 10**13:013d}{attempt:02d}"


def _as_case(building: _Building, stale: Sequence[Path], log: Path) -> Case:
    """The build as a case that a job can carry out."""
    build, place = building.build, shlex.quote(str(building.place))
    lines = [f"exec >{shlex.quote(str(log))} 2>&1", "set -e"]
    lines += [f"rm -rf {shlex.quote(str(path))}" for path in stale]
    lines.append(f"mkdir {place}")
    if build.source:
        lines.append(f"cp -a {shlex.quote(build.source)}/. {place}")
    return Case(
        id=building.job.id,
        test=building.job.run,
        partition=build.partition,
        shape=Shape(cpus_per_task=build.cpus, time_limit_s=build.time_limit_s),
        script="\n".join([*lines, f"cd {place}", build.script]),
        environment=build.environment,
    )


def _make_durable(directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    folder = os.open(directory.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _named(job: BuildJob) -> str:
    return f"job {job.scheduler_id}" if job.scheduler_id else f"its job ({job.id})"
