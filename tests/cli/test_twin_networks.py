"""``shakedown twin collectives``, ``scaling`` and ``congestion`` as a person types them: text, JSON, figures and wrong input."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from shakedown.cli.main import cli
from shakedown.cli.twin.network_options import seconds_text, size_text
from shakedown.model.errors import UsageError
from shakedown.report.figures.style import Drawing, style

MODELS = ("collectives", "scaling", "congestion")


def twin(*words: str) -> str:
    result = CliRunner().invoke(cli, ["twin", *words], standalone_mode=False, catch_exceptions=False)
    if result.exception is not None:
        raise result.exception
    return result.stdout


SHAPES = [
    (),
    ("--network", "qsnet"),
    ("--network", "slingshot", "--latency", "3us"),
    ("--latency", "1us", "--bandwidth", "100GB/s"),
]


@pytest.mark.parametrize("model", ["collectives", "scaling"])
@pytest.mark.parametrize("words", SHAPES, ids=" ".join)
def test_the_text_fits_into_eighty_columns_and_says_that_it_is_a_model_and_what_is_assumed(
    model: str, words: tuple[str, ...]
) -> None:
    text = twin(model, *words)
    assert [line for line in text.splitlines() if len(line) > 80] == []
    assert "model" in text.splitlines()[0]
    assert "assumed" in text


def test_even_huge_machines_fit_into_eighty_columns() -> None:
    text = twin("scaling", "--ranks", "1,999999937,1000000000", "--cells", "1e18", "--strong")
    assert [line for line in text.splitlines() if len(line) > 80] == []
    text = twin("collectives", "--ranks", "1000000000", "--size", "0B,1B,999B,1EB,3GiB,7TB,1023MiB")
    assert [line for line in text.splitlines() if len(line) > 80] == []


def test_a_barrier_of_hopper_s_network_is_rounds_of_its_published_latency() -> None:
    told = json.loads(twin("collectives", "--operation", "barrier", "--ranks", "1024,153216", "--json"))
    assert [timed["seconds"] for timed in told["times"]] == pytest.approx([10 * 1.6e-6, 18 * 1.6e-6])
    assert told["network"]["source"] == "paper 002, table 1"


def test_the_allreduce_says_which_algorithm_it_took() -> None:
    text = twin("collectives", "--operation", "allreduce", "--ranks", "64", "--size", "8B,1MiB")
    assert "9.61 us     363 us R" in text
    assert "R: Rabenseifner's, the faster one from 14.3 kB at 64 ranks." in text
    told = json.loads(twin("collectives", "--operation", "allreduce", "--ranks", "2,64", "--size", "8B,1MiB", "--json"))
    assert [timed["algorithm"] for timed in told["times"]] == ["recursive doubling"] * 3 + ["Rabenseifner"]
    assert told["crossovers"][0] == {"ranks": 2, "size_bytes": None}


def test_c5_s_congestion_is_the_default_and_its_factors_are_the_derived_ones() -> None:
    text = twin("congestion")
    assert "paper 004, table II" in text
    rows = {line.split("  ")[0]: line.split()[-2:] for line in text.splitlines() if line.startswith(("RR", "Multiple"))}
    assert rows == {
        "RR Two-sided lat": ["1.077", "7.1%"],
        "RR Two-sided BW+Sync": ["0.997", "-"],
        "Multiple Allreduce": ["1.017", "1.6%"],
    }
    assert [line for line in text.splitlines() if len(line) > 80] == []


def test_a_measurement_of_one_s_own_and_a_link_of_one_s_own() -> None:
    words = ("--measured", "a, b,10,5,higher", "--flows", "3", "--rate", "10GB/s", "--link", "20GB/s")
    told = json.loads(twin("congestion", *words, "--json"))
    assert told["impacts"][0]["name"] == "a, b"
    assert told["impacts"][0]["factor"] == 2.0
    assert told["points"] == [{"load": 1.5, "factor": None, "delivered_share": pytest.approx(2 / 3)}]


def test_a_scattered_job_is_slower_than_one_whose_neighbours_are_near() -> None:
    words = ("scaling", "--topology", "cielo", "--ranks", "4096", "--json")
    near, far = (json.loads(twin(*words, *more))["model"]["points"][0] for more in ((), ("--scattered",)))
    assert far["halo_s"] > 5 * near["halo_s"]
    assert far["allreduce_s"] == near["allreduce_s"]


def test_without_ranks_those_are_taken_that_the_machine_has_nodes_for() -> None:
    told = json.loads(twin("scaling", "--topology", "torus:4x4x4", "--ranks-per-node", "16", "--json"))
    assert [point["ranks"] for point in told["model"]["points"]] == [1, 8, 64, 512]


def test_what_you_did_not_say_of_the_code_is_called_an_example() -> None:
    assert "an example's numbers, assumed: --bytes-per-cell, --time-per-cell" in twin("scaling", "--cells", "1000")
    own = ("--cells", "1000", "--bytes-per-cell", "8B", "--time-per-cell", "1us")
    assert "example" not in twin("scaling", *own)
    assert "100 ns a hop (assumed)" in " ".join(twin("scaling", *own, "--topology", "cielo").split())
    assert "100 ns a hop;" in " ".join(twin("scaling", *own, "--topology", "cielo", "--hop", "100ns").split())


def test_what_a_shape_leaves_of_a_node_s_bandwidth_is_told() -> None:
    """ASCI Q, one rail: half of what a node sends goes through a middle a quarter as wide: 125 MB/s of 250."""
    text = " ".join(twin("scaling", "--network", "qsnet", "--topology", "asci-q").split())
    assert "all-to-all leaves 0.125 GB/s a node; 64 GB/s through the middle" in text


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("suffix", ["svg"])
def test_each_has_a_figure_that_is_the_same_each_time(model: str, suffix: str, tmp_path: Path) -> None:
    files = [tmp_path / f"{name}.{suffix}" for name in "ab"]
    for file in files:
        twin(model, "--figure", str(file))
    assert files[0].read_bytes() == files[1].read_bytes()
    if suffix == "svg":
        ElementTree.parse(files[0])


@pytest.mark.parametrize("model", MODELS)
def test_the_words_of_a_figure_say_model_and_no_formula_is_left_in_them(model: str, tmp_path: Path) -> None:
    seen: list[Drawing] = []

    def kept(drawing: Drawing, _: str) -> bytes:
        seen.append(drawing)
        return b""

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Drawing, "in_format", kept)
        twin(model, "--figure", str(tmp_path / "x.svg"))
    assert "model" in seen[0].title.lower()
    assert "not measured" in seen[0].caption
    with style():
        words = _words(seen[0]._figure)
    assert any("model" in word for word in words)
    assert not any("$" in word for word in words)


def _words(figure: object) -> list[str]:
    from matplotlib.text import Text

    return [text.get_text() for text in figure.findobj(Text)]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "words",
    [
        ("collectives", "--network", "infiniband"),
        ("collectives", "--latency", "1us"),
        ("collectives", "--latency", "1e3", "--bandwidth", "1GB/s"),
        ("collectives", "--latency", "0us", "--bandwidth", "1GB/s"),
        ("collectives", "--bandwidth", "0GB/s", "--latency", "1us"),
        ("collectives", "--bandwidth", "1GB", "--latency", "1us"),
        ("collectives", "--bandwidth", "1e999 GB/s", "--latency", "1us"),
        ("collectives", "--latency", "9" * 400 + "s", "--bandwidth", "1GB/s"),
        ("collectives", "--ranks", "0"),
        ("collectives", "--ranks", "-4"),
        ("collectives", "--ranks", "64,,128"),
        ("collectives", "--ranks", "64,many"),
        ("collectives", "--ranks", "1000000001"),
        ("collectives", "--ranks", ",".join(map(str, range(1, 100)))),
        ("collectives", "--size", "8"),
        ("collectives", "--size", "nan B"),
        ("collectives", "--size", "-1B"),
        ("collectives", "--size", "1e30B"),
        ("collectives", "--operation", "allreduse"),
        ("collectives", "--combine", "0GB/s"),
        ("collectives", "--combine", "1e-320 B/s"),
        ("collectives", "--figure", "x.gif"),
        ("scaling", "--cells", "nan"),
        ("scaling", "--cells", "0"),
        ("scaling", "--time-per-cell", "0s"),
        ("scaling", "--overlap", "120%"),
        ("scaling", "--strong", "--cells", "10", "--ranks", "11"),
        ("scaling", "--topology", "ring:5"),
        ("scaling", "--topology", "torus:4x4", "--ranks", "17"),
        ("scaling", "--scattered"),
        ("scaling", "--ranks-per-node", "0"),
        ("scaling", "--hop", "9" * 400 + "s", "--topology", "torus:64"),
        ("congestion", "--measured", "latency"),
        ("congestion", "--measured", "latency,a,b,lower"),
        ("congestion", "--measured", "latency,0,1,lower"),
        ("congestion", "--measured", "latency,nan,1,lower"),
        ("congestion", "--measured", "latency,1,2,faster"),
        ("congestion", "--load", "-5%"),
        ("congestion", "--load", "50"),
        ("congestion", "--isolation", "101%"),
        ("congestion", "--flows", "2"),
        ("congestion", "--flows", "2", "--rate", "1GB/s", "--link", "0B/s"),
    ],
    ids=lambda words: " ".join(words)[:60],
)
def test_wrong_input_is_told_in_a_sentence(words: tuple[str, ...]) -> None:
    with pytest.raises((UsageError, click.UsageError)):
        twin(*words)


@pytest.mark.parametrize("model", MODELS)
def test_help_of_each_fits_into_eighty_columns(model: str) -> None:
    result = CliRunner().invoke(cli, ["twin", model, "--help"], terminal_width=80)
    assert result.exit_code == 0
    assert [line for line in result.stdout.splitlines() if len(line) > 80] == []


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (9.5e-7, "950 ns"),
        (1.6e-6, "1.6 us"),
        (9.996e-4, "1 ms"),
        (42.3e-6, "42.3 us"),
        (3.2, "3.2 s"),
        (100, "1 min 40 s"),
    ],
)
def test_short_times_in_words(seconds: float, text: str) -> None:
    assert seconds_text(seconds) == text


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (8, "8 B"),
        (1024, "1 KiB"),
        (65536, "64 KiB"),
        (1e6, "1 MB"),
        (14286.9, "14.3 kB"),
        (1000, "1000 B"),
        (2**60, "1024 PiB"),
    ],
)
def test_sizes_in_words(size: float, text: str) -> None:
    assert size_text(size) == text
