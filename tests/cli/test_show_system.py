"""``shakedown show system`` and ``list systems``, as a person sees them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from shakedown.cli.main import main

NAMES = [
    "asci-q",
    "franklin",
    "hopper",
    "cielo",
    "sequoia",
    "trinity-haswell",
    "trinity-knl",
    "trinity",
    "c3",
    "c4",
    "c5",
]
MINE = """\
system: {name}
clusters: {{c: {{scheduler: slurm, partitions: {{p: {{nodes: "n[1-8]", type: t}}}}}}}}
node_types: {{t: {{cores: 4, memory: 8 GiB}}}}
"""


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory without a site."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def inside(nowhere: Path) -> Path:
    (nowhere / "site.yaml").write_text("site: s\n")
    (nowhere / "systems").mkdir()
    return nowhere


def told(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> str:
    capsys.readouterr()
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as ended:
        patch.setattr(sys, "argv", ["shakedown", *words])
        main()
    assert (ended.value.code or 0) == status
    printed = capsys.readouterr()
    return printed.out if status == 0 else printed.err


@pytest.mark.parametrize("name", NAMES)
def test_each_is_shown_without_a_site_in_eighty_columns(capsys: pytest.CaptureFixture[str], name: str) -> None:
    text = told(capsys, "show", "system", name)
    assert max(map(len, text.splitlines())) <= 80
    assert "derived, of one node, and of all:" in text


def test_trinity_is_told_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    text = told(capsys, "show", "system", "trinity")
    assert "all      19,420  980,864  41.527 PF/s             2.1663 PB            159.74 TB\n" in text
    assert (
        "  reproduced       peak: 41.5 PFLOP/s; derived 41.5271 PFLOP/s, rounded\n                   paper 000, II\n"
        in text
    )
    assert "  DOES NOT ADD UP  DDR memory: 2.16 PiB; derived 1.92404 PiB, the digits fit PB\n" in text
    assert "  reproduced       nodes: > 19420; derived 19,420, the same, not over it\n" in text
    assert text.endswith("17 printed, 13 reproduced, 4 do not add up\n")


def test_what_is_assumed_is_marked(capsys: pytest.CaptureFixture[str]) -> None:
    text = told(capsys, "show", "system", "c5")
    assert "rome  1,920      128  5.3248 TF/s*  41.6 GF/s*     256 GB    2 GB\n" in text
    assert "* rests on what is assumed" in text
    assert "  node_types.rome.clock: AMD's base clock of the EPYC 7H12; the paper has none\n" in text
    assert "assumed" not in told(capsys, "show", "system", "cielo").partition("file  ")[2]


def test_json_has_everything(capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads(told(capsys, "show", "system", "c5", "--json"))
    assert (data["name"], data["file"]) == ("c5", "catalogue:systems/c5.yaml")
    assert data["node_types"][0]["flops_per_cycle"] == 16
    assert data["derived"]["network.node_injection"] == {"value": 25e9, "unit": "bytes/s", "assumed": []}
    assert data["derived"]["peak"]["unit"] == "flop/s"
    assert data["derived"]["peak"]["assumed"] == ["node_types.rome.clock", "node_types.rome.flops_per_cycle"]
    assert "node_types.rome.clock" in data["assumed"]
    (f2,) = [one for one in data["published"] if one["printed"] == "37.5 PB"]
    assert (f2["outcome"], f2["in_printed_unit"], f2["of"]) == ("does not add up", 35.208, "f2.ost.total_capacity")


def test_a_system_of_the_site_goes_before_the_package_s(capsys: pytest.CaptureFixture[str], inside: Path) -> None:
    (inside / "systems/own.yaml").write_text(MINE.format(name="c5"))
    assert "n[1-8]" in told(capsys, "show", "system", "c5")
    rows = {line.split()[0]: line for line in told(capsys, "list", "systems").splitlines()}
    assert set(rows) == {"SYSTEM", "here", *NAMES}
    assert "systems/own.yaml, not the package's" in rows["c5"]
    assert "the package " in rows["c4"]
    listed = {one["name"]: one for one in json.loads(told(capsys, "list", "systems", "--json"))}
    assert (listed["c5"]["file"], listed["c5"]["hides_shipped"]) == ("systems/own.yaml", True)
    assert (listed["trinity"]["file"], listed["trinity"]["hides_shipped"]) == ("catalogue:systems/trinity.yaml", False)


def test_binary_sizes_stay_binary(capsys: pytest.CaptureFixture[str], inside: Path) -> None:
    (inside / "systems/m.yaml").write_text(MINE.format(name="m"))
    text = told(capsys, "show", "system", "m")
    assert "t         8      4   8 GiB   2 GiB\nall       8     32  64 GiB\n" in text
    assert "published" not in text


def test_cases_are_listed_on_a_system_of_the_package(capsys: pytest.CaptureFixture[str], inside: Path) -> None:
    (inside / "tests").mkdir()
    (inside / "tests/a.yaml").write_text(
        "test: a\nrun: {command: x, nodes: {default: 1, c5: 48}}\nloads: {f2/mdt: 1}\n"
    )
    (inside / "plans").mkdir()
    (inside / "plans/p.yaml").write_text("plan: p\nsystem: c5\ncomponents: [{functionality: {tests: [a]}}]\n")
    assert "48 nodes" in told(capsys, "list", "cases", "--plan", "p")
    assert "48 nodes" in told(capsys, "list", "cases", "--system", "c5", "--test", "a")
    assert "/lustre/f2/{mdt}/acceptance" in told(capsys, "show", "case", "a", "--system", "c5")
    assert "on this machine and 1 system" in told(capsys, "check")


def test_what_is_wrong_is_said(capsys: pytest.CaptureFixture[str], nowhere: Path) -> None:
    assert told(capsys, "show", "system", "c6", status=2).startswith("error: no site.yaml in ")
    (nowhere / "site.yaml").write_text("site: s\n")
    assert told(capsys, "show", "system", "trinty", status=2) == (
        "error: there is no system 'trinty'\nhint: did you mean 'trinity'?\n"
    )
    (nowhere / "systems").mkdir()
    (nowhere / "systems/m.yaml").write_text(
        MINE.format(name="m") + "published: [{what: a, value: 1, from: nodes / 0}]\n"
    )
    place = "systems/m.yaml:4:39: published: a division by zero\n"
    assert told(capsys, "show", "system", "m", status=2) == f"error: {place}"
    assert told(capsys, "check", status=2) == f"error: {place}"
