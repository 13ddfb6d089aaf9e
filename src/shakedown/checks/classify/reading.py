"""Scan an output for the most telling line. ``Scan`` keeps its result up to date, so that it can be stopped at any time.

The limits of a scan are counts of characters and lines, never times, so that an output gets the same class on every host.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from shakedown.checks.classify.catalogue import A_WARNING, Classifier
from shakedown.checks.classify.denials import is_quiet, telling_part, without_mended
from shakedown.checks.classify.echoes import Echo, echo_of, explains, weighed
from shakedown.checks.classify.lines import clean, lines_and_shapes, shown
from shakedown.checks.classify.needed import bare
from shakedown.model.failures import AFTERMATH, UNCLASSIFIED, Failure

BLOCK = 1 << 17  # characters
HEAD, TAIL = 1 << 20, 4 << 20  # characters that are scanned, at the beginning and the end of an output
MOST_LOOKS = 300  # lines of a block that are looked at in full, of those that a class may know and of the others
MOST_LOOKED_AT = 24_000  # characters of these lines: very long ones take longest
MOST_LISTED = 2000  # lines of an output that are kept for a list of all that some class may know

_OUTSPOKEN = re.compile(
    r"\b(?:error|fatal|panic|critical|severe|abort(?:ed|ing)?|fail(?:ed|ure)?)\b\s{0,3}[:!*\])]|^\W{0,4}(?:fatal|error)\b",
    re.IGNORECASE,
)
_TELLING = re.compile(
    r"error|fatal|fail|abort|fault|exception|panic|cannot|can't|unable|denied|refused|invalid|not found|no such|not permitted"
    r"|out of|no space|timed? ?out|assert|wrong|illegal|missing|unexpected|exceed|diverge|corrupt|\bnan\b"
)  # of small letters
_HARMLESS = re.compile(
    r"\b(?:no|0|zero|without) (?:\w+ )?(?:errors?|failures?|warnings?|faults?)\b|\berrors?\s{0,3}[:=]\s{0,3}[-+]?[\d.]|\bwarning\b"
    r"|\b(?:errors?|failures?|failed)\s{0,3}[:=]\s{0,3}0\b|error (?:norm|bound|estimate|correction|tolerance)|\bhint:",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+")
_ECHOES = (Echo.ENDED, Echo.WAITED)
_LONGEST_CODE = 4  # digits of a number that may say what happened, as a signal's or an error's does


@dataclass(slots=True)
class _Shape:
    """Facts on all lines of a shape. ``places``: the signs that they may contain; ``weight``: the highest weight of these signs."""

    places: tuple[int, ...]
    weight: int
    numbers: bool  # whether numbers tell its lines apart
    telling: bool  # whether they are worth showing where no class knows them


@dataclass(frozen=True, slots=True)
class _Found:
    """The failure that a line shows, and the number of the line."""

    failure: Failure
    number: int


class Scan:
    """The scan of one output. An exception may interrupt ``feed`` at any time; ``failure`` gives the result until then."""

    def __init__(self, classifier: Callable[[], Classifier], lists: bool = False) -> None:
        """``classifier`` is called only when there is text to look at. ``lists``: fill ``listed``."""
        self._ask = classifier
        self._known: Classifier | None = None
        self._shapes: dict[str, _Shape | None] = {}
        self._seen: set[str] = set()
        self._next = 1  # the number of the next line
        self._lists = lists
        self._best: _Found | None = None  # of all lines but echoes
        self._causes: dict[Echo, _Found] = {}  # of those lines that explain such an echo
        self._echo: _Found | None = None
        self._kind = Echo.NONE
        self._unknown, self._score = "", 0
        self.listed: list[tuple[int, str]] = []  # the different lines that some class may know, with their numbers
        self.left_out = 0  # how many more there are

    def feed(self, text: str, left_out: int = 0) -> None:
        """Purpose: look through the next part of the output. ``left_out``: the number of lines skipped before this part."""
        self._next += left_out
        if not text.strip():
            return
        known = self._known = self._known or self._ask()
        for block in _blocks(text):
            self._look_through(block, known, self._next)
            self._next += block.count("\n")

    def _look_through(self, text: str, known: Classifier, first: int) -> None:
        """Look at the heaviest lines first, because most of the others can then be skipped; the choice does not depend on time."""
        candidates: list[tuple[int, int, str, tuple[int, ...]]] = []
        others: list[tuple[int, str]] = []
        floor = self._floor()
        unknown = not floor and self._score < _OUTSPOKEN_SCORE  # where a cause is known, unknown lines do not matter
        for number, (line, raw) in enumerate(lines_and_shapes(without_mended(text)), first):
            try:
                shape = self._shapes[raw]
            except KeyError:
                shape = self._shapes[raw] = _shape(raw, known)
            if known.loose and line.strip():
                shape = _with_loose(shape, known.loose_places(clean(line)), known)
            if shape is None:
                continue
            if shape.weight > (0 if self._lists else floor):
                if self._is_new(line, shape.numbers):
                    line = clean(line)
                    places = known.there(line, shape.places)
                    if places:
                        candidates.append((-known.weight(places), number, line, places))
                    elif unknown and shape.telling:
                        others.append((number, line))
            elif unknown and shape.telling and self._is_new(line, False):
                others.append((number, line))
        candidates.sort(key=lambda one: one[:2])
        if self._lists:
            self._list(candidates)
        room = MOST_LOOKED_AT
        for weight, number, line, places in candidates[:MOST_LOOKS]:
            if room <= 0 or not self._matters(-weight, number):
                break
            room -= len(line)
            if not self._look_at(number, line, known, places):
                others.append((number, line))
        room = MOST_LOOKED_AT
        for _, line in sorted(others)[:MOST_LOOKS]:
            if room <= 0 or self._score == _OUTSPOKEN_SCORE:
                break
            room -= len(line)
            self._score_of(clean(line))

    def _is_new(self, line: str, numbers: bool) -> bool:
        """Whether no earlier line was alike. Numbers count as zero or not zero; with ``numbers``, short numbers count exactly."""
        key = _NUMBER.sub(_code if numbers else _sign, line)
        if key in self._seen:
            return False
        self._seen.add(key)
        return True

    def _list(self, candidates: Sequence[tuple[int, int, str, tuple[int, ...]]]) -> None:
        room = MOST_LISTED - len(self.listed)
        self.listed += [(number, line) for _, number, line, _ in candidates[:room]]
        self.left_out += max(0, len(candidates) - room)

    def _floor(self) -> int:
        """The weight up to which lines change nothing: that of the best failure if it explains all echoes, else 0."""
        best = self._best
        return best.failure.weight if best is not None and all(self._causes.get(one) is best for one in _ECHOES) else 0

    def _matters(self, weight: int, number: int) -> bool:
        """Whether a line may change the result; of lines of the same weight the first one counts."""
        floor = self._floor()
        return weight > floor or (weight == floor and self._best is not None and number < self._best.number)

    def failure(self) -> Failure:
        """The failure of the most telling line; where no class fits, an unclassified failure with the likeliest line."""
        best = self._of_both()
        if best is not None and (not self._unknown or (best.weight >= AFTERMATH and not self._outspoken_beside(best))):
            return best
        return Failure(UNCLASSIFIED, "unknown", self._unknown, "output" if self._unknown else "")

    def _of_both(self) -> Failure | None:
        """The best failure among causes and echoes; an echo counts only where no line says why the other rank ended."""
        echo, best = self._echo, self._best
        if echo is None:
            return best.failure if best else None
        cause = self._causes.get(self._kind)
        if cause is not None:
            return cause.failure
        if best is not None and best.failure.weight > echo.failure.weight:
            return best.failure
        return weighed(echo.failure, self._kind)

    def _outspoken_beside(self, best: Failure) -> bool:
        """Whether an unknown line is outspoken and the best known line is only a warning: then the unknown line is the cause."""
        return self._score == _OUTSPOKEN_SCORE and best.weight <= A_WARNING and is_quiet(best.line)

    def _look_at(self, number: int, line: str, known: Classifier, places: Sequence[int]) -> bool:
        """Note the failure that a line shows; False where the line fits no class."""
        failure = known.best(line, places=places)
        if failure is None:
            return False
        found = _Found(failure, number)
        kind = echo_of(line) if failure.weight > A_WARNING else Echo.NONE
        if kind is not Echo.NONE:
            heavier = _heavier(self._echo, found)
            if heavier is found:
                self._echo, self._kind = found, kind
            return True
        self._best = _heavier(self._best, found)
        for echo in _ECHOES:
            if explains(failure, echo):
                self._causes[echo] = _heavier(self._causes.get(echo), found)
        return True

    def _score_of(self, line: str) -> None:
        score = _score(line)
        if score > self._score:
            self._unknown, self._score = shown(line), score


def _heavier(first: _Found | None, second: _Found) -> _Found:
    """The failure with the higher weight; of equal weights the earlier line."""
    if first is None or (second.failure.weight, -second.number) > (first.failure.weight, -first.number):
        return second
    return first


def _shape(raw: str, known: Classifier) -> _Shape | None:
    """The facts on the lines of the shape of ``raw``; None where such lines tell nothing."""
    shape = bare(clean(raw))
    if not shape:
        return None
    places = known.places(shape)
    telling = _TELLING.search(shape) is not None
    return _Shape(places, known.weight(places), known.tells_numbers(places), telling) if places or telling else None


def _with_loose(shape: _Shape | None, loose: tuple[int, ...], known: Classifier) -> _Shape | None:
    """The shape of a line, with the loose signs that match the line added to its places."""
    if not loose:
        return shape
    places = tuple(sorted((*(shape.places if shape else ()), *loose)))
    return _Shape(places, known.weight(places), True, shape is not None and shape.telling)


def _sign(match: re.Match[str]) -> str:
    return "1" if match[0].strip("0") else "0"


def _code(match: re.Match[str]) -> str:
    return match[0] if len(match[0]) <= _LONGEST_CODE else _sign(match)


def scan_parts(scan: Scan, parts: Sequence[str], head: int = HEAD, tail: int = TAIL) -> None:
    """Purpose: scan the first ``head`` and the last ``tail`` characters of an output; all of a shorter output."""
    if not parts:
        return
    whole = sum(map(len, parts))
    if whole <= head + tail:
        for part in parts:
            scan.feed(part)
        return
    end = parts[-1][max(0 if len(parts) > 1 else head, len(parts[-1]) - tail) :]
    scan.feed(parts[0][:head])
    scan.feed(end, sum(part.count("\n") for part in parts) - parts[0][:head].count("\n") - end.count("\n"))


def _blocks(text: str) -> Iterator[str]:
    """Yield the text in blocks of whole lines: if a scan is stopped in one block, the results of earlier blocks are kept."""
    begin = 0
    while len(text) - begin > BLOCK:
        end = text.rfind("\n", begin, begin + BLOCK) + 1 or text.find("\n", begin + BLOCK) + 1 or len(text)
        yield text[begin:end]
        begin = end
    yield text[begin:]


_OUTSPOKEN_SCORE = 3


def _score(line: str) -> int:
    """How likely an unknown line is the cause: 3 outspoken, 2 telling, 1 telling but harmless, 0 not at all."""
    line = telling_part(line)
    telling = _TELLING.search(line.lower())
    if _HARMLESS.search(line):
        return 1 if telling else 0
    return _OUTSPOKEN_SCORE if _OUTSPOKEN.search(line) else 2 if telling else 0
