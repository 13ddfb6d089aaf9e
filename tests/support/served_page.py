"""``shakedown serve`` of a site, started as a person starts it, and asked over HTTP."""

from __future__ import annotations

import contextlib
import http.client
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from stories import SHAKEDOWN


@contextlib.contextmanager
def served(site: Path, cache: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server of a site and its address."""
    process = subprocess.Popen(
        [*SHAKEDOWN, "serve", "--port", "0", *words],
        cwd=site,
        env=os.environ | {"XDG_CACHE_HOME": str(cache)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        yield process, _address(process.stderr)
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
        if process.stdout:
            process.stdout.close()


def _address(lines: IO[str]) -> str:
    for line in lines:
        if line.startswith("http://"):
            return line.strip()
    raise AssertionError("it gave no address")


def asked(address: str, path: str, **headers: str) -> tuple[int, str]:
    where = urlsplit(address)
    connection = http.client.HTTPConnection(where.netloc, timeout=60)
    connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    found = answer.status, answer.read().decode()
    connection.close()
    return found
