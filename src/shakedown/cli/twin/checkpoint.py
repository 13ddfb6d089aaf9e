"""``shakedown twin checkpoint``: how long checkpoints take, how often to write them, and what is wasted."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import click

from shakedown.cli.output import table
from shakedown.cli.twin.measured import asked_of, measured_option, show_beside
from shakedown.cli.twin.modelling import Amount, Duration, figure_option, json_option, show_model
from shakedown.model.errors import UsageError
from shakedown.model.units import show_duration

if TYPE_CHECKING:
    from shakedown.twin.models.checkpoint import Advice, CheckpointModel, Storage

_READ = "that reading with --streams is as fast as writing, unless --read says how fast"
NODE_TYPES = ("haswell", "knl", "haswell-before")


@click.command("checkpoint")
@click.option("--size", type=Amount("bytes"), default="24 TB", show_default=True, help="One checkpoint.")
@click.option(
    "--mtbf", type=Duration(), default="24h", show_default=True, help="Mean time between failures of the whole job."
)
@click.option("--restart", type=Duration(zero=True), default="0s", help="To start the job again, besides reading.")
@click.option("--bandwidth", type=Amount("bytes/s"), help="Writing to the file system.  [default: 21 GB/s]")
@click.option("--read", type=Amount("bytes/s"), help="Reading from it.  [default: 16 GB/s, or as --bandwidth]")
@click.option("--streams", type=int, help="Writing, from so many streams on Trinity's file system (paper 000).")
@click.option("--node-type", type=click.Choice(NODE_TYPES), default="knl", show_default=True, help="Of --streams.")
@click.option("--burst-bandwidth", type=Amount("bytes/s"), help="Writing to the burst buffer.  [default: 350 GB/s]")
@click.option("--burst-read", type=Amount("bytes/s"), help="Reading from it.  [default: 69 GB/s]")
@click.option("--drain", type=Amount("bytes/s"), help="Burst buffer to file system.  [default: as --bandwidth]")
@click.option("--no-burst", is_flag=True, help="There is no burst buffer.")
@click.option(
    "--example",
    is_flag=True,
    help="xRAGE on Trinity, paper 000's table 2; of the other options --mtbf and --restart count.",
)
@measured_option
@figure_option
@json_option
def command(
    size: float, mtbf: float, restart: float, bandwidth: float | None, read: float | None, streams: int | None,
    node_type: str, burst_bandwidth: float | None, burst_read: float | None, drain: float | None, no_burst: bool,
    example: bool, measured: str | None, figure: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Time of a checkpoint, the best interval between two, and the waste.

    Failures come at random; they hit work, checkpoints and restarts alike. A burst buffer must have drained before the next
    checkpoint begins. Without options: xRAGE's checkpoints of 24 TB on Trinity (paper 000); the 24 h are assumed.
    --measured lays the rates of a campaign's test checkpoint or io beside --bandwidth and --read, or without these beside
    what as many streams write on Trinity.
    """
    if measured:
        _show_measured(measured, bandwidth, read, node_type, figure, as_json)
        return
    from shakedown.report.figures.models.checkpoint import draw_checkpoint
    from shakedown.twin.models.checkpoint import BURST_BUFFER, LUSTRE, XRAGE_BYTES, checkpoint_model

    given = (bandwidth, read, streams, burst_bandwidth, burst_read, drain)
    as_in_paper = example or (all(option is None for option in given) and size == XRAGE_BYTES and not no_burst)
    if example:
        model = checkpoint_model(XRAGE_BYTES, mtbf, (LUSTRE, BURST_BUFFER), restart, as_in_paper=True)
    else:
        file_system = _file_system(bandwidth, read, streams, node_type)
        burst = () if no_burst else (_burst(burst_bandwidth, burst_read, drain or file_system.write_bytes_per_s),)
        model = checkpoint_model(size, mtbf, (file_system, *burst), restart, as_in_paper, _rests_on(streams, node_type))
    show_model(model, as_json, lambda: _text(model), figure, lambda: draw_checkpoint(model))


def _show_measured(
    measured: str, bandwidth: float | None, read: float | None, node_type: str, figure: Path | None, as_json: bool
) -> None:
    from shakedown.model.nouns import Case, Document
    from shakedown.queries.beside_models import rows_beside

    def model(case: Case, document: Document) -> dict[str, float]:
        storage = _file_system(bandwidth, read, case.shape.ranks if bandwidth is None else None, node_type)
        return {"write": storage.write_bytes_per_s / 1e6, "read": storage.read_bytes_per_s / 1e6}

    asked = asked_of(measured, {"write": "MB/s", "read": "MB/s"})
    whose = "the rates given" if bandwidth is not None else f"as many {node_type} streams on Trinity (paper 000)"
    head = f"Rates of {asked.campaign.label} beside a model: {whose}."
    show_beside(rows_beside(asked, model), head, as_json, figure)


def _file_system(bandwidth: float | None, read: float | None, streams: int | None, node_type: str) -> Storage:
    from shakedown.twin.models.checkpoint import LUSTRE, Storage
    from shakedown.twin.models.write_streams import LAWS

    if streams is not None and bandwidth is not None:
        raise UsageError("--streams and --bandwidth both say how fast writing is", "give one of them")
    if streams is not None:
        bandwidth = LAWS[node_type].bytes_per_s(streams)
        return Storage(f"Lustre, {streams:,} {node_type} streams", bandwidth, read or bandwidth)
    if bandwidth is None:
        return Storage("Lustre", LUSTRE.write_bytes_per_s, read or LUSTRE.read_bytes_per_s)
    return Storage("file system", bandwidth, read or bandwidth)


def _rests_on(streams: int | None, node_type: str) -> tuple[str, ...]:
    from shakedown.twin.models.write_streams import LAWS, best_streams

    if streams is None:
        return ()
    law = LAWS[node_type]
    best = best_streams(law)
    rate = f"{law.bytes_per_s(best) / 2**30:.0f} GiB/s"
    return (f"that {node_type} nodes write as IOR did on Trinity, fastest from {best:,} streams with {rate}", _READ)


def _burst(bandwidth: float | None, read: float | None, drain: float) -> Storage:
    from shakedown.twin.models.checkpoint import BURST_BUFFER, Storage

    write = bandwidth or BURST_BUFFER.write_bytes_per_s
    return Storage(
        "burst buffer", write, read or (BURST_BUFFER.read_bytes_per_s if bandwidth is None else write), drain
    )


def _text(model: CheckpointModel) -> str:
    head = (
        f"model: {model.model_of}\ncheckpoints of {model.size_bytes / 1e12:,.4g} TB, "
        f"a failure every {show_duration(model.mtbf_s)} in the mean\n"
    )
    parts = [head, *(_advice(advice) for advice in model.advice)]
    for title, lines in (("Assumed", model.assumed), ("What in paper 000 does not add up", model.does_not_add_up)):
        if lines:
            parts.append("\n".join([f"{title}:", *(_item(line) for line in lines)]) + "\n")
    return "\n".join(parts).rstrip()


def _advice(advice: Advice) -> str:
    storage = advice.storage
    rates = f"writes {_rate(storage.write_bytes_per_s)}, reads {_rate(storage.read_bytes_per_s)}"
    lines = [
        f"{storage.name}: {rates}",
        f"  a checkpoint takes {_time(advice.checkpoint_s)}, a restart {_time(advice.restart_s)}",
    ]
    rows = [
        [f"  {interval.rule}", _time(interval.interval_s), f"{interval.waste:.2%}"] for interval in advice.intervals
    ]
    lines.append(table(["  interval", "work between two", "waste"], rows, right=[1, 2]))
    if advice.drain_s is not None:
        fits = "before the next checkpoint begins" if advice.drain_fits else "TOO LATE for the next checkpoint"
        lines.append(f"  drains in {_time(advice.drain_s)}: {fits}")
    hope = "; the job will hardly ever end" if advice.never_ends else ""
    lines.append(f"  take: {_time(advice.take.interval_s)}, waste {advice.take.waste:.1%}{hope}\n")
    return "\n".join(lines)


def _time(seconds: float) -> str:
    return f"{show_duration(seconds)}" if seconds < 3600 else f"{seconds / 60:,.0f} min"


def _rate(rate: float) -> str:
    return f"{rate / 1e9:,.4g} GB/s"


def _item(text: str) -> str:
    return "\n  ".join(textwrap.wrap(f"- {text}", 78))
