# spool.py
"""A small batch scheduler without a daemon. One file holds all jobs; each job has a process that waits for its nodes.

It stands for what a site has (PBS, LSF, Flux). ``spool_port.py`` teaches Shakedown to speak to it.
"""

import contextlib
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

PACE_S = 0.05  # between two looks of a job that waits


class Spool:
    """The queue in one directory. States of a job: held, waiting, running, and ended, timeout, cancelled, lost when it is over."""

    def __init__(self, root):
        self.root = Path(root)

    @contextlib.contextmanager
    def jobs(self):
        """Every job by its number, for one reader or writer at a time; what is changed inside is kept."""
        self.root.mkdir(parents=True, exist_ok=True)
        with (self.root / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            path = self.root / "jobs.json"
            before = path.read_text() if path.exists() else "{}"
            jobs = json.loads(before)
            yield jobs
            after = json.dumps(jobs)
            if after != before:
                (self.root / "draft").write_text(after)
                (self.root / "draft").replace(path)

    def submit(self, name, script, nodes, count=1, limit_s=0.0, held=False, after=""):
        """The number of a new job, which gets ``count`` of ``nodes`` once these are free and job ``after`` is over."""
        with self.jobs() as jobs:
            number = str(len(jobs) + 1)
            jobs[number] = {
                "name": name, "script": str(script), "may_have": nodes, "count": count, "limit_s": limit_s, "after": after,
                "state": "held" if held else "waiting", "restart": 0, "nodes": [], "group": 0, "status": None,
            }  # fmt: skip
            command = [sys.executable, "-I", "-S", str(Path(__file__).absolute()), str(self.root), number]
            subprocess.Popen(
                command, start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        return number

    def look(self):
        """Every job. One whose process is gone was lost with its node."""
        with self.jobs() as jobs:
            for number, job in jobs.items():
                if job["state"] == "running" and not self._lives(number):
                    job["state"] = "lost"
            return jobs

    def move(self, numbers, before, after):
        """Hold or release: the numbers of those that were ``before`` and are ``after`` now."""
        with self.jobs() as jobs:
            moved = [number for number in numbers if jobs[number]["state"] == before]
            for number in moved:
                jobs[number]["state"] = after
        return moved

    def cancel(self, numbers):
        """End these; the numbers of those that were not over."""
        with self.jobs() as jobs:
            ended = [number for number in numbers if jobs[number]["state"] in ("held", "waiting", "running")]
            for number in ended:
                jobs[number]["state"] = "cancelled"
                _kill(jobs[number]["group"])
        return ended

    def requeue(self, number):
        """Put a running job back into the queue, as an administrator does."""
        with self.jobs() as jobs:
            job = jobs[number]
            group, job["group"] = job["group"], 0
            job.update(state="waiting", restart=job["restart"] + 1, nodes=[])
            _kill(group)

    # ---- the process of one job ----

    def run(self, number):
        """Wait for nodes, run the script, note how it ended; and again if it is put back into the queue."""
        with (self.root / f"alive.{number}").open("w") as alive:
            fcntl.flock(alive, fcntl.LOCK_EX)
            while (job := self._wait_for_nodes(number)) is not None:
                word, status = self._watch(number, job)
                with self.jobs() as jobs:
                    now = jobs[number]
                    if now["state"] == "running" and now["restart"] == job["restart"]:
                        now.update(state=word, status=status)

    def _wait_for_nodes(self, number):
        while True:
            with self.jobs() as jobs:
                job = jobs[number]
                if job["state"] not in ("held", "waiting"):
                    return None
                taken = {node for other in jobs.values() if other["state"] == "running" for node in other["nodes"]}
                free = [node for node in job["may_have"] if node not in taken]
                before = jobs.get(job["after"], {"state": "ended"})["state"]
                ready = job["state"] == "waiting" and before not in ("held", "waiting", "running")
                if ready and len(free) >= job["count"]:
                    job.update(state="running", nodes=free[: job["count"]])
                    words = {"SPOOL_JOB": number, "SPOOL_NODES": ",".join(job["nodes"]), "SPOOL_RESTART": str(job["restart"])}
                    self._child = subprocess.Popen(
                        ["/bin/sh", job["script"]], env=os.environ | words, start_new_session=True
                    )
                    job["group"] = self._child.pid
                    return dict(job)
            time.sleep(PACE_S)

    def _watch(self, number, job):
        try:
            return "ended", self._child.wait(job["limit_s"] or None)
        except subprocess.TimeoutExpired:
            _kill(job["group"])
            return "timeout", self._child.wait()

    def _lives(self, number):
        with (self.root / f"alive.{number}").open("a") as alive:
            try:
                fcntl.flock(alive, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False


def _kill(group):
    if group:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    Spool(sys.argv[1]).run(sys.argv[2])
