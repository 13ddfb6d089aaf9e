"""Choose the directory in which runs of a case work: in the campaign, or on a file system, on the target that they load."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from shakedown.model.nouns import FileSystem, Loads, Pairs
from shakedown.plans.cases.combinations import Path
from shakedown.plans.cases.filling import Filler
from shakedown.plans.context import Context
from shakedown.plans.partition_scopes import Names
from shakedown.plans.schema.scalars import InvalidValue, near_or_all
from shakedown.plans.schema.test import PLACE, STAGE
from shakedown.plans.system_parts import IN_CAMPAIGN

_CLASS = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class Workplace:
    """A template of an absolute path, "" = in the campaign; what its words are targets of; how input files get there.

    ``unavailable``: why there is no such place on this system.
    """

    path: str = ""
    targets: Pairs = ()
    stage: Any = "link"
    unavailable: str = ""


def workplace(filler: Filler, loads: Loads, names: Names) -> Workplace:
    """Purpose: where a case works whose runs load this much. Raises InvalidValue, with the filler at the value that is wrong.

    Without the key ``work``, the load decides: a test that loads a target works on this target.
    """
    context = filler.context
    written, stage = _written(filler, names), _written_stage(filler, names)
    if written == IN_CAMPAIGN:
        return Workplace(stage=_stage(filler, stage, ()))
    if not written:
        followed = _followed(filler, context, loads)
        if followed is None:
            return Workplace(stage=_stage(filler, stage, ()))
        return _on(followed, filler, loads, stage)
    filesystem = next((entry for entry in context.machine.system.filesystems if entry.name == written), None)
    if filesystem is None:
        return Workplace(unavailable=_not_here(filler, written))
    return _on(filesystem, filler, loads, stage)


def _written(filler: Filler, names: Names) -> str:
    """The file system that the test names for this system, or ""."""
    written: Any = filler.run.get("work", "")
    at: Path = ("run", "work")
    if isinstance(written, dict):
        system = filler.context.machine.system.name
        key = system if system in written else "default"
        written, at = written.get(key, ""), (*at, key)
    filler.at = at
    return str(filler.parsed(at, written, names, PLACE.convert) if "{" in written else written)


def _written_stage(filler: Filler, names: Names) -> str:
    written = str(filler.run.get("stage", "link"))
    return str(filler.parsed(("run", "stage"), written, names, STAGE.convert)) if "{" in written else written


def _not_here(filler: Filler, name: str) -> str:
    """Why there is no such file system here; one that no system has is an error."""
    context, others = filler.context, filler.context.elsewhere
    if not others.may_have(name, others.filesystems) and not filler.test.shipped:
        known = {IN_CAMPAIGN, *others.filesystems, *(entry.name for entry in context.machine.system.filesystems)}
        raise InvalidValue(f"no system has a file system '{name}'", near_or_all(name, known), f"file system {name}")
    return f"system {context.machine.system.name} has no file system {name}"


def _followed(filler: Filler, context: Context, loads: Loads) -> FileSystem | None:
    """The file system whose path has a class of targets that the test loads."""
    loaded = {name for name, _ in loads if name in context.targeted}
    if not loaded:
        return None
    fitting = [
        entry
        for entry in context.machine.system.filesystems
        if any(f"{entry.name}/{kind}" in loaded for kind in _CLASS.findall(entry.path))
    ]
    if len(fitting) > 1:
        filler.at = ("loads",)
        names = " and of ".join(entry.name for entry in fitting)
        raise InvalidValue(f"it loads targets of {names}", f"run: {{work: {fitting[0].name}}} says where it works")
    return fitting[0] if fitting else None


def _on(filesystem: FileSystem, filler: Filler, loads: Loads, stage: str) -> Workplace:
    name, path, context = filesystem.name, filesystem.path, filler.context
    if not path:
        raise InvalidValue(
            f"file system {name} of system {context.machine.system.name} has no path", "systems/ says where tests work"
        )
    targets = []
    for kind in dict.fromkeys(_CLASS.findall(path)):
        budget = f"{name}/{kind}"
        if budget not in context.targeted:
            hint = f"budgets: {{{budget}: N per target}} in the system's file, and loads: {{{budget}: 1}} here"
            raise InvalidValue(
                f"which target? the path of {name} has {{{kind}}}, and {budget} is no budget per target", hint
            )
        if budget not in dict(loads):
            hint = f"loads: {{{budget}: 1}}, and each run works on the target that it loads"
            raise InvalidValue(f"which target? the path of {name} has {{{kind}}}, and the test loads no {budget}", hint)
        targets.append((kind, budget))
    return Workplace(path, tuple(targets), _stage(filler, stage, tuple(targets)))


def _stage(filler: Filler, stage: str, targets: Pairs) -> str:
    """How input files get there. What is for targets of other systems is a link here."""
    if stage != "per-target" or targets:
        return stage
    elsewhere = any(name not in filler.context.budgets for name in filler.values.get("loads", {}))
    if not elsewhere and not isinstance(filler.run.get("work"), dict):
        filler.at = ("run", "stage")
        raise InvalidValue(
            "its runs work on no target", "link or copy; or loads: and work: of a file system with targets"
        )
    return "link"
