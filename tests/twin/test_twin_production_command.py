"""``shakedown twin production`` as a person meets it."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from shakedown.cli.twin.production import ORDERS, command
from shakedown.model.errors import UsageError
from shakedown.twin.production import easy
from shakedown.twin.production.trace import read_trace

SMALL = ("--jobs", "2000", "--nodes", "200", "--days", "14", "--load", "85%")


def asked(*words: str) -> Result:
    return CliRunner().invoke(command, words)


def told(*words: str) -> str:
    result = asked(*words)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_small_year_says_what_it_is_in_eighty_columns() -> None:
    text = told(*SMALL, "--depth", "50", "--cycle", "30s")
    assert "(model)" in text and "assumed" in text and "depth 50, every 30.0 s" in text and "utilisation" in text
    assert max(map(len, text.splitlines())) <= 80


def test_every_order_can_be_asked_for() -> None:
    assert ORDERS == easy.ORDERS


def test_json_is_the_same_for_the_same_seed() -> None:
    first, second, other = (told(*SMALL, "--json", "--seed", seed) for seed in ("5", "5", "6"))
    assert first == second != other
    found = json.loads(first)
    assert found["rules"] == {"order": "fcfs", "depth": 100, "cycle_s": 0.0, "kill": True}
    assert found["offered_load"] == pytest.approx(0.85, rel=1e-3) and found["own"] is None


@pytest.mark.parametrize("suffix", [".csv", ".swf"])
def test_one_record_a_job_is_written(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"jobs{suffix}"
    found = json.loads(told(*SMALL, "--json", "--records", str(path)))
    if suffix == ".csv":
        rows = list(csv.DictReader(path.open()))
        waits = [float(row["wait_s"]) for row in rows]
        assert all(float(row["start_s"]) - float(row["submit_s"]) == float(row["wait_s"]) for row in rows)
    else:
        waits = read_trace(path).wait_s.tolist()
    assert len(waits) == 2000 and sum(waits) / 2000 == pytest.approx(found["ours"]["waits"]["mean_s"])


def test_records_replayed_agree_with_themselves(tmp_path: Path) -> None:
    path = tmp_path / "jobs.swf"
    told(*SMALL, "--order", "largest", "--records", str(path))
    text = told("--swf", str(path), "--order", "largest")
    assert "DIFFERS" not in text and "100.00 % of jobs wait as long" in text
    assert max(map(len, text.splitlines())) <= 80
    fitted = told("--swf", str(path), "--fit")
    assert "order largest" in fitted and "off by, per job" in fitted and max(map(len, fitted.splitlines())) <= 80
    assert "a trace's own schedule, measured" in told("--swf", str(path), "--replay-own")


@pytest.mark.parametrize("suffix", ["svg", "pdf", "png"])
def test_figures_are_the_same_bytes_twice(tmp_path: Path, suffix: str) -> None:
    paths = [tmp_path / f"{name}.{suffix}" for name in "ab"]
    for path in paths:
        told(*SMALL, "--figure", str(path))
    assert paths[0].read_bytes() == paths[1].read_bytes() != b""


@pytest.mark.parametrize(
    "words",
    [
        ("--load", "nan"),
        ("--load", "-1"),
        ("--days", "inf"),
        ("--days", "0"),
        ("--jobs", "0"),
        ("--jobs", "999999999999"),
        ("--nodes", "0"),
        ("--depth", "-1"),
        ("--seed", "-1"),
        ("--cycle", "30"),
        ("--order", "best"),
        ("--swf", "/nowhere.swf"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_a_sentence(words: tuple[str, str]) -> None:
    result = asked(*words)
    assert result.exit_code == 2 and words[0] in result.output


@pytest.mark.parametrize(
    "words",
    [
        ("--jobs", "5", "--load", "0.9"),
        (*SMALL, "--replay-own"),
        (*SMALL, "--fit"),
        (*SMALL, "--records", "jobs.txt"),
        (*SMALL, "--figure", "figure.txt"),
        (*SMALL, "--warm-up", "3650d"),
    ],
)
def test_what_does_not_go_together_is_refused(words: tuple[str, ...]) -> None:
    assert isinstance(asked(*words).exception, UsageError)


def test_options_of_generated_jobs_are_refused_beside_a_trace(tmp_path: Path) -> None:
    path = tmp_path / "jobs.swf"
    told(*SMALL, "--records", str(path))
    for words in (
        ("--jobs", "5"),
        ("--load", "0.5"),
        ("--fit", "--depth", "5"),
        ("--replay-own", "--records", "a.csv"),
    ):
        assert isinstance(asked("--swf", str(path), *words).exception, UsageError), words
