"""What srun and slurmstepd write into an output when a step of a job was given up. Pure."""

from __future__ import annotations

import re

from msgspec import Struct

from shakedown.model.shared_nodes import names_in

_LONGEST = 200  # characters of their sentence
# The most telling first: who names a node, then who says why, then who only says that it is over.
_WORDS = (
    re.compile(r"^srun: error: Task launch for \S+ failed on node (?P<nodes>\S+): .*"),
    re.compile(r"^slurmstepd\S*: error: Prolog failure on node (?P<nodes>\S+).*"),
    re.compile(r"^srun: error: Node failure on (?P<nodes>\S+).*"),
    re.compile(r"^slurmstepd\S*: error: \*\*\* STEP .* DUE TO NODE FAILURE.*"),
    re.compile(r"^srun: error: Unable to create step\b.*"),
    re.compile(r"^srun: error: Application launch failed: .*"),
    re.compile(r"^srun: Job step aborted\b.*"),
)


class Step(Struct, frozen=True):
    """A step that was given up: in whose words, and the nodes that they name."""

    words: str
    nodes: tuple[str, ...] = ()


def broken_step(output: str) -> Step | None:
    """Purpose: what the end of an output says of a step that Slurm gave up, None where it says nothing of the kind."""
    lines = [line.strip() for line in output.split("\n") if line.lstrip().startswith(("srun: ", "slurmstepd"))]
    for pattern in _WORDS:
        found = [match for line in lines if (match := pattern.match(line))]
        if found:
            named = (name for match in found for name in names_in(match.groupdict().get("nodes", "").rstrip(":,.")))
            words = "".join(c if c.isprintable() else " " for c in found[0][0])
            return Step(words[:_LONGEST], tuple(dict.fromkeys(named)))
    return None
