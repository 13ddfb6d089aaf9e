"""Find plain words that a line must contain for a regular expression to match it. ``needed`` is the entry point. Pure.

A search for plain words is hundreds of times faster than a regular expression, so lines without these words are skipped.
"""

from __future__ import annotations

import re

_FEWEST = 3  # the fewest letters that are worth a search
_OPTIONAL = frozenset("?*{")
_ZERO_WIDTH = frozenset("bBAZ")
_COUNTED = re.compile(r"\{\d*,?\d*\}")


def needed(pattern: str) -> tuple[str, ...]:
    """Purpose: words in lower case; each line that the pattern matches contains at least one of them. () where none are known."""
    words, end = _branches(pattern, 0)
    return tuple(sorted(words)) if words and end == len(pattern) else ()


def _branches(pattern: str, at: int) -> tuple[frozenset[str], int]:
    """The words of alternatives (``a|b``) and the position of the bracket that ends them; no words where one branch has none."""
    known: set[str] = set()
    all_known = True
    while True:
        words, at = _sequence(pattern, at)
        known |= words
        all_known = all_known and bool(words)
        if at >= len(pattern) or pattern[at] == ")":
            return frozenset(known) if all_known else frozenset(), at
        at += 1  # the bar


def _sequence(pattern: str, at: int) -> tuple[frozenset[str], int]:
    """The best words of a sequence and the position of its end: a bar, a closing bracket, or the end of the pattern."""
    best: frozenset[str] = frozenset()
    run = ""
    while at < len(pattern) and pattern[at] not in "|)":
        if pattern[at] == "(":
            best, run = _better(best, run), ""
            words, at = _group(pattern, at)
            if not _is_optional(pattern, at):
                best = _better_of(best, words)
        else:
            letter, at = _one(pattern, at)
            if letter is None or _is_optional(pattern, at):
                best, run = _better(best, run), ""
            else:
                run += letter
        if at < len(pattern) and pattern[at] in "?*+{":
            best, run = _better(best, run), ""
            at = _after_repetition(pattern, at)
    return _better(best, run), at


def _group(pattern: str, at: int) -> tuple[frozenset[str], int]:
    """The words of a group in brackets and the position behind it; a look-ahead or look-behind has no words."""
    looks = pattern.startswith(("(?=", "(?!", "(?<=", "(?<!"), at)
    at += 1
    if pattern.startswith("?P<", at) or (pattern.startswith("?<", at) and not looks):
        at = pattern.index(">", at) + 1
    elif pattern.startswith("?", at):
        while pattern[at] in "?:=!<>":
            at += 1
            if pattern[at - 1] in ":=!>":
                break
        else:
            return frozenset(), len(pattern) + 1  # flags and other extensions are not understood
    words, end = _branches(pattern, at)
    return frozenset() if looks else words, end + 1


def _one(pattern: str, at: int) -> tuple[str | None, int]:
    """The letter of one element ("" for an element of no width, None where several letters fit) and the position behind it."""
    letter = pattern[at]
    if letter == "\\":
        following = pattern[at + 1 : at + 2]
        if following in _ZERO_WIDTH:
            return "", at + 2
        return (None if following.isalnum() else following), at + 2
    if letter == "[":
        end = at + 2 if pattern.startswith("[^", at) else at + 1
        end = end + 1 if pattern.startswith("]", end) else end
        while end < len(pattern) and pattern[end] != "]":
            end += 2 if pattern[end] == "\\" else 1
        return None, end + 1
    if letter == ".":
        return None, at + 1
    return ("" if letter in "^$" else letter.lower()), at + 1


def _is_optional(pattern: str, at: int) -> bool:
    return at < len(pattern) and pattern[at] in _OPTIONAL


def _after_repetition(pattern: str, at: int) -> int:
    counted = _COUNTED.match(pattern, at)
    at = counted.end() if counted else at + 1
    return at + 1 if at < len(pattern) and pattern[at] in "?+" else at


def _better(best: frozenset[str], run: str) -> frozenset[str]:
    return _better_of(best, frozenset({run}))


def _better_of(best: frozenset[str], words: frozenset[str]) -> frozenset[str]:
    """The set whose shortest word is longer; digits and blanks at the ends do not count."""

    def length(some: frozenset[str]) -> int:
        return min((len(bare(word)) for word in some), default=0)

    return words if length(words) >= _FEWEST and length(words) > length(best) else best


_DIGITS = str.maketrans("", "", "0123456789")


def bare(text: str) -> str:
    """Purpose: a text in lower case without digits and double blanks: equal for lines that differ in numbers alone."""
    return " ".join(text.translate(_DIGITS).split())
