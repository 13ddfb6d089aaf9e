"""How a campaign comes out without an amendment of its checks, from the outputs that it keeps."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import warm_commands

from shakedown.conductor.workers.kept_outputs import KeptOutputs
from shakedown.events.register import read_register
from shakedown.metrics.judging.from_outputs import UNREAD, Question
from shakedown.metrics.rows.rows import RunRow
from shakedown.model.layout import Layout
from shakedown.model.nouns import Case, Test

PLAN = """plan: p
system: here
parties: {site: [Ada], vendor: [Bo]}
components:
  - functionality:
      tests: [ok]
      criteria: {right: {measure: correct / completed, must: "= 100%"}}
"""
TEST = """test: ok
run: {command: 'if test -e MARK; then echo "rate 3 GB/s"; else echo "rate 5 GB/s, valid"; fi'}
check: [output contains "valid"]
figures: {rate: {regex: 'rate (?P<value>[0-9.]+)', unit: GB/s, better: higher}}
"""
WORDS = ("--by", "Bo", "--because", "it is not needed")


def run(site: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"COLUMNS": "80"}
    return warm_commands.run(words, cwd=site, env=environment, capture_output=True, text=True, timeout=180, check=False)


def acts(site: Path) -> tuple[str, dict[str, str]]:
    done = run(site, "acts", "--json")
    assert done.stdout, done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    return said["outcome"], {act["kind"]: act["without"] for act in said["acts"]}


@pytest.fixture(scope="module")
def amended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign that passed; then its check was taken out, and it ran again: the output lacks what that asked for."""
    site = tmp_path_factory.mktemp("outputs") / "site"
    for folder in ("tests", "plans", "systems", "campaigns"):
        (site / folder).mkdir(parents=True)
    (site / "site.yaml").write_text("site: outputs\n")
    (site / "plans/p.yaml").write_text(PLAN)
    (site / "tests/ok.yaml").write_text(TEST.replace("MARK", str(site / "mark")))
    assert run(site, "run", "p", "-q").returncode == 0
    (site / "mark").write_text("")
    text = (site / "tests/ok.yaml").read_text()
    (site / "tests/ok.yaml").write_text(text.replace('check: [output contains "valid"]\n', ""))
    assert run(site, "amend", "p", *WORDS).returncode == 0
    assert run(site, "again", "functionality", *WORDS).returncode == 0
    assert run(site, "resume", "-q").returncode == 4, "the site has agreed to nothing"
    return site


@pytest.fixture
def site(amended: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(amended, tmp_path / "site", symlinks=True))


def test_without_the_amendment_the_check_that_it_took_out_is_evaluated_from_the_kept_output(site: Path) -> None:
    outcome, without = acts(site)
    assert (outcome, without["amend"]) == ("disputed", "rejected")
    run(site, "report", "--no-pdf")
    rows = (site / "campaigns/p-1/report/tables/acts.csv").read_text()
    assert "right of functionality is not met instead of met" in rows


def test_a_register_that_is_begun_anew_has_the_outcome_that_kept_outputs_tell(site: Path) -> None:
    (site / "register.jsonl").unlink()
    assert run(site, "register", "--anew", "--by", "Ada", "--because", "lost").returncode == 0
    (found,) = read_register(site).campaigns()
    assert (found.fact, found.campaign, found.outcome) == ("found", "p-1", "disputed")


@pytest.mark.parametrize("how", ["gone", "changed"])
def test_where_the_output_is_gone_or_was_changed_it_is_not_known_and_stays_disputed(site: Path, how: str) -> None:
    for path in (site / "campaigns/p-1/packs").iterdir():
        if how == "gone":
            path.unlink()
        else:
            path.write_bytes(path.read_bytes().replace(b"rate 3 GB/s\n", b"rate valid!\n"))
    outcome, without = acts(site)
    assert (outcome, without["amend"]) == ("disputed", "not known")
    said = " ".join(run(site, "acts").stdout.split())
    assert (
        "since the kept output of 1 run (r000002) is gone, changed or not readable; site has not agreed to it" in said
    )


def test_an_output_that_could_not_be_kept_is_none_that_can_be_read(site: Path) -> None:
    """Who fills the disk takes away what shows that an act mattered, as who removes the output does."""
    kept = KeptOutputs(Layout(site / "campaigns/p-1"))
    case, test = Case("ok", "ok", "local:all"), Test("ok")
    row = RunRow(
        "r000002", "ok", "functionality", 1, 1, "passed", "", 9, 0.0, 2, output={"lost": "No space left on device"}
    )
    (answer,) = kept([Question(row, case, test, ())])
    assert answer is not None and answer.verdict == UNREAD and "No space left on device" in answer.reason
