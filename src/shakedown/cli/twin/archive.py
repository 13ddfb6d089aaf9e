"""``shakedown twin archive``: the data path to an archive, what limits it, and what would limit next."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import click

from shakedown.cli.output import table
from shakedown.cli.twin.modelling import Amount, figure_option, json_option, show_model
from shakedown.model.errors import UsageError
from shakedown.model.units import show_duration

if TYPE_CHECKING:
    from shakedown.twin.models.archive import PathModel
    from shakedown.twin.models.archive_q import QArchive

MB = 1e6
EXAMPLES = ("balanced", "before", "16-way", "transfer-1", "transfer-2", "transfer-3")


@click.command("archive")
@click.option(
    "--stage",
    "stages",
    multiple=True,
    metavar="SPEC",
    help='A stage, in the order of the path: "tape = 16 x 30-70 MB/s". Groups are joined by +; links may be in Gb/s.',
)
@click.option("--use", "used", multiple=True, metavar="STAGE=N", help="The transfer uses N members of a stage.")
@click.option("--size", type=Amount("bytes"), help="What is to be moved.")
@click.option(
    "--example", type=click.Choice(EXAMPLES), default=None, help="A path of ASCI Q, paper 003.  [default: balanced]"
)
@figure_option
@json_option
def command(
    stages: tuple[str, ...],
    used: tuple[str, ...],
    size: float | None,
    example: str | None,
    figure: Path | None,
    as_json: bool,
) -> None:
    """The data path to an archive: which stage limits a transfer, and which would next.

    Without --stage it is ASCI Q's path to its tapes (paper 003), beside the transfers that were measured there.
    """
    from shakedown.report.figures.models.archive import draw_archive
    from shakedown.twin.models.archive import parse_stage, path_model, use
    from shakedown.twin.models.archive_q import path_of, q_archive, size_of

    if stages and example:
        raise UsageError("--stage and --example both give a path", "give one of them")
    name = "" if stages else example or "balanced"
    path = tuple(map(parse_stage, stages)) if stages else path_of(name)
    for given in used:
        path = use(path, *_use(given))
    label = f"ASCI Q's archive, {name} (paper 003)" if name else "the path given"
    model = path_model(label, path, size_of(name) if size is None else size)
    archive = q_archive(model) if name else None

    def text() -> str:
        return _text(model) + (_paper(archive) if archive else "")

    show_model(archive or model, as_json, text, figure, lambda: draw_archive(model))


def _use(text: str) -> tuple[str, int]:
    name, _, number = text.rpartition("=")
    if not name.strip() or not number.strip().isdecimal() or len(number) > 12:
        raise UsageError(f"--use {text}", "write it as --use tape=4")
    return name.strip(), int(number)


def _text(model: PathModel) -> str:
    rows = [
        [
            stage.name,
            f"{stage.used} of {stage.count}",
            _range(stage.low_bytes_per_s, stage.high_bytes_per_s),
            _limit(model, stage.name),
        ]
        for stage in model.stages
    ]
    lines = [f"model: {model.model_of}\n", table(["stage", "used", "MB/s", ""], rows, right=[1, 2]), ""]
    lines.append(f"The path carries {_range(model.low_bytes_per_s, model.high_bytes_per_s)} MB/s.")
    if model.size_bytes is not None and model.least_s is not None and model.most_s is not None:
        time = f"{show_duration(model.least_s)} to {show_duration(model.most_s)}"
        lines.append(f"{model.size_bytes / 1e9:,.4g} GB take {time}.")
    for step in model.widened:
        members = ", ".join(f"{name} {count}" for name, count in step.members.items())
        rate = _range(step.low_bytes_per_s, step.high_bytes_per_s)
        lines.append(_item(f"with {members}: the limit is {step.then_limits}, {rate} MB/s"))
    return "\n".join(lines)


def _limit(model: PathModel, name: str) -> str:
    at = [end for end, stage in (("least", model.limit_low), ("most", model.limit_high)) if stage == name]
    return f"<- limits at {' and '.join(at)}" if at else ""


def _paper(archive: QArchive) -> str:
    rows = [
        [
            transfer.name, f"{transfer.published_bytes_per_s / MB:.0f}",
            _range(transfer.low_bytes_per_s, transfer.high_bytes_per_s), transfer.limits,
            "" if transfer.compression is None else f"{transfer.compression:g}",
            "" if transfer.native_per_drive_bytes_per_s is None else f"{transfer.native_per_drive_bytes_per_s / MB:.1f}",
            "" if transfer.expected_bytes_per_s is None else f"{transfer.expected_bytes_per_s / MB:.0f}",
        ]
        for transfer in archive.transfers
    ]  # fmt: skip
    heads = ["transfer, MB/s", "paper", "model", "limits", "compression", "native/drive", "at 30 native"]
    total = f"{archive.aggregate_bytes_per_s / MB:,.0f} MB/s; {archive.aggregate_in_april_bytes_per_s / MB:,.0f}"
    lines = [
        "",
        "",
        table(heads, rows, right=[1, 2, 4, 5, 6]),
        "",
        f"All drives and the disk cache: {total} without June's.",
    ]
    lines += ["", "Assumed:", *map(_item, archive.assumed)]
    lines += ["", "What in paper 003 does not add up:", *map(_item, archive.does_not_add_up)]
    return "\n".join(lines)


def _range(low: float, high: float) -> str:
    return f"{low / MB:,.0f}" if low == high else f"{low / MB:,.0f}-{high / MB:,.0f}"


def _item(text: str) -> str:
    return "\n  ".join(textwrap.wrap(f"- {text}", 78))
