"""``shakedown init``: a site directory for the machine it runs on, or for one that hwloc described."""

from __future__ import annotations

from pathlib import Path

import click

from shakedown.cli.output import emit, json_option, printable
from shakedown.model.nouns import System


@click.command("init")
@click.argument("directory", default=".", type=click.Path(path_type=Path))
@click.option("--name", help="What to call the system; without it, the host's name.")
@click.option(
    "--lstopo",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Describe the machine of this hwloc XML file ('lstopo --of xml FILE') instead of this one.",
)
@json_option
def command(directory: Path, name: str | None, lstopo: Path | None, as_json: bool) -> None:
    """Write a site directory for the machine this runs on: its description, a first test and a first plan.

    DIRECTORY is made where it is missing; without it the files go here. No file is ever overwritten.
    """
    from shakedown.machine.site import site_files, site_name, write_site

    system = _described(name, lstopo)
    site = site_name(directory)
    written = write_site(directory, site_files(site, system))
    elsewhere = directory.resolve() != Path.cwd()
    following = ["shakedown", "run", "first", *(["--site", str(directory)] if elsewhere else [])]
    answer = {"site": site, "system": system.name, "written": [str(path) for path in written], "next": following}
    emit(answer, as_json, lambda: _render(written, following))


def _described(name: str | None, lstopo: Path | None) -> System:
    """The system to write: of the hwloc file, or of this machine, under the name that was asked for."""
    from msgspec.structs import replace

    from shakedown.machine import this_system
    from shakedown.machine.lstopo import system_from_lstopo
    from shakedown.machine.site import check_name, default_name

    if name is not None:
        check_name(name)
    system = this_system() if lstopo is None else system_from_lstopo(lstopo, "described")
    return replace(system, name=name or default_name(system.partitions()[0].nodes))


def _render(written: list[Path], following: list[str]) -> str:
    import shlex

    lines = [f"wrote {path}" for path in written]
    return printable("\n".join([*lines, f"next: {shlex.join(following)}"]))
