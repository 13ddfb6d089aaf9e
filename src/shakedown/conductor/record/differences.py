"""The differences between two frozen documents, as lines that a person who signs can judge.

``differences`` is the table of contents. Numbers and bounds are given with their old and new values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from shakedown.engine.state.moments import moment
from shakedown.metrics.words import plural, side_by_side
from shakedown.model.baselines import Baseline
from shakedown.model.contracts import where_text
from shakedown.model.failures import FailureClass
from shakedown.model.filling import Phase, Window, Yield
from shakedown.model.judging import Contract, ContractRow, Criterion
from shakedown.model.nouns import (
    Check,
    Cluster,
    Component,
    Document,
    Drill,
    FigureSpec,
    Mode,
    Partition,
    Party,
    Procedure,
    Retry,
    System,
)
from shakedown.model.observing import Observe
from shakedown.model.scores import Score
from shakedown.model.units import show_duration

# Fields of a document that are told one by one, and those that say nothing of their own: where it was written, how it is stored,
# and builds, of which each case names its own by its content.
_ONE_BY_ONE = (
    "components",
    "scores",
    "baselines",
    "contracts",
    "tests",
    "cases",
    "failures",
    "limits",
    "parties",
    "consent",
    "issues",
    "system",
    "seed",
)
NOT_TOLD = ("sources", "schema", "builds")
_NO_WORDS_OF_A_ROW = tuple(name for name in ContractRow.__struct_fields__ if name not in ("text", "about"))
_WORDS = frozenset({"about", "title", "text", "because"})  # fields that people wrote for people: told at any length
_MOMENTS = frozenset({"deadline"})  # fields in seconds since 1970
SHOWN, LONGEST, SHORT, ROOM = 20, 200, 60, 2000  # lines in the event, characters of a line, of a value and of all
FEW = 3  # names of a list


def differences(before: Document, after: Document) -> list[str]:
    """Purpose: what a new document adds, removes and changes, one line each."""
    lines = [
        *_named("component", before.components, after.components, _of_component),
        *_named("score", before.scores, after.scores, _of_score),
        *_named("baseline", before.baselines, after.baselines, _of_baseline),
        *_named("contract", before.contracts, after.contracts, _of_contract),
        *_named("test", before.tests, after.tests, _of_fields),
        *_named("case", before.cases, after.cases, _of_fields),
        *_named("class of failures", _placeless(before), _placeless(after), _of_fields),
    ]
    if before.limits != after.limits:
        lines.append(f"limits are changed: {'; '.join(_of_fields(before.limits, after.limits))}")
    lines += _named("party", before.parties, after.parties, _of_party)
    if before.consent != after.consent:
        lines.append(f"consent is asked for {_list(before.consent)} -> {_list(after.consent)}")
    if before.issues != after.issues:
        lines.append(f"open issues of these severities restrict: {_list(before.issues)} -> {_list(after.issues)}")
    if before.system != after.system:
        lines += [f"the system is changed: {said}" for said in _of_system(before.system, after.system)]
    lines += [f"seed {before.seed} -> {after.seed}"] if before.seed != after.seed else []
    lines += _of_fields(before, after, beside=(*_ONE_BY_ONE, *NOT_TOLD))
    if not lines and before.components != after.components:
        lines.append("the order of the components is changed")
    return [line if len(line) <= LONGEST else line[: LONGEST - 1] + "…" for line in lines]


def _placeless(document: Document) -> list[FailureClass]:
    """The site's failure classes without their places in the file, which make no difference."""
    return [replace(one, place="") for one in document.failures]


def shortened(lines: Sequence[str]) -> list[str]:
    """Purpose: as many lines as fit into an event, and how many more there are."""
    shown: list[str] = []
    for line in lines[:SHOWN]:
        if sum(map(len, shown)) + len(line) > ROOM:
            break
        shown.append(line)
    return shown + ([f"and {len(lines) - len(shown)} more"] if len(lines) > len(shown) else [])


def _named(what: str, before: Iterable[Any], after: Iterable[Any], tell: Any) -> Iterator[str]:
    """Lines for things with a label, a name or an id: removed, added, or changed in which points."""
    old, new = (
        {getattr(one, "label", "") or getattr(one, "name", "") or one.id: one for one in group}
        for group in (before, after)
    )
    yield from (f"{what} {name} is removed" for name in old if name not in new)
    yield from (f"{what} {name} is added" for name in new if name not in old)
    for name in new:
        if name in old and old[name] != new[name]:
            points = list(tell(old[name], new[name]))
            yield from (f"{what} {name} is changed: {point}" for point in points)
            if not points:
                yield f"{what} {name} is changed"


def _list(words: Sequence[str]) -> str:
    return ", ".join(words) or "nothing"


def _of_system(old: System, new: System) -> Iterator[str]:
    """Lines for a system: its own fields; clusters, partitions and node types by name, with how many nodes were added or removed,
    since the size of the whole machine is in denominators.
    """
    found = list(filter(None, ["; ".join(_of_fields(old, new, beside=("clusters", "node_types")))]))
    before, after = ({cluster.name: cluster for cluster in system.clusters} for system in (old, new))
    found += [f"no longer cluster {name} ({_nodes_of(before[name])})" for name in before if name not in after]
    found += [f"now cluster {name} ({_nodes_of(after[name])})" for name in after if name not in before]
    for name in (name for name in before if name in after):
        found += _of_cluster(before[name], after[name])
    found += _named("node type", old.node_types, new.node_types, _of_fields)
    yield from found or ["the order of its clusters or node types"]


def _of_cluster(old: Cluster, new: Cluster) -> Iterator[str]:
    for said in _of_fields(old, new, beside=("partitions",)):
        yield f"cluster {old.name}: {said}"
    before, after = ({part.name: part for part in cluster.partitions} for cluster in (old, new))
    yield from (f"no longer partition {_place(part)} ({plural(part.count, 'node')})"
                for name, part in before.items() if name not in after)  # fmt: skip
    yield from (f"now partition {_place(part)} ({plural(part.count, 'node')})"
                for name, part in after.items() if name not in before)  # fmt: skip
    for was, now in ((before[name], after[name]) for name in before if name in after):
        if was.nodes != now.nodes or was.count != now.count:
            yield f"{_place(was)} has {_number(now.count)} nodes, before {_number(was.count)}{_come_and_gone(was, now)}"
        yield from (f"{_place(was)}: {said}" for said in _of_fields(was, now, beside=("nodes", "count")))


def _place(part: Partition) -> str:
    return f"{part.cluster}:{part.name}"


def _nodes_of(cluster: Cluster) -> str:
    return ", ".join(f"{plural(part.count, 'node')} in {part.name}" for part in cluster.partitions) or "no partition"


def _come_and_gone(was: Partition, now: Partition) -> str:
    """Which nodes were removed and added, folded."""
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet  # it takes its time to load, and is needed here alone

    old, new = (NodeSet(part.nodes, resolver=RESOLVER_NOGROUP) for part in (was, now))
    words = [
        f"{word} {_nodes_folded(str(some))}" for word, some in (("without", old - new), ("with", new - old)) if some
    ]
    return f" ({', '.join(words)})" if words else ""


def _nodes_folded(nodes: str) -> str:
    return nodes if len(nodes) <= 60 else f"{nodes[:57]}..."


def _of_party(old: Party, new: Party) -> Iterator[str]:
    """People and keys that were added or removed; a key is shown by its beginning and end."""
    for what, was, now in (("", old.people, new.people), ("key ", old.keys, new.keys)):
        yield from (f"no longer {what}{_brief(word)}" for word in was if word not in now)
        yield from (f"now {what}{_brief(word)}" for word in now if word not in was)


def _brief(word: str) -> str:
    return word if len(word) <= 60 else f"{word[:24]}...{word[-12:]}"


def _of_component(old: Component, new: Component) -> Iterator[str]:
    yield from _of_fields(old, new, beside=("criteria",))
    yield from _named("criterion", old.criteria, new.criteria, _of_fields)


def _of_score(old: Score, new: Score) -> Iterator[str]:
    """The fields of a score, and those of its parts."""
    yield from _of_fields(old, new, beside=("parts",))
    yield from _named("part", old.parts, new.parts, _of_fields)


def _of_baseline(old: Baseline, new: Baseline) -> Iterator[str]:
    """What the baseline is, with its seal; its values are shown by their digest."""
    if old.words != new.words:
        yield f"{old.words} -> {new.words}"
    if old.digest != new.digest:
        yield f"values {old.digest[:16]} -> {new.digest[:16]}"
    elif old.cases != new.cases:
        yield "more or less of its values is asked for"


def _of_contract(old: Contract, new: Contract) -> Iterator[str]:
    """Lines for a contract. Rows are named by what they ask, since their numbers change when a row is inserted above."""
    points = list(_of_fields(old, new, beside=("rows", "parties")))
    roles = dict(old.parties), dict(new.parties)
    changed = [role for role in {**roles[0], **roles[1]} if roles[0].get(role) != roles[1].get(role)]
    points += [f"{role} {roles[0].get(role, 'nobody')} -> {roles[1].get(role, 'nobody')}" for role in changed]
    before, after = _asked(old), _asked(new)
    points += [f"no longer {_subject(row)} {_row_in_words(row)}" for key, row in before.items() if key not in after]
    for key, row in after.items():
        was = before.get(key)
        if was is None:
            points.append(f"now {_subject(row)} {_row_in_words(row)}")
            continue
        if _row_in_words(was) != _row_in_words(row):
            points.append(f"{_subject(row)} {_row_in_words(was)} -> {_row_in_words(row)}")
        points += [f"{said} ({_subject(row)} {row.must})" for said in _of_fields(was, row, beside=_NO_WORDS_OF_A_ROW)]
    yield from points or ["what it asks is as it was"]


def _asked(contract: Contract) -> dict[tuple[Any, ...], ContractRow]:
    """The rows by what they ask and on which side they bound; rows that ask the same are told apart by their order."""
    found: dict[tuple[Any, ...], ContractRow] = {}
    for row in contract.rows:
        key: tuple[Any, ...] = (_subject(row), row.low is None, row.high is None)
        found[(*key, sum(other[:3] == key for other in found))] = row
    return found


def _subject(row: ContractRow) -> str:
    where, each = where_text(row), row.statistic == "each"
    figure = row.figure if each else f"{row.statistic} of {row.figure}"
    said = (f" where {where}" if where else "") + (f" in mode {row.mode}" if row.mode else "")
    return f"{row.basis}'s {row.test}: {figure}{said}"


def _row_in_words(row: ContractRow) -> str:
    words = (row.clause, "a run outside is judged performance" if row.verdict else "")
    said = ", ".join(filter(None, words))
    return row.must + (f" ({said})" if said else "")


def _of_fields(old: Any, new: Any, beside: Sequence[str] = (), within: str = "") -> Iterator[str]:
    """Lines for fields that differ: short values with old and new value, structures part by part, others by name only."""
    if isinstance(old, Criterion) and old.inputs != new.inputs:
        beside = (*beside, "inputs")  # what is otherwise stands with its score
    if isinstance(old, Criterion) and old.must != new.must:
        beside = (*beside, "bound", "comparison", "unit")  # ``must`` says them in the person's words
    was, now = ({name: getattr(one, name) for name in asdict(one)} for one in (old, new))
    for name in was:
        if was[name] == now[name] or name in beside:
            continue
        if name in _MOMENTS:
            yield f"{within}{name} {_moment(was[name])} -> {_moment(now[name])}"
        else:
            yield from _of_values(within + name, was[name], now[name])


def _of_values(name: str, was: Any, now: Any) -> Iterator[str]:
    if isinstance(was, Struct) and type(was) is type(now):
        yield from _of_fields(was, now, within=f"{name}.")
    elif None in (was, now):
        yield f"{name} is {'added' if was is None else 'removed'}"
    elif _told_by_name(was) and _told_by_name(now):
        yield from _of_values_by_name(name, dict(was), dict(now))
    elif _has_parts(was) and _has_parts(now):
        yield from _of_parts(name, was, now)
    elif _is_list(was) and _is_list(now):
        yield from _of_list(name, was, now)
    elif _told_in_words(was) and _told_in_words(now):
        yield from (f"{name}: no longer {said}" for said in _in_words(was) if said not in _in_words(now))
        yield from (f"{name}: now {said}" for said in _in_words(now) if said not in _in_words(was))
    elif name.rpartition(".")[2] in _WORDS and isinstance(was, str) and isinstance(now, str):
        old, new = side_by_side(was, now, SHORT)
        yield f"{name} {_short(old)} -> {_short(new)}"
    else:
        short = all(isinstance(value, str | int | float) and len(str(value)) <= SHORT for value in (was, now))
        yield f"{name} {_short(was)} -> {_short(now)}" if short else name


def _moment(seconds: float | None) -> str:
    """A date in the plan, in words, since people sign by it."""
    return "none" if seconds is None else moment(seconds)


def _short(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value or "none")


def _told_by_name(value: Any) -> bool:
    """Whether the value is a list of amounts by name, such as copies and budgets."""
    return isinstance(value, tuple) and all(
        isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[1], int | float) for pair in value
    )


def _of_values_by_name(name: str, was: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    changed = [key for key in {**was, **now} if was.get(key) != now.get(key)]
    yield from (f"{name} of {key} {_number(was.get(key))} -> {_number(now.get(key))}" for key in changed)
    if not changed:
        yield f"the order of {name}"


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.12g}"


def _has_parts(value: Any) -> bool:
    """Whether the value is a list of modes, retries, checks, figures, procedures or the like, which are compared one by one."""
    return isinstance(value, tuple) and all(
        isinstance(one, Mode | Retry | Check | FigureSpec | Procedure | Drill | Observe) for one in value
    )


def _of_parts(name: str, was: Sequence[Any], now: Sequence[Any]) -> Iterator[str]:
    """Compare parts by their names: what was removed, what was added, and the changed fields of the others."""
    old, new = ({_called(one): one for one in group} for group in (was, now))
    found = [f"{name}: no longer {_part_in_words(one)}" for key, one in old.items() if key not in new]
    found += [f"{name}: now {_part_in_words(one)}" for key, one in new.items() if key not in old]
    for key, one in old.items():
        found += [f"{name}: {key}.{line}" for line in _of_part(one, new.get(key, one))]
    yield from found or [f"the order of {name}"]


def _of_part(old: Any, new: Any) -> Iterator[str]:
    """The changed fields of one part. Numbers are shown also where they are 0, since no warm-up is a number of warm-ups."""
    numbers = [key for key in asdict(old) if _is_number(getattr(old, key)) or _is_number(getattr(new, key))]
    for key in numbers:
        if getattr(old, key) != getattr(new, key):
            yield f"{key} {_number(getattr(old, key))} -> {_number(getattr(new, key))}"
    yield from _of_fields(old, new, beside=(*numbers, "written"))  # a bound as a number says what it was written as


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _called(one: Mode | Retry | Check | FigureSpec | Procedure | Drill | Observe) -> str:
    if isinstance(one, Retry):
        return one.verdict
    if isinstance(one, Observe):
        return one.budget
    return (one.text or f"{one.kind} of {one.subject}") if isinstance(one, Check) else one.name


def _part_in_words(one: Mode | Retry | Check | FigureSpec | Procedure | Drill | Observe) -> str:
    """The name of a part, with how many times where it has such a number."""
    times = one.times if isinstance(one, Retry) else one.repeats if isinstance(one, Mode) else 0
    return f"{_called(one)}{f', {times} times' if times > 1 else ', once' if times else ''}"


def _is_list(value: Any) -> bool:
    """Whether the value is a list of names, such as the cases of a component."""
    return isinstance(value, tuple) and all(isinstance(one, str) for one in value)


def _of_list(name: str, was: Sequence[str], now: Sequence[str]) -> Iterator[str]:
    """Which names were added and removed, as many as fit on a line."""
    gone, new = ([one for one in a if one not in set(b)] for a, b in ((was, now), (now, was)))
    yield from (f"{name}: {word} {_first_names(found)}" for word, found in (("no longer", gone), ("now", new)) if found)
    if not gone and not new:
        yield f"the order of {name}"


def _first_names(names: Sequence[str]) -> str:
    shown = [_brief(name) for name in names[:FEW]]
    return ", ".join(shown) + (f" and {len(names) - FEW} more" if len(names) > FEW else "")


def _told_in_words(value: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(one, Window | Yield | Phase) for one in value)


def _in_words(values: Iterable[Window | Yield | Phase]) -> list[str]:
    """Windows, yields and phases, one line each."""
    return [_one_in_words(value) for value in values]


def _one_in_words(value: Window | Yield | Phase) -> str:
    if isinstance(value, Phase):
        return f"{value.name} for {show_duration(value.duration_s)}"
    less = ", ".join(f"{name} {_number(amount)}" for name, amount in (*value.budgets, *value.copies))
    then = "closed" if value.closed else less
    if isinstance(value, Window):
        return f"{value.text} {value.zone}: {then}"
    return f"{value.pending} jobs waiting on {', '.join(value.clusters)} until {value.until}: {then}"
