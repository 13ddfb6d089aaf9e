"""The data path to an archive: each stage's rate from lowest to highest, with the limiting stage marked."""

from __future__ import annotations

from typing import Any

from shakedown.report.figures.style import ACCENT, INK, Drawing, draw, label, short_number
from shakedown.twin.models.archive import PathModel, StageRate
from shakedown.twin.models.archive_q import QArchive

MB = 1e6
_LIMIT = "#c8641e"
_THIN = 0.012  # of the axis: a stage of one rate is still seen


def draw_archive(result: PathModel | QArchive) -> Drawing:
    """Purpose: the stages from top to bottom in the order of the path; a band shows what the whole path carries."""
    model = result.path if isinstance(result, QArchive) else result

    def paint(figure: Any) -> None:
        axes = figure.add_subplot()
        most = max(stage.high_bytes_per_s for stage in model.stages) / MB
        axes.axvspan(model.low_bytes_per_s / MB, model.high_bytes_per_s / MB, color=ACCENT, alpha=0.12, linewidth=0)
        for place, stage in enumerate(model.stages):
            _bar(axes, place, stage, most)
        axes.set_yticks(range(len(model.stages)), [label(_name(stage), 40) for stage in model.stages])
        axes.set_ylim(len(model.stages) - 0.5, -0.5)
        axes.set_xlim(0, most * 1.25)
        axes.xaxis.set_major_formatter(lambda value, _: short_number(value))
        axes.set_title(label(f"Model: {model.model_of}", 90))
        axes.set_xlabel("what the members used carry together, MB/s")
        axes.tick_params(axis="y", length=0, labelcolor=INK)
        axes.grid(axis="y", visible=False)

    caption = (
        f"Model, not measured: {model.model_of}. Bars: least to most rate of the members used; hatched: the stages that "
        f"limit; the band: what the path carries, {_range(model.low_bytes_per_s, model.high_bytes_per_s)} MB/s."
    )
    height = 0.9 + 0.34 * len(model.stages)
    return draw("model-archive", "Model: the data path to the archive", caption, height, paint)


def _bar(axes: Any, place: int, stage: StageRate, most: float) -> None:
    low, high = stage.low_bytes_per_s / MB, stage.high_bytes_per_s / MB
    width = max(high - low, _THIN * most)
    look = {"color": "white", "edgecolor": _LIMIT, "hatch": "////"} if stage.limits else {"color": ACCENT}
    axes.barh(place, width, left=high - width, height=0.5, linewidth=1.0, **look)
    text = f"{_range(stage.low_bytes_per_s, stage.high_bytes_per_s)}{'  limits' if stage.limits else ''}"
    axes.annotate(
        text, (high, place), xytext=(4, 0), textcoords="offset points", va="center", fontsize=7,
        fontweight="bold" if stage.limits else "normal",
    )  # fmt: skip


def _name(stage: StageRate) -> str:
    return (
        f"{stage.name} ({stage.used} of {stage.count})" if stage.used != stage.count else f"{stage.name} ({stage.used})"
    )


def _range(low: float, high: float) -> str:
    return f"{low / MB:,.0f}" if low == high else f"{low / MB:,.0f}–{high / MB:,.0f}"
