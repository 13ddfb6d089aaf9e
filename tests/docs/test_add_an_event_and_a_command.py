"""The guides to an event and to a command, followed word for word in a copy of the source: campaign, log, acts, report."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from guide_packages import ROOT, all_blocks

EVENT, COMMAND = "guides/add-an-event.md", "guides/add-a-command.md"
FILES = {
    "site.yaml": "site: s\n",
    "tests/once.yaml": "test: once\nrun: {command: 'true', time_limit: 60s}\n",
    "systems/box.yaml": """\
system: box
clusters: {local: {scheduler: local, partitions: {all: {nodes: 1, type: t}}}}
node_types: {t: {cores: 2}}
""",
    "plans/p.yaml": "plan: p\nsystem: box\ncomponents: [{functionality: {tests: [once], criteria: {last: {measure: "
    "passed / attempts, must: all, epochs: last}}}}]\n",
}


def behind(file: Path, line: str, block: str) -> None:
    """Put a block behind the one line that is this, or behind the end of the entry that begins with it."""
    text = file.read_text()
    assert text.count(line) == 1, (file, line)
    end = text.index(line) + len(line)
    file.write_text(text[:end] + block + text[end:])


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone in which somebody did what the two pages say."""
    root = tmp_path_factory.mktemp("clone")
    shutil.copytree(ROOT / "src", root / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    shutil.copytree(ROOT / "docs", root / "docs")
    shutil.copytree(ROOT / "scripts", root / "scripts")
    declaration, fold, command, reference = all_blocks(EVENT)
    door, line, section, _ = all_blocks(COMMAND)

    kinds = root / "src/shakedown/model/event_kinds.py"
    last = re.search(r'    EventKind\(\n        "withdrawn",\n.*?\n    \),\n', kinds.read_text(), re.DOTALL)
    assert last is not None
    behind(kinds, last.group(), body(declaration))
    assert body(fold) in (root / named(fold)).read_text()  # it shows a function that is there
    with (root / named(command)).open("a") as file:
        file.write("\n\n" + body(command))
    page = root / "docs/reference/events.md"
    page.write_text(page.read_text().replace("### `sealed`", reference + "\n### `sealed`"))
    (root / named(door)).write_text(body(door))
    behind(root / named(line), "COMMANDS: dict[str, tuple[str, str]] = {\n", body(line))
    behind(root / named(section), '    "Steer": (\n', body(section))
    return root


def named(block: str) -> str:
    """The file that the first line of a block names."""
    found = re.match(r"# ([\w./-]+)", block)
    assert found is not None
    return found[1]


def body(block: str) -> str:
    """The block without the line that says where it goes."""
    return block.partition("\n")[2]


def run(*words: str, clone: Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(clone / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, *words], cwd=cwd, env=env, capture_output=True, text=True, check=False)


def table(site: Path, name: str) -> list[dict[str, str]]:
    with (site / f"campaigns/p-1/report/tables/{name}.csv").open() as file:
        return list(csv.DictReader(file))


def test_the_event_stands_in_the_log_the_acts_and_the_report(clone: Path, tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)

    def shakedown(*words: str, status: int = 0) -> str:
        done = run("-m", "shakedown", *words, clone=clone, cwd=tmp_path)
        assert done.returncode == status, done.stderr
        return done.stdout

    assert "inspect" in shakedown("--help")
    shakedown("check")
    shakedown("run", "p", "--quiet")
    shakedown("inspect", " ", "--by", "the vendor", "--because", "a smell", status=2)
    shakedown("inspect", "racks 1 to 3", "--by", "the vendor", "--because", "a smell")

    assert "inspected       racks 1 to 3 the vendor: a smell" in shakedown("log", "--event", "inspected")
    assert json.loads(shakedown("status", "--json"))["epoch"] == 2
    # no run of the new epoch has been judged
    assert "the vendor inspected racks 1 to 3: a new epoch began" in " ".join(shakedown("acts", status=4).split())
    shakedown("report", "--no-pdf", status=4)
    (act,) = [row for row in table(tmp_path, "acts") if row["kind"] == "inspect"]
    assert (act["by"], act["what"]) == ("the vendor", "inspected racks 1 to 3: a new epoch began")
    opened = [(row["epoch"], row["opened_by"], row["by"], row["because"]) for row in table(tmp_path, "epochs")]
    assert opened[1:] == [("2", "inspected", "the vendor", "a smell")]
    (last,) = [row for row in table(tmp_path, "criteria") if row["criterion"] == "last"]
    assert last["outcome"] == "undecided"


def test_the_tests_of_the_reference_pass_in_the_clone(clone: Path) -> None:
    """The pages leave nothing out: sections, sentences and facts of the event, and the page of commands."""
    tests = clone / "tests"
    (tests / "events").mkdir(parents=True)
    shutil.copy(ROOT / "tests/events/test_events_docs.py", tests / "events")
    shutil.copytree(ROOT / "tests/events/fixtures", tests / "events/fixtures")
    words = [
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--import-mode=importlib",
        "tests/events/test_events_docs.py",
    ]
    done = run(*words, clone=clone, cwd=clone)
    assert done.returncode == 0, done.stdout
    before = run("scripts/reference.py", "--print", clone=clone, cwd=clone)
    assert "## shakedown inspect\n" in before.stdout
