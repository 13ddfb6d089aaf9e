"""The cases of one test on one system: everything substituted but ``{build}`` and ``{campaign}``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from shakedown.model.errors import did_you_mean
from shakedown.model.nouns import Case, Pairs, Shape, Test, Toolchain
from shakedown.model.units import Quantity, parse_duration
from shakedown.plans.amounts import check_dimension, known_amount, show_amount
from shakedown.plans.availability import missing_programs, missing_tools, too_large
from shakedown.plans.build_keys import build_for, build_plan, compilers_of, with_modules
from shakedown.plans.combinations import WrongAt, check_names, combinations
from shakedown.plans.context import Context
from shakedown.plans.evidence import input_files, test_noun
from shakedown.plans.expressions import ExpressionError, fill, number
from shakedown.plans.kinds import Wrong
from shakedown.plans.library import Definition
from shakedown.plans.places import key_place, place
from shakedown.plans.stages import Names, Stage

_SHAPE = ("nodes", "tasks_per_node", "cpus_per_task")
_KERNEL_TOOLS = ("make", "mpicc")


@dataclass(frozen=True, slots=True)
class Resolved:
    """A test with its cases on one system."""

    test: Test
    cases: tuple[Case, ...]


def resolve(test: Definition, context: Context) -> Resolved | None:
    """Purpose: the noun and the cases of a good test, or None where the context's problems have grown."""
    before = len(context.problems)
    noun = test_noun(test, context.library, context.around, context.problems)
    check_names(test, context.problems)
    maker = _Maker(test, context)
    if len(context.problems) > before:
        return None
    cases = maker.cases()
    return Resolved(noun, tuple(cases)) if len(context.problems) == before else None


class _Maker:
    """Makes the cases of one test. ``at`` is the path of the value in hand: where an error is shown."""

    def __init__(self, test: Definition, context: Context) -> None:
        self.test, self.context, self.values, self.run = test, context, test.values, test.values["run"]
        self.at: tuple[str | int, ...] = ()
        self.small = ""  # why the node of the case in hand is too small
        self.build = build_plan(test, context) if "build" in self.values else None
        self.files: Pairs = ()
        self.missing: list[str] = []
        if "files" in self.run:
            self.files, absent = input_files(test, context.library, context.around, context.problems)
            self.missing = [f"{absent} is not on this machine"] if absent else []
        if "nodes" in self.run:
            self.check_systems()

    def cases(self) -> list[Case]:
        cases: list[Case] = []
        try:
            for stage, reason in self.stages():
                self.at = ("parameters",)
                for combination in combinations(self.test, stage.names):
                    cases.append(self.case(stage, combination, reason))
            if len({case.id for case in cases}) < len(cases):
                self.at = ("parameters",)
                raise Wrong("two cases have the same id", "values that hold ',' and '=' can look like two parameters")
        except (ExpressionError, Wrong) as error:
            path = error.path if isinstance(error, WrongAt) else self.at
            label = ".".join(step for step in path if isinstance(step, str))
            self.context.problems.at(place(self.test.root, *path), f"{label}: {error}", _hint(error))
        return cases

    def stages(self) -> list[tuple[Stage, str]]:
        """Where it runs, and why it cannot run there. A test of other systems' partitions has cases that cannot run here."""
        every = self.context.stages
        wanted = self.values.get("where", {}).get("partitions")
        if wanted is None:
            return [(stage, "") for stage in every]
        others = self.context.elsewhere
        known = others.partitions | {n for stage in every for n in (stage.partition.name, stage.id)}
        for position, name in enumerate(wanted):
            if not others.may_have(name, known):
                self.at = ("where", "partitions", position)
                raise Wrong(f"there is no partition '{name}'", did_you_mean(name, known) or _has("there are", known))
        here = [(stage, "") for stage in every if stage.partition.name in wanted or stage.id in wanted]
        system = self.context.machine.system.name
        return here or [(every[0], f"system {system} has no partition {' or '.join(wanted)}")]

    def case(self, stage: Stage, combination: dict[str, str], reason: str) -> Case:
        """One case. What it lacks is said in ``unavailable``."""
        toolchain, absent = self.toolchain(combination)
        ident = self.test.name
        if combination:
            ident += "/" + ",".join([f"{name}={value}" for name, value in combination.items()])
        expect, because = self.expected(stage, combination)
        if absent or reason:
            given = "; ".join([text for text in (reason, absent) if text])
            name = combination.get("toolchain", "")
            return Case(
                ident + stage.suffix, self.test.name, stage.id, name, tuple(combination.items()), unavailable=given
            )
        self.small = ""
        names = self.names(stage, combination, toolchain)
        shape = self.shape(stage, names)
        loads = self.loads(names) if "loads" in self.values else ()
        build = self.build_key(toolchain, names)
        script = with_modules(toolchain, self.fill(("run", "command"), self.run["command"], names).rstrip())
        environment = self.environment(names)
        reasons = self.reasons(stage, shape, toolchain, names)
        return Case(
            id=ident + stage.suffix,
            test=self.test.name,
            partition=stage.id,
            toolchain=toolchain.name if toolchain else "",
            parameters=tuple(combination.items()),
            shape=shape,
            script=script,
            environment=environment,
            build="" if reasons else build,
            loads=loads,
            unavailable="; ".join(reasons),
            expect=expect,
            because=because,
            files=self.files,
        )

    # ---- names -------------------------------------------------------------------------------------------------------

    def names(self, stage: Stage, combination: dict[str, str], toolchain: Toolchain | None) -> Names:
        pending: dict[str, str | None] = {
            **{name: self.written(name) for name in _SHAPE},
            "ranks": "{nodes * tasks_per_node}",
            "cores": "{tasks_per_node * cpus_per_task}",
            "launch": stage.launch,
        }
        names = Names(stage.names, pending)
        names["campaign"] = "{campaign}"
        if self.build is not None:
            names["build"] = "{build}"
        if toolchain is not None:
            names["toolchain"] = toolchain.name
            pending.update(self.context.toolchains[toolchain.name][1])
        names.update(combination)
        return names

    def written(self, name: str) -> str:
        """A number of the shape as written. Where it is not, a parameter of that name is meant, or 1."""
        written = self.run.get(name)
        if written is None:
            return f"{{{name}}}" if name in self.values.get("parameters", ()) else "1"
        if not isinstance(written, dict):
            return str(written)
        system = self.context.machine.system.name
        name = system if system in written else "default"
        if name not in written:
            self.at = ("run", "nodes")
            raise Wrong(f"there is no number for system {system}", "add 'default: N'")
        return str(written[name])

    def check_systems(self) -> None:
        """A system that no file describes is a misspelt one."""
        written = self.run["nodes"]
        known = self.context.elsewhere.systems | {self.context.machine.system.name, "default"}
        for name in written if isinstance(written, dict) else ():
            if not self.context.elsewhere.may_have(name, known) and not self.test.shipped:
                hint = did_you_mean(name, known) or _has("there are", known)
                at = key_place(self.test.root, "run", "nodes", name)
                self.context.problems.at(at, f"there is no system '{name}'", hint)

    def toolchain(self, combination: dict[str, str]) -> tuple[Toolchain | None, str]:
        """The toolchain of a case, and why there is none where one is wanted."""
        known = self.context.toolchains
        name = combination.get("toolchain")
        if name is None:
            first = next(iter(known.values()), None) if self.build is not None else None
            return (first[0], "") if first else (None, "")
        if name in known:
            return known[name][0], ""
        others = self.context.elsewhere
        if not others.may_have(name, others.toolchains) and not self.test.shipped:
            self.at = self.parameter_place("toolchain", name)
            every = {*known, *others.toolchains}
            raise Wrong(f"no system has a toolchain '{name}'", did_you_mean(name, every) or _has("there are", every))
        return None, f"system {self.context.machine.system.name} has no toolchain {name}"

    def parameter_place(self, parameter: str, value: str) -> tuple[str | int, ...]:
        """Where a parameter's value was written; the parameter itself where an expression made it."""
        written = self.values["parameters"][parameter]
        known = isinstance(written, list) and value in written
        return ("parameters", parameter, written.index(value)) if known else ("parameters", parameter)

    # ---- values ------------------------------------------------------------------------------------------------------

    def fill(self, at: tuple[str | int, ...], text: str, names: Names) -> str:
        self.at = at
        return fill(text, names)

    def build_key(self, toolchain: Toolchain | None, names: Names) -> str:
        if self.build is None:
            return ""
        self.at = ("build", "run")
        return build_for(self.build, toolchain, names, self.context).key

    def whole(self, name: str, names: Names) -> int:
        """A number of the shape; its text may hold expressions. Less than 1 is a node too small, not an error."""
        self.at = ("run", name)
        value = number(self.written(name) if name in names else str(names[name]), names)
        if value != int(value):
            raise Wrong(f"{value:g} is not a whole number", "// divides without a remainder")
        if value < 1:
            self.small = f"{name} comes out as {value:g} on a node of this partition"
        names[name] = whole = max(1, int(value))
        return whole

    def shape(self, stage: Stage, names: Names) -> Shape:
        nodes = self.whole("nodes", names)
        cpus, tasks = self.whole("cpus_per_task", names), self.whole("tasks_per_node", names)
        limit = self.run.get("time_limit", 600.0)
        if isinstance(limit, str):
            limit = self.parsed(("run", "time_limit"), limit, names, parse_duration)
        exclusive = self.run.get("exclusive", False)
        units = nodes if not stage.local else stage.node.cores if exclusive else tasks * cpus
        return Shape(nodes, tasks, cpus, units, exclusive, limit)

    def parsed(self, at: tuple[str | int, ...], text: str, names: Names, parse: Any) -> Any:
        """A value whose text holds expressions, read once they are filled in."""
        filled = self.fill(at, text, names)
        try:
            return parse(filled)
        except Wrong:
            raise
        except ValueError as error:
            raise Wrong(str(error)) from error

    def environment(self, names: Names) -> Pairs:
        written = self.run.get("environment")
        if not written:
            return ()
        return tuple((name, self.fill(("run", "environment", name), text, names)) for name, text in written.items())

    def loads(self, names: Names) -> tuple[tuple[str, float], ...]:
        """What a run takes of the budgets that this system has; those of other systems do not bind it."""
        loads = []
        for name, written in self.values["loads"].items():
            at = ("loads", name)
            amount = self.parsed(at, written, names, known_amount) if isinstance(written, str) else written
            self.at = at
            if self.check_load(name, amount):
                loads.append((name, amount.base))
        return tuple(loads)

    def check_load(self, name: str, amount: Quantity) -> bool:
        known, others = self.context.budgets, self.context.elsewhere
        if name not in known:
            if others.may_have(name, others.budgets) or self.test.shipped:
                return False
            every = {*known, *others.budgets}
            raise Wrong(f"no system has a budget '{name}'", did_you_mean(name, every) or _has("there are", every))
        most, dimension = known[name]
        check_dimension(amount, dimension, "the budget")
        if amount.base > most:
            raise Wrong(
                f"one run takes {amount}, and the budget is {show_amount(most, dimension)}", "it could never run"
            )
        return True

    def expected(self, stage: Stage, combination: dict[str, str]) -> tuple[str, str]:
        """The first expectation that speaks of this case."""
        if "expect" not in self.values:
            return "", ""
        system = self.context.machine.system.name
        facts = {"system": system, "partition": stage.partition.name, **combination}
        for position, entry in enumerate(self.values["expect"]):
            self.at = ("expect", position, "where")
            wanted = {name: fill(text, stage.names) for name, text in entry.get("where", {}).items()}
            if wanted.items() <= facts.items():
                return entry["verdict"], entry["because"]
        return "", ""

    def reasons(self, stage: Stage, shape: Shape, toolchain: Toolchain | None, names: Names) -> list[str]:
        """Why it cannot run here. What is installed can only be told of the machine we are on."""
        reasons = [text for text in (self.small, too_large(shape, stage)) if text]
        if not stage.local:
            return reasons
        around, build = self.context.around, self.build
        reasons += missing_programs(self.values.get("needs", {}), around)
        tools = ["mpiexec"] if names.used("launch") else []
        if build is not None and build.kernel:
            tools += _KERNEL_TOOLS
        if build is not None and toolchain is not None:
            tools += compilers_of(build, toolchain, names)
        elif build is not None and build.kernel:
            tools.append("cc")
        return [*reasons, *missing_tools(tools, around), *self.missing]


def _hint(error: ExpressionError | Wrong) -> str | None:
    """Names that other tests have deserve better than a list of those that this one has."""
    unknown = getattr(error, "unknown", "")
    if unknown == "build":
        return "the test has no 'build'"
    if unknown.split(".")[0] == "toolchain" and unknown.partition(".")[2] in ("", "cc", "cxx", "fc"):
        return "give the test a parameter 'toolchain', or a build"
    return error.hint


def _has(words: str, known: Any) -> str:
    return f"{words}: {', '.join(sorted(known)) or 'none'}"
