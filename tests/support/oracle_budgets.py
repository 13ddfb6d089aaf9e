"""How much of each budget the plan, the calendar, other clusters and people allow at a moment: from the plan and the log alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from shakedown.model.events import Event
from shakedown.model.filling import Window, Yield
from shakedown.model.nouns import Case, Component, Document, Limits

WEEK_S = 7 * 86400.0
NO_LIMIT = float("inf")


class Allowed:
    """``of`` and ``of_component`` answer for names such as "licence", "f2/mdt@mdt0" and "copies:TEST"."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.targets = dict(document.system.targeted)
        self.caps: dict[str, float] = {}  # by people: copies:TEST, budget, budget@target
        self.pending: dict[str, int] = {}
        self.yielding: set[tuple[str, int]] = set()  # component, which of its words
        self.observed = {word.budget: word for word in document.limits.observed}
        self.seen: dict[
            str, tuple[float, float]
        ] = {}  # budget, or budget@target -> when it was observed, what others take
        self.now = self.awake = 0.0

    def take_over(self, before: Allowed) -> None:
        """What people and other clusters said under the plan before this one."""
        tests = {f"copies:{test.name}" for test in self.document.tests}
        budgets = {name for name, _ in (*self.document.system.budgets, *self.document.limits.budgets)}
        for name, amount in before.caps.items():
            if name in tests or name.partition("@")[0] in budgets:
                self.caps[name] = amount
        self.pending = dict(before.pending)
        self._yield()
        self.seen = {name: seen for name, seen in before.seen.items() if name.partition("@")[0] in self.observed}
        self.now, self.awake = before.now, before.awake
        if self.observed.keys() - before.observed.keys():
            self.awake = max(self.awake, self.now)

    def see(self, event: Event) -> None:
        value, self.now = event.value, event.time
        if event.event == "driver_start":
            self.seen, self.awake = {}, event.time
        elif event.event == "observed" and "number" in value:
            self.seen[value["budget"]] = (value["at"], value["beside"])
            self._is_what_was_said(value)
        elif event.event == "capped":
            self._set(f"copies:{value['test']}", value.get("copies"))
        elif event.event == "budget_set":
            self._set(value["budget"], value.get("amount"))
        elif event.event == "surveyed":
            self.pending |= value.get("pending", {})
            self._yield()

    def _is_what_was_said(self, value: dict[str, float]) -> None:
        """What others take, worked out again where no other numbers count."""
        name = str(value["budget"]).partition("@")[0]
        word, total = self.observed[name], dict(self.document.system.budgets)[name]
        said = value["number"] / value["full"] * total
        others = {"others": said, "used": said - value["ours"], "free": total - said - value["ours"]}[word.means]
        others = total if word.means == "free" and not said else others
        if not word.smooth_s:
            assert abs(max(0.0, others) - value["beside"]) < 1e-6 * max(1.0, total), f"{value}: others take {others:g}"

    def _left_by_others(self, name: str) -> float:
        """What a number leaves to us. Where there is none young enough nothing may start, unless the plan says otherwise."""
        word = self.observed.get(name.partition("@")[0])
        if word is None:
            return NO_LIMIT
        at, others = self.seen.get(name, (0.0, 0.0))
        if at and self.now < at + word.oldest_s:
            return max(0.0, dict(self.document.system.budgets)[word.budget] - others)
        heard = max(at, self.awake) + word.oldest_s
        return NO_LIMIT if word.when_silent == "ignore" and self.now >= heard else 0.0

    def _set(self, name: str, amount: float | None) -> None:
        self.caps.pop(name, None)
        if amount is not None:
            self.caps[name] = float(amount)

    def _yield(self) -> None:
        for component, number, word in self._words_of_others():
            waiting = [self.pending.get(cluster, 0) for cluster in word.clusters]
            if any(count >= word.pending for count in waiting):
                self.yielding.add((component.name, number))
            elif all(count <= word.until for count in waiting):
                self.yielding.discard((component.name, number))

    def _words_of_others(self) -> Iterator[tuple[Component, int, Yield]]:
        for component in self.document.components:
            for number, word in enumerate(component.yields):
                yield component, number, word

    def of(self, name: str) -> float:
        """What holds for all runs together."""
        bare = name.partition("@")[0]
        amounts = [*_amounts(name, self.document.limits), self.caps.get(name, NO_LIMIT), self.caps.get(bare, NO_LIMIT)]
        amounts += [dict(self.document.system.budgets).get(bare, NO_LIMIT), self._left_by_others(name)]
        return min(amounts)

    def of_component(self, component: Component, name: str, now: float) -> float:
        """What holds for the runs of one component."""
        words: list[Limits | Window | Yield] = [component.limits]
        words += [window for window in component.windows if is_open(window, now)]
        words += [word for number, word in enumerate(component.yields) if (component.name, number) in self.yielding]
        return min((amount for word in words for amount in _amounts(name, word)), default=NO_LIMIT)

    def closed(self, component: Component, now: float) -> bool:
        """Nothing new is to be ordered."""
        shut = any(word.closed and is_open(word, now) for word in component.windows)
        return shut or any(w.closed and (component.name, n) in self.yielding for n, w in enumerate(component.yields))

    def licensed(self, case: Case, name: str) -> bool:
        """Whether the cluster itself counts this budget: then what it has in its queue does not load it."""
        names = dict(self.document.system.licence_names)
        cluster = next(c for c in self.document.system.clusters if c.name == case.partition.partition(":")[0])
        return names.get(name, names.get(name.partition("@")[0], name)) in dict(cluster.licences)

    def stagger_s(self, component: Component | None) -> float:
        return max(self.document.limits.stagger_s, component.limits.stagger_s if component else 0.0)


def _amounts(name: str, word: Limits | Window | Yield) -> Iterable[float]:
    """What one word says of a budget, of one of its targets, or of the copies of a test."""
    kind, _, test = name.partition(":")
    if kind == "copies":
        return [float(count) for own, count in word.copies if own == test]
    bare = name.partition("@")[0]
    return [amount for own, amount in word.budgets if own in (name, bare)]


def is_open(window: Window, now: float) -> bool:
    """Whether a window of the week holds at a time."""
    local = datetime.fromtimestamp(now, UTC).astimezone(ZoneInfo(window.zone))
    at = local.weekday() * 86400.0 + local.hour * 3600.0 + local.minute * 60.0 + local.second + local.microsecond / 1e6
    if window.from_s < window.to_s:
        return window.from_s <= at < window.to_s
    return at >= window.from_s or at < window.to_s
