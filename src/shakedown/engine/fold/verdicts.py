"""Folding verdicts and what goes with them: collecting, judging, retries, giving up."""

from __future__ import annotations

from shakedown.engine.fold import parts as fold_parts
from shakedown.engine.fold.bookkeeping import (
    begins,
    came_out,
    count_live,
    facts_of,
    fly,
    judged_otherwise,
    number_of,
    put_back,
    roll_of,
    take,
)
from shakedown.engine.fold.lost_starts import let_go
from shakedown.engine.fold.overrides import count_failure
from shakedown.engine.state.jobs import Job, PendingResult, Run
from shakedown.engine.state.keys import NeededKey, ResultsKey, WantedKey
from shakedown.engine.state.ladders import figure_of
from shakedown.engine.state.modes import mode_in
from shakedown.engine.state.phases import JobPhase, RunPhase
from shakedown.engine.state.records import CutOff, Given, Tally, Undetermined
from shakedown.engine.state.state import State
from shakedown.model.clocks import end_of
from shakedown.model.events import UNDETERMINED, Event

_FIRST_TRY_S, _LONGEST_TRY_S = 1.0, 300.0  # between two tries to judge what could not be judged
_ENDED_WITH = ("exit", "elapsed_s", "nodes", "output")


def check_start(state: State, event: Event) -> None:
    """A run is being judged. For a run that could not be judged before, also note when to try again in case this fails too."""
    state.agenda.to_collect.pop(event.run, None)
    again = state.agenda.undetermined.get(event.run)
    if again is None:
        state.runs[event.run].phase = RunPhase.CHECKING
        return
    again.tries += 1
    again.again_at = event.time + min(_FIRST_TRY_S * 2.0**again.tries, _LONGEST_TRY_S)


def verdict(state: State, event: Event) -> None:
    """A verdict on a run, or on a wanted result without a job; a first verdict, or one that supersedes another."""
    value = event.value
    verdict = value["verdict"]
    number = state.index.component_number.get(value["component"])
    if "supersedes" in value and event.run in state.agenda.undetermined:
        _judged_after_all(state, event)
        return
    if "supersedes" in value:
        if number is not None:
            _count_verdict(state.tallies[number], value.get("was", ""), -1)
            _count_verdict(state.tallies[number], verdict, 1)
        state.campaign.doubted = event.seq
        judged_otherwise(state, NeededKey(value["component"], mode_in(value), event.case), event.run, verdict)
        return
    if number is not None:
        _note_end(state, number, event)
    run = state.runs.get(event.run)
    if run is None:
        assert number is not None
        _judge_waiting(state, event, number)
        return
    _count_verdict(state.tallies[run.component if number is None else number], verdict, 1)
    if verdict != UNDETERMINED:
        count_failure(state, event)
    _count_work(state, run, event)
    state.agenda.to_collect.pop(run.id, None)
    state.agenda.part_ends.pop(run.id, None)
    ended = facts_of(state, run).get("state", "") if verdict == UNDETERMINED else ""
    _leave_job(state, run, bool(value.get("alive")))
    run.verdict = verdict
    _note_left(state, run, event)
    if verdict == UNDETERMINED and not value.get("gone"):
        _keep(state, run, event, ended)
    else:
        _settle_or_close(state, run, bool(value.get("final")))


def _note_left(state: State, run: Run, event: Event) -> None:
    """Note the files that the run may hand on, where they are, and the figure that its ladder goes by."""
    run.left = event.value.get("left", {})
    run.directory = event.value.get("output", {}).get("directory", "")
    ladder = state.index.components[run.component].ladder
    if ladder is not None:
        run.measured = figure_of(ladder, event.value)


def _note_end(state: State, number: int, event: Event) -> None:
    """Note the latest end of a run in a component that runs for a time: once it is over, its clock is read up to that moment."""
    roll, value = roll_of(state, number, mode_in(event.value)), event.value
    if roll is not None:
        end = end_of(value.get("started"), value.get("ended"), value.get("elapsed_s"), event.time)
        roll.ended = end if roll.ended is None else max(end, roll.ended)


def _keep(state: State, run: Run, event: Event, ended: str) -> None:
    """A run could not be judged. It stays wanted, all that is known of its end is kept, and it is judged again before long."""
    count_live(state, run, -1)
    run.phase, run.seen = RunPhase.UNDETERMINED, ""
    run.facts = {name: event.value[name] for name in _ENDED_WITH if name in event.value} | {"state": ended}
    if event.value.get("message"):
        run.facts["words"] = event.value["message"]
    state.agenda.undetermined[run.id] = Undetermined(event.seq, 0, event.time + _FIRST_TRY_S)


def _judged_after_all(state: State, event: Event) -> None:
    """A run that could not be judged has its verdict now. It counts as a first verdict, since only the work of the run was counted
    so far.
    """
    run, value = state.runs[event.run], event.value
    if value["verdict"] == UNDETERMINED and not value.get("gone"):
        state.agenda.undetermined[run.id].seq = event.seq
        return
    tally = state.tallies[state.index.component_number.get(value["component"], run.component)]
    _count_verdict(tally, UNDETERMINED, -1)
    _count_verdict(tally, value["verdict"], 1)
    if value["verdict"] != UNDETERMINED:
        count_failure(state, event)
    del state.agenda.undetermined[run.id]
    count_live(state, run, 1)
    run.verdict, run.facts = value["verdict"], {}
    _note_left(state, run, event)
    _settle_or_close(state, run, bool(value.get("final")))
    state.campaign.doubted = event.seq


def _settle_or_close(state: State, run: Run, final: bool) -> None:
    run.phase = RunPhase.JUDGED
    if final:
        _close_run(state, run)
    else:
        state.agenda.to_settle[run.id] = None


def _count_verdict(tally: Tally, verdict: str, step: int) -> None:
    count = tally.verdicts.get(verdict, 0) + step
    if count > 0:
        tally.verdicts[verdict] = count
    else:
        tally.verdicts.pop(verdict, None)


def _count_work(state: State, run: Run, event: Event) -> None:
    """Add what a run of a mix took of the machine, in unit-seconds: by the run's own clock, where it is known."""
    roll = roll_of(state, run.component, run.mode)
    if roll is None:
        return
    case = state.index.cases[run.case]
    seen = event.time - run.started if run.started is not None else 0.0
    work = case.shape.units * event.value.get("elapsed_s", seen)
    roll.work[case.test] = roll.work.get(case.test, 0.0) + work
    if run.started is not None and case.test not in roll.begun:
        begins(state, run, run.started)  # it was over before anybody saw it run
    for test in roll.live:
        if test != case.test:
            roll.missed[test] = roll.missed.get(test, 0.0) + work
    roll.judged[case.test] = roll.judged.get(case.test, 0) + 1
    roll.longest[case.test] = max(roll.longest.get(case.test, 0.0), event.value.get("elapsed_s", seen))


def _judge_waiting(state: State, event: Event, number: int) -> None:
    """A wanted result was judged without a job: its build failed, or a person cancelled it."""
    mode = mode_in(event.value)
    take(state, number, event.case, event.value["repeat"], mode)
    state.campaign.next_run = max(state.campaign.next_run, number_of(event.run) + 1)
    _count_verdict(state.tallies[number], event.value["verdict"], 1)
    came_out(
        state, ResultsKey(number, mode, event.case), event.value["repeat"], Given(event.run, event.value["verdict"])
    )


def _leave_job(state: State, run: Run, alive: bool) -> None:
    """Forget the job of a run that was judged, if the job is known to be dead. Otherwise it is an orphan and keeps
    what it holds.
    """
    job = state.jobs.get(run.job)
    if job is not None and job.bundle:
        if alive or job.phase == JobPhase.ORPHANED:
            fold_parts.remove_part(job, run)
            _orphan(state, job)
        else:
            fold_parts.leave(state, job, run)
        return
    if job is None or job.run != run.id:
        return
    if "restart" in job.report.facts:
        job.started = None
    elif alive:
        _orphan(state, job)
    else:
        let_go(state, job)


def _orphan(state: State, job: Job) -> None:
    if job.phase != JobPhase.ORPHANED:
        job.phase, job.since = JobPhase.ORPHANED, state.time
        state.job_index.begin(job)
    state.agenda.attention[job.id] = None


def _close_run(state: State, run: Run) -> None:
    del state.runs[run.id]
    state.agenda.to_settle.pop(run.id, None)
    fly(state, run, -1)
    given = Given(run.id, run.verdict, run.left, run.directory, run.measured)
    came_out(state, ResultsKey(run.component, run.mode, run.case), run.repeat, given)


def given_up(state: State, event: Event) -> None:
    """No attempt follows. Where the only reason is that the plan in force does not want the result, a later plan may want it again,
    so the last attempt is remembered.
    """
    state.agenda.undetermined.pop(event.run, None)
    run = state.runs[event.run]
    if run.home and not run.cancelled and not state.campaign.cancelled:
        of = WantedKey(run.home, run.mode, run.case, run.repeat)
        state.results.cut_off[of] = CutOff(run.attempt, run.verdict, _spent(run))
    _close_run(state, run)


def _spent(run: Run) -> tuple[tuple[str, int], ...]:
    """How many attempts at the run's result ended with which verdict, including this one."""
    return tuple(sorted((dict(run.spent) | {run.verdict: run.times}).items()))


def retry(state: State, event: Event) -> None:
    run = state.runs.pop(event.run)
    state.agenda.to_settle.pop(run.id, None)
    fly(state, run, -1)
    attempt, not_before = event.value["attempt"], event.value.get("not_before", 0.0)
    entry = PendingResult(run.component, run.case, run.repeat, attempt, not_before, mode=run.mode, spent=_spent(run))
    put_back(state, entry)
