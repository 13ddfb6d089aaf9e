"""A campaign without a plan's file, really run: it is one like any other, and every view says what it is."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from shakedown.cli.main import main
from shakedown.events.campaigns import create_campaign
from shakedown.machine import this_system
from shakedown.model.errors import UsageError
from shakedown.queries.last_failed import last_failed
from shakedown.report.page.settled_block import parts_of
from shakedown.report.writing import make_report

TESTS = {
    "some": "tags: [smoke]\nparameters: {n: [1, 2, 3]}\nrun: {command: 'test {n} != 2', time_limit: 20s}\n",
    "wrong": "parameters: {n: [1]}\nrun: {command: 'false', time_limit: 20s}\n"
    "expect: [{where: {n: 1}, verdict: failed, because: it is broken}]\n",
    "base": "abstract: yes\nrun: {command: 'true'}\n",
    "never": "run: {command: 'true'}\n",
}


def shakedown(site: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command in this process: each of its own would take a second."""
    out, err = io.StringIO(), io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        redirect_stdout(out),
        redirect_stderr(err),
        pytest.raises(SystemExit) as end,
    ):
        patch.chdir(site)
        patch.setattr(sys, "argv", ["shakedown", *words])
        main()
    return subprocess.CompletedProcess(words, int(end.value.code or 0), out.getvalue(), err.getvalue())


def data_of(site: Path, *words: str) -> Any:
    return json.loads(shakedown(site, *words, "--json").stdout)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site in which one campaign was run, with one case that failed and one that failed as it should."""
    site = tmp_path_factory.mktemp("ad hoc")
    (site / "tests").mkdir()
    (site / "site.yaml").write_text("site: s\n")
    for name, text in TESTS.items():
        (site / f"tests/{name}.yaml").write_text(f"test: {name}\n{text}")
    command = [sys.executable, "-m", "shakedown", "run", "--test", "wrong", "--tag", "smoke", "--repeats", "2", "-q"]
    done = subprocess.run(command, cwd=site, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1, done.stderr
    return site


def test_it_is_a_campaign_that_every_view_calls_ad_hoc(site: Path) -> None:
    words = "--test wrong --tag smoke --repeats 2"
    (campaign,) = (site / "campaigns").iterdir()
    assert campaign.name == "adhoc-wrong-tag-smoke-1"

    assert data_of(site, "status")["ad_hoc"] == words
    status = shakedown(site, "status").stdout.splitlines()
    assert status[1] == f"ad hoc, without a plan of the site: shakedown run {words}"
    assert [one["ad_hoc"] for one in data_of(site, "list", "campaigns")["campaigns"]] == [True]
    assert shakedown(site, "register").stdout.splitlines()[1].split()[-2:] == ["ad", "hoc"]
    page = make_report(campaign, pdf=False).page.read_text()
    assert "Report of an ad hoc campaign" in page and "Acceptance report" not in page
    assert page.count(f"shakedown run {words}") == 1


def test_what_both_sides_sign_says_so_too(site: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(site, tmp_path / "copy"))
    (copy / "templates").mkdir()
    (copy / "templates/report.css").write_text("p { color: navy; }")
    campaign = copy / "campaigns/adhoc-wrong-tag-smoke-1"
    settled = parts_of(make_report(campaign, pdf=False).page.read_text())[0]
    assert "Ad hoc, without a plan of the site: shakedown run --test wrong --tag smoke --repeats 2" in settled

    assert shakedown(copy, "seal", "--by", "Ada").returncode == 0
    assert "<dd>adhoc-wrong-tag-smoke (ad hoc), epochs 1</dd>" in (campaign / "signature.html").read_text()
    assert shakedown(copy, "verify").returncode == 0


def test_what_failed_last_is_known_by_its_case(site: Path) -> None:
    (campaign,) = (site / "campaigns").iterdir()
    failed = last_failed(campaign)
    assert (failed.campaign, failed.system) == (campaign.name, "here")
    assert failed.cases == (("some/n=2", "some"),)  # one that fails as its test expects has not failed


def test_a_dry_run_makes_nothing_and_knows_how_long_runs_took(site: Path) -> None:
    before = sorted(site.rglob("*"))
    done = shakedown(site, "run", "--last-failed", "--dry-run", "--json", "--id", "again")
    found = json.loads(done.stdout)
    assert done.returncode == 0
    assert [case["case"] for case in found["cases"]] == ["some/n=2"]
    assert found["cases"][0]["expected_s"] is None  # it failed: how long it takes is not known
    assert found["ad_hoc"] == "--last-failed adhoc-wrong-tag-smoke-1"
    known = data_of(site, "run", "--test", "some", "--param", "n=1", "--dry-run")
    assert known["cases"][0]["expected_s"] == pytest.approx(known["expected_s"]) and known["expected_s"] < 20
    assert known["cases"][0]["expected_from"] == "campaign adhoc-wrong-tag-smoke-1, 2 runs"
    assert data_of(site, "run", "--test", "never", "--dry-run")["cases"][0]["expected_s"] is None
    assert sorted(site.rglob("*")) == before


def test_a_name_that_is_taken_is_refused_in_a_dry_run_too(site: Path) -> None:
    done = shakedown(site, "run", "--test", "some", "--dry-run", "--id", "adhoc-wrong-tag-smoke-1")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: the name adhoc-wrong-tag-smoke-1 was used before")


def test_a_campaign_that_has_not_started_failed_in_nothing(tmp_path: Path) -> None:
    layout = create_campaign(tmp_path / "campaigns", "p-1", b"{}")
    with pytest.raises(UsageError, match="p-1 has not started: no result of it failed"):
        last_failed(layout.root)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("why", "some"), "has no run and no case 'some'\nhint: it is a test; its cases are: some/n=1, some/n=2, some/n=3\n"),
        (("why", "sme/n=1"), "has no run and no case 'sme/n=1'\nhint: did you mean 'some/n=1'?\n"),
        (("show", "case", "nver"), "there is no case 'nver'\nhint: did you mean 'never'?\n"),
        (("show", "case", "never/size=7"), "there is no case 'never/size=7'\nhint: the cases of test 'never' are: never\n"),
        (("show", "case", "base"), "test 'base' is abstract: it has no cases\nhint: show a test that extends it, or its file\n"),
        (("show", "test", "bas"), "there is no test 'bas'\nhint: did you mean 'base'?\n"),
        (("list", "--test", "base"), "test 'base' is abstract: it has no cases\nhint: list a test that extends it\n"),
        (("list", "--test", "wrng"), "there is no test 'wrng'\nhint: did you mean 'wrong'?\n"),
    ],
)  # fmt: skip
def test_names_that_are_none_are_answered_with_those_that_are(words: tuple[str, ...], said: str, site: Path) -> None:
    done = shakedown(site, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith(said)


def test_why_says_where_to_ask_about_a_node(site: Path) -> None:
    node = this_system().partitions()[0].nodes
    assert shakedown(site, "why", node).stderr.endswith(f"hint: {node} is a node: 'shakedown nodes' says what it did\n")
