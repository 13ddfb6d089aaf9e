"""Slurm's commands, answered from what a test put down, with real job directories: what one look makes of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from shakedown.model.layout import Layout
from shakedown.model.nouns import Cluster, Partition
from shakedown.model.ports import JobReport
from shakedown.schedulers.cluster.job_places import JobPlaces, job_label
from shakedown.schedulers.slurm.job_evidence import Asked
from shakedown.schedulers.slurm.poller import Asker
from shakedown.schedulers.slurm.runner import Ran
from shakedown.schedulers.slurm.versions import ACCOUNT_FIELDS, QUEUE_FIELDS, SEPARATOR

TOKEN = "0a1b2c3d"
DOWN = Ran(1, error="slurm_load_jobs error: Unable to contact slurm controller (connect failure)")
NO_DATABASE = Ran(1, error="sacct: error: Problem talking to the database: Connection refused")
NO_ACCOUNTING = Ran(1, error="Slurm accounting storage is disabled")


@dataclass
class FakeSlurm:
    """A controller and an accounting in a dictionary. ``queue``, ``memory``: lines by cluster, or an answer."""

    queue: dict[str, list[str] | Ran] = field(default_factory=lambda: {"": []})
    memory: dict[str, list[str] | Ran] = field(default_factory=lambda: {"": []})
    answers: dict[str, Ran] = field(default_factory=dict)
    asked: list[list[str]] = field(default_factory=list)
    calls: Counter[str] = field(default_factory=Counter)

    def __call__(self, command: Sequence[str], timeout_s: float) -> Ran:
        self.asked.append(list(command))
        self.calls[command[0]] += 1
        where = next((w.removeprefix("--clusters=") for w in command if w.startswith("--clusters=")), "")
        if command[0] == "squeue":
            return _printed(self.queue.get(where, []))
        if command[0] == "sacct":
            return _printed(self._memory(where, command))
        return self.answers.get(command[0], Ran(0))

    def take_calls(self) -> dict[str, int]:
        calls, self.calls = dict(self.calls), Counter()
        return calls

    def count(self, name: str) -> int:
        return sum(command[0] == name for command in self.asked)

    def _memory(self, where: str, command: Sequence[str]) -> list[str] | Ran:
        """As sacct does: only the jobs that were asked about."""
        memory = self.memory.get(where, [])
        if isinstance(memory, Ran):
            return memory
        ids = next((w.removeprefix("--jobs=").split(",") for w in command if w.startswith("--jobs=")), None)
        names = next((w.removeprefix("--name=").split(",") for w in command if w.startswith("--name=")), None)
        cells = [line.split(SEPARATOR) for line in memory]
        return [SEPARATOR.join(c) for c in cells if (ids is None or c[0] in ids) and (names is None or c[1] in names)]


def _printed(answer: list[str] | Ran) -> Ran:
    return answer if isinstance(answer, Ran) else Ran(0, "".join(f"{line}\n" for line in answer))


def row(job: str = "j000001", id: str = "7", state: str = "RUNNING", **cells: object) -> str:
    """A line of squeue for one of our jobs; ``name`` for somebody else's."""
    value = {"id": id, "name": job_label(TOKEN, job), "state": state, "restart": "0", "exit": "0"} | cells
    return SEPARATOR.join(str(value.get(name, "")) for name, _ in QUEUE_FIELDS) + SEPARATOR


def record(job: str = "j000001", id: str = "7", state: str = "COMPLETED", **cells: object) -> str:
    """A line of sacct."""
    value = {"JobID": id, "JobName": job_label(TOKEN, job), "State": state, "ExitCode": "0:0"} | cells
    return SEPARATOR.join(str(value.get(name, "")) for name in ACCOUNT_FIELDS)


def cluster(name: str = "emu", **fields: object) -> Cluster:
    return Cluster(name, "slurm", (Partition("batch", name, "n[001-004]", 4, "node"),), **fields)  # type: ignore[arg-type]


@dataclass
class Looker:
    """An Asker whose clock the test holds, and its job directories."""

    root: Path
    slurm: FakeSlurm = field(default_factory=FakeSlurm)
    clusters: tuple[Cluster, ...] = (cluster(),)
    now: float = 1000.0

    def __post_init__(self) -> None:
        self.places = JobPlaces(Layout(self.root))
        self.asker = Asker(Layout(self.root), TOKEN, self.clusters, self.slurm, 20.0, lambda: self.now)

    def look(self, *jobs: Asked, after: float = 0.0) -> dict[str, JobReport]:
        """The reports of one look, some seconds after the last one."""
        self.now += after
        reports: dict[str, JobReport] = {}
        self.asker.look(jobs, lambda part: reports.update({report.job: report for report in part}))
        return reports

    def settle(self, *jobs: Asked) -> dict[str, JobReport]:
        """The reports once every source has had the time that it is given."""
        self.look(*jobs)
        return self.look(*jobs, after=11.0)

    def one(self, job: Asked, settled: bool = True) -> JobReport | None:
        return (self.settle(job) if settled else self.look(job)).get(job.id)

    def begin(self, job: str = "j000001", restart: int = 0, id: str = "7", nodes: str = "n001") -> None:
        """The job took its claim."""
        self._write(self.places.claim(job, restart), f"job={id} host=n001 uptime=100.00 pid=9 nodes={nodes} .\n")

    def end(
        self, status: int | None = 0, job: str = "j000001", restart: int = 0, told: str = "", trouble: str = ""
    ) -> None:
        """It came to its own end, or was told to end, or could not do its work."""
        words = f"trouble={trouble}" if trouble else f"began=100.00 ended=102.50 status={status} told={told}"
        self._write(self.places.marks(job, restart), f"{words} .\n")

    def slurm_says(self, text: str, job: str = "j000001") -> None:
        self._write(self.places.slurm_output(job), text)

    def _write(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
