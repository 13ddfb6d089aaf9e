"""What people did, act by act, in the order of the log. ``acts_of`` is the way in.

An act is one command of a person: one event, or several where the command made several (``together``). A pause has its end with it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from shakedown.metrics.rows.facts import said_at
from shakedown.metrics.rows.rows import ActRow
from shakedown.metrics.rows.table import Record
from shakedown.metrics.words import plural, some
from shakedown.model.events import OPENS_EPOCH, SHOWN
from shakedown.model.nouns import Document
from shakedown.model.said_words import accepted_words

UNKNOWN_WITHOUT = frozenset({"pause", "resume", "cap", "budget", "exclude", "include", "stop", "again"})
ENDS_EARLY = frozenset({"drain", "cancel"})  # without it the campaign would not have been over then
A_MOMENT_S = 1.0  # between what a person sees and says
_SPEAKS_OF_A_TIME = frozenset({"clock", "pause", "drill"})


class Act(Struct, frozen=True):
    """``number``: that of its first event, which names it. ``what``: what was done, in words. ``as_of``: the moment in the past or
    now that it speaks of, None where it speaks of none. ``events``: all of its own; ``follows``: what the log has because of it.
    ``digest`` stands for all that it says. ``plain``: it had results run again that are counted one by one: without it they are not
    asked for. ``anew``: by it a clock was started anew: of a component that had had its time and ran again, or when a pause ended.
    ``ended``: (component, what was said of its clock, cause) of each pause that was ended; ``restarts``: components whose clock was
    started anew then. ``lifts``: a ruling that is none: it takes back what was ruled before.
    ``idle``: it was lifted, or lifts what was said, before anything hung on it.
    """

    number: int
    kind: str
    what: str
    by: str
    said: float
    because: str
    digest: str
    events: tuple[int, ...]
    component: str = ""
    as_of: float | None = None
    follows: frozenset[int] = frozenset()
    plain: bool = False
    anew: bool = False
    ended: tuple[tuple[str, str, str], ...] = ()
    restarts: frozenset[str] = frozenset()
    lifts: bool = False
    idle: bool = False

    @property
    def backdated(self) -> bool:
        """It speaks of a time before it was said."""
        return self.as_of is not None and self.as_of < self.said - A_MOMENT_S

    @property
    def unknown(self) -> bool:
        """What would have come without it shows only by running again. Of a pause it is known how the clock stood before: one that
        is backdated, or starts the clock anew, changes what was measured.
        """
        return self.unsure and not self.moves_back

    @property
    def moves_back(self) -> bool:
        """A pause that says something of the time before it."""
        return self.kind == "pause" and (self.backdated or self.anew)

    @property
    def unsure(self) -> bool:
        """Something of what would have come without it is not known, backdated or not."""
        return self.kind in UNKNOWN_WITHOUT and not (self.plain or self.idle)

    @property
    def lasting(self) -> bool:
        """No missing consent undoes it: it held work back, ended it, or sent it elsewhere."""
        return self.unknown or self.kind in ENDS_EARLY

    @property
    def dropped(self) -> frozenset[int]:
        """The events that a log without it lacks."""
        return self.follows | frozenset(self.events)


def acts_of(record: Record) -> tuple[Act, ...]:
    """Purpose: everything that people did since the campaign began, each act once."""
    groups: dict[Any, list[ActRow]] = {}
    paused: dict[str, Any] = {}
    for row in record.acts:
        key: Any = (row.kind, row.by, row.together) if row.together else row.seq
        component = str(row.value.get("component") or "")
        if row.kind == "pause":
            paused[component] = key
        elif row.event == "continued" and not row.case and component in paused:
            key = paused.pop(component)
        groups.setdefault(key, []).append(row)
    known = {row.seq: row for row in record.acts}
    return tuple(_act(rows, record, known) for rows in groups.values())


def known_agains(acts: Sequence[Act], document: Document) -> tuple[Act, ...]:
    """Purpose: the acts, with what is known of those that had a component run again: everything, unless it runs for a time and had
    not had it yet; and of pauses at whose end a clock was started anew: how it stood before.
    """
    timed = {part.name: part for part in document.components if part.duration_s}

    def known(act: Act) -> Act:
        if act.kind == "again" and (act.anew or act.component not in timed):
            return replace(act, plain=True)
        restarts = frozenset(
            name
            for name, said, cause in act.ended
            if name in timed and (said or timed[name].clock.act_for(cause)) == "restarts"
        )
        return replace(act, anew=True, restarts=restarts) if restarts else act

    return tuple(map(known, acts))


def _act(rows: Sequence[ActRow], record: Record, known: Mapping[int, ActRow]) -> Act:
    first = rows[0]
    return Act(
        number=first.seq,
        kind=first.kind,
        what=_words(rows, known),
        by=first.by,
        said=said_at(first.value, first.time) if first.kind in _SPEAKS_OF_A_TIME else first.time,
        because=first.reason,
        digest=_digest([row for row in rows if row.kind == first.kind]),
        events=tuple(row.seq for row in rows),
        component=str(first.value.get("component") or ""),
        as_of=_as_of(rows),
        follows=_follows(first, record),
        anew=first.kind == "again" and first.value.get("clock") == "restart",
        ended=_ended(rows) if first.kind == "pause" else (),
        lifts=first.kind == "rule" and all(str(row.value.get("as") or "none") == "none" for row in rows),
    )


def _ended(rows: Sequence[ActRow]) -> tuple[tuple[str, str, str], ...]:
    """The pauses that were ended: component, what was said of its clock, cause."""
    over = {str(row.value.get("component") or "") for row in rows if row.event == "continued"}
    said = [
        tuple(str(row.value.get(key) or "") for key in ("component", "clock", "cause"))
        for row in rows
        if row.event == "paused"
    ]
    return tuple((name, clock, cause or "other") for name, clock, cause in said if name in over)


def _digest(rows: Sequence[ActRow]) -> str:
    """The end of a pause is said later: what was agreed to is the pause."""
    if len(rows) == 1:
        return rows[0].digest
    return hashlib.sha256(" ".join(row.digest for row in rows).encode()).hexdigest()


def _as_of(rows: Sequence[ActRow]) -> float | None:
    found = [row.value.get("from") for row in rows if row.kind in _SPEAKS_OF_A_TIME]
    times = [float(at) for at in found if isinstance(at, int | float) and not isinstance(at, bool)]
    return min(times, default=None)


# ---- what follows from an act alone --------------------------------------------------------------------------------------


def _follows(row: ActRow, record: Record) -> frozenset[int]:
    """Verdicts that judging again replaced. What drains and cancellations ended is weighed for all of them at once: ``ends``."""
    if row.kind != "rejudge":
        return frozenset()
    before = max((act.seq for act in record.rejudged if act.seq < row.seq), default=0)
    return frozenset(run.seq for run in record.runs if run.supersedes and run.judged_by and before < run.seq < row.seq)


# ---- in words --------------------------------------------------------------------------------------------------------------


def _words(rows: Sequence[ActRow], known: Mapping[int, ActRow]) -> str:
    """What was done, in the past tense: who did it stands before it."""
    first = rows[0]
    tell = _TOLD.get(first.kind)
    text = tell(rows, first.value) if tell else _as_declared(rows)
    if first.kind == "attest" and (before := _not_met_before(first, known)):
        text = text.replace(
            " as met", f" as met instead of not met (event {before.seq}, by {before.by or 'somebody'})", 1
        )
    if first.kind == "withdraw":
        numbers = first.value.get("events")
        taken = [known[number] for number in numbers if number in known] if isinstance(numbers, list) else []
        said = f": {_words(taken, known)}" if taken else ""
        text = f"withdrew event {', '.join(map(str, numbers or ())) or '?'}{said}"
    return " ".join(text.split())


def _as_declared(rows: Sequence[ActRow]) -> str:
    """An act that has no words of its own: the word of its event, which is in the past tense, and the facts that the log shows."""
    event = rows[0].event
    facts = [fact for fact in SHOWN.get(event, ()) if fact not in ("by", "who")]
    told = [some(list(dict.fromkeys(filter(None, (_fact(row.value.get(fact)) for row in rows))))) for fact in facts]
    epoch = ": a new epoch began" if event in OPENS_EPOCH else ""
    return " ".join([event.replace("_", " "), *filter(None, told)]) + epoch


def _fact(value: object) -> str:
    return some([str(one) for one in value]) if isinstance(value, list) else "" if value is None else str(value)


def _not_met_before(row: ActRow, known: Mapping[int, ActRow]) -> ActRow | None:
    """The attestation before one as met, where that said that the procedure is not met."""
    place = [row.value.get(key) for key in ("component", "procedure")]
    earlier = [one for one in known.values() if one.kind == "attest" and one.seq < row.seq]
    mine = [one for one in earlier if [one.value.get(key) for key in ("component", "procedure")] == place]
    last = max(mine, key=lambda one: one.seq, default=None)
    return last if last is not None and row.value.get("met") is True and last.value.get("met") is not True else None


def _amend(rows: Sequence[ActRow], value: Mapping[str, Any]) -> str:
    lines = value.get("difference")
    told = some([str(line) for line in lines]) if isinstance(lines, list) and lines else "nothing that is told"
    return f"amended the plan: {told}"


def _rule(rows: Sequence[ActRow], value: Mapping[str, Any]) -> str:
    runs, party = some([row.run for row in rows]), str(value.get("as") or "")
    return f"took back the ruling on {runs}" if party in ("", "none") else f"ruled {runs} as {party}"


def _waive(rows: Sequence[ActRow], value: Mapping[str, Any]) -> str:
    what, name, component = (str(value.get(key) or "") for key in ("what", "name", "component"))
    if what == "conditions":
        return f"accepted the change of conditions in event {name} as it is: {value.get('restriction') or 'without a restriction'}"
    if what == "issue":
        return f"accepted issue {name} as it is: {value.get('restriction') or 'without a restriction'}"
    return f"waived {what} {name} of {component}: {accepted_words(str(value.get('restriction') or ''))}".replace(
        "  ", " "
    )


def _attest(rows: Sequence[ActRow], value: Mapping[str, Any]) -> str:
    files = value.get("evidence")
    count = len(files) if isinstance(files, list) else 0
    met = "met" if value.get("met") is True else "not met"
    return f"attested {value.get('procedure')} of {value.get('component')} as {met}, with {plural(count, 'file')} of evidence"


def _drill(rows: Sequence[ActRow], value: Mapping[str, Any]) -> str:
    files = value.get("evidence")
    count = len(files) if isinstance(files, list) else 0
    said = "began" if value.get("act") == "begun" else "ended"
    return f"said that drill {value.get('drill')} of {value.get('component')} {said}, with {plural(count, 'file')} of evidence"


def _clock(rows: Sequence[ActRow], value: Mapping[str, Any]) -> str:
    acts = {"start": "started", "stop": "stopped", "go on": "let go on", "restart": "started anew"}
    said = " and ".join(acts.get(str(row.value.get("act")), "moved") for row in rows)
    cause = f" ({value.get('cause')})" if value.get("cause") else ""
    return f"{said} the clock of {value.get('component')}{cause}"


def _pause(rows: Sequence[ActRow], value: Mapping[str, Any]) -> str:
    ended = " until it was resumed" if any(row.event == "continued" for row in rows) else ""
    return f"paused {value.get('component')} ({value.get('cause') or 'other'}){ended}"


def _cancel(rows: Sequence[ActRow], value: Mapping[str, Any]) -> str:
    if value.get("all"):
        return "cancelled the whole campaign"
    names = [*(value.get("runs") or ()), *(value.get("cases") or ())]
    return f"cancelled {some([str(name) for name in names]) or 'nothing that is named'}"


def _nodes(verb: str) -> Callable[[Sequence[ActRow], Mapping[str, Any]], str]:
    def tell(rows: Sequence[ActRow], value: Mapping[str, Any]) -> str:
        names = [str(name) for row in rows for name in row.value.get("nodes") or ()]
        return f"{verb} {plural(len(names), 'node')}: {some(names)}"

    return tell


def _cap(rows: Sequence[ActRow], value: Mapping[str, Any]) -> str:
    copies = value.get("copies")
    most = "to the plan's own number" if copies is None else f"at {copies} runs at once"
    return f"capped {value.get('test')} {most}"


def _budget(rows: Sequence[ActRow], value: Mapping[str, Any]) -> str:
    amount = value.get("amount")
    return f"set budget {value.get('budget')} to {'the plan' + chr(39) + 's own amount' if amount is None else amount}"


def _drain(rows: Sequence[ActRow], value: Mapping[str, Any]) -> str:
    return f"drained {value.get('component') or 'the whole campaign'}"


def _rejudge(rows: Sequence[ActRow], value: Mapping[str, Any]) -> str:
    return f"had {plural(int(value.get('examined') or 0), 'verdict')} judged again; {value.get('replaced') or 0} were replaced"


def _agree(rows: Sequence[ActRow], value: Mapping[str, Any]) -> str:
    said = value.get("acts")
    numbers = [str(pair[0]) for pair in said if isinstance(pair, list) and pair] if isinstance(said, list) else []
    return f"agreed to event{'s' if len(numbers) > 1 else ''} {some(numbers, 20) or '?'}"


def _resume(rows: Sequence[ActRow], value: Mapping[str, Any]) -> str:
    return f"let {rows[0].case or value.get('component')} go on"


def _again(rows: Sequence[ActRow], value: Mapping[str, Any]) -> str:
    return f"had {value.get('component') or 'the plan'} run again"


_TOLD: dict[str, Callable[[Sequence[ActRow], Mapping[str, Any]], str]] = {
    "amend": _amend,
    "change": lambda rows, value: "declared a change: a new epoch began",
    "rule": _rule,
    "waive": _waive,
    "attest": _attest,
    "drill": _drill,
    "exclude": _nodes("excluded"),
    "include": _nodes("included"),
    "cap": _cap,
    "budget": _budget,
    "pause": _pause,
    "resume": _resume,
    "drain": _drain,
    "clock": _clock,
    "cancel": _cancel,
    "stop": lambda rows, value: "asked that nothing new be submitted",
    "rejudge": _rejudge,
    "again": _again,
    "agree": _agree,
}
