"""When a disk of the campaign's had no room, as the record knows it: what runs wrote in such a time may be lost.

Whether a run was at it then is a question of time alone. A write that fails, or a file that cannot be made, leaves no trace that
tells a run that was hurt from one that was not.
"""

from __future__ import annotations

from shakedown.engine.state.jobs import Run
from shakedown.engine.state.moments import moment
from shakedown.engine.state.state import State

TWO_CLOCKS_S = 2.0  # between ours and that of a file server, by which jobs of a cluster say when they began
SEEN_LATE_S = 0.1  # for so long a run of this machine may have gone on when it is said to begin
AROUND_S = 2.0  # a disk at its limit may be full again between two looks: a run that says so itself is believed
_MOST = 50  # times that are remembered
_EVER = float("inf")


def note_room(state: State, now: float, full: bool, room_at: float | None = None) -> None:
    """Purpose: remember that a disk is full from now on, or that it has room again.

    ``room_at``: when it is last known to have had some; older records do not say.
    """
    spells = state.driver.full
    still = bool(spells) and spells[-1][1] == _EVER
    if full and not still:
        since = now - AROUND_S if room_at is None else min(room_at, now)
        spells.append((since, _EVER))
        del spells[:-_MOST]
    elif not full and still:
        spells[-1] = (spells[-1][0], now)


def full_in_its_time(state: State, run: Run, elapsed_s: float | None, says_so: bool = False) -> str:
    """Purpose: in words that a disk was full while a run was at it that is over; "" where none was, or its start is not known.

    ``says_so``: whether the run says itself that a disk was full.
    """
    if run.started is None or not state.driver.full:
        return ""
    began, ended = _at_most(state, run, run.started, elapsed_s)
    around = AROUND_S if says_so else 0.0
    for since, until in reversed(state.driver.full):
        if began < until + around and since - around < ended:
            lasted = f"from {moment(since)} " + (f"to {moment(until)}" if until < _EVER else "on")
            return f"the disk was full while it ran ({lasted})"
    return ""


def full_since(state: State, since: float) -> str:
    """Purpose: in words that a disk was full at any time since then; "" where none was."""
    for began, until in reversed(state.driver.full):
        if until > since:
            return f"the disk was full (from {moment(began)} " + (f"to {moment(until)})" if until < _EVER else "on)")
    return ""


def _at_most(state: State, run: Run, started: float, elapsed_s: float | None) -> tuple[float, float]:
    """Between which times of the record's clock it ran: not before its job was ordered, not after its end is known."""
    cluster = state.index.cases[run.case].partition.partition(":")[0]
    ours = any(one.embedded and one.name == cluster for one in state.index.document.system.clusters)
    job = state.jobs.get(run.job)
    began = started - (SEEN_LATE_S if ours else TWO_CLOCKS_S)
    ended = state.time if elapsed_s is None else started + elapsed_s + (0.0 if ours else TWO_CLOCKS_S)
    return max(began, job.ordered) if job is not None else began, min(ended, state.time)
