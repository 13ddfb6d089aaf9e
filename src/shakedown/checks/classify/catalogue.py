"""Find the classes of failures that a line of output belongs to, the most telling first. ``Classifier`` is the entry point."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from shakedown.checks.classify.denials import is_quiet, telling_part
from shakedown.checks.classify.likeness import without_prefix
from shakedown.checks.classify.lines import clean, shown
from shakedown.checks.classify.needed import bare, needed
from shakedown.model.failures import Failure, FailureClass

ANYTHING = "..."
A_WARNING = 25  # the highest weight of a line that calls itself a warning or temporary: the program went on
_REPETITION = re.compile(r"\{\d*,?\d*\}")
_GRAM = 4  # letters that texts are found by
_PREFIXED = frozenset("[<(0123456789RrMTWFSJAOND")  # how ranks, times and names in brackets begin


@dataclass(slots=True)
class Sign:
    """One text or pattern of a class. ``pieces``: the parts of a text in lower case; a line must contain all of them in this order.

    ``words``: for a pattern, a matching line contains at least one of them (``needed``); () where none are known. ``own``: the
    sign belongs to a class of the site.
    """

    owner: FailureClass
    weight: int
    source: str
    place: int = 0
    pieces: tuple[str, ...] = ()
    pattern: str = ""
    words: tuple[str, ...] = ()
    compiled: re.Pattern[str] | None = None
    own: bool = False

    def find(self, line: str, low: str) -> int:
        """The position at which this sign begins in a line, or -1. ``low``: the line in lower case."""
        if self.pieces:
            return _find_pieces(self.pieces, low)
        if self.compiled is None:
            self.compiled = re.compile(self.pattern, re.IGNORECASE)
        match = self.compiled.search(line)
        return match.start() if match else -1

    def has_numbers(self) -> bool:
        """Whether this sign contains digits, so that it may match only one of two lines that differ in numbers alone."""
        return any(letter.isdigit() for text in (*self.pieces, _REPETITION.sub("", self.pattern)) for letter in text)


class Classifier:
    """All classes in force. ``own``: the site's classes; they go first and replace the ``shipped`` classes of the same name.

    A line is looked at in two steps. ``places`` tells for its shape, which all lines share that differ in numbers alone, what signs
    may be in it; nearly all lines end there. ``best`` then looks at the line itself.
    """

    def __init__(self, shipped: Sequence[FailureClass], own: Sequence[FailureClass] = ()) -> None:
        names = {one.name for one in own}
        self.classes = (*own, *(one for one in shipped if one.name not in names))
        trusted = len(own)
        signs = [sign for place, one in enumerate(self.classes) for sign in _signs(one, place >= trusted)]
        self._signs = sorted(signs, key=lambda sign: -sign.weight)  # stable: the site's, then the order of writing
        for place, sign in enumerate(self._signs):
            sign.place = place
        self._bare = [tuple(filter(None, map(bare, sign.pieces))) for sign in self._signs]
        self._words = [tuple(map(bare, sign.words)) for sign in self._signs]
        self._by_gram, self._short = _by_gram(self._signs, self._bare)
        self.loose = tuple(sign for sign in self._signs if sign.pattern and not sign.words)
        self._numbered = frozenset(sign.place for sign in self._signs if sign.has_numbers())

    def places(self, shape: str) -> tuple[int, ...]:
        """Purpose: the places of the signs that lines of this shape (``bare`` of the lower-case line) may contain, heaviest first.

        Not included are ``loose`` signs (patterns without known words): any line may match them, see ``loose_places``.
        """
        grams = self._by_gram
        found: set[int] = set()
        for at in range(len(shape) - _GRAM + 1):
            known = grams.get(shape[at : at + _GRAM])
            if known is not None:
                found.update(known)
        found.update(place for word, place in self._short if word in shape)
        return tuple(sorted(place for place in found if self._may_be(place, shape)))

    def there(self, line: str, places: tuple[int, ...]) -> tuple[int, ...]:
        """Purpose: ``places`` from the first sign that the cleaned line contains, denied or not; () where it contains none."""
        look = _Look(line)
        for number, place in enumerate(places):
            if look.find(self._signs[place]) >= 0:
                return places[number:]
        return ()

    def loose_places(self, line: str) -> tuple[int, ...]:
        """Purpose: the places of the loose signs that match a cleaned line."""
        look = _Look(line)
        return tuple(sign.place for sign in self.loose if look.find(sign) >= 0)

    def _may_be(self, place: int, shape: str) -> bool:
        words = self._words[place]
        return any(word in shape for word in words) if words else _find_pieces(self._bare[place], shape) >= 0

    def weight(self, places: Sequence[int]) -> int:
        """Purpose: the highest weight of a line that may contain the signs at these places; 0 without signs."""
        return self._signs[places[0]].weight if places else 0

    def tells_numbers(self, places: Sequence[int]) -> bool:
        """Purpose: whether one of these signs contains digits, so that lines that differ in numbers alone may differ in class."""
        return not self._numbered.isdisjoint(places)

    def best(self, line: str, above: int = 0, places: Sequence[int] | None = None) -> Failure | None:
        """Purpose: the most telling class of a cleaned line; None if its weight is at most ``above``. ``places``: of its shape."""
        for sign, at in self._found(line, places):
            failure = _failure(sign, line, at)
            return failure if failure.weight > above else None
        return None

    def matches(self, line: str) -> list[tuple[Failure, str]]:
        """Purpose: every class of a line, each once and the most telling first, with the source of the sign that matched."""
        cleaned = clean(line)
        found: dict[str, tuple[Failure, str]] = {}
        for sign, at in self._found(cleaned):
            found.setdefault(sign.owner.name, (_failure(sign, cleaned, at), sign.source))
        return list(found.values())

    def by_name(self, name: str) -> FailureClass | None:
        return next((one for one in self.classes if one.name == name), None)

    def _found(self, line: str, places: Sequence[int] | None = None) -> Iterator[tuple[Sign, int]]:
        """Yield the signs that a line contains, each with its position in the line, heaviest first.

        Signs of the package are not matched in denied parts of the line. A site's own signs are, because they describe real lines.
        """
        if places is None:
            places = sorted((*self.places(bare(line.lower())), *self.loose_places(line)))
        whole, telling = _Look(line), None
        for place in places:
            sign = self._signs[place]
            at = whole.find(sign)
            if at >= 0 and not sign.own:
                telling = telling or _Look(telling_part(line))
                at = telling.find(sign)
            if at >= 0:
                yield sign, at


class _Look:
    """A line in the forms that signs are compared with: as it is, in lower case, without its prefix."""

    def __init__(self, line: str) -> None:
        self.line, self.low = line, line.lower()
        self.bare = without_prefix(line) if line[:1] in _PREFIXED else line  # for patterns with ^

    def find(self, sign: Sign) -> int:
        at = sign.find(self.line, self.low)
        if at < 0 and sign.pattern and self.bare != self.line:
            at = sign.find(self.bare, self.low)
        return at


def _find_pieces(pieces: tuple[str, ...], low: str) -> int:
    """The position of the first piece, if ``low`` contains all pieces in their order; else -1."""
    begin = at = low.find(pieces[0]) if pieces else 0
    for before, piece in pairwise(pieces):
        if at < 0:
            return -1
        at = low.find(piece, at + len(before))
    return begin if at >= 0 else -1


def pieces_of(text: str) -> tuple[str, ...]:
    """The parts of a text that its ``...`` separate, in lower case."""
    return tuple(piece for part in text.lower().split(ANYTHING) if (piece := " ".join(part.split())))


def _signs(one: FailureClass, shipped: bool) -> Iterator[Sign]:
    for group in one.lines:
        for text in group.texts:
            yield Sign(one, group.weight, group.source, pieces=pieces_of(text), own=not shipped)
        for pattern in group.patterns:
            yield Sign(one, group.weight, group.source, pattern=pattern, words=needed(pattern), own=not shipped)


def _by_gram(
    signs: Sequence[Sign], bare_pieces: Sequence[tuple[str, ...]]
) -> tuple[dict[str, list[int]], list[tuple[str, int]]]:
    """An index of signs: rarest n-gram -> places; and (word, place) of the signs whose words are too short for an n-gram."""
    choices = [
        (sign.place, [bare(word)] if sign.words else list(pieces))
        for sign, pieces in zip(signs, bare_pieces, strict=True)
        for word in sign.words or ("",)
        if sign.words or sign.pieces
    ]
    grams = [{word[at : at + _GRAM] for word in words for at in range(len(word) - _GRAM + 1)} for _, words in choices]
    counted = Counter(gram for mine in grams for gram in mine)
    found: dict[str, list[int]] = {}
    short = []
    for (place, words), mine in zip(choices, grams, strict=True):
        if mine:
            found.setdefault(min(mine, key=lambda gram: (counted[gram], gram)), []).append(place)
        else:
            short.append((max(words, key=len, default=""), place))
    return found, short


def _failure(sign: Sign, line: str, at: int) -> Failure:
    weight = min(sign.weight, A_WARNING) if is_quiet(line) else sign.weight
    return Failure(sign.owner.name, sign.owner.family, shown(line, at), "output", weight)
