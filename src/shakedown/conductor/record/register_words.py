"""Which of its plan's campaigns a campaign is, and how the others ended, by the site's register and by what is on disk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from shakedown.events.campaigns import CAMPAIGNS
from shakedown.events.entered import begun_anew, disowned, read_entry, vouched_by
from shakedown.events.reader import Reader, read_events
from shakedown.events.register import ENDED, FOUND, SEALED, Entry, Register
from shakedown.events.segments import sha256
from shakedown.events.set_back import set_back_of
from shakedown.metrics.words import plural
from shakedown.model.errors import RecordError
from shakedown.model.events import is_act
from shakedown.model.layout import Layout

_ORDINALS = ("", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_NUMBERS = ("", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
THERE, GONE, NOT_BEGUN, OTHER, OLDER = "there", "gone", "not begun", "another", "set back"


class Standing(Struct, frozen=True):
    """A campaign of the register.

    ``place``: there, gone, not begun, another one under its name, or set back to an older copy. ``outcome``: the last one in the
    register, "" where there is none; ``before``: other outcomes with which it ended or was sealed earlier, in their order.
    ``sealed``: how often it was. ``found``: it was entered when the register was opened. ``ad_hoc``: it has no plan file. ``acts``:
    how many acts of people came after the outcome and may change it.
    """

    campaign: str
    plan: str
    entry: int
    entered: float
    place: str
    outcome: str
    sealed: int
    found: bool
    ad_hoc: bool = False
    acts: int = 0
    before: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """How it ended, or what became of it, in words."""
        acts = f"{plural(self.acts, 'act')} of people came after that" if self.acts else ""
        if self.place in (THERE, NOT_BEGUN):
            ended = self.outcome or ("not over" if self.place == THERE else "entered and not begun")
            beside = "; ".join(filter(None, (self.before_words, acts)))
            return ended + (f" ({beside})" if beside else "")
        when = "after its seal" if self.sealed else "after its end" if self.outcome else "before its end"
        became = {GONE: "removed", OLDER: "set back to an older copy"}.get(self.place, "replaced by another record")
        beside = "; ".join(filter(None, (self.outcome, self.before_words)))
        return f"{became} {when}" + (f" ({beside})" if beside else "")

    @property
    def before_words(self) -> str:
        """The earlier, different outcomes, "" where there are none: a changed outcome stays visible."""
        return f"{' and '.join(self.before)} before" if self.before else ""


def standings(site: Path, register: Register) -> list[Standing]:
    """Purpose: every campaign of the register, in the order in which they were entered."""
    return [_standing(site, register, entry) for entry in register.campaigns()]


def _standing(site: Path, register: Register, entry: Entry) -> Standing:
    told = [one for one in register.facts(entry.campaign, FOUND, SEALED, ENDED) if one.outcome]
    sealed = sum(one.fact == SEALED for one in told) + (entry.fact == FOUND and bool(entry.digest))
    place = place_of(site, register, entry)
    if place == THERE and _is_older(Layout(site / CAMPAIGNS / entry.campaign)):
        place = OLDER
    outcome = told[-1].outcome if told else ""
    acts = _acts_after(Layout(site / CAMPAIGNS / entry.campaign), told[-1].event) if told and place == THERE else 0
    return Standing(
        entry.campaign,
        entry.plan,
        entry.entry,
        entry.time,
        place,
        outcome,
        sealed,
        found=entry.fact == FOUND,
        ad_hoc=entry.ad_hoc,
        acts=acts,
        before=tuple(dict.fromkeys(one.outcome for one in told if one.outcome != outcome)),
    )


def _is_older(layout: Layout) -> bool:
    """Whether the log is an older copy than the register knows. A log that cannot be read is reported by those who check it."""
    try:
        return bool(set_back_of(layout))
    except (RecordError, OSError):
        return False


def _acts_after(layout: Layout, event: int) -> int:
    """How many acts of people the log has after an event. 0 where it cannot be read; those who check it report that."""
    try:
        later = [one for one in read_events(layout.log, after=event) if is_act(one)] if event else []
    except (RecordError, OSError):
        return 0
    return len({one.value.get("together") or one.seq for one in later})


def place_of(site: Path, register: Register, entry: Entry) -> str:
    """Purpose: what is on disk where an entered campaign should be: the campaign, nothing, or another record."""
    layout = Layout(site / CAMPAIGNS / entry.campaign)
    if not (layout.log.is_dir() or layout.documents.is_dir()):
        return GONE
    try:
        said = vouched_by(layout)
        if said is not None and (said.register == register.name or not begun_anew(register)):
            return OTHER if said.entry != entry.entry or disowned(register, said) else THERE
        first = first_line(layout)
    except (RecordError, OSError):
        return THERE  # it cannot be read: whoever checks it says so
    if entry.fact == FOUND:
        return THERE if entry.first in ("", first) else OTHER  # it was damaged already when it was found
    if first:
        return OTHER
    return NOT_BEGUN if read_entry(layout).get("identity") == entry.identity else OTHER


def first_line(layout: Layout) -> str:
    """Purpose: the sha256 of the first event's line; "" where nothing has begun. Raises RecordError."""
    if not layout.log.is_dir():
        return ""
    line = next((line for _, line in Reader(layout.log).lines()), None)
    return sha256(line) if line is not None else ""


# ---- in words --------------------------------------------------------------------------------------------------------------


def history(site: Path, register: Register, campaign: str) -> str:
    """Purpose: for instance "third of three campaigns of this plan (of 5 of the site, entry 9 of its register); earlier: 1
    rejected, ...". "" where the register does not have the campaign.
    """
    known = register.entered(campaign)
    if known is None:
        return ""
    own = known[1]
    others = standings(site, register)
    of_plan = [one for one in others if _same_plan(one, own)]
    place = next(place for place, one in enumerate(of_plan) if one.campaign == campaign)
    parts = [_claim(own, place + 1, len(of_plan), len(others))]
    mine = of_plan[place]
    parts += [f"this one came out as {' and '.join(mine.before)} before"] if mine.before else []
    parts += _counted("earlier", of_plan[:place]) + _counted("later", of_plan[place + 1 :])
    return "; ".join([*parts, *_anew(register)])


def claim_at(register: Register, entry: int, upto: int) -> str:
    """Purpose: the beginning of the words on a campaign, as of the time when ``upto`` was the last line of the register."""
    own = register.entries[entry - 1]
    there = [one for one in register.campaigns() if one.entry <= upto]
    of_plan = [one for one in there if _same_plan(one, own)]
    return _claim(own, of_plan.index(own) + 1, len(of_plan), len(there))


def _same_plan(one: Standing | Entry, own: Entry) -> bool:
    """Whether two campaigns have the same plan. A plan file may have the same name as a plan made from options; these are two
    plans.
    """
    return (one.plan, one.ad_hoc) == (own.plan, own.ad_hoc)


def _claim(own: Entry, place: int, of_plan: int, of_site: int) -> str:
    found = ", found there when the register was opened" if own.fact == FOUND else ""
    return f"{_which(place, of_plan)} (of {of_site} of the site, entry {own.entry} of its register{found})"


def _which(place: int, count: int) -> str:
    if count == 1:
        return "the only campaign of this plan"
    ordinal = _ORDINALS[place] if place < len(_ORDINALS) else f"number {place}"
    number = _NUMBERS[count] if count < len(_NUMBERS) else str(count)
    return f"{ordinal} of {number} campaigns of this plan"


def _counted(when: str, others: Sequence[Standing]) -> list[str]:
    if not others:
        return []
    counts = Counter(one.words for one in others)
    return [f"{when}: " + ", ".join(f"{count} {words}" for words, count in counts.items())]


def _anew(register: Register) -> list[str]:
    if not begun_anew(register):
        return []
    first = register.entries[0]
    when = f"{datetime.fromtimestamp(first.time, UTC):%Y-%m-%d}"
    return [f"the register was begun anew on {when} by {first.by}: {first.because[:200]}"]


def in_all(others: Sequence[Standing]) -> str:
    """Purpose: one sentence on all campaigns of a site."""
    counts = Counter(one.words for one in others)
    ends = ", ".join(f"{count} {words}" for words, count in counts.items())
    return f"{plural(len(others), 'campaign')} in the register" + (f": {ends}" if ends else "")
