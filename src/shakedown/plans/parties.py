"""The parties of a plan: who speaks for which side, by name or by key, and the acts that need the other side's consent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import Any

from yaml.nodes import MappingNode

from shakedown.model.nouns import Party
from shakedown.model.said_words import look_alike, looks, wrong_name
from shakedown.model.speakers import name_key
from shakedown.model.ssh_keys import CERTIFICATE, key_of_text
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.scalars import InvalidValue, Scalar
from shakedown.plans.schema.source_positions import place

_TYPES = ("ssh-", "ecdsa-", "sk-ssh-", "sk-ecdsa-")
_BLOB = "AAAA"  # how the base64 of every key begins
_LONGEST = 100  # characters of a name: what an act's --by may have


class Speaker(Scalar):
    """A name, or a public SSH key with the name of its holder behind it. It is read into (name, key); one may be ""."""

    words = "a name, or a public SSH key such as 'ssh-ed25519 AAAA... Anna Smith'"

    def convert(self, text: str) -> tuple[str, str]:
        """Purpose: name and key. Raises InvalidValue."""
        if not text.startswith(_TYPES):
            return _name(text), ""
        kind, *rest = text.split(None, 2)
        if CERTIFICATE in kind:
            raise InvalidValue(
                "this is a certificate, which has an end, and nobody checks it here",
                "write the key itself: what its .pub file holds, and not the one that ends in -cert.pub",
            )
        key = key_of_text(text)
        if key is None:
            raise InvalidValue("this is no public SSH key", "write what the key's .pub file holds: TYPE KEY NAME")
        return _name(rest[1]) if len(rest) > 1 else "", key.text


def _name(text: str) -> str:
    name = " ".join(text.split())
    if any(word.startswith(_BLOB) and len(word) > 40 for word in name.split()):
        raise InvalidValue(
            "there is a key in this name", "write what its .pub file holds, and nothing before it: TYPE KEY NAME"
        )
    why = wrong_name(name)
    if why:
        raise InvalidValue(f"'{text[:_LONGEST]}' is no name: {why}", "both parties read it")
    if not name or len(name) > _LONGEST:
        raise InvalidValue(f"'{text[:_LONGEST]}' is no name", f"a name has 1 to {_LONGEST} characters")
    return name


def read_parties(root: MappingNode, values: dict[str, Any], problems: Problems) -> tuple[Party, ...]:
    """Purpose: the parties. A name or a key in two of them is a fault: a person cannot be both parties."""
    written = values.get("parties") or {}
    parties = tuple(_party(name, speakers) for name, speakers in written.items())
    at = place(root, "parties")
    if len(parties) == 1:
        problems.at(at, "there is one party", "an agreement takes two: name the other one, such as vendor: [NAME]")
    known: dict[object, str] = {}
    for party in parties:
        for word, shown in (*((looks(name), name_key(name)) for name in party.people), *map(_holder, party.keys)):
            if known.get(word, party.name) != party.name:
                shown = shown if len(shown) <= 60 else f"{shown[:60]}..."
                problems.at(at, f"'{shown}' is in {known[word]} and in {party.name}", "a person cannot be both parties")
            known[word] = party.name
    for name, other, mine, its in _alike(parties):
        way_out = "a reader takes them for one person: write one of them with another word of the name"
        problems.at(at, f"'{name}' in {mine} looks like '{other}' in {its}", way_out)
    if values.get("consent") and not parties:
        problems.at(place(root, "consent"), "consent is asked for, and the plan names no parties", "add parties: {...}")
    return parties


def _alike(parties: Sequence[Party]) -> Iterator[tuple[str, str, str, str]]:
    """Names of two parties that are other names and look alike, beside those that are the same in other letters."""
    for one, other in combinations(parties, 2):
        for name, its in product(other.people, one.people):
            if look_alike(name, its) and looks(name) != looks(its):
                yield name, its, other.name, one.name


def _holder(written: str) -> tuple[object, str]:
    """The part of a key to compare, and the key to show: keys of one secret are one speaker, whatever type is written."""
    key = key_of_text(written)
    return (key.holder if key is not None else written), written


def _party(name: str, speakers: list[tuple[str, str] | None]) -> Party:
    said = [pair for pair in speakers or () if pair]
    people = tuple(dict.fromkeys(person for person, _ in said if person))
    return Party(name, people, tuple(dict.fromkeys(key for _, key in said if key)))
