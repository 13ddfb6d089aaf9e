"""Commands whose system calls fail, each in a copy of a record: they say so in a sentence, and what they leave is nothing or whole.

``trial`` is the way in: sentences about what is wrong. This process must have been started with the injector as ``LD_PRELOAD``.
"""

from __future__ import annotations

import ctypes
import json
import os
import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import crash_injected_errors
import record_damages
from record_damages import Source, Told, tell

ERRORS = crash_injected_errors.ERRORS | crash_injected_errors.STALE | crash_injected_errors.SIBLINGS
WORDS = (
    *record_damages.READERS,
    *record_damages.ACTS,
    *record_damages.ACTS,
    ("seal", "--by", "A"),
    ("resume", "-q"),
)
_LATEST = 60  # of the calls of a command: the first to fail


def arm(wish: str, site: Path) -> Callable[[], None]:
    """What a command does first in its own process: from then on its calls are counted."""

    def begin() -> None:
        os.environ |= {"INJECT": wish, "INJECT_UNDER": str(site), "INJECT_TOLD": str(told_by(site))}
        ctypes.CDLL(None).inject_anew()

    return begin


def told_by(site: Path) -> Path:
    """The file that has a line for each call that failed."""
    return site.with_name(f"{site.name}.told")


def trial(source: Source, site: Path, chance: random.Random) -> tuple[str, bool, list[str]]:
    """Purpose: what was done to which command, whether a call failed, and what was broken; ``site`` is a copy of the source."""
    words = chance.choice(
        [words for words in WORDS if words not in record_damages.READERS or words in source.reference]
    )
    call = chance.choice(list(ERRORS))
    wish = f"{call}:{round(_LATEST ** chance.random())}:{chance.choice((1, 1, 3, 40))}:{chance.choice(ERRORS[call])}"
    told_by(site).unlink(missing_ok=True)
    if chance.random() < 0.3:
        record_damages.warm(source, site)
    told = tell(site, *record_damages.words_of(source, words), first=arm(wish, site))
    met = told_by(site).exists()
    done = f"{' '.join(words)} with {wish}"
    return done, met, (_broken(source, site, words, told) if met else [])


def _broken(source: Source, site: Path, words: tuple[str, ...], told: Told) -> list[str]:
    wrong = [f"it says {what}" for what in record_damages.faults(told)]
    if told.status == -999:
        wrong.append("it does not end")
    if words in source.reference and words not in source.unsteady and told.status in (0, 1, 4):
        reference = source.reference[words]
        new = record_damages.numbers(told) - record_damages.numbers(reference)
        new |= record_damages.numbers(reference) - record_damages.numbers(told)
        if new and not told.err.strip() and words[0] not in ("verify",) and "--verify" not in words:
            wrong.append(f"other numbers, and no word: {dict(list(new.items())[:6])}")
    verified = tell(site, "verify", source.campaign, "--json")
    said = {}
    with suppress(ValueError):
        said = json.loads(verified.out)
    if not said.get("whole"):
        wrong.append(f"then verify says {said.get('damage') or verified}; it had said {told}")
    if words in record_damages.READERS:
        return wrong
    again = tell(site, *record_damages.words_of(source, words))
    wrong += [f"again it says {what}" for what in record_damages.faults(again)]
    counted = (site / "truth").read_text().split()
    return wrong + [
        f"run {run} was executed {counted.count(run)} times" for run in sorted(set(counted)) if counted.count(run) > 1
    ]
