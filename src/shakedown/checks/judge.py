"""The verdict on a run that ended: its report and its evidence against its test. ``judge`` is the way in.

failed: the exit status is not the one that the test expects, or it is 0 although a launcher says that ranks were lost.
incorrect: a check does not hold, cannot be decided, or a required figure is missing. undetermined: no check is known not to hold,
and something could not be read or judged for a reason that is neither the run's nor its test's; or it would be failed or
incorrect, and a disk was full while it ran; or it would pass, and its own marks are not believed (``doubt`` in its output): then
it is failed once that has happened too often. performance: all of that is well, but a figure lies outside a frozen
contract row that judges runs. passed: all is well. A report of another end (timeout, node_fail...) names the verdict itself.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from msgspec import structs

from shakedown.checks.classify.ending import weigh
from shakedown.checks.derived import derive
from shakedown.checks.doubt import ATTEMPTED_AGAIN, doubted
from shakedown.checks.extract import label
from shakedown.checks.text import NOT_AS_WRITTEN, cut, printable
from shakedown.checks.trim import room_for, size, trim
from shakedown.model.checks import is_of_exit_status
from shakedown.model.contracts import beside, holds, source_text
from shakedown.model.events import COMPLETED, UNDETERMINED
from shakedown.model.failures import Failure
from shakedown.model.figures import figure_of
from shakedown.model.judging import ContractRow
from shakedown.model.nouns import Case, FigureSpec, Test
from shakedown.model.ports import AT_LIMIT, CheckResult, Evidence, JobReport
from shakedown.model.recorded import Recorded
from shakedown.model.steps import broken_step
from shakedown.model.units import Quantity, show_duration

REASON_LIMIT = 300  # characters

_TELLING = re.compile(
    r"error|fatal|fail|abort|fault|exception|killed|terminated|signal|panic|cannot|can't|unable|denied|refused|invalid"
    r"|not found|no such|not permitted|out of memory|no space|timed? ?out|assert",
    re.IGNORECASE,
)
# What launchers and MPI libraries add to every failure after the program's own words: Slurm, MPICH and what is like it, Open MPI.
_ECHO = re.compile(
    r"srun: (error: \S+: tasks? [\d,-]+: (Exited with exit code|Terminated)|Job step aborted|Terminating)"
    r"|slurmstepd: error: \*\*\* STEP .* CANCELLED"
    r"|(Abort\(-?\d+\) .*|\[\w+\]: aborting job:.*)?application called MPI_Abort\(|\[cli_\d+\]: aborting job"
    r"|=+ +(BAD TERMINATION|EXIT CODE|CLEANING UP|KILLED BY|RANK \d+ PID|PID \d+ RUNNING)"
    r"|YOUR APPLICATION TERMINATED WITH|In: PMI_Abort\("
    r"|MPI_ABORT was invoked on rank|with errorcode -?\d+|NOTE: invoking MPI_ABORT|You may or may not see output"
    r"|exactly when Open MPI kills them|(mpirun|mpiexec|prterun)\b.*(has exited|noticed that|detected that)"
    r"|the job to be terminated|Primary job +terminated normally|a non-zero exit code|Process name: \[\[|Exit code: +\d+"
)
_AGAIN = "it is judged again by itself when that has passed; if it stays: shakedown rejudge"
_GONE = f"that is gone for good, so {ATTEMPTED_AGAIN}"
_SHELL_SAYS = {126: "a command could not be executed", 127: "a command was not found"}


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict, why, and what it rests on. ``reason`` is one printable sentence of at most ``REASON_LIMIT`` characters."""

    verdict: str
    reason: str
    figures: tuple[tuple[str, float], ...] = ()
    checks: tuple[CheckResult, ...] = ()
    problems: tuple[str, ...] = ()
    excerpt: str = ""
    failure: Failure | None = None  # None where it passed
    recorded: tuple[tuple[str, Recorded], ...] = ()  # pattern -> sums of files that the test has recorded
    gone: bool = False  # undetermined, and its evidence is lost for good, so the result is attempted again

    def value(self) -> dict[str, Any]:
        """The fields that judging adds to the value of a verdict event; empty fields are left out."""
        value: dict[str, Any] = {"verdict": self.verdict}
        if self.figures:
            value["figures"] = dict(self.figures)
        if self.checks:
            value["checks"] = [[check.text, check.held, check.detail] for check in self.checks]
        if self.problems:
            value["problems"] = list(self.problems)
        if self.excerpt:
            value["excerpt"] = self.excerpt
        if self.failure is not None:
            value["failure"] = self.failure.value()
        if self.recorded:
            value["recorded"] = self.kept_sums()
        return value

    def kept_sums(self) -> dict[str, Any]:
        """The recorded sums in the form in which an event holds them."""
        return {pattern: [one.sum, one.count, one.each] for pattern, one in self.recorded}


def judge(
    case: Case,
    test: Test,
    report: JobReport,
    evidence: Evidence,
    rows: Sequence[ContractRow] = (),
    mode: str = "",
) -> Judgement:
    """Purpose: the verdict on one run, short enough for an event's value together with the facts of the report.

    ``rows``: the contract rows in force for the case; those that judge runs of this ``mode`` count.
    """
    if any(spec.formula for spec in test.figures) and report.state in ("completed", "failed"):
        derived, problems = derive(test.figures, evidence.figures, report.elapsed_s)
        evidence = structs.replace(
            evidence, figures=evidence.figures + derived, problems=evidence.problems + tuple(map(_printable, problems))
        )
    checks = _all_checks(test, report, evidence)
    verdict, why = _verdict(test, report, evidence)
    if verdict == "passed":
        verdict, why = _against_rows(judging(rows, mode), test, report, evidence, why)
    verdict, why = doubted(verdict, why, str(report.output.get("doubt", "")))
    judgement = Judgement(
        verdict,
        cut(printable(_with_expectation(case, verdict, why)), REASON_LIMIT),
        evidence.figures,
        checks,
        evidence.problems,
        "" if verdict == "passed" else evidence.excerpt,
        weigh(verdict, report.message or (why if verdict in COMPLETED else ""), _status(report), evidence.failure),
        tuple(sorted(evidence.recorded.items())),
        verdict == UNDETERMINED and why.endswith(ATTEMPTED_AGAIN),
    )
    return fit(judgement, room_for(report) - (size(evidence.left) if evidence.left else 0))


def _printable(text: str) -> str:
    return cut(printable(text), REASON_LIMIT)


def signal_name(number: int) -> str:
    """ "signal 9 (SIGKILL)"."""
    try:
        return f"signal {number} ({signal.Signals(number).name})"
    except ValueError:
        return f"signal {number}"


def _verdict(test: Test, report: JobReport, evidence: Evidence) -> tuple[str, str]:
    if report.state not in ("completed", "failed"):
        return report.state, _other_end(report)
    fault = _exit_fault(test, report)
    full = _lost_for_lack_of_room(test, report)
    if fault:
        words = (report.message.strip(), _last_words(report, evidence.excerpt))
        fault = _with_words(fault, "; ".join(word for word in words if word))
        return _nobody_knows(full, fault) if full else ("failed", fault)
    if evidence.lost_ranks and _status(report) == 0 and "any" not in _wanted_exits(test):
        return "failed", f"ranks of a step were lost, although its exit status is 0: {printable(evidence.lost_ranks)}"
    wrong = _what_is_wrong(test, evidence)
    if _is_undetermined(test, evidence):
        way_out = _GONE if "lost" in report.output or NOT_AS_WRITTEN in evidence.trouble else _AGAIN
        return UNDETERMINED, f"could not be judged: {cut(printable(evidence.trouble), 160)}; {way_out}"
    if wrong and full:
        return _nobody_knows(full, wrong[0])
    if wrong:
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        return "incorrect", cut(printable(wrong[0]), REASON_LIMIT - len(more)) + more
    return "passed", _what_is_right(report, evidence)


def _lost_for_lack_of_room(test: Test, report: JobReport) -> str:
    """Why files of the run may be incomplete because a disk was full, or "". Output through a pipe is not affected."""
    full = str(report.output.get("no_room", ""))
    wrote = "directory" in report.output or report.state == "failed"
    reads = [check.subject for check in test.checks if not is_of_exit_status(check)]
    reads += [spec.source for spec in test.figures if not spec.formula]
    return full if wrote or any(subject != "output" for subject in reads) else ""


def _nobody_knows(full: str, wrong: str) -> tuple[str, str]:
    """The verdict ``undetermined`` with its reason: the fault may lie in the test or in the full disk."""
    return UNDETERMINED, f"could not be judged: {cut(printable(full), 100)}, and {cut(printable(wrong), 110)}; {_GONE}"


def _other_end(report: JobReport) -> str:
    reasons = {
        "timeout": AT_LIMIT,
        "node_fail": "a node it ran on failed",
        "cancelled": "it was cancelled",
        "interrupted": "it was ended from outside",
    }
    reason = reasons.get(report.state, f"{report.source} says '{printable(report.state)}'")
    if report.state == "timeout" and report.elapsed_s is not None:
        reason += f", after {show_duration(report.elapsed_s)}"
    return _with_words(reason, _further(report.message) if report.state == "timeout" else report.message)


def _further(message: str) -> str:
    """A message without its words on the time limit, because the reason names the limit already."""
    return message if not message.startswith(AT_LIMIT) else message.partition("; ")[2]


def _with_words(reason: str, words: str) -> str:
    return f"{reason}: {cut(printable(words.strip()), 200)}" if words.strip() else reason


# ---- the exit status -------------------------------------------------------------------------------------------------


def _exit_fault(test: Test, report: JobReport) -> str:
    """Why the exit status is wrong, or "". 0 is right unless the test says otherwise."""
    wanted = _wanted_exits(test)
    status = _status(report)
    if "any" in wanted or (status is not None and str(status) in wanted and not _scheduler_objects(report)):
        return ""
    if status is None:
        return f"it failed, and its exit status is not known{_expected(wanted)}"
    if status < 0:
        memory = "; perhaps it ran out of memory" if status == -signal.SIGKILL else ""
        return f"ended by {signal_name(-status)}{memory}{_expected(wanted)}"
    if str(status) in wanted:
        return f"the job is reported as failed ({report.source}), though with exit status {status}"
    return f"exit status {status}{_meaning(status)}{_expected(wanted)}"


def _wanted_exits(test: Test) -> list[str]:
    return [check.argument.strip() for check in test.checks if is_of_exit_status(check)] or ["0"]


def _status(report: JobReport) -> int | None:
    if report.exit_status is None and report.state == "completed":
        return 0
    return report.exit_status


def _scheduler_objects(report: JobReport) -> bool:
    """Whether the scheduler reports a failure although the exit status is 0: its prolog or its step launch failed."""
    return report.state == "failed" and report.exit_status == 0


def _expected(wanted: list[str]) -> str:
    return "" if wanted == ["0"] else f", where {' or '.join(wanted)} is expected"


def _meaning(status: int) -> str:
    """The meaning that a shell gives to a status, for a reason: 126, 127, and 128 + N (signal N ended a command); else ""."""
    if status in _SHELL_SAYS:
        return f" ({_SHELL_SAYS[status]})"
    if 128 < status <= 128 + 64:
        return f" (a command was ended by {signal_name(status - 128)})"
    return ""


def _last_words(report: JobReport, excerpt: str) -> str:
    """The most telling line of the output. A killed run may not print why; its last line is then quoted as only that."""
    line, status = telling_line(excerpt), _status(report) or 0
    if line and (status < 0 or status > 128) and not _TELLING.search(line):
        return f'the last line of its output is "{cut(printable(line), 100)}"'
    return line


def telling_line(excerpt: str) -> str:
    """The last line that mentions an error, from the program rather than from the launcher; without one, the last line."""
    lines = [line.strip() for line in excerpt.split("\n") if line.strip()]
    errors = [line for line in lines if _TELLING.search(line)]
    own = [line for line in errors if not _ECHO.match(line)]
    return (own or errors or lines or [""])[-1]


# ---- checks and figures ----------------------------------------------------------------------------------------------


def _all_checks(test: Test, report: JobReport, evidence: Evidence) -> tuple[CheckResult, ...]:
    """The results of all checks in the order written; checks of the exit status are decided here."""
    if not any(map(is_of_exit_status, test.checks)):
        return evidence.checks
    fault = _exit_fault(test, report)
    others = iter(evidence.checks)
    results: list[CheckResult] = []
    for check in test.checks:
        if is_of_exit_status(check):
            results.append(CheckResult(label(check), not fault, fault))
        else:
            results.append(next(others, CheckResult(label(check), None, "it was not looked at")))
    return (*results, *others)


def _what_is_wrong(test: Test, evidence: Evidence) -> list[str]:
    """Sentences on failed checks, then on undecided checks, then on missing required figures."""
    failing = [_failing(check) for check in evidence.checks if check.held is False]
    undecided = [f"could not be checked: {_failing(check)}" for check in evidence.checks if check.held is None]
    asked = sum(not is_of_exit_status(check) for check in test.checks)
    unseen = asked - len(evidence.checks)
    if unseen > 0:
        undecided.append(f"could not be checked: {unseen} of {asked} checks were not looked at")
    there = {figure_of(name) for name, _ in evidence.figures}
    required = [spec for spec in test.figures if spec.required]
    absent = [_absent(spec, evidence.problems) for spec in required if spec.name not in there]
    return failing + undecided + absent + _without_rows(required, there, evidence.problems)


def _is_undetermined(test: Test, evidence: Evidence) -> bool:
    """Whether trouble outside the run hides a check or a figure. A check that fails makes the run incorrect all the same."""
    if not evidence.trouble or any(check.held is False for check in evidence.checks):
        return False
    there = {figure_of(name) for name, _ in evidence.figures}
    asked = sum(not is_of_exit_status(check) for check in test.checks)
    open_checks = len(evidence.checks) < asked or any(check.held is None for check in evidence.checks)
    return open_checks or any(spec.name not in there for spec in test.figures)


def _failing(check: CheckResult) -> str:
    text = cut(printable(check.text), 120)
    return f"{text}: {check.detail}" if check.detail else f"{text} does not hold"


def _without_rows(required: Sequence[FigureSpec], there: set[str], problems: Sequence[str]) -> list[str]:
    """Sentences on rows of required figures that are in the table but have no number."""
    begins = tuple(f"figure {spec.name}[" for spec in required if spec.has_rows and spec.name in there)
    rows = [problem.removeprefix("figure ").partition(": ") for problem in problems if problem.startswith(begins)]
    return [f"figure {name} is missing: {why}" for name, _, why in rows] if begins else []


def _absent(spec: FigureSpec, problems: Sequence[str]) -> str:
    own = f"figure {spec.name}: "
    why = next((problem for problem in problems if problem.startswith(own)), "")
    if why:
        return f"figure {spec.name} is missing: {why.removeprefix(own)}"
    return f"figure {spec.name} is missing" + (f": {problems[0]}" if problems else "")


def _what_is_right(report: JobReport, evidence: Evidence) -> str:
    checks, figures = len(evidence.checks), len(evidence.figures)
    said = [f"exit status {_status(report) if _status(report) is not None else 'not known'}"]
    if checks:
        said.append("1 check holds" if checks == 1 else f"{checks} checks hold")
    if figures:
        said.append("1 figure taken" if figures == 1 else f"{figures} figures taken")
    if report.elapsed_s is None and report.output.get("no_room"):
        full = cut(printable(str(report.output["no_room"])), 100)
        said.append(f"its run time is not known: its end mark could not be written ({full})")
    step = broken_step(evidence.excerpt)
    return ", ".join(said) + (f"; a step was given up: {step.words}" if step else "")


# ---- contract rows ---------------------------------------------------------------------------------------------------


def judging(rows: Sequence[ContractRow], mode: str) -> list[ContractRow]:
    """The rows that judge a run of this mode; none for warm-ups, set-ups, clean-ups and drills, because they do not count."""
    if mode in ("warm-up", "set-up", "clean-up", "drill"):
        return []
    return [row for row in rows if row.verdict and row.statistic == "each" and row.mode in ("", mode)]


def _against_rows(
    rows: Sequence[ContractRow], test: Test, report: JobReport, evidence: Evidence, why: str
) -> tuple[str, str]:
    """The verdict by contract rows: ``performance`` where a value lies outside a row, else passed; a missing figure is skipped."""
    values = dict(evidence.figures)
    if report.elapsed_s is not None:
        values["elapsed"] = report.elapsed_s
    units = {spec.name: spec.unit for spec in test.figures} | {"elapsed": "s"}
    units |= {name: units.get(figure_of(name), "") for name in values if name not in units}
    said = [(row, _in_its_unit(row, values[row.figure], units)) for row in rows if row.figure in values]
    looked = [(row, value) for row, value in said if value is not None]
    outside = [_outside(row, value) for row, value in looked if not holds(row, value)]
    if not outside:
        strange = [row for row, value in said if value is None]
        why += f", inside {_rows(len(looked))}" if looked else ""
        return "passed", why + (f"; {strange[0].name} is in another unit and was not asked" if strange else "")
    more = f" (and outside {_rows(len(outside) - 1)} more)" if len(outside) > 1 else ""
    return "performance", cut(printable(outside[0]), REASON_LIMIT - len(more)) + more


def _in_its_unit(row: ContractRow, value: float, units: dict[str, str]) -> float | None:
    """The value in the unit of a row, which an amendment of the test may have changed; None where the units do not convert."""
    unit = units.get(row.figure, row.unit)
    try:
        return Quantity(value, unit).to(row.unit) if row.unit else value
    except ValueError:
        return None


def _outside(row: ContractRow, value: float) -> str:
    """A sentence: the figure, its value, its bound, and the source of the row."""
    return f"{row.figure} is {beside(value, row)}, must be {row.must} ({source_text(row)})"


def _rows(count: int) -> str:
    return "1 contract row" if count == 1 else f"{count} contract rows"


# ---- what was expected, what fits ------------------------------------------------------------------------------------


def _with_expectation(case: Case, verdict: str, why: str) -> str:
    """The reason, with a note that this verdict was expected or which one was; the verdict itself does not change."""
    if not case.expect:
        return why
    because = f": {case.because}" if case.because else ""
    if case.expect == verdict:
        return f"as expected{because} ({why})"
    return f"{why} (expected: {case.expect}{because})"


def fit(judgement: Judgement, room: int) -> Judgement:
    """Purpose: the judgement with a ``value`` of at most ``room`` bytes: details are shortened, figures are all kept."""
    checks, problems, excerpt = trim(judgement.value(), judgement.checks, judgement.problems, judgement.excerpt, room)
    if checks is judgement.checks and problems is judgement.problems and excerpt is judgement.excerpt:
        return judgement
    return replace(judgement, checks=checks, problems=problems, excerpt=excerpt)
