"""Send to a server over HTTP, and interpret its answer: accepted, rejected for good, or to be tried again.

The feed waits for a server that does not answer, for any time; if a server rejects a part of the data, only that part is lost.
"""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from shakedown.model.errors import UsageError

TIMEOUT_S = 20.0
_SAID_BYTES = 300


class Outcome(StrEnum):
    """``TAKEN``: the server accepted it. ``REFUSED``: the server will never accept it. ``LATER``: it does not
    answer, or not now.
    """

    TAKEN = "taken"
    REFUSED = "refused"
    LATER = "later"


@dataclass(frozen=True, slots=True)
class Answer:
    outcome: Outcome
    says: str = ""


@dataclass(frozen=True, slots=True)
class HttpServer:
    """A server that takes the items of a feed over HTTP: as one list of JSON, or as lines of text."""

    address: str
    headers: Mapping[str, str]
    as_list: bool

    def send(self, items: Sequence[bytes]) -> Answer:
        """Purpose: send items in one request. Errors: as ``post``."""
        if self.as_list:
            body, kind = b"[" + b",".join(items) + b"]", "application/json"
        else:
            body, kind = b"\n".join(items) + b"\n", "text/plain; charset=utf-8"
        return post(self.address, body, {**self.headers, "Content-Type": kind})


def post(address: str, body: bytes, headers: Mapping[str, str]) -> Answer:
    """Purpose: send it once. Errors: UsageError where the server denies access or has no such address, because waiting would not
    help.
    """
    request = urllib.request.Request(address, data=body, headers=dict(headers), method="POST")
    try:
        with _opener().open(request, timeout=TIMEOUT_S):
            return Answer(Outcome.TAKEN)
    except urllib.error.HTTPError as error:
        said = error.read(_SAID_BYTES).decode("utf-8", "replace").strip()
        return _understood(error.code, f"{error.code} {error.reason}{': ' + said if said else ''}", address)
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        return Answer(Outcome.LATER, f"{getattr(reason, 'strerror', None) or reason}")


def _understood(code: int, says: str, address: str) -> Answer:
    if code in (401, 403):
        hint = "put the token into a file and name it with --token-file"
        raise UsageError(f"{shown(address)} denied access: {says}", hint=hint)
    if code in (404, 405) or 300 <= code < 400:
        raise UsageError(
            f"{shown(address)} accepts no events at this address: {says}",
            hint="is the address whole, with its database or bucket?",
        )
    if code in (400, 413, 422):
        return Answer(Outcome.REFUSED, says)
    return Answer(Outcome.LATER, says)


def _opener() -> urllib.request.OpenerDirector:
    """An opener that follows no redirection: the token goes only to the server that was named."""

    class Stays(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_: object) -> None:
            return None

    return urllib.request.build_opener(Stays)


def with_words(address: str, **words: str) -> str:
    """Purpose: an address with some words of its query set."""
    parts = urlsplit(address)
    query = [(key, value) for key, value in parse_qsl(parts.query, keep_blank_values=True) if key not in words]
    return urlunsplit(parts._replace(query=urlencode([*query, *words.items()])))


def check_address(address: str) -> str:
    """Purpose: the same address, checked. Errors: UsageError where it is not an address, or contains a password."""
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(
            f"'{shown(address)}' is no address of a server",
            hint="such as http://influx.example.org:8086/write?db=acceptance",
        )
    secret = parts.password is not None or {"p", "token", "password"} & {key for key, _ in parse_qsl(parts.query)}
    if secret:
        message = "a password or token in the address would be seen by everybody who lists processes"
        raise UsageError(message, hint="put the token into a file and name it with --token-file")
    return address


def shown(address: str) -> str:
    """Purpose: an address for people, without parts that may be secret."""
    parts = urlsplit(address)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))
