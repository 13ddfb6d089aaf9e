"""Load that is measured: what a plan says of a number that narrows a budget, the question to whoever knows it, and the answer.

The number is what a command, a query to Prometheus or a query to InfluxDB says. What others take of the budget follows from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, median
from typing import Protocol

from msgspec import Struct

COMMAND, PROMQL, INFLUXQL = "command", "promql", "influxql"
SOURCES = (COMMAND, PROMQL, INFLUXQL)
MEANS = ("used", "others", "free")
HOLD, IGNORE = "hold", "ignore"
TARGET = "{target}"  # in a command or a query: the target whose number is asked for


class Observe(Struct, frozen=True):
    """A number that narrows ``budget``, for each of its targets where it has some.

    ``source``: one of SOURCES; ``query``: the command for a shell, or the query that the server at ``url`` answers (InfluxDB from
    ``database``). ``token_file``: a file with the token for the server. ``means``: what the number is: all that is used, ours
    included; what others use; or what is free. ``full``: the number that stands for all that there is of the budget.

    ``every_s``: how often it is asked for; ``within_s``: how long an answer may take. ``smooth_s`` and ``smooth_by``: the mean,
    median or most of so much time counts, 0 = the newest number alone. ``oldest_s``: an older number counts as none;
    ``when_silent``: then nothing more that loads the budget may start (hold), or the plan's amount holds (ignore).
    """

    budget: str
    source: str
    query: str
    url: str = ""
    database: str = ""
    token_file: str = ""
    means: str = "used"
    full: float = 1.0
    every_s: float = 30.0
    within_s: float = 10.0
    smooth_s: float = 0.0
    smooth_by: str = "mean"
    oldest_s: float = 300.0
    when_silent: str = HOLD

    def beside(self, number: float, ours: float, total: float) -> float:
        """Purpose: what others take, in the budget's base unit. ``ours``: what our runs took then; ``total``: all there is.

        Where nothing is free nobody knows how much more than all is wanted: that is told as if others took all.
        """
        amount = number * total / self.full
        if self.means == "others":
            return amount
        if self.means == "free" and amount <= 0:
            return total
        used = amount if self.means == "used" else total - amount
        return max(0.0, used - ours)

    def smoothed(self, samples: Sequence[tuple[float, float]]) -> float:
        """Purpose: one amount of several (time, amount), the newest last: over the time before the newest that counts."""
        if not self.smooth_s:
            return samples[-1][1]
        newest = samples[-1][0]
        amounts = [amount for time, amount in samples if time > newest - self.smooth_s]
        return (
            max(amounts)
            if self.smooth_by == "most"
            else median(amounts)
            if self.smooth_by == "median"
            else fmean(amounts)
        )

    def in_words(self, number: float) -> str:
        """83 of 100"""
        what = {"used": "", "others": " used by others", "free": " free"}[self.means]
        return f"{number:g} of {self.full:g}{what}"


class Question(Struct, frozen=True):
    """A number that is to be asked for. ``name``: the budget, or budget@target. ``query``: with the target in its place."""

    name: str
    source: str
    query: str
    url: str = ""
    database: str = ""
    token_file: str = ""
    within_s: float = 10.0
    oldest_s: float = 300.0


class Answer(Struct, frozen=True):
    """What came of a question. ``number`` None: there is none, and ``trouble`` says why."""

    name: str
    number: float | None = None
    trouble: str = ""


class Observer(Protocol):
    """Asks for numbers. It never waits: each question is answered once, later, at the latest when its time is up."""

    def ask(self, questions: Sequence[Question]) -> None: ...

    def poll(self) -> Sequence[Answer]: ...  # what was answered since the last call


class NobodyObserves:
    """Where no number can be asked for: every question is answered by that."""

    def __init__(self, why: str = "nobody here asks for it") -> None:
        self.why, self._asked = why, list[str]()

    def ask(self, questions: Sequence[Question]) -> None:
        self._asked += [question.name for question in questions]

    def poll(self) -> Sequence[Answer]:
        asked, self._asked = self._asked, []
        return [Answer(name, trouble=self.why) for name in asked]
