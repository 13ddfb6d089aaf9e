"""Builds: what a test needs made first, and the key that says which cases can share it."""

# paths are text in this room: a Path for each of thousands of files costs too much
# ruff: noqa: PTH112, PTH208

from __future__ import annotations

import hashlib
import json
import os
import shlex
from dataclasses import dataclass
from typing import Any

from shakedown.model.errors import did_you_mean
from shakedown.model.nouns import Build, Toolchain
from shakedown.plans.context import Context
from shakedown.plans.expressions import fill
from shakedown.plans.kinds import Wrong
from shakedown.plans.library import Definition
from shakedown.plans.places import place
from shakedown.plans.stages import Names

_NO_TOOLCHAIN = Toolchain("")


@dataclass(frozen=True, slots=True)
class Plan:
    """What one test builds, before parameters and toolchains are known. ``kernel`` is "" for a source of the site's own."""

    name: str
    source: str
    digest: str
    run: str
    time_limit_s: float
    kernel: str = ""


def build_plan(test: Definition, context: Context) -> Plan | None:
    """Purpose: what a test builds, or None; what is wrong goes to the context's problems."""
    written = test.values.get("build", "none")
    if written == "none":
        return None
    limit = written.get("time_limit", 1800.0)
    if "kernel" in written:
        return _kernel(test, written, limit, context)
    if "run" not in written:
        hint = "run: the shell lines that build it; or kernel: one that comes with the package"
        context.problems.at(place(test.root, "build"), "'run' is missing in build", hint)
        return None
    source, digest = _source(test, written, context)
    return Plan(test.name, source, digest, written["run"], limit)


def build_for(plan: Plan, toolchain: Toolchain | None, names: Names, context: Context) -> Build:
    """Purpose: the build that a case with these names needs; equal ones are the same. Raises ExpressionError."""
    toolchain = toolchain or _NO_TOOLCHAIN
    script = with_modules(toolchain, fill(plan.run, names))
    parts = (plan.digest, toolchain.name, toolchain.modules, script, toolchain.environment)
    key = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
    if key not in context.builds:
        context.builds[key] = Build(key, plan.name, plan.source, script, toolchain.environment, plan.time_limit_s)
    return context.builds[key]


def with_modules(toolchain: Toolchain | None, script: str) -> str:
    """A script that first loads the toolchain's modules. ``module`` is a function that only login shells know by themselves."""
    if toolchain is None or not toolchain.modules:
        return script
    words = " ".join(map(shlex.quote, toolchain.modules))
    known = "command -v module >/dev/null 2>&1 || . /etc/profile"
    return f"{known}\nmodule load {words} || exit 1\n{script}"


def compilers_of(plan: Plan, toolchain: Toolchain, names: Names) -> list[str]:
    """The toolchain's programs that a build uses: those its lines name, else the C compiler."""
    used = [name for name in ("cc", "cxx", "fc") if names.used(f"toolchain.{name}")]
    if not used and plan.kernel:
        used = ["cc"]
    texts: list[str] = [getattr(toolchain, name) for name in used]
    return [words[0] for words in map(shlex.split, texts) if words]


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
            raise Wrong(f"there is no kernel '{name}'", did_you_mean(name, known) or f"there are: {', '.join(known)}")
        digest = context.around.tree(context.kernels)
    except Wrong as error:
        context.problems.at(at, str(error), error.hint)
        return None
    except OSError as error:
        context.problems.at(at, f"the kernels cannot be read in {context.kernels}: {error.strerror}")
        return None
    return Plan(name, context.kernels, digest, f"make {name}", limit, kernel=name)
