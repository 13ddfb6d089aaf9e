"""``shakedown figures``: the list, the files, misuse; and figures of many thousands of runs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from shakedown.cli.main import cli
from shakedown.model.errors import RecordError, UsageError
from shakedown.model.nouns import Component
from shakedown.report.figure_files import list_figures, write_figures

if TYPE_CHECKING:
    from tests.report.conftest import CampaignBuilder


def figures(*words: object) -> Any:
    return cli.main(["figures", *map(str, words)], standalone_mode=False)


def test_without_options_it_lists_and_writes_nothing(told: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert figures(told) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["figure", "what", "it", "shows"]
    assert lines[1] == "time-line                           What ran when"
    assert [line.split()[0] for line in lines[2:6]] == [
        "clock-01-stability", "nodes-in-use-01-stability", "holes-01-stability", "days-01-stability",
    ]  # fmt: skip
    assert len(lines) == 23
    assert not (told / "report").exists()


def test_it_writes_what_is_asked_for(told: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert figures(told, "--only", "run-time-1*", "--format", "png,svg", "--out", tmp_path / "a/b", "--json") == 0
    data = json.loads(capsys.readouterr().out)
    names = ["run-time-10-stability-spear", "run-time-11-stability-shield", "run-time-12-stability-ufs"]
    assert [one["name"] for one in data] == names
    assert sorted(path.name for path in (tmp_path / "a/b").iterdir()) == [
        f"{name}.{suffix}" for name in names for suffix in ("png", "svg")
    ]
    assert all(Path(file).is_file() for one in data for file in one["files"])


def test_they_are_the_report_s_own_whatever_else_is_written(acceptance: Path, told: Path, tmp_path: Path) -> None:
    for suffix in ("png", "pdf", "svg"):
        write_figures(told, tmp_path, ["modes-*", "failures-*", "run-time-07*"], suffix)
    written = sorted(tmp_path.iterdir())
    assert len(written) == 9
    for path in written:
        assert path.read_bytes() == (acceptance / "report/figures" / path.name).read_bytes(), path.name


def test_without_out_they_go_where_the_report_has_them(told: Path, tmp_path: Path) -> None:
    campaign = tmp_path / "moved"
    shutil.copytree(told, campaign)
    assert figures(campaign, "--only", "time-line", "--format", "svg") == 0
    assert [path.name for path in (campaign / "report/figures").iterdir()] == ["time-line.svg"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--only", "time-lime"], "there is no figure 'time-lime' in this campaign\nhint: did you mean 'time-line'?"),
        (["--only", "x*"], "there is no figure 'x*' in this campaign\nhint: 'shakedown figures' lists them"),
        (["--format", "gif"], "figures are not written as 'gif'\nhint: name some of svg, pdf, png"),
        (["--format", ""], "figures are not written as 'nothing'\nhint: name some of svg, pdf, png"),
    ],
)
def test_misuse(told: Path, words: list[str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        figures(told, *words)
    assert str(caught.value) == message
    assert caught.value.status == 2


def test_a_place_that_cannot_be_written(told: Path, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(RecordError) as caught:
        figures(told, "--only", "time-line", "--out", tmp_path / "taken/inside")
    assert str(caught.value).endswith("Not a directory\nhint: give another place with --out DIR")


def test_a_campaign_without_runs_has_none(small: CampaignBuilder, capsys: pytest.CaptureFixture[str]) -> None:
    assert figures(small.save()) == 0
    assert capsys.readouterr().out == "nothing was judged yet: there is no figure\n"


def test_thousands_of_runs_make_small_figures(new: Callable[..., CampaignBuilder], tmp_path: Path) -> None:
    builder = new(components=(Component("main", "stability", ("hello",), 20_000),))
    for repeat in range(1, 20_001):
        verdict = "failed" if repeat % 10 == 0 else "passed"
        builder.run("hello", "main", verdict, repeat, seconds=60.0 + repeat % 37, wait=3.0)
    builder.end()
    for one in write_figures(builder.save(), tmp_path / "out"):
        for file in one.files:
            assert file.stat().st_size < 500_000, file.name


def test_one_run_is_a_row_and_two_are_a_figure(new: Callable[..., CampaignBuilder]) -> None:
    builder, wanted = (
        new(components=(Component("main", "functionality", ("hello",), 2),)),
        {"time-line", "run-time-01-main-hello"},
    )
    builder.run("hello", "main")
    assert not wanted & {one.name for one in list_figures(builder.save())}
    builder.run("hello", "main", repeat=2)
    assert wanted <= {one.name for one in list_figures(builder.save())}
