"""Only the figures of a report: list them, or write them as files in some formats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from shakedown.model.errors import RecordError, UsageError, did_you_mean
from shakedown.model.layout import Layout
from shakedown.report.evidence import evidence_of
from shakedown.report.figures.style import FORMATS, Drawing
from shakedown.report.reading import read_campaign


@dataclass(frozen=True, slots=True)
class FigureFiles:
    """A figure, and its files that were written."""

    name: str
    title: str
    files: tuple[Path, ...] = ()


def list_figures(campaign: Path) -> list[FigureFiles]:
    """Purpose: every figure of the report, in order, without painting any."""
    return [FigureFiles(drawing.file, drawing.title) for drawing in _figures(campaign)]


def write_figures(
    campaign: Path, out: Path | None = None, only: Sequence[str] = (), formats: str | None = None
) -> list[FigureFiles]:
    """Purpose: write some figures into ``out``, or into the report's own directory. Returns the figures with their files.

    ``only``: names, or patterns with ``*``. Errors: UsageError for an unknown format or name, RecordError where a file cannot be
    written, or where the record is damaged.
    """
    from shakedown.events.chain import refuse_damaged

    refuse_damaged(Layout(campaign))  # a figure alone could not say that it is of a damaged record
    wanted = _formats(formats)
    chosen = _chosen(_figures(campaign), only)
    folder = out or Layout(campaign).figures / "figures"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return [FigureFiles(one.file, one.title, _write(one, folder, wanted)) for one in chosen]
    except OSError as error:
        text = f"the figures cannot be written to {folder}: {error.strerror or error}"
        raise RecordError(text, hint="give another place with --out DIR") from error


def _figures(campaign: Path) -> list[Drawing]:
    from shakedown.report.figures.registry import draw_all

    read = read_campaign(campaign)
    return draw_all(read.layout.root, evidence_of(read)).all


def _formats(text: str | None) -> list[str]:
    """The formats of a comma-separated list, each once."""
    names = list(FORMATS) if text is None else [name.strip().lower() for name in text.split(",")]
    for name in names:
        if name not in FORMATS:
            raise UsageError(
                f"figures are not written as {name or 'nothing'!r}", hint=f"name some of {', '.join(FORMATS)}"
            )
    return list(dict.fromkeys(names))


def _chosen(drawings: list[Drawing], only: Sequence[str]) -> list[Drawing]:
    """The figures with these names. Raises UsageError for a name that no figure has."""
    names = [drawing.file for drawing in drawings]
    for pattern in only:
        if not any(fnmatchcase(name, pattern) for name in names):
            hint = did_you_mean(pattern, names) or "'shakedown figures' lists them"
            raise UsageError(f"there is no figure {pattern!r} in this campaign", hint=hint)
    return [one for one in drawings if not only or any(fnmatchcase(one.file, pattern) for pattern in only)]


def _write(drawing: Drawing, folder: Path, formats: Sequence[str]) -> tuple[Path, ...]:
    paths = tuple(folder / f"{drawing.file}.{name}" for name in formats)
    for path, name in zip(paths, formats, strict=True):
        path.write_bytes(drawing.in_format(name))
    return paths
