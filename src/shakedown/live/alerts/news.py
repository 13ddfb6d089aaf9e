"""Turn events of a record into news: ``news_of`` for one event; ``kinds.KINDS`` lists the kinds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from shakedown.live.alerts.kinds import (
    ACT,
    CRITERIA,
    DAMAGE,
    DISK,
    FAILURES,
    FINDINGS,
    HOLES,
    NODES,
    OUTCOME,
    SILENT,
    TEST,
)
from shakedown.metrics.failures import failure_of
from shakedown.model.events import ACTS, Event
from shakedown.report.words import one_line

_TITLES = {
    FAILURES: ("failure", "failures"), NODES: ("news of nodes", "news of nodes"), HOLES: ("hole", "holes"),
    DISK: ("news of a disk", "news of disks"), CRITERIA: ("criterion not met", "criteria not met"),
    SILENT: ("its conductor", "news of conductors"), DAMAGE: ("DAMAGED", "DAMAGED"), OUTCOME: ("it is over", "are over"),
    ACT: ("act of a person", "acts of people"), FINDINGS: ("finding", "findings"), TEST: ("this is a test", "tests"),
}  # fmt: skip
_FINDINGS = {
    "node_left_out": NODES, "node_let_in": NODES, "many_excluded": NODES, "fell_out": HOLES, "idle_while_pending": HOLES,
    "stands_still": HOLES, "stood_still": HOLES, "disk_full": DISK, "disk_has_room": DISK,
    "observed_silent": HOLES,
}  # fmt: skip
_EVENTS = {"excluded": NODES, "included": NODES, "campaign_end": OUTCOME}
_SHOWN = 10  # lines of a message
_LONGEST = 300  # letters of a line


class News(Struct, frozen=True):
    """One piece of news. ``time``: seconds since 1970; ``text`` is one line of plain letters."""

    kind: str
    campaign: str
    time: float
    text: str


def news_of(campaign: str, event: Event) -> News | None:
    """Purpose: the news in an event; None where there is none."""
    kind = kind_of(event)
    if kind is None:
        return None
    return News(kind, campaign, event.time, one_line(text_of(event), _LONGEST))


def kind_of(event: Event) -> str | None:
    """Purpose: the kind of news that an event is, a word of ``KINDS``; None where it is none."""
    if event.event == "verdict":
        failed = failure_of(event) is not None and event.value.get("verdict") != "cancelled"
        return FAILURES if failed else None
    if event.event == "finding":
        return _FINDINGS.get(str(event.value.get("kind", "")), FINDINGS)
    return _EVENTS.get(event.event, ACT if event.event in ACTS else None)


def text_of(event: Event) -> str:
    """Purpose: what an event says, for people. It is text of unknown origin."""
    if event.event == "verdict":
        nodes = f" on {event.value['nodes']}" if event.value.get("nodes") else ""
        return f"{event.run} {event.case}{nodes}: {event.value.get('verdict', '')}: {event.reason}"
    if event.event == "campaign_end":
        return f"it is over{': ' + event.reason if event.reason else ''}"
    who = str(event.value.get("by") or event.value.get("who") or "")
    about = (
        event.event.replace("_", " ")
        if event.event != "finding"
        else str(event.value.get("kind", "")).replace("_", " ")
    )
    out = event.value.get("nodes")
    names = ", ".join(map(str, out)) if isinstance(out, list) else str(out or "")
    return f"{about}{f' {names}' if names else ''}{f' by {who}' if who else ''}{': ' + event.reason if event.reason else ''}"


def title_of(news: Sequence[News]) -> str:
    """Purpose: one line for all of them: which campaigns, how many of each kind."""
    campaigns = sorted({one.campaign for one in news})
    counts = Counter(one.kind for one in news)
    said = ", ".join(_counted(kind, count) for kind, count in counts.items())
    where = ", ".join(campaigns[:3]) + (f" and {len(campaigns) - 3} more" if len(campaigns) > 3 else "")
    return f"Shakedown: {where}: {said}"


def _counted(kind: str, count: int) -> str:
    one, many = _TITLES[kind]
    return f"{count} {many}" if count != 1 else one if kind in (SILENT, OUTCOME, DAMAGE, TEST) else f"1 {one}"


def lines_of(news: Sequence[News]) -> list[str]:
    """Purpose: the first lines of each kind, and how many more there are, so that many failures do not make a long message."""
    lines: list[str] = []
    for kind in dict.fromkeys(one.kind for one in news):
        mine = [one for one in news if one.kind == kind]
        lines += [f"{one.campaign}: {one.text}" for one in mine[:_SHOWN]]
        if len(mine) > _SHOWN:
            lines.append(f"and {len(mine) - _SHOWN} more {kind}")
    return lines
