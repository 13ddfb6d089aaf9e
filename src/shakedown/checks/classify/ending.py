"""Classify a failure by its verdict, the scheduler's message and the exit status, and choose the most telling of them. Pure.

``weigh`` also takes the failure that the output shows; ``of_verdict`` is for runs whose output was not scanned.
"""

from __future__ import annotations

import re
import signal

from shakedown.checks.classify.lines import clean, shown
from shakedown.model.failures import AFTERMATH, UNCLASSIFIED, Failure
from shakedown.model.ports import NOT_BEGUN

# verdict -> class, family, the line that is shown where there is no other message
_ENDINGS: dict[str, tuple[str, str, str]] = {
    "timeout": ("time-limit", "time-limit", "it was ended at its time limit"),
    "node_fail": ("node-failure", "node-failure", "a node it ran on failed"),
    "build_failed": ("build-failed", "environment", "what it needs could not be built"),
    "not_run": ("not-run", "environment", "what it needs did not pass"),
    "submit_failed": ("submit-refused", "scheduler", "the scheduler refused it"),
    "cancelled": ("cancelled", "scheduler", "it was cancelled"),
    "interrupted": ("interrupted", "scheduler", "it was ended from outside"),
    "lost": ("lost", "scheduler", "nothing could tell what became of it"),
}
_JUDGED: dict[str, tuple[str, str]] = {
    "incorrect": ("incorrect-answer", "program-error"),
    "performance": ("outside-bounds", "program-error"),
}
# words of schedulers -> class, family, how telling (as the catalogue's weights)
_WORDS: tuple[tuple[re.Pattern[str], str, str, int], ...] = (
    (re.compile(r"ran out of memory|out[ _-]of[ _-]memory|oom", re.IGNORECASE), "out-of-memory", "out-of-memory", 94),
    (re.compile(r"due to time limit|timelimit|time limit", re.IGNORECASE), "time-limit", "time-limit", 92),
    (re.compile(r"preempt", re.IGNORECASE), "preempted", "scheduler", 95),
    (re.compile(r"node ?fail|lost a node|node_fail|not responding", re.IGNORECASE), "node-failure", "node-failure", 96),
)
_LAUNCH = re.compile(r"launch failure on ")  # the reason of a verdict on a job whose script was never started
_SIGNALS: dict[int, tuple[str, str]] = {
    signal.SIGSEGV: ("segmentation-fault", "segmentation-fault"),
    signal.SIGBUS: ("bus-error", "segmentation-fault"),
    signal.SIGKILL: ("killed", "killed"),
    signal.SIGTERM: ("killed", "killed"),
    signal.SIGINT: ("killed", "killed"),
    signal.SIGHUP: ("killed", "killed"),
    signal.SIGABRT: ("abort", "program-error"),
    signal.SIGFPE: ("floating-point-exception", "program-error"),
    signal.SIGILL: ("illegal-instruction", "program-error"),
    signal.SIGTRAP: ("abort", "program-error"),
    signal.SIGSYS: ("abort", "program-error"),
    signal.SIGPIPE: ("broken-pipe", "program-error"),
    signal.SIGXCPU: ("cpu-time-limit", "time-limit"),
    signal.SIGXFSZ: ("file-too-large", "file-system-error"),
}
_STATUSES: dict[int, tuple[str, str, str]] = {
    126: ("cannot-execute", "wrong-launch-line", "exit status 126: a command could not be executed"),
    127: ("command-not-found", "wrong-launch-line", "exit status 127: a command was not found"),
}
_STATUS_WEIGHT, _GENTLE_WEIGHT = 30, AFTERMATH + 1
_GENTLE = frozenset(
    {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE}
)  # others were told to end because of one


def of_verdict(verdict: str, words: str = "", status: int | None = None) -> Failure | None:
    """Purpose: the class of failure of a run whose output was not scanned; None where the run passed.

    ``words``: the scheduler's, or the reason; ``status``: the exit status, -N for signal N.
    """
    return weigh(verdict, words, status, None)


def weigh(verdict: str, words: str, status: int | None, found: Failure | None) -> Failure | None:
    """Purpose: the failure of a run; ``found`` is the failure that its output shows. None where it passed or has not ended."""
    if verdict in ("passed", "spared", "undetermined"):
        return None
    said = _of_words(words)
    if verdict in _ENDINGS:
        name, family, line = _ENDINGS[verdict]
        if verdict == "node_fail" and _LAUNCH.match(words):
            name = "launch-failure"
        if verdict == "submit_failed" and words.startswith(NOT_BEGUN):
            name = "never-began"
        if said is not None and verdict == "interrupted":
            return said
        return Failure(name, family, shown(clean(words)) or line, "scheduler")
    ended = of_status(status) if verdict not in _JUDGED else None
    candidates = [one for one in (found, said, ended) if one is not None and one.name != UNCLASSIFIED]
    best = max(candidates, key=lambda one: one.weight, default=None)
    unknown = found is not None and found.name == UNCLASSIFIED and bool(found.line)
    if best is not None and (best.weight >= AFTERMATH or not unknown):
        return best
    if verdict in _JUDGED and not unknown:
        return Failure(*_JUDGED[verdict], shown(clean(words)), "status")
    if found is not None and found.name == UNCLASSIFIED:
        return found
    return Failure(UNCLASSIFIED, "unknown", shown(clean(words)) or _status_line(status), "status")


def of_status(status: int | None) -> Failure | None:
    """Purpose: the failure that an exit status means (-N and 128 + N: a signal; 126 and 127: the shell's); None for any other."""
    if status is None:
        return None
    if status in _STATUSES:
        return Failure(*_STATUSES[status], "status", _STATUS_WEIGHT)
    number = -status if status < 0 else status - 128
    if number not in _SIGNALS:
        return None
    weight = _GENTLE_WEIGHT if number in _GENTLE else _STATUS_WEIGHT
    return Failure(*_SIGNALS[number], f"exit status {status}: {signal.Signals(number).name}", "status", weight)


def _of_words(words: str) -> Failure | None:
    """The most telling failure among the scheduler's words."""
    found = [
        Failure(name, family, shown(clean(words)), "scheduler", weight)
        for pattern, name, family, weight in _WORDS
        if pattern.search(words)
    ]
    return max(found, key=lambda one: one.weight, default=None)


def _status_line(status: int | None) -> str:
    return "" if status is None else f"exit status {status}"
