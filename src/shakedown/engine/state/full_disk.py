"""When a disk of the campaign had no room, as far as the record shows: what runs wrote at such a time may be lost.

Only the time tells whether a run was affected. A write that fails, or a file that cannot be made, leaves no trace that would tell
an affected run from another.
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
    """Purpose: remember that a disk is full from now on, or has room again. ``room_at``: when it last had room, as far as is known;
    older records do not say.
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
    """Purpose: that a disk was full while a run went on that is over, in words; "" where none was, or where its start is not known.
    ``says_so``: whether the run itself reports a full disk.
    """
    if run.started is None or not state.driver.full:
        return ""
    began, ended = _outer_bounds(state, run, run.started, elapsed_s)
    around = AROUND_S if says_so else 0.0
    for since, until in reversed(state.driver.full):
        if began < until + around and since - around < ended:
            lasted = f"from {moment(since)} " + (f"to {moment(until)}" if until < _EVER else "on")
            return f"the disk was full while it ran ({lasted})"
    return ""


def full_since(state: State, since: float) -> str:
    """Purpose: that a disk was full at some time since ``since``, in words; "" where none was."""
    for began, until in reversed(state.driver.full):
        if until > since:
            return f"the disk was full (from {moment(began)} " + (f"to {moment(until)})" if until < _EVER else "on)")
    return ""


def _outer_bounds(state: State, run: Run, started: float, elapsed_s: float | None) -> tuple[float, float]:
    """The earliest begin and the latest end that the run can have had, by the record's clock: it began after its job was ordered,
    and was over when its end was known.
    """
    cluster = state.index.cases[run.case].partition.partition(":")[0]
    ours = any(one.embedded and one.name == cluster for one in state.index.document.system.clusters)
    job = state.jobs.get(run.job)
    began = started - (SEEN_LATE_S if ours else TWO_CLOCKS_S)
    ended = state.time if elapsed_s is None else started + elapsed_s + (0.0 if ours else TWO_CLOCKS_S)
    return max(began, job.ordered) if job is not None else began, min(ended, state.time)
