"""The cases of one test on one system: everything substituted but ``{build}`` and ``{campaign}``."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path

from shakedown.model.nouns import Case, Pairs, Shape, Test, Toolchain
from shakedown.plans.cases.availability import missing_programs, missing_tools, over_budgets, over_limits, too_large
from shakedown.plans.cases.build_keys import build_for, build_plan, compilers_of, installation_for, why_not_built
from shakedown.plans.cases.combinations import Path as Steps
from shakedown.plans.cases.combinations import WrongAt, check_names, combinations
from shakedown.plans.cases.containers import Container
from shakedown.plans.cases.environment import Surroundings
from shakedown.plans.cases.evidence import golden_of, input_files, test_noun
from shakedown.plans.cases.figure_specs import without_peak
from shakedown.plans.cases.filling import Filler
from shakedown.plans.cases.launching import Launch
from shakedown.plans.cases.needs import check_needs, programs_needed, written_needs
from shakedown.plans.cases.own_evidence import own_evidence
from shakedown.plans.cases.references import Freezer
from shakedown.plans.cases.resources import asked, too_little, with_licences
from shakedown.plans.cases.scaling import with_scaling
from shakedown.plans.cases.shape_names import check_shape_names
from shakedown.plans.cases.software import loading, loads_software, with_software
from shakedown.plans.cases.tracing import check_trace, tracer_compiler, with_tracer
from shakedown.plans.cases.workplaces import workplace
from shakedown.plans.context import Context
from shakedown.plans.library import Definition
from shakedown.plans.mpi import on_login_node
from shakedown.plans.partition_scopes import Names, Stage
from shakedown.plans.schema.expressions import ExpressionError
from shakedown.plans.schema.scalars import InvalidValue, near_or_all
from shakedown.plans.schema.source_positions import key_place, place

_KERNEL_TOOLS = ("make", "mpicc")
_STARTS_INSIDE = re.compile(r"\{(launch|container)\}")


@dataclass(frozen=True, slots=True)
class Resolved:
    """A test with its cases on one system."""

    test: Test
    cases: tuple[Case, ...]


def resolve(test: Definition, context: Context, named: frozenset[str] = frozenset()) -> Resolved | None:
    """Purpose: the noun and the cases of a good test, or None where the context's problems have grown.

    ``named``: partitions that a plan names. A test that names none itself runs on those too, beside the usual ones.
    """
    before = len(context.problems)
    noun = test_noun(test, context.library, context.around, context.problems)
    check_names(test, context.problems)
    check_needs(test, context)
    _check_systems(test, context)
    maker = _Maker(test, noun, context, named)
    if len(context.problems) > before:
        return None
    cases = maker.cases()
    toolchains = list(dict.fromkeys(case.toolchain for case in cases if not case.unavailable))
    if toolchains and len(context.problems) == before:
        noun = golden_of(noun, test, toolchains, context.library, context.around, context.problems)
    if len(context.problems) == before:
        noun = with_scaling(noun, test, cases, maker.work, context.problems)
    return Resolved(noun, tuple(cases)) if len(context.problems) == before else None


def _check_systems(test: Definition, context: Context) -> None:
    """A system in ``run.nodes`` or ``run.work`` that no file describes is a misspelt one."""
    known = context.elsewhere.systems | {context.machine.system.name, "default"}
    for key in ("nodes", "work"):
        written = test.values["run"].get(key)
        if not isinstance(written, dict) or test.shipped:
            continue
        for name in written:
            if not context.elsewhere.may_have(name, known):
                at = key_place(test.root, "run", key, name)
                context.problems.at(at, f"there is no system '{name}'", near_or_all(name, known), f"system {name}")


def _check_stage(test: Definition, context: Context) -> None:
    given = any(need.get("files") for _, need in written_needs(test))
    if "stage" in test.values["run"] and "files" not in test.values["run"] and not given:
        at = key_place(test.root, "run", "stage")
        context.problems.at(at, "'stage' has no meaning without files", "files: what a run finds in its directory")


def _check_container(test: Definition, context: Context) -> None:
    """Report a container in which no program is started."""
    run = test.values["run"]
    if "container" not in run:
        return
    at = key_place(test.root, "run", "container")
    if not _STARTS_INSIDE.search(run.get("command", "")):
        hint = "write {launch} before a program with ranks, {container} before any other"
        context.problems.at(at, "the command starts nothing in the container", hint)
    if run.get("stage") == "per-target":
        context.problems.at(at, "a container cannot see files that lie on each target once", "stage: copy")


class _Maker:
    """Makes the cases of one test, one after another."""

    def __init__(self, test: Definition, noun: Test, context: Context, named: frozenset[str]) -> None:
        self.test, self.context, self.named, self.filler = test, context, named, Filler(test, context)
        self.noun = noun
        self.freezer = Freezer(test, context.library, context.around)
        self.build = build_plan(test, context) if "build" in test.values else None
        self.files: Pairs = ()
        self.absent: list[str] = []
        self.work: list[tuple[str, float]] = []  # (case, amount of work), where the test says how it grows
        _check_stage(test, context)
        _check_container(test, context)
        check_trace(test, context)
        if "files" in test.values["run"]:
            self.files, absent = input_files(test, context.library, context.around, context.problems)
            self.absent = [f"{absent} is not on this machine"] if absent else []

    def cases(self) -> list[Case]:
        """All cases of the test; after an error, which goes to the problems, only the cases before it."""
        cases: list[Case] = []
        try:
            for stage, reason in self._stages():
                for combination in self._combinations(stage):
                    cases.append(self._case(stage, combination, reason))
            if len({case.id for case in cases}) < len(cases):
                hint = "values that hold ',' and '=' can look like two parameters"
                raise WrongAt(("parameters",), "two cases have the same id", hint)
        except (ExpressionError, InvalidValue) as error:
            path = error.path if isinstance(error, WrongAt) else self.filler.at
            label = ".".join(step for step in path if isinstance(step, str))
            self.context.problems.at(place(self.test.root, *path), f"{label}: {error}", _hint(error), _about(error))
        return cases

    def _stages(self) -> list[tuple[Stage, str]]:
        """The partitions of the test's cases, each with why they cannot run there, or "". Partitions of other systems count too."""
        every, others = self.context.stages, self.context.elsewhere
        wanted = self.test.values.get("where", {}).get("partitions")
        if wanted is None:
            return [(stage, "") for stage in every if not stage.within or {stage.partition.name, stage.id} & self.named]
        known = others.partitions | {name for stage in every for name in (stage.partition.name, stage.id)}
        for position, name in enumerate(wanted):
            if not others.may_have(name, known):
                path = ("where", "partitions", position)
                raise WrongAt(path, f"there is no partition '{name}'", near_or_all(name, known), f"partition {name}")
        here = [(stage, "") for stage in every if stage.partition.name in wanted or stage.id in wanted]
        system = self.context.machine.system.name
        return here or [(every[0], f"system {system} has no partition {' or '.join(wanted)}")]

    def _combinations(self, stage: Stage) -> list[dict[str, str]]:
        self.filler.at = ("parameters",)
        return combinations(self.test, stage.names)

    def _case(self, stage: Stage, combination: dict[str, str], reason: str) -> Case:
        """Make one case; ``unavailable`` of the case says why it cannot run."""
        toolchain, absent = self._toolchain(combination)
        ident = _ident(self.test.name, combination) + stage.suffix
        parameters = tuple(combination.items())
        expect, because = self.filler.expected(stage, combination)
        if absent or reason:
            given, name = "; ".join(filter(None, (reason, absent))), combination.get("toolchain", "")
            return Case(ident, self.test.name, stage.id, name, parameters, unavailable=given)
        names = self.filler.names(stage, combination, toolchain, self.build is not None)
        own, toolchain = toolchain.name if toolchain else "", self._with_software(toolchain, names)
        shape = asked(self.filler, stage, self.filler.shape(stage, names), names)
        check_shape_names(self.filler, stage, ident, combination, shape)
        self._note_work(ident, names)
        loads = with_licences(self.filler, stage, names, self.filler.loads(names))
        place_of_work = workplace(self.filler, loads, names)
        container = self.filler.container(stage, names, self._seen_inside(), self._is_here(stage, toolchain))
        launch = self.filler.launch(stage, shape, toolchain, self.build, names, container)
        build = self._build_key(stage, toolchain, names)
        script = self.filler.text(("run", "command"), self.filler.run["command"], names).rstrip()
        environment = self.filler.environment(stage, shape, toolchain, names)
        checks, figures = own_evidence(self.noun, names, self._look_at, self.freezer)
        reasons = self._reasons(stage, shape, toolchain, names, launch if names.used("launch") else None)
        alone = self._is_here(stage, toolchain) and not names.used("launch")  # else it is among the launch's tools
        reasons += _why_no_container(container, alone, self.context.around)
        reasons += [*filter(None, (place_of_work.unavailable,)), *without_peak(self.noun.figures, names)]
        reasons += [*over_limits(shape, stage), *too_little(shape, stage), *over_budgets(loads, stage, self.context)]
        return Case(
            id=ident,
            test=self.test.name,
            partition=stage.id,
            toolchain=own,
            parameters=parameters,
            shape=shape,
            checks=checks,
            figures=figures,
            script=loading(toolchain, script),
            environment=environment,
            build="" if reasons else build,
            loads=loads,
            unavailable="; ".join(reasons),
            expect=expect,
            because=because,
            files=self.files,
            work=place_of_work.path,
            targets=place_of_work.targets,
            stage=place_of_work.stage,
            container=container.identity() if container else "",
        )

    def _note_work(self, ident: str, names: Names) -> None:
        """Record the amount of work of a case, in any unit, where the test says how it grows."""
        written = self.test.values.get("scaling", {}).get("work")
        if written is not None:
            text = self.filler.text(("scaling", "work"), written, names)
            try:
                amount = float(text)
            except ValueError:
                amount = 0.0
            if not 0 < amount < math.inf:
                raise InvalidValue(f"'{text}' is no amount of work", "a number above 0, such as '{n * n * n}'")
            self.work.append((ident, amount))

    def _with_software(self, toolchain: Toolchain | None, names: Names) -> Toolchain | None:
        """The toolchain, extended by the software that the test itself loads."""
        written = self.test.values.get("software", {})
        return with_software(toolchain, written, lambda at, text: self.filler.text(at, text, names))

    def _seen_inside(self) -> list[str]:
        """Directories that a container must see beside the run's own: those of linked input files, and of the build; the campaign,
        where files of other runs are handed on.
        """
        linked = self.test.values["run"].get("stage", "link") == "link"
        files = [Path(path) for _, path in self.files if linked]
        places = [str(place.parent) for path in files for place in (path, path.resolve())]
        handed = any(need.get("files") for _, need in written_needs(self.test))
        return [*(["{build}"] if self.build is not None else []), *(["{campaign}"] if handed else []), *places]

    def _is_here(self, stage: Stage, toolchain: Toolchain | None) -> bool:
        """Whether what this machine has tells what the case finds: software that is loaded first may bring anything."""
        if loads_software(toolchain):
            return False
        return stage.local or on_login_node(self.context.machine.system, self.context.around)

    def _look_at(self, path: Steps) -> None:
        self.filler.at = path

    def _toolchain(self, combination: dict[str, str]) -> tuple[Toolchain | None, str]:
        """The toolchain of a case, and why there is none where one is wanted. A build without one takes the system's first."""
        known, name = self.context.toolchains, combination.get("toolchain")
        if name is None:
            first = next(iter(known.values()), None) if self.build is not None else None
            return (first[0], "") if first else (None, "")
        if name in known:
            return known[name][0], ""
        others = self.context.elsewhere
        if not others.may_have(name, others.toolchains) and not self.test.shipped:
            hint = near_or_all(name, {*known, *others.toolchains})
            where, message = self._place_of("toolchain", name), f"no system has a toolchain '{name}'"
            raise WrongAt(where, message, hint, f"toolchain {name}")
        return None, f"system {self.context.machine.system.name} has no toolchain {name}"

    def _place_of(self, parameter: str, value: str) -> Steps:
        """Where a parameter's value was written; the parameter itself where an expression made it."""
        written = self.test.values["parameters"][parameter]
        known = isinstance(written, list) and value in written
        return ("parameters", parameter, written.index(value)) if known else ("parameters", parameter)

    def _build_key(self, stage: Stage, toolchain: Toolchain | None, names: Names) -> str:
        plan = self.build
        if self.filler.traced(names):
            plan = with_tracer(plan, self._tracer_compiler(toolchain), self.context)
        if plan is None:
            installs = toolchain is not None and toolchain.spack.install
            return installation_for(toolchain, self.context).key if toolchain and installs else ""
        self.filler.at = ("build", "run")
        return build_for(plan, stage, toolchain, names, self.context).key

    def _tracer_compiler(self, toolchain: Toolchain | None) -> str:
        return tracer_compiler(self.build, toolchain, self.filler.programs, self.filler.mpi, self.context)

    def _reasons(
        self, stage: Stage, shape: Shape, toolchain: Toolchain | None, names: Names, launch: Launch | None
    ) -> list[str]:
        """Why a case cannot run here. Installed programs are checked only if this machine belongs to the system."""
        reasons = [self.filler.small, too_large(shape, stage)]
        if self.build is not None:
            reasons.append(why_not_built(self.build, stage, self.context))
        if launch is not None:
            reasons.append(launch.fault)
        around = self.context.around
        if stage.local or on_login_node(self.context.machine.system, around):
            reasons += self._missing(stage, toolchain, names, launch)
        return [text for text in reasons if text]

    def _missing(self, stage: Stage, toolchain: Toolchain | None, names: Names, launch: Launch | None) -> list[str]:
        """Sentences on programs that are not installed; not checked where loaded software or a build job may provide them."""
        around, build = self.context.around, self.build
        if loads_software(toolchain):
            told = [tool for tool in launch.tools if tool == "srun"] if launch else []
            return [*missing_tools(told, around), *self.absent]
        tools = list(launch.tools) if launch else []
        if build is not None and (stage.local or not build.in_job):
            tools += _KERNEL_TOOLS if build.kernel else ()
            tools += compilers_of(build, toolchain or Toolchain(""), names)
        if self.filler.traced(names) and (build is None or stage.local or not build.in_job):
            tools += ("make", self._tracer_compiler(toolchain))
        return [
            *(text for need in programs_needed(self.test) for text in missing_programs(need, around)),
            *missing_tools(tools, around),
            *self.absent,
        ]


def _why_no_container(container: Container | None, look: bool, around: Surroundings) -> list[str]:
    """Why the container of a case cannot be used; ``look``: search its runtime on this machine."""
    if container is None:
        return []
    absent = missing_tools(list(container.tools), around) if look and not container.fault else []
    return [*([container.fault] if container.fault else []), *absent]


def _ident(test: str, combination: dict[str, str]) -> str:
    if not combination:
        return test
    return f"{test}/" + ",".join([f"{name}={value}" for name, value in combination.items()])


def _about(error: ExpressionError | InvalidValue) -> str:
    """The ``about`` of a problem: many tests may inherit one unknown name, which is then reported once."""
    if isinstance(error, InvalidValue):
        return error.about
    return f"name {error.unknown}" if error.unknown else ""


def _hint(error: ExpressionError | InvalidValue) -> str | None:
    """The hint of an error; a better one for ``build`` and ``toolchain``, which other tests have."""
    unknown = getattr(error, "unknown", "")
    if unknown == "build":
        return "the test has no 'build'"
    if unknown.split(".")[0] == "toolchain" and unknown.partition(".")[2] in ("", "cc", "cxx", "fc"):
        return "give the test a parameter 'toolchain', or a build"
    return error.hint
