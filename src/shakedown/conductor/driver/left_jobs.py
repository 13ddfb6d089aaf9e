"""The last step of a campaign that is over: nothing of it stays at the scheduler."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from shakedown.conductor.driver.conductor import Conductor
from shakedown.engine.state.phases import CampaignPhase
from shakedown.model.ports import LeftJob, LeftJobs

_SHOWN = 8  # numbers in a sentence


def clear_left(conductor: Conductor, clear: Callable[[], LeftJobs], say: Callable[[str], None]) -> None:
    """Purpose: cancel the jobs that the scheduler has of a campaign that is over, and record which they were.

    There are some where its controller came back with an older state, in which jobs that are over wait or run. Where the scheduler
    cannot be asked, that is recorded. The commit before looks at the lease: who lost it cancels nothing.
    """
    if conductor.state.phase != CampaignPhase.ENDED or conductor.state.campaign.next_job == 1:
        return
    conductor.commit()
    found = clear()
    conductor.more_calls.update(found.calls)
    if not found.jobs and not found.trouble:
        return
    value = {"kind": "left_at_scheduler", "jobs": [job.number for job in found.jobs], "kept": list(found.kept)}
    why = _in_words(found)
    conductor.log("finding", value=value, reason=why)
    say(why)


def _in_words(found: LeftJobs) -> str:
    """Which jobs there were and what became of them; and which cluster did not say."""
    parts = []
    if found.jobs:
        one = len(found.jobs) == 1
        whose = "1 job whose run is over was" if one else f"{len(found.jobs)} jobs whose runs are over were"
        parts.append(f"{whose} at the scheduler at the end of the campaign: {left_in_words(found.jobs)}")
        kept = [job for job in found.jobs if job.number in set(found.kept)]
        if kept:
            parts.append(
                f"scancel did not take {numbers_in_words(kept)}: cancel {'it' if len(kept) == 1 else 'them'} by hand"
            )
        else:
            parts.append("cancelled" if one else "all cancelled")
    if found.trouble:
        parts.append(f"whether the scheduler has jobs of it cannot be told ({found.trouble}); resume asks again")
    return "; ".join(parts)


def left_in_words(jobs: Sequence[LeftJob]) -> str:
    """Purpose: the numbers of those that wait, and of those that the scheduler calls running."""
    waiting, running = [job for job in jobs if job.waits], [job for job in jobs if not job.waits]
    said = [f"{numbers_in_words(some)} {word}" for some, word in ((waiting, "waiting"), (running, "running")) if some]
    return ", ".join(said)


def numbers_in_words(jobs: Sequence[LeftJob]) -> str:
    """Purpose: some of the scheduler's numbers, and how many more there are."""
    more = f" and {len(jobs) - _SHOWN} more" if len(jobs) > _SHOWN else ""
    return ", ".join(job.number for job in jobs[:_SHOWN]) + more
