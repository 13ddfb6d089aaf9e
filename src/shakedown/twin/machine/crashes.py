"""Crash points: every call of every port, before it acts and after it, counted and named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from shakedown.model.ports import Ports


class Crash(BaseException):
    """Raised to kill the conductor. It is not caught by ``except Exception``, because a real kill cannot be caught either."""


@dataclass(slots=True)
class CrashPlan:
    """Decides at which call the conductor dies. ``points``: name of a crash point -> how often it was passed."""

    dies: Callable[[str, int], bool] = lambda name, count: False
    passed: int = 0
    points: dict[str, int] = field(default_factory=dict)

    def at(self, name: str) -> None:
        self.passed += 1
        self.points[name] = self.points.get(name, 0) + 1
        if self.dies(name, self.passed):
            raise Crash(f"{name} (call {self.passed})")


class _Mortal:
    """A port with a crash point before and after each method call."""

    def __init__(self, port: Any, name: str, plan: CrashPlan) -> None:
        self._port, self._name, self._plan = port, name, plan

    def __getattr__(self, method: str) -> Any:
        found = getattr(self._port, method)
        if not callable(found):
            return found

        at, before, after = self._plan.at, f"{self._name}.{method}:before", f"{self._name}.{method}:after"

        def call(*arguments: Any) -> Any:
            at(before)
            answer = found(*arguments)
            at(after)
            return answer

        self.__dict__[method] = call  # asked for once: a campaign makes a million calls
        return call


def mortal(ports: Ports, plan: CrashPlan) -> Ports:
    """The same ports with crash points around every call."""
    wrapped: dict[str, Any] = {
        name: _Mortal(getattr(ports, name), name, plan)
        for name in ("clock", "scheduler", "builder", "collector", "log", "inbox", "observer")
    }
    return Ports(**wrapped)
