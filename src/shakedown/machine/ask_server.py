"""A process that asks Prometheus or InfluxDB for one number and prints it. An environment variable holds the question.

Answers are not trusted: they are read up to a limit, and any answer but one number gives a message and exit status 1.
Redirections are not followed, so that the token goes only to the named server.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import msgspec

from shakedown.model.observing import PROMQL, Question

MOST_BYTES = 1 << 20  # of an answer
_SAID = 200


class NoNumber(Exception):
    """The reason why there is no number, as a sentence."""


def main() -> int:
    """Purpose: print the number that the question in the environment asks for; returns 1 if there is none."""
    question = msgspec.json.decode(os.environb[b"SHAKEDOWN_QUESTION"], type=Question)
    try:
        print(repr(ask(question)))
    except NoNumber as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def ask(question: Question) -> float:
    """Purpose: the number that a server answers. Errors: NoNumber; its message never contains the token."""
    token = _token(question.token_file)
    try:
        return _of_prometheus(question, token) if question.source == PROMQL else _of_influx(question, token)
    except NoNumber as error:
        raise NoNumber(str(error).replace(token, "[the token]") if token else str(error)) from None


def _of_prometheus(question: Question, token: str) -> float:
    address = f"{question.url.rstrip('/')}/api/v1/query?{urlencode({'query': question.query})}"
    return of_prometheus(_get(address, token and f"Bearer {token}", question.within_s))


def _of_influx(question: Question, token: str) -> float:
    words = {"db": question.database, "q": question.query, "epoch": "ms"}
    address = f"{question.url.rstrip('/')}/query?{urlencode(words)}"
    return of_influx(_get(address, token and f"Token {token}", question.within_s), time.time(), question.oldest_s)


def _token(file: str) -> str:
    if not file:
        return ""
    try:
        token = Path(file).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise NoNumber(
            f"{file} cannot be read as a token: {getattr(error, 'strerror', None) or 'it is no text'}"
        ) from None
    if not token or not token.isprintable():
        raise NoNumber(f"{file} holds no token: it is one line of plain letters")
    return token


def _get(address: str, authorization: str, within_s: float) -> Any:
    import http.client
    import urllib.error
    import urllib.request

    class Stays(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_: object) -> None:
            return None

    request = urllib.request.Request(address, headers={"Accept": "application/json"})
    if authorization:
        request.add_unredirected_header("Authorization", authorization)
    try:
        with urllib.request.build_opener(Stays).open(request, timeout=within_s) as answer:
            body = answer.read(MOST_BYTES + 1)
    except urllib.error.HTTPError as error:
        said = _short(error.read(1000).decode("utf-8", "replace"))
        raise NoNumber(f"the server answers {error.code} {error.reason}{': ' + said if said else ''}") from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise NoNumber(f"the server does not answer: {getattr(reason, 'strerror', None) or reason}") from None
    if len(body) > MOST_BYTES:
        raise NoNumber(f"the server says more than {MOST_BYTES} bytes")
    try:
        return msgspec.json.decode(body)
    except msgspec.DecodeError:
        raise NoNumber(
            f"the server does not answer in JSON: {_short(body[:1000].decode('utf-8', 'replace'))}"
        ) from None


def of_prometheus(said: Any) -> float:
    """Purpose: the number in an answer to an instant query: a scalar, or a vector of one series. Raises NoNumber."""
    if not isinstance(said, dict) or said.get("status") != "success":
        why = said.get("error") if isinstance(said, dict) else ""
        raise NoNumber(f"the query fails: {_short(str(why))}" if why else "the server is no Prometheus")
    data = said.get("data")
    kind, result = (data.get("resultType"), data.get("result")) if isinstance(data, dict) else ("", None)
    if kind == "vector" and isinstance(result, list):
        if len(result) != 1:
            raise NoNumber(_how_many(len(result)))
        result = result[0].get("value") if isinstance(result[0], dict) else None
    elif kind != "scalar":
        raise NoNumber(f"the query gives a {_short(str(kind))}, and one number is wanted")
    if not isinstance(result, list) or len(result) != 2:
        raise NoNumber("the server is no Prometheus: its answer has no value")
    return _number(result[1])


def of_influx(said: Any, now: float, oldest_s: float) -> float:
    """Purpose: the last number of the one series that InfluxDB answers with, unless it is too old. Raises NoNumber."""
    results = said.get("results") if isinstance(said, dict) else None
    why = said.get("error") if isinstance(said, dict) else ""
    first = results[0] if isinstance(results, list) and results and isinstance(results[0], dict) else {}
    why = why or first.get("error")
    if why:
        raise NoNumber(f"the query fails: {_short(str(why))}")
    if not isinstance(results, list):
        raise NoNumber("the server is no InfluxDB: its answer has no results")
    series = first.get("series", [])
    if not isinstance(series, list) or len(series) != 1 or not isinstance(series[0], dict):
        raise NoNumber(_how_many(len(series) if isinstance(series, list) else 0))
    columns, rows = series[0].get("columns"), series[0].get("values")
    if not isinstance(columns, list) or len(columns) != 2 or columns[0] != "time":
        raise NoNumber("the query gives more than one number at a time; select one, such as last(value)")
    rows = (
        [row for row in rows if isinstance(row, list) and len(row) == 2 and row[1] is not None]
        if isinstance(rows, list)
        else []
    )
    if not rows:
        raise NoNumber(_how_many(0))
    at = rows[-1][0]
    if isinstance(at, int | float) and 0 < at / 1000 < now - oldest_s:
        raise NoNumber(f"the newest number is {now - at / 1000:.0f} s old")
    return _number(rows[-1][1])


def _how_many(count: int) -> str:
    if not count:
        return "the query finds nothing"
    return f"the query gives {count} series, and one number is wanted; sum or max makes one of them"


def _number(said: Any) -> float:
    try:
        return float(said) if not isinstance(said, bool) else float("nan")
    except (TypeError, ValueError):
        raise NoNumber(f"the server says '{_short(str(said))}', which is no number") from None


def _short(text: str) -> str:
    return " ".join(text.split())[:_SAID]


if __name__ == "__main__":
    sys.exit(main())
