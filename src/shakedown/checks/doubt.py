"""What becomes of a run whose own marks are not believed: it does not pass by them. What speaks against it stands.

The output of such a run has a ``doubt``: why its marks are not what its job's script wrote, or in what they and the scheduler do
not agree.
"""

from __future__ import annotations

from typing import Any

from shakedown.checks.text import cut, printable
from shakedown.model.events import UNDETERMINED
from shakedown.model.ports import OWN_DOING

# So ends what is said of a run that is undetermined for good. A component whose time is over makes no further attempt.
ATTEMPTED_AGAIN = "the result is attempted again while there is time"
MOST_DOUBTED = 3  # attempts: what comes again with each of them is no accident
_LONGEST = 300  # characters of a reason


def doubted(verdict: str, why: str, doubt: str) -> tuple[str, str]:
    """Purpose: the verdict on a run and why, with what its marks are doubted for; as they are where ``doubt`` is "".

    Passed becomes undetermined, or failed where the doubt came with each attempt.
    """
    said = cut(printable(doubt), 200)
    if not doubt or verdict == UNDETERMINED or said in why:
        return verdict, why
    if verdict != "passed":
        return verdict, f"{cut(why, _LONGEST - len(said) - 2)}; {said}"
    if doubt.endswith(OWN_DOING):
        return "failed", said
    return UNDETERMINED, f"could not be judged: {said}; {ATTEMPTED_AGAIN}"


def insistent(output: dict[str, Any], attempt: int) -> dict[str, Any]:
    """Purpose: an output whose doubt says, from the third attempt on, that it is taken for the run's own doing."""
    doubt = str(output.get("doubt", ""))
    if not doubt or attempt < MOST_DOUBTED or doubt.endswith(OWN_DOING):
        return output
    return output | {"doubt": f"{cut(printable(doubt), 130)}; it is attempt {attempt}, {OWN_DOING}"}
