"""Scan an output for the most telling line. ``Scan`` keeps what it has found so far, so that it can be stopped at any time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from shakedown.checks.classify.catalogue import A_WARNING, Classifier
from shakedown.checks.classify.denials import is_quiet, telling_part
from shakedown.checks.classify.likeness import likeness
from shakedown.checks.classify.lines import shown, telling_lines
from shakedown.model.failures import AFTERMATH, UNCLASSIFIED, Failure

BLOCK = 1 << 17  # characters
HEAD, TAIL = 1 << 20, 4 << 20  # characters that are scanned, at the beginning and the end of an output
MOST_LINES = 5000  # different ones

_OUTSPOKEN = re.compile(
    r"\b(?:error|fatal|panic|critical|severe|abort(?:ed|ing)?|fail(?:ed|ure)?)\b\s{0,3}[:!*\])]|^\W{0,4}(?:fatal|error)\b",
    re.IGNORECASE,
)
_TELLING = re.compile(
    r"error|fatal|fail|abort|fault|exception|panic|cannot|can't|unable|denied|refused|invalid|not found|no such|not permitted"
    r"|out of|no space|timed? ?out|assert|wrong|illegal|missing|unexpected|exceed|diverge|corrupt|\bnan\b",
    re.IGNORECASE,
)
_HARMLESS = re.compile(
    r"\b(?:no|0|zero|without) (?:\w+ )?(?:errors?|failures?|warnings?|faults?)\b|\berrors?\s{0,3}[:=]\s{0,3}[-+]?[\d.]|\bwarning\b"
    r"|\b(?:errors?|failures?|failed)\s{0,3}[:=]\s{0,3}0\b|error (?:norm|bound|estimate|correction|tolerance)|\bhint:",
    re.IGNORECASE,
)


class Scan:
    """One output. ``feed`` may be left by an exception at any time; ``failure`` is what was found until then."""

    def __init__(self, classifier: Callable[[], Classifier]) -> None:
        """``classifier`` is asked for when there is something to look at, and not before."""
        self._ask = classifier
        self._known: Classifier | None = None
        self._seen: set[str] = set()
        self._best: Failure | None = None
        self._unknown, self._score = "", 0

    def feed(self, text: str) -> None:
        """Purpose: look through a part of the output, in its order."""
        if not text.strip():
            return
        known = self._known = self._known or self._ask()
        for block in _blocks(text):
            self._look_through(block, known)

    def _look_through(self, text: str, known: Classifier) -> None:
        for line in telling_lines(text, known.stems, known.loose):
            if len(self._seen) >= MOST_LINES:
                return
            shape = likeness(line)
            if shape not in self._seen:
                self._look_at(line, known)
                self._seen.add(shape)

    def failure(self) -> Failure:
        """What the most telling line says; unclassified, with the likeliest line, where no class knows one."""
        best = self._best
        if best is not None and (not self._unknown or (best.weight >= AFTERMATH and not self._outspoken_beside(best))):
            return best
        return Failure(UNCLASSIFIED, "unknown", self._unknown, "output" if self._unknown else "")

    def _outspoken_beside(self, best: Failure) -> bool:
        """Whether an unknown line is outspoken where the best known one calls itself a warning: the unknown one is the cause."""
        return self._score == _OUTSPOKEN_SCORE and best.weight <= A_WARNING and is_quiet(best.line)

    def _look_at(self, line: str, known: Classifier) -> None:
        found = known.best(line)
        if found is None:
            score = _score(line)
            if score > self._score:
                self._unknown, self._score = shown(line), score
        elif self._best is None or found.weight > self._best.weight:
            self._best = found


def scan_parts(scan: Scan, parts: Sequence[str], head: int = HEAD, tail: int = TAIL) -> None:
    """Purpose: the beginning and the end of what was read of an output; all of it where that is little."""
    if not parts:
        return
    whole = sum(map(len, parts))
    if whole <= head + tail:
        for part in parts:
            scan.feed(part)
        return
    scan.feed(parts[0][:head])
    scan.feed(
        parts[-1][max(0, len(parts[-1]) - tail) :] if len(parts) > 1 else parts[0][max(head, len(parts[0]) - tail) :]
    )


def _blocks(text: str) -> Iterator[str]:
    """Whole lines, so many that what is known of one block is not lost with the next, should the time be over."""
    begin = 0
    while len(text) - begin > BLOCK:
        end = text.rfind("\n", begin, begin + BLOCK) + 1 or text.find("\n", begin + BLOCK) + 1 or len(text)
        yield text[begin:end]
        begin = end
    yield text[begin:]


_OUTSPOKEN_SCORE = 3


def _score(line: str) -> int:
    """How likely it is that an unknown line tells why: 3 outspoken, 2 telling, 0 not at all."""
    line = telling_part(line)
    if _HARMLESS.search(line):
        return 1 if _TELLING.search(line) else 0
    return _OUTSPOKEN_SCORE if _OUTSPOKEN.search(line) else 2 if _TELLING.search(line) else 0
