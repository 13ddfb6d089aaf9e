"""What a simulated monitor says of a budget: what our runs load at that moment, and what others load by the hours of the week.

It answers with a number that is true. Nobody has to be asked every few seconds for that: an answer comes when others come or go,
when what runs of ours changes, and else in time before the last number is too old.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shakedown.model.nouns import Document
from shakedown.model.observing import Answer, Observe, Question
from shakedown.model.scenario import Neighbour
from shakedown.model.windows import is_open, next_change

if TYPE_CHECKING:
    from shakedown.twin.machine.world import World


@dataclass(slots=True)
class SimulatedObserver:
    """The Observer port of the twin. ``neighbours``: what others do by the hours of a week."""

    world: World
    document: Document
    neighbours: tuple[Neighbour, ...] = ()
    _due: dict[str, tuple[float, float]] = field(
        default_factory=dict
    )  # name -> when it is answered, what was ours when asked
    _said: dict[str, float] = field(default_factory=dict)  # name -> what was ours when it was answered last

    def ask(self, questions: Sequence[Question]) -> None:
        now = self.world.clock.now()
        for question in questions:
            changes = (next_change(one, now) for one in self._who(question.name))
            later = min((at for at in changes if at is not None), default=now + question.oldest_s)
            ours = self._ours(question.name)
            due = min(later, now + question.oldest_s / 6) if self._said.get(question.name) == ours else now
            self._due[question.name] = due, ours
            self.world.clock.at(due, lambda: True, recurring=True)

    def poll(self) -> Sequence[Answer]:
        now = self.world.clock.now()
        ready = [name for name, (due, ours) in self._due.items() if due <= now or self._ours(name) != ours]
        self._said |= {name: self._due[name][1] for name in ready}
        return [Answer(name, self._number(name, self._due.pop(name)[1], now)) for name in ready]

    def _number(self, name: str, ours: float, now: float) -> float:
        """As the plan's own word on it has the number."""
        budget = name.partition("@")[0]
        word, total = self._word(budget), dict(self.document.system.budgets)[budget]
        others = sum(dict(one.loads)[budget] for one in self._who(name) if is_open(one, now))
        amount = {"others": others, "used": others + ours, "free": max(0.0, total - others - ours)}[word.means]
        return amount * word.full / total

    def _who(self, name: str) -> list[Neighbour]:
        return [one for one in self.neighbours if name.partition("@")[0] in dict(one.loads)]

    def _word(self, budget: str) -> Observe:
        return next(word for word in self.document.limits.observed if word.budget == budget)

    def _ours(self, name: str) -> float:
        """What our runs load that run now; where others alone are asked for nobody wants to know."""
        budget, _, target = name.partition("@")
        if self._word(budget).means == "others":
            return 0.0
        cases = {case.id: dict(case.loads) for case in self.document.cases}
        return sum(
            cases.get(execution.case, {}).get(budget, 0.0)
            for (job, _, _), execution in self.world.live.items()
            if not target or self.world.jobs[job][0].targets.get(budget) == target
        )
