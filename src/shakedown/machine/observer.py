"""Reads numbers from commands and servers, each in a separate process with limits on time and output.

The conductor never waits for a number. Servers are also asked in such a process (``ask_server``), because name service and network
may hang in ways that no time limit of a library ends.
"""

from __future__ import annotations

import math
import os
import shlex
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import msgspec

from shakedown.model.observing import COMMAND, Answer, Question
from shakedown.processes.reactor import Reactor, Timer
from shakedown.processes.spawn import Child, base_environment, reap, spawn_shell

MOST_BYTES = 4096  # that are read of what one says
AT_ONCE = 8  # processes; what is asked beyond waits for its turn
QUESTION = b"SHAKEDOWN_QUESTION"  # the variable that hands a question to ask_server
_LARGEST = 1e30
_SERVER_GRACE_S = 2.0  # for the start of a Python beside the time that a server has
_SAID = 200


@dataclass(slots=True)
class _Asking:
    """A question that is being answered. ``said`` and ``errors``: what it wrote so far; ``why``: why it was ended."""

    question: Question
    child: Child
    pipes: dict[int, bytearray]
    timer: Timer
    why: str = ""


@dataclass(slots=True)
class ProcessObserver:
    """The Observer port of the real world. ``directory``: where commands run, and where files of tokens are looked for."""

    reactor: Reactor
    directory: Path
    _waiting: list[Question] = field(default_factory=list)
    _asking: dict[str, _Asking] = field(default_factory=dict)
    _answers: list[Answer] = field(default_factory=list)

    def ask(self, questions: Sequence[Question]) -> None:
        """Start a question. A failed start is also reported as an answer."""
        self._waiting += [question for question in questions if question.name not in self._asking]
        self._begin()

    def poll(self) -> Sequence[Answer]:
        """The answers since the last call."""
        answers, self._answers = self._answers, []
        return answers

    def close(self) -> None:
        """End all running questions without a report."""
        self._waiting.clear()
        for asking in list(self._asking.values()):
            _kill(asking.child)
            self._let_go(asking)

    def _begin(self) -> None:
        while self._waiting and len(self._asking) < AT_ONCE:
            question = self._waiting.pop(0)
            try:
                self._start(question)
            except (OSError, ValueError) as error:
                reason = getattr(error, "strerror", None) or error
                self._answers.append(Answer(question.name, trouble=f"it cannot be asked: {reason}"))
                self.reactor.poke()

    def _start(self, question: Question) -> None:
        environment, within_s = base_environment(), question.within_s
        script = f"cd {shlex.quote(str(self.directory))} || exit 1\n{question.query}"
        if question.source != COMMAND:
            environment[QUESTION] = msgspec.json.encode(question)
            module = "shakedown.machine.ask_server"
            script = (
                f"cd {shlex.quote(str(self.directory))} || exit 1\nexec {shlex.quote(sys.executable)} -P -m {module}"
            )
            within_s += _SERVER_GRACE_S
        said, saying = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        errors, complaining = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            for end in (saying, complaining):
                os.set_blocking(end, True)
            child = spawn_shell(["-c", script], environment, saying, errors=complaining)
        except (OSError, ValueError):
            os.close(said)
            os.close(errors)
            raise
        finally:
            os.close(saying)
            os.close(complaining)
        timer = self.reactor.call_later(
            within_s, partial(self._stop, question.name, f"no answer within {within_s:g} s")
        )
        asking = self._asking[question.name] = _Asking(question, child, {said: bytearray(), errors: bytearray()}, timer)
        self.reactor.watch(said, partial(self._read, asking, said))
        self.reactor.watch(errors, partial(self._read, asking, errors))
        self.reactor.watch(child.pidfd, partial(self._ended, asking))

    def _read(self, asking: _Asking, pipe: int) -> bool:
        """Keep what it says. Who says more than a number has letters is ended."""
        try:
            piece = os.read(pipe, MOST_BYTES)
        except BlockingIOError:
            return False
        if not piece:
            self.reactor.unwatch(pipe)
            return False
        asking.pipes[pipe] += piece
        if len(asking.pipes[pipe]) > MOST_BYTES:
            self.reactor.unwatch(pipe)
            self._stop(asking.question.name, f"it says more than {MOST_BYTES} bytes")
        return False

    def _stop(self, name: str, why: str) -> bool:
        asking = self._asking.get(name)
        if asking is not None and not asking.why:
            asking.why = why
            _kill(asking.child)
        return False

    def _ended(self, asking: _Asking) -> bool:
        _kill(asking.child)  # what it left in the background; before its id can be another's
        for pipe in asking.pipes:
            with suppress(OSError):
                asking.pipes[pipe] += os.read(pipe, MOST_BYTES)
        status = self._let_go(asking)
        said, errors = (bytes(one[: MOST_BYTES + 1]).decode("utf-8", "replace") for one in asking.pipes.values())
        self._answers.append(_understood(asking.question, asking.why, status, said, errors))
        self._begin()
        return True

    def _let_go(self, asking: _Asking) -> int | None:
        asking.timer.cancel()
        self._asking.pop(asking.question.name, None)
        self.reactor.close_watched(asking.child.pidfd)
        for pipe in asking.pipes:
            self.reactor.close_watched(pipe)
        return reap(asking.child)


def _understood(question: Question, why: str, status: int | None, said: str, errors: str) -> Answer:
    name = question.name
    if why:
        return Answer(name, trouble=why)
    if status:
        words = _in_one_line(errors) or _in_one_line(said)
        if question.source != COMMAND and status == 1 and words:
            return Answer(name, trouble=words)  # a sentence of our own
        ending = f"exit status {status}" if status > 0 else f"ended by signal {-status}"
        return Answer(name, trouble=f"{ending}{': ' + words if words else ''}")
    try:
        return Answer(name, number_of(said))
    except ValueError as error:
        return Answer(name, trouble=str(error))


def number_of(text: str) -> float:
    """Purpose: the one number that a text is; a percent sign may follow. Raises ValueError with a sentence."""
    word = text.strip().removesuffix("%").strip()
    if not word:
        raise ValueError("it says nothing, where a number is expected")
    try:
        number = float(word if "_" not in word else "")  # underscores are Python's alone
    except ValueError:
        raise ValueError(f"it says '{_in_one_line(text)}', which is no number") from None
    if not math.isfinite(number) or not 0 <= number < _LARGEST:
        raise ValueError(f"it says '{_in_one_line(text)}', which is no amount: it is a number from 0 on")
    return number


def _in_one_line(text: str) -> str:
    words = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return words[:_SAID] + ("..." if len(words) > _SAID else "")


def _kill(child: Child) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
