"""Words in a cluster's description that have a grammar of their own: options of submissions."""

from __future__ import annotations

import re

from shakedown.plans.schema.scalars import InvalidValue

_OPTION = re.compile(r"--[a-z][a-z0-9-]*(=[^\x00-\x1f]*)?|-[A-Za-z][^\s\x00-\x1f]*")
# what each submission says already, long and short; another value would make jobs that cannot be found again
_OURS = {
    "array": "a", "chdir": "D", "clusters": "M", "cpus-per-task": "c", "dependency": "d", "error": "e", "export": "",
    "help": "h", "hold": "H", "job-name": "J", "licenses": "L", "no-requeue": "", "nodes": "N", "ntasks": "n",
    "ntasks-per-node": "", "open-mode": "", "output": "o", "parsable": "", "requeue": "", "test-only": "", "time": "t",
    "usage": "", "version": "V", "wait": "W", "wrap": "",
}  # fmt: skip
_WHERE = {
    "clusters": "a cluster is an entry of its own in clusters",
    "cpus-per-task": "a test says it: run.cpus_per_task",
    "licenses": "a test says it: loads, of the cluster's licences",
    "no-requeue": "a test says it: run.requeue",
    "nodes": "a test says it: run.nodes",
    "ntasks": "a test says it: run.nodes and run.tasks_per_node",
    "ntasks-per-node": "a test says it: run.tasks_per_node",
    "requeue": "a test says it: run.requeue",
    "time": "a test says it: run.time_limit",
}


def submission_option(text: str) -> str:
    """Purpose: an option for sbatch in one word. Raises InvalidValue where it is not an option, or is one that Shakedown sets
    itself.
    """
    if _OPTION.fullmatch(text) is None:
        raise InvalidValue(
            f"'{text}' is not one option in one word", "write --account=NAME, and another one as a word of its own"
        )
    name = text[2:].partition("=")[0] if text.startswith("--") else text[1]
    for long, short in _OURS.items():
        if name in (long, short) and name:
            raise InvalidValue(f"'{text}': every submission says --{long} already", _WHERE.get(long, "leave it out"))
    return text
