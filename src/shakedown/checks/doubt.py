"""The verdict on a run whose marks are doubted: such a run does not pass; a verdict against it stays.

The output of such a run has a ``doubt``: why its marks are not those that the job's script wrote, or where they and the scheduler
do not agree.
"""

from __future__ import annotations

from typing import Any

from shakedown.checks.text import cut, printable
from shakedown.model.events import UNDETERMINED
from shakedown.model.ports import OWN_DOING

# So ends what is said of a run that is undetermined for good. A component whose time is over makes no further attempt.
ATTEMPTED_AGAIN = "the result is attempted again while there is time"
MOST_DOUBTED = 3  # attempts: a doubt that returns with each of them is no accident
_LONGEST = 300  # characters of a reason


def doubted(verdict: str, why: str, doubt: str) -> tuple[str, str]:
    """Purpose: the verdict on a run and its reason, changed by the doubt about its marks; unchanged where ``doubt`` is "".

    Passed becomes undetermined, or failed where ``doubt`` says that each attempt had it.
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
    """Purpose: the output; from the third attempt on, its doubt also says that the run itself causes it."""
    doubt = str(output.get("doubt", ""))
    if not doubt or attempt < MOST_DOUBTED or doubt.endswith(OWN_DOING):
        return output
    return output | {"doubt": f"{cut(printable(doubt), 130)}; it is attempt {attempt}, {OWN_DOING}"}
