"""Commands that write, killed at a random moment: what they leave is nothing or whole, and the same command goes through again.

``trial`` is the way in: it takes a copy of a finished record, kills one command somewhere in its time, and says what is wrong then.
"""

from __future__ import annotations

import json
import random
import subprocess
import time
from pathlib import Path

import record_damages
from record_damages import Source, Told, tell

from shakedown.events.reader import read_events

COMMANDS: tuple[tuple[str, ...], ...] = (
    ("rule", "r000001", "r000004", "--as", "site", "--by", "A", "--because", "b"),
    ("amend", "p", "--by", "A", "--because", "b"),
    ("rejudge", "--by", "A", "--because", "b"),
    ("seal", "--by", "A"),
    ("change", "--by", "A", "--because", "b"),
    ("report", "--no-pdf"),
    ("figures",),
    ("export", "r000002", "exported"),
    ("init", "new", "--local"),
)
ADDS = {"rule": "ruled", "amend": "amended", "rejudge": "rejudged", "seal": "sealed", "change": "changed"}


def words_of(source: Source, words: tuple[str, ...]) -> tuple[str, ...]:
    """The command for the campaign of a source."""
    if words[0] in ("init", "figures"):
        return words if words[0] == "init" else (words[0], source.campaign)
    if words[0] == "amend":
        return (*words, "--campaign", source.campaign)
    return record_damages.words_of(source, words)


def prepare(source: Source, site: Path, words: tuple[str, ...]) -> None:
    """Purpose: what makes a command do something: another plan, a check that was wrong."""
    if words[0] in ("amend", "rejudge"):
        plan = site / "plans/p.yaml"
        plan.write_text(plan.read_text().replace(">= 1 MB/s", ">= 2 MB/s"))


def trial(source: Source, scratch: Path, seed: int) -> list[str]:
    """Purpose: what was broken, as sentences."""
    chance = random.Random(seed)
    words = COMMANDS[seed % len(COMMANDS)]
    site = record_damages.copy(source, scratch)
    prepare(source, site, words)
    began = time.monotonic()
    reference = tell(site, *words_of(source, words))
    took = time.monotonic() - began
    if reference.status not in (0, 1):
        return [f"{' '.join(words)}: {reference}"]
    site = record_damages.copy(source, scratch)
    prepare(source, site, words)
    after_s = chance.uniform(0.02, max(0.03, took))
    tell(site, *words_of(source, words), limit_s=after_s)  # it is killed then, with all that it started
    said = f"{' '.join(words)}, killed after {after_s:.3f} of {took:.3f} s"
    return [f"{said}: {what}" for what in _look(source, site, words, reference)]


def _look(source: Source, site: Path, words: tuple[str, ...], reference: Told) -> list[str]:
    if words[0] == "init":
        return _look_at_site(site, words)
    wrong = []
    verified = tell(site, "verify", source.campaign, "--json")
    said = json.loads(verified.out) if verified.out.startswith("{") else {}
    if not said.get("whole"):
        wrong.append(f"verify says {said.get('damage') or verified}")
    status = tell(site, "status", source.campaign, "--json")
    if status.status not in (0, 1) or "damaged" in json.loads(status.out or "{}"):
        wrong.append(f"status says {status}")
    if words[0] == "export":
        return wrong + _look_at_export(site)
    again = tell(site, *words_of(source, words))
    if again.status not in (0, 1, reference.status) or any(bad in again.err for bad in ("Traceback", "fault of")):
        wrong.append(f"again it says {again}")
    kind = ADDS.get(words[0])
    if kind:
        events = [event.event for event in read_events(site / source.campaign / "log")]
        if kind not in events:
            wrong.append(f"no event '{kind}' after it went through")
    if words[0] == "report":
        sums = ["sha256sum", "--quiet", "--check", "report/SHA256SUMS"]
        held = subprocess.run(sums, cwd=site / source.campaign, capture_output=True, text=True, check=False)
        wrong += [held.stdout] if held.returncode else []
    return wrong


def _look_at_export(site: Path) -> list[str]:
    """The directory is new: there, it is whole, or it is not there."""
    target = site / "exported"
    names = {path.name for path in target.iterdir()} if target.exists() else set()
    return [f"half of it is there: {sorted(names)}"] if names and not {"output", "events.jsonl"} <= names else []


def _look_at_site(site: Path, words: tuple[str, ...]) -> list[str]:
    """Half a site is none: init makes the rest, or all of it is there."""
    again = tell(site, *words)
    if again.status not in (0, 2):
        return [f"again it says {again}"]
    checked = tell(site / "new", "check")
    return [f"init says {again}, and check says {checked}"] if checked.status != 0 else []
