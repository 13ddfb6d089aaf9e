"""The acts of people, one by one, in the order of the log. ``acts_of`` is the way in.

An act is one command of a person: one event, or several events that one command made (``together``). A pause includes its end.
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
ENDS_EARLY = frozenset({"drain", "cancel"})  # without such an act the campaign would not have been over then
A_MOMENT_S = 1.0  # the usual delay between an observation and the command about it
_SPEAKS_OF_A_TIME = frozenset({"clock", "pause", "drill"})


class Act(Struct, frozen=True):
    """One act. ``number``: that of its first event, which names it. ``what``: the action, in words. ``as_of``: the time that it
    refers to, past or present, None if it refers to none. ``events``: its own events; ``follows``: events that the log has because
    of it. ``digest`` covers all that it says. ``plain``: it ordered a repetition of results that are counted singly; without it
    they are not wanted. ``anew``: it restarted a clock, of a component that had had its time and ran again, or when a pause ended.
    ``ended``: (component, stated effect on its clock, cause) of each pause that ended; ``restarts``: components whose clock
    restarted then. ``lifts``: it is a ruling "none", which takes back an earlier ruling. ``idle``: it was lifted, or lifts an
    earlier act, before that act had any effect.
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
        """Whether it refers to a time before it was made."""
        return self.as_of is not None and self.as_of < self.said - A_MOMENT_S

    @property
    def unknown(self) -> bool:
        """Whether only another run can show the outcome without it. For a backdated pause, or one that restarts the clock, the
        earlier state of the clock is known: such a pause changes what was measured.
        """
        return self.unsure and not self.moves_back

    @property
    def moves_back(self) -> bool:
        """Whether it is a pause that changes the time before it."""
        return self.kind == "pause" and (self.backdated or self.anew)

    @property
    def unsure(self) -> bool:
        """Whether part of what would have happened without it is unknown, backdated or not."""
        return self.kind in UNKNOWN_WITHOUT and not (self.plain or self.idle)

    @property
    def lasting(self) -> bool:
        """Whether a missing consent cannot undo it, because it held work back, ended it, or sent it elsewhere."""
        return self.unknown or self.kind in ENDS_EARLY

    @property
    def dropped(self) -> frozenset[int]:
        """The events that a log without this act lacks."""
        return self.follows | frozenset(self.events)


def acts_of(record: Record) -> tuple[Act, ...]:
    """Purpose: all acts of people since the campaign began, each once."""
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
    """Purpose: the acts, with known effects added. The effect of running a component again is known, unless the component runs for
    a time and had not had that time yet. For pauses that end with a restarted clock, the earlier state of the clock is known.
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
    """The pauses that ended: (component, stated effect on its clock, cause)."""
    over = {str(row.value.get("component") or "") for row in rows if row.event == "continued"}
    said = [
        tuple(str(row.value.get(key) or "") for key in ("component", "clock", "cause"))
        for row in rows
        if row.event == "paused"
    ]
    return tuple((name, clock, cause or "other") for name, clock, cause in said if name in over)


def _digest(rows: Sequence[ActRow]) -> str:
    """The digest of the given rows, without the end of a pause: people agreed to the pause, and its end came later."""
    if len(rows) == 1:
        return rows[0].digest
    return hashlib.sha256(" ".join(row.digest for row in rows).encode()).hexdigest()


def _as_of(rows: Sequence[ActRow]) -> float | None:
    found = [row.value.get("from") for row in rows if row.kind in _SPEAKS_OF_A_TIME]
    times = [float(at) for at in found if isinstance(at, int | float) and not isinstance(at, bool)]
    return min(times, default=None)


# ---- what follows from an act alone --------------------------------------------------------------------------------------


def _follows(row: ActRow, record: Record) -> frozenset[int]:
    """The verdicts that a new judgement replaced. The effects of drains and cancellations are computed for all together in
    ``ends``.
    """
    if row.kind != "rejudge":
        return frozenset()
    before = max((act.seq for act in record.rejudged if act.seq < row.seq), default=0)
    return frozenset(run.seq for run in record.runs if run.supersedes and run.judged_by and before < run.seq < row.seq)


# ---- in words --------------------------------------------------------------------------------------------------------------


def _words(rows: Sequence[ActRow], known: Mapping[int, ActRow]) -> str:
    """The action in the past tense, to follow the name of the person."""
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
    """The previous attestation of the procedure, if it said not met and this one says met."""
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
