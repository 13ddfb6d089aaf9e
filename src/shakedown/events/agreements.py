"""The text that a person signs to agree to the acts of other people, and the check of that signature."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from shakedown.events.signatures import check_words, sign_words

NAMESPACE = "shakedown-agree"
MOST_ACTS = 15  # in one agreement: an event holds at most 4 kB


def agreed_text(identity: str, acts: Sequence[tuple[int, str]], by: str, because: str, at: str) -> str:
    """Purpose: the text that is signed. ``identity``: the digest of the campaign's first event; ``acts``: number and digest of
    each.
    """
    lines = ["shakedown agree", f"record: {identity}"]
    lines += [f"act: {number} {digest}" for number, digest in acts]
    lines += [f"by: {_one_line(by)}", f"because: {_one_line(because)}", f"at: {_one_line(at)}"]
    return "\n".join(lines) + "\n"


def sign_agreement(text: str, key: Path) -> str:
    """Purpose: sign a text with an SSH key. Returns the signature as text. Errors: UsageError where the key cannot sign."""
    return sign_words(text, key, NAMESPACE).decode("ascii")


def who_signed(text: str, signature: str) -> tuple[str, str, str]:
    """Purpose: the key of a signature (type and key), its fingerprint, and why the signature is not valid; the key is then ""."""
    return check_words(text, signature, NAMESPACE)


def _one_line(text: str) -> str:
    return " ".join(text.split())
