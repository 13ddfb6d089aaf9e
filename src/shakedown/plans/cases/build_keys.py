"""The build that a test needs, and the key that tells which cases can share it."""

# paths are text in this room: a Path for each of thousands of files costs too much
# ruff: noqa: PTH112, PTH208

from __future__ import annotations

import hashlib
import json
import os
import shlex
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from shakedown.model.errors import did_you_mean
from shakedown.model.nouns import Build, Toolchain
from shakedown.model.units import show_duration
from shakedown.plans.braces import names_of_the_campaign
from shakedown.plans.cases.software import loading
from shakedown.plans.context import Context
from shakedown.plans.library import Definition
from shakedown.plans.partition_scopes import Names, Stage
from shakedown.plans.schema.expressions import fill
from shakedown.plans.schema.scalars import InvalidValue, near_or_all
from shakedown.plans.schema.source_positions import place

_NO_TOOLCHAIN = Toolchain("")
_INSTALLS_S = 4 * 3600.0  # how long Spack may take: it builds compilers, too


@dataclass(frozen=True, slots=True)
class Plan:
    """What one test builds, before parameters and toolchains are known. ``kernel`` is "" for a source of the site's own."""

    name: str
    source: str
    digest: str
    run: str
    time_limit_s: float
    kernel: str = ""
    in_job: bool = False
    partition: str = ""  # of that job, as written
    cpus: int = 1


def build_plan(test: Definition, context: Context) -> Plan | None:
    """Purpose: the build of a test, or None without one; faults go to the context's problems."""
    written = test.values.get("build", "none")
    if written == "none":
        return None
    limit = written.get("time_limit", 1800.0)
    job = {
        "in_job": written.get("where") == "job",
        "partition": written.get("partition", ""),
        "cpus": written.get("cpus", 1),
    }
    _check_job(test, written, context)
    if "kernel" in written:
        plan = _kernel(test, written, limit, context)
        return replace(plan, **job) if plan else None
    if "run" not in written:
        hint = "run: the shell lines that build it; or kernel: one that comes with the package"
        context.problems.at(place(test.root, "build"), "'run' is missing in build", hint)
        return None
    for name in sorted(names_of_the_campaign(written["run"])):
        at, message = place(test.root, "build", "run"), f"build.run: '{{{name}}}' has no value while it is built"
        context.problems.at(
            at, message, "the lines run in the copy of the source, which {build} is afterwards: use $PWD"
        )
    source, digest = _source(test, written, context)
    return Plan(test.name, source, digest, written["run"], limit, **job)


def build_for(plan: Plan, stage: Stage, toolchain: Toolchain | None, names: Names, context: Context) -> Build:
    """Purpose: the build that a case with these names needs; equal ones are the same. Raises ExpressionError.

    What is built in a job may be made for the nodes of its partition, so that belongs to the key.
    """
    toolchain = toolchain or _NO_TOOLCHAIN
    script = loading(toolchain, fill(plan.run, names), install=True)
    parts: tuple[Any, ...] = (plan.digest, toolchain.name, toolchain.modules, script, toolchain.environment)
    where, partition = "login", ""
    if plan.in_job and not stage.local:
        chosen = stage_of_build(plan, stage, context)
        where, partition = "job", (chosen or stage).id
        parts = (*parts, partition)
    key = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
    if key not in context.builds:
        build = Build(key, plan.name, plan.source, script, toolchain.environment, plan.time_limit_s)
        if where == "job":
            build = msgspec.structs.replace(build, where="job", partition=partition, cpus=plan.cpus)
        context.builds[key] = build
    return context.builds[key]


def installation_for(toolchain: Toolchain, context: Context) -> Build:
    """Purpose: the build in which Spack installs what a case loads that builds nothing itself; cases of one software share it."""
    script = loading(toolchain, "", install=True)
    key = hashlib.sha256(json.dumps(("spack", script, toolchain.environment)).encode()).hexdigest()
    if key not in context.builds:
        context.builds[key] = Build(key, "spack-install", "", script, toolchain.environment, _INSTALLS_S)
    return context.builds[key]


def stage_of_build(plan: Plan, stage: Stage, context: Context) -> Stage | None:
    """Purpose: the partition that a build's job goes to; None where this system does not have the one that is named."""
    if not plan.partition:
        return stage
    named = [other for other in context.stages if plan.partition in (other.partition.name, other.id)]
    beside = [other for other in named if other.partition.cluster == stage.partition.cluster]
    return next(iter(beside or named), None)


def why_not_built(plan: Plan, stage: Stage, context: Context) -> str:
    """Purpose: why a build's job cannot run on this system, or ""."""
    if not plan.in_job or stage.local:
        return ""
    chosen = stage_of_build(plan, stage, context)
    if chosen is None:
        return f"system {context.machine.system.name} has no partition {plan.partition} to build on"
    if plan.cpus > chosen.node.cores:
        return (
            f"its build takes {plan.cpus} cores and a node of partition {chosen.partition.name} has {chosen.node.cores}"
        )
    most = chosen.partition.time_limit_s
    if most and plan.time_limit_s > most:
        limits = (
            f"{show_duration(plan.time_limit_s)} and partition {chosen.partition.name} allows {show_duration(most)}"
        )
        return f"its build may take {limits}"
    return ""


def compilers_of(plan: Plan, toolchain: Toolchain, names: Names) -> list[str]:
    """The compilers of the toolchain that a build uses: those that its lines name, else the C compiler."""
    used = [name for name in ("cc", "cxx", "fc") if names.used(f"toolchain.{name}")]
    if not used and plan.kernel:
        used = ["cc"]
    texts: list[str] = [getattr(toolchain, name) for name in used]
    return [words[0] for words in map(shlex.split, texts) if words]


def _check_job(test: Definition, written: dict[str, Any], context: Context) -> None:
    """Report a partition for a build on the login node, and a partition that no system has."""
    for key in ("partition", "cpus"):
        if key in written and written.get("where") != "job":
            at = place(test.root, "build", key)
            context.problems.at(at, f"build.{key} is for builds in a job", "add 'where: job', or leave it out")
    name = written.get("partition", "")
    others, known = context.elsewhere, {text for stage in context.stages for text in (stage.partition.name, stage.id)}
    if name and not test.shipped and not others.may_have(name, others.partitions | known):
        at = place(test.root, "build", "partition")
        hint = near_or_all(name, others.partitions | known)
        context.problems.at(at, f"there is no partition '{name}'", hint, f"partition {name}")


def _source(test: Definition, written: dict[str, Any], context: Context) -> tuple[str, str]:
    if "source" not in written:
        return "", ""
    at = place(test.root, "build", "source")
    mark: Any = at.start_mark
    path = context.library.beside(mark.name, written["source"])
    if not os.path.isdir(path):
        what = "is not a directory" if context.around.there(path) else "is not there"
        context.problems.at(
            at, f"the source {written['source']} {what}", "it is looked for beside the file that names it"
        )
        return path, ""
    try:
        return path, context.around.tree(path)
    except OSError as error:
        context.problems.at(at, f"the source {written['source']} cannot be read: {error.strerror}")
        return path, ""


def _kernel(test: Definition, written: dict[str, Any], limit: float, context: Context) -> Plan | None:
    """A kernel of the package: its directory, and ``make NAME`` in it."""
    name, at = written["kernel"], place(test.root, "build", "kernel")
    for other in ("source", "run"):
        if other in written:
            context.problems.at(place(test.root, "build", other), f"a kernel has its own {other}", f"leave {other} out")
    try:
        known = sorted(file[:-2] for file in os.listdir(context.kernels) if file.endswith(".c"))
        if name not in known:
            raise InvalidValue(
                f"there is no kernel '{name}'", did_you_mean(name, known) or f"there are: {', '.join(known)}"
            )
        digest = context.around.tree(context.kernels)
    except InvalidValue as error:
        context.problems.at(at, str(error), error.hint)
        return None
    except OSError as error:
        context.problems.at(at, f"the kernels cannot be read in {context.kernels}: {error.strerror}")
        return None
    return Plan(name, context.kernels, digest, f"make {name}", limit, kernel=name)
