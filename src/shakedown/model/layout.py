"""Where things lie: every path inside a site directory and a campaign directory, said once.

A campaign directory can be moved: nothing inside it holds its own absolute path.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

RUNS_PER_DIRECTORY = 1000
_OF_A_JOB = re.compile(r"outputs/[0-9]+/([a-z]+[0-9]+)\.([0-9]+)\.out")
_OF_A_PART = re.compile(r"outputs/[0-9]+/([a-z]+[0-9]+)\.0/([a-z]+[0-9]+)\.out")


@dataclass(frozen=True, slots=True)
class Layout:
    """The paths of one campaign. ``root`` is ``campaigns/<id>``."""

    root: Path

    @property
    def log(self) -> Path:
        return self.root / "log"

    @property
    def documents(self) -> Path:
        return self.root / "documents"

    def document(self, digest: str) -> Path:
        return self.documents / f"{digest}.json"

    @property
    def packs(self) -> Path:
        return self.root / "packs"

    @property
    def outputs(self) -> Path:
        return self.root / "outputs"

    def output(self, run: str) -> Path:
        """Where a run's output goes once it is too large for a pack."""
        return self.outputs / shard(run) / f"{run}.out"

    @property
    def claims(self) -> Path:
        return self.root / "claims"

    def claim(self, job: str, restart: int = 0) -> Path:
        return self.claims / shard(job) / f"{job}.claim.{restart}"

    @property
    def work(self) -> Path:
        return self.root / "work"

    def work_directory(self, run: str) -> Path:
        return self.work / shard(run) / run

    def gathered(self, run: str) -> Path:
        """Where the input files of a run are gathered that take their time, before its job is submitted."""
        return self.work / shard(run) / f".{run}"

    # ---- jobs of a cluster: each restart has its own claim, marks, work directory and output ----

    @property
    def jobs(self) -> Path:
        return self.root / "jobs"

    def job(self, job: str) -> Path:
        """What the conductor and a job's script tell each other: claims, marks, the script, what Slurm itself writes."""
        return self.jobs / shard(job) / job

    def job_work(self, job: str, restart: int) -> Path:
        return self.work / shard(job) / f"{job}.{restart}"

    def job_output(self, job: str, restart: int) -> Path:
        return self.outputs / shard(job) / f"{job}.{restart}.out"

    # ---- of a job of several runs, each of them, by its run: all in directories of the job's own ----

    def part_marks(self, job: str) -> Path:
        return self.job(job) / "parts"

    def part_mark(self, job: str, run: str) -> Path:
        """Claim, begin mark and end mark of a part, in one file."""
        return self.part_marks(job) / run

    def part_ends(self, job: str, restart: int) -> Path:
        """What the script of a job of several runs saw of their ends: a line for each, of one start of the job."""
        return self.job(job) / f"ends.{restart}"

    def part_work(self, job: str, run: str) -> Path:
        return self.job_work(job, 0) / run

    def part_outputs(self, job: str) -> Path:
        return self.outputs / shard(job) / f"{job}.0"

    def part_output(self, job: str, run: str) -> Path:
        return self.part_outputs(job) / f"{run}.out"

    def marks_of(self, output: str) -> tuple[Path, ...]:
        """Where a cluster's job, or a part of one, says how it began and ended. Empty for runs of this machine's own.

        ``output``: the path of its output inside the campaign, as the record has it.
        """
        whole, part = _OF_A_JOB.fullmatch(output), _OF_A_PART.fullmatch(output)
        if whole is not None:
            control = self.job(whole[1])
            return (control / f"claim.{whole[2]}", control / f"marks.{whole[2]}")
        return (self.part_mark(part[1], part[2]),) if part is not None else ()

    @property
    def payloads(self) -> Path:
        return self.root / "payloads"

    def payload(self, digest: str) -> Path:
        """What the jobs of a case do, kept once by its hash."""
        return self.payloads / f"{digest}.sh"

    @property
    def token(self) -> Path:
        """The word by which a scheduler's jobs are known as this campaign's."""
        return self.root / "token"

    @property
    def builds(self) -> Path:
        return self.root / "builds"

    def build(self, key: str) -> Path:
        return self.builds / key

    @property
    def inbox(self) -> Path:
        return self.root / "inbox"

    @property
    def evidence(self) -> Path:
        """Files that people brought with what they attested, each named by its digest."""
        return self.root / "evidence"

    @property
    def probes(self) -> Path:
        """What a cluster's nodes leave while their fingerprints are taken; nothing is left of it afterwards."""
        return self.root / "probes"

    @property
    def lease(self) -> Path:
        return self.root / "lease"

    @property
    def let_go(self) -> Path:
        """Which jobs of this machine were let go past their gate: a second word beside their claims."""
        return self.lease / "let-go"

    @property
    def talk(self) -> Path:
        """What a conductor in the background has to say."""
        return self.root / "driver.log"

    @property
    def report(self) -> Path:
        return self.root / "report.html"

    @property
    def figures(self) -> Path:
        return self.root / "report"


def shard(identifier: str) -> str:
    """The directory an id lies in: ids end in a number, a thousand of them share a directory."""
    digits = identifier.lstrip("abcdefghijklmnopqrstuvwxyz")
    return f"{int(digits) // RUNS_PER_DIRECTORY:03d}" if digits.isdigit() else "000"
