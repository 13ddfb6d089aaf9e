"""A site's register as its tests look at it: what it says, and a campaign that was entered and has not begun."""

from __future__ import annotations

from pathlib import Path

from shakedown.conductor.record.registering import enter
from shakedown.events.campaigns import create_campaign
from shakedown.events.register import read_register
from shakedown.model.frozen import thaw
from shakedown.model.layout import Layout
from shakedown.model.nouns import Document


def facts(site: Path) -> list[tuple[str, str, str]]:
    return [(one.fact, one.campaign, one.outcome) for one in read_register(site).entries]


def judging_page() -> str:
    """docs/concepts/judging.md on one line."""
    page = (Path(__file__).parents[2] / "docs/concepts/judging.md").read_text()
    return " ".join(page.replace("\n> ", "\n").split())


def plan_of(site: Path) -> tuple[bytes, Document]:
    frozen = next((site / "campaigns/p-2/documents").glob("*.json")).read_bytes()
    return frozen, thaw(frozen)


def new(site: Path, name: str = "p-3", plan: Path | None = None) -> Layout:
    """A campaign that was made and entered, and has not begun; of the plan of another site, where one is named."""
    frozen, document = plan_of(plan or site)
    layout = create_campaign(site / "campaigns", name, frozen)
    enter(layout, document)
    return layout
