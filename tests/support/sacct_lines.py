"""Lines as ``sacct --parsable2`` prints them, made for tests."""

from __future__ import annotations

from datetime import datetime, timedelta

HEADER = "JobIDRaw|Account|Submit|Start|End|ElapsedRaw|State|NNodes|JobName"
BEGIN = datetime(2026, 3, 1)


def at(hours: float) -> str:
    """A local time, so many hours after the first of March."""
    return (BEGIN + timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%S")


def line(
    job: int | str, submit: float, start: float | None, end: float | None, nodes: int = 1, state: str = "COMPLETED",
    account: str = "a", name: str = "run", elapsed: float | None = None,
) -> str:  # fmt: skip
    """A record; times in hours after the first of March, ``elapsed`` too where it is not end - start."""
    run = elapsed if elapsed is not None else (end - start if start is not None and end is not None else 0)
    times = [at(submit), "Unknown" if start is None else at(start), "Unknown" if end is None else at(end)]
    return "|".join([str(job), account, *times, str(int(run * 3600)), state, str(nodes), name])


def text(*lines: str, header: str = HEADER) -> str:
    return "\n".join([header, *lines]) + "\n"
