"""The frozen data of a campaign: system, tests, cases, plan. A campaign freezes them as one ``Document``, its only input later.

All are plain data: tuples instead of lists, pairs instead of dictionaries, so that equal things are equal and hashable. They
are msgspec's structs and not dataclasses, which every start of a command would spend a tenth of its time on making.
Units are in the names: ``_s`` seconds, ``_bytes`` bytes, ``_per_s`` a second.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from shakedown.model.baselines import Baseline
from shakedown.model.dialects import EMBEDDED
from shakedown.model.failures import FailureClass

# Nouns too, in a file of their own; everybody finds all nouns here.
from shakedown.model.figures import FigureSpec as FigureSpec  # noqa: PLC0414
from shakedown.model.figures import Pairs as Pairs  # noqa: PLC0414
from shakedown.model.filling import ClockTerms, Fill, Pack, Phase, Sweep, Window, Yield
from shakedown.model.judging import Contract, Criterion
from shakedown.model.ladders import Ladder
from shakedown.model.observing import Observe
from shakedown.model.resources import NO_GPUS, NOTHING_ASKED, Gpus, Resources
from shakedown.model.scaling import Scaling
from shakedown.model.scores import Score
from shakedown.model.units import show_amount

SCHEMA = 2  # of the frozen document; a change of meaning raises it

Loads = tuple[tuple[str, float], ...]


# ---- the machine ----------------------------------------------------------------------------------------------------


class NodeType(Struct, frozen=True):
    """The hardware of one node type. ``cores``: physical cores; ``numa``: number of memory domains; 0 = not known.

    ``flops_per_cycle``: of one core, at ``clock_hz``. ``fast_memory_bytes``: high-bandwidth memory beside ``memory_bytes``, never
    counted as memory: it may be used as a cache.
    """

    name: str
    sockets: int = 1
    cores: int = 1
    threads_per_core: int = 1
    numa: int = 1
    memory_bytes: float = 0.0
    peak_flop_per_s: float = 0.0
    cpu: str = ""
    last_level_cache_bytes: float = 0.0
    features: tuple[str, ...] = ()  # as the scheduler names them
    clock_hz: float = 0.0
    flops_per_cycle: int = 0
    fast_memory_bytes: float = 0.0
    memory_bandwidth_bytes_per_s: float = 0.0
    gpus: Gpus = NO_GPUS


class Partition(Struct, frozen=True):
    """Nodes of one type that jobs are sent to. ``nodes`` is a folded node set; ``count`` how many it holds.

    ``time_limit_s``: the longest that the scheduler allows there, 0 = none known; ``most_nodes``: the most nodes of a job,
    0 = all of them. ``options``: words for each submission.
    """

    name: str
    cluster: str
    nodes: str
    count: int
    type: str
    time_limit_s: float = 0.0
    options: tuple[str, ...] = ()
    most_nodes: int = 0


class Patience(Struct, frozen=True):
    """How often a cluster's scheduler is asked, and how long before silence is believed; all in seconds.

    ``grace_s``: an ambiguous submission is replaced only after every source said "absent" past this.
    ``lost_after_s``: a job that every source has forgotten is lost after this; ``no_answer_s``: so is one nobody answers for.
    ``dead_after_s``: past its time limit by this much, a job that was declared dead is believed dead.
    """

    poll_s: float = 5.0
    grace_s: float = 60.0
    lost_after_s: float = 1800.0
    no_answer_s: float = 86400.0
    dead_after_s: float = 300.0


class Cluster(Struct, frozen=True):
    """One scheduler and its partitions. ``scheduler`` names a dialect (``model.dialects``).

    ``options``: words for each submission (an account, a QOS). ``licences``: what the scheduler itself hands out; a budget of
    the same name is charged there. ``most_jobs``: the most of our jobs it lets be queued and running at once, 0 = no limit known.
    """

    name: str
    scheduler: str
    partitions: tuple[Partition, ...]
    options: tuple[str, ...] = ()
    licences: Loads = ()
    most_jobs: int = 0
    patience: Patience = field(default_factory=Patience)

    @property
    def embedded(self) -> bool:
        """Whether its jobs are processes on the driver's machine; its units are then cores."""
        return self.scheduler == EMBEDDED


class TargetClass(Struct, frozen=True):
    """Targets of one class: their number, and the capacity and bandwidth of each; 0 = not known."""

    name: str
    count: int
    capacity_bytes: float = 0.0
    bandwidth_bytes_per_s: float = 0.0


class FileSystem(Struct, frozen=True):
    """A file system, where tests work on it, and its targets by class (``mdt`` -> mdt0, mdt1...).

    ``targets`` are those that have names; ``classes`` what is known of all of them. ``bandwidth_bytes_per_s``: its peak.
    """

    name: str
    kind: str = ""
    path: str = ""
    targets: tuple[tuple[str, tuple[str, ...]], ...] = ()
    capacity_bytes: float = 0.0
    bandwidth_bytes_per_s: float = 0.0
    classes: tuple[TargetClass, ...] = ()


class Spack(Struct, frozen=True):
    """What Spack loads. ``environment``: the Spack environment that has it; ``root``: of Spack, "" = as found."""

    specs: tuple[str, ...] = ()
    environment: str = ""
    root: str = ""
    install: bool = False


class Toolchain(Struct, frozen=True):
    """How programs are built: software to load, compiler names, environment.

    ``initialise``: shell files that bash reads before modules are loaded; Spack loads after them.
    """

    name: str
    modules: tuple[str, ...] = ()
    cc: str = "cc"
    cxx: str = "c++"
    fc: str = "fc"
    environment: Pairs = ()
    mpi: str = ""  # whose MPI it builds with: mpich, openmpi, intel, cray...; "" not known
    initialise: tuple[str, ...] = ()
    spack: Spack = Spack()


class System(Struct, frozen=True):
    """A machine. ``network`` is described, not interpreted. ``budgets``: name -> how much of it there is, in base units.

    ``targeted``: budget -> its targets; each target has the budget's amount, and a run loads one of them. ``licence_names``:
    budget, or ``budget@target``, -> what clusters call the licence that stands for it, where that is another name.
    ``fingerprint``: name -> shell command whose output belongs to a node's fingerprint. ``budget_units``: budget -> the
    unit that its amount was written in, where it has one.
    """

    name: str
    clusters: tuple[Cluster, ...]
    node_types: tuple[NodeType, ...]
    about: str = ""
    network: Pairs = ()
    filesystems: tuple[FileSystem, ...] = ()
    toolchains: tuple[Toolchain, ...] = ()
    budgets: Loads = ()
    found: Pairs = ()  # the machine as found, for the report: kernel, operating system, CPU flags...
    fingerprint: Pairs = ()
    targeted: tuple[tuple[str, tuple[str, ...]], ...] = ()
    licence_names: Pairs = ()
    budget_units: Pairs = ()

    def amount(self, budget: str, base: float) -> str:
        """An amount of a budget as a plan would say it: "40 GB/s", "8 per target"; of one target alone "8"."""
        name = budget.partition("@")[0]
        each = " per target" if budget in dict(self.targeted) else ""
        return f"{show_amount(base, dict(self.budget_units).get(name, ''))}{each}"

    def partitions(self) -> tuple[Partition, ...]:
        return tuple(partition for cluster in self.clusters for partition in cluster.partitions)

    def capacities(self) -> dict[str, int]:
        """Units of each partition, by "cluster:partition": cores on a local machine, whole nodes on a cluster."""
        return {
            f"{cluster.name}:{partition.name}": partition.count
            * (self.node_type(partition.type).cores if cluster.embedded else 1)
            for cluster in self.clusters
            for partition in cluster.partitions
        }

    def node_type(self, name: str) -> NodeType:
        return next(kind for kind in self.node_types if kind.name == name)

    def copies(self, mode: Mode, case: Case) -> int:
        """How many copies of a case a mode asks for at once: one, as many as it says, or as many as fill the partition."""
        if mode.name == "isolated":
            return 1
        return mode.copies or max(1, self.capacities().get(case.partition, 0) // max(1, case.shape.units))


# ---- what is measured and checked ------------------------------------------------------------------------------------


class Check(Struct, frozen=True):
    """A condition that a run's evidence must meet.

    ``kind`` is the name of a declaration in ``model.checks``. ``subject`` is ``output`` or a file's path in the run's directory
    (a glob for ``golden``); ``argument`` is the text, the regular expression, the exit status, or for ``golden`` the pairs
    path=sha256 joined by newlines. ``toolchain``: only cases of this one are checked by it; "" = all, for answers that are not
    bound to who compiled the program.
    """

    kind: str
    subject: str
    argument: str = ""
    text: str = ""  # as the person wrote it, for reasons and reports
    toolchain: str = ""


# ---- builds, shapes, cases -------------------------------------------------------------------------------------------


class Build(Struct, frozen=True):
    """Something to make before a case can run; every case with the same key shares it.

    ``key`` is the hash of source content, toolchain, modules and commands. ``source`` is an absolute path or "" where
    there is nothing to copy. ``script`` is run by ``sh`` in a fresh copy of the source. ``where``: on the machine that
    the conductor runs on (login), or in a job of its own on ``partition`` ("cluster:partition"), never in a run's allocation.
    """

    key: str
    name: str
    source: str
    script: str
    environment: Pairs = ()
    time_limit_s: float = 1800.0
    where: Literal["login", "job"] = "login"
    partition: str = ""
    cpus: int = 1


class Shape(Struct, frozen=True):
    """The resources of one run. ``units`` is what the engine counts: cores on a local machine, whole nodes on a cluster."""

    nodes: int = 1
    tasks_per_node: int = 1
    cpus_per_task: int = 1
    units: int = 1
    exclusive: bool = False
    time_limit_s: float = 600.0
    requeue: bool = False  # the scheduler may start the job again by itself after a node failed
    resources: Resources = NOTHING_ASKED

    @property
    def ranks(self) -> int:
        return self.nodes * self.tasks_per_node


class Need(Struct, frozen=True):
    """Another case that must pass before a case begins.

    ``files``: patterns of files in its run's directory that are handed on; ``into``: the directory, within that of the run which is
    handed them, where they appear under the same paths; "" = the run's directory itself.
    """

    case: str
    files: tuple[str, ...] = ()
    into: str = ""


class Case(Struct, frozen=True):
    """One concrete test: parameters fixed, on one partition, with one toolchain.

    ``script`` is the shell text of the job's payload, fully substituted except ``{build}`` (the directory of the build) and
    ``{campaign}``, which only exist once a campaign runs. ``unavailable`` says why it cannot run here and what to do.
    ``work``: where its runs work, an absolute path in which ``{mdt}`` stands for the run's target, "" = in the campaign;
    ``targets``: such a word -> the budget whose target it is. ``stage``: input files are linked into the run's directory, copied
    for each run, or placed once on each target and linked from there.
    """

    id: str
    test: str
    partition: str  # "cluster:partition"
    toolchain: str = ""
    parameters: Pairs = ()
    shape: Shape = field(default_factory=Shape)
    script: str = ""
    environment: Pairs = ()
    build: str = ""  # a Build's key, or ""
    loads: Loads = ()
    unavailable: str = ""
    expect: str = ""  # an expected verdict, such as build_failed
    because: str = ""
    rows: tuple[str, ...] = ()  # names of the contract rows that apply to it, after precedence
    files: Pairs = ()  # input files to place in the run's directory: name -> absolute path
    work: str = ""
    targets: Pairs = ()
    stage: Literal["link", "copy", "per-target"] = "link"
    checks: tuple[
        tuple[str, Check], ...
    ] = ()  # text of the test's check -> that check with this case's names filled in
    figures: tuple[FigureSpec, ...] = ()  # in place of the test's of the same name, for the same reason
    needs: tuple[Need, ...] = ()
    sides: Pairs = ()  # row -> low or high: of these rows only that bound applies, a more specific row has the other
    container: str = (
        ""  # the image that its programs run in, with its sha256 and what starts it; "" where there is none
    )


class Test(Struct, frozen=True):
    """The data that all cases of a test share: checks and figures. ``draws``: names of the pictures that the report can make."""

    __test__: ClassVar[bool] = False  # it is no class of tests, whatever pytest makes of its name

    name: str
    about: str = ""
    checks: tuple[Check, ...] = ()
    figures: tuple[FigureSpec, ...] = ()
    draws: tuple[str, ...] = ()  # matrix, histogram, io, nodes: JSON records in the output that the report draws
    tags: tuple[str, ...] = ()
    path: str = ""
    scaling: Scaling | None = None

    def of(self, case: Case) -> Test:
        """The test as a case has it: its names filled in, without what checks other toolchains; else the same object."""
        own, measured = dict(case.checks), {figure.name: figure for figure in case.figures}
        kept = tuple(own.get(check.text, check) for check in self.checks if check.toolchain in ("", case.toolchain))
        if len(kept) == len(self.checks) and not own and not measured:
            return self
        return replace(self, checks=kept, figures=tuple(measured.get(figure.name, figure) for figure in self.figures))


# ---- plans -----------------------------------------------------------------------------------------------------------


class Retry(Struct, frozen=True):
    """How often one wanted result is attempted again after a verdict, and the first wait (it doubles each time)."""

    verdict: str
    times: int
    backoff_s: float = 0.0


class Mode(Struct, frozen=True):
    """A way to run the cases of a performance component (004 IV.D).

    ``isolated``: one run at a time on an otherwise idle machine. ``fill``: ``copies`` of one case at once, as many as fill the
    machine where it is 0; only runs that overlap fully with a full machine count. ``warm_up`` results of each case are run
    first and count nowhere. ``overlap`` is the least share of a run's time that the machine must have been so.
    """

    name: Literal["isolated", "fill"]
    repeats: int = 1
    warm_up: int = 0
    copies: int = 0
    overlap: float = 0.95


class Procedure(Struct, frozen=True):
    """A procedure that people carry out and attest, with evidence files (004 III.A). ``who``: the party that does it."""

    name: str
    about: str = ""
    who: str = ""
    evidence: int = 0  # the fewest files that an attestation must bring
    clause: str = ""


class Drill(Struct, frozen=True):
    """Something that a person, or a test, does to the machine while a component keeps it busy (000 III.C, 002 IV).

    ``at_s``: of the component's clock. ``case``: of the test that does it by itself; "" where a person does. ``who``: the party
    that does it; ``evidence``: the fewest files that come with the word on its end. ``settle_s``: for how long after its end the
    load is looked at. What is expected, each None where it is not asked: ``lost``, the most runs; ``hole_s``, the longest time
    without progress; ``back_s``, from its begin until the load is back. ``written``: these bounds as a person wrote them.
    """

    name: str
    at_s: float
    about: str = ""
    who: str = ""
    case: str = ""
    evidence: int = 0
    settle_s: float = 600.0
    lost: int | None = None
    hole_s: float | None = None
    back_s: float | None = None
    clause: str = ""
    written: tuple[tuple[str, str], ...] = ()


class Component(Struct, frozen=True):
    """A part of the plan: which cases, how often each, in which order, and what they must satisfy.

    ``repeats`` of each case are wanted, or of each mode what it says; or, where ``duration_s`` is not 0, runs in the proportions
    of ``mix`` (test -> share of the node-hours) until that time has passed since its first order. ``gate``: what a
    component in ``after`` must be before this one begins: over, or over and met (or waived).
    ``fillers``: cases that take nodes which the mix leaves idle; they are no work of the contract. ``limits``: of this component
    alone, beside those of the plan. ``stop_after``: a case that fails so often in a row is ordered no more, 0 = never.
    ``set_up``: cases that come before all others, once each, and must pass; ``clean_up``: after all others, whatever came out.
    """

    name: str
    kind: Literal["vendor", "functionality", "performance", "stability", "site", "scores"]
    cases: tuple[str, ...]
    repeats: int = 1
    after: tuple[str, ...] = ()  # components that must be over first
    criteria: tuple[Criterion, ...] = ()
    retry: tuple[Retry, ...] = ()
    modes: tuple[Mode, ...] = ()
    procedures: tuple[Procedure, ...] = ()
    gate: Literal["over", "met"] = "over"
    duration_s: float = 0.0
    mix: Loads = ()
    about: str = ""
    fillers: tuple[str, ...] = ()
    limits: Limits = field(default_factory=lambda: Limits())
    fill: Fill = field(default_factory=Fill)
    windows: tuple[Window, ...] = ()
    yields: tuple[Yield, ...] = ()
    clock: ClockTerms = field(default_factory=ClockTerms)
    phases: tuple[Phase, ...] = ()
    sweep: Sweep | None = None
    pack: Pack | None = None
    stop_after: int = 0
    ladder: Ladder | None = None  # of its cases only the sizes run that tell from which on its tests fail
    set_up: tuple[str, ...] = ()
    clean_up: tuple[str, ...] = ()
    drills: tuple[Drill, ...] = ()
    deadline: float | None = (
        None  # when it is to be over, in seconds since 1970; only the measure ``late`` judges by it
    )

    @property
    def every_case(self) -> tuple[str, ...]:
        """All cases that the component runs: its own cases, fillers, set-ups, clean-ups and drills."""
        drills = (drill.case for drill in self.drills if drill.case)
        return (*self.cases, *self.fillers, *self.set_up, *self.clean_up, *drills)


class Limits(Struct, frozen=True):
    """Policy of the whole campaign, or of one component. ``copies``: how many cases of a test at once; ``budgets`` narrow the
    system's. ``stagger_s``: between two runs of one test that may start.

    Of the campaign alone: ``queued``, the most jobs known to the scheduler at once, 0 leaves the choice to the engine;
    ``builds`` at once; ``exclude_after``: a node that failed so many runs is given no more, 0 = never; ``observed``: numbers that
    narrow budgets.
    """

    copies: tuple[tuple[str, int], ...] = ()
    budgets: Loads = ()
    queued: int = 0
    builds: int = 2
    stagger_s: float = 0.0
    exclude_after: int = 0
    observed: tuple[Observe, ...] = ()


class Party(Struct, frozen=True):
    """One side of the contract. ``people``: names that speak for it; ``keys``: their public SSH keys, as type and key.

    Where a party has keys its word is a signature by one of them: anybody can write a name.
    """

    name: str
    people: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()


class Source(Struct, frozen=True):
    """A file that the document was made from, with the digest of its content."""

    path: str
    sha256: str


class Document(Struct, frozen=True):
    """The frozen plan with everything that a campaign needs, resolved. Its digest is its identity.

    ``unavailable``: refuse, or restrict where a person said that it may start without the cases that cannot run; "" in documents of
    older versions, which started without asking. ``ad_hoc``: the options of ``run`` that chose its tests, where no plan's file did.
    """

    plan: str
    system: System
    components: tuple[Component, ...]
    cases: tuple[Case, ...]
    tests: tuple[Test, ...]
    builds: tuple[Build, ...] = ()
    limits: Limits = field(default_factory=Limits)
    about: str = ""
    seed: int = 0
    sources: tuple[Source, ...] = ()
    contracts: tuple[Contract, ...] = ()
    schema: int = SCHEMA
    failures: tuple[FailureClass, ...] = ()  # the site's own; those of the package come with the package
    unavailable: str = ""
    record_environment: tuple[str, ...] = ()  # names of variables that a site has stored beside the usual ones
    parties: tuple[Party, ...] = ()  # who must agree to what people do; () where the plan names nobody
    scores: tuple[Score, ...] = ()  # those with a bound are criteria of the component named scores
    consent: tuple[str, ...] = ()  # kinds of acts without effect on the outcome until every party agreed
    ad_hoc: str = ""
    baselines: tuple[Baseline, ...] = ()  # what criteria on a change are held against
    issues: tuple[str, ...] = ()  # severities whose open issues restrict the acceptance
