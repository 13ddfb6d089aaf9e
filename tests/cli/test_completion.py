"""What a shell offers: commands, options and names, as the page of commands says to set it up."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = {
    "site.yaml": "site: s\n",
    "tests/deep/first.yaml": "test: alpha\nrun: {command: 'true'}\n",
    "tests/second.yaml": "# a comment\ntest: beta\ntags: [quickest]\nrun: {command: 'true'}\n",
    "tests/base.yaml": "test: base\nabstract: yes\nrun: {command: 'true'}\n",
    "systems/emu.yaml": "system: emu\nclusters: {e: {scheduler: slurm, partitions: {wide: {nodes: 'n[01-12]', type: t}}}}\n"
    "node_types: {t: {cores: 2}}\n",
    "plans/p.yaml": "plan: spring\nsystem: emu\ncomponents: [{functionality: {tests: [alpha]}}]\n",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("site")
    for name, text in FILES.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    for campaign in ("spring-1", "spring-2", ".hidden"):
        (home / "campaigns" / campaign).mkdir(parents=True)
    return home


def offered(line: str, cwd: Path) -> list[str]:
    words = line.split(" ")
    env = {**os.environ, "_SHAKEDOWN_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    command = [str(Path(sys.executable).with_name("shakedown"))]
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return [found.partition(",")[2] for found in done.stdout.splitlines() if found]


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("shakedown sta", ["status"]),
        ("shakedown twin no", ["noise"]),
        ("shakedown status --js", ["--json"]),
        ("shakedown status spring", ["spring-1", "spring-2"]),
        ("shakedown run s", ["spring"]),
        ("shakedown drain spring-2", ["spring-2"]),
        ("shakedown exclude n1", ["n10", "n11", "n12"]),
        ("shakedown cap al", ["alpha"]),
        ("shakedown cap be", ["beta"]),
        ("shakedown status x", []),
        ("shakedown run --test al", ["alpha"]),
        ("shakedown run --test alpha,be", ["alpha,beta"]),
        ("shakedown run --test strea", ["stream", "stream-reference"]),
        ("shakedown run --test xb", []),
        ("shakedown run --tag quick", ["quickest"]),
        ("shakedown list --tag quick", ["quickest"]),
        ("shakedown run --system em", ["emu"]),
        ("shakedown run --partition wi", ["wide"]),
        ("shakedown run --last-failed spring", ["spring-1", "spring-2"]),
        ("shakedown run --param spring", []),
    ],
)
def test_names_are_offered(line: str, names: list[str], site: Path) -> None:
    assert offered(line, site) == names


def test_outside_a_site_there_is_nothing_to_offer_and_no_error(tmp_path: Path) -> None:
    assert offered("shakedown status s", tmp_path) == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_lines_of_the_page_give_a_shell_its_completion(shell: str) -> None:
    page = (ROOT / "docs/reference/commands.md").read_text()
    assert re.search(rf"\| {shell} \| `[^`]+` \| `.*_SHAKEDOWN_COMPLETE={shell}_source shakedown", page)
    env = {**os.environ, "_SHAKEDOWN_COMPLETE": f"{shell}_source"}
    command = [str(Path(sys.executable).with_name("shakedown"))]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert "_SHAKEDOWN_COMPLETE" in done.stdout


@pytest.mark.parametrize(("shell", "names"), [("zsh", ["spring-1", "spring-2"]), ("fish", ["spring-1", "spring-2"])])
def test_zsh_and_fish_are_offered_the_same_names(shell: str, names: list[str], site: Path) -> None:
    """As their scripts ask: zsh by words and a number, fish by the words and the one that is begun."""
    env = {**os.environ, "_SHAKEDOWN_COMPLETE": f"{shell}_complete"}
    env |= {"COMP_WORDS": "shakedown status spring", "COMP_CWORD": "2" if shell == "zsh" else "spring"}
    command = [str(Path(sys.executable).with_name("shakedown"))]
    done = subprocess.run(command, cwd=site, env=env, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert re.findall(r"spring-\d", done.stdout) == names


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_itself_takes_the_script(shell: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    env = {**os.environ, "_SHAKEDOWN_COMPLETE": f"{shell}_source"}
    command = [str(Path(sys.executable).with_name("shakedown"))]
    script = tmp_path / "script"
    script.write_text(subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout)
    done = subprocess.run([shell, "-n", str(script)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
