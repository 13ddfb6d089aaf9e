"""``shakedown compare``: what moved between campaigns, epochs, toolchains, modes, partitions, nodes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from shakedown.cli.output import emit, fitted, json_option, say, site_option
from shakedown.cli.twin.modelling import csv_option, figure_option, format_of
from shakedown.model.errors import UsageError

if TYPE_CHECKING:
    from shakedown.queries.comparisons import Asked

BY = "campaign, epoch, component, system, partition, toolchain, mode, node, or a parameter"


@click.command()
@click.argument("campaigns", nargs=-1, metavar="[CAMPAIGN[#EPOCH]]...")
@click.option("--epochs", metavar="N,N...", default=None, help="These epochs of the one campaign that is named.")
@click.option("--by", metavar="WORD", default=None, help=f"Compare runs by this: {BY}.")
@click.option("--against", metavar="GROUP", default=None, help="What the others are compared with; else the first.")
@click.option(
    "--least", metavar="PERCENT", default="2%", help="The smallest change that matters; 2% where nothing is said."
)
@click.option("--all", "everything", is_flag=True, help="Show what did not move, too.")
@csv_option
@figure_option
@site_option
@json_option
def command(
    campaigns: tuple[str, ...],
    epochs: str | None,
    by: str | None,
    against: str | None,
    least: str,
    everything: bool,
    csv_file: Path | None,
    figure: Path | None,
    site: str | None,
    as_json: bool,
) -> int:
    """Compare CAMPAIGNs, or epochs, toolchains, modes, partitions, nodes within them: what moved, and by how much.

    The first campaign is the one that the others are compared with. CAMPAIGN#2 is its second epoch; a rehearsal is named like a
    campaign. Exit status: 0 nothing is worse, 1 something is worse, 4 too few runs to say.
    """
    from shakedown.cli.comparison_words import render
    from shakedown.queries.comparisons import compare_campaigns

    smallest = percent(least)
    suffix = format_of(figure) if figure is not None else ""
    asked = asked_for(campaigns, epochs, Path(site) if site else None, lasting=bool(figure or csv_file))
    if by is None and len(asked) < 2:
        raise UsageError(
            "there is nothing to compare this campaign with",
            hint="name another one, or --epochs 1,2, or --by toolchain",
        )
    found = compare_campaigns(asked, by or "campaign", against, smallest)
    status = found.comparison.status
    emit({"status": status, "compared": found}, as_json, lambda: fitted(render(found, everything)))
    if csv_file is not None:
        from shakedown.cli.comparison_words import as_csv

        csv_file.write_bytes(as_csv(found.comparison))
        say(f"table: {csv_file}")
    if figure is not None:
        from shakedown.report.figures.comparison import draw_comparison

        figure.write_bytes(draw_comparison(found.comparison, found.rehearsed).in_format(suffix))
        say(f"figure: {figure}")
    return status


def percent(text: str, option: str = "--least", what: str = "change") -> float:
    """Purpose: the smallest change that matters, or another share that an option takes. Raises UsageError."""
    match = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*%\s*", text)
    share = float(match[1]) / 100 if match else 0.0
    if not 1e-6 <= share <= 1:
        number = text.strip()
        written = re.fullmatch(r"\d{1,3}(?:\.\d+)?", number) is not None and 0 < float(number) <= 100
        usual = "80" if what == "efficiency" else "2"
        hint = f"write {number if written else usual}%; it is above 0% and at most 100%"
        raise UsageError(f"{option} '{text}' is not a share of {what}", hint)
    return share


def asked_for(campaigns: tuple[str, ...], epochs: str | None, site: Path | None, lasting: bool) -> list[Asked]:
    """The campaigns and epochs of the command line, each found. ``lasting``: a file is made of them, so none may be damaged."""
    from shakedown.cli.record import find_campaign, find_whole_campaign
    from shakedown.queries.comparisons import Asked

    wanted = [_split(text) for text in campaigns] or [("", 0)]
    if epochs is not None:
        if len(wanted) > 1 or wanted[0][1]:
            raise UsageError(
                "--epochs compares epochs of one campaign",
                hint="of several campaigns, write each as CAMPAIGN#EPOCH",
            )
        wanted = [(wanted[0][0], _epoch(text)) for text in epochs.split(",")]
    find = find_whole_campaign if lasting else find_campaign
    paths = {name: find(site, name or None) for name in dict.fromkeys(name for name, _ in wanted)}
    twice = len({path.name for path in paths.values()}) < len(paths)
    asked = []
    for name, epoch in wanted:
        label = (name if twice else paths[name].resolve().name) + (f"#{epoch}" if epoch else "")
        asked.append(Asked(paths[name].resolve(), label, epoch))
    if len({(one.path, one.epoch) for one in asked}) < len(asked):
        raise UsageError("the same runs are named twice", hint="name each campaign, or each epoch of one, once")
    return asked


def _split(text: str) -> tuple[str, int]:
    name, mark, epoch = text.rpartition("#")
    return (name, _epoch(epoch)) if mark else (text, 0)


def _epoch(text: str) -> int:
    if not re.fullmatch(r"\s*[1-9]\d{0,5}\s*", text):
        raise UsageError(
            f"'{text}' is not the number of an epoch", hint="epochs are numbered from 1, as in p-1#2 or --epochs 1,2"
        )
    return int(text)
