"""Words of people as a reader sees them: what shows nothing, what says nothing, and names that look like others.

One place for all words that are kept in the record: whoever takes some asks ``wrong_said``, or one of the parts of it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import cache

from shakedown.model.speakers import name_key

_BLANK = {0x115F, 0x1160, 0x2800, 0x3164, 0xFFA0}  # letters and symbols that show nothing
_JOINERS = "\u034f\u17b4\u17b5" + "".join(map(chr, range(0xFE00, 0xFE10)))  # marks that show nothing
_SHOWN = frozenset("LNPS")  # general categories with a shape of their own: letters, numbers, punctuation, symbols
# How a person says that there is none, in languages that sites and vendors write. Other words are taken as they are.
_NO_RESTRICTION = (
    "none|no|not any|nothing|nil|null|void|na|zero|0|no restriction|no restrictions|unrestricted|without"
    "|without a restriction|without restriction|without restrictions|kein|keine|keiner|keines|keinerlei|nichts|nix"
    "|entf\u00e4llt|ohne|keine einschr\u00e4nkung|keine einschr\u00e4nkungen|ohne einschr\u00e4nkung"
    "|ohne einschr\u00e4nkungen|aucun|aucune|rien|n\u00e9ant|sans|sans restriction|sans restrictions|aucune restriction"
    "|pas de restriction|pas de restrictions|sans objet|ninguna|ninguno|nada|sin|sin restricci\u00f3n|sin restricciones"
    "|ninguna restricci\u00f3n|nessuna|nessuno|niente|nulla|senza|nessuna restrizione|senza restrizioni|nenhuma|nenhum|sem"
    "|sem restri\u00e7\u00e3o|sem restri\u00e7\u00f5es|cap|res|niciuna|nimic|geen|niets|zonder|geen beperking"
    "|geen beperkingen|inga|ingen|inget|ingenting|intet|utan|uden|uten|ei|ei mit\u00e4\u00e4n|ei rajoituksia|puudub|nav"
    "|n\u0117ra|brak|\u017cadne|\u017caden|nic|bez|bez ogranicze\u0144|\u017e\u00e1dn\u00e9|\u017e\u00e1dn\u00e1"
    "|\u017e\u00e1dn\u00fd|bez omezen\u00ed|nincs|semmi|nema|\u043d\u0435\u0442|\u043d\u0438\u0447\u0435\u0433\u043e"
    "|\u043d\u0438\u043a\u0430\u043a\u0438\u0445"
    "|\u0431\u0435\u0437 \u043e\u0433\u0440\u0430\u043d\u0438\u0447\u0435\u043d\u0438\u0439|\u043d\u0435\u043c\u0430\u0454"
    "|\u043d\u044f\u043c\u0430|\u03ba\u03b1\u03bc\u03af\u03b1|\u03ba\u03b1\u03bd\u03ad\u03bd\u03b1"
    "|\u03ba\u03b1\u03bd\u03ad\u03bd\u03b1\u03c2|\u03c4\u03af\u03c0\u03bf\u03c4\u03b1|yok|hi\u00e7|hi\u00e7bir|hi\u00e7biri"
    "|\u65e0|\u7121|\u6ca1\u6709|\u6c92\u6709|\u65e0\u9650\u5236|\u7121\u9650\u5236|\u65e0\u9644\u52a0\u6761\u4ef6"
    "|\u306a\u3057|\u7121\u3057|\u7121\u3044|\u306a\u3044|\u5236\u9650\u306a\u3057|\u7279\u306b\u306a\u3057"
    "|\u7279\u306b\u7121\u3057|\uc5c6\uc74c|\uc5c6\ub2e4|\uc5c6\uc2b5\ub2c8\ub2e4|\uc81c\ud55c \uc5c6\uc74c|\u0644\u0627"
    "|\u0644\u0627 \u0634\u064a\u0621|\u0644\u0627 \u064a\u0648\u062c\u062f|\u0628\u062f\u0648\u0646|\u0647\u06cc\u0686"
    "|\u0646\u062f\u0627\u0631\u062f|\u05d0\u05d9\u05df|\u05dc\u05dc\u05d0|\u0915\u094b\u0908 \u0928\u0939\u0940\u0902"
    "|\u0928\u0939\u0940\u0902|kh\u00f4ng|kh\u00f4ng c\u00f3|tidak ada|tiada|\u0e44\u0e21\u0e48\u0e21\u0e35"
)
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


def restricts_nothing(text: str) -> bool:
    """Purpose: whether a restriction is none: it shows nothing, or only says that there is none."""
    return shows_nothing(text) or _bare(text) in _no_restrictions()


def accepted_words(restriction: str) -> str:
    """Purpose: the restriction of a waiver, as a reader is told it. One that says that there is none restricts all the same: what
    was accepted is not as it should be.
    """
    if not restricts_nothing(restriction):
        return restriction
    said = "without a word" if shows_nothing(restriction) else f"the waiver says '{restriction.strip()}'"
    return f"accepted as it is, which restricts ({said})"


@cache
def _no_restrictions() -> frozenset[str]:
    return frozenset({"", *map(_bare, _NO_RESTRICTION.split("|"))})


def _bare(text: str) -> str:
    """A text without signs, marks and the case of its letters."""
    letters = "".join(c for c in unicodedata.normalize("NFKC", text) if c.isalnum() or c.isspace())
    return " ".join(looks(letters).split())


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
            return f"{option} shows nothing: say it in words that can be read"
    if restriction.strip() and restricts_nothing(restriction):
        way_out = "say what the acceptance is restricted by, or leave it out with --conditions and --issue"
        return f"'{restriction.strip()}' restricts nothing: {way_out}"
    return ""
