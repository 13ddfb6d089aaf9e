"""``shakedown feed``: every event of a site's campaigns to a server of time series, or to any server as JSON."""

from __future__ import annotations

from pathlib import Path

import click

from shakedown.cli.output import emit, json_option, say, site_option
from shakedown.model.errors import UNDECIDED, UsageError


@click.command()
@click.argument("kind", type=click.Choice(["influx", "json"]))
@click.argument("address")
@site_option
@click.option(
    "--token-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    default=None,
    metavar="FILE",
    help="A file with the token of the server, which is sent as Authorization.",
)
@click.option(
    "--names",
    type=click.Choice(["ours", "olcf"]),
    default="ours",
    show_default=True,
    help="Of influx: our measurements, or events, metrics and node_health as OLCF's test harness writes them.",
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
    kind: str,
    address: str,
    site: str | None,
    token_file: Path | None,
    names: str,
    once: bool,
    position: Path | None,
    as_json: bool,
) -> int:
    """Send every event of a site's campaigns to the server at ADDRESS, once, whatever happens to it or to us.

    KIND is influx (the line protocol of InfluxDB 1 and 2, which VictoriaMetrics takes too; ADDRESS with its database or bucket,
    such as http://influx:8086/write?db=acceptance) or json (a list of events in each POST). It goes on until Ctrl-C; started
    again it goes on where it was.

    Exit status of --once: 0 all is sent, 4 the server did not take all of it.
    """
    from shakedown.live.feeds.feed import JSON, LINES, OLCF, Feed, place_of
    from shakedown.live.feeds.sending import check_address, with_words
    from shakedown.plans import find_site

    found = find_site(Path(site) if site else None)
    if kind == "json" and names != "ours":
        raise UsageError("events as JSON have the names of the record", hint="leave --names out, or feed influx")
    form = JSON if kind == "json" else OLCF if names == "olcf" else LINES
    check_address(address)
    whole = with_words(address, precision="ns") if form != JSON else address
    feed = Feed(found, whole, form, position or place_of(found, address, form), _headers(token_file, form), say)
    try:
        done = feed.run(once)
    except KeyboardInterrupt:
        done = True
    counts = feed.counts
    said = f"{counts.events} events read, {counts.sent} items taken by the server, {counts.refused} refused for good"
    emit({"events": counts.events, "sent": counts.sent, "refused": counts.refused, "all": done}, as_json, lambda: said)
    return 0 if done and not counts.refused else UNDECIDED


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
