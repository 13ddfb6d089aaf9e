"""Slurm's commands, played by the spool of ``examples/scheduler``: ``fake_slurm_commands.py SPOOL COMMAND WORDS...``.

They print what Slurm 22.05 prints, as far as Shakedown asks for it. Files in the spool are switches: ``away`` (the controller
gives no answer) and ``lose`` (sbatch accepts, and its answer is lost).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples/scheduler"))
from spool import Spool

SEPARATOR = "\x1f"
STATES = {
    "held": "PENDING", "waiting": "PENDING", "running": "RUNNING", "timeout": "TIMEOUT", "cancelled": "CANCELLED",
    "lost": "NODE_FAIL",
}  # fmt: skip
WRAPPER = """\
export SLURM_JOB_ID=$SPOOL_JOB SLURM_JOB_NAME={name} SLURM_JOB_NODELIST=$SPOOL_NODES
export SLURMD_NODENAME=${{SPOOL_NODES%%,*}} SLURM_RESTART_COUNT=$SPOOL_RESTART
exec /bin/sh "{script}"
"""


def main(root: str, command: str, words: list[str]) -> int:
    spool = Spool(root)
    options = dict(word.lstrip("-").partition("=")[::2] for word in words if word.startswith("--"))
    plain = [word for word in words if not word.startswith("-")]
    if (spool.root / "away").exists():
        return fail("slurm_load_jobs error: Unable to contact slurm controller (connect failure)")
    match command:
        case "sbatch":
            return sbatch(spool, options, plain[0])
        case "squeue":
            for number, job in spool.look().items():
                cells = [number, job["name"], state_of(job), "None", ",".join(job["nodes"]), job["restart"],
                         (job["status"] or 0) << 8, "N/A", "N/A"]  # fmt: skip
                if not job.get("forgotten") and ("states" in options or job["state"] in ("held", "waiting", "running")):
                    print(SEPARATOR.join(map(str, cells)) + SEPARATOR)
        case "sacct":
            return fail("Slurm accounting storage is disabled")
        case "scancel":
            spool.cancel(plain)
        case "scontrol" if plain[0] in ("uhold", "release"):
            before, after = ("waiting", "held") if plain[0] == "uhold" else ("held", "waiting")
            spool.move(plain[1].split(","), before, after)
    return 0


def sbatch(spool: Spool, options: dict[str, str], script: str) -> int:
    name = options["job-name"]
    wrapper, draft = (Path(script).with_name(f"{word}.sh") for word in ("wrapper", f"wrapper.{os.getpid()}"))
    draft.write_text(WRAPPER.format(name=name, script=script))
    draft.replace(wrapper)  # whole at every moment: an earlier job of this script may be about to read it
    without = options.get("exclude", "").split(",")
    nodes = [node for node in options.get("nodelist", "n1,n2").split(",") if node not in without]
    number = spool.submit(
        name, wrapper, nodes, int(options["nodes"]), 60.0 * int(options.get("time", 0)),
        held="hold" in options, after=options.get("dependency", "").rpartition(":")[2],
    )  # fmt: skip
    with spool.jobs() as jobs:
        jobs[number].update(licences=options.get("licenses", ""), forgotten=False)
    if (spool.root / "lose").exists():
        return fail("sbatch: error: Batch job submission failed: Socket timed out on send/recv operation")
    print(number)
    return 0


def state_of(job: dict[str, Any]) -> str:
    if job["state"] == "ended":
        return "FAILED" if job["status"] else "COMPLETED"
    return STATES.get(job["state"], str(job["state"]).upper())


def fail(text: str) -> int:
    print(text, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
