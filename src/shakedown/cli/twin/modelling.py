"""What the commands of ``shakedown twin`` share: amounts as options, and a result as text, JSON and a figure."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shakedown.cli.output import emit, json_option, say
from shakedown.model.errors import UsageError, did_you_mean
from shakedown.model.units import parse_duration, parse_known

if TYPE_CHECKING:
    from shakedown.report.figures.style import Drawing

__all__ = ["Amount", "Duration", "csv_option", "figure_option", "json_option", "show_model"]

figure_option = click.option(
    "--figure",
    type=click.Path(dir_okay=False, path_type=Path),
    default=None,
    metavar="FILE",
    help="Write the figure there too: .svg, .pdf or .png.",
)

csv_option = click.option(
    "--csv",
    "csv_file",
    type=click.Path(dir_okay=False, path_type=Path),
    default=None,
    metavar="FILE",
    help="Write the whole table there too, as CSV.",
)


def show_model(
    result: Any, as_json: bool, render: Callable[[], str], figure: Path | None, draw: Callable[[], Drawing]
) -> None:
    """Purpose: print a model's result as JSON, or what ``render`` makes of it; with ``figure`` write what ``draw`` draws.

    Raises UsageError where the figure's name has no suffix that we write; OSError where the file cannot be written.
    """
    suffix = format_of(figure) if figure is not None else ""
    emit(result, as_json, render)
    if figure is not None:
        figure.write_bytes(draw().in_format(suffix))
        say(f"figure: {figure}")


def format_of(figure: Path) -> str:
    """Purpose: the format that the name of a figure's file asks for. Raises UsageError."""
    from shakedown.report.figures.style import FORMATS

    suffix = figure.suffix.lower().lstrip(".")
    if suffix not in FORMATS:
        near = did_you_mean(suffix, FORMATS) or f"end it in {', '.join('.' + name for name in FORMATS)}"
        raise UsageError(f"--figure {figure}: no figure is written as '{figure.suffix}'", near)
    return suffix


class Duration(click.ParamType[float]):
    """A duration with its unit, such as ``24h`` or ``250 us``, in seconds. ``zero``: whether it may be none at all."""

    name = "duration"

    def __init__(self, zero: bool = False) -> None:
        self.zero = zero

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, float):
            return value
        try:
            seconds = parse_duration(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)
        if seconds < 0 or (seconds == 0 and not self.zero):
            self.fail(f"{value}: it must be more than nothing", param, ctx)
        return seconds


class Amount(click.ParamType[float]):
    """An amount of one dimension with its unit, such as ``24 TB`` or ``3.3 TB/s``, in the dimension's base unit."""

    name = "amount"

    def __init__(self, dimension: str, zero: bool = False) -> None:
        self.dimension, self.zero = dimension, zero

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, float):
            return value
        try:
            amount = parse_known(str(value), self.dimension)
        except ValueError as error:
            self.fail(str(error), param, ctx)
        if not amount < float("inf") or amount < 0 or (amount == 0 and not self.zero):
            self.fail(f"{value}: it must be more than nothing, and a number", param, ctx)
        return amount
