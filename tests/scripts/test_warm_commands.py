"""Commands of the tests that a warm process runs say what a new interpreter says."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
import warm_commands


def test_a_warm_command_says_what_a_new_interpreter_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Status, both streams, the name of the program, the directory and the environment are its own."""
    (tmp_path / "here").mkdir()
    environment = os.environ | {"COLUMNS": "60", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    for words in (["status"], ["staus"], ["check", "--nonsense"]):
        cold = subprocess.run(
            [*warm_commands.COLD, *words],
            cwd=tmp_path / "here",
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        monkeypatch.setattr(warm_commands, "_begun", {(words[0],)})
        warm = warm_commands.run(words, cwd=tmp_path / "here", env=environment, capture_output=True, text=True)
        assert (warm.args, warm.returncode, warm.stdout, warm.stderr) == (
            cold.args,
            cold.returncode,
            cold.stdout,
            cold.stderr,
        )
        assert cold.returncode == 2 and cold.stderr


def test_a_new_interpreter_is_started_where_only_it_shows_something(monkeypatch: pytest.MonkeyPatch) -> None:
    """For the first use of a command, and for what Python reads when it starts."""
    monkeypatch.setattr(warm_commands, "_begun", set())
    ours = dict(os.environ)
    assert warm_commands._must_begin_anew(["runs", "p-1"], ours)
    assert not warm_commands._must_begin_anew(["runs", "p-2"], ours)
    assert warm_commands._must_begin_anew(["twin", "noise"], ours)
    assert warm_commands._must_begin_anew(["twin", "memory"], ours)
    assert warm_commands._must_begin_anew(["runs"], ours | {"PYTHONHASHSEED": "7"})
    assert not warm_commands._must_begin_anew(["runs"], ours | {"COLUMNS": "7"})
