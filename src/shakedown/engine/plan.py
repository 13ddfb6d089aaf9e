"""The frozen document, indexed for the engine: cases by id, pools, budgets, classes. Derived, never logged, never altered."""

from __future__ import annotations

from dataclasses import dataclass, field

from shakedown.model.nouns import Build, Case, Component, Document, Retry, Test

# What is attempted again when a plan says nothing: what the harness or the machine's owner ended, not what the test did.
DEFAULT_RETRIES = (
    Retry("interrupted", times=1000),
    Retry("node_fail", times=2),
    Retry("submit_failed", times=5, backoff_s=10.0),
    Retry("lost", times=1),
)
# The component of live runs whose component an amendment removed: they end, are judged, and count nowhere.
NO_LONGER_WANTED = "no longer wanted"
NEVER_RETRIED = frozenset({"passed", "incorrect", "performance", "build_failed", "cancelled"})


@dataclass(frozen=True, slots=True)
class Policy:
    """How long the engine waits before it believes silence, in seconds: see ``Patience`` for each."""

    grace_s: float = 60.0
    lost_after_s: float = 1800.0
    no_answer_s: float = 86400.0
    dead_after_s: float = 300.0
    builds_disturb_runs: bool = False  # builds happen on the very cores that are measured
    withdraw_on_stop: bool = False  # what is queued ends with us anyway: a stop takes it back instead of waiting for it


def policy_for(document: Document) -> Policy:
    """The patience of the system's clusters, of the most patient one where there are several."""
    patience = [cluster.patience for cluster in document.system.clusters if cluster.scheduler != "local"]
    if not patience:
        return LOCAL_POLICY

    def most(name: str) -> float:
        return max(float(getattr(one, name)) for one in patience)

    return Policy(most("grace_s"), most("lost_after_s"), most("no_answer_s"), most("dead_after_s"))


LOCAL_POLICY = Policy(grace_s=0.0, lost_after_s=60.0, dead_after_s=5.0, builds_disturb_runs=True, withdraw_on_stop=True)


@dataclass(frozen=True, slots=True)
class Pool:
    """Where jobs of one partition go. ``capacity`` in units (cores or nodes); ``high`` and ``low`` count live jobs.

    Orders are topped up to ``high`` when no more than ``low`` jobs live, so that one durable write covers many of them.
    """

    name: str
    capacity: int
    high: int
    low: int


@dataclass(frozen=True, slots=True)
class ClassKey:
    """What makes waiting runs alike to the scheduler: where, how much, what they load, what must be built first."""

    component: int
    pool: str
    units: int
    exclusive: bool
    loads: tuple[tuple[str, float], ...]
    build: str


@dataclass(slots=True)
class PlanIndex:
    """The document and what the engine looks up in it."""

    document: Document
    policy: Policy
    cases: dict[str, Case]
    tests: dict[str, Test]
    builds: dict[str, Build]
    components: tuple[Component, ...]
    component_number: dict[str, int]
    pools: dict[str, Pool]
    budgets: dict[str, float]
    classes: dict[tuple[int, str], ClassKey] = field(default_factory=dict)

    def class_of(self, component: int, case: str) -> ClassKey:
        """The class of a case in a component, made once."""
        key = self.classes.get((component, case))
        if key is None:
            key = self.classes[component, case] = _class_key(self, component, self.cases[case])
        return key

    def retry_rule(self, component: int, verdict: str) -> Retry | None:
        """How a verdict is retried: the plan's word, else the usual one; None where it is final."""
        if verdict in NEVER_RETRIED or self.components[component].name == NO_LONGER_WANTED:
            return None
        for rule in (*self.components[component].retry, *DEFAULT_RETRIES):
            if rule.verdict == verdict:
                return rule
        return None


def index_plan(document: Document, policy: Policy | None = None, before: PlanIndex | None = None) -> PlanIndex:
    """Purpose: index a document. ``before``: the index it amends, whose cases live runs may still need."""
    old_cases = dict(before.cases) if before else {}
    old_tests = dict(before.tests) if before else {}
    old_builds = dict(before.builds) if before else {}
    components = (*document.components, Component(NO_LONGER_WANTED, "site", ()))
    return PlanIndex(
        document=document,
        policy=policy or (before.policy if before else policy_for(document)),
        cases=old_cases | {case.id: case for case in document.cases},
        tests=old_tests | {test.name: test for test in document.tests},
        builds=old_builds | {build.key: build for build in document.builds},
        components=components,
        component_number={component.name: number for number, component in enumerate(components)},
        pools=_pools(document),
        budgets=_budgets(document),
    )


def _pools(document: Document) -> dict[str, Pool]:
    """A site's scheduler is not filled with more than it needs; our own may hold many, so that few durable writes do."""
    pools = {}
    local = {cluster.name for cluster in document.system.clusters if cluster.scheduler == "local"}
    for name, capacity in document.system.capacities().items():
        high = 2 * capacity + (256 if name.split(":")[0] in local else 128)
        if document.limits.queued:
            high = min(high, document.limits.queued)
        pools[name] = Pool(name, capacity, high, min(capacity + 32, high // 2))
    return pools


def _budgets(document: Document) -> dict[str, float]:
    """Every budget by name. A cap on copies is a budget of its own, of which each run of the test takes one; so is the most
    jobs that a cluster lets us have.
    """
    budgets = dict(document.system.budgets) | dict(document.limits.budgets)
    budgets |= {
        jobs_of(cluster.name): float(cluster.most_jobs) for cluster in document.system.clusters if cluster.most_jobs
    }
    return budgets | {f"copies:{test}": float(count) for test, count in document.limits.copies}


def jobs_of(place: str) -> str:
    """The budget of a cluster's jobs, by the cluster's name or a "cluster:partition" of it."""
    return f"jobs:{place.split(':', maxsplit=1)[0]}"


def _class_key(index: PlanIndex, component: int, case: Case) -> ClassKey:
    loads = case.loads
    if f"copies:{case.test}" in index.budgets:
        loads = (*loads, (f"copies:{case.test}", 1.0))
    if jobs_of(case.partition) in index.budgets:
        loads = (*loads, (jobs_of(case.partition), 1.0))
    shape = case.shape
    return ClassKey(component, case.partition, shape.units, shape.exclusive, loads, case.build)
