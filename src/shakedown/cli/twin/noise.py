"""``shakedown twin noise``: what the operating system's noise costs a bulk-synchronous job, by size and by idle cores."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from shakedown.cli.twin.measured import asked_of, measured_option, show_beside
from shakedown.cli.twin.modelling import Duration, figure_option, json_option, show_model
from shakedown.cli.twin.noise_source import SourceText
from shakedown.cli.twin.noise_tables import asci_q_text, show_time, study_text
from shakedown.metrics.words import plural
from shakedown.model.errors import UsageError

if TYPE_CHECKING:
    from shakedown.twin.models.noise_sources import Source

EXAMPLES = ("asci-q",)
ASSUMED = ("tick,period=10ms,duration=10us,core", "daemons,period=10s,duration=5ms,node")


@click.command()
@click.option("--processes", type=int, default=8192, show_default=True, metavar="N", help="Of the largest job.")
@click.option(
    "--per-node",
    type=int,
    multiple=True,
    metavar="N",
    help="Processes a node; may be repeated. All cores, and one idle.",
)
@click.option("--cores", type=int, default=4, show_default=True, metavar="N", help="Of a node.")
@click.option(
    "--granularity", type=Duration(), default="1ms", show_default=True, metavar="TIME", help="Work between waits."
)
@click.option(
    "--collective",
    type=Duration(zero=True),
    default="10us",
    show_default=True,
    metavar="TIME",
    help="A wait's own time.",
)
@click.option(
    "--steps", type=int, default=None, metavar="N", help="Exactly so many.  [default: until the standard error is 1 %]"
)
@click.option(
    "--source", "sources", type=SourceText(), multiple=True, metavar="SOURCE", help="What takes time; see above."
)
@click.option("--example", type=click.Choice(EXAMPLES), default=None, help="ASCI Q before and after its clean-up.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, metavar="N")
@measured_option
@figure_option
@json_option
@click.pass_context
def command(
    context: click.Context,
    processes: int,
    per_node: tuple[int, ...],
    cores: int,
    granularity: float,
    collective: float,
    steps: int | None,
    sources: tuple[Source, ...],
    example: str | None,
    seed: int,
    measured: str | None,
    figure: Path | None,
    as_json: bool,
) -> int:
    """Model what noise costs a job whose processes all wait for each other.

    SOURCE is a name and what it takes, with commas between:

    \b
      daemons,period=10s,duration=5ms,node   once a node, on an idle core if any
      tick,period=10ms,duration=10us,core    on each core alike
      every=32,at=0                          only on the first of every 32
      random                                 gaps and lengths exponential
      synchronised                           everywhere at the same time

    Without --source a tick and daemons are assumed. --measured lays the noise that the kernel of that name found on each core
    beside the sources on the same nodes and ranks; --granularity is the kernel's quantum then.
    """
    if example:
        _refuse_beside_example(context)
        _show_asci_q(seed, figure, as_json)
        return 0
    given = sources or tuple(SourceText().convert(text, None, None) for text in ASSUMED)
    if measured:
        _show_measured(measured, given, granularity, not sources, figure, as_json)
        return 0
    from shakedown.report.figures.models.noise import draw_model_noise
    from shakedown.twin.models.noise_study import study_noise

    kinds = per_node or ((cores, cores - 1) if cores > 1 else (cores,))
    study = study_noise(processes, kinds, cores, given, granularity, steps, collective, seed)
    show_model(study, as_json, lambda: study_text(study, not sources), figure, lambda: draw_model_noise(study))
    return 0


def _show_measured(
    measured: str, sources: tuple[Source, ...], granularity: float, assumed: bool, figure: Path | None, as_json: bool
) -> None:
    from shakedown.queries.beside_models import noise_beside

    asked = asked_of(measured, {"noise": "%", "worst_core": "%"})
    whose = "sources assumed: no --source was given" if assumed else f"{plural(len(sources), 'source')} as given"
    head = f"Noise of {asked.campaign.label} beside a model; {whose}, {show_time(granularity)} of work."
    show_beside(noise_beside(asked, sources, granularity), head, as_json, figure)


def _show_asci_q(seed: int, figure: Path | None, as_json: bool) -> None:
    from shakedown.report.figures.models.asci_q import draw_asci_q
    from shakedown.twin.models.asci_q import rehearse_asci_q

    rehearsal = rehearse_asci_q(seed)
    show_model(rehearsal, as_json, lambda: asci_q_text(rehearsal), figure, lambda: draw_asci_q(rehearsal))


def _refuse_beside_example(context: click.Context) -> None:
    """An example has its own machine: an option that would say otherwise must not be passed over in silence."""
    for name in ("processes", "per_node", "cores", "granularity", "collective", "steps", "sources", "measured"):
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            option = "--source" if name == "sources" else "--" + name.replace("_", "-")
            raise UsageError(f"{option} does not go with --example, which has its own", "leave one of them out")
