"""Judges kept outputs again: with amended checks, or because reading an output failed. The old verdicts stay in the record.

``rejudge_campaign`` works on a campaign on disk, ``rejudge`` on any events. A verdict that is the same again makes no new
event; a run that cannot be judged again keeps its verdict and gets a finding with the reason.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from shakedown.audit.frozen_rows import FrozenRows
from shakedown.checks.judge import Judgement, fit, judge
from shakedown.checks.text import cut, printable
from shakedown.checks.trim import TRIMMED, size
from shakedown.conductor.commands.amend import ANOTHER_NAME, another_unit
from shakedown.conductor.workers.kept_outputs import output_gone
from shakedown.conductor.workers.run_reader import run_directory
from shakedown.events.identity import user_name
from shakedown.events.recorded_name import campaign_name
from shakedown.metrics.failures import failure_of
from shakedown.model.checks import is_of_exit_status
from shakedown.model.errors import RecordError, UsageError
from shakedown.model.events import UNDETERMINED, VALUE_LIMIT, Event
from shakedown.model.judging import ContractRow
from shakedown.model.layout import Layout
from shakedown.model.near_names import near_run
from shakedown.model.nouns import Case, Document, Test
from shakedown.model.ports import Collector, CollectOrder, Evidence, JobReport
from shakedown.model.retrying import NEVER_RETRIED

FROM_OUTPUT = frozenset(
    {"passed", "failed", "incorrect", "performance", UNDETERMINED}
)  # verdicts that evidence can change
Wait = Callable[[], None]
_BEAT_S = 1.0  # between two beats of the lease while workers are busy
AT_ONCE = 64  # runs that are collected together
_FACTS = (
    "component",
    "mode",
    "repeat",
    "attempt",
    "started",
    "ended",
    "elapsed_s",
    "halted_s",
    "exit",
    "nodes",
    "output",
    "message",
)


@dataclass(frozen=True, slots=True)
class Act:
    """Who orders the judging, and why. ``document``: the digest of the plan whose checks and figures are used."""

    by: str
    because: str
    document: str = ""

    def value(self) -> dict[str, str]:
        value = {"by": cut(printable(self.by), 100), "because": cut(printable(self.because), 300)}
        return value | {"document": self.document} if self.document else value


@dataclass(slots=True)
class Judged:
    """What a log says of judged runs: the verdict in force of each run; and the last event of the log."""

    verdicts: dict[str, Event] = field(default_factory=dict)
    first_by: dict[str, str] = field(
        default_factory=dict
    )  # run -> digest of the plan in force when it was first judged
    document: str = ""  # the digest of the plan in force
    seq: int = 0
    time: float = 0.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of judging again. ``changed``: (run, old verdict, new verdict, reason); ``findings``: (run, reason)."""

    examined: int
    changed: tuple[tuple[str, str, str, str], ...]
    findings: tuple[tuple[str, str], ...]


def rejudge(
    events: Iterable[Event],
    document: Document,
    layout: Layout,
    collector: Collector,
    act: Act,
    runs: Collection[str] = (),
    wait: Wait = lambda: None,
) -> Iterator[Event]:
    """Purpose: judge again, and yield the new events (verdicts and findings) in the order of the runs, without seq and time.

    ``runs``: the runs to judge, all where empty. ``wait``: sleeps until the collector has news. Errors: UsageError for a run
    that has no verdict.
    """
    yield from judge_again(read_verdicts(events), document, layout, collector, act, runs, wait)


def read_verdicts(events: Iterable[Event]) -> Judged:
    """Purpose: the verdicts in force, the plan in force, and the last event of a log."""
    judged = Judged()
    for event in events:
        judged.seq, judged.time = event.seq, event.time
        if event.event == "verdict" and event.run:
            judged.verdicts[event.run] = event
            judged.first_by.setdefault(event.run, judged.document)
        elif event.event in ("campaign_start", "amended"):
            judged.document = str(event.value.get("document", judged.document))
    return judged


def judge_again(
    judged: Judged,
    document: Document,
    layout: Layout,
    collector: Collector,
    act: Act,
    runs: Collection[str] = (),
    wait: Wait = lambda: None,
) -> Iterator[Event]:
    """Purpose: the same as ``rejudge``, for verdicts that were already read."""
    cases = {case.id: case for case in document.cases}
    tests = {test.name: test for test in document.tests}
    rows = FrozenRows(judged.first_by, document, layout)
    ready: list[tuple[Event, Case, Test]] = []
    for old in _wanted(judged, runs):
        case = cases.get(old.case)
        why = _why_not(layout, old, case, tests)
        if why or case is None:
            yield _finding(old, why, act)
            continue
        ready.append((old, case, tests[case.test].of(case)))
        if len(ready) == AT_ONCE:
            yield from _judge_batch(ready, rows, collector, act, wait)
            ready = []
    yield from _judge_batch(ready, rows, collector, act, wait)


# ---- which runs ------------------------------------------------------------------------------------------------------


def examined(judged: Judged, runs: Collection[str] = ()) -> int:
    """The number of verdicts that are judged again."""
    return len(_wanted(judged, runs))


def _wanted(judged: Judged, runs: Collection[str]) -> list[Event]:
    """The verdicts to judge again. Without ``runs``: all that come from an output; the other verdicts do not depend on outputs."""
    if not runs:
        return [event for event in judged.verdicts.values() if event.value.get("verdict") in FROM_OUTPUT]
    strange = [run for run in runs if run not in judged.verdicts]
    if strange:
        hint = near_run(strange[0], judged.verdicts) or "'shakedown runs' lists runs with their verdicts"
        raise UsageError(f"run '{printable(strange[0])}' has no verdict, so it cannot be judged again", hint=hint)
    return [event for run, event in judged.verdicts.items() if run in set(runs)]


def _why_not(layout: Layout, old: Event, case: Case | None, tests: dict[str, Test]) -> str:
    """Why a run cannot be judged again, or ""."""
    verdict = old.value.get("verdict", "")
    if verdict not in FROM_OUTPUT:
        return f"it was judged '{verdict}', which does not come from its output"
    if case is None or case.test not in tests:
        return f"case {old.case} is not in the plan that it would be judged by"
    gone = output_gone(layout, old.value.get("output") or {})
    return gone or _files_gone(layout, old, tests[case.test].of(case))


def _files_gone(layout: Layout, old: Event, test: Test) -> str:
    """Why the files of a run are gone, or "". A run that left no file has no directory; but where a check of a file held, a
    directory existed.
    """
    held = {check[0] for check in old.value.get("checks", []) if check[1]}
    files = [check.text for check in test.checks if not is_of_exit_status(check) and check.subject != "output"]
    place = run_directory(layout, old.run, old.value.get("output") or {})
    if held.intersection(files) and not place.is_dir():
        return "its directory with the files that the checks look at is gone"
    return ""


# ---- judging ---------------------------------------------------------------------------------------------------------


def _judge_batch(
    ready: Sequence[tuple[Event, Case, Test]], rows: FrozenRows, collector: Collector, act: Act, wait: Wait
) -> Iterator[Event]:
    if not ready:
        return
    collector.start([CollectOrder(old.run, case, test, old.value.get("output") or {}) for old, case, test in ready])
    evidence: dict[str, Evidence] = {}
    while len(evidence) < len(ready):
        evidence |= {item.run: item for item in collector.poll()}
        if len(evidence) < len(ready):
            wait()
    for old, case, test in ready:
        event = _judge_one(old, case, test, evidence[old.run], rows.of(old.run, case), act)
        if event is not None:
            yield event


def _judge_one(
    old: Event, case: Case, test: Test, evidence: Evidence, rows: Sequence[ContractRow], act: Act
) -> Event | None:
    """The event that replaces the old verdict; a finding where the run cannot be judged; None where nothing differs."""
    judgement = judge(case, test, _report(old), evidence, rows, str(old.value.get("mode", "")))
    if judgement.verdict == UNDETERMINED:  # a failure to judge is no reason to replace a verdict
        return _finding(old, judgement.reason.partition(";")[0], act)
    if not _differs(old, judgement):
        return None
    facts = {name: old.value[name] for name in _FACTS if name in old.value}
    if evidence.sums:
        facts["output"] = facts.get("output", {}) | evidence.sums
    facts |= {"supersedes": old.seq, "was": old.value.get("verdict", ""), "rejudged": act.value()}
    if old.value.get("verdict") == UNDETERMINED and judgement.verdict in NEVER_RETRIED:
        facts["final"] = True  # the first verdict of this run that decides anything
    facts |= {"recorded": {}} if "recorded" in old.value else {}
    facts |= {"figures": {}, "problems": []}  # written even where empty: a key that is missing keeps its old value
    value = facts | fit(judgement, VALUE_LIMIT - size(facts)).value()
    return Event("verdict", case=old.case, run=old.run, job=old.job, value=value, reason=judgement.reason)


def _report(old: Event) -> JobReport:
    """The job report, rebuilt from the verdict of the run."""
    value = old.value
    status = value.get("exit")
    doubted = "doubt" in (value.get("output") or {})  # then the verdict may be failed although the job completed
    verdict_failed = value.get("verdict") == "failed" and status in (None, 0) and not doubted
    state = "failed" if verdict_failed or status not in (None, 0) else "completed"
    return JobReport(
        old.job,
        state,
        "marks",
        exit_status=status,
        elapsed_s=value.get("elapsed_s"),
        nodes=str(value.get("nodes", "")),
        message=str(value.get("message", "")),
        output=value.get("output") or {},
    )


def _differs(old: Event, judgement: Judgement) -> bool:
    """Whether any judged part differs. A different excerpt of the same output does not count."""
    new, before = judgement.value(), old.value
    put_down_to = failure_of(old)
    if (judgement.failure.name if judgement.failure else "") != (put_down_to.name if put_down_to else ""):
        return True
    if judgement.reason != old.reason or judgement.verdict != before.get("verdict"):
        return True
    if any(new.get(name, {}) != before.get(name, {}) for name in ("figures", "recorded")):
        return True
    if TRIMMED in before.get("problems", []):  # parts that were left out cannot be compared
        return False
    return any(new.get(name, []) != before.get(name, []) for name in ("checks", "problems"))


def _finding(old: Event, why: str, act: Act) -> Event:
    value = {"kind": "not_rejudged", "rejudged": act.value()}
    return Event("finding", case=old.case, run=old.run, value=value, reason=f"{old.run} keeps its verdict: {why}")


# ---- a campaign on disk ----------------------------------------------------------------------------------------------


def rejudge_campaign(
    path: Path, by: str, because: str, runs: Collection[str] = (), document: Document | None = None
) -> Outcome:
    """Purpose: judge a campaign's runs again by the plan in force, or by ``document``, and append the changes to its record.

    Errors: LeaseHeld while a conductor drives the campaign, because only the holder of the lease may write. UsageError for a
    run without a verdict; RecordError.
    """
    from shakedown.conductor.driver.snapshots import read_state
    from shakedown.conductor.record.documents import Documents
    from shakedown.events.campaigns import refuse_rehearsal
    from shakedown.events.lease import Lease
    from shakedown.events.opening import open_log
    from shakedown.events.reader import read_events

    layout = Layout(path)
    refuse_rehearsal(layout, "judged again")
    with Lease.acquire(layout) as lease:
        judged = read_verdicts(read_events(layout.log))
        examined(judged, runs)  # refuses an unknown run before anything is written
        plan, digest = _plan(layout, judged, document)
        log, _ = open_log(layout.log, lease, read_first=lambda: read_state(layout, Documents(layout)))
        try:
            act = Act(by, because, digest)
            new = list(_on_disk(judged, plan, layout, act, runs, lease.beat))
            new.append(act_event(act, examined(judged, runs), new))
            log.append([_placed(event, judged, number) for number, event in enumerate(new, 1)])
            log.commit()
        finally:
            log.close()
    return _outcome(judged, runs, new)


def act_event(act: Act, looked_at: int, new: Sequence[Event]) -> Event:
    """Purpose: the event of the act itself, made even if no verdict changes: who, why, how many verdicts were replaced and how
    many kept.
    """
    replaced = sum(event.event == "verdict" for event in new)
    not_judged = sum(event.event == "finding" for event in new)
    said = act.value()
    because = said.pop("because")
    value = {**said, "who": user_name(os.getuid()), "examined": looked_at, "replaced": replaced}
    return Event("rejudged", value=value | {"kept": looked_at - replaced, "not_judged": not_judged}, reason=because)


def _plan(layout: Layout, judged: Judged, document: Document | None) -> tuple[Document, str]:
    """The plan to judge by, stored with the campaign's other plans, and its digest."""
    from shakedown.events.campaigns import read_document, write_document
    from shakedown.model.frozen import freeze, thaw

    if not judged.document:
        raise RecordError(f"campaign {campaign_name(layout)} has not started: there is nothing to judge again")
    in_force = thaw(read_document(layout, judged.document))
    if document is None:
        return in_force, judged.document
    why = another_unit(in_force, document)
    if why:
        raise UsageError(why, hint=ANOTHER_NAME)
    return document, write_document(layout, freeze(document))


def _on_disk(
    judged: Judged,
    plan: Document,
    layout: Layout,
    act: Act,
    runs: Collection[str],
    beat: Callable[[float], None],
) -> Iterator[Event]:
    """Judge with workers of this process, and keep the lease alive while they work."""
    from shakedown.conductor.workers.collector import WorkerCollector
    from shakedown.processes.reactor import Reactor

    reactor = Reactor()
    collector = WorkerCollector(layout, reactor, failures=lambda: plan.failures)

    def wait() -> None:
        beat(reactor.now())
        reactor.wait(reactor.now() + _BEAT_S)

    try:
        yield from judge_again(judged, plan, layout, collector, act, runs, wait)
    finally:
        collector.close()
        reactor.close()


def _placed(event: Event, judged: Judged, number: int) -> Event:
    """The event with its seq and time; the time is never before that of the last event."""
    import time

    now = max(judged.time, time.time())
    return Event(
        event.event,
        judged.seq + number,
        now,
        case=event.case,
        run=event.run,
        job=event.job,
        value=event.value,
        reason=event.reason,
    )


def _outcome(judged: Judged, runs: Collection[str], new: Sequence[Event]) -> Outcome:
    changed = [
        (event.run, event.value["was"], event.value["verdict"], event.reason)
        for event in new
        if event.event == "verdict"
    ]
    findings = [(event.run, event.reason) for event in new if event.event == "finding"]
    return Outcome(examined(judged, runs), tuple(changed), tuple(findings))
