"""``shakedown log``: the events of a campaign, as they were recorded."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shakedown.cli.naming import campaign_argument
from shakedown.cli.output import damage_noted, fitted, json_option, printable, say, site_option
from shakedown.model.errors import RecordError, UsageError, did_you_mean
from shakedown.model.events import EVENTS, SHOWN, Event

if TYPE_CHECKING:
    from shakedown.events.verification import Verification

Line = tuple[Event, bytes]
Wanted = Callable[[Event], bool]

LOOK_S = 0.2  # how often a followed log is looked at
WIDTH = 80
INDENT = " " * 26


@click.command("log")
@campaign_argument
@click.option("--follow", "-f", is_flag=True, help="Go on as events come, until the campaign ends.")
@click.option("--event", "events", multiple=True, metavar="NAME", help="Only events of this name; may be repeated.")
@click.option("--run", metavar="RUN", help="Only events of this run.")
@click.option("--case", metavar="CASE", help="Only events of this case.")
@click.option("--last", type=click.IntRange(min=0), metavar="N", help="Only the last N of them.")
@click.option("--verify", "check", is_flag=True, help="Check that the record is whole instead of printing it.")
@site_option
@json_option
def command(
    campaign: str | None,
    follow: bool,
    events: tuple[str, ...],
    run: str | None,
    case: str | None,
    last: int | None,
    check: bool,
    site: str | None,
    as_json: bool,
) -> None:
    """The events of a CAMPAIGN (an id or a path; without it the newest), one a line.

    With --json the lines are those of the record itself, byte for byte.
    """
    from shakedown.cli.record import find_campaign

    directory = find_campaign(Path(site) if site else None, campaign) / "log"
    if check:
        _verify(directory, as_json)
        return
    _say_damage(as_json)
    wanted = _filter(events, run, case)
    show = _show_raw if as_json else _show_human
    if follow:
        _follow(directory, wanted, last, show)
    elif not _shown(_kept(directory, wanted, last), show):
        say("no event matches" if events or run or case else "no event was recorded yet")


def _say_damage(as_json: bool) -> None:
    """Before the first line."""
    damage = damage_noted()
    if damage and as_json:
        import msgspec

        sys.stdout.buffer.write(msgspec.json.encode({"damaged": damage}) + b"\n")
    elif damage:
        click.echo(f"DAMAGED: {printable(damage)}")


def _filter(names: tuple[str, ...], run: str | None, case: str | None) -> Wanted:
    for name in names:
        if name not in EVENTS:
            raise UsageError(
                f"there is no event '{name}'", hint=did_you_mean(name, EVENTS) or f"there are: {', '.join(EVENTS)}"
            )

    def wanted(event: Event) -> bool:
        named = not names or event.event in names
        return named and run in (None, event.run) and case in (None, event.case)

    return wanted


def _kept(directory: Path, wanted: Wanted, last: int | None) -> Iterator[Line]:
    from shakedown.events.reader import Reader

    lines = (line for line in Reader(directory).lines() if wanted(line[0]))
    return lines if last is None else iter(deque(lines, maxlen=_capped_length(last)))


def _capped_length(last: int | None) -> int | None:
    """No log holds more lines than a list of this machine can."""
    return None if last is None else min(last, sys.maxsize)


def _shown(lines: Iterator[Line], show: Callable[[Line], None]) -> int:
    """Show them; how many there were."""
    count = 0
    for line in lines:
        show(line)
        count += 1
    return count


def _follow(directory: Path, wanted: Wanted, last: int | None, show: Callable[[Line], None]) -> None:
    """What is there, then what comes. Events that a repair of the log brings again are shown once."""
    from shakedown.events.follower import Follower

    follower, seen, ended = Follower(directory), 0, False
    backlog: deque[Line] = deque(maxlen=_capped_length(last))
    while lines := follower.new_lines():
        backlog.extend(line for line in lines if wanted(line[0]))
        seen, ended = lines[-1][0].seq, lines[-1][0].event in ("campaign_end", "driver_stop")
    _shown(iter(backlog), show)
    while not ended:
        sys.stdout.flush()
        time.sleep(LOOK_S)
        for line in follower.new_lines():
            if line[0].seq > seen:
                seen, ended = line[0].seq, line[0].event in ("campaign_end", "driver_stop")
                if wanted(line[0]):
                    show(line)


# ---- how a line looks ------------------------------------------------------------------------------------------------


def _show_raw(line: Line) -> None:
    sys.stdout.buffer.write(line[1] + b"\n")


def _show_human(line: Line) -> None:
    width = WIDTH if sys.stdout.isatty() else None
    click.echo(fitted(describe(line[0], width)))


def describe(event: Event, width: int | None = None) -> str:
    """Purpose: one event for people: seq, time in UTC, name, ids, reason. ``width``: what is longer goes on below, indented."""
    when = time.strftime("%m-%d %H:%M:%S UTC", time.gmtime(event.time))
    head = _one_line(f"{event.seq:>6} {when} {event.event:<15} ")
    ids = _one_line(" ".join(part for part in (event.run, event.job, event.case, event.build[:12]) if part))
    told = _one_line(_tell(event))
    text = (head + "  ".join(part for part in (ids, told) if part)).rstrip()
    if width is None or len(text) <= width:
        return text
    return f"{head}{ids}\n{_folded(told, INDENT, width)}" if ids else _folded(told, head, width)


def _tell(event: Event) -> str:
    """The telling facts and the reason."""
    facts = [str(event.value[key]) for key in SHOWN.get(event.event, ()) if event.value.get(key) not in (None, "")]
    return ": ".join(part for part in (" ".join(facts), event.reason) if part)


def _one_line(text: str) -> str:
    return printable(text).replace("\n", " ").replace("\t", " ")


def _folded(text: str, before: str, width: int) -> str:
    import textwrap

    return textwrap.fill(text, width, initial_indent=before, subsequent_indent=INDENT, break_on_hyphens=False)


# ---- is it whole? --------------------------------------------------------------------------------------------------------


def _verify(directory: Path, as_json: bool) -> None:
    import dataclasses

    from shakedown.cli.output import emit
    from shakedown.events.verification import verify

    found = verify(directory)
    data: dict[str, Any] = {"whole": found.whole, **dataclasses.asdict(found)}
    emit(data, as_json, lambda: _describe_verification(found))
    if not found.whole:
        raise RecordError(printable(found.problem), hint="put the segment back from a backup; later events hang on it")


def _describe_verification(found: Verification) -> str:
    from shakedown.model.units import show_bytes

    held = "the record is whole" if found.whole else "the record is damaged; whole before that place"
    segments = "1 segment" if found.segments == 1 else f"{found.segments} segments"
    lines = [f"{held}: {segments}, {found.events} events, {show_bytes(found.bytes)}"]
    if found.digest and found.whole:
        lines.append(f"sha256 of the last segment, which seals all others: {found.digest}")
    if found.torn_bytes:
        lines.append(f"{found.torn_bytes} bytes at the end are no whole line: still being written, or torn by a crash")
    if found.late_bytes:
        lines.append(
            f"{found.late_bytes} bytes lie behind a seal: a driver that had lost the lease wrote them; not counted"
        )
    lines += [f"{count} events '{name}' are of a later version" for name, count in found.unknown_events.items()]
    lines += [f"{count} fields '{name}' are of a later version" for name, count in found.unknown_fields.items()]
    return printable("\n".join(lines))
