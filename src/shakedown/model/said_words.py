"""Words of people as a reader sees them: what shows nothing, what says nothing, and names that look like others.

One place for all words that are kept in the record: whoever takes some asks ``wrong_said``, or one of the parts of it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache

from shakedown.model.no_restriction import says_none
from shakedown.model.speakers import name_key

_BLANK = {0x115F, 0x1160, 0x2800, 0x3164, 0xFFA0}  # letters and symbols that show nothing
_JOINERS = "\u034f\u17b4\u17b5" + "".join(map(chr, range(0xFE00, 0xFE10)))  # marks that show nothing
_SHOWN = frozenset("LNPS")  # general categories with a shape of their own: letters, numbers, punctuation, symbols
_ZWNJ, _ZWJ = "\u200c", "\u200d"  # without a shape of their own: they keep letters apart, or join them
_VIRAMA = 9  # the canonical combining class of signs that take a consonant's vowel away
# What looks like a small l, and a number that looks like an o; a capital L looks like none of them.
_CAPITALS = str.maketrans("I\u0406\u0399\u04c01|0L", "llllllo\ue000")
_ALPHABETS = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC")
# Letters of other alphabets, and numbers, and the one of a to z that each looks like in one of its cases.
_LOOKS = str.maketrans(
    "\u0430\u0432\u0435\u043a\u043c\u043d\u043e\u0440\u0441\u0442\u0443\u0445\u0455\u0456\u0458\u04bb\u04cf\u0501\u051b\u051d\u0475\u0433"
    "\u03b1\u03b2\u03b5\u03b6\u03b7\u03b9\u03ba\u03bc\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u0131\u057d\u0585\u0570",
    "abekmhopctyxsijhldqwvrabeznikmvoptyxiuoh",
)


def shows_nothing(text: str) -> bool:
    """Purpose: whether a reader sees nothing of a text: it is empty, blank, or all of its characters are invisible."""
    return not any(unicodedata.category(c)[0] in _SHOWN and ord(c) not in _BLANK for c in text)


@lru_cache(maxsize=256)  # a settlement reads the same waivers with and without each act
def restricts_nothing(text: str) -> bool:
    """Purpose: whether a restriction is none: it shows nothing, or only says that there is none."""
    return shows_nothing(text) or says_none(text, looks)


def accepted_words(restriction: str) -> str:
    """Purpose: the restriction of a waiver, as a reader is told it. One that says that there is none restricts all the same: what
    was accepted is not as it should be.
    """
    if not restricts_nothing(restriction):
        return restriction
    said = "without a word" if shows_nothing(restriction) else f"the waiver says '{restriction.strip()}'"
    return f"accepted as it is, which restricts ({said})"


def looks(name: str) -> str:
    """Purpose: what two names have in common that look alike: letters of another alphabet count as those they look like."""
    plain = "".join(c for c in name if c not in (_ZWNJ, _ZWJ) and not _is_variant(c))
    return name_key(unicodedata.normalize("NFKC", plain)).translate(_LOOKS)


def look_alike(one: str, other: str) -> bool:
    """Purpose: whether a reader may take one name for the other: by letters of another alphabet, a capital I, a small l and a 1,
    a 0 and an O, rn and m (after the confusables of UTS 39), or a joiner.
    """
    return looks(one) == looks(other) or _shape(one) == _shape(other)


def _shape(name: str) -> str:
    return looks(unicodedata.normalize("NFKC", name).translate(_CAPITALS)).replace("rn", "m")


def wrong_name(name: str, people: Iterable[str] = ()) -> str:
    """Purpose: why a name is refused, with the way out; "" where it is well. ``people``: names that the plan gives."""
    known = tuple(people)
    if name_key(name) in map(name_key, known):
        return ""  # whatever it is, the plan has it
    hidden = next((place for place in range(len(name)) if _is_hidden(name, place)), None)
    if hidden is not None:
        told = f"it has an invisible character (U+{ord(name[hidden]):04X})"
        if name[hidden] in (_ZWNJ, _ZWJ):
            return f"{told} where no script has one: write the name without it there"
        return f"{told}: write the name without it"
    for word in _words_of(name):
        alphabets = {one: c for c in word for one in _ALPHABETS if unicodedata.name(c, "").startswith(f"{one} ")}
        if len(alphabets) > 1:
            odd = alphabets[max(alphabets, key=_ALPHABETS.index)]
            return (
                f"'{word}' has letters of two alphabets ({odd} is {unicodedata.name(odd)}): write it with those of one"
            )
    for person in known:
        if look_alike(person, name):
            return f"'{name}' looks like {person}, and is another name: write {person} as the plan does"
    return ""


def _words_of(name: str) -> list[str]:
    """What stands between spaces, hyphens, slashes, brackets."""
    return "".join(" " if unicodedata.category(c)[0] in "PSZ" else c for c in name).split()


def _is_variant(c: str) -> bool:
    """Whether it chooses among the shapes of the character before it, and shows nothing itself."""
    return "\U000e0100" <= c <= "\U000e01ef" or c in "\u180b\u180c\u180d\u180f"


def _is_hidden(text: str, place: int) -> bool:
    c = text[place]
    if c in (_ZWNJ, _ZWJ):
        return not _is_spelt(text, place)
    if _is_variant(c):
        return not unicodedata.name(text[place - 1 : place] or " ", "").startswith(("CJK", "MONGOLIAN"))
    return (unicodedata.category(c) != "Zs" and not c.isprintable()) or ord(c) in _BLANK or c in _JOINERS


def _is_spelt(text: str, place: int) -> bool:
    """Whether a joiner is part of the spelling, by UAX 31: after a virama (a non-joiner before another letter, too), and a
    non-joiner between two letters that would join.
    """
    before, after = text[:place], text[place + 1 :].lstrip("".join(_marks_of(text)))
    rest = before.rstrip("".join(c for c in _marks_of(text) if unicodedata.combining(c) != _VIRAMA))
    if rest and unicodedata.combining(rest[-1]) == _VIRAMA:
        stem = rest.rstrip("".join(_marks_of(text)))
        return _is_letter(stem[-1:]) and (text[place] == _ZWJ or _is_letter(after[:1]))
    stem = before.rstrip("".join(_marks_of(text)))
    return text[place] == _ZWNJ and _joins(stem[-1:], on=True) and _joins(after[:1], on=False)


def _marks_of(text: str) -> set[str]:
    return {c for c in text if unicodedata.category(c).startswith("M")}


def _is_letter(c: str) -> bool:
    return bool(c) and unicodedata.category(c).startswith("L")


def _joins(c: str, on: bool) -> bool:
    """Whether a letter joins the one after it (``on``), or the one before it, by the presentation forms that Unicode has of it."""
    return bool(c) and ("<initial>" if on else "<final>") in _forms().get(c, ())


@cache
def _forms() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for code in (*range(0xFB50, 0xFE00), *range(0xFE70, 0xFF00)):
        form, *letters = unicodedata.decomposition(chr(code)).split() or [""]
        if len(letters) == 1:
            found.setdefault(chr(int(letters[0], 16)), set()).add(form)
    return found


def wrong_said(by: str, because: str, restriction: str, people: Iterable[str] = ()) -> str:
    """Purpose: why the words of an act are refused, with the way out; "" where they are well. What is empty is nobody's concern
    here. ``people``: names that the plan gives.
    """
    if by and (why := wrong_name(by, people)):
        return f"who says so (--by): {why}"
    for option, text in (("why (--because)", because), ("the restriction (--restriction)", restriction)):
        if text.strip() and shows_nothing(text):
            return f"{option} has no visible character: say it in words that can be read"
    if restriction.strip() and restricts_nothing(restriction):
        way_out = "say what the acceptance is restricted by, or leave it out with --conditions and --issue"
        return f"'{restriction.strip()}' restricts nothing: {way_out}"
    return ""
