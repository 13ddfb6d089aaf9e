"""The frozen document, indexed for the engine: cases by id, pools, budgets, classes. Derived from the document, never logged."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from shakedown.engine.state.bundles import Bundle, bundles, whole_job
from shakedown.engine.state.keys import ResultsKey, Stage
from shakedown.engine.state.modes import FILLER, base, is_step, is_warm_up
from shakedown.model.build_names import names_of_builds
from shakedown.model.events import NO_LONGER_WANTED
from shakedown.model.ladders import Rung, rungs_of
from shakedown.model.nouns import Build, Case, Component, Document, Loads, Mode, Partition, Retry, Test
from shakedown.model.observing import Observe
from shakedown.model.retrying import rule_for
from shakedown.model.shared_nodes import place_of, sharing
from shakedown.model.units import show_amount

REMEMBERED = 4096  # kinds of jobs of several runs; combinations of loads and targets


@dataclass(frozen=True, slots=True)
class Policy:
    """How long the engine waits before it draws conclusions from silence, in seconds: see ``Patience`` for each value."""

    grace_s: float = 60.0
    lost_after_s: float = 1800.0
    no_answer_s: float = 86400.0
    dead_after_s: float = 300.0
    builds_disturb_runs: bool = False  # builds happen on the very cores that are measured
    withdraw_on_stop: bool = False  # what is queued ends with us anyway: a stop takes it back instead of waiting for it


def policy_for(document: Document) -> Policy:
    """The patience of the system's clusters; where there are several, the longest of each time."""
    patience = [cluster.patience for cluster in document.system.clusters if not cluster.embedded]
    if not patience:
        return LOCAL_POLICY

    def most(name: str) -> float:
        return max(float(getattr(one, name)) for one in patience)

    return Policy(most("grace_s"), most("lost_after_s"), most("no_answer_s"), most("dead_after_s"))


LOCAL_POLICY = Policy(grace_s=0.0, lost_after_s=60.0, dead_after_s=5.0, builds_disturb_runs=True, withdraw_on_stop=True)


@dataclass(frozen=True, slots=True)
class Pool:
    """Where jobs of one partition go. ``capacity``: in units (cores or nodes). ``high`` and ``low``: numbers of live jobs.

    When no more than ``low`` jobs are live, jobs are ordered up to ``high``, so that one durable write covers many of them.
    """

    name: str
    capacity: int
    high: int
    low: int


@dataclass(frozen=True, slots=True)
class QueueKey:
    """The class of a waiting run: runs of a class are alike to the scheduler in where they run, how much they take, what they load
    and which build they need.

    Cases in a mode, a mix or a sweep each have a class of their own, named in ``case``. ``mode``: see ``modes.py``. ``stage``: the
    mode of a case that has its pool to itself. ``place``: its position in the order of the component. ``test``: the test, if its
    copies or starts are limited, so that other tests do not wait with it. ``asks``: the GPUs, memory and scheduler options that its
    runs ask for, since jobs that ask for different things may start at different times.
    """

    component: int
    pool: str
    units: int
    exclusive: bool
    loads: tuple[tuple[str, float], ...]
    build: str
    mode: str = ""
    stage: Stage | None = None
    case: str = ""
    place: int = 0
    test: str = ""
    asks: str = ""
    _hash: int = field(default=0, init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Keys are looked up a million times and made once: the hash is kept. It is no part of what is written."""
        named = (self.component, self.pool, self.units, self.loads, self.build, self.mode, self.case, self.test)
        object.__setattr__(self, "_hash", hash(named))

    def __hash__(self) -> int:
        return self._hash


@dataclass(frozen=True, slots=True)
class Copies:
    """How many copies of a case run at once: ``wanted`` by the plan, ``fits``: how many can; ``binding``: what limits them, in
    words.
    """

    wanted: int
    fits: int
    binding: str = ""


@dataclass(slots=True)
class PlanIndex:
    """The document, and what the engine looks up in it."""

    document: Document
    policy: Policy
    cases: dict[str, Case]
    tests: dict[str, Test]
    builds: dict[str, Build]
    build_names: dict[str, str]  # key of a build -> what people call it
    components: tuple[Component, ...]
    component_number: dict[str, int]
    pools: dict[str, Pool]
    budgets: dict[str, float]
    staged: bool = False  # some component runs its cases in modes
    rolling: tuple[int, ...] = ()  # numbers of the components that run a mix for a time
    awaited: tuple[str, ...] = ()  # components that must be met before others begin
    company: dict[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # pool -> others with nodes of it, where modes ask for it
    classes: dict[tuple[int, str, str], QueueKey] = field(default_factory=dict)
    tops: dict[int, dict[str, int]] = field(default_factory=dict)
    labelled: dict[str, QueueKey] = field(default_factory=dict)  # a class by its name in the log
    fitting: dict[tuple[int, str, str], Copies] = field(default_factory=dict)
    rooms: dict[tuple[int, str, str], Any] = field(
        default_factory=dict
    )  # (component, pool, budget): ``budgets.Room`` by the plan
    terms: dict[int, Any] = field(default_factory=dict)  # of components that run a mix: ``mix.Terms``
    tests_of: dict[tuple[str, str, str], Test] = field(default_factory=dict)  # by test, toolchain and case
    places: dict[str, Partition] = field(
        default_factory=dict
    )  # pool -> its partition, on clusters, where units are nodes
    targets: dict[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # budget -> its targets' own budgets, "budget@target"
    observed: dict[str, Observe] = field(default_factory=dict)  # budget -> the number that narrows it
    licensed: frozenset[tuple[str, str]] = frozenset()  # (cluster, budget) that the cluster itself hands out
    capped: set[str] = field(default_factory=set)  # tests whose copies or starts somebody limits
    bundles: dict[tuple[int, str], Bundle] = field(default_factory=dict)  # (component, pool) -> jobs of several runs
    followers: dict[str, tuple[str, ...]] = field(default_factory=dict)  # case -> those that need it
    ladders: dict[tuple[int, str], tuple[Rung, ...]] = field(
        default_factory=dict
    )  # (component, case) -> the sizes of its ladder, from the smallest on
    handing: dict[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # case -> patterns of files that others want of it
    last_repeats: dict[ResultsKey, int] = field(default_factory=dict)  # the highest repeat of one round, once counted
    loaded: dict[tuple[QueueKey, tuple[tuple[str, str], ...], int], Loads] = field(
        default_factory=dict
    )  # what jobs of a class load on their targets, kept once for all of them
    whole_jobs: dict[tuple[str, ...], Case] = field(
        default_factory=dict
    )  # what a job of several runs takes, by its cases
    last_plans: dict[str, Document] = field(
        default_factory=dict
    )  # case that the plan has no more -> the last one that had it

    def class_of(self, component: int, case: str, mode: str = "") -> QueueKey:
        """The class of a case in a component. It is made once and kept."""
        key = self.classes.get((component, case, mode))
        if key is None:
            key = self.classes[component, case, mode] = _class_key(self, component, self.cases[case], mode)
            self.labelled[class_label(self, key)] = key
        return key

    def test_of(self, case: Case) -> Test:
        """The test with what the case sets for itself. It is made once for each toolchain, or for each case with own checks or
        figures.
        """
        key = (case.test, case.toolchain, case.id if case.checks or case.figures else "")
        if key not in self.tests_of:
            self.tests_of[key] = self.tests[case.test].of(case)
        return self.tests_of[key]

    def plan_of(self, case: str) -> Document:
        """The plan whose contract rows judge runs of this case: the one in force, or the last one that had the case."""
        return self.last_plans.get(case, self.document)

    def whole_job(self, cases: tuple[str, ...], bundle: Bundle, lanes: int) -> Case:
        """The job that holds runs of these cases, ``lanes`` of them side by side. It is made once and kept."""
        name = (bundle.label, str(lanes), *cases)
        if name not in self.whole_jobs:
            if len(self.whole_jobs) > REMEMBERED:
                self.whole_jobs.clear()
            self.whole_jobs[name] = whole_job([self.cases[case] for case in cases], bundle, lanes)
        return self.whole_jobs[name]

    def cap(self, test: str) -> None:
        """From now on the copies of a test are limited: its cases have classes of their own."""
        if test not in self.capped:
            self.capped.add(test)
            self.classes.clear()
            self.terms.clear()

    def mode_of(self, component: int, mode: str) -> Mode | None:
        """The plan's entry for a mode; for a warm-up, that of the mode it belongs to. None where the component has no such mode."""
        name = base(mode)
        return next((found for found in self.components[component].modes if found.name == name), None)

    def topped(self, component: int) -> dict[str, int]:
        """Pool -> units up to which a mix orders jobs: a full machine and one run more, so that some always wait."""
        if component not in self.tops:
            cases = [self.cases[name] for name in self.all_cases(component)]
            pools = [case.partition for case in cases if case.partition in self.pools]
            most = max((case.shape.units for case in cases), default=0)
            self.tops[component] = {pool: self.pools[pool].capacity + most for pool in pools}
        return self.tops[component]

    def all_cases(self, component: int) -> tuple[str, ...]:
        """The component's own cases and its fillers."""
        found = self.components[component]
        return (*found.cases, *found.fillers)

    def copies(self, component: int, case: str, mode: str) -> Copies:
        """How many copies of a case are to run at once in a mode, and how many can."""
        key = (component, case, base(mode))
        if key not in self.fitting:
            self.fitting[key] = _copies(self, component, case, mode)
        return self.fitting[key]

    def retry_rule(self, component: int, verdict: str) -> Retry | None:
        """How a verdict is retried: as the plan says, else the usual way; None where it is final."""
        if self.components[component].name == NO_LONGER_WANTED:
            return None
        return rule_for(self.components[component].retry, verdict, self._is_swept(component))

    def _is_swept(self, component: int) -> bool:
        return any(at[0] == component and bundle.kind == "sweep" for at, bundle in self.bundles.items())


def index_plan(document: Document, policy: Policy | None = None, before: PlanIndex | None = None) -> PlanIndex:
    """Purpose: index a document. ``before``: the index of the plan that it amends, whose cases live runs may still need."""
    old_cases = dict(before.cases) if before else {}
    old_tests = dict(before.tests) if before else {}
    old_builds = dict(before.builds) if before else {}
    components = (*document.components, Component(NO_LONGER_WANTED, "site", ()))
    staged = any(component.modes for component in components)
    return PlanIndex(
        document=document,
        policy=policy or _policy_after(before, document),
        cases=old_cases | {case.id: case for case in document.cases},
        tests=old_tests | {test.name: test for test in document.tests},
        builds=old_builds | {build.key: build for build in document.builds},
        build_names=(before.build_names if before else {}) | names_of_builds(document.builds, document.cases),
        components=components,
        component_number={component.name: number for number, component in enumerate(components)},
        pools=_pools(document),
        budgets=_budgets(document),
        staged=staged,
        rolling=tuple(number for number, component in enumerate(components) if component.duration_s),
        awaited=tuple(dict.fromkeys(name for c in components if c.gate == "met" for name in c.after)),
        company=_company(document, before) if staged else {},
        places=_places(document),
        targets={name: tuple(f"{name}@{one}" for one in every) for name, every in document.system.targeted},
        observed={word.budget: word for word in document.limits.observed},
        licensed=_licensed(document),
        capped=_capped(document) | (before.capped if before else set()),
        bundles=bundles(document),
        followers=_followers(document),
        handing=_handing(document),
        ladders=_ladders(document),
        last_plans=_last_plans(document, before),
    )


def _last_plans(document: Document, before: PlanIndex | None) -> dict[str, Document]:
    mine = {case.id for case in document.cases}
    return {case: before.plan_of(case) for case in before.cases if case not in mine} if before else {}


def _handing(document: Document) -> dict[str, tuple[str, ...]]:
    """Case -> patterns of the files that other cases need from it."""
    found: dict[str, dict[str, None]] = {}
    for case in document.cases:
        for need in case.needs:
            if need.files:
                found.setdefault(need.case, {}).update(dict.fromkeys(need.files))
    return {case: tuple(patterns) for case, patterns in found.items()}


def _ladders(document: Document) -> dict[tuple[int, str], tuple[Rung, ...]]:
    """(component, case) -> the ladder that the case belongs to, for components with ladders."""
    cases = {case.id: case for case in document.cases}
    found: dict[tuple[int, str], tuple[Rung, ...]] = {}
    for number, component in enumerate(document.components):
        if component.ladder is not None:
            for rungs in rungs_of(component.ladder, [cases[name] for name in component.cases]):
                found |= {(number, rung.case): rungs for rung in rungs}
    return found


def _followers(document: Document) -> dict[str, tuple[str, ...]]:
    """Case -> the cases that need it."""
    found: dict[str, dict[str, None]] = {}
    for case in document.cases:
        for need in case.needs:
            found.setdefault(need.case, {})[case.id] = None
    return {case: tuple(cases) for case, cases in found.items()}


def _policy_after(before: PlanIndex | None, document: Document) -> Policy:
    """The document's own policy, unless whoever drives gave the earlier index a different one."""
    given = before is not None and before.policy != policy_for(before.document)
    return before.policy if before is not None and given else policy_for(document)


def _pools(document: Document) -> dict[str, Pool]:
    """The pools. A site's scheduler gets no more jobs than needed; Shakedown's own may hold many, so that few durable writes do."""
    pools = {}
    local = {cluster.name for cluster in document.system.clusters if cluster.embedded}
    for name, capacity in document.system.capacities().items():
        high = 2 * capacity + (256 if name.split(":")[0] in local else 128)
        if document.limits.queued:
            high = min(high, document.limits.queued)
        pools[name] = Pool(name, capacity, high, min(capacity + 32, high // 2))
    return pools


def _places(document: Document) -> dict[str, Partition]:
    clusters = [cluster for cluster in document.system.clusters if not cluster.embedded]
    return {place_of(place): place for cluster in clusters for place in cluster.partitions}


def _licensed(document: Document) -> frozenset[tuple[str, str]]:
    """(cluster, budget): the budgets that a cluster counts itself, because it has licences of that name which cover them."""
    system, names = document.system, dict(document.system.licence_names)
    amounts = _budgets(document)
    found = set()
    for cluster in system.clusters:
        licences = dict(cluster.licences)
        for budget, amount in amounts.items():
            if 0 < licences.get(names.get(budget, budget), 0.0) <= amount:
                found.add((cluster.name, budget))
    return frozenset(found)


def _capped(document: Document) -> set[str]:
    """The tests whose copies, or starts, the plan limits at any time."""
    limits = [document.limits, *(component.limits for component in document.components)]
    copies = [word.copies for word in limits]
    for component in document.components:
        copies += [window.copies for window in component.windows] + [word.copies for word in component.yields]
    if any(word.stagger_s for word in limits):
        return {test.name for test in document.tests}
    return {test for pairs in copies for test, _ in pairs}


def _company(document: Document, before: PlanIndex | None) -> dict[str, tuple[str, ...]]:
    cases = (*document.cases, *(before.cases.values() if before else ()))
    shared = sharing(document.system, {case.partition for case in cases})
    return {pool: tuple(sorted(others - {pool})) for pool, others in shared.items() if len(others) > 1}


def _budgets(document: Document) -> dict[str, float]:
    """Every budget by name. A cap on copies is a budget too, of which each run of the test takes one; so is the number of jobs that
    a cluster lets us have.
    """
    budgets = dict(document.system.budgets) | dict(document.limits.budgets)
    for name, targets in document.system.targeted:
        budgets |= {f"{name}@{target}": budgets[name] for target in targets if name in budgets}
    budgets |= {
        jobs_of(cluster.name): float(cluster.most_jobs) for cluster in document.system.clusters if cluster.most_jobs
    }
    budgets |= _gpus(document)
    return budgets | {f"copies:{test}": float(count) for test, count in document.limits.copies}


def _gpus(document: Document) -> dict[str, float]:
    """The GPUs in partitions of Shakedown's own scheduler, which are given out one by one. On a cluster they come
    with whole nodes.
    """
    system = document.system
    places = [place for cluster in system.clusters if cluster.embedded for place in cluster.partitions]
    counts = {gpus_of(f"{place.cluster}:{place.name}"): system.node_type(place.type).gpus.count for place in places}
    return {name: float(count) for name, count in counts.items() if count}


def gpus_of(place: str) -> str:
    """The name of the budget for the GPUs of a partition ("cluster:partition") of Shakedown's own scheduler."""
    return f"gpus:{place}"


def jobs_of(place: str) -> str:
    """The name of the budget for a cluster's jobs. ``place``: the cluster's name, or "cluster:partition"."""
    return f"jobs:{place.split(':', maxsplit=1)[0]}"


def is_place(budget: str) -> bool:
    """Whether a budget is for places in a cluster's queue. A job takes one place from its submission on, however
    many runs it has.
    """
    return budget.startswith("jobs:")


def _class_key(index: PlanIndex, number: int, case: Case, mode: str) -> QueueKey:
    component, shape = index.components[number], case.shape
    bundle, loads, test = index.bundles.get((number, case.partition)), case.loads, ""
    if case.test in index.capped:
        loads, test = (*loads, (f"copies:{case.test}", 1.0)), case.test
    if jobs_of(case.partition) in index.budgets:
        loads = (*loads, (jobs_of(case.partition), 1.0))
    if shape.resources.gpus_per_node and gpus_of(case.partition) in index.budgets:
        loads = (*loads, (gpus_of(case.partition), float(shape.resources.gpus_per_node)))
    if bundle is not None and bundle.kind == "pack":
        return QueueKey(number, case.partition, shape.units, True, loads, case.build, test=test)
    if not mode or mode == FILLER or is_step(mode):
        alone = case.id if component.duration_s or bundle is not None or is_step(mode) else ""
        exclusive = shape.exclusive or bundle is not None
        return QueueKey(
            number, case.partition, shape.units, exclusive, loads, case.build, mode, case=alone, test=test,
            asks=shape.resources.label(),
        )  # fmt: skip
    return QueueKey(
        number,
        case.partition,
        shape.units,
        shape.exclusive or base(mode) == "isolated",
        loads,
        case.build,
        mode,
        stage=Stage(component.name, base(mode), case.id),
        case=case.id,
        place=_place(component, case.id, mode),
        test=test,
        asks=shape.resources.label(),
    )


def class_label(index: PlanIndex, key: QueueKey) -> str:
    """The name of a class in the log: stable, readable and unique."""
    loads = "+".join(f"{name}={amount:g}" for name, amount in key.loads)
    parts = [index.components[key.component].name, key.mode, key.case or key.test, key.pool, f"{key.units}u"]
    parts += ["exclusive" if key.exclusive else "", loads, key.asks, key.build[:12]]
    return "/".join(part for part in parts if part)


def _place(component: Component, case: str, mode: str) -> int:
    """The position in the component's order: mode by mode, case by case, warm-ups first. A mode or case that an amendment removed
    is first of all, so that it is over soonest.
    """
    names = [str(found.name) for found in component.modes]
    if base(mode) not in names or case not in component.cases:
        return 0
    before = names.index(base(mode)) * len(component.cases) + component.cases.index(case)
    return 1 + 2 * before + (not is_warm_up(mode))


def _copies(index: PlanIndex, component: int, case: str, mode: str) -> Copies:
    """The copies that are asked for, and how many can run: limited by the machine, the jobs of the pool, or a budget."""
    word, key = index.mode_of(component, mode), index.class_of(component, case, mode)
    if word is None:
        return Copies(1, 1)
    wanted = index.document.system.copies(word, index.cases[case])
    pool = index.pools[key.pool]
    room = [(pool.capacity // max(1, key.units), f"{key.pool} has {pool.capacity} units and each takes {key.units}")]
    room += [(pool.high, f"{pool.high} jobs at once are allowed in {key.pool}")]
    for name, load in key.loads:
        limit = index.budgets.get(name)
        if limit is not None and load > 0:
            unit = dict(index.document.system.budget_units).get(name, "")
            said = f"budget {name} is {show_amount(limit, unit)} and each takes {show_amount(load, unit)}"
            room.append((int(limit * (1 + 1e-9) / load), said))
    fits, why = min(room, key=lambda item: item[0])
    return Copies(wanted, max(1, min(wanted, fits)), why if fits < wanted else "")
