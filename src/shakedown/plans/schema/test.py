"""Every key of a test's file."""

from __future__ import annotations

import re
from typing import Any

from yaml.nodes import Node, ScalarNode, SequenceNode

from shakedown.model.errors import did_you_mean
from shakedown.model.events import UNDETERMINED, VERDICTS
from shakedown.plans.credentials import LONGEST_PARAMETER
from shakedown.plans.schema.amounts import known_amount
from shakedown.plans.schema.check_items import CheckItem
from shakedown.plans.schema.containers import CONTAINER
from shakedown.plans.schema.figures import FIGURE
from shakedown.plans.schema.needs import needs_of
from shakedown.plans.schema.other_words import RUN_WORDS, TEST_WORDS, in_its_place
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.records import Either, Key, ListOf, MapOf, Record
from shakedown.plans.schema.resources import RESOURCES
from shakedown.plans.schema.scalars import (
    Choice,
    Duration,
    Identifier,
    InvalidValue,
    Name,
    Parsed,
    ShellLines,
    Text,
    Whole,
    Word,
    YesNo,
)
from shakedown.plans.schema.software import SOFTWARE
from shakedown.plans.schema.yaml_nodes import shape

AMOUNT = "a number with its unit, such as 4 GB/s, or a plain number"
BUDGET_NAME = Name(
    "a budget's name", r"[A-Za-z0-9][A-Za-z0-9_.+/-]*", "use letters, digits, '_', '-', '.', '+' and '/'"
)
TEST_NAME = r"[A-Za-z0-9][A-Za-z0-9_.+-]*"


def _figure_name(text: str) -> str:
    if text == "elapsed":
        raise InvalidValue("'elapsed' is always there: the run time in seconds", "choose another name")
    return text


class _FigureName(Name):
    def convert(self, text: str) -> str:
        return _figure_name(super().convert(text))


def _parameter(text: str) -> str:
    if len(text) > LONGEST_PARAMETER:
        raise InvalidValue(f"a parameter's value of {len(text)} characters", f"{LONGEST_PARAMETER} are the most")
    if not text.isprintable():
        raise InvalidValue("a parameter's value is a short line of printable text")
    return text


class _ParameterValue(Text):
    def __init__(self) -> None:
        super().__init__("text or a number", templated=True)

    def convert(self, text: str) -> str:
        return _parameter(text)


class _ParameterName(Identifier):
    """The name of a parameter. It is used in expressions, so it cannot be a name that already has a meaning."""

    def __init__(self) -> None:
        super().__init__("a parameter")

    def convert(self, text: str) -> str:
        if text in _MEANT:
            raise InvalidValue(
                f"'{text}' has a meaning of its own in expressions", "choose another name for the parameter"
            )
        return super().convert(text)


class _ParameterValues(Either):
    """One value or a list of them. Numbers with commas and blanks between them are a list without its brackets."""

    def read(self, node: Node, label: str, problems: Problems) -> Any:
        if isinstance(node, ScalarNode) and not node.style and _NUMBERS.fullmatch(node.value):
            hint = f"write [{node.value.replace(';', ',')}] for a list; one text is put in quotes: '{node.value}'"
            problems.at(node, f"{label}: '{node.value}' is one value", hint)
            return None
        return super().read(node, label, problems)


_NUMBERS = re.compile(r"[+-]?[\d.]+(?:\s*[,;]\s+[+-]?[\d.]+)+")
_MEANT = frozenset({"system", "partition", "launch", "container", "build", "campaign", "ranks", "cores"})
_VALUE = _ParameterValue()
_SOME = MapOf(Identifier("a parameter"), _VALUE, "parameters and their values", "PARAMETER")

_NEEDS = needs_of(Name("a test's name", TEST_NAME), _VALUE)

_BUILD = Record(
    "a map that says what is built",
    {
        "source": Key(Text("a directory"), "directory with the source, from this file; it is copied"),
        "kernel": Key(
            Name("a kernel's name"), "one of the kernels that come with the package, instead of source and run"
        ),
        "run": Key(ShellLines(), "shell lines that build it, run in the copy"),
        "time_limit": Key(Duration(), "how long it may take; without it 30min"),
        "where": Key(
            Choice(("login", "job")),
            "login: on the machine that Shakedown runs on; job: in a Slurm job of its own; without it login",
        ),
        "partition": Key(Text("a partition"), "where that job goes; without it to the partition of the runs"),
        "cpus": Key(Whole(1), "how many cores that job takes; without it 1"),
    },
)


class _NoBuild(Choice):
    """The one word that a build may be, as where an extended test has a build."""

    def __init__(self) -> None:
        super().__init__(("none",))

    def convert(self, text: str) -> str:
        if text not in self.choices:
            hint = did_you_mean(text, self.choices) or f"write {{source: DIRECTORY, run: {text}}} for a build"
            raise InvalidValue(f"'{text}' is not {self.words}", hint)
        return super().convert(text)


class _Where(Record):
    """Where a test runs. One word, or a list, is meant as its partitions."""

    def read(self, node: Node, label: str, problems: Problems) -> dict[str, Any] | None:
        names = node.value if isinstance(node, ScalarNode) else _listed(node)
        if names:
            problems.at(
                node, f"{label} is {self.words}, not {shape(node)}", f"write {label}: {{partitions: [{names}]}}"
            )
            return None
        return super().read(node, label, problems)


def _listed(node: Node) -> str:
    items = node.value if isinstance(node, SequenceNode) else []
    return ", ".join(str(item.value) for item in items if isinstance(item, ScalarNode))


def mpi_word(text: str) -> str:
    """The name of an MPI, or a type for srun's ``--mpi``. Raises InvalidValue."""
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,40}", text):
        raise InvalidValue(
            f"'{text}' is no MPI", "mpich, openmpi, intel, cray or none; or a type that srun --mpi=list shows"
        )
    return text


LAUNCHER = Word(
    "a launcher", r"srun|(?:mpiexec|mpirun)(?:\.[A-Za-z0-9_]+)?", "it is srun, mpiexec or mpirun", templated=True
)
BINDING = Choice(("cores", "sockets", "numa", "none"), templated=True)
GPU_BINDING = Choice(("closest", "none"), templated=True)
_LAUNCH = Record(
    "a map that says how ranks are started",
    {
        "with": Key(LAUNCHER, "what starts them on a cluster: srun, mpiexec or mpirun; without it srun"),
        "mpi": Key(
            Parsed("whose MPI, such as mpich or openmpi", mpi_word, templated=True),
            "whose MPI the program has: mpich, openmpi, intel, cray, mvapich, none; or a type of srun's own, such as pmix_v4; "
            "without it that of the toolchain, else as found",
        ),
        "binding": Key(BINDING, "what each rank is bound to; without it nothing is said"),
        "gpu_binding": Key(
            GPU_BINDING,
            "which of the run's GPUs each rank has: closest to its cores, or none: all of them; without it srun's own way",
        ),
        "options": Key(ListOf(Text("an option", templated=True), "a list of options"), "more words for the launcher"),
    },
)

PLACE = Name("a file system's name", templated=True)
STAGE = Choice(("link", "copy", "per-target"), templated=True)
YES_NO = YesNo(templated=True)

_RUN = Record(
    "a map that says what is run",
    {
        "nodes": Key(
            Either(
                scalar=Whole(1, templated=True),
                keys=MapOf(Name("a system's name"), Whole(1, templated=True), "numbers by system", "SYSTEM"),
            ),
            "how many nodes; or a map from system to number, with 'default'; without it 1",
        ),
        "tasks_per_node": Key(Whole(1, templated=True), "processes (MPI ranks) on each node; without it 1"),
        "cpus_per_task": Key(Whole(1, templated=True), "cores for each of them; without it 1"),
        "exclusive": Key(
            YES_NO, "takes whole nodes, with nothing beside it; without it true on a cluster, false locally"
        ),
        **RESOURCES,
        "time_limit": Key(
            Duration(templated=True),
            "the run is ended after this; Slurm counts in minutes, and ends it up to two minutes later; without it 10min",
        ),
        "requeue": Key(YES_NO, "the scheduler may start it again by itself after a node failed; without it false"),
        "launch": Key(
            Either(scalar=LAUNCHER, keys=_LAUNCH), "what {launch} stands for: a launcher, or a map; without it srun"
        ),
        "trace": Key(
            YES_NO,
            "counts what the ranks that {launch} starts do in MPI and in files; 'shakedown trace' shows it; without it false",
        ),
        "container": Key(CONTAINER, "the image that {launch} and {container} start programs in; without it none"),
        "files": Key(
            ListOf(Text("a file"), "a list of files"), "input files, from this file; placed in the run's directory"
        ),
        "work": Key(
            Either(scalar=PLACE, keys=MapOf(Name("a system's name"), PLACE, "file systems by system", "SYSTEM")),
            "the file system that it works on, or campaign; or a map from system to one; without it that of the targets it loads",
        ),
        "stage": Key(
            STAGE,
            "how its files get there: linked, copied for each run, or placed once on each target; without it linked",
        ),
        "environment": Key(
            MapOf(Identifier("a variable"), Text(templated=True), "variables of the environment", "VARIABLE"),
            "variables that the run gets",
        ),
        "command": Key(ShellLines(), "what is run: a line or a block of shell lines"),
    },
    RUN_WORDS
    | in_its_place(
        ("check", "figures", "needs", "parameters", "tags", "build", "where"), "it stands beside run, not in it"
    ),
)

_EXPECT = Record(
    "a map with where, verdict and because",
    {
        "where": Key(_SOME, "parameters that the case has, or system or partition; without it every case"),
        "verdict": Key(Choice([one for one in VERDICTS if one != UNDETERMINED]), "the verdict that is expected", True),
        "because": Key(Text(), "why; the report shows it", True),
    },
)

NO_CREDENTIALS = Key(
    ListOf(
        Word("a word of four characters or more", r"\S{4,}", "name the whole word, without what is before it"),
        "a list of words",
        1,
    ),
    "words of this file that look like credentials and are none",
)

TEST = Record(
    "a map of keys",
    {
        "test": Key(Name("the test's name", TEST_NAME), "what the test is called", True),
        "about": Key(Text(), "a sentence for people"),
        "abstract": Key(YesNo(), "it is there to be extended and has no cases of its own; without it false"),
        "extends": Key(
            Name("a test's name", TEST_NAME), "a test whose keys this one takes over where it has none of its own"
        ),
        "tags": Key(ListOf(Name("a tag"), "a list of tags", once=True), "words that plans and lists select by"),
        "no_credentials": NO_CREDENTIALS,
        "needs": Key(
            _NEEDS,
            "a test that must pass before it, programs without which its cases are unavailable, or a list of such needs",
        ),
        "parameters": Key(
            MapOf(
                _ParameterName(),
                _ParameterValues(scalar=_VALUE, items=ListOf(_VALUE, "a list of values", 1, once=True)),
                "parameters and their values",
                "PARAMETER",
            ),
            "each combination of their values is a case; 'toolchain' names toolchains of the system",
        ),
        "exclude": Key(ListOf(_SOME, "a list of combinations"), "combinations that are left out"),
        "where": Key(
            _Where(
                "a map with partitions",
                {
                    "partitions": Key(
                        ListOf(Text("a partition"), "a list of partitions", 1, once=True), "partitions it runs on", True
                    )
                },
            ),
            "where it runs; without it on every partition",
        ),
        "software": SOFTWARE,
        "build": Key(Either(scalar=_NoBuild(), keys=_BUILD), "what is built before it can run; or none"),
        "run": Key(_RUN, "what one run is and takes"),
        "loads": Key(
            MapOf(
                BUDGET_NAME,
                Parsed(AMOUNT, known_amount, templated=True),
                "amounts by budget",
                "BUDGET",
            ),
            "what one run takes of the system's budgets",
        ),
        "check": Key(
            ListOf(CheckItem(), "a list of checks"),
            "what must hold when a run has ended; exit is 0 unless said otherwise",
        ),
        "check+": Key(ListOf(CheckItem(), "a list of checks"), "checks beside those of the extended test"),
        "figures": Key(
            MapOf(_FigureName("a figure's name"), FIGURE, "a map of figures", "FIGURE"), "numbers taken from a run"
        ),
        "scaling": Key(
            Record(
                "a map with along and kind",
                {
                    "along": Key(Identifier("a parameter's name"), "the parameter that grows", True),
                    "kind": Key(
                        Choice(("strong", "weak")), "strong: the work stays; weak: it grows as the size does", True
                    ),
                    "figure": Key(Name("a figure's name"), "what is looked at; without it elapsed"),
                    "work": Key(
                        Text("text", True), "the amount of work of a case, in any unit, where it grows otherwise"
                    ),
                },
            ),
            "how it scales: its cases along a parameter are held against each other",
        ),
        "draws": Key(
            ListOf(Choice(("matrix", "histogram", "io", "nodes")), "a list of pictures"),
            "records of the output that the report draws",
        ),
        "expect": Key(ListOf(_EXPECT, "a list of expectations"), "verdicts that are known before; they stay visible"),
    },
    TEST_WORDS | in_its_place(_RUN.keys, "write run: {{{}: ...}}"),
)
