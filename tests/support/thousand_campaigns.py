"""A thousand campaigns: each is drawn from its seed, played through the real loop, and watched by the oracle at every event.

python tests/support/thousand_campaigns.py SEED...     plays some again: what was drawn, the end of the log, what the oracle said
"""

from __future__ import annotations

import sys
import traceback
from collections import Counter
from dataclasses import dataclass, field, fields
from typing import Any

from machine_counted import CountedBuilder, CountedCollector, CountedScheduler, CountedWorld
from oracle_strict import StrictOracle
from stability_plan import Filled
from thousand_people import operator_of
from thousand_plans import KINDS, plan_of
from thousand_troubles import ABOUT, about_of, deaths_of, troubles_of

from shakedown.engine import Policy
from shakedown.model.ports import Ports
from shakedown.twin.machine.crashes import Crash

SOON = Policy(grace_s=60.0, lost_after_s=300.0, no_answer_s=900.0, dead_after_s=60.0)
MOST_WAITS = 6000
SWITCHES = (*ABOUT, "away", "launches_nothing", "bad_as", "killed from outside")


@dataclass
class Nasty(Filled):
    """``exercised``: switch -> how often it changed something, by the machine's own word."""

    exercised: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        super().__post_init__()
        drawn = (self.fates, self.lies, self.local, self.others, self.cycle_s)
        self.world = CountedWorld(self.exercised, self.document, self.seed, self.clock, *drawn)
        self.oracle = self.strict = StrictOracle(self)

    def _with_polls(self, ports: Ports) -> Ports:
        scheduler = CountedScheduler(self.world, self.poll_s, self.quiet)
        builder, collector = CountedBuilder(self.world), CountedCollector(self.world)
        scheduler.seen = builder.seen = collector.seen = self.exercised
        ports.scheduler, ports.builder, ports.collector = scheduler, builder, collector
        return self._play(ports)

    def _die(self) -> None:
        """The crash itself is counted by the call at which it came."""
        crash = sys.exc_info()[1]
        if isinstance(crash, Crash):
            self.exercised[f"crash at {str(crash).partition(' ')[0]}"] += 1
        super()._die()


def campaign_of(seed: int, needing: float = 0.3, **options: Any) -> Nasty:
    """Purpose: the campaign of a seed, not played yet. ``options``: of ``Nasty``, instead of what was drawn."""
    kind = KINDS[seed % len(KINDS)]
    local, about = kind == "local", about_of(seed, kind)
    document = plan_of(seed, kind, about, needing)
    troubles = troubles_of(seed, document, about, local)
    drawn: dict[str, Any] = {
        "fates": troubles.fates,
        "lies": troubles.lies,
        "others": troubles.others,
        "policy": None if local else SOON,
        "dies": deaths_of(seed),
        "script": operator_of(seed, document, troubles.killed, local, takes_out=needing < 1.0),
        "cycle_s": 0.0 if seed % 4 else 7.0,
        "quiet": seed % 5 != 0,
    }
    return Nasty(document, seed=seed, local=local, **(drawn | options))


def play(seed: int) -> Nasty:
    """Purpose: a campaign to its end, over as many drivers as crashes and stops make necessary."""
    return to_its_end(campaign_of(seed))


def to_its_end(campaign: Nasty) -> Nasty:
    for _ in range(9):
        campaign.run(MOST_WAITS)
        if campaign.state.phase == "ended":
            return campaign
    raise AssertionError("it was stopped again and again and does not end")


def play_or_say(seed: int) -> Nasty:
    """Purpose: the same; what goes wrong says how to play it again."""
    try:
        return play(seed)
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        again = f"python tests/support/thousand_campaigns.py {seed}"
        raise AssertionError(f"seed {seed} ({KINDS[seed % len(KINDS)]}): {said}\nagain: {again}") from error


# ---- by hand ---------------------------------------------------------------------------------------------------------------


def tell(seed: int, last: int = 40) -> bool:
    """What was drawn, the end of the log, and what went wrong; whether nothing did."""
    campaign, kind = campaign_of(seed), KINDS[seed % len(KINDS)]
    print(f"seed {seed}: {kind}, {about_of(seed, kind)}")
    for drawn in (campaign.fates, campaign.lies, campaign.others):
        usual = type(drawn)()
        print({one.name: at for one in fields(drawn) if (at := getattr(drawn, one.name)) != getattr(usual, one.name)})
    print(campaign.document.components, campaign.document.limits, campaign.document.system, sep="\n")
    try:
        to_its_end(campaign)
    except Exception:  # noqa: BLE001  whatever it is, it is shown
        for event in campaign.strict.prefix()[-last:]:
            at = f"{event.time - campaign.world.began:8.1f} {event.seq:5d} {event.event}"
            print(at, event.case, event.run, event.job, dict(event.value), event.reason)
        traceback.print_exc(limit=-4)
        return False
    print(f"in order: {campaign.state.seq} events, {campaign.crashes} crashes; {dict(campaign.exercised)}")
    return True


if __name__ == "__main__":
    told = [tell(int(word)) for word in sys.argv[1:]]
    sys.exit(0 if all(told) else 1)
