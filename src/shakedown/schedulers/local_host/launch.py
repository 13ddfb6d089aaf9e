"""Launching one job: directory, script, environment, pipe, and a shell that waits at its gate until it is released.

The gate makes the start exact: the shell is bound to its cores before it does anything, and its run time is counted from there.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection
from dataclasses import dataclass

from shakedown.model.layout import Layout
from shakedown.model.nouns import Case
from shakedown.model.ports import JobOrder
from shakedown.processes.identity import directory_token
from shakedown.processes.spawn import MARKER, Child, as_at_login, base_environment, marked, spawn_shell
from shakedown.schedulers.claims import CannotStart, Workplace, cannot_start
from shakedown.schedulers.directories import Places
from shakedown.schedulers.local_host.capture import Capture
from shakedown.schedulers.local_host.script import GATE, GPU_GATE, case_environment, case_script, claimed

_LONGEST_ARGUMENT = 128 << 10  # MAX_ARG_STRLEN of Linux, with the zero at the end: a longer script goes through a file
_CACHED_CASES = 1024


@dataclass(slots=True)
class Launch:
    """A job whose shell was started. Until it is released, the shell waits for one line on its standard input."""

    child: Child
    capture: Capture
    marker: str
    place: str  # its work directory
    script_file: bool
    gate: int  # where that line is written; -1 once it was, or never will be

    def release(self, cpus: Collection[int], gpus: str = "") -> None:
        """Purpose: let the job begin, on these hardware threads and GPUs. Raises OSError where its shell is gone."""
        os.sched_setaffinity(self.child.pid, cpus)
        self.child.started = time.monotonic()
        os.write(self.gate, f"{gpus}\n".encode())
        self.close_gate()

    def close_gate(self) -> None:
        if self.gate >= 0:
            os.close(self.gate)
            self.gate = -1


class Launcher:
    """Launches jobs of one campaign."""

    def __init__(self, layout: Layout, workplace: Workplace, keep_bytes: int, gpus: bool = False) -> None:
        """``gpus``: whether the machine's GPUs are given out to jobs, so that a job sees only its own."""
        self._gate = GPU_GATE if gpus else GATE
        self._layout, self._workplace, self._keep_bytes = layout, workplace, keep_bytes
        self._token = directory_token(layout.root)
        self._environment = base_environment() | {b"SHAKEDOWN_CAMPAIGN": os.fsencode(layout.root)}
        self._places = Places(layout)
        self._login = as_at_login()
        self._cases: dict[str, tuple[Case, str, dict[bytes, bytes]]] = {}

    def marker(self, job: str) -> str:
        """The word in their environment by which the processes of a job are recognised."""
        return f"{self._token}/{job}"

    def check(self, order: JobOrder) -> None:
        """Purpose: find what would keep the job from ever starting, while the order can still be refused. Raises CannotStart."""
        try:
            self._case(order.case)
            if order.case.files:
                self._workplace.check_files(order.case.files)
        except (OSError, ValueError) as error:
            raise self.cannot_start(order, error) from error

    def launch(self, order: JobOrder) -> Launch:
        """Purpose: start the job's shell, up to its gate. Raises CannotStart; nothing is left behind then."""
        case = order.case
        claim, place = self._places.claim(order.job, order.restart), self._places.work_directory(order.run)
        self._workplace.prepare(order.run, place, case.files, claim, copied=case.stage == "copy")
        try:
            return self._spawn(order, claim, place)
        except (OSError, ValueError) as error:
            self._workplace.tidy(place, case.files)
            raise self.cannot_start(order, error) from error

    def cannot_start(self, order: JobOrder, error: OSError | ValueError) -> CannotStart:
        if isinstance(error, OSError):
            return cannot_start(order.run, error, self._layout)
        return CannotStart(f"run {order.run} cannot be started: {error} in its script or environment")

    def _spawn(self, order: JobOrder, claim: str, place: str) -> Launch:
        script, shared = self._case(order.case)
        arguments, in_file = self._arguments(order, self._gate + self._login + claimed(script, claim, place))
        marker = self.marker(order.job)
        environment = shared.copy()
        environment[b"SHAKEDOWN_RUN"] = order.run.encode()
        environment[MARKER.encode()] = marked(self._environment, marker)
        reading, writing = os.pipe()
        waiting, gate = os.pipe()
        try:
            child = spawn_shell(arguments, environment, writing, waiting)
        except BaseException:
            os.close(reading)
            os.close(gate)
            if in_file:
                self._workplace.remove_script(order.job, order.restart)
            raise
        finally:
            os.close(writing)
            os.close(waiting)
        capture = Capture(reading, self._layout, order.run, self._keep_bytes)
        return Launch(child, capture, marker, place, in_file, gate)

    def _arguments(self, order: JobOrder, script: str) -> tuple[list[str], bool]:
        """The arguments for ``sh``, and whether the script was written to a file."""
        if len(script) * 4 < _LONGEST_ARGUMENT or len(os.fsencode(script)) < _LONGEST_ARGUMENT:
            return ["-c", script], False
        return [str(self._workplace.write_script(order.job, order.restart, script))], True

    def _case(self, case: Case) -> tuple[str, dict[bytes, bytes]]:
        """The script and the environment that all runs of a case share."""
        known = self._cases.get(case.id)
        if known is None or known[0] is not case:
            if len(self._cases) >= _CACHED_CASES:
                self._cases.clear()
            build = str(self._layout.build(case.build)) if case.build else ""
            variables = case_environment(case, self._layout, build)
            own = {os.fsencode(name): os.fsencode(value) for name, value in variables.items()}
            script = case_script(case, self._layout, build)
            if "\0" in script or any(b"\0" in word for pair in own.items() for word in pair):
                raise ValueError("embedded null byte")
            known = self._cases[case.id] = case, script, self._environment | own
        return known[1], known[2]
