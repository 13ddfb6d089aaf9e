"""``shakedown alert``: news of a site's campaigns to a chat, by mail, or to a command."""

from __future__ import annotations

import getpass
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from shakedown.cli.output import emit, json_option, say, site_option
from shakedown.live.alerts.kinds import KINDS, TEST, USUAL
from shakedown.model.errors import UNDECIDED, UsageError
from shakedown.model.own_places import own_place

if TYPE_CHECKING:
    from shakedown.live.alerts.targets import Target


@click.command()
@click.argument("target", type=click.Choice(["webhook", "mail", "command"]))
@click.argument("words", nargs=-1, required=True, metavar="WHERE...")
@site_option
@click.option(
    "--on",
    "kinds",
    multiple=True,
    type=click.Choice(tuple(KINDS)),
    help=f"Kinds of news; without it all but {' and '.join(kind for kind in KINDS if kind not in USUAL)}.",
)
@click.option(
    "--every", default="60s", show_default=True, metavar="DURATION", help="The shortest time between two messages."
)
@click.option(
    "--shape",
    default="slack",
    show_default=True,
    type=click.Choice(["slack", "mattermost", "teams", "json"]),
    help="How a webhook wants its JSON.",
)
@click.option("--server", default="localhost:25", show_default=True, metavar="HOST[:PORT]", help="The mail server.")
@click.option("--sender", default=None, metavar="ADDRESS", help="Who mail is from; without it you on this machine.")
@click.option("--once", is_flag=True, help="Tell what is new and end: for cron.")
@click.option("--test", is_flag=True, help="Send one message that says that it is a test.")
@click.option(
    "--position",
    type=click.Path(dir_okay=False, path_type=Path),
    default=None,
    metavar="FILE",
    help="Where it is kept how far it came; messages are kept beside it.",
)
@json_option
def command(
    target: str, words: tuple[str, ...], site: str | None, kinds: tuple[str, ...], every: str, shape: str, server: str,
    sender: str | None, once: bool, test: bool, position: Path | None, as_json: bool,
) -> int:  # fmt: skip
    """Tell people what happens: failures, nodes that are out, holes, lost criteria, silent conductors, full disks, the end.

    WHERE is, for a webhook, a file that holds its address; for mail, the addresses; for a command, its words. It goes on until
    Ctrl-C. News is gathered: at most one message in --every, the first lines of each kind. A message that was not taken is
    tried again.

    Exit status of --once and --test: 0 it was taken, 4 it was not.
    """
    from shakedown.live.alerts.news import News
    from shakedown.live.alerts.watchman import Watchman
    from shakedown.plans import find_site

    found = find_site(Path(site) if site else None)
    sends = _target(target, words, shape, server, sender)
    if test:
        import time

        why = sends([News(TEST, "this site", time.time(), "this is a test of its alerts: nothing happened")])
        emit({"taken": not why, "why": why}, as_json, lambda: f"not taken: {why}" if why else "the test was taken")
        return UNDECIDED if why else 0
    saved = position or _place(found, target, words)
    watchman = Watchman(found, sends, kinds or USUAL, saved, saved.with_suffix(".told.jsonl"), say, _seconds(every))
    try:
        done = watchman.run(once)
    except KeyboardInterrupt:
        done = True
    return 0 if done else UNDECIDED


def _seconds(text: str) -> float:
    from shakedown.model.units import parse_duration

    try:
        return parse_duration(text)
    except ValueError as error:
        raise UsageError(f"--every: {error}") from error


def _target(target: str, words: tuple[str, ...], shape: str, server: str, sender: str | None) -> Target:
    from shakedown.live.alerts.targets import Command, Mail, Webhook, read_address

    if target == "webhook":
        if len(words) != 1:
            raise UsageError(
                "a webhook is one file that holds its address",
                hint="the address is a secret: it is no word of a command",
            )
        if words[0].startswith(("http://", "https://")):
            raise UsageError(
                "the address of a webhook is a secret",
                hint="put it into a file that only you can read, and name the file",
            )
        return Webhook(read_address(Path(words[0])), shape)
    if target == "command":
        return Command(words)
    strange = [word for word in words if "@" not in word or any(letter.isspace() for letter in word)]
    if strange:
        raise UsageError(f"'{strange[0]}' is no address of mail")
    host, _, port = server.partition(":")
    if not host or (port and not port.isdecimal()):
        raise UsageError(f"--server '{server}' is no server", hint="HOST or HOST:PORT")
    return Mail(words, sender or f"{_login()}@{os.uname().nodename}", host, int(port or 25))


def _login() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # as in a container that has no name for its user
        return f"uid{os.getuid()}"


def _place(site: Path, target: str, words: tuple[str, ...]) -> Path:
    import hashlib

    home = own_place("XDG_STATE_HOME") / "shakedown/alerts"
    key = hashlib.sha256(os.fsencode("\0".join([str(site.resolve()), target, *words]))).hexdigest()[:16]
    return home / f"{key}.json"
