"""``shakedown init``: a site directory for the machine it runs on, for its Slurm cluster, or for one that hwloc described."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shakedown.cli.output import emit, json_option, printable, say
from shakedown.model.errors import UsageError
from shakedown.model.nouns import System

if TYPE_CHECKING:
    from shakedown.machine.slurm_system import Drafted


@click.command("init")
@click.argument("directory", required=False, type=click.Path(path_type=Path))
@click.option("--name", help="What to call the system; without it, the cluster's or the host's name.")
@click.option("--local", is_flag=True, help="Describe this machine alone, also where it belongs to a Slurm cluster.")
@click.option("--clusters", metavar="NAME,...", help="Describe these Slurm clusters instead of the one of this host.")
@click.option(
    "--lstopo",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Describe the machine of this hwloc XML file ('lstopo --of xml FILE') instead of this one.",
)
@click.option(
    "--example", metavar="NAME", help="Copy this example of the package into DIRECTORY; without it, into NAME."
)
@click.option("--list", "listing", is_flag=True, help="List the examples.")
@json_option
def command(
    directory: Path | None,
    name: str | None,
    local: bool,
    clusters: str | None,
    lstopo: Path | None,
    example: str | None,
    listing: bool,
    as_json: bool,
) -> None:
    """Write a site directory for this machine or its Slurm cluster: its description, a first test and a first plan.

    DIRECTORY is made where it is missing; without it the files go here. No file is ever overwritten. Where Slurm's
    commands answer, the cluster is described by what sinfo and scontrol know; --local describes this machine instead.
    """
    if example is not None or listing:
        if name is not None or local or clusters is not None or lstopo is not None or (example is not None and listing):
            raise UsageError("--example and --list go with no other option", hint="leave the others out")
        _examples(example, directory, as_json)
    else:
        _site(directory or Path(), name, local, clusters, lstopo, as_json)


def _examples(name: str | None, directory: Path | None, as_json: bool) -> None:
    """Copy one example, or list all."""
    from shakedown.catalogue.examples import copy_example, examples

    if name is None:
        known = dict(examples())
        emit({"examples": known}, as_json, lambda: "\n".join(f"{one:<15} {about}" for one, about in known.items()))
        return
    target = directory or Path(name)
    written = copy_example(name, target)
    answer = {"example": name, "written": [str(path) for path in written], "read": str(target / "README.md")}
    emit(answer, as_json, lambda: printable(f"wrote {len(written)} files into {target}\nnext: read {answer['read']}"))


def _site(
    directory: Path, name: str | None, local: bool, clusters: str | None, lstopo: Path | None, as_json: bool
) -> None:
    from shakedown.machine.site import check_name, site_files, site_name, write_site

    if clusters is not None and (local or lstopo is not None):
        raise UsageError(f"--clusters and {'--local' if local else '--lstopo'} do not go together", "leave one out")
    if name is not None:
        check_name(name)
    draft = None if local or lstopo is not None else _cluster(_names(clusters))
    site = site_name(directory)
    if draft is None:
        system = _machine(name, lstopo)
        files = site_files(site, system)
    else:
        system = _named(draft, name)
        files = site_files(site, system, draft.remarks)
    written = write_site(directory, files)
    _say_nested(directory)
    elsewhere = directory.resolve() != Path.cwd()
    following = ["shakedown", "run", "first", *(["--site", str(directory)] if elsewhere else [])]
    answer = {
        "site": site,
        "system": system.name,
        "scheduler": system.clusters[0].scheduler,
        "written": [str(path) for path in written],
        "found": draft.found if draft else (),
        "look_at": draft.look_at if draft else (),
        "next": following,
    }
    emit(answer, as_json, lambda: _render(answer))


def _say_nested(directory: Path) -> None:
    """A site in another one is a site of its own: what is in the outer one is not found from there."""
    inside = directory.resolve()
    outer = next((above for above in inside.parents if (above / "site.yaml").is_file()), None)
    if outer is not None:
        beside = (
            f"commands in {inside} see nothing of the site {outer} around it; if that is not wanted, move it elsewhere"
        )
        say(printable(f"warning: {beside}"))


def _cluster(clusters: list[str]) -> Drafted | None:
    """The Slurm cluster of this host, or those that were named; None where there is none, which is said."""
    from shakedown.machine.slurm import NoSlurm, describe, run_here

    try:
        return describe(run_here, clusters)
    except NoSlurm as reason:
        if str(reason):
            say(printable(f"note: {reason}: this machine alone is described"))
        return None


def _names(clusters: str | None) -> list[str]:
    if clusters is None:
        return []
    names = list(dict.fromkeys(name.strip() for name in clusters.split(",")))
    if not all(names) or any(name.startswith("-") for name in names):
        raise UsageError(f"{clusters!r} is no list of clusters", "write their names with commas: --clusters one,two")
    return names


def _named(draft: Drafted, name: str | None) -> System:
    """The cluster under the name that was asked for, else its own, in characters that a file's name can have."""
    from msgspec.structs import replace

    from shakedown.machine.site import default_name

    return replace(draft.system, name=name or default_name(draft.system.name))


def _machine(name: str | None, lstopo: Path | None) -> System:
    """The machine of the hwloc file, or this one, under the name that was asked for."""
    from msgspec.structs import replace

    from shakedown.machine import this_system
    from shakedown.machine.lstopo import system_from_lstopo
    from shakedown.machine.site import default_name

    system = this_system() if lstopo is None else system_from_lstopo(lstopo, "described")
    return replace(system, name=name or default_name(system.partitions()[0].nodes))


def _render(answer: dict[str, Any]) -> str:
    import shlex

    lines = [f"found {sentence}" for sentence in answer["found"]]
    lines += [f"wrote {path}" for path in answer["written"]]
    lines += [f"look at {sentence}" for sentence in answer["look_at"]]
    return printable("\n".join([*lines, f"next: {shlex.join(answer['next'])}"]))
