"""On a terminal no line is wider than it, and a line that goes on does so below its last column."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import termios
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import warm_commands
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from sacct_lines import line, text

from shakedown.cli import output
from shakedown.cli.main import cli
from shakedown.cli.output import fitted, table

LONG = "the scheduler ended it at a time limit after 12 s, although it asks for 600 s, and nobody knows who lowered it"
PATH = "/" + "x" * 120


def test_the_last_column_goes_on_below_itself() -> None:
    lines = fitted(table(("RUN", "VERDICT", "REASON"), [("r000001", "timeout", LONG)]), 80).split("\n")
    assert all(len(line) <= 80 for line in lines)
    assert lines[1].startswith("r000001  timeout  the scheduler")
    assert all(line.startswith(" " * 18) and line[18] != " " for line in lines[2:])
    assert " ".join([lines[1][18:], *(line[18:] for line in lines[2:])]) == LONG


def test_a_sentence_goes_on_further_in() -> None:
    first, *others = fitted(f"  {LONG}", 60).split("\n")
    assert first.startswith("  the")
    assert all(line.startswith(" " * 6) for line in others)


def test_a_path_is_never_cut() -> None:
    assert PATH in fitted(f"log: {PATH} and more", 80).split("\n")[1]


def test_what_is_no_terminal_has_its_lines_whole(capsys: pytest.CaptureFixture[str]) -> None:
    assert fitted(LONG * 3) == LONG * 3


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text("ab ", max_size=70), max_size=8), st.integers(20, 100))
def test_nothing_is_lost_and_nothing_is_wider(words: list[str], width: int) -> None:
    text = "  ".join(words)
    shown = fitted(text, width)
    assert shown.split() == text.split()
    longest = max(map(len, text.split()), default=0)
    assert all(len(line) <= max(width, width // 2 + longest) for line in shown.split("\n"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site with names and reasons that are too long for a line, and a campaign of it that is over."""
    root = tmp_path_factory.mktemp("narrow") / "site"
    shakedown("init", str(root), "--local", cwd=root.parent)
    name = "a_test_with_a_name_that_takes_the_greater_part_of_a_line"
    (root / "tests" / f"{name}.yaml").write_text(
        f"test: {name}\nabout: {LONG}\nparameters: {{way: [static, shared]}}\nbuild: {{run: 'echo {{way}} >way'}}\n"
        "run: {time_limit: 1min, command: 'cat {build}/way'}\n"
        "check: ['output contains \"something that is not there, and a good deal longer than a line of a terminal is\"']\n"
    )
    (root / "plans" / "narrow.yaml").write_text(
        f"plan: narrow\nsystem: here\ncomponents: [{{performance: {{tests: [{name}], repeats: 1}}}}]\n"
    )
    return root


def shakedown(*words: str, cwd: Path) -> str:
    done: subprocess.CompletedProcess[str] = warm_commands.run(
        words, cwd=cwd, capture_output=True, text=True, check=False, timeout=120
    )
    return done.stdout + done.stderr


def on_a_terminal(*words: str, cwd: Path, columns: int = 80) -> list[str]:
    """What a command prints on a terminal that is so wide."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    with ThreadPoolExecutor(1) as reader:
        shown = reader.submit(read_all, master)
        try:
            warm_commands.run(words, cwd=cwd, env=environment, stdout=slave, stderr=slave, timeout=120)
        finally:
            os.close(slave)
    os.close(master)
    return shown.result().decode().replace("\r\n", "\n").rstrip("\n").split("\n")


def read_all(master: int) -> bytes:
    """What is written to a terminal until nobody has it open any more."""
    shown = b""
    while True:
        try:
            piece = os.read(master, 1 << 16)
        except OSError:  # the other end is closed
            return shown
        if not piece:
            return shown
        shown += piece


def test_commands_fit_a_terminal_of_80_columns(site: Path) -> None:
    shown = shakedown("run", "narrow", "--quiet", cwd=site)
    runs = shakedown("runs", cwd=site).split("\n")
    assert any(len(line) > 80 for line in runs), (shown, runs)
    case = next(word for line in runs for word in line.split() if word.startswith("a_test"))
    for words in (
        ["runs"],
        ["why", case],
        ["list", "cases"],
        ["list", "tests"],
        ["run", "narrow", "--dry-run"],
        ["status"],
    ):
        wide = [line for line in on_a_terminal(*words, cwd=site) if len(line) > 80]
        assert not [line for line in wide if len(line.split()) > 1], words
    builds = [line for line in on_a_terminal("run", "narrow", "--dry-run", cwd=site, columns=300) if "(way=" in line]
    assert len({line.split("  ")[0] for line in builds}) == 2, builds


def test_what_people_ask_after_fits_narrower_terminals_too(site: Path) -> None:
    """Failures, acts, nodes, comparisons: their texts are of 80 columns at most, a name in them may be longer than that."""
    for campaign in ("narrow-8", "narrow-9"):
        shakedown("run", "narrow", "--quiet", "--id", campaign, cwd=site)
    run = next(word for word in shakedown("runs", "narrow-8", cwd=site).split() if word.startswith("r0000"))
    because = " ".join([LONG] * 3)
    ruled = ("--as", "site", "--by", "Ada Example", "--because", because, "--campaign", "narrow-8")
    shakedown("rule", run, *ruled, cwd=site)
    for words in (
        ["failures", "narrow-8"],
        ["acts", "narrow-8"],
        ["nodes", "narrow-8"],
        ["compare", "narrow-8", "narrow-9"],
        ["verify", "narrow-8"],
        ["register"],
    ):
        whole = shakedown(*words, cwd=site)
        assert not whole.startswith("error:") and len(whole) > 60, whole
        for columns in (80, 50):
            shown = on_a_terminal(*words, cwd=site, columns=columns)
            assert " ".join(shown).split()[:6] == whole.split()[:6]
            assert not [line for line in shown if len(line) > columns and len(line.split()) > 1], (words, columns)


EVERY = (
    "status", "runs", "log", "failures", "nodes", "acts", "figures", "register", "verify", "scaling", "list campaigns",
    "list tests", "list cases", "list plans", "show system", "show plan narrow", "show test {test}", "show case {case}",
    "check", "check narrow", "papers", "history elapsed", "run narrow --dry-run", "kernels list", "init --list",
    "import sacct {dump}", "rehearse narrow --id narrow-r", "why {case}", "report --no-pdf", "twin noise --example asci-q",
    "twin scaling", "twin memory", "twin checkpoint", "twin archive", "twin congestion", "twin collectives", "time-spent",
)  # fmt: skip


def test_no_command_writes_lines_of_more_than_80_columns_on_a_terminal(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line of a single word is a path or a name."""
    shakedown("run", "narrow", "--quiet", "--id", "narrow-80", cwd=site)
    case = next(word for word in shakedown("runs", "narrow-80", cwd=site).split() if word.startswith("a_test"))
    dump = tmp_path / "sacct.txt"
    rows = [line(n, n, n + 1, n + 5, nodes=2**n, account=f"an-account-of-{n}", name=LONG) for n in range(14)]
    dump.write_text(text(*rows, "cut off"))
    monkeypatch.chdir(site)
    monkeypatch.setattr(output, "_columns", lambda: 80)
    wide: dict[str, object] = {}
    for words in EVERY:
        asked = words.format(test=case.split("/")[0], case=case, dump=dump).split()
        done = CliRunner().invoke(cli, asked)
        lines = [one for one in done.stdout.split("\n") if len(one) > 80 and len(one.split()) > 1]
        wide |= {words: lines} if lines else {}
        wide |= {words: done.stderr} if "Usage:" in done.stderr else {}
    assert not wide
