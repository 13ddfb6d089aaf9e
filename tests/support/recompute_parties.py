"""Who speaks for which party of a campaign, and for which acts consent is asked, event by event: rules B3, B6, B7, of names alone.

It shares no code with the package. An amendment gives the parties other names, or asks for consent to other kinds of acts, from the
agreement on by which every party that it changes has agreed to it.
"""

from __future__ import annotations

import unicodedata
from typing import Any

Json = dict[str, Any]


class Sides:
    """``digests``: number of an act -> what an agreement to it says of it."""

    def __init__(self, events: list[Json], plans: dict[str, Json], digests: dict[int, str]) -> None:
        named: list[Json] = next((p["parties"] for p in self._in_turn(events, plans) if p["parties"]), [])
        self.spans: list[tuple[int, list[Json], set[str]]] = []
        waiting: dict[int, Json] = {}
        said: dict[int, set[str]] = {}
        known = False
        for line in events:
            value, seq = line.get("value") or {}, line["seq"]
            if line["event"] in ("campaign_start", "amended"):
                plan = plans[value["document"]]
                if not known:
                    self.spans.append((0 if not self.spans else seq, named, set(plan["consent"])))
                elif plan["parties"] != self.spans[-1][1] or set(plan["consent"]) != self.spans[-1][2]:
                    waiting[seq] = plan
                known = known or bool(plan["parties"])
            elif line["event"] == "agreed":
                for number, digest in value["acts"]:
                    if number < seq and digests.get(number) == digest:
                        said.setdefault(number, set()).add(self.of(value["by"], seq))
                for number in [one for one, plan in waiting.items() if self._concerned(plan) <= said.get(one, set())]:
                    plan = waiting.pop(number)
                    self.spans.append((seq, plan["parties"], set(plan["consent"])))

    def _in_turn(self, events: list[Json], plans: dict[str, Json]) -> list[Json]:
        return [plans[line["value"]["document"]] for line in events if line["event"] in ("campaign_start", "amended")]

    def _concerned(self, plan: Json) -> set[str]:
        """The parties that have to agree to a change: those that it changes; all of them where it asks for other consent."""
        _, parties, consent = self.spans[-1]
        new = {one["name"]: one for one in plan["parties"]}
        changed = {one["name"] for one in parties if new.get(one["name"]) != one}
        every = {one["name"] for one in parties}
        return every if set(plan["consent"]) != consent or not changed or set(new) - every else changed

    def at(self, seq: int) -> list[Json]:
        """The parties that counted when an event came."""
        return [span for span in self.spans if span[0] < seq][-1][1]

    def of(self, by: str, seq: int) -> str:
        """The party that a name spoke for when an event came."""
        return next((one["name"] for one in self.at(seq) if _plain(by) in map(_plain, one["people"])), "")

    def asks(self, seq: int) -> set[str]:
        """The kinds of acts that needed consent then."""
        return [span for span in self.spans if span[0] < seq][-1][2]

    @property
    def names(self) -> list[str]:
        """The parties that count in the end."""
        return [one["name"] for one in self.spans[-1][1]]


def _plain(name: str) -> str:
    """A name without its case, its encoding and the spaces between its words."""
    return unicodedata.normalize("NFD", " ".join(unicodedata.normalize("NFD", name).casefold().split()))
