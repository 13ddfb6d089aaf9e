"""The classes at work: which of them a line belongs to, the most telling one first. ``Classifier`` is the way in."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from shakedown.checks.classify.denials import is_quiet, telling_part
from shakedown.checks.classify.likeness import without_prefix
from shakedown.checks.classify.lines import STEMS, clean, shown
from shakedown.model.failures import Failure, FailureClass

ANYTHING = "..."
A_WARNING = 25  # the most that a line weighs which calls itself a warning or passing: the program went on
_GRAM = 4  # letters that texts are found by
_PREFIXED = frozenset("[<(0123456789RrMTWFSJAOND")  # how ranks, times and names in brackets begin


@dataclass(slots=True)
class Sign:
    """One text or pattern of a class. ``pieces``: a text's parts in small letters, which a line must hold in this order.

    ``guard``: what a line must hold before a pattern is tried; "" where that is not known. ``own``: it is of a site's class.
    """

    owner: FailureClass
    weight: int
    source: str
    place: int = 0
    pieces: tuple[str, ...] = ()
    pattern: str = ""
    guard: str = ""
    compiled: re.Pattern[str] | None = None
    own: bool = False

    def find(self, line: str, low: str) -> int:
        """Where it begins in a line, or -1. ``low``: the line in small letters."""
        if self.pieces:
            begin = at = low.find(self.pieces[0])
            for before, piece in zip(self.pieces, self.pieces[1:], strict=False):
                if at < 0:
                    return -1
                at = low.find(piece, at + len(before))
            return begin if at >= 0 else -1
        if self.guard and self.guard not in low:
            return -1
        if self.compiled is None:
            self.compiled = re.compile(self.pattern, re.IGNORECASE)
        match = self.compiled.search(line)
        return match.start() if match else -1


class Classifier:
    """All classes in force. ``own``: the site's, which replace those of the same name among ``shipped`` and go first.

    ``stems``: each line that a text, or a pattern of the package, knows holds one of them, in small letters; ``loose``: the site's
    patterns, of which that is not known.
    """

    def __init__(self, shipped: Sequence[FailureClass], own: Sequence[FailureClass] = ()) -> None:
        names = {one.name for one in own}
        self.classes = (*own, *(one for one in shipped if one.name not in names))
        trusted = len(own)
        signs = [sign for place, one in enumerate(self.classes) for sign in _signs(one, place >= trusted)]
        self._signs = sorted(signs, key=lambda sign: -sign.weight)  # stable: the site's, then the order of writing
        for place, sign in enumerate(self._signs):
            sign.place = place
        self._patterns = [sign for sign in self._signs if sign.pattern]
        self._by_gram = _by_gram([sign for sign in self._signs if sign.pieces])
        unknown = {max(sign.pieces, key=len) for sign in signs if sign.pieces and not _has_stem(sign)}
        self.stems = (*STEMS, *sorted(unknown))
        mine = [sign.pattern for sign in self._patterns if sign.owner in own]
        self.loose = [re.compile(pattern, re.IGNORECASE | re.MULTILINE) for pattern in mine]

    def best(self, line: str, above: int = 0) -> Failure | None:
        """Purpose: the most telling class of a cleaned line, if it tells more than ``above``."""
        for sign, at in self._found(line):
            failure = _failure(sign, line, at)
            return failure if failure.weight > above else None
        return None

    def matches(self, line: str) -> list[tuple[Failure, str]]:
        """Purpose: every class of a line with the source of its text, the most telling first, each class once."""
        cleaned = clean(line)
        found: dict[str, tuple[Failure, str]] = {}
        for sign, at in self._found(cleaned):
            found.setdefault(sign.owner.name, (_failure(sign, cleaned, at), sign.source))
        return list(found.values())

    def by_name(self, name: str) -> FailureClass | None:
        return next((one for one in self.classes if one.name == name), None)

    def _found(self, line: str) -> Iterator[tuple[Sign, int]]:
        """The signs in a line with their places, the heaviest first.

        The package's see nothing of what the line denies; a site's own, written for lines that its people saw, see all of it.
        """
        looks = {True: _Look(line), False: _Look(telling_part(line))}
        low = line.lower()
        grams = self._by_gram
        places: set[int] = set()
        for at in range(len(low) - _GRAM + 1):
            known = grams.get(low[at : at + _GRAM])
            if known is not None:
                places.update(known)
        places.update(sign.place for sign in self._patterns if not sign.guard or sign.guard in low)
        for place in sorted(places):
            sign = self._signs[place]
            at = looks[sign.own].find(sign)
            if at >= 0:
                yield sign, at


class _Look:
    """A line as signs see it."""

    def __init__(self, line: str) -> None:
        self.line, self.low = line, line.lower()
        self.bare = without_prefix(line) if line[:1] in _PREFIXED else line  # for patterns that say how a line begins

    def find(self, sign: Sign) -> int:
        at = sign.find(self.line, self.low)
        if at < 0 and sign.pattern and self.bare != self.line:
            at = sign.find(self.bare, self.low)
        return at


def pieces_of(text: str) -> tuple[str, ...]:
    """The parts of a text between its ``...``, in small letters."""
    return tuple(piece for part in text.lower().split(ANYTHING) if (piece := " ".join(part.split())))


def _signs(one: FailureClass, shipped: bool) -> Iterator[Sign]:
    for group in one.lines:
        for text in group.texts:
            yield Sign(one, group.weight, group.source, pieces=pieces_of(text), own=not shipped)
        for pattern in group.patterns:
            guard = _guard(pattern) if shipped else ""
            yield Sign(one, group.weight, group.source, pattern=pattern, guard=guard, own=not shipped)


def _guard(pattern: str) -> str:
    """A stem that each line must hold that the pattern finds: one that is in it outside of all choices."""
    plain = re.sub(r"\(\?[:=!][^()]*\)[?*]?|\([^()]*\)[?*]?|\[[^\]]*\]|\\.|.[?*]|\{[^}]*\}", "\0", pattern.lower())
    return "" if "|" in plain else max((stem for stem in STEMS if stem in plain), key=len, default="")


def _has_stem(sign: Sign) -> bool:
    return any(stem in piece for piece in sign.pieces for stem in STEMS)


def _by_gram(signs: Sequence[Sign]) -> dict[str, list[int]]:
    """Texts by the letters of theirs that the fewest other texts have."""
    grams = [
        {piece[at : at + _GRAM] for piece in sign.pieces for at in range(len(piece) - _GRAM + 1)} for sign in signs
    ]
    counted = Counter(gram for mine in grams for gram in mine)
    found: dict[str, list[int]] = {}
    for sign, mine in zip(signs, grams, strict=True):
        found.setdefault(min(mine, key=lambda gram: (counted[gram], gram)), []).append(sign.place)
    return found


def _failure(sign: Sign, line: str, at: int) -> Failure:
    weight = min(sign.weight, A_WARNING) if is_quiet(line) else sign.weight
    return Failure(sign.owner.name, sign.owner.family, shown(line, at), "output", weight)
