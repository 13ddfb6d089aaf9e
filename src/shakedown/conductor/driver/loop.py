"""The loop: facts from the ports become events, ``decide`` makes orders, and these are durable before they are carried out.

It keeps no fact of the campaign outside of ``State``: if the state is thrown away and the log folded again, it goes on in the same
way. The twin uses this very loop with other ports.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import to_builtins

from shakedown.checks.doubt import insistent
from shakedown.checks.judge import judge
from shakedown.conductor.driver.beside_submitting import hold, look_around, release, take_parts, take_parts_again
from shakedown.conductor.driver.changed_jobs import as_ordered, in_its_time, say_changes
from shakedown.conductor.driver.conductor import Conductor
from shakedown.conductor.driver.doubts import say_doubt, say_payload, say_token
from shakedown.conductor.driver.first_looks import asked_alike_first, say_first_looks
from shakedown.conductor.driver.gates import log_outcomes
from shakedown.conductor.driver.halted_jobs import as_halted, say_halt
from shakedown.conductor.driver.handing import Stranger, with_handed
from shakedown.conductor.driver.heard_words import unfit_words
from shakedown.conductor.driver.observing import observe
from shakedown.engine import Decision, Order, State, decide
from shakedown.engine.fold.bookkeeping import facts_of
from shakedown.engine.fold.queue_guard import CLAIM_AGAIN_S
from shakedown.engine.policy.verdict_facts import verdict_value
from shakedown.engine.state.full_disk import full_in_its_time
from shakedown.engine.state.jobs import Run
from shakedown.engine.state.modes import mode_facts
from shakedown.engine.state.orders import BATCH
from shakedown.engine.state.phases import CampaignPhase, RunPhase
from shakedown.model.contracts import rows_of
from shakedown.model.events import UNDETERMINED, Event
from shakedown.model.failures import NO_ROOM_CLASSES
from shakedown.model.ports import BuildReport, Command, Evidence, JobReport, JobView, SubmitAnswer
from shakedown.model.units import show_duration

ASKED_EVERY_S = 300.0  # between two records of how often the scheduler was asked


def loop(conductor: Conductor, stop: Callable[[Conductor], bool]) -> None:
    """Purpose: drive the campaign until it is over or ``stop`` returns True.

    Each turn: listen to the ports, decide until there is nothing more to order, then wait for news or for the engine's next time.
    """
    while True:
        hear(conductor)
        wake_at = act(conductor)
        if conductor.state.phase == CampaignPhase.ENDED or stop(conductor):
            conductor.commit()
            return
        conductor.flush()
        conductor.ports.clock.wait(_earliest(wake_at, conductor.next_poll or None, conductor.next_number))


def _earliest(*times: float | None) -> float | None:
    return min((time for time in times if time is not None), default=None)


# ---- hearing: facts become events ------------------------------------------------------------------------------------


def hear(conductor: Conductor) -> None:
    """Take what every port has to report, in a fixed order."""
    _notice(conductor)
    _hear_commands(conductor)
    for build in conductor.ports.builder.poll():
        _log_build(conductor, build)
    _hear_scheduler(conductor)
    conductor.next_number = observe(conductor)
    for evidence in conductor.ports.collector.poll():
        _log_evidence(conductor, evidence)


def _notice(conductor: Conductor) -> bool:
    """Log that the loop stood still, or that the clock was set. Returns whether anything was logged."""
    found = conductor.noticed()
    for event in found:
        conductor.log(event)
    return bool(found)


def _hear_commands(conductor: Conductor) -> None:
    """Carry out people's commands. Each is logged once, durably, before its file is removed."""
    commands = conductor.ports.inbox.poll()
    if not commands:
        return
    for command in commands:
        carry_out, unfit = conductor.commands.get(command.what), unfit_words(conductor, command)
        if carry_out is None or unfit:
            event: Event | None = _refused(command, unfit or f"'{command.what}' is no command")
        else:
            event = carry_out(conductor, command)
        if event is not None:
            conductor.log(event)
    conductor.commit()
    conductor.ports.inbox.acknowledge([command.request for command in commands])


def _refused(command: Command, why: str) -> Event:
    value = {"request": command.request, "what": command.what, "who": command.who}
    return Event("command_refused", value=value, reason=command.reason if command.what == "refused" else why)


def _log_build(conductor: Conductor, report: BuildReport) -> None:
    if report.key not in conductor.state.builds:
        return
    if report.state == "started":
        conductor.log("build_start", build=report.key, value=_present(identity=report.identity))
    else:
        value = _present(
            state=report.state,
            log=report.log,
            elapsed_s=_rounded(report.elapsed_s),
            transient=report.transient or None,
        )
        conductor.log("build_end", build=report.key, value=value, reason=report.message)


def _hear_scheduler(conductor: Conductor) -> None:
    """Poll the scheduler once for all jobs, at its own pace."""
    scheduler = conductor.ports.scheduler
    if scheduler.poll_s:
        now = conductor.ports.clock.now()
        if now < conductor.next_poll:
            return
        conductor.next_poll = now + scheduler.poll_s
    if conductor.state.jobs:
        log_reports(conductor, scheduler.poll(conductor.state.jobs))
    look_around(conductor)
    if conductor.ports.clock.now() >= conductor.next_asked:
        log_asked(conductor)


def log_asked(conductor: Conductor) -> None:
    """Record from time to time how often the scheduler's commands were run: its administrators may want to know."""
    counts = conductor.more_calls + Counter(conductor.ports.scheduler.calls())
    calls = {name: count for name, count in sorted(counts.items()) if count}
    if calls and calls != conductor.state.driver.asked:
        conductor.log("asked", value=calls)
    conductor.next_asked = conductor.ports.clock.now() + ASKED_EVERY_S


def log_reports(conductor: Conductor, reports: Sequence[JobReport]) -> None:
    """Record reports that differ from the last ones on the same job. No change makes no event."""
    for said in asked_alike_first(conductor.state, reports):
        report = as_halted(conductor.state, as_ordered(conductor.state, said), conductor.ports.clock.now())
        report = in_its_time(conductor.state, report, told_s=said.halted_s)
        say_changes(conductor, report)
        if _is_news(conductor.state, report):
            say_halt(conductor, report)
            conductor.log("job_report", **_report_fields(conductor.state, report))
            if report.behind:
                _say_behind(conductor, report)
            if report.unseen_s is not None:
                _say_unseen(conductor, report, report.unseen_s)
            say_payload(conductor, report)
            say_token(conductor, report)
            if report.doubt:
                say_doubt(conductor, report)
    say_first_looks(conductor)


def _say_behind(conductor: Conductor, report: JobReport) -> None:
    """Record a finding on a run that left processes behind: these disturb others."""
    processes = list(report.behind[:20])
    count = "a process" if len(report.behind) == 1 else f"{len(report.behind)} processes"
    why = f"it left {count} behind, out of its session and without its environment; ended: {', '.join(processes)}"
    value = {"kind": "left_behind", "processes": processes}
    run = conductor.state.jobs[report.job].run if report.job in conductor.state.jobs else ""
    conductor.log("finding", job=report.job, run=run, value=value, reason=why)


def _say_unseen(conductor: Conductor, report: JobReport, within: tuple[float, float]) -> None:
    """Record a finding on a run whose run time nobody measured: it stays unknown, rather than being the time in which nobody
    looked.
    """
    between = f"between {show_duration(within[0])} and {show_duration(within[1])} after its start"
    why = f"it ended {between}, while the conductor and its watcher stood still: its run time is not known"
    value = {"kind": "end_unseen", "within_s": [round(seconds, 6) for seconds in within]}
    run = conductor.state.jobs[report.job].run if report.job in conductor.state.jobs else ""
    conductor.log("finding", job=report.job, run=run, value=value, reason=why)


def _is_news(state: State, report: JobReport) -> bool:
    job = state.jobs.get(report.job)
    if job is not None and report.run:
        run = state.runs.get(report.run) if report.run in job.parts else None
        return (
            run is not None
            and (report.state != run.seen or (report.state == "running" and bool(report.output) and not run.facts))
            and run.phase in (RunPhase.ORDERED, RunPhase.QUEUED, RunPhase.RUNNING)
        )
    if job is None or not report.is_of(job.restart):
        return False
    return (
        report.state != job.report.state
        or report.restart > job.restart
        or (bool(report.scheduler_id) and report.scheduler_id != job.scheduler_id)
        or (report.state == "running" and report.source != job.report.source)  # accounting alone may say so for ever
        or (report.state in ("queued", "running") and _first(report.message) != _first(job.report.note))
        or (report.state == "queued" and (report.stuck, report.for_good) != (job.report.stuck, job.report.for_good))
    )


def _first(message: str) -> str:
    """The subject of a message without particulars, such as names of nodes, which change often."""
    return message.partition(",")[0]


def _report_fields(state: State, report: JobReport) -> dict[str, Any]:
    value = _present(
        state=report.state,
        source=report.source,
        id=report.scheduler_id,
        restart=report.restart,
        elapsed_s=_rounded(report.elapsed_s),
        nodes=report.nodes,
        output=report.output,
        began=report.began,
        over=report.over,
        cause=report.cause,
        part=bool(report.run) or None,
        failed_nodes=list(report.failed_nodes),
        launch_failure=report.launch_failure or None,
        again=report.again,
        dead=report.dead or None,
        halted=report.halted,
        stuck=report.stuck,
        for_good=report.for_good or None,
        halted_s=report.halted_s or None,
    )
    if report.terms is not None and not report.run and state.jobs[report.job].terms is None:
        value["terms"] = to_builtins(report.terms)
    if report.exit_status is not None:
        value["exit"] = report.exit_status
    run = report.run or state.jobs[report.job].run
    return {"job": report.job, "run": run, "value": value, "reason": report.message}


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 6)


def _present(**fields: Any) -> dict[str, Any]:
    """The fields that have a value; empty ones are not recorded. A time of 0.0 s counts as a value."""
    return {
        name: value for name, value in fields.items() if isinstance(value, float) or value not in (None, "", 0, {}, [])
    }


def _log_evidence(conductor: Conductor, evidence: Evidence) -> None:
    """Judge what a worker collected. Evidence of a run that is already judged comes from before this driver and is ignored."""
    state = conductor.state
    run = state.runs.get(evidence.run)
    if run is None or run.phase not in (RunPhase.CHECKING, RunPhase.UNDETERMINED):
        return
    case = state.index.cases[run.case]
    facts = facts_of(state, run)
    if "restart" in facts:
        return  # its job was put back into the queue since, which judges it
    report = JobReport(
        run.job,
        facts["state"],
        "marks",
        exit_status=facts.get("exit"),
        elapsed_s=facts.get("elapsed_s"),
        nodes=facts.get("nodes", ""),
        message=facts.get("words", ""),
        output=_output_of(state, run, facts, evidence) | evidence.sums,
    )
    rows = rows_of(state.index.plan_of(case.id), case)
    judgement = judge(case, state.index.test_of(case), report, evidence, rows, mode_facts(run.mode).get("mode", ""))
    value = verdict_value(state, run, judgement.verdict)
    if run.phase == RunPhase.UNDETERMINED:
        if judgement.verdict == UNDETERMINED and not judgement.gone:
            return  # as before: no news
        value |= {"supersedes": state.agenda.undetermined[run.id].seq, "was": UNDETERMINED}
    if judgement.gone:
        value["gone"] = True
    value |= {k: facts[k] for k in ("elapsed_s", "exit", "nodes", "halted_s") if k in facts}
    value |= _present(output=report.output, message=report.message)
    value |= _present(
        figures=dict(judgement.figures),
        checks=[[c.text, c.held, c.detail] for c in judgement.checks],
        problems=list(judgement.problems),
        excerpt=judgement.excerpt if judgement.verdict != "passed" else "",
        failure=judgement.failure.value() if judgement.failure is not None else {},
        recorded=judgement.kept_sums(),
        left=evidence.left,
    )
    conductor.log("verdict", case=run.case, run=run.id, job=run.job, value=value, reason=judgement.reason)


def _output_of(state: State, run: Run, facts: Mapping[str, Any], evidence: Evidence) -> dict[str, Any]:
    """The pointer to the run's output, with whether a disk was full meanwhile and why its marks are doubted."""
    output: dict[str, Any] = insistent(facts.get("output", {}), run.attempt)
    says_so = evidence.failure is not None and evidence.failure.name in NO_ROOM_CLASSES
    full = output.get("no_room") or full_in_its_time(state, run, facts.get("elapsed_s"), says_so)
    return output | ({"no_room": full} if full else {})


# ---- acting: orders are durable before they are carried out ------------------------------------------------------------


def act(conductor: Conductor) -> float | None:
    """Decide and carry out orders until there is nothing more to order. Returns when to decide again.

    If time passed unnoticed since the ports were heard (a disk that did not answer), they are heard first: no deadline may pass
    while nobody listened.
    """
    while True:
        log_outcomes(conductor)
        now = max(conductor.state.time, conductor.ports.clock.now())
        if _notice(conductor):
            hear(conductor)
            continue
        decision = decide(conductor.state, now)
        if (decision.claims_again or decision.parts_again) and _claim_again(conductor, decision, now):
            continue
        if not decision.orders:
            return decision.wake_at
        _carry_out(conductor, decision)
        if _settles(decision):
            return decision.wake_at
        if (
            not conductor.ports.scheduler.poll_s
        ):  # it wakes us for what changes on the machine, not for what we want of it now
            look_around(conductor)


def _settles(decision: Decision) -> bool:
    """Whether deciding again would order nothing: this decision only had outputs collected, and recorded why something waits."""
    return len(decision.orders) < BATCH and all(
        order.kind == "collect" or order.event.event == "waiting" for order in decision.orders
    )


def _carry_out(conductor: Conductor, decision: Decision) -> None:
    by_kind: dict[str, list[Order]] = {}
    for order in decision.orders:
        conductor.log(order.event)
        by_kind.setdefault(order.kind, []).append(order)
    if by_kind.keys() - {"record", "collect"}:
        conductor.commit()
    hold(conductor, by_kind.get("hold", []))
    _submit(conductor, by_kind.get("submit", []))
    _cancel(conductor, by_kind.get("cancel", []))
    _claim(conductor, by_kind.get("claim", []))
    release(conductor, by_kind.get("release", []))
    take_parts(conductor, by_kind.get("claim_part", []))
    if "build" in by_kind:
        conductor.ports.builder.start([order.payload for order in by_kind["build"]])
    if "collect" in by_kind:
        conductor.ports.collector.start([order.payload for order in by_kind["collect"]])


def _claim(conductor: Conductor, orders: Sequence[Order]) -> None:
    """Take claims. Jobs whose claims are ours can do nothing any more; they are cancelled now, since perhaps nothing is polled
    after this.
    """
    void: list[JobView] = []
    taken: bool | None = True
    for order in orders:  # where nobody can tell of one, each of the others would be waited for in vain
        taken = conductor.ports.scheduler.take_claim(order.payload) if taken is not None else None
        name = "claim_unknown" if taken is None else "claim_taken" if taken else "claim_found"
        conductor.log(name, job=order.event.job, run=order.event.run)
        if taken and order.payload.scheduler_id:
            void.append(order.payload)
    if void:
        conductor.ports.scheduler.cancel(void)


def _claim_again(conductor: Conductor, decision: Decision, now: float) -> bool:
    """Try again, from time to time, to take claims where it could not be seen whether they are taken. Returns whether there is
    news. The order and the failure are in the record already, so nothing is written until there is a result.
    """
    scheduler, void, news = conductor.ports.scheduler, list[JobView](), False
    if now >= conductor.next_claims:
        conductor.next_claims = now + CLAIM_AGAIN_S
        for job in decision.parts_again:
            if not take_parts_again(conductor, job):
                break
            news = True
        for job in decision.claims_again:
            taken = scheduler.take_claim(job)
            if taken is None:
                break  # each of the others would be waited for in vain
            news = True
            conductor.log("claim_taken" if taken else "claim_found", job=job.id, run=job.run)
            if taken and job.scheduler_id:
                void.append(job)
    if void:
        scheduler.cancel(void)
    decision.wake(conductor.next_claims)
    return news


def _submit(conductor: Conductor, orders: Sequence[Order]) -> None:
    if not orders:
        return
    wanted = []
    for order in orders:
        try:
            wanted.append(with_handed(conductor.state, conductor.ports.root, order.payload))
        except Stranger as error:
            conductor.log("submit_refused", job=order.event.job, run=order.event.run, reason=str(error))
    for answer in conductor.ports.scheduler.submit(wanted) if wanted else ():
        conductor.log(**_answer_fields(answer), run=conductor.state.jobs[answer.job].run)


def _answer_fields(answer: SubmitAnswer) -> dict[str, Any]:
    if answer.outcome == "accepted":
        value = _present(id=answer.scheduler_id, asked=answer.asked)
        return {"event": "submit_accepted", "job": answer.job, "value": value}
    if answer.outcome == "refused":
        event = "submit_deferred" if answer.transient else "submit_refused"
        return {"event": event, "job": answer.job, "value": _present(never=answer.never), "reason": answer.message}
    value = _present(asked=answer.asked)
    return {"event": "submit_unknown", "job": answer.job, "value": value, "reason": answer.message}


def _cancel(conductor: Conductor, orders: Sequence[Order]) -> None:
    if not orders:
        return
    jobs = [order.payload for order in orders]
    taken = set(conductor.ports.scheduler.cancel(jobs))
    for job in jobs:
        value = {} if job.id in taken else {"taken": False}
        conductor.log("cancel_done", job=job.id, run=job.run, value=value)
