"""A worker process: it takes orders from a pipe, turns each run's output into evidence within limits, and answers through a pipe.

``serve`` is all it does. It was forked from the conductor and keeps only the two pipes and one shared page. In the page it says
which order it works on and since when, and reads up to which order all were taken back. It ends when the conductor's end of the
pipe closes.
"""

from __future__ import annotations

import contextlib
import gc
import os
import resource
import signal
import struct
import time
from collections.abc import Callable
from functools import partial
from mmap import mmap
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

import msgspec

from shakedown.checks import extract, figures
from shakedown.checks.text import Contents, Missing, cut, decode, printable
from shakedown.checks.variables import LibraryMissing
from shakedown.conductor.workers.classifying import Classes, failure_in
from shakedown.conductor.workers.run_reader import (
    LEFT_CHARACTERS,
    MOST_LEFT,
    TOO_MANY_LEFT,
    OpenPack,
    ReadingLimits,
    RunReader,
)
from shakedown.model.checks import CHECKS, GROUP, is_of_exit_status, kind_of
from shakedown.model.entry_points import declared_by, words_of
from shakedown.model.failures import FailureClass
from shakedown.model.layout import Layout
from shakedown.model.nouns import Check, FigureSpec, Pairs, Test
from shakedown.model.ports import CheckResult, Evidence
from shakedown.model.recorded import KIND, summed
from shakedown.model.references import BINARY, numbers_of, reference_of
from shakedown.model.units import show_bytes
from shakedown.processes.framed_pipe import PIECE, Unpacker, packed, write_all

Item = Check | FigureSpec
Result = CheckResult | tuple[figures.Figure, ...]
Returned = TypeVar("Returned")

COUNT, SECONDS = struct.Struct("<Q"), struct.Struct("<d")
# places in the shared page: order (0: none), monotonic time, order, processor time
AT_WORK, SINCE, TAKEN_BACK, SPENT = 0, 8, 16, 24
ANSWER_AT_ONCE_S = 0.005  # answers wait no longer than this for others to be sent with
DETAIL_LIMIT, PROBLEM_LIMIT, MOST_PROBLEMS = 300, 300, 20


class Order(msgspec.Struct, array_like=True, gc=False):
    """One run to look at. ``test`` is sent along only if ``test_number`` is new to this worker; the same for the site's failure
    classes.
    """

    number: int
    run: str
    test_number: int
    output: dict[str, Any]
    files: Pairs = ()
    test: Test | None = None
    failures: tuple[FailureClass, ...] | None = None  # the site's classes, where they are new to this worker
    handing: tuple[str, ...] = ()  # patterns of files that other runs are given


class Answer(msgspec.Struct, array_like=True, gc=False):
    """The result of an order."""

    number: int
    evidence: Evidence


# ---- the process -----------------------------------------------------------------------------------------------------


def serve(orders: int, answers: int, page: mmap, layout: Layout, limits: ReadingLimits) -> None:
    """Purpose: what a worker does from just after the fork until the orders end. ``orders``, ``answers``: descriptors."""
    _become_a_worker({orders, answers}, limits)
    messages: Unpacker[Order] = Unpacker(Order)
    pack_file, classes = OpenPack(), Classes()
    tests: dict[int, Test] = {}
    while data := os.read(orders, PIECE):
        waiting, since = bytearray(), time.monotonic()
        for order in messages.feed(data):
            if order.test is not None:
                tests[order.test_number] = order.test
            if order.failures is not None:
                classes = Classes(order.failures)
            if order.number <= COUNT.unpack_from(page, TAKEN_BACK)[0]:
                continue
            SECONDS.pack_into(page, SINCE, time.monotonic())
            SECONDS.pack_into(page, SPENT, time.process_time())
            COUNT.pack_into(page, AT_WORK, order.number)
            reader = RunReader(layout, order.run, order.output, order.files, limits, pack_file)
            evidence = _safely(order, tests[order.test_number], reader, limits, classes)
            waiting += packed(Answer(order.number, evidence))
            if time.monotonic() - since > ANSWER_AT_ONCE_S:
                _send(answers, waiting, page)
                since = time.monotonic()
        _send(answers, waiting, page)


def _become_a_worker(kept: set[int], limits: ReadingLimits) -> None:
    """Give up what belongs to the conductor: its files and locks, its signal handlers, its garbage collection."""
    gc.freeze()  # nothing inherited is ever finalized here: its descriptors are not ours any more
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP):
        signal.signal(number, signal.SIG_IGN)  # a terminal tells the whole group; the conductor decides
    for number in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGPROF, _alarm)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    for descriptor in [int(entry.name) for entry in Path("/proc/self/fd").iterdir()]:
        if descriptor > 2 and descriptor not in kept:
            with contextlib.suppress(OSError):  # the listing's own descriptor
                os.close(descriptor)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _limit_memory(limits.memory)


def _limit_memory(more: int) -> None:
    """Limit the memory, so that a regular expression that needs too much gets a MemoryError."""
    pages = int(Path("/proc/self/statm").read_bytes().split()[0])
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = pages * os.sysconf("SC_PAGE_SIZE") + more
    if soft == resource.RLIM_INFINITY or wanted < soft:
        resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))


def _send(answers: int, waiting: bytearray, page: mmap) -> None:
    """Send the answers that wait. After this no order counts as being worked on, so a conductor that listens late does not make it
    late.
    """
    COUNT.pack_into(page, AT_WORK, 0)
    write_all(answers, bytes(waiting))
    waiting.clear()


def _safely(order: Order, test: Test, reader: RunReader, limits: ReadingLimits, classes: Classes) -> Evidence:
    """The evidence for one order. A problem or an error of Shakedown itself is told in the evidence, which makes this run
    undetermined; other runs are not affected.
    """
    run = order.run
    try:
        evidence = with_left(take_evidence(run, test, reader, limits), order.handing, reader, limits)
        return with_failure(evidence, reader, limits, classes)
    except (OSError, MemoryError) as error:
        why = getattr(error, "strerror", None) or "there was no memory left"
        return no_evidence(run, test, f"the worker that read it could not go on: {why}")
    except Exception as error:  # noqa: BLE001 - said in the evidence, which makes the run undetermined
        return no_evidence(run, test, f"a fault of Shakedown itself: {type(error).__name__}: {error}")


def no_evidence(run: str, test: Test, why: str, trouble: bool = True) -> Evidence:
    """Purpose: evidence that says why there is none. ``trouble``: whether neither the run nor its test is the cause."""
    said = cut(printable(why), PROBLEM_LIMIT)
    return Evidence(run, extract.undecided(test, said), (), (said,), trouble=said if trouble else "")


# ---- one run ---------------------------------------------------------------------------------------------------------


def take_evidence(run: str, test: Test, reader: RunReader, limits: ReadingLimits) -> Evidence:
    """Purpose: everything that a test wants to know of a run, within the limits. Quick checks and figures come first, so that one
    regular expression that explodes does not use up the time of the others.
    """
    items: list[Item] = [check for check in test.checks if not is_of_exit_status(check)]
    items.extend(spec for spec in test.figures if not spec.formula)  # those of formulas are computed when it is judged
    results: dict[int, Result] = {}
    end = time.process_time() + limits.seconds
    for turn in (limits.quick, limits.seconds):
        for number, item in enumerate(items):
            left = min(turn, end - time.process_time())
            if number not in results and left > 0:
                result = within(left, partial(_evaluate, item, reader, limits))
                if result is not None:
                    results[number] = result
        if len(results) == len(items):
            break
    too_slow = (
        f"it took more than the {limits.seconds:g} s of processor time that all checks and figures of a run may take"
    )
    everything = [results.get(number) or without(item, too_slow) for number, item in enumerate(items)]
    return _evidence(run, everything, reader, limits)


def _evaluate(item: Item, reader: RunReader, limits: ReadingLimits) -> Result:
    try:
        if isinstance(item, FigureSpec):
            return figures.take(item, reader.read(item.source))
        return _check(item, reader)
    except MemoryError:
        return without(item, f"it takes more memory than the {show_bytes(limits.memory)} that a run may take")


def _check(check: Check, reader: RunReader) -> CheckResult:
    """The result of one check, by the declaration of its kind. A kind that is not known here, or whose function fails, is a trouble
    that the run did not cause.
    """
    kind = kind_of(check)
    try:
        if kind is None:
            result = extract.check(check, None)
            reader.trouble.append(result.detail)
            return result
        if kind.reads == "presence":
            return extract.check(check, reader.look(check.subject))
        if kind.reads == "sums":
            return _summed(check, reader)
        if kind.reads == "reference":
            return extract.check(check, _beside_its_reference(check, reader))
        return extract.check(check, reader.read(check.subject))
    except (TimeUp, MemoryError, OSError):
        raise
    except LibraryMissing as error:
        reader.trouble.append(str(error))
        return CheckResult(extract.label(check), None, str(error))
    except Exception as error:
        if kind in CHECKS:
            raise
        whose = declared_by(GROUP, check.kind) or "a package of the site"
        why = f"the check '{check.kind}' of {whose} failed: {words_of(error)}"
        reader.trouble.append(why)
        return CheckResult(extract.label(check), None, why)


def _beside_its_reference(check: Check, reader: RunReader) -> tuple[Contents | bytes, Contents | bytes]:
    """What was read of the run and of the reference: bytes of both where the format is binary."""
    asked = reference_of(check)
    reference = reader.reference(asked.reference, asked.sha256)
    if check.kind == "equal-within" and numbers_of(check).format in BINARY:
        return reader.whole(check.subject), reference
    return reader.read(check.subject), reference if isinstance(reference, Missing) else decode("reference", reference)


def _summed(check: Check, reader: RunReader) -> CheckResult:
    """A check on sums of files. Sums that are to be recorded are remembered."""
    found = reader.digests(check.subject, _golden_paths(check))
    result = extract.check(check, found)
    if check.kind == KIND and result.held:
        reader.recorded[check.subject] = summed({path: one for path, one in found.items() if isinstance(one, str)})
    return result


def _golden_paths(check: Check) -> list[str]:
    try:
        return list(extract.golden_sums(check))
    except ValueError:
        return []  # judged by ``extract.golden``, which says what is wrong


def without(item: Item, why: str) -> Result:
    """The result for a check that is undecided, or a figure that is missing, for a reason outside of what was read."""
    if isinstance(item, FigureSpec):
        return (figures.missing(item, why),)
    return CheckResult(extract.label(item), None, why)


def _evidence(run: str, results: list[Result], reader: RunReader, limits: ReadingLimits) -> Evidence:
    """Evidence that is small enough to send: everything quoted from an output is cut."""
    last_lines = within(limits.excerpt, reader.excerpt) or ""
    sums = within(limits.excerpt, reader.sums) or {}
    lost = within(limits.excerpt, reader.lost_ranks) or ""
    checks = [result for result in results if isinstance(result, CheckResult)]
    taken = [one for result in results if not isinstance(result, CheckResult) for one in result]
    problems = [figure.problem for figure in taken if figure.problem] + reader.problems()
    if len(problems) > MOST_PROBLEMS:
        problems = [*problems[:MOST_PROBLEMS], f"and {len(problems) - MOST_PROBLEMS} more"]
    return Evidence(
        run,
        tuple(CheckResult(check.text, check.held, cut(printable(check.detail), DETAIL_LIMIT)) for check in checks),
        tuple((figure.name, figure.value) for figure in taken if figure.value is not None),
        tuple(cut(printable(problem), PROBLEM_LIMIT) for problem in problems),
        last_lines,
        lost_ranks=lost,
        trouble=cut(printable(reader.trouble[0]), PROBLEM_LIMIT) if reader.trouble else "",
        sums=sums,
        recorded=reader.recorded,
    )


def with_left(evidence: Evidence, handing: tuple[str, ...], reader: RunReader, limits: ReadingLimits) -> Evidence:
    """Purpose: the evidence, with the sums of files that other runs are given, or why they cannot be."""
    left: dict[str, dict[str, str] | str] = {}
    end = time.process_time() + limits.handing
    count = characters = 0
    for pattern in handing:
        found = within(max(0.001, end - time.process_time()), partial(reader.left, pattern))
        if isinstance(found, dict):
            count, characters = count + len(found), characters + sum(map(len, found))
            if count > MOST_LEFT or characters > LEFT_CHARACTERS:
                found = TOO_MANY_LEFT
        left[pattern] = found or f"its sum was not known after {limits.handing:g} s of processor time"
    trouble = evidence.trouble or (cut(printable(reader.trouble[0]), PROBLEM_LIMIT) if reader.trouble else "")
    return msgspec.structs.replace(evidence, left=left, trouble=trouble) if handing else evidence


def with_failure(evidence: Evidence, reader: RunReader, limits: ReadingLimits, classes: Classes) -> Evidence:
    """Purpose: the evidence, with what the most telling line of the output says of a failure. The exit status is not known here.

    A fixed amount of output is looked at, so that the class does not depend on how fast this host is. It takes too long only where
    a pattern of the site does; then the evidence says so.
    """
    scan = classes.scan()
    if reader.output.get("bytes"):
        classes.ready()  # not in the time of one run
    done = within(limits.classify, partial(failure_in, scan, reader))
    problem = f"the class of its failure is of a part of the output: looking at it took {limits.classify:g} s of processor time"
    problems = evidence.problems if done else (*evidence.problems, problem)
    return msgspec.structs.replace(evidence, failure=scan.failure(), problems=problems)


# ---- time ------------------------------------------------------------------------------------------------------------


class TimeUp(Exception):
    """Raised by the alarm when the time for some work is over, wherever the worker is."""


_ALARM_AGAIN_S = 0.25  # an exception that is raised in a finalizer is lost
_armed = False


def _alarm(number: int, frame: FrameType | None) -> None:
    if _armed:
        raise TimeUp


def within(seconds: float, work: Callable[[], Returned]) -> Returned | None:
    """Purpose: what ``work`` returns; None where it takes more than ``seconds`` of processor time. Python's regular expressions
    react to signals; code that does not is ended from outside, see ``collector``.
    """
    global _armed
    try:
        _armed = True
        signal.setitimer(signal.ITIMER_PROF, seconds, _ALARM_AGAIN_S)
        try:
            return work()
        finally:
            _armed = False
            signal.setitimer(signal.ITIMER_PROF, 0)
    except TimeUp:
        _armed = False
        signal.setitimer(signal.ITIMER_PROF, 0)
        return None
