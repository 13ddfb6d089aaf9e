"""``--measured CAMPAIGN[#EPOCH][:TEST]``: what a campaign measured, laid beside a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from shakedown.cli.output import fitted, printable, table
from shakedown.cli.twin.modelling import show_model

if TYPE_CHECKING:
    from shakedown.metrics.comparing.beside_model import Beside
    from shakedown.queries.beside_models import Measured

measured_option = click.option(
    "--measured",
    metavar="CAMPAIGN[:TEST]",
    help="Lay what this campaign measured beside the model.",
)


def asked_of(text: str, units: Mapping[str, str]) -> Measured:
    """Purpose: a campaign, and the test of it, that are named. Raises UsageError where there is none."""
    from shakedown.cli.compare import asked_for
    from shakedown.queries.beside_models import Measured

    name, _, test = text.partition(":")
    (campaign,) = asked_for((name,), None, None, lasting=False)
    return Measured(campaign, test, units)


def show_beside(rows: Sequence[Beside], head: str, as_json: bool, figure: Path | None) -> None:
    """Purpose: the rows as a table, as JSON, and with ``figure`` as a figure. Raises UsageError, OSError."""
    from shakedown.report.figures.models.beside import draw_beside

    def render() -> str:
        return fitted(printable(f"{head}\n\n{beside_table(rows)}"))

    show_model({"measured": rows}, as_json, render, figure, lambda: draw_beside(rows, head))


def beside_table(rows: Sequence[Beside]) -> str:
    """Purpose: measured, model and deviation, a line a row."""
    from shakedown.metrics.words import show_number, show_value

    lines = [
        (
            row.about,
            row.figure,
            str(row.count),
            show_value(row.measured, row.unit),
            f"{show_number(row.low)} to {show_number(row.high)}",
            show_value(row.model, row.unit),
            "–" if row.deviation is None else f"{row.deviation:+.1%}",
        )
        for row in rows
    ]
    headings = ("of", "figure", "n", "measured", "range", "model", "deviation")
    return table(headings, lines, right=(2, 3, 4, 5, 6))
