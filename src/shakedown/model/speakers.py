"""Whom a name means: which party of a plan a person speaks for.

A name is no secret, and whoever may write to a campaign may write any. So to ask for the very letters would keep nobody out, and
would make a party's own act one of nobody's where a capital is missing. Who wants to be sure gives keys.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from shakedown.model.nouns import Party
from shakedown.model.ssh_keys import key_of_text


def name_key(name: str) -> str:
    """Purpose: what two ways to write one name have in common: case and encoding make no difference, nor do more spaces."""
    composed = unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
    return " ".join(composed.split())


def party_of(parties: Sequence[Party], name: str) -> Party | None:
    """Purpose: the party that a name speaks for; None where that is none of them, or several."""
    wanted = name_key(name)
    found = [party for party in parties if wanted in {name_key(person) for person in party.people}]
    return found[0] if len(found) == 1 else None


def party_of_key(parties: Sequence[Party], written: str) -> str:
    """Purpose: the party that a key speaks for; "" where that is none of them, or several: a person cannot be both parties."""
    key = key_of_text(written)
    if key is None:
        return ""
    theirs = {party.name: [key_of_text(one) for one in party.keys] for party in parties}
    found = [name for name, keys in theirs.items() if any(one is not None and one.holder == key.holder for one in keys)]
    return found[0] if len(found) == 1 and key in theirs[found[0]] else ""


def names_another(parties: Sequence[Party], by: str, party: str) -> str:
    """Purpose: why a name does not go with a key of a party, or "": it is that of somebody who speaks for another one. The key says
    for whom; a name that the plan gives to nobody is that of whoever holds the key.
    """
    named = party_of(parties, by)
    if named is None or named.name == party:
        return ""
    return f"its key is of {party}, and {by} speaks for {named.name}"
