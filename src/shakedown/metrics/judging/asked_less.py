"""What an earlier plan required and the plan after it does not. Start reading at ``asks_less``.

An amendment that only adds or tightens requirements removes nothing. Any change that makes it easier to pass, to run or to score
counts as a removal: fewer parts, cases, time or repeats, weaker bounds; and also an expected verdict, a longer time limit, a
removed check, more attempts, another program, fewer nodes in a denominator, an open gate, or other events that move a clock.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from shakedown.metrics.judging.admits import admits_more, is_as_tight
from shakedown.metrics.judging.default_criteria import criteria_of
from shakedown.metrics.judging.fields import RUNS, STEERS, differ
from shakedown.metrics.words import plural, some
from shakedown.model.bounds import same
from shakedown.model.contracts import content
from shakedown.model.judging import ContractRow, Criterion
from shakedown.model.ladders import easier
from shakedown.model.nouns import Case, Cluster, Component, Document, NodeType, Partition, Test
from shakedown.model.units import show_duration

_SIZE = frozenset({"partition"})  # the fields of a case that belong to its size and place
Bounds = tuple[float | None, float | None]


def asks_less(old: Document, new: Document) -> tuple[str, ...]:
    """Purpose: the requirements of the earlier plan that the later one lacks, one phrase each."""
    now = {part.name: part for part in new.components}
    found: list[str] = []
    for part in old.components:
        if part.name not in now:
            found.append(f"component {part.name} with its {plural(len(criteria_of(part)), 'criterion', 'criteria')}")
        else:
            found += [*_of_component(part, now[part.name]), *_of_running(part, now[part.name])]
    found += [
        *_of_copies(old, new),
        *_of_cases(old, new),
        *_of_nodes(old, new),
        *_of_places(old, new),
        *_of_watching(old, new),
        *_of_scaling(old, new),
        *_of_rows(old, new).values(),
        *_of_precedence(old, new),
        *_of_issues(old, new),
    ]
    return tuple(dict.fromkeys(found))


def eases_runs(old: Document, new: Document) -> tuple[str, ...]:
    """Purpose: the phrases of ``asks_less`` on changes whose effect on ordered or judged runs stays, whatever later plans require.

    These concern how runs come about, what a case is and how it is checked, and contract rows that judge runs.
    """
    now = {part.name: part for part in new.components}
    found = [what for part in old.components if part.name in now for what in _of_running(part, now[part.name])]
    judging = _judging(old)
    rows = [what for name, what in _of_rows(old, new).items() if name in judging]
    return tuple(dict.fromkeys([*found, *_of_cases(old, new), *_of_places(old, new), *rows, *_of_precedence(old, new)]))


def eased(old: Document, new: Document) -> tuple[frozenset[str], frozenset[str]]:
    """Purpose: (components, cases of any component) whose verdicts are affected by the changes that ``eases_runs`` names."""
    now, tests = {part.name: part for part in new.components}, [_tests(document) for document in (old, new)]
    parts = [part.name for part in old.components if part.name in now and any(_of_running(part, now[part.name]))]
    after = {case.id: case for case in new.cases}
    names = _of_rows(old, new).keys() & _judging(old)
    easier = [case.id for case in old.cases
              if case.id in after and any(_of_case(case, after[case.id], *(its.get(case.test) for its in tests)))]  # fmt: skip
    judged = [case.id for case in old.cases if names.intersection(case.rows)]
    bounded = [case for cases in _less_bounded(old, new).values() for case in cases]
    places = _other_places(old, new)
    moved = [case.id for case in old.cases if case.partition in places]
    return frozenset(parts), frozenset([*easier, *judged, *bounded, *moved])


def steers_runs(old: Document, new: Document) -> bool:
    """Purpose: whether the later plan may cause other runs, as a cap, a pause or another budget does: through its limits and
    windows, its mix and how the mix is filled, when a case is given up, which runs load the machine together, what a case waits
    for, or what the scheduler and the machine admit. Nobody can know which runs there would have been without it.
    """
    pairs: list[tuple[Struct, Struct]] = [(old, new), (old.system, new.system)]
    before, after = _alike(old), _alike(new)
    pairs += [(one, after[key]) for key, one in before.items() if key in after]
    return any(differ(one, two, STEERS) for one, two in pairs) or _needs_more(old, new)


def held_back(old: Document, new: Document) -> frozenset[str]:
    """Purpose: the components that may begin later under the later plan, or never: they wait for more components, or for met
    criteria.
    """
    now = {part.name: part for part in new.components}
    return frozenset(
        part.name
        for part in old.components
        if part.name in now
        and (set(now[part.name].after) - set(part.after) or (part.gate != "met" and now[part.name].gate == "met"))
    )


def _of_issues(old: Document, new: Document) -> Iterator[str]:
    gone = [word for word in old.issues if word not in new.issues]
    if gone:
        yield f"what open issues restrict: those that are {' or '.join(gone)} do so no more"


# ---- components ------------------------------------------------------------------------------------------------------


def _of_component(old: Component, new: Component) -> Iterator[str]:
    if new.duration_s and not old.duration_s:
        yield f"the results that {old.name} wants: it runs for a time now"
    if new.duration_s < old.duration_s:
        yield f"{show_duration(old.duration_s - new.duration_s)} of the duration of {old.name}"
    if new.repeats < old.repeats:
        yield f"{old.repeats - new.repeats} of {plural(old.repeats, 'repeat')} of {old.name}"
    modes = {mode.name: mode for mode in new.modes}
    for mode in old.modes:
        now = modes.get(mode.name)
        if now is None:
            yield f"mode {mode.name} of {old.name}"
        elif now.repeats < mode.repeats or (now.copies and now.copies < (mode.copies or now.copies + 1)):
            yield f"repeats or copies of mode {mode.name} of {old.name}"
        elif now.overlap < mode.overlap:
            yield f"the overlap that mode {mode.name} of {old.name} asks for"
    if new.ladder is not None and (old.ladder is None or old.ladder.along != new.ladder.along):
        yield f"the sizes that the ladder of {old.name} spares"
    elif new.ladder is not None and old.ladder is not None and easier(old.ladder, new.ladder):
        yield f"what a size must reach on the ladder of {old.name}"
    gone = [name for name in old.cases if name not in new.cases]
    gone += [name for name in (*old.set_up, *old.clean_up) if name not in new.every_case]
    if gone:
        yield f"{plural(len(gone), 'case')} of {old.name}"
    lost = [item.name for item in old.procedures if item.name not in {one.name for one in new.procedures}]
    if lost:
        yield f"{plural(len(lost), 'procedure')} of {old.name}"
    if any(item.measure == "late" for item in criteria_of(old)) and _is_later(old.deadline, new.deadline):
        yield f"the deadline of {old.name} as it was"
    yield from _of_criteria(old, new)


def _is_later(old: float | None, new: float | None) -> bool:
    return old is not None and (new is None or new > old)


def _of_running(old: Component, new: Component) -> Iterator[str]:
    """Phrases for easier terms of a component's runs: attempts, warm-ups, gates, the clock, shares, rounds, evidence."""
    times = {one.verdict: one.times for one in old.retry}
    more = [one.verdict for one in new.retry if one.times > times.get(one.verdict, 0)]
    for verdict in more:
        yield f"what did not pass at once of {old.name}: {verdict} is attempted more often now"
    warm = {mode.name: mode.warm_up for mode in new.modes}
    warmer: list[str] = [mode.name for mode in old.modes if warm.get(mode.name, 0) > mode.warm_up]
    for mode in warmer:
        yield f"the first runs of mode {mode} of {old.name}: they warm up now, and are in no count"
    if (old.gate == "met" and new.gate != "met") or set(old.after) - set(new.after):
        yield f"what {old.name} waits for"
    if old.clock != new.clock or (old.fill.ramp_s != new.fill.ramp_s and not new.clock.ramp):
        yield f"the clock of {old.name} as it was: other words move it now"
    shares = dict(new.mix)
    less = [test for test, share in old.mix if shares.get(test, 0.0) < share and not same(shares.get(test, 0.0), share)]
    for test in less:
        yield f"the share of {test} in the mix of {old.name}"
    settle = {item.name: item.settle_s for item in new.drills}
    for drill in old.drills:
        if settle.get(drill.name, drill.settle_s) < drill.settle_s:
            yield f"for how long drill {drill.name} of {old.name} is looked at"
    if old.sweep is not None and (new.sweep is None or new.sweep.rounds < old.sweep.rounds):
        yield f"rounds of the sweep {old.name}"
    now = _evidence(new)
    for name, files in _evidence(old).items():
        if now.get(name, files) < files:
            yield f"evidence that {name} of {old.name} asks for"


def _evidence(part: Component) -> dict[str, int]:
    """How many files of evidence each procedure and drill requires, by name."""
    procedures = {item.name: item.evidence for item in part.procedures}
    return procedures | {item.name: item.evidence for item in part.drills}


# ---- criteria ---------------------------------------------------------------------------------------------------------


def _of_criteria(old: Component, new: Component) -> Iterator[str]:
    now = {item.name: item for item in criteria_of(new)}
    for item in criteria_of(old):
        mine = now.get(item.name)
        what = f"criterion {item.name} of {old.name}"
        if mine is None:
            yield what
        elif mine.enough != item.enough:
            yield f"{what}: it is judged by {plural(mine.enough, 'value')} or more, before by {item.enough}"
        elif admits_more(item, mine):
            yield f"the bound {item.must or item.bound} of {what}: now {mine.must or mine.bound}"
        elif _other(item, mine):
            yield f"{what} as it was: it measures something else now"


def _other(old: Criterion, new: Criterion) -> bool:
    fresh = {"name": "", "must": "", "bound": 0.0, "comparison": "=", "enough": 1, "clause": ""}
    return replace(old, **fresh) != replace(new, **fresh)


# ---- cases and nodes -------------------------------------------------------------------------------------------------


def _of_cases(old: Document, new: Document) -> Iterator[str]:
    """Cases that remain but are easier to pass, or are a different case now; one phrase for all cases with the same change."""
    after, tests = {case.id: case for case in new.cases}, [_tests(document) for document in (old, new)]
    found: dict[str, list[str]] = {}
    for case in old.cases:
        now = after.get(case.id)
        for what in _of_case(case, now, tests[0].get(case.test), tests[1].get(case.test)) if now is not None else ():
            found.setdefault(what, []).append(case.id)
    for what, cases in found.items():
        yield f"{what} of {some(cases)}"


def _tests(document: Document) -> Mapping[str, Test]:
    return {test.name: test for test in document.tests}


def _of_case(old: Case, new: Case, before: Test | None, after: Test | None) -> Iterator[str]:
    if new.expect and new.expect != old.expect:
        yield f"failures ({new.expect} is expected now, and counts as passed)"
    if new.shape.time_limit_s > old.shape.time_limit_s:
        limits = show_duration(old.shape.time_limit_s), show_duration(new.shape.time_limit_s)
        yield f"the time limit ({limits[0]}, now {limits[1]})"
    if new.shape.requeue and not old.shape.requeue:
        yield "what a node's failure ended (the scheduler starts it again now, and that is no attempt)"
    own, what = differ(old.shape, new.shape, RUNS), differ(old, new, RUNS)
    if own or _SIZE & set(what):
        asked = "".join(f", {key} {value}" for key, value in new.shape.resources.words() if "resources" in own)
        yield f"the size and place (now on {plural(new.shape.nodes, 'node')} of {new.partition}{asked})"
    if set(what) - _SIZE:
        yield "the program, input or settings"
    if set(old.needs) - set(new.needs):
        yield "what has to pass before it"
    if before is None or after is None:
        return
    mine, its = before.of(old), after.of(new)
    gone = [check.text or check.kind for check in mine.checks if check not in its.checks]
    if gone:
        yield f"the check {some(gone)}"
    measured = [figure.name for figure in mine.figures if figure not in its.figures]
    if measured:
        yield f"how {some(measured)} is measured"


def _of_copies(old: Document, new: Document) -> Iterator[str]:
    """Modes that run fewer copies at once where they fill the machine, because a smaller machine is full with fewer copies."""
    parts, cases = {part.name: part for part in new.components}, {case.id: case for case in new.cases}
    for part in (part for part in old.components if part.name in parts):
        modes = {mode.name: mode for mode in parts[part.name].modes}
        for mode in (mode for mode in part.modes if mode.name in modes and mode.copies == modes[mode.name].copies):
            both = [(case, cases[case.id]) for case in old.cases if case.id in part.cases and case.id in cases]
            if any(new.system.copies(modes[mode.name], two) < old.system.copies(mode, one) for one, two in both):
                yield f"copies at once in mode {mode.name} of {part.name}"


def _alike(document: Document) -> dict[tuple[str, ...], Struct]:
    """Every object of a plan that another plan may have too, keyed by its kind and names."""
    found: dict[tuple[str, ...], Struct] = {("case", case.id): case for case in document.cases}
    found |= {("component", part.name): part for part in document.components}
    found |= {("retry", part.name, one.verdict): one for part in document.components for one in part.retry}
    found |= {("build", build.key): build for build in document.builds}
    for cluster in document.system.clusters:
        found[("cluster", cluster.name)] = cluster
        found |= {("partition", cluster.name, part.name): part for part in cluster.partitions}
    return found


def _needs_more(old: Document, new: Document) -> bool:
    """Whether a case needs another case to pass first that it did not need before."""
    before = {case.id: set(case.needs) for case in old.cases}
    return any(set(case.needs) - before[case.id] for case in new.cases if case.id in before)


def _of_places(old: Document, new: Document) -> Iterator[str]:
    """Partitions of the plan's cases that changed: their nodes, the node type, or the options of each submission there."""
    for place, what in _other_places(old, new).items():
        yield f"where the cases of {place} run: other {some(what)}"


def _other_places(old: Document, new: Document) -> dict[str, list[str]]:
    """Partition that cases run on -> the fields of the partition, its cluster and its node type that changed."""
    places, used = _places(new), {case.partition for case in old.cases}
    found = {}
    for place, before in _places(old).items():
        after = places.get(place)
        if place not in used or after is None:
            continue
        what = [name for one, two in zip(before, after, strict=True) for name in differ(one, two, RUNS)]
        what += ["nodes"] if _lost_nodes(before[1], after[1]) else []
        if what:
            found[place] = list(dict.fromkeys(what))
    return found


def _places(document: Document) -> dict[str, tuple[Cluster, Partition, NodeType]]:
    kinds = {kind.name: kind for kind in document.system.node_types}
    return {
        f"{cluster.name}:{part.name}": (cluster, part, kinds.get(part.type, NodeType(part.type)))
        for cluster in document.system.clusters
        for part in cluster.partitions
    }


def _lost_nodes(old: Partition, new: Partition) -> bool:
    """Whether the new partition lacks nodes of the old one by name, even if other nodes replaced them."""
    if old.nodes == new.nodes:
        return False
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet

    return bool(NodeSet(old.nodes, resolver=RESOLVER_NOGROUP) - NodeSet(new.nodes, resolver=RESOLVER_NOGROUP))


def _of_watching(old: Document, new: Document) -> Iterator[str]:
    """Checks that the machine and the settings are unchanged, and that the later plan no longer makes."""
    commands = dict(new.system.fingerprint)
    less = [name for name, command in old.system.fingerprint if commands.get(name) != command]
    if less:
        yield f"what the fingerprint of each node asks: {some(less)}"
    unseen = [name for name in old.record_environment if name not in new.record_environment]
    if unseen:
        yield f"variables that are recorded: {some(unseen)}"


def _of_scaling(old: Document, new: Document) -> Iterator[str]:
    """Tests whose scaling terms changed: an efficiency computed in another way is another criterion."""
    after = _tests(new)
    for test in old.tests:
        if test.scaling is not None and test.name in after and after[test.name].scaling != test.scaling:
            yield f"how {test.name} scales as it was: it is reckoned otherwise now"


def _of_nodes(old: Document, new: Document) -> Iterator[str]:
    """Partitions of the plan's cases that lost nodes: nodes count in denominators, and each node must carry its hours."""
    used = {case.partition for case in old.cases}
    now = {f"{cluster.name}:{part.name}": part.count for cluster in new.system.clusters for part in cluster.partitions}
    for cluster in old.system.clusters:
        for part in cluster.partitions:
            place = f"{cluster.name}:{part.name}"
            less = part.count - now.get(place, 0)
            if place in used and less > 0:
                yield f"{plural(less, 'node')} of {place}"


# ---- rows ------------------------------------------------------------------------------------------------------------


def _judging(document: Document) -> frozenset[str]:
    """The contract rows whose bounds decide whether a run is judged performance."""
    return frozenset(row.name for contract in document.contracts for row in contract.rows if row.verdict)


def _of_rows(old: Document, new: Document) -> dict[str, str]:
    """Contract row -> a phrase, for each row of the earlier plan that is gone, asks for less, or no longer judges runs."""
    found = {}
    rows = [row for contract in new.contracts for row in contract.rows]
    asked = [content(row) for row in rows]
    judging = [content(row) for row in rows if row.verdict]
    for row in (row for contract in old.contracts for row in contract.rows):
        what = f"contract row {row.name}: {row.test} {row.figure} {row.must}"
        if content(row) not in asked and not any(_at_least(row, mine) for mine in rows):
            found[row.name] = what
        elif row.verdict and content(row) in asked and content(row) not in judging:
            found[row.name] = f"{what}: it judges no run any more"
    return found


def _of_precedence(old: Document, new: Document) -> Iterator[str]:
    """Cases that are bounded less although all rows remain, because a more specific row was added that bounds them less."""
    for what, cases in _less_bounded(old, new).items():
        yield f"{what} of {some(cases)}: a more specific row stands in its place"


def _less_bounded(old: Document, new: Document) -> dict[str, list[str]]:
    """The bound that was tighter before, in words -> the cases to which it applied."""
    rows = {row.name: row for contract in new.contracts for row in contract.rows}
    asked = [content(row) for row in rows.values()]
    kept = {row.name: row for contract in old.contracts for row in contract.rows if content(row) in asked}
    after, found = {case.id: case for case in new.cases}, dict[str, list[str]]()
    for case in old.cases:
        now = _bounds(rows, after[case.id]) if case.id in after else {}
        for subject, (low, high) in _bounds(kept, case).items() if case.id in after else ():
            lowest, highest = now.get(subject, (None, None))
            if (low is not None and (lowest is None or lowest < low)) or (
                high is not None and (highest is None or highest > high)
            ):
                found.setdefault(f"the bound of {subject[1]} ({subject[2]})", []).append(case.id)
    return found


def _bounds(rows: Mapping[str, ContractRow], case: Case) -> dict[tuple[str, ...], Bounds]:
    """The bounds that these rows set for a case after precedence, by the subject of the rows."""
    sides, found = dict(case.sides), dict[tuple[str, ...], Bounds]()
    for row in (rows[name] for name in case.rows if name in rows):
        subject, side = (
            (row.contract, row.figure, row.basis, row.statistic, row.mode, row.unit),
            sides.get(row.name, ""),
        )
        low, high = found.get(subject, (None, None))
        if row.low is not None and side != "high":
            low = row.low if low is None else max(low, row.low)
        if row.high is not None and side != "low":
            high = row.high if high is None else min(high, row.high)
        found[subject] = low, high
    return found


def _at_least(old: ContractRow, new: ContractRow) -> bool:
    """Whether the new row has the same subject and asks for as much or more."""
    return _subject(old) == _subject(new) and is_as_tight(new, old)


def _subject(row: ContractRow) -> tuple[object, ...]:
    return row.test, row.figure, row.basis, row.where, row.statistic, row.mode, row.unit, row.inputs
