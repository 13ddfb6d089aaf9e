"""``shakedown serve``: the campaigns of a site as a page that follows them, and as metrics."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shakedown.cli.output import say, site_option
from shakedown.model.errors import UsageError
from shakedown.model.own_places import own_place

if TYPE_CHECKING:
    from shakedown.store.index import Index

EXTRA = "shakedown[serve]"


@click.command()
@site_option
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="The address to listen on.")
@click.option(
    "--port", default=8130, show_default=True, type=click.IntRange(0, 65535), help="The port; 0 takes a free one."
)
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="NAME",
    help="A name under which this machine is asked, beside the address. Others are refused.",
)
@click.option("--token", is_flag=True, help="Ask for a token on the loopback address too.")
@click.option(
    "--allow-rulings",
    "rulings",
    is_flag=True,
    help="Let people say whose failures runs were, which classes and which tickets. It wants a token.",
)
@click.option("--rehearsals", is_flag=True, help="Show rehearsals as well.")
@click.option(
    "--index",
    "index_url",
    default=None,
    metavar="URL",
    help="Where the index is kept, such as sqlite:////tmp/index.sqlite.",
)
def command(
    site: str | None,
    host: str,
    port: int,
    names: tuple[str, ...],
    token: bool,
    rulings: bool,
    rehearsals: bool,
    index_url: str | None,
) -> int:
    """Serve the campaigns of a site as a live page.

    It shows and never steers; with --allow-rulings people can rule on runs.

    Without --host only this machine reaches it; on any other address it wants a token, which is printed once as part of the
    address. Ctrl-C ends it. Prometheus finds the same counts at /metrics.
    """
    from shakedown.plans import find_site

    found = find_site(Path(site) if site else None)
    loopback = _is_loopback(host)
    word = secrets.token_urlsafe(24) if token or rulings or not loopback else ""
    _serve(
        found,
        host,
        port,
        [host, *names, *(["localhost", "127.0.0.1"] if loopback else [])],
        word,
        rehearsals,
        index_url,
        rulings,
    )
    return 0


def _serve(
    site: Path,
    host: str,
    port: int,
    hosts: list[str],
    token: str,
    rehearsals: bool,
    index_url: str | None,
    rulings: bool,
) -> None:
    """Build the index, then serve until somebody ends it."""
    try:
        import uvicorn

        from shakedown.live.indexing import Indexer
        from shakedown.live.server import application
        from shakedown.store.index import Index, sqlite_url, writing_alone
    except ImportError as error:
        message = f"'shakedown serve' needs packages that are not installed: {error.name}"
        raise UsageError(message, hint=f"pip install '{EXTRA}'") from error
    with writing_alone(index_url or sqlite_url(_place_of_index(site))):
        index = Index(index_url) if index_url else _own_index(_place_of_index(site))
        indexer = Indexer(site, index, rehearsals)
        say("reading the records ...")
        indexer.refresh()
        listening = _listen(host, port)
        address = f"[{host}]" if ":" in host else host
        config = uvicorn.Config(
            application(indexer, hosts, token, rulings=rulings),
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=2,
        )
        with contextlib.suppress(KeyboardInterrupt):  # the way to end it, and no fault
            say(f"http://{address}:{listening.getsockname()[1]}/{'?token=' + token if token else ''}")
            uvicorn.Server(config).run(sockets=[listening])
        index.close()


def _own_index(place: Path) -> Index:
    """The index in our own file; one that cannot be read is built again."""
    from shakedown.store.index import Index, sqlite_url

    try:
        return Index(sqlite_url(place))
    except UsageError:
        for path in place.parent.glob(f"{place.name}*"):
            path.unlink(missing_ok=True)
        return Index(sqlite_url(place))


def _listen(host: str, port: int) -> Any:
    import socket

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        why = error.strerror or str(error)
        raise UsageError(
            f"cannot listen on {host} port {port}: {why}", hint="name another one with --port or --host"
        ) from error


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _place_of_index(site: Path) -> Path:
    """A file of the person's own cache for each site: nothing is written into the site."""
    import hashlib

    home = own_place("XDG_CACHE_HOME") / "shakedown"
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        message = f"no index can be kept in {home}: {error.strerror}"
        raise UsageError(
            message, hint="name another place with --index, such as sqlite:////tmp/index.sqlite"
        ) from error
    return home / f"index-{hashlib.sha256(os.fsencode(site.resolve())).hexdigest()[:16]}.sqlite"
