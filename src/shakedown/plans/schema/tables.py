"""Every key of every file that people write. Reading, errors, JSON Schema and the reference are made from these tables."""

from __future__ import annotations

from shakedown.model.dialects import dialects
from shakedown.plans.components.budgets import BUDGET
from shakedown.plans.schema.cluster_words import submission_option
from shakedown.plans.schema.containers import CONTAINERS
from shakedown.plans.schema.contract import CONTRACT
from shakedown.plans.schema.failures import FAILURES
from shakedown.plans.schema.plan import PLAN
from shakedown.plans.schema.records import Key, ListOf, MapOf, Record
from shakedown.plans.schema.rehearsal import REHEARSAL, TWIN
from shakedown.plans.schema.scalars import Choice, Duration, Identifier, Name, Parsed, Text, Whole, Word
from shakedown.plans.schema.software import software_keys
from shakedown.plans.schema.system import ASSUMED, FILESYSTEM, FREE, NETWORK, NODE_TYPE, PUBLISHED
from shakedown.plans.schema.test import BUDGET_NAME, NO_CREDENTIALS, TEST, mpi_word

SITE = Record(
    "a map of keys",
    {
        "site": Key(Name("the site's name"), "what the site is called", True),
        "about": Key(Text(), "a sentence for people"),
        "record_environment": Key(
            ListOf(
                Word("a variable's name, or its beginning and '*'", r"[A-Za-z_][A-Za-z0-9_]*\*?", "as PROJECT_*"),
                "a list of names",
            ),
            "variables of the environment that the record keeps beside the usual ones; none that looks like a credential",
        ),
        "allowed_signers": Key(
            Text("a path from the site's directory"),
            "the file of keys whose signatures under a seal verify takes as known",
        ),
    },
)

_OPTIONS = ListOf(
    Parsed("an option of sbatch in one word, such as --account=NAME", submission_option), "a list of options"
)

_PARTITION = Record(
    "a map with nodes and type",
    {
        "nodes": Key(Text("a node set, such as n[001-128]"), "the nodes, as a folded node set", True),
        "type": Key(Name("a node type"), "which of node_types they are", True),
        "time_limit": Key(Duration(), "the longest that the scheduler lets a job run there"),
        "most_nodes": Key(Whole(1), "the most nodes that one job may take there; without it all"),
        "options": Key(_OPTIONS, "words for each submission there, after the cluster's"),
    },
)

_PATIENCE = Record(
    "a map of durations",
    {
        "poll": Key(Duration(), "how often the scheduler is asked; without it 5s"),
        "grace": Key(
            Duration(), "a submission in doubt is replaced when no source knows it for so long; without it 60s"
        ),
        "lost_after": Key(Duration(), "a job that every source forgot is lost after this; without it 30min"),
        "no_answer": Key(Duration(), "a job that no source answers for is lost after this; without it 1d"),
        "dead_after": Key(
            Duration(), "a job declared dead is believed dead so long after its time limit; without it 5min"
        ),
    },
)

_CLUSTER = Record(
    "a map with scheduler and partitions",
    {
        "scheduler": Key(
            Choice(tuple(dialects())),
            "who runs the jobs: local (this machine), slurm, or the scheduler of an installed package",
            True,
        ),
        "options": Key(_OPTIONS, "words for each submission: an account, a QOS, a reservation"),
        "licences": Key(
            MapOf(BUDGET_NAME, Whole(1), "whole numbers by licence", "LICENCE"),
            "what the scheduler itself hands out, and how much of it there is; each is a budget too",
        ),
        "most_jobs": Key(Whole(1), "the most jobs of ours that it lets be queued and running at once"),
        "patience": Key(_PATIENCE, "how often it is asked, and how long before silence is believed"),
        "partitions": Key(
            MapOf(Name("a partition's name"), _PARTITION, "a map of partitions", "PARTITION"),
            "where jobs are sent to",
            True,
        ),
    },
)

_TOOLCHAIN = Record(
    "a map that describes a toolchain",
    {
        **software_keys(templated=False),
        "cc": Key(Text("a compiler"), "the C compiler; without it cc"),
        "cxx": Key(Text("a compiler"), "the C++ compiler; without it c++"),
        "fc": Key(Text("a compiler"), "the Fortran compiler; without it fc"),
        "environment": Key(
            MapOf(Identifier("a variable"), Text(), "variables of the environment", "VARIABLE"),
            "variables that builds and runs get",
        ),
        "mpi": Key(
            Parsed("whose MPI, such as mpich or openmpi", mpi_word),
            "whose MPI it builds with: mpich, openmpi, intel, cray, mvapich (which srun starts with pmi2); without it as found",
        ),
    },
)

SYSTEM = Record(
    "a map of keys",
    {
        "system": Key(Name("the system's name"), "what the system is called; tests and plans name it", True),
        "about": Key(Text(), "a sentence for people"),
        "no_credentials": NO_CREDENTIALS,
        "clusters": Key(
            MapOf(Name("a cluster's name"), _CLUSTER, "a map of clusters", "CLUSTER"),
            "schedulers and their partitions",
            True,
        ),
        "node_types": Key(
            MapOf(Name("a node type's name"), NODE_TYPE, "a map of node types", "TYPE"),
            "what the nodes are; expressions take node.cores and the like from here",
            True,
        ),
        "network": Key(NETWORK, "what connects the nodes; free keys beside those below are for the report"),
        "filesystems": Key(
            MapOf(Name("a file system's name"), FILESYSTEM, "a map of file systems", "FILESYSTEM"), "file systems"
        ),
        "toolchains": Key(
            MapOf(Name("a toolchain's name"), _TOOLCHAIN, "a map of toolchains", "TOOLCHAIN"),
            "how programs are built; the first is taken where a test names none",
        ),
        "containers": Key(CONTAINERS, "how containers are started; without it by the first runtime that is found"),
        "budgets": Key(
            MapOf(BUDGET_NAME, BUDGET, "amounts by name", "BUDGET"),
            "how much there is of what tests share, in all or on each target; tests say what they load",
        ),
        "fingerprint": Key(
            MapOf(Identifier("a fact's name"), Text("a shell command"), "commands by name", "FACT"),
            "shell commands whose output belongs to a node's fingerprint, such as a firmware's version",
        ),
        "found": Key(MapOf(FREE, Text(), "free keys with text", "WORD"), "the machine as found, for the report"),
        "published": Key(
            PUBLISHED, "numbers that documents print of the machine, held against this file by show system"
        ),
        "assumed": Key(
            ASSUMED, "numbers of this file that no source prints: the key, such as node_types.knl.clock, and why"
        ),
        "twin": TWIN,
    },
)

TABLES: dict[str, Record] = {
    "site": SITE,
    "system": SYSTEM,
    "test": TEST,
    "plan": PLAN,
    "contract": CONTRACT,
    "failures": FAILURES,
    "rehearsal": REHEARSAL,
}
