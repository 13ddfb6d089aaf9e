"""The live page asked as a browser asks it, without a server between: one call of the application a request."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from finished_campaign import finished, people, site
from real_servers import influx, mariadb, postgres, victoria

from shakedown.live.indexing import Indexer
from shakedown.live.server import application
from shakedown.store.index import Index, sqlite_url

__all__ = ["finished", "influx", "mariadb", "people", "postgres", "site", "victoria"]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is remembered of the records here is nobody else's."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@dataclass(frozen=True)
class Answer:
    """What came back. ``headers`` by their names in small letters."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def data(self) -> Any:
        return json.loads(self.body)


class Browser:
    """Asks an application. ``host``: what the request says whom it asks."""

    def __init__(self, app: Any, host: str = "127.0.0.1:8130") -> None:
        self.app, self.host = app, host

    def get(self, address: str, method: str = "GET", body: bytes = b"", **headers: str) -> Answer:
        path, _, query = address.partition("?")
        said = {"host": self.host} | {name.replace("_", "-"): value for name, value in headers.items()}
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": _unquoted(path),
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in said.items()],
            "client": ("127.0.0.1", 40000),
            "server": ("127.0.0.1", 8130),
        }
        return asyncio.run(_ask(self.app, scope, body))

    def post(self, address: str, items: list[tuple[str, str]], **headers: str) -> Answer:
        """A form as a browser sends it."""
        said = {"content_type": "application/x-www-form-urlencoded", "origin": f"http://{self.host}"} | headers
        return self.get(address, "POST", urlencode(items).encode(), **{k: v for k, v in said.items() if v})


async def _ask(app: Any, scope: dict[str, Any], body: bytes) -> Answer:
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await app(scope, receive, send)
    begin = next(message for message in sent if message["type"] == "http.response.start")
    headers = {name.decode().lower(): value.decode("latin-1") for name, value in begin["headers"]}
    return Answer(begin["status"], headers, b"".join(message.get("body", b"") for message in sent))


def _unquoted(path: str) -> str:
    from urllib.parse import unquote

    return unquote(path)


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    made = Index(sqlite_url(tmp_path / "index.sqlite"))
    yield made
    made.close()


@pytest.fixture
def browse(index: Index) -> Callable[..., Browser]:
    """A browser at the page of a site, whose index is up to date."""

    def open_site(site: Path, token: str = "", host: str = "127.0.0.1:8130", rulings: bool = False) -> Browser:
        indexer = Indexer(site, index)
        indexer.refresh()
        app = application(indexer, ["127.0.0.1", "localhost"], token, wait_s=None, rulings=rulings)
        return Browser(app, host)

    return open_site
