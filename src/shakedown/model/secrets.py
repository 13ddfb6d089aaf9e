"""What looks like a credential: passwords, tokens, keys. The record is read by both parties and kept, so none may get into it.

Pure functions on text. They err on the side of caution: a long random word may be harmless, and is withheld all the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

WITHHELD = "(withheld)"

# A variable or an option of such a name holds a credential, whatever its value looks like.
_SECRET_NAME = re.compile(
    r"PASSW(OR)?D|PASSPHRASE|(^|[_-])PASS$|SECRET|CREDENTIAL|(^|[_-])JWT($|[_-])|COOKIE|(?<![A-Z])AUTH($|[_-](?!TYPE|METHOD))"
    r"|(API|ACCESS|PRIVATE|AUTH|ENCRYPTION|SIGNING|ACCOUNT|SSH)[_-]?KEY|(^|[_-]|[A-Z])TOKEN($|[_-](?!LEN|COUNT|SIZE|LIMIT|NUM))",
    re.IGNORECASE,
)
# Shapes that services give to their tokens, private keys, and user:password in a URL.
_CERTAIN = re.compile(
    r"\b(?:gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|dop_v1_|npm_|pypi-|hf_|[sr]k_(?:live|test)_)[A-Za-z0-9_-]{10,}"
    r"|\bsk-[A-Za-z0-9_-]{16,}|\b(?:AKIA|ASIA)[A-Z0-9]{12,}\b|\bAIza[A-Za-z0-9_-]{20,}|\bya29\.[A-Za-z0-9_-]{10,}"
    r"|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+|-----BEGIN [A-Z0-9 ]*PRIVATE KEY"
    r"|(?<![A-Za-z0-9+.-])[0-9+.-]*[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@]*:(?!\d{1,5}(?:/|$))(?![${(<])[^\s@]+@"
)
# The same without a scheme, and words that announce one in a command.
_LIKELY = re.compile(
    r"(?<![\w./:@-])[A-Za-z0-9_.-]+:(?![${(<])[^\s:/@]+@[A-Za-z0-9-]+(?:[.:][A-Za-z0-9.-]+|$)"
    r"|\b(?:Bearer|Basic)\s+(?![${(<])[A-Za-z0-9+/=._~-]{8,}"
    r"|(?:\bcurl\b[^\n|;]{0,2000}\s(?:-u|--user)|\s--proxy-user)[\s=]*[\"']?[^\s:$\"'./][^\s:$\"']*:(?![${(<])[^\s\"']+"
)
_ASSIGNED = re.compile(  # a name is looked for where a word begins, else a word of 100 kB took minutes
    r"(?<![A-Za-z0-9_-])[0-9_-]*([A-Za-z][A-Za-z0-9_-]*)[\"']?\s*[=:]\s*[\"']?([^\s\"',;&|)]+)"
)
_QUERY = re.compile(  # of a URL: what grants access there
    r"[?&](?:[A-Za-z0-9_-]*[_-])?(?:sig|signature|key|apikey|token|auth|password|passwd|secret|pw)=(?![${(<])[^\s&\"'#;]{4,}",
    re.IGNORECASE,
)
_TO_A_PROGRAM = re.compile(r"\bsshpass\s+-p\s*[^\s$-]|\bmysql\b[^\n|;]{0,2000}\s-p[^\s$-]")
_GIVEN = re.compile(r"(?:^|\s)--?([A-Za-z][A-Za-z0-9_-]*)\s+[\"']?([^\s\"',;&|)-][^\s\"',;&|)]*)")
_HARMLESS = re.compile(r"[\d.,+-]+[A-Za-z]{0,2}|true|false|yes|no|none|null|on|off|auto|[$/~{(<%.].*", re.IGNORECASE)
_WORDS = re.compile(r"[^\s\"'`,;:|&?@<>(){}\[\]$*!#%\\]+")
_ASKED_FOR_A_DIGEST = re.compile(
    r"\b(?:sha(?:1|2|224|256|384|512)?(?:sum)?|md5(?:sum)?|b2sum|cksum|checksum|digest|git|commit|checkout|revision|rev|hash)\b",
    re.IGNORECASE,
)
_HEX = re.compile(r"[0-9a-f]+|[0-9A-F]+")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_INNER = re.compile(r"[+/=_.~-]+")
_SHORTEST, _SHORTEST_PLAIN, _LONGEST_WORD = 20, 24, 32
_LETTERS_A_MARK = 7  # between two marks such as '-': names of programs and versions have fewer
_DIGESTS = (32, 40, 56, 64, 96, 128)  # how many digits the usual sums have


def is_secret_name(name: str) -> bool:
    """Purpose: whether a variable or an option of this name is there to hold a credential."""
    return _SECRET_NAME.search(name) is not None


def is_certain(text: str) -> bool:
    """Purpose: whether a credential of an unmistakable shape stands in a text of any kind."""
    return _CERTAIN.search(text) is not None


_KEY_NAME = re.compile(
    r"(?:[A-Za-z0-9_-]*[_-])?(?:key|pw|pwd)", re.IGNORECASE
)  # a credential only where it is given a random word


def announces_secret(text: str) -> bool:
    """Purpose: whether a text says that a credential stands in it: a known shape, or one given to a telling name or option.

    A long random word alone announces nothing: in a command it may be a name, a seed or data.
    """
    announced = any(pattern.search(text) for pattern in (_LIKELY, _QUERY, _TO_A_PROGRAM))
    return announced or is_certain(text) or _is_assigned(text)


def looks_secret(text: str, digests: bool = False) -> bool:
    """Purpose: whether a credential stands in a text: a known shape, one given to a telling name, or a long random word.

    ``digests``: checksums in hexadecimal are expected there, and are none.
    """
    if len(text) < 4:
        return False
    if announces_secret(text):
        return True
    harmless = digests or _ASKED_FOR_A_DIGEST.search(text) is not None
    return any(_is_random(word, harmless) for word in _WORDS.findall(text))


def is_secret(name: str, value: str) -> bool:
    """Purpose: whether a variable with this name and value holds a credential."""
    if is_secret_name(name) and value and _HARMLESS.fullmatch(value) is None:
        return True
    if name.endswith("_VISIBLE_DEVICES"):  # devices may be named by long ids
        return False
    return looks_secret(value)


def without_secrets(text: str) -> str:
    """Purpose: a text with each word withheld that looks like a credential; all of it where it takes several words to tell."""
    if not looks_secret(text, digests=True):
        return text
    words = [WITHHELD if looks_secret(word, digests=True) else word for word in text.split(" ")]
    masked = " ".join(words)
    return WITHHELD if looks_secret(masked, digests=True) else masked


def _is_assigned(text: str) -> bool:
    """``--password=x``, ``TOKEN=x``, ``password: x``, ``--password x``; not where the value is a variable, a file or a number."""
    return any(
        (is_secret_name(name) and _HARMLESS.fullmatch(value) is None)
        or (_KEY_NAME.fullmatch(name) is not None and _is_random(value, False))
        for pattern in (_ASSIGNED, _GIVEN)
        for name, value in pattern.findall(text)
    )


def _is_random(word: str, digests: bool) -> bool:
    """Whether no person and no program that names things would have written this word."""
    if len(word) < _SHORTEST:
        return False
    if any(_UUID.fullmatch(part) for part in word.split("=")):
        return True
    is_path = word.startswith(("/", "./", "../", "~")) or "=/" in word
    if any(_is_random_piece(piece, digests, is_path) for piece in _pieces(word)):
        return True
    joined = _INNER.sub("", word)
    few = len(_INNER.findall(word.strip("="))) * _LETTERS_A_MARK < len(joined)
    return few and not is_path and _is_random_piece(joined, digests, is_path)


def _pieces(word: str) -> Iterator[str]:
    for piece in _INNER.split(word):
        if len(piece) >= _SHORTEST:
            yield piece


def _is_random_piece(piece: str, digests: bool, is_path: bool) -> bool:
    """By how often it changes between small letters, capitals and digits. Package managers put lower-case hashes into paths."""
    length = len(piece)
    if length < _SHORTEST or not piece.isascii():
        return False
    kinds = "".join("0" if c.isdigit() else "A" if c.isupper() else "a" for c in piece)
    pairs = Counter(map("".join, pairwise(kinds)))
    changes = sum(count for pair, count in pairs.items() if pair[0] != pair[1]) / length
    present = set(kinds)
    if present == {"0"}:
        return False
    if kinds.count("0") * 20 < length:
        if len(present) == 1:
            return length >= _LONGEST_WORD and not is_path
        return changes > 0.36 and 0.3 < kinds.count("A") / length < 0.7
    if len(present) == 3:
        return changes - pairs["Aa"] / length > 0.26  # a capital before a small letter begins a word
    if is_path and "A" not in present:
        return False
    if _HEX.fullmatch(piece) and digests and length in _DIGESTS:
        return False
    return length >= _SHORTEST_PLAIN and changes > (0.2 if length < _LONGEST_WORD else 0.14)
