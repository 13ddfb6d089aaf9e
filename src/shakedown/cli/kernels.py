"""``shakedown kernels``: what the kernels measure, building them, and running one by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from shakedown.cli.output import emit, fitted, json_option, printable, say, table


@click.group(name="kernels")
def command() -> None:
    """List, build and run the benchmark kernels (C and MPI programs)."""


@command.command(name="list")
@json_option
def list_kernels(as_json: bool) -> None:
    """What each kernel measures, and its options."""
    from shakedown.kernels import describe_kernels, shared_options

    kernels, shared = describe_kernels(), shared_options()
    data = {
        "kernels": [{"name": k.name, "about": k.about, "options": list(map(_option, k.options))} for k in kernels],
        "shared_options": list(map(_option, shared)),
    }
    emit(data, as_json, lambda: _render_list(data))


@command.command(name="build")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--into", type=click.Path(file_okay=False), help="The directory for the programs; without it a cache.")
@json_option
def build(names: tuple[str, ...], into: str | None, as_json: bool) -> None:
    """Compile kernels, all of them without a NAME, and print where the programs are."""
    from shakedown.kernels import build_kernels, cache_directory

    programs = build_kernels(Path(into).absolute() if into else cache_directory(), names)
    emit({name: str(path) for name, path in programs.items()}, as_json, lambda: "\n".join(map(str, programs.values())))


@command.command(name="tracer")
@click.option("--into", type=click.Path(file_okay=False), help="The directory for it; without it a cache.")
@click.option(
    "--mpicc", metavar="PROGRAM", help="The compiler of the MPI that the program has; without it the mpicc found."
)
@json_option
def tracer(into: str | None, mpicc: str | None, as_json: bool) -> None:
    """Build the tracer for MPI programs, and print where it is: LD_PRELOAD it into the ranks.

    A test with run: {trace: yes} needs no such step.
    """
    from shakedown.kernels import build_tracer

    library = build_tracer(Path(into).absolute() if into else None, mpicc)
    emit({"tracer": str(library)}, as_json, lambda: str(library))


@command.command(name="run")
@click.argument("name")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[-- OPTION...]")
@click.option("-n", "--ranks", type=click.IntRange(min=1), help="MPI ranks; without it 1 for stream, 2 for the others.")
@json_option
def run(name: str, arguments: tuple[str, ...], ranks: int | None, as_json: bool) -> int:
    """Run a kernel here, under mpiexec; what follows ``--`` goes to the kernel. Ends with the kernel's exit status."""
    from shakedown.kernels import built_kernel
    from shakedown.kernels.launch import default_ranks, launch_kernel

    program = built_kernel(name)
    raw = as_json or bool({"--help", "-h"} & set(arguments))
    wanted = 1 if "--help" in arguments else ranks or default_ranks(name)
    status, output = launch_kernel(program, wanted, arguments, capture=not raw)
    if not raw:
        _show(output)
    return status if status in (0, 1, 2) else _crashed(name, status)


def _option(option: Any) -> dict[str, str]:
    return {"name": option.name, "value": option.value, "about": option.about}


def _render_list(data: dict[str, Any]) -> str:
    blocks = [f"{k['name']}: {k['about']}\n{_render_options(k['options'])}" for k in data["kernels"]]
    return "\n\n".join([*blocks, f"of every kernel:\n{_render_options(data['shared_options'])}"])


def _render_options(options: list[dict[str, str]]) -> str:
    lines = table(("", ""), [(f"  {o['name']} {o['value']}", o["about"]) for o in options]).splitlines()
    return "\n".join(lines[1:])


def _show(output: str) -> None:
    from shakedown.kernels.launch import ended_early, read_records
    from shakedown.kernels.summary import summarise

    records, others = read_records(output)
    for line in others:
        say(printable(line))
    for part in summarise(records):
        columns = range(1, len(part.headings))
        click.echo(fitted(f"{printable(part.title)}\n{table(part.headings, part.rows, tuple(columns))}\n"))
    if ended_early(records):
        say("not complete: it was stopped, or its budget was too short; give more time with -- --budget SECONDS")


def _crashed(name: str, status: int) -> int:
    say(
        f"error: kernel '{name}' ended with status {status}, which none of its own ways to end has; it crashed or was killed"
    )
    return 1
