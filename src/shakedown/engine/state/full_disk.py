"""When a disk of the campaign's had no room, as the record knows it: what runs wrote in such a time may be lost."""

from __future__ import annotations

from shakedown.engine.state.jobs import Run
from shakedown.engine.state.moments import moment
from shakedown.engine.state.state import State

AROUND_S = 2.0  # between two looks at the disk, and two clocks
_MOST = 50  # times that are remembered
_EVER = float("inf")


def note_room(state: State, now: float, full: bool) -> None:
    """Purpose: remember that a disk is full from now on, or that it has room again."""
    spells = state.driver.full
    still = bool(spells) and spells[-1][1] == _EVER
    if full and not still:
        spells.append((now, _EVER))
        del spells[:-_MOST]
    elif not full and still:
        spells[-1] = (spells[-1][0], now)


def full_in_its_time(state: State, run: Run, elapsed_s: float | None) -> str:
    """Purpose: in words that a disk was full while a run was at it that is over; "" where none was, or its start is not known."""
    if run.started is None or not state.driver.full:
        return ""
    ended = state.time if elapsed_s is None else run.started + elapsed_s
    for since, until in reversed(state.driver.full):
        if run.started < until + AROUND_S and since - AROUND_S < ended:
            lasted = f"from {moment(since)} " + (f"to {moment(until)}" if until < _EVER else "on")
            return f"the disk was full while it ran ({lasted})"
    return ""
