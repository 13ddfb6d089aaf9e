"""Whether words say that there is no restriction: ``says_none``.

A restriction has at least one word that is more than a denial, an acceptance or an empty word. These words are in
``no_restriction.txt``, language by language. A text is taken apart at its punctuation, and each part is read in one language.
Where a word is in none of its lines, the text may restrict, and is taken as it is: what no line has is never refused.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

_WORDS = Path(__file__).with_name("no_restriction.txt")
_UNSPACED = frozenset({"zh", "ja", "ko", "th"})  # written, or inflected, without spaces between words
_MOST = 60  # words or signs of a part: a longer one says something
_LETTERS = re.compile(r"(?<![^\W_])(?:[^\W\d_][./\u00b7_-])+[^\W\d_](?![^\W_])")  # n/a, o.k.
_APOSTROPHES = str.maketrans(dict.fromkeys("\u2019\u02bc`\u00b4", "'"))
_DENIALS = frozenset({"not", "deny", "without"})
TWICE, NOT_OK = "twice", "not ok"  # it denies a denial; it denies that something is accepted
Fold = Callable[[str], str]
Vocabulary = Mapping[tuple[str, ...], str]  # words that are one -> their kind
Kinds = frozenset[str]


def says_none(text: str, fold: Fold) -> bool:
    """Purpose: whether a text only says that there is none; signs alone do. ``fold``: what letters are compared as."""
    parts = _parts(text, fold)
    letters = [word for words in parts for word in words]
    if len(letters) > 1 and all(len(word) == 1 and word.isalpha() for word in letters):
        parts = [["".join(letters)]]
        if any(_is_none(kinds) for words in _languages(fold).values() for kinds in _read(letters, _spelt(words))):
            return True
    readings: set[Kinds] = {frozenset()}
    for words in parts:
        mine = {kinds for name, known in _languages(fold).items() for kinds in _read(_signs(name, words), known)}
        readings = {one | other for one in readings for other in mine}
    return not parts or any(map(_is_none, readings))


def _is_none(kinds: Kinds) -> bool:
    """Whether what was read denies, accepts, or says that nothing limits."""
    named = bool(kinds & {"noun", "free"})
    denied = bool(kinds & {"not", "without", "free"}) or ("deny" in kinds and bool(kinds & {"noun", "idle"}))
    accepted = "ok" in kinds and not named
    if TWICE in kinds or (NOT_OK in kinds and not named):
        return False
    return accepted or (denied and ("about" not in kinds or named))


def _read(words: Sequence[str], known: Vocabulary) -> set[Kinds]:
    """Every way to read words in one language, as the kinds that it has; none where a word is unknown."""
    if len(words) > _MOST:
        return set()
    longest = max(map(len, known))
    reached: list[set[tuple[Kinds, str]]] = [{(frozenset(), "")}, *(set[tuple[Kinds, str]]() for _ in words)]
    for place, ways in enumerate(reached):
        for size in range(1, min(longest, len(words) - place) + 1):
            kind = known.get(tuple(words[place : place + size]))
            if kind is not None:
                reached[place + size] |= {(_with(kinds, last, kind), kind) for kinds, last in ways}
    return {kinds for kinds, _ in reached[-1]}


def _with(kinds: Kinds, last: str, kind: str) -> Kinds:
    more = {kind}
    if last in ("not", "deny") and kind in ("without", "free"):
        more.add(TWICE)
    if kind == "ok" and kinds & _DENIALS:
        more.add(NOT_OK)
    return kinds | more


# ---- words -----------------------------------------------------------------------------------------------------------------


def _parts(text: str, fold: Fold) -> list[list[str]]:
    """The words between signs, part by part. Letters with full stops or slashes between them are one word."""
    plain = _LETTERS.sub(lambda found: re.sub(r"[\W_]", "", found.group()), _plain(text, fold))
    found = ([*re.findall(r"[^\W_]+", part)] for part in re.split(r"[^\w\s]|_", plain))
    return [["0" if _is_zero(word) else word for word in words] for words in found if words]


def _plain(text: str, fold: Fold) -> str:
    """A text without the case of its letters, their marks, and what nobody sees."""
    apart = unicodedata.normalize("NFKD", text.translate(_APOSTROPHES))
    seen = "".join(c for c in apart if unicodedata.category(c)[0] != "M" and unicodedata.category(c) != "Cf")
    words = re.sub(r"'(?=[ts]\b)", "", fold(unicodedata.normalize("NFC", seen)))
    return re.sub(r"'|(?<=[^\W\d_]{2})-(?=[^\W\d_]{2})", " ", words)


def _is_zero(word: str) -> bool:
    return word.isdecimal() and not any(map(unicodedata.digit, word))


def _signs(language: str, words: Sequence[str]) -> Sequence[str]:
    return list("".join(words)) if language in _UNSPACED else words


def _spelt(known: Vocabulary) -> Vocabulary:
    """Words letter by letter."""
    return {tuple("".join(words)): kind for words, kind in known.items() if len("".join(words)) > 1}


@cache
def _languages(fold: Fold) -> Mapping[str, Vocabulary]:
    found = {}
    blocks = (block.splitlines() for block in _WORDS.read_text(encoding="utf-8").split("\n\n")[1:])
    for name, *lines in blocks:
        pairs = [(kind, word) for kind, _, words in (line.partition(": ") for line in lines) for word in words.split()]
        found[name] = {key: kind for kind, word in pairs for key in _keys(name, word, fold)} | {("0",): "not"}
    return found


def _keys(language: str, word: str, fold: Fold) -> Iterable[tuple[str, ...]]:
    words = _plain(word.replace("_", " "), fold).split()
    yield tuple(_signs(language, words))
