"""The campaigns of a site, from its register and its directories. A plain listing: nothing is checked byte by byte."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from shakedown.conductor.record.register_words import Standing, in_all, standings
from shakedown.events.campaigns import CAMPAIGNS, campaigns_in
from shakedown.events.entered import read_vouched


class CampaignsSeen(Struct):
    """``register``: its name, "" where there is none; ``others``: directories that are not in it; ``trouble``: why the register is
    not what was written, "" where nothing shows that.
    """

    register: str
    summary: str
    campaigns: list[Standing]
    others: list[str]
    trouble: str


def campaigns_of(site: Path) -> CampaignsSeen:
    """Purpose: every campaign that was ever entered, and every directory that was not. Errors: RecordError."""
    register, why = read_vouched(site)
    found = standings(site, register)
    known = {one.campaign for one in found}
    others = [path.name for path in campaigns_in(site / CAMPAIGNS) if path.name not in known]
    return CampaignsSeen(register.name, in_all(found), found, others, register.damage or why)
