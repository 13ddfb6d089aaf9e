"""Acts that people took back: acts that were withdrawn, and acts that their own side replaced by later ones.

``Replaced`` finds the earlier acts that a later act replaces. If one side did both, and nobody else agreed to the earlier act in
between, nothing depends on the earlier act any more.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import to_builtins

from shakedown.metrics.judging.people import ENDS_EARLY, Act
from shakedown.metrics.rows.table import Record
from shakedown.model.nouns import Document

Acts = frozenset[int]
Place = tuple[str, ...]
_OF_THE_FILE = frozenset({"about", "sources", "schema", "ad_hoc"})  # fields of a plan that do not affect judging
_NAMES = ("name", "id", "key")  # the fields that identify an item of a list


def withdrawn_by(record: Record, acts: Iterable[Act], void: Collection[int]) -> dict[int, int]:
    """Purpose: act that was taken back completely -> the act that took it back; a withdrawal without effect does not count."""
    found: dict[int, int] = {}
    for row in record.acts:
        numbers = row.value.get("events")
        if row.kind == "withdraw" and row.seq not in void and isinstance(numbers, list):
            for number in numbers:
                found.setdefault(number, row.seq)
    return {act.number: max(found[one] for one in act.events) for act in acts if found.keys() >= {*act.events}}


def taken_back_by(acts: Iterable[Act], withdrawn: Mapping[int, int]) -> dict[int, Acts]:
    """Purpose: withdrawal with an effect -> the acts that it took back."""
    found: dict[int, set[int]] = {}
    for act in acts:
        if act.number in withdrawn:
            found.setdefault(withdrawn[act.number], set()).add(act.number)
    return {number: frozenset(back) for number, back in found.items()}


class Replaced:
    """Finds the earlier acts that a later act replaces. ``step_of``: the plans before and after an amendment; ``ruled``: act -> the
    runs that it rules.
    """

    def __init__(
        self,
        acts: Sequence[Act],
        record: Record,
        step_of: Callable[[Act], tuple[Document, Document]],
        ruled: Mapping[int, Collection[str]],
    ) -> None:
        self.acts, self.step_of, self.ruled = acts, step_of, ruled
        self._values = {row.seq: row.value for row in record.acts}
        self._known: dict[int, frozenset[Place]] = {}

    def by(self, act: Act, among: Collection[int]) -> Acts:
        """Purpose: those of some earlier acts whose matter this act decides again, in whatever way."""
        earlier = [one for one in self.acts if one.number in among and one.number < act.number]
        return frozenset(one.number for one in earlier if self._says_anew(act, one))

    def _says_anew(self, act: Act, one: Act) -> bool:
        match act.kind:
            case "rule":
                its = self.ruled[one.number] if one.kind == "rule" else ()
                return bool(its) and {*its} <= {*self.ruled[act.number]}
            case "amend":
                return one.kind in ENDS_EARLY or (one.kind == "amend" and bool(self._changed(act) & self._changed(one)))
            case "again":
                return one.kind in ENDS_EARLY and one.component in ("", act.component)
            case "attest" | "drill" | "clock":
                return one.kind == act.kind and self._is_on_the_same(act, one)
            case _:
                return False

    def _is_on_the_same(self, act: Act, one: Act) -> bool:
        """Whether two acts are on the same procedure or drill event, or a clock goes on after it was stopped."""
        new, old = self._values[act.number], self._values[one.number]
        if act.kind == "clock":
            return one.component == act.component and old.get("act") == "stop" and new.get("act") == "go on"
        keys = ("component", "procedure") if act.kind == "attest" else ("component", "drill", "act")
        return all(new.get(key) == old.get(key) for key in keys)

    def _changed(self, act: Act) -> frozenset[Place]:
        if act.number not in self._known:
            self._known[act.number] = frozenset(_changes(*self.step_of(act)))
        return self._known[act.number]


def _changes(before: Document, after: Document) -> Iterator[Place]:
    """The places where two plans differ. Equal parts are not searched."""
    for name in (name for name in before.__struct_fields__ if name not in _OF_THE_FILE):
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            yield from _differing(to_builtins(old), to_builtins(new), (name,))


def _differing(old: Any, new: Any, place: Place) -> Iterator[Place]:
    was, now = _parts(old), _parts(new)
    if was is None or now is None:
        yield from (*_places(old, place), *_places(new, place))
        return
    for name in was.keys() | now.keys():
        if name not in was or name not in now:
            yield from _places((was | now)[name], (*place, name))
        elif was[name] != now[name]:
            yield from _differing(was[name], now[name], (*place, name))


def _places(value: Any, place: Place) -> Iterator[Place]:
    """Every place where a value has content."""
    parts = _parts(value)
    if parts is None:
        yield place
    for name, item in (parts or {}).items():
        yield from _places(item, (*place, name))


def _parts(value: Any) -> dict[str, Any] | None:
    """The parts of a value by name; None if it has no parts."""
    if isinstance(value, dict):
        return {str(key): item for key, item in value.items()}
    return {_name_of(item): item for item in value} if isinstance(value, list | tuple) else None


def _name_of(item: Any) -> str:
    """The name of a list item: its name, the first element of a pair, or its whole text."""
    if isinstance(item, dict):
        return str(next((item[key] for key in _NAMES if item.get(key)), repr(item)))
    pair = isinstance(item, list | tuple) and len(item) == 2 and isinstance(item[0], str)
    return str(item[0]) if pair else repr(item)
