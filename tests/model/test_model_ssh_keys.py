"""Keys are one key by what they are, and not by how they are written."""

from __future__ import annotations

import base64

import pytest

from shakedown.model.nouns import Party
from shakedown.model.speakers import party_of_key
from shakedown.model.ssh_keys import key_of_text, read_key

POINT = b"\4" + bytes(range(64))
NUMBER = b"\0" + b"\x9f" * 256
SOME = b"\7" * 32


def blob(*parts: bytes) -> bytes:
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def text(kind: str, *parts: bytes) -> str:
    return f"{kind} {base64.b64encode(blob(kind.encode(), *parts)).decode()}"


ECDSA = text("ecdsa-sha2-nistp256", b"nistp256", POINT)
RSA = text("ssh-rsa", b"\1\0\1", NUMBER)
PLAIN = text("ssh-ed25519", SOME)


def other_last_bit(written: str) -> str:
    """The same bytes: the last letter before the padding has bits that stand for nothing."""
    body = written.rstrip("=")
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    assert body != written
    return body[:-1] + letters[letters.index(body[-1]) + 1] + written[len(body) :]


def test_another_last_bit_is_the_same_key() -> None:
    """It speaks for its one party, however the plan or the signature writes it, and for none where it is given to both."""
    twin = other_last_bit(ECDSA)
    assert twin != ECDSA and key_of_text(twin) == key_of_text(ECDSA) is not None
    site, vendor = Party("site", ("Ada",), (twin,)), Party("vendor", ("Bo",), (RSA,))
    assert party_of_key((site, vendor), ECDSA) == "site"
    assert party_of_key((site, Party("vendor", (), (ECDSA,))), ECDSA) == ""


def test_words_behind_a_key_are_no_part_of_it() -> None:
    assert key_of_text(f"{PLAIN} Ada at home") == key_of_text(PLAIN)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (PLAIN, text("sk-ssh-ed25519@openssh.com", SOME, b"ssh:")),
        (ECDSA, text("sk-ecdsa-sha2-nistp256@openssh.com", b"nistp256", POINT, b"ssh:x")),
        (RSA, text("ssh-rsa", b"\3", NUMBER)),
    ],
)
def test_one_secret_under_another_type_speaks_for_nobody_where_both_sides_have_it(one: str, two: str) -> None:
    both = (Party("site", (), (one,)), Party("vendor", (), (two,)))
    assert [party_of_key(both, key) for key in (one, two)] == ["", ""]
    assert [party_of_key(both[:1], key) for key in (one, two)] == ["site", ""]


@pytest.mark.parametrize(
    "odd",
    [
        blob(b"ssh-rsa", b"\0\1\0\1", NUMBER),  # a zero more in front of a number
        blob(b"ssh-rsa", b"\1\0\1", b"\x9f" * 256),  # a negative one
        blob(b"ssh-rsa", b"\1\0\1", NUMBER, b"more"),
        blob(b"ssh-ed25519", SOME) + b"\0",
        blob(b"ssh-ed25519", SOME + b"\0"),
        blob(b"ecdsa-sha2-nistp256", b"nistp256", b"\2" + bytes(32)),  # a point in short form
        blob(b"ecdsa-sha2-nistp256", b"nistp384", POINT),
        blob(b"ssh-ed25519"),
        blob(b"\xff", SOME),
        blob(b"ssh-rsa", b"\1\0\1", NUMBER)[:-1],
        b"",
    ],
)
def test_another_form_of_a_key_is_none(odd: bytes) -> None:
    assert read_key(odd) is None


def test_a_type_in_front_is_that_of_the_key() -> None:
    assert key_of_text(PLAIN.replace("ssh-ed25519 ", "ssh-rsa ")) is None
    assert key_of_text("") is None and key_of_text("ssh-rsa") is None and key_of_text("ssh-rsa AA!") is None
