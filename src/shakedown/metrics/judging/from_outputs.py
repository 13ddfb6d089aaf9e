"""Verdicts under a plan that was not in force when runs were judged, from their kept outputs: ``judge_from_outputs``.

An amendment that removes or adds checks, reads a figure in another way or changes rows that judge runs does not change the runs
themselves: the kept outputs show each run's verdict without the amendment. The caller reads the outputs and passes in the answers.
A run gets no answer if its output is gone, a check looks at files without sums, another program would have run, or another verdict
would have caused other runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from shakedown.metrics.judging.fields import RUNS, differ
from shakedown.metrics.judging.plans_in_force import PlansInForce
from shakedown.metrics.rows.rows import STEPS, RunRow
from shakedown.metrics.rows.table import Record
from shakedown.model.checks import is_of_exit_status
from shakedown.model.contracts import rows_of
from shakedown.model.judging import ContractRow
from shakedown.model.nouns import Case, Document, Test
from shakedown.model.retrying import rule_for

MOST_OUTPUTS = 2000  # the most outputs read at a time; with more, nothing is known
FROM_OUTPUT = frozenset({"passed", "failed", "incorrect", "performance"})  # verdicts that an output can change
WELL = frozenset({"passed", "performance"})  # the right answer: runs that need such a run may begin
UNREAD = "unread"  # stands for a verdict: the output that would give it can no longer be read


class Question(Struct, frozen=True):
    """The question of a run's verdict by a test and by these contract rows, from its kept output."""

    row: RunRow
    case: Case
    test: Test
    rows: tuple[ContractRow, ...]

    @property
    def asks(self) -> tuple[object, ...]:
        """Everything on which the verdict from an output depends."""
        return self.test.checks, self.test.figures, self.rows


class Answer(Struct, frozen=True):
    """The verdict and its details, as in ``RunRow``; ``UNREAD`` if the output is gone, was changed or cannot be read."""

    verdict: str
    reason: str
    figures: dict[str, float] = {}
    checks: tuple[tuple[str, bool | None, str], ...] = ()
    problems: tuple[str, ...] = ()


Evaluate = Callable[[Sequence[Question]], Sequence[Answer | None]]  # None: the output cannot be evaluated


class Answers:
    """A cache of answers, by run and question. ``evaluate``: None if no outputs are kept."""

    def __init__(self, evaluate: Evaluate | None) -> None:
        self._evaluate = evaluate
        self._known: dict[tuple[str, int, str], Answer | None] = {}

    def of(self, questions: Sequence[Question]) -> list[Answer | None]:
        """Purpose: an answer to each question, None where there is none."""
        if self._evaluate is None or len(questions) > MOST_OUTPUTS:
            return [None] * len(questions)
        keys = [(one.row.run, one.row.seq, repr((one.case.expect, one.test, one.rows))) for one in questions]
        fresh = [(key, one) for key, one in zip(keys, questions, strict=True) if key not in self._known]
        if fresh:
            found = self._evaluate([one for _, one in fresh])
            self._known |= {key: answer for (key, _), answer in zip(fresh, found, strict=True)}
        return [self._known[key] for key in keys]


def judge_from_outputs(record: Record, mine: PlansInForce, real: PlansInForce, answers: Answers) -> dict[str, Answer]:
    """Purpose: run -> its verdict under the plans left in force, for runs that these plans judge in another way and whose kept
    output gives an answer. Sets ``record.evaluated`` to these runs and those judged in the same way, and ``record.unread`` to the
    runs whose output would be needed but can no longer be read.

    ``mine``: the plans left in force; ``real``: those of the whole record.
    """
    same, questions = set[str](), list[Question]()
    for row in record.current():
        asked, was = _asked(row, mine), _asked(row, real)
        if asked is None or was is None or row.supersedes:
            continue
        if row.verdict not in FROM_OUTPUT or asked.asks == was.asks:  # by no check, or by the same
            same.add(row.run)
        elif _may_be_asked(asked, was):
            questions.append(asked)
    found, unread = dict[str, Answer](), set[str]()
    for question, answer in zip(questions, answers.of(questions), strict=True):
        if answer is not None and answer.verdict == UNREAD:
            unread.add(question.row.run)
        if answer is not None and answer.verdict in FROM_OUTPUT and not _others_follow(question, answer, mine):
            found[question.row.run] = answer
    record.evaluated, record.unread = frozenset(same | found.keys()), frozenset(unread)
    return found


def with_answer(row: RunRow, answer: Answer) -> RunRow:
    """Purpose: the row, with the verdict that its kept output gives under another plan."""
    return replace(
        row,
        verdict=answer.verdict,
        reason=f"{answer.reason}; by its kept output",
        figures=answer.figures,
        checks=answer.checks,
        problems=answer.problems,
    )


def _asked(row: RunRow, plans: PlansInForce) -> Question | None:
    """The question by which the plan in force judged a run; None if that plan lacks its case or test."""
    document, case = plans.at(row.seq), plans.case(row.seq, row.case)
    test = _test(document, case) if case is not None else None
    if case is None or test is None:
        return None
    judging = tuple(one for one in rows_of(document, case) if one.verdict)
    return Question(row, case, test.of(case), judging)


def _test(document: Document, case: Case) -> Test | None:
    return next((test for test in document.tests if test.name == case.test), None)


def _may_be_asked(asked: Question, was: Question) -> bool:
    """Whether the kept output can answer: the same program ran in the same place, and checks and figures need only the output."""
    row = asked.row
    if row.verdict not in FROM_OUTPUT or row.mode in STEPS or row.retried or not row.output:
        return False
    if differ(asked.case, was.case, RUNS) or differ(asked.case.shape, was.case.shape, RUNS):
        return False
    return all(source == "output" for source in _sources(asked.test))


def _sources(test: Test) -> Iterator[str]:
    yield from (check.subject for check in test.checks if not is_of_exit_status(check))
    yield from (figure.source for figure in test.figures if not figure.formula)


def _others_follow(question: Question, answer: Answer, plans: PlansInForce) -> bool:
    """Whether another verdict would have caused other runs: further attempts, results that need this one, a case that is given up,
    or sizes of a ladder.
    """
    row, verdict = question.row, answer.verdict
    if verdict == row.verdict:
        return False
    part = plans.part(row.seq, row.component)
    if part is None or part.ladder is not None or part.stop_after:
        return True
    rule = rule_for(part.retry, verdict, part.sweep is not None)
    if rule is not None and rule.times:
        return True
    needed = any(need.case == row.case for case in plans.at(row.seq).cases for need in case.needs)
    return needed and (row.verdict in WELL) and verdict not in WELL
