"""Filling in what a test writes, for one case at a time: names, shape, environment, loads, expectations."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from shakedown.model.nouns import Pairs, Shape, Toolchain
from shakedown.model.units import Quantity
from shakedown.plans.braces import doubled
from shakedown.plans.cases.build_keys import Plan
from shakedown.plans.cases.combinations import Path
from shakedown.plans.cases.containers import Chooser, Container
from shakedown.plans.cases.launching import Launch, Launching, wish_from
from shakedown.plans.cases.needs import programs_needed
from shakedown.plans.cases.tracing import traced
from shakedown.plans.context import Context
from shakedown.plans.library import Definition
from shakedown.plans.partition_scopes import Names, Stage, toolchain_names
from shakedown.plans.schema.amounts import check_dimension, known_amount
from shakedown.plans.schema.expressions import fill, number
from shakedown.plans.schema.scalars import Duration, InvalidValue, near_or_all
from shakedown.plans.schema.source_positions import place
from shakedown.plans.schema.test import BINDING, GPU_BINDING, LAUNCHER, YES_NO, mpi_word

_SHAPE = ("nodes", "tasks_per_node", "cpus_per_task")
_MOST = 10**9  # nodes, ranks or cores: beyond any machine, and within what a frozen plan can hold
_DURATION = Duration()
_USUAL = toolchain_names(Toolchain(""))  # of a build on a system that has no toolchain
_OF_LAUNCH = {"binding": BINDING.convert, "gpu_binding": GPU_BINDING.convert, "mpi": mpi_word}


class Filler:
    """Fills in the values of one test. ``at`` is the path of the value in hand: where an error is to be shown.

    Every method raises ExpressionError or Wrong. ``small`` says why the node of the case in hand is too small, if it is.
    """

    def __init__(self, test: Definition, context: Context) -> None:
        self.test, self.context, self.values, self.run = test, context, test.values, test.values["run"]
        self.at: Path = ()
        self.small = ""
        self.mpi = ""  # that the test says the case in hand has
        texts = [self.run.get("command", ""), *self.run.get("environment", {}).values()]
        self.launches = any("launch" in text for text in texts)
        self.contains = "container" in self.run
        self.programs = [program for need in programs_needed(test) for program in need["programs"]]

    def names(self, stage: Stage, combination: dict[str, str], toolchain: Toolchain | None, built: bool) -> Names:
        """What expressions can name in one case. A parameter goes before a number of the shape of that name."""
        self.small = ""
        pending: dict[str, str | None] = {
            **{name: self._written(name) for name in _SHAPE},
            "gpus_per_task": self._written("gpus_per_task", "0"),
            "gpus_per_node": self._written("gpus_per_node", "{gpus_per_task * tasks_per_node}"),
            "ranks": "{nodes * tasks_per_node}",
            "cores": "{tasks_per_node * cpus_per_task}",
            "launch": stage.launch,
            **({"container": ""} if self.contains else {}),
        }
        names = Names(stage.names, pending)
        names["campaign"] = "{campaign}"
        if built:
            names["build"] = "{build}"
        if toolchain is not None:
            names["toolchain"] = toolchain.name
            pending.update(self.context.toolchains[toolchain.name][1])
        elif built:
            pending.update(_USUAL)
        names.update(combination)
        return names

    def text(self, at: Path, text: str, names: Names) -> str:
        self.at = at
        literal = doubled(text) if "{{" in text else ""
        if literal:
            raise InvalidValue(
                f"'{literal}' would become a directory of the campaign", "give the shell's variable another name"
            )
        return fill(text, names)

    def shape(self, stage: Stage, names: Names) -> Shape:
        """The nodes, tasks, cores and time that one run takes. Nodes, tasks per node and CPUs per task also go into ``names``."""
        nodes = self.whole("nodes", names)
        cpus, tasks = self.whole("cpus_per_task", names), self.whole("tasks_per_node", names)
        limit = self.run.get("time_limit", 600.0)
        if isinstance(limit, str):
            limit = self.parsed(("run", "time_limit"), limit, names, _DURATION.convert)
        exclusive = self._yes_no("exclusive", not stage.local, names)
        units = nodes if not stage.local else stage.node.cores if exclusive else tasks * cpus
        return Shape(nodes, tasks, cpus, units, exclusive, limit, self._yes_no("requeue", False, names))

    def traced(self, names: Names) -> bool:
        """Whether the tracer is preloaded into the ranks of this case."""
        return self.launches and self._yes_no("trace", False, names)

    def _yes_no(self, key: str, usual: bool, names: Names) -> bool:
        written = self.run.get(key, usual)
        return bool(self.parsed(("run", key), written, names, YES_NO.convert) if isinstance(written, str) else written)

    def launch(
        self,
        stage: Stage,
        shape: Shape,
        toolchain: Toolchain | None,
        build: Plan | None,
        names: Names,
        container: Container | None = None,
    ) -> Launch | None:
        """What ``{launch}`` stands for in this case; it is also put into ``names``. None where the test does not use it."""
        if not self.launches:
            return None
        wish = wish_from(
            self.run.get("launch"),
            lambda at, text: self.text(at, text, names),
            lambda at, text: self.parsed(at, text, names, _OF_LAUNCH.get(str(at[-1]), LAUNCHER.convert)),
        )
        self.mpi = wish.mpi
        launch = Launching(stage, shape, wish, toolchain, build, self.programs, self.context, container).choose()
        if self.traced(names):
            launch = traced(launch)
        names.pending["launch"] = _literal(launch.text)
        return launch

    def container(self, stage: Stage, names: Names, places: Iterable[str], here: bool) -> Container | None:
        """The container of this case, and what ``{container}`` stands for from here on; None where the test has none.

        ``places``: directories that it must see beside the run's own. ``here``: what this machine has tells what its nodes have.
        """
        if not self.contains:
            return None
        written, library = self.run["container"], self.context.library
        mark: Any = place(self.test.root, "run", "container").start_mark
        chooser = Chooser(
            written,
            self.context.machine.containers,
            self.context.around,
            lambda path: library.beside(mark.name, path),
            here,
        )
        found = chooser.choose(lambda at, text: self.text(at, text, names), places, self._look_at, stage.local)
        names.pending["container"] = _literal(found.words())
        return found

    def _look_at(self, at: Path) -> None:
        self.at = at

    def environment(self, stage: Stage, shape: Shape, toolchain: Toolchain | None, names: Names) -> Pairs:
        """Threads for each rank on a cluster, what the toolchain sets, and what the test says, which goes before."""
        written = self.run.get("environment", {})
        own = {name: self.text(("run", "environment", name), text, names) for name, text in written.items()}
        threads = {} if stage.local else {"OMP_NUM_THREADS": str(shape.cpus_per_task)}
        return tuple({**threads, **dict(toolchain.environment if toolchain else ()), **own}.items())

    def loads(self, names: Names) -> tuple[tuple[str, float], ...]:
        """The load of a run on each budget of this system; budgets of other systems are left out."""
        loads = []
        for name, written in self.values.get("loads", {}).items():
            at = ("loads", name)
            amount = self.parsed(at, written, names, known_amount) if isinstance(written, str) else written
            self.at = at
            if self._binds(name, amount):
                loads.append((name, amount.base))
        return tuple(loads)

    def expected(self, stage: Stage, combination: dict[str, str]) -> tuple[str, str]:
        """The verdict and the reason of the first expectation that matches this case."""
        facts = {"system": self.context.machine.system.name, "partition": stage.partition.name, **combination}
        for position, entry in enumerate(self.values.get("expect", ())):
            self.at = ("expect", position, "where")
            wanted = {name: fill(text, stage.names) for name, text in entry.get("where", {}).items()}
            if wanted.items() <= facts.items():
                return entry["verdict"], entry["because"]
        return "", ""

    def _written(self, name: str, usual: str = "1") -> str:
        """A number of the shape as written. Where it is not, a parameter of that name is meant, or the usual one."""
        written = self.run.get(name)
        if written is None:
            return f"{{{name}}}" if name in self.values.get("parameters", ()) else usual
        if not isinstance(written, dict):
            return str(written)
        system = self.context.machine.system.name
        key = system if system in written else "default"
        if key not in written:
            self.at = ("run", "nodes")
            raise InvalidValue(f"there is no number for system {system}", "add 'default: N'")
        return str(written[key])

    def whole(self, name: str, names: Names, least: int = 1) -> int:
        """A number of the shape; its text may hold expressions. Less than the least is a node too small, not an error."""
        self.at = ("run", name)
        value = number(self._written(name) if name in names else str(names[name]), names)
        if value != int(value):
            raise InvalidValue(f"{value:g} is not a whole number", "// divides without a remainder")
        if value > _MOST:
            raise InvalidValue(f"{value:g} is more than any machine has")
        if value < least:
            self.small = f"{name} comes out as {value:g} on a node of this partition"
        names[name] = whole = max(least, int(value))
        return whole

    def parsed(self, at: Path, text: str, names: Names, parse: Callable[[str], Any]) -> Any:
        """A value whose text holds expressions, read once they are filled in."""
        filled = self.text(at, text, names)
        try:
            return parse(filled)
        except InvalidValue:
            raise
        except ValueError as error:
            raise InvalidValue(str(error)) from error

    def _binds(self, name: str, amount: Quantity) -> bool:
        """Whether this system has the budget; a budget that no system has is an error."""
        known, others = self.context.budgets, self.context.elsewhere
        if name not in known:
            if others.may_have(name, others.budgets) or self.test.shipped:
                return False
            hint = near_or_all(name, {*known, *others.budgets})
            raise InvalidValue(f"no system has a budget '{name}'", hint, f"budget {name}")
        check_dimension(amount, known[name][1], "the budget")
        return True


def _literal(text: str) -> str:
    """Shell text that holds no expression, whatever braces are in it."""
    return text.replace("{", "{{").replace("}", "}}")
