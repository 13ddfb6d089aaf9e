"""``shakedown twin production``: a year of jobs under EASY backfill, made by a model or read from a trace."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shakedown.cli.output import say
from shakedown.cli.twin.modelling import Duration, figure_option, json_option, show_model
from shakedown.model.errors import UsageError

if TYPE_CHECKING:
    from shakedown.report.figures.style import Drawing
    from shakedown.twin.production.easy import Tell
    from shakedown.twin.production.year import Outcome

ORDERS = ("fcfs", "shortest", "largest", "ageing")
OF_GENERATED, OF_TRACES = ("jobs", "days", "load", "seed"), ("counted_as", "outages", "replay_own", "fit", "bad_lines")
FIRST_WORD_S, WORD_EVERY_S = 2.0, 5.0
_MOST_JOBS, _MOST_NODES = 20_000_000, 100_000_000


class Number(click.ParamType[float]):
    """A number between two bounds, or a share in per cent; never nan."""

    name = "number"

    def __init__(self, least: float, most: float) -> None:
        self.least, self.most = least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        text = str(value).strip()
        try:
            number = float(text[:-1]) / 100 if text.endswith("%") else float(text)
        except ValueError:
            self.fail(f"'{value}' is not a number", param, ctx)
        if not self.least <= number <= self.most:
            self.fail(f"{value}: it must be from {self.least:g} to {self.most:g}", param, ctx)
        return number


@click.command("production")
@click.option(
    "--swf",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    default=None,
    metavar="FILE",
    help="Replay the jobs of this file in the Standard Workload Format (.gz too).",
)
@click.option("--jobs", type=click.IntRange(1, _MOST_JOBS), default=1_000_000, show_default=True, help="Jobs to make.")
@click.option(
    "--nodes",
    type=click.IntRange(1, _MOST_NODES),
    default=None,
    help="Of the machine; processors with --swf. Default: 20000, or what the file says.",
)
@click.option("--days", type=Number(0.01, 36525), default=365.0, show_default=True, help="In which they are submitted.")
@click.option("--load", type=Number(0.0001, 10), default=0.9, show_default=True, help="Their work, of the machine's.")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=1, show_default=True, help="Same seed, same bytes.")
@click.option(
    "--depth",
    type=click.IntRange(0, 1_000_000),
    default=100,
    show_default=True,
    help="Jobs behind the head that backfill looks at; 0: none.",
)
@click.option("--order", type=click.Choice(ORDERS), default="fcfs", show_default=True, help="Who goes first.")
@click.option(
    "--cycle", type=Duration(zero=True), default=0.0, help="Backfill only so often.  [default: at every event]"
)
@click.option(
    "--overrun",
    type=click.Choice(["kill", "run-on"]),
    default=None,
    help="What comes of jobs at their time limit.  [default: kill; with --swf run-on]",
)
@click.option("--warm-up", type=Duration(zero=True), default=0.0, help="Measure only what is submitted after it.")
@click.option(
    "--counted-as",
    type=click.Choice(["allocated", "requested"]),
    default="allocated",
    show_default=True,
    help="Which processors a trace's job holds.",
)
@click.option(
    "--outages",
    type=click.Choice(["recorded", "none"]),
    default="recorded",
    show_default=True,
    help="Whether nothing starts while a trace stood still with jobs waiting.",
)
@click.option("--replay-own", is_flag=True, help="Only measure a trace's own schedule.")
@click.option(
    "--fit", is_flag=True, help="Try every order with several depths; take the one nearest to a trace's waits."
)
@click.option("--leave-out-bad-lines", "bad_lines", is_flag=True, help="Count lines that are no records and go on.")
@click.option(
    "--records",
    type=click.Path(dir_okay=False, path_type=Path),
    default=None,
    metavar="FILE",
    help="Write one record a job: .csv or .swf.",
)
@figure_option
@json_option
@click.pass_context
def command(ctx: click.Context, /, figure: Path | None, as_json: bool, records: Path | None, **options: Any) -> None:
    """A year of production under EASY backfill: utilisation, waits, queue.

    The jobs are a model's own, or those of a trace, whose schedule is then shown beside ours. Only counts of processors are
    kept, no nodes, and one record a job.
    """
    from shakedown.cli.twin.production_words import in_words
    from shakedown.twin.production.records import check_name, write_records

    _check(ctx, options, records)
    if records is not None:
        check_name(records)
    outcome = _outcome(options)
    year = outcome.year
    if records is not None and outcome.made is not None:
        write_records(records, outcome.jobs, outcome.made, year)
        say(f"records: {records}")

    def draw() -> Drawing:
        from shakedown.report.figures.models.production import draw_production

        return draw_production(year)

    show_model(year.as_document(), as_json, lambda: in_words(year), figure, draw)


def _check(ctx: click.Context, options: dict[str, Any], records: Path | None) -> None:
    """Options that would have no effect are refused."""
    idle = OF_TRACES if options["swf"] is None else OF_GENERATED
    for name in idle:
        if _typed(ctx, name):
            word = "--leave-out-bad-lines" if name == "bad_lines" else "--" + name.replace("_", "-")
            only = "means something only with --swf" if options["swf"] is None else "has no meaning with --swf"
            raise UsageError(f"{word} {only}", "leave one of the two out")
    if options["fit"]:
        chosen = [name for name in ("order", "depth", "replay_own") if _typed(ctx, name)]
        if chosen:
            raise UsageError(
                f"--fit and --{chosen[0].replace('_', '-')} cannot be given together",
                "--fit chooses order and depth itself",
            )
    if options["replay_own"] and records is not None:
        raise UsageError(
            "--replay-own makes no schedule of which --records could be written", "leave one of the two out"
        )


def _typed(ctx: click.Context, name: str) -> bool:
    return ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE


def _outcome(options: dict[str, Any]) -> Outcome:
    from shakedown.twin.production.easy import Rules
    from shakedown.twin.production.generate import Asked
    from shakedown.twin.production.trace import read_trace
    from shakedown.twin.production.year import fit, play_generated, play_trace

    began, swf = time.perf_counter(), options["swf"]
    kill = (options["overrun"] or ("kill" if swf is None else "run-on")) == "kill"
    rules = Rules(options["order"], options["depth"], options["cycle"], kill)
    if swf is None:
        nodes = 20_000 if options["nodes"] is None else options["nodes"]
        asked = Asked(options["jobs"], nodes, options["days"], options["load"], options["seed"])
        outcome = play_generated(asked, rules, options["warm_up"], _teller())
    else:
        trace = read_trace(swf, options["nodes"], options["counted_as"], options["bad_lines"])
        keep = options["outages"] == "recorded"
        tried = fit(trace, rules, keep, _teller()) if options["fit"] else ()
        rules = tried[0].rules if tried else rules
        outcome = play_trace(trace, swf.name, rules, options["warm_up"], keep, options["replay_own"], tried, _teller())
    seconds = time.perf_counter() - began
    if seconds > FIRST_WORD_S:
        say(f"{outcome.year.jobs} jobs in {seconds:.1f} s")
    return outcome


def _teller() -> Tell:
    """Says how far it is when it takes longer."""
    began = time.perf_counter()
    next_word = began + FIRST_WORD_S

    def tell(started: int, total: int, _: float) -> None:
        nonlocal next_word
        if time.perf_counter() >= next_word:
            next_word = time.perf_counter() + WORD_EVERY_S
            say(f"{started} of {total} jobs started ({started / total:.0%})")

    return tell
