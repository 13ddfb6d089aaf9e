"""``shakedown feed``: every event of a site's campaigns to a server of time series, to any server as JSON, or to syslog."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shakedown.cli.output import emit, json_option, printable, say, site_option
from shakedown.model.errors import OUR_FAULT, UNDECIDED, UsageError

if TYPE_CHECKING:
    from shakedown.live.feeds.feed import Feed

_FACILITIES = ("user", "daemon", *(f"local{number}" for number in range(8)))


@dataclass(frozen=True, slots=True)
class Wishes:
    """The options of one call that shape what is sent, and how."""

    token_file: Path | None
    names: str | None
    udp: bool
    tls: bool
    ca_file: Path | None
    facility: str | None
    unconfirmed: bool


_OF_SYSLOG = ("udp", "tls", "ca_file", "facility", "unconfirmed")


@click.command()
@click.argument("kind", type=click.Choice(["influx", "json", "syslog"]))
@click.argument("address")
@site_option
@click.option(
    "--token-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    default=None,
    metavar="FILE",
    help="Of influx and json: a file with the token of the server, which is sent as Authorization.",
)
@click.option(
    "--names",
    type=click.Choice(["ours", "olcf"]),
    default=None,
    help="Of influx: our measurements (without it), or events, metrics and node_health as OLCF's test harness writes them.",
)
@click.option("--udp", is_flag=True, help="Of syslog: a datagram for each message, to port 514, instead of TCP.")
@click.option("--tls", is_flag=True, help="Of syslog: TCP with TLS, to port 6514.")
@click.option(
    "--ca-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    default=None,
    metavar="FILE",
    help="Of syslog with --tls: who signed the server's certificate; without it, the authorities that this machine trusts.",
)
@click.option(
    "--facility",
    type=click.Choice(_FACILITIES),
    default=None,
    metavar="NAME",
    help="Of syslog: user, daemon, or local0 to local7; without it, local0.",
)
@click.option(
    "--unconfirmed",
    is_flag=True,
    help="Of syslog over TCP and TLS: for a server that never ends its side of a connection. What was on its way when the server "
    "went away is lost.",
)
@click.option("--once", is_flag=True, help="End when all is sent, or when the server does not answer: for cron.")
@click.option(
    "--position",
    type=click.Path(dir_okay=False, path_type=Path),
    default=None,
    metavar="FILE",
    help="Where it is kept how far the feed came.",
)
@json_option
def command(
    kind: str, address: str, site: str | None, once: bool, position: Path | None, as_json: bool, **options: Any
) -> int:
    """Send every event of a site's campaigns to the server at ADDRESS, once, whatever happens to it or to us.

    KIND is influx (the line protocol of InfluxDB 1 and 2, which VictoriaMetrics takes too; ADDRESS with its database or bucket,
    such as http://influx:8086/write?db=acceptance), json (a list of events in each POST) or syslog (a message of RFC 5424 for each
    event; ADDRESS is HOST or HOST:PORT, TCP and port 601 where nothing else is said). It goes on until Ctrl-C; started again it
    goes on where it was.

    Exit status of --once: 0 all is sent, 3 a record is damaged or cannot be read, 4 the server did not take all of it.
    """
    from shakedown.plans import find_site

    found = find_site(Path(site) if site else None)
    wishes = Wishes(**options)
    _refuse_foreign_options(kind, wishes)
    feed, more = (_to_syslog if kind == "syslog" else _to_http)(kind, address, wishes, found, position)
    try:
        done = feed.run(once)
    except KeyboardInterrupt:
        done = True
    counts = feed.counts
    said = f"{counts.events} events read, {counts.sent} items taken by the server, {counts.refused} refused for good"
    said += "".join(f", {count} {name}" for name, count in more().items())
    data: dict[str, Any] = {
        "events": counts.events,
        "sent": counts.sent,
        "refused": counts.refused,
        **more(),
        "all": done,
    }
    if feed.untrusted:
        said += f"; nothing more is sent of {', '.join(feed.untrusted)}"
        data["damaged"] = feed.untrusted
    emit(data, as_json, lambda: printable(said))
    if feed.untrusted:
        return OUR_FAULT
    return 0 if done and not counts.refused else UNDECIDED


def _refuse_foreign_options(kind: str, wishes: Wishes) -> None:
    """Raise UsageError for an option that this kind of feed does not have, and for two that exclude each other."""
    given = [one.name for one in fields(wishes) if getattr(wishes, one.name)]
    theirs = [name for name in given if (name in _OF_SYSLOG) != (kind == "syslog")]
    if theirs:
        whose = "syslog" if kind != "syslog" else "influx or json"
        option = f"--{theirs[0].replace('_', '-')}"
        raise UsageError(f"{option} says nothing to a feed of {kind}", hint=f"leave it out, or feed {whose}")
    if kind == "json" and wishes.names not in (None, "ours"):
        raise UsageError("events as JSON have the names of the record", hint="leave --names out, or feed influx")
    if wishes.udp and (wishes.tls or wishes.unconfirmed):
        other = "--tls" if wishes.tls else "--unconfirmed"
        raise UsageError(
            f"--udp and {other} exclude each other: datagrams have no connection", hint="leave one of them out"
        )
    if wishes.ca_file and not wishes.tls:
        raise UsageError("--ca-file is of use with --tls alone", hint="give --tls, too, or leave it out")


Made = tuple["Feed", Callable[[], dict[str, int]]]  # the feed, and what else it has counted


def _to_http(kind: str, address: str, wishes: Wishes, site: Path, position: Path | None) -> Made:
    from shakedown.live.feeds.feed import Feed, place_of
    from shakedown.live.feeds.items import JSON, LINES, OLCF, Lines, as_json
    from shakedown.live.feeds.sending import HttpServer, check_address, with_words

    form = JSON if kind == "json" else OLCF if wishes.names == "olcf" else LINES
    check_address(address)
    whole = with_words(address, precision="ns") if form != JSON else address
    server = HttpServer(whole, _headers(wishes.token_file, form), form == JSON)
    items = as_json if form == JSON else Lines(form).of
    return Feed(site, items, server.send, position or place_of(site, address, form), say), dict


def _to_syslog(kind: str, address: str, wishes: Wishes, site: Path, position: Path | None) -> Made:
    import os

    from shakedown.live.feeds.feed import Feed, place_of
    from shakedown.live.feeds.syslog_message import FACILITIES, LONGEST_DATAGRAM, LONGEST_STREAM, Messages
    from shakedown.live.feeds.syslog_sending import TCP, TLS, UDP, read_server

    transport = UDP if wishes.udp else TLS if wishes.tls else TCP
    server = read_server(address, transport, wishes.ca_file, not wishes.unconfirmed)
    longest = LONGEST_DATAGRAM if wishes.udp else LONGEST_STREAM
    facility = FACILITIES[wishes.facility or "local0"]
    messages = Messages(facility, os.uname().nodename, os.getpid(), longest, say)
    place = position or place_of(site, server.address, kind)
    return Feed(site, messages.of, server.send, place, say), lambda: {"cut": messages.cut}


def _headers(token_file: Path | None, form: str) -> dict[str, str]:
    if token_file is None:
        return {}
    try:
        token = token_file.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{token_file} cannot be read as a token: {error}") from error
    if not token or "\n" in token or not token.isprintable():
        raise UsageError(f"{token_file} holds no token", hint="it is one line of plain letters")
    kind = "" if " " in token else "Bearer " if form == "json" else "Token "
    return {"Authorization": f"{kind}{token}"}
