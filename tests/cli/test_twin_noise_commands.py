"""``shakedown twin noise`` and ``shakedown twin slow-node``: what a person reads, what a script reads, what is refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from shakedown.cli.twin.noise_source import SourceText
from shakedown.cli.twin.twin import command
from shakedown.model.errors import UsageError
from shakedown.twin.models.noise_sources import Source

SMALL = ("noise", "--processes", "64", "--steps", "50")


def twin(*words: str) -> Result:
    return CliRunner().invoke(command, list(words), catch_exceptions=True)


def data_of(*words: str) -> Any:
    done = twin(*words, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_noise_says_that_it_is_a_model_and_what_is_assumed() -> None:
    done = twin(*SMALL)
    assert done.exit_code == 0, done.output
    assert "a model. Sources assumed" in done.stdout
    assert "slowdown without it" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_noise_as_json_has_every_number() -> None:
    data = data_of(*SMALL, "--source", "gc,period=100ms,duration=3ms,node", "--per-node", "4", "--per-node", "2")
    assert [(one["processes"], one["per_node"]) for one in data["points"]] == [
        (4, 4),
        (32, 4),
        (64, 4),
        (2, 2),
        (16, 2),
        (64, 2),
    ]
    assert data["points"][-1]["slowdown"] == 1.0  # two cores are idle
    assert data["points"][2]["slowdown"] > 1.1
    assert data["sources"][0]["duration_s"] == 0.003
    assert data["shares"][0]["without"] == 1.0


def test_same_seed_same_bytes_under_another_hash_seed_and_time_zone() -> None:
    found = []
    for changed in ({"PYTHONHASHSEED": "1", "TZ": "UTC"}, {"PYTHONHASHSEED": "2", "TZ": "Asia/Tokyo"}):
        words = [sys.executable, "-m", "shakedown", "twin", *SMALL, "--json"]
        found.append(subprocess.run(words, env=os.environ | changed, capture_output=True, check=True).stdout)
    assert found[0] == found[1]


def test_the_example_prints_the_paper_beside_the_model(tmp_path: Path) -> None:
    figure = tmp_path / "q.svg"
    done = twin("noise", "--example", "asci-q", "--figure", str(figure))
    assert done.exit_code == 0, done.output
    assert "Its sources of noise are assumed" in done.stdout
    assert "about 70%" in done.stdout and "0.75 s" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert figure.read_bytes().startswith(b"<?xml")


@pytest.mark.parametrize("option", [("--processes", "8"), ("--steps", "8"), ("--source", "a,period=1s,duration=1ms")])
def test_an_example_passes_over_no_option_in_silence(option: tuple[str, str]) -> None:
    done = twin("noise", "--example", "asci-q", *option)
    assert isinstance(done.exception, UsageError) and option[0] in str(done.exception)


@pytest.mark.parametrize("name", ["noise", "slow-node"])
@pytest.mark.parametrize("kind", ["svg", "pdf", "png"])
def test_figures_are_written_and_are_the_same_each_time(tmp_path: Path, name: str, kind: str) -> None:
    small = SMALL if name == "noise" else ("slow-node", "--nodes", "200", "--ranks-per-node", "4")
    files = [tmp_path / f"{number}.{kind}" for number in (1, 2)]
    for file in files:
        assert twin(*small, "--figure", str(file)).exit_code == 0
    assert files[0].read_bytes() == files[1].read_bytes() != b""


def test_slow_nodes_of_paper_000() -> None:
    data = data_of("slow-node")
    assert data["slowdown"] == pytest.approx(20)
    assert sorted(one["node"] for one in data["found"]) == data["planted"]
    assert "scores" not in data
    text = twin("slow-node").stdout
    assert "1,216,000 ranks" in text and "2 of 2 slow nodes, and no other" in text
    assert max(map(len, text.splitlines())) <= 80


def test_no_slow_node_costs_nothing(tmp_path: Path) -> None:
    done = twin("slow-node", "--slow", "0", "--nodes", "100", "--figure", str(tmp_path / "f.png"))
    assert done.exit_code == 0, done.output
    assert data_of("slow-node", "--slow", "0", "--nodes", "100")["slowdown"] == 1.0


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("d,period=10s,duration=5ms,on=node", Source("d", 10.0, 0.005, "node")),
        ("d, period=10s, duration=5ms, node", Source("d", 10.0, 0.005, "node")),
        ("period=1s,duration=1ms,name=x,every=32,at=31,random", Source("x", 1.0, 0.001, "core", 32, 31, "random")),
        ("x,duration=25us,period=10ms,synchronised", Source("x", 0.01, 25e-6, synchronised=True)),
        ("period=10ms,duration=1ms", Source("0.001s-every-0.01s", 0.01, 0.001)),
    ],
)
def test_sources_as_people_write_them(text: str, wanted: Source) -> None:
    found = SourceText().convert(text, None, None)
    assert (found.period_s, found.duration_s) == pytest.approx((wanted.period_s, wanted.duration_s))
    same = Source(
        found.name,
        wanted.period_s,
        wanted.duration_s,
        found.on,
        found.every,
        found.at,
        found.pattern,
        found.synchronised,
    )
    assert same == wanted


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no period"),
        ("x,period=5ms", "no duration"),
        ("x,period=5,duration=1ms", "not a duration"),
        ("x,period=-5ms,duration=1ms", "not a duration"),
        ("x,period=5ms,duration=6ms", "shorter than the period"),
        ("x,period=0s,duration=0s", "more than nothing"),
        ("x,period=1s,duration=1ms,on=nod", "did you mean 'node'"),
        ("x,period=1s,duration=1ms,every=0", "no node number"),
        ("x,period=1s,duration=1ms,every=2.5", "a whole number"),
        ("x,period=1s,duration=1ms,every=99999999999999", "a whole number"),
        ("x,period=1s,duration=1ms,perod=2s", "did you mean 'period'"),
        ("x,y,period=1s,duration=1ms", "says again"),
        ("x,period=1s,duration=1ms,name=", "there is no"),
    ],
)
def test_sources_that_are_refused_say_why(text: str, said: str) -> None:
    with pytest.raises(click.BadParameter, match=said):
        SourceText().convert(text, None, None)


@pytest.mark.parametrize(
    "words",
    [
        ("noise", "--processes", "0"),
        ("noise", "--processes", "-4"),
        ("noise", "--processes", "1e3"),
        ("noise", "--per-node", "5"),
        ("noise", "--cores", "0"),
        ("noise", "--granularity", "0s"),
        ("noise", "--granularity", "nan"),
        ("noise", "--granularity", "5"),
        ("noise", "--granularity", "1" + "0" * 400 + "s"),
        ("noise", "--steps", "0"),
        ("noise", "--steps", "1" + "0" * 30),
        ("noise", "--seed", "-1"),
        ("noise", "--figure", "x.gif"),
        ("noise", "--source", "a,period=1s,duration=1ms", "--source", "a,period=2s,duration=1ms"),
        ("slow-node", "--nodes", "0"),
        ("slow-node", "--slow", "-1"),
        ("slow-node", "--speed", "0"),
        ("slow-node", "--speed", "120%"),
        ("slow-node", "--speed", "nan"),
        ("slow-node", "--compute-share", "2"),
        ("slow-node", "--spread", "90%"),
        ("slow-node", "--ranks-per-node", "1" + "0" * 30),
    ],
)
def test_what_cannot_be_modelled_is_refused_in_a_sentence(words: tuple[str, ...]) -> None:
    done = twin(*words)
    assert done.exit_code != 0
    assert isinstance(done.exception, UsageError | SystemExit), done.exception
