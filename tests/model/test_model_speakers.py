"""Whom a name speaks for: letters are alike whatever their case and encoding, and spaces between words."""

from __future__ import annotations

import pytest

from shakedown.model.nouns import Party
from shakedown.model.speakers import party_of

PARTIES = (Party("site", ("Ada Lovelace", "J\u00fcrgen Stra\u00dfe")), Party("vendor", ("Bo",)))


@pytest.mark.parametrize(
    ("said", "party"),
    [
        ("Ada Lovelace", "site"),
        ("ada  LOVELACE ", "site"),
        ("Ju\u0308rgen Strasse", "site"),
        ("BO", "vendor"),
        ("Ada", None),
        ("B\u043e", None),  # a Cyrillic letter is another one
        ("", None),
    ],
)
def test_a_name_is_taken_however_it_is_written(said: str, party: str | None) -> None:
    found = party_of(PARTIES, said)
    assert (found.name if found else None) == party


def test_a_name_of_both_speaks_for_neither() -> None:
    assert party_of((Party("site", ("Ada",)), Party("vendor", ("ADA",))), "ada") is None
