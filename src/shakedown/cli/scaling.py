"""``shakedown scaling``: speed-up and efficiency of tests along a parameter, of one campaign or of several side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from shakedown.cli.output import emit, fitted, json_option, printable, say, site_option, table
from shakedown.cli.twin.modelling import csv_option, figure_option, format_of
from shakedown.model.errors import UsageError

if TYPE_CHECKING:
    from shakedown.metrics.scaling import Series, Step
    from shakedown.queries.comparisons import Asked


@click.command()
@click.argument("campaigns", nargs=-1, metavar="[CAMPAIGN[#EPOCH]]...")
@click.option("--test", "tests", multiple=True, metavar="TEST", help="Only this test; may be given more than once.")
@click.option(
    "--below", metavar="PERCENT", default="80%", help="Say where the efficiency falls below this; 80% without it."
)
@click.option(
    "--model", is_flag=True, help="Lay it beside the law that fits best: Amdahl's, or Gustafson's of weak scaling."
)
@csv_option
@figure_option
@site_option
@json_option
def command(
    campaigns: tuple[str, ...],
    tests: tuple[str, ...],
    below: str,
    model: bool,
    csv_file: Path | None,
    figure: Path | None,
    site: str | None,
    as_json: bool,
) -> int:
    """How tests scale: speed-up, efficiency and serial share at each size. Without a name: of the newest campaign.

    A test says along which parameter (scaling: {along: nodes, kind: strong}). Several campaigns, such as those of two systems,
    stand side by side; a figure shows one test, so name it with --test where there are several.
    """
    from shakedown.queries.scalings import look_at_scaling

    low = _share(below)
    suffix = format_of(figure) if figure is not None else ""
    found = look_at_scaling(_asked(campaigns, Path(site) if site else None, bool(csv_file or figure)), low, tests)
    if model and csv_file is not None:
        raise UsageError("--csv does not go with --model", hint="--json has every number")
    if model:
        _show_model(found, as_json, figure)
        return 0
    names = list(dict.fromkeys((one.test, one.along) for one in found))
    if figure is not None and len(names) > 1:
        raise UsageError(
            "a figure shows one test", hint=f"--test {names[0][0]}; there are {', '.join(n for n, _ in names)}"
        )
    emit({"scaling": found}, as_json, lambda: fitted(printable("\n\n".join(map(_render, found)))))
    if csv_file is not None:
        from shakedown.report.tables.csv_files import to_csv
        from shakedown.report.tables.scaling import SCALING, scaling_rows

        csv_file.write_bytes(to_csv(SCALING, scaling_rows(found)))
        say(f"table: {csv_file}")
    if figure is not None:
        drawn = [one for one in found if len(one.points) > 1]
        if not drawn:
            raise UsageError("nothing is measured at two sizes yet: there is no figure of it")
        from shakedown.report.figures.scaling import figure_of

        figure.write_bytes(figure_of("scaling", drawn).in_format(suffix))
        say(f"figure: {figure}")
    return 0


def _show_model(found: list[Series], as_json: bool, figure: Path | None) -> None:
    """Every series beside its law, and how far it is away."""
    from shakedown.cli.twin.measured import show_beside
    from shakedown.metrics.comparing.beside_model import beside_law
    from shakedown.metrics.words import show_share

    rows, laws = [], []
    for one in found:
        name = f"{one.name}, {one.source}" if one.source else one.name
        rows += [replace(row, about=f"{name}, {row.about}") for row in beside_law(one)]
        law = "Gustafson" if one.kind == "weak" else "Amdahl"
        misfit = f" ({one.misfit})" if one.misfit else ""
        laws += [f"{name}: {law}, serial share {show_share(one.serial)}{misfit}"] if one.serial is not None else []
    if not rows:
        raise UsageError("nothing is measured at two sizes yet: no law can be fitted")
    show_beside(rows, f"Scaling beside the law that fits best. {'; '.join(laws)}.", as_json, figure)


def _share(text: str) -> float:
    from shakedown.cli.compare import percent

    return percent(text, "--below", "efficiency")


def _asked(campaigns: tuple[str, ...], site: Path | None, lasting: bool) -> list[Asked]:
    """The campaigns that are named, or the newest. ``lasting``: a file is made of them, so none may be damaged."""
    from shakedown.cli.compare import asked_for

    return asked_for(campaigns, None, site, lasting=lasting)


def _render(one: Series) -> str:
    """A series as text of at most 80 columns."""
    from shakedown.metrics.words import show_number, show_share

    what = "run time" if one.figure == "elapsed" else one.figure
    where = f"{one.source}, component {one.component}" if one.source else f"component {one.component}"
    head = f"{one.name}: {one.kind} scaling of {what} along {one.along}; {where}"
    unit = f", {one.unit}" if one.unit else ""
    columns = (one.along.upper(), "RUNS", f"MEDIAN{unit}", "SPEED-UP", "IDEAL", "EFFICIENCY", "95 %", "SERIAL")
    lines = [head, table(columns, [_row(step) for step in one.steps], right=(0, 1, 2, 3, 4, 5, 6, 7))]
    if one.steps and one.steps[0].median is None and any(step.median is not None for step in one.steps):
        lines.append(
            f"the smallest size, {one.along}={show_number(one.steps[0].size)}, has no value: nothing can be held against it"
        )
    if one.falls:
        at, about = map(show_number, one.falls)
        near = "" if at == about else f", by a line between the sizes at about {about}"
        lines.append(f"efficiency falls below {show_share(one.low)} at {one.along}={at}{near}")
    elif one.points:
        low = show_share(one.low)
        dips = any(point.efficiency < one.low for point in one.points)
        above = f"efficiency stays at or above {low} at every size measured"
        lines.append(f"efficiency is below {low} between, and at or above it at the largest size" if dips else above)
    if one.serial is not None:
        law = "Gustafson" if one.kind == "weak" else "Amdahl"
        lines.append(f"serial share that fits best: {show_share(one.serial)} ({law})")
        lines += [one.misfit] if one.misfit else []
    return "\n".join(lines)


def _measured(step: Step) -> str:
    """What is known of a size that nothing can be held against, or that has no value."""
    from shakedown.metrics.words import show_number

    if step.median is not None:
        return show_number(step.median)
    return f"{step.to_come} to come" if step.to_come else "no value"


def _row(step: Step) -> tuple[str, ...]:
    from shakedown.metrics.words import show_number, show_share

    point = step.point
    if point is None:
        return (
            show_number(step.size),
            str(step.count),
            _measured(step),
            "",
            "",
            "",
            "",
            "",
        )
    between = " .. ".join(f"{100 * end:.0f}" for end in step.interval) if step.interval and point.ideal > 1 else ""
    return (
        show_number(step.size), str(point.count), show_number(point.value), show_number(point.speedup), show_number(point.ideal),
        show_share(point.efficiency), between, show_share(point.serial) if point.serial is not None else "",
    )  # fmt: skip
