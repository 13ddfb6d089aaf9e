"""Judging kept outputs by another plan than the one that judged them: ``KeptOutputs``. Changes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shakedown.checks.judge import Judgement, judge
from shakedown.conductor.workers.collector import WorkerCollector
from shakedown.metrics.judging.from_outputs import UNREAD, Answer, Question
from shakedown.model.errors import ShakedownError
from shakedown.model.events import UNDETERMINED
from shakedown.model.layout import Layout
from shakedown.model.ports import CollectOrder, Evidence, JobReport
from shakedown.processes.reactor import Reactor
from shakedown.schedulers.output_sums import output_damage

AT_ONCE = 64  # runs that are collected together
_LONGEST_S = 1.0  # between two looks at whether workers have news


class KeptOutputs:
    """Answers how runs come out by a test and by contract rows, from the outputs that a campaign keeps."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout

    def __call__(self, questions: Sequence[Question]) -> list[Answer | None]:
        """Purpose: an answer to each question: ``UNREAD`` where the output is gone, was changed, cannot be read or was not kept;
        None where it does not contain everything that is asked for.
        """
        found = {id(one): _unread(self.layout, one.row.output) for one in questions}
        ready = [one for one in questions if not output_gone(self.layout, one.row.output)]
        if not ready:
            return [found[id(one)] for one in questions]
        reactor = Reactor()
        try:
            collector = WorkerCollector(self.layout, reactor)
        except ShakedownError as error:  # there is no room for a worker: nothing can be read now
            reactor.close()
            return [found[id(one)] or Answer(UNREAD, error.message) for one in questions]
        try:
            for place in range(0, len(ready), AT_ONCE):
                found |= _answered(ready[place : place + AT_ONCE], collector, reactor)
        finally:
            collector.close()
            reactor.close()
        return [found[id(one)] for one in questions]


def _unread(layout: Layout, output: Mapping[str, Any]) -> Answer | None:
    why = output_gone(layout, output)
    return Answer(UNREAD, why) if why else None


def _answered(questions: Sequence[Question], collector: WorkerCollector, reactor: Reactor) -> dict[int, Answer | None]:
    collector.start([CollectOrder(one.row.run, one.case, one.test, dict(one.row.output)) for one in questions])
    evidence: dict[str, Evidence] = {}
    while len(evidence) < len(questions):
        evidence |= {item.run: item for item in collector.poll()}
        if len(evidence) < len(questions):
            reactor.wait(reactor.now() + _LONGEST_S)
    return {id(one): _answer(one, evidence[one.row.run]) for one in questions}


def _answer(question: Question, evidence: Evidence) -> Answer | None:
    judgement: Judgement = judge(
        question.case, question.test, _report(question), evidence, question.rows, question.row.mode
    )
    if judgement.verdict == UNDETERMINED:
        return Answer(UNREAD, judgement.reason)
    if any(check.held is None for check in judgement.checks):
        return None
    checks = tuple((check.text, check.held, check.detail) for check in judgement.checks)
    return Answer(judgement.verdict, judgement.reason, dict(judgement.figures), checks, judgement.problems)


def _report(question: Question) -> JobReport:
    """The report on the job, made from the run's row."""
    row = question.row
    failed = row.exit not in (None, 0) or (row.verdict == "failed" and "doubt" not in row.output)
    return JobReport(
        row.job,
        "failed" if failed else "completed",
        "marks",
        exit_status=row.exit,
        elapsed_s=row.elapsed_s,
        nodes=row.nodes,
        output=dict(row.output),
    )


def output_gone(layout: Layout, output: Mapping[str, Any]) -> str:
    """Purpose: why a kept output cannot be read any more; "" where it can, also where the run had none."""
    if not output or "lost" in output:
        return f"its output could not be kept: {output['lost']}" if output else ""
    name = str(output.get("pack") or output.get("file") or "")
    path = layout.packs / name if "pack" in output else layout.root / name
    damage = output_damage(layout.root, dict(output))
    if damage:
        return damage
    try:
        path.stat()
    except OSError as error:
        return f"its output in {name} is gone: {error.strerror}"
    return ""
