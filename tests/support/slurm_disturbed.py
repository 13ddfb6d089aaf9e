"""A campaign on a cluster whose commands lie, hang or are counted, and which is killed and resumed."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from slurm_campaigns import LIMIT_S, Campaign, Payload
from slurm_cluster import Cluster

from shakedown.model.layout import Layout
from shakedown.schedulers.cluster.job_places import campaign_token, job_label

PATIENCE = "poll: 1s, grace: 5s, lost_after: 20s, no_answer: 10min, dead_after: 5s"
# A payload's first line: it goes on once the test says so (``Disturbed.let_go``).
GATE = "until [ -e {campaign}/../../go ]; do sleep 0.2; done"
NEVER_AGAIN = "node_fail: 0, submit_failed: 0, lost: 0, interrupted: 0"


class Disturbed(Campaign):
    """Nothing is attempted twice unless ``retry`` says so. ``wrap`` puts programs of ours before Slurm's."""

    def __init__(
        self,
        cluster: Cluster,
        site: Path,
        payloads: Iterable[Payload],
        repeats: int = 1,
        retry: str = NEVER_AGAIN,
        patience: str = PATIENCE,
        limits: str = "",
    ) -> None:
        super().__init__(cluster, site, payloads, retry=retry, repeats=repeats, patience=patience)
        self.bin = site / "bin"
        self.bin.mkdir()
        if limits:
            with (site / "plans/p.yaml").open("a") as plan:
                plan.write(f"limits: {{{limits}}}\n")

    def amend_system(self, old: str, new: str) -> None:
        """Put other words into the system file."""
        path = self.site / "systems/emu.yaml"
        text = path.read_text()
        assert old in text, text
        path.write_text(text.replace(old, new))

    def wrap(self, program: str, before: str) -> None:
        """Shell text before one of Slurm's programs: it ends (``exit``), or the real one, ``$REAL``, goes on.

        ``$SITE`` is the site; ``$number`` counts the calls.
        """
        real = shutil.which(program)
        assert real is not None
        calls = self.site / "calls" / program
        calls.mkdir(parents=True, exist_ok=True)
        count = f"number=1\nwhile ! mkdir {calls}/$number 2>/dev/null; do number=$((number + 1)); done\n"
        draft = self.bin / f".{program}"
        draft.write_text(f'#!/bin/sh\nREAL={real} SITE={self.site}\n{count}{before}\nexec $REAL "$@"\n')
        draft.chmod(0o755)
        draft.rename(self.bin / program)

    def calls(self, program: str) -> int:
        """How often a wrapped program was run."""
        return len(list((self.site / "calls" / program).iterdir()))

    def start(self, *words: str, environment: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        return super().start(*words, environment={**self._path(), **(environment or {})})

    def command(self, *words: str, environment: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        return super().command(*words, environment={**self._path(), **(environment or {})})

    def _path(self) -> dict[str, str]:
        return {"PATH": f"{self.bin}:{self.cluster.environment['PATH']}"}

    def kill(self) -> None:
        """``kill -9`` its driver."""
        assert self.driver is not None
        self.driver.kill()
        self.driver.wait()

    def let_go(self) -> None:
        """Payloads that wait at the gate go on."""
        (self.site / "go").touch()

    # ---- what it did ----

    def reports(self, name: str, state: str) -> list[str]:
        """The messages of the reports of a test's jobs in this state."""
        ours = {event.job for event in self.events("submit_order") if self.name(event) == name}
        return [e.reason for e in self.events("job_report") if e.job in ours and e.value.get("state") == state]

    def labels(self) -> list[str]:
        """The names at Slurm of all jobs that were accepted."""
        if not (jobs := self.events("submit_accepted")):
            return []
        token = campaign_token(Layout(self.root))
        return [job_label(token, event.job) for event in jobs]

    def control(self, name: str) -> Path:
        """Where a test's newest job leaves its marks."""
        jobs = [event.job for event in self.events("submit_order") if self.name(event) == name]
        return Layout(self.root).job(jobs[-1])

    def marks(self, name: str) -> list[str]:
        """Claims and marks of a test's newest job."""
        return sorted(path.name for path in self.control(name).glob("*") if path.name[:5] in ("claim", "marks"))

    def verdict(self, name: str) -> tuple[str, str]:
        """The only verdict of a test: what, and why."""
        [told] = self.verdicts()[name]
        return told

    # ---- what must hold ----

    def assert_sound(self) -> None:
        """A controller that was away may take a while to see that jobs are over."""
        prefix = f"sd-{campaign_token(Layout(self.root))}-"
        wait_until(lambda: prefix not in self.cluster.run("squeue", "-h", "-o", "%j"), "nothing is left in the queue")
        super().assert_sound()

    def assert_all_passed_once(self, runs: int) -> None:
        """Every run at its first attempt, every one executed once."""
        told = Counter((event.value["verdict"], event.value["attempt"]) for event in self.events("verdict"))
        assert told == {("passed", 1): runs}, f"{told}\n{self.tale()}"
        assert len(self.executed()) == runs, f"{self.executed()}\n{self.tale()}"


def wait_until(holds: Callable[[], object], what: str, limit_s: float = LIMIT_S) -> None:
    """AssertionError when it still does not hold at the limit."""
    end = time.monotonic() + limit_s
    while not holds():
        assert time.monotonic() < end, f"it did not happen: {what}"
        time.sleep(0.1)


def is_saved(cluster: Cluster, *names: str) -> bool:
    """Whether slurmctld's saved state knows these jobs: what is not there yet is forgotten by a kill."""
    state = cluster.directory / cluster.name / "state/job_state"
    data = state.read_bytes() if state.exists() else b""
    return all(name.encode() in data for name in names)
