"""The figures of MPI's memory, of checkpoints and of the archive: what they say they are, and odd models drawn."""

from __future__ import annotations

from typing import Any

import pytest

from shakedown.report.figures.models.archive import draw_archive
from shakedown.report.figures.models.checkpoint import draw_checkpoint
from shakedown.report.figures.models.memory import draw_memory
from shakedown.report.figures.style import Drawing, style
from shakedown.twin.models.archive import parse_stage, path_model
from shakedown.twin.models.archive_q import PATHS, path_of, q_archive
from shakedown.twin.models.checkpoint import BURST_BUFFER, LUSTRE, XRAGE_BYTES, Storage, checkpoint_model
from shakedown.twin.models.mpi_memory import Job
from shakedown.twin.models.mpi_memory_model import memory_model


def drawn(drawing: Drawing) -> Any:
    """The figure itself, painted."""
    assert drawing.title.startswith("Model: ") and "odel" in drawing.caption
    with style():
        return drawing._figure


def test_the_papers_points_lie_where_they_were_printed() -> None:
    left, right = drawn(draw_memory(memory_model(Job()))).axes
    points = {(x, round(y, 2)) for line in right.lines if line.get_linestyle() == "None" for x, y in line.get_xydata()}
    assert {(64, 0.01), (8192, 0.15), (131072, 22.3), (262144, 45.0)} <= points
    left_points = {
        (x, round(y, 1)) for line in left.lines if line.get_linestyle() == "None" for x, y in line.get_xydata()
    }
    assert {(524288, 64.4), (131072, 4.3), (131072, 0.7), (393216, 34.3)} <= left_points
    assert len(left_points) == 16


def test_points_of_the_paper_are_not_drawn_for_another_job() -> None:
    left, right = drawn(draw_memory(memory_model(Job(nodes=100, ranks_per_node=8)))).axes
    assert [line for line in left.lines if line.get_linestyle() == "None"] == []
    marks = [line for line in right.lines if line.get_linestyle() == "None" and len(line.get_xdata())]
    assert len(marks) == 1, "the job asked for, alone"


@pytest.mark.parametrize("job", [Job(nodes=1, ranks_per_node=1), Job(nodes=10**6, ranks_per_node=1000)])
def test_the_smallest_and_the_largest_job_are_drawn(job: Job) -> None:
    drawn(draw_memory(memory_model(job)))


def test_the_interval_to_take_is_the_lowest_point_of_its_line() -> None:
    model = checkpoint_model(XRAGE_BYTES, 86400.0, (LUSTRE, BURST_BUFFER))
    (axes,) = drawn(draw_checkpoint(model)).axes
    lines = [line for line in axes.lines if len(line.get_xdata()) > 50]
    points = [line for line in axes.lines if line.get_marker() == "o"]
    for line, point in zip(lines, points, strict=True):
        assert min(line.get_ydata()) >= point.get_ydata()[0] - 1e-9
    assert points[0].get_xdata()[0] == pytest.approx(221.7, abs=0.1)


@pytest.mark.parametrize("mtbf", [1e-3, 60.0, 1e9])
def test_hopeless_and_quiet_machines_are_drawn(mtbf: float) -> None:
    odd = Storage("_$odd$\n" * 30, 1e3, 1e15, drain_bytes_per_s=1.0)
    drawn(draw_checkpoint(checkpoint_model(1e12, mtbf, (LUSTRE, odd))))


@pytest.mark.parametrize("example", list(PATHS))
def test_the_stages_that_limit_are_marked(example: str) -> None:
    model = path_model(example, path_of(example))
    (axes,) = drawn(draw_archive(q_archive(model))).axes
    hatched = [place for place, bar in enumerate(axes.patches[1:]) if bar.get_hatch()]
    limits = {model.limit_low, model.limit_high}
    assert {model.stages[place].name for place in hatched} == limits


def test_a_path_of_one_stage_with_an_odd_name_is_drawn() -> None:
    drawn(draw_archive(path_model("$x$ " * 60, (parse_stage("_tape$ = 1 MB/s"),))))
