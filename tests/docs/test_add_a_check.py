"""The guide to a check, followed word for word: the declaration is seen by check, by a campaign and by its report."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from guide_packages import ROOT, blocks, install

from shakedown.model.checks import CHECKS

PAGE = "guides/add-a-check.md"
FILES = {
    "site.yaml": "site: s\n",
    "systems/box.yaml": """\
system: box
clusters: {local: {scheduler: local, partitions: {all: {nodes: 1, type: t}}}}
node_types: {t: {cores: 2}}
""",
    "plans/p.yaml": "plan: p\nsystem: box\ncomponents: [{functionality: {tests: [steps]}}]\n",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A site with the page's test, and the directory of the page's package."""
    home = tmp_path_factory.mktemp("site")
    package = install(PAGE, tmp_path_factory.mktemp("package"))
    for name, text in {**FILES, "tests/steps.yaml": blocks(PAGE)["tests/steps.yaml"]}.items():
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_text(text)
    return home, package


def shakedown(*words: str, site: Path, package: Path | None = None) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(package or "")}
    command = [sys.executable, "-m", "shakedown", *words]
    return subprocess.run(command, cwd=site, env=env, capture_output=True, text=True, check=False)


def test_check_knows_it_where_the_package_is_installed(site: tuple[Path, Path]) -> None:
    home, package = site
    with_it, without = shakedown("check", site=home, package=package), shakedown("check", site=home)

    assert with_it.returncode == 0, with_it.stderr
    assert without.returncode == 2
    assert "steps.yaml:6:5: check: 'output has-lines {steps}' is not a check" in without.stderr


def test_a_campaign_judges_by_it_and_its_report_says_so(site: tuple[Path, Path]) -> None:
    home, package = site
    shakedown("run", "p", "--quiet", site=home, package=package)
    told = shakedown("report", "p-1", "--no-pdf", site=home, package=package)
    assert told.returncode == 1, told.stderr
    with (home / "campaigns/p-1/report/tables/runs.csv").open() as file:
        rows = {row["case"]: row for row in csv.DictReader(file)}

    assert rows["steps/steps=3"]["verdict"] == "passed"
    assert rows["steps/steps=2"]["verdict"] == "incorrect"
    assert rows["steps/steps=2"]["reason"] == "file steps.txt has-lines 3: it has 2 lines"


def test_an_argument_that_does_not_fit_is_told_with_the_forms(site: tuple[Path, Path], tmp_path: Path) -> None:
    home, package = site
    for name in FILES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text((home / name).read_text())
    (tmp_path / "tests").mkdir()
    test = blocks(PAGE)["tests/steps.yaml"]
    for written, said in (
        ("[2, many]", "output has-lines {steps}"),
        ("[2, 3]", "output has-lines few"),
        ("[2, 3]", "output has-lines {a b}"),
    ):
        changed = test.replace("[2, 3]", written).replace("output has-lines {steps}", said)
        (tmp_path / "tests/steps.yaml").write_text(changed)
        told = shakedown("check", site=tmp_path, package=package)
        assert told.returncode == 2
        assert "is not a check" in told.stderr
        assert "write it as: output has-lines N, or file PATH has-lines N" in told.stderr


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('"has-lines",\n', '"contains",\n', "'contains', which is there already"),
        ('argument="words"', 'reads="status"', "the exit status, which only checks of Shakedown itself can"),
        ("HAS_LINES = CheckKind(", "HAS_LINES = str(", "is no check"),
        ("def has_lines", "raise RuntimeError('broken on purpose')\n\n\ndef has_lines", "broken on purpose"),
        (r'r"\d+"', '"("', "has words that are no regular expression"),
        ('"has-lines",\n', '"has lines",\n', "has a name that is no single word of small letters"),
        ('"site_checks:has_lines",\n', '"",\n', "has no function, no form or no subject"),
    ],
)
def test_a_wrong_declaration_is_told(
    before: str, after: str, said: str, site: tuple[Path, Path], tmp_path: Path
) -> None:
    file = install(PAGE, tmp_path) / "site_checks.py"
    assert before in file.read_text()
    text = file.read_text().replace(before, after, 1)
    file.write_text(text[: text.index("HAS_LINES = ")] + "HAS_LINES = 7\n" if "str(" in after else text)
    told = shakedown("check", site=site[0], package=tmp_path)

    assert told.returncode == 2
    assert said in told.stderr and "site-checks" in told.stderr and "hint: " in told.stderr


def test_the_reference_names_the_declared_checks_in_their_order() -> None:
    page = (ROOT / "docs/reference/files.md").read_text()
    table = page[page.index("| check | holds where |") :].split("\n\n")[0]

    rows = re.findall(r"^\| `([^`]+)` \| (.+) \|$", table, re.MULTILINE)
    assert rows == [form for kind in CHECKS for form in kind.forms]
