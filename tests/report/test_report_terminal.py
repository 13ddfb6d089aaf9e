"""The scorecard in a terminal, and the command around it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from acceptance_story import story_document

from shakedown.cli.main import cli
from shakedown.metrics.judging.criteria import score
from shakedown.metrics.rows.table import fold_runs
from shakedown.model.errors import RecordError, UsageError
from shakedown.model.events import Event
from shakedown.model.judging import Criterion
from shakedown.model.nouns import Case, Component
from shakedown.report.live_page import keep_written
from shakedown.report.terminal import render_scorecard

if TYPE_CHECKING:
    from tests.report.conftest import CampaignBuilder

pytestmark = pytest.mark.usefixtures("without_figures")


def rendered(builder: CampaignBuilder) -> str:
    return render_scorecard(score(builder.document, fold_runs(builder.events)))


def test_a_scorecard_as_it_is_printed(new: Callable[..., CampaignBuilder]) -> None:
    builder = new(
        components=(
            Component("functionality", "functionality", ("hello", "hpcc")),
            Component("stability", "stability", ("hello",), 4, criteria=(
                Criterion("completed", "passed / attempts", ">=", 0.95, "%", must=">= 95%"),
                Criterion("correct", "correct / completed", "=", 1.0, "%", must="= 100%", enough=5))),
        ),
        cases=(Case("hello", "hello", "local:all"), Case("hpcc", "hpcc", "local:all",
               unavailable="needs the program 'hpcc', which is not here; get it with: apt-get install hpcc")),
    )  # fmt: skip
    builder.run("hello", "functionality")
    for repeat, verdict in enumerate(("passed", "passed", "passed", "timeout"), 1):
        builder.run("hello", "stability", verdict, repeat)
    builder.end()
    assert (
        rendered(builder)
        == """\
rejected: 1 criterion of 3 not met (stability: completed)

component      outcome                     wanted  passed  attempts  to come
functionality  accepted with restrictions       1       1         1        0
stability      rejected                         4       3         4        0

functionality
  met         passed: 1 passed / 1 wanted = 100%, must = 100%

stability
  NOT MET     completed: 3 passed / 4 attempts = 75.0% (1 timeout), must >= 95%
  undecided   correct: 3 correct / 3 completed = 100%, must = 100%; 3 of the 5
              that are enough to judge

not judged: unavailable
  hpcc: needs the program 'hpcc', which is not here; get it with: apt-get
    install hpcc"""
    )


def test_a_row_that_nothing_is_known_of_says_what_it_asks_for() -> None:
    document = story_document()
    told = score(document, fold_runs([Event("campaign_start", seq=1, time=1.0, value={"document": "d"})]))
    (row, *_) = [one.row for one in told.contract.rows if one.outcome == "undecided"] if told.contract else []
    text = " ".join(render_scorecard(told).split())
    assert f"undecided {row.name}, {row.test}: {row.figure} must {row.must}; " in text


def test_it_fits_80_columns_whatever_the_names(new: Callable[..., CampaignBuilder]) -> None:
    name = "a\x1b[31m\u202e" + "very-long-name-" * 20
    criteria = (Criterion(name, "passed / wanted", "=", 1.0, must=name, per="case"),)
    cases = (Case("hello", "hello", "local:all"), Case(name, "hello", "local:all", unavailable=name))
    builder = new(components=(Component(name, "site", ("hello", name), 999_999, criteria=criteria),), cases=cases)
    builder.run("hello", name, "failed")
    builder.add(name)
    lines = rendered(builder).split("\n")
    assert max(map(len, lines)) <= 80
    assert all(line.isprintable() for line in lines)


# ---- the command -----------------------------------------------------------------------------------------------------


def shakedown(*words: object) -> Any:
    """Without a PDF, which takes most of the time and is another test's."""
    return cli.main(["report", "--no-pdf", *map(str, words)], standalone_mode=False)


def in_site(builder: CampaignBuilder, site: Path, name: str) -> Path:
    (site / "campaigns").mkdir(parents=True, exist_ok=True)
    (site / "site.yaml").write_text("site: here\n")
    builder.root = site / "campaigns" / name
    return builder.save()


def test_it_prints_the_scorecard_and_where_the_report_is(
    small: CampaignBuilder, capsys: pytest.CaptureFixture[str]
) -> None:
    small.run("hello", "main")
    small.end()
    campaign = small.save()
    assert shakedown(campaign) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("accepted: the only criterion is met\n")
    assert printed.endswith(f"report: {campaign / 'report.html'}\n")
    assert (campaign / "report.html").is_file()


@pytest.mark.parametrize(
    ("verdict", "ended", "status"), [("passed", True, 0), ("failed", True, 1), ("passed", False, 4)]
)
def test_the_exit_status_is_the_outcomes(small: CampaignBuilder, verdict: str, ended: bool, status: int) -> None:
    small.run("hello", "main", verdict)
    if ended:
        small.end()
    assert shakedown(small.save()) == status


def test_json_is_the_scorecard_as_data(small: CampaignBuilder, capsys: pytest.CaptureFixture[str]) -> None:
    small.run("hello", "main")
    small.end()
    assert shakedown(small.save(), "--json") == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["outcome"], data["campaign"], data["finished"]) == ("accepted", "small-0001", True)
    assert data["components"][0]["criteria"][0]["measured"] == 1.0
    assert data["report"].endswith("report.html")


def test_it_writes_elsewhere_if_asked(small: CampaignBuilder, tmp_path: Path) -> None:
    campaign = small.save()
    shakedown(campaign, "--output", tmp_path / "there/it/is")
    assert (tmp_path / "there/it/is/report.html").is_file()
    assert not (campaign / "report.html").exists() and not (campaign / "report").exists()


def test_an_id_is_looked_up_in_the_site_and_none_means_the_newest(
    new: Callable[..., CampaignBuilder], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, later in (("old-1", 0.0), ("new-1", 50.0)):
        builder = new()
        builder.events.clear()
        builder.add("campaign_start", later, value={"document": builder.digest, "campaign": name})
        in_site(builder, tmp_path / "site", name)
    (tmp_path / "site/deep").mkdir()
    monkeypatch.chdir(tmp_path / "site/deep")
    assert shakedown() == 4
    assert (tmp_path / "site/campaigns/new-1/report.html").exists()
    assert not (tmp_path / "site/campaigns/old-1/report.html").exists()
    assert shakedown("old-1") == 4
    assert (tmp_path / "site/campaigns/old-1/report.html").exists()


def test_a_campaign_without_its_site_is_reported_by_path(
    small: CampaignBuilder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = small.save()
    monkeypatch.chdir(tmp_path)
    assert shakedown(campaign.name) == 4


# ---- misuse ----------------------------------------------------------------------------------------------------------


def test_a_directory_that_is_no_campaign(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        shakedown(tmp_path)
    assert str(caught.value).startswith(f"{tmp_path} is no campaign: it has no log")


def test_a_place_that_cannot_be_written(
    small: CampaignBuilder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is wrong use, and told before anything is drawn."""
    monkeypatch.setattr("shakedown.report.writing.compose", None)
    (tmp_path / "taken").write_text("a file, not a directory")
    with pytest.raises(UsageError, match=r"taken/x\.xml cannot be written: Not a directory"):
        shakedown(small.save(), "--junit", tmp_path / "taken/x.xml")
    with pytest.raises(UsageError, match=r"taken/x\.html cannot be written: Not a directory"):
        keep_written(small.save(), tmp_path / "taken/x.html", None, lambda _: None)
    with pytest.raises(UsageError) as caught:
        shakedown(small.save(), "--output", tmp_path / "taken/inside")
    assert str(caught.value) == (
        f"the report cannot be written to {tmp_path / 'taken/inside'}: Not a directory\n"
        "hint: give another place with --output DIR"
    )


def test_a_frozen_plan_that_was_altered(small: CampaignBuilder) -> None:
    campaign = small.save()
    path = campaign / "documents" / f"{small.digest}.json"
    path.write_bytes(path.read_bytes().replace(b"small", b"large"))
    with pytest.raises(RecordError, match="was changed after it was frozen"):
        shakedown(campaign)


def test_a_frozen_plan_that_is_missing(small: CampaignBuilder) -> None:
    campaign = small.save()
    path = campaign / "documents" / f"{small.digest}.json"
    path.unlink()
    with pytest.raises(RecordError) as caught:
        shakedown(campaign)
    assert str(caught.value) == (
        f"the record of small-0001 is damaged: documents/{path.name}: the log names this frozen plan, and it cannot be read:"
        " No such file or directory\nhint: put that file back from a backup; 'shakedown verify' says more"
    )


def test_a_damaged_log(small: CampaignBuilder) -> None:
    campaign = small.save()
    log = campaign / "log/000001.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"driver_start"', b'"driver_start'))
    with pytest.raises(RecordError, match="line 3 is damaged"):
        shakedown(campaign)


def test_an_empty_log_with_no_plan(small: CampaignBuilder) -> None:
    small.events.clear()
    campaign = small.save()
    (campaign / "documents" / f"{small.digest}.json").unlink()
    with pytest.raises(RecordError) as caught:
        shakedown(campaign)
    assert str(caught.value) == f"the log of {campaign} is empty and it holds 0 frozen plans; one is needed"


def test_what_is_not_met_before_the_end_is_said_in_the_same_words_everywhere(
    new: Callable[..., CampaignBuilder], capsys: pytest.CaptureFixture[str]
) -> None:
    """A wrong answer decides at once; the campaign is incomplete until it is over, and rejected then, whatever was left over."""
    right = Criterion("right", "correct / completed", "=", 1.0, "%", must="= 100%")
    builder = new(components=(Component("main", "functionality", ("hello",), 3, criteria=(right,)),))
    builder.run("hello", "main")
    builder.run("hello", "main", "incorrect", 2)
    before, after = (
        "incomplete: 1 result still to come; already not met: main: right",
        "rejected: 1 criterion of 1 not met (main: right)",
    )
    for ended, words, status in ((False, before, 4), (True, after, 1)):
        if ended:
            builder.run("hello", "main", "undetermined", 3)
            builder.end()
        campaign = str(builder.save())
        assert cli.main(["report", campaign, "--no-pdf"], standalone_mode=False) == status
        assert words in capsys.readouterr().out
        assert cli.main(["report", campaign, "--no-pdf", "--json"], standalone_mode=False) == status
        assert json.loads(capsys.readouterr().out)["summary"] == words
        page = (Path(campaign) / "report.html").read_text()
        outcome, _, rest = words.partition(": ")
        assert f"<strong>{outcome.capitalize()}</strong>{rest[0].upper()}{rest[1:]}." in page
        assert '<b class="bad">not met</b> main: right' in page
