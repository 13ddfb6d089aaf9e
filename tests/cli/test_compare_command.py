"""shakedown compare and history as a person meets them: tables, files, wrong use, exit status, damaged records."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from compared_campaigns import HERE, PLAN, TEST, campaign

from shakedown import machine
from shakedown.cli.main import cli
from shakedown.model.errors import UsageError
from shakedown.plans import read_plan


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three campaigns; in the second the case n=2 is 10 % slower, and a plan with another name is behind the third."""
    monkeypatch.setattr(machine, "this_system", lambda: HERE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "site"
    for name, text in {"site.yaml": "site: s\n", "tests/a.yaml": TEST, "plans/p.yaml": PLAN}.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)
    document = read_plan(path, "p", lambda: HERE)
    for number, slow in ((1, 0.0), (2, 0.1), (3, 0.0)):
        campaign(path, document, f"p-{number}", slow)
    monkeypatch.chdir(path)
    return path


def invoke(*words: str) -> Result:
    result = CliRunner().invoke(cli, list(words), standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    return result


def test_the_worst_comes_first_within_eighty_columns(site: Path) -> None:
    result = invoke("compare", "p-1", "p-2")
    lines = result.stdout.splitlines()
    assert result.return_value == 1
    assert lines[0] == "p-2 against p-1: 1 worse"
    assert lines[2].split() == ["VERDICT", "CHANGE", "95", "%", "INTERVAL", "RUNS", "WHAT"]
    assert re.match(r"worse +-9\.\d% +-\d+\.\d% \.\. -\d+\.\d% +12, 12$|worse +-10\.\d% ", lines[3])
    assert re.match(r" +triad of a/n=2: 1?\d\d\.?\d* GB/s -> 9?\d+\.?\d* GB/s$", lines[4])
    change = float(lines[3].split()[1].rstrip("%"))
    before, after = (float(number) for number in re.findall(r"([\d.]+) GB/s", lines[4]))
    assert 100 * (after / before - 1) == pytest.approx(change, abs=0.06), (
        "the change is that of the two numbers below it"
    )
    assert lines[6].startswith("no change seen in 5 figures; their intervals lie within ")
    assert max(map(len, lines)) <= 80


def test_shares_that_do_not_move_have_no_sign_and_are_not_corrected_for(site: Path) -> None:
    said = " ".join(invoke("compare", "p-1", "p-3", "--all").stdout.split())
    assert "no change seen 0 pt p 1" in said and "-0 pt" not in said
    assert "9 tests, corrected after Holm for the 6 that could show a change, 0.5% for all together" in said


def test_equal_campaigns_end_with_0_and_json_has_every_number(site: Path) -> None:
    result = invoke("compare", "p-1", "p-3", "--json")
    data = json.loads(result.stdout)
    comparison = data["compared"]["comparison"]
    assert (result.return_value, data["status"], comparison["baseline"], comparison["groups"]) == (0, 0, "p-1", ["p-3"])
    assert len(comparison["moves"]) == 6 and comparison["tested"] == 9
    assert {"scale", "change", "low", "high", "chance", "share", "reach", "freedom"} == set(
        comparison["moves"][0]["effect"]
    )
    assert "no change seen" in invoke("compare", "p-1", "p-3", "--all").stdout.splitlines()[3]


def test_several_campaigns_are_each_compared_with_the_first(site: Path) -> None:
    result = invoke("compare", "p-2", "p-1", "p-3", "--least", "5%")
    assert result.return_value == 0
    assert result.stdout.startswith("p-1, p-3 against p-2: 2 better")
    assert " in p-1: " in result.stdout and " in p-3: " in result.stdout
    again = json.loads(invoke("compare", "p-2", "p-1", "--against", "p-1", "--json").stdout)
    assert again["compared"]["comparison"]["baseline"] == "p-1"


def test_files_have_the_same_rows(site: Path, tmp_path: Path) -> None:
    table, drawing = tmp_path / "c.csv", tmp_path / "c.svg"
    result = invoke("compare", "p-1", "p-2", "--csv", str(table), "--figure", str(drawing))
    assert result.stderr.splitlines() == [f"table: {table}", f"figure: {drawing}"]
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert len(rows) == 9
    assert (rows[0]["subject"], rows[0]["figure"], rows[0]["verdict"]) == ("a/n=2", "triad", "worse")
    assert float(rows[0]["low"].lstrip("'")) < float(rows[0]["change"].lstrip("'")) < float(rows[0]["high"].lstrip("'"))
    assert drawing.read_text().lstrip().startswith("<?xml")


def test_epochs_of_one_campaign_with_what_opened_them(site: Path) -> None:
    (site / "plans/p.yaml").write_text(PLAN.replace("12", "24"))
    campaign(site, read_plan(site, "p", lambda: HERE), "p-4", 0.1, 24, changed=True)
    for words in (("p-4", "--epochs", "1,2"), ("p-4#1", "p-4#2")):
        result = invoke("compare", *words)
        assert result.return_value == 1
        assert result.stdout.startswith("p-4#2 against p-4#1: 1 worse")
        assert "epoch 2 was opened by 'changed' by Ada: new BIOS" in result.stdout
    assert invoke("compare", "p-4", "--by", "epoch").stdout.startswith("epoch 2 against epoch 1: 1 worse")


def test_conditions_that_differ_stand_below(site: Path) -> None:
    (site / "plans/p.yaml").write_text(
        PLAN.replace("repeats: 12", "repeats: 12, criteria: {k: {measure: runs, must: '>= 1'}}")
    )
    campaign(site, read_plan(site, "p", lambda: HERE), "p-4")
    out = invoke("compare", "p-1", "p-4").stdout
    assert "conditions of p-4 that p-1 did not have" in out
    assert "component performance is changed: criterion k is added" in " ".join(out.split())
    assert "p-1: no fingerprint was taken, so the machines cannot be compared" in " ".join(out.split())


def test_runs_by_a_parameter(site: Path) -> None:
    result = invoke("compare", "p-2", "--by", "n")
    assert (result.return_value, result.stdout.splitlines()[0]) == (1, "2, 3 against 1: 1 worse")
    assert "triad of a in 2: " in result.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("p-1",), "there is nothing to compare this campaign with\nhint: name another one, or --epochs 1,2, or --by toolchain"),
        (("p-1", "p-1"), "the same runs are named twice"),
        (("p-1", "p-9"), "there is no campaign 'p-9' in "),
        (("p-1", "p-2", "--by", "toolchian"), "--by 'toolchian' is not a way to compare runs\nhint: did you mean 'toolchain'?"),
        (("p-1", "--by", "toolchain"), "there is nothing to compare by toolchain: "),
        (("p-1", "--by", "node", "--against", "n1"), "each node is compared with all others"),
        (("p-1", "p-2", "--against", "p-3"), "--against 'p-3' is no campaign of these campaigns"),
        (("p-1", "p-2", "--least", "2"), "--least '2' is not a share of change"),
        (("p-1", "p-2", "--least", "0%"), "--least '0%' is not a share of change"),
        (("p-1", "p-2", "--epochs", "1,2"), "--epochs compares epochs of one campaign"),
        (("p-1", "--epochs", "1,x"), "'x' is not the number of an epoch"),
        (("p-1#1", "p-1#2"), "campaign p-1 has no epoch 2: it had one epoch"),
        (("p-1", "p-2", "--figure", "c.gif"), "--figure c.gif: no figure is written as '.gif'"),
    ],
)  # fmt: skip
def test_wrong_use_is_told(site: Path, words: tuple[str, ...], said: str) -> None:
    with pytest.raises(UsageError, match=f"^{re.escape(said)}"):
        invoke("compare", *words)


def test_too_few_runs_end_with_4(site: Path) -> None:
    campaign(site, read_plan(site, "p", lambda: HERE), "p-4", count=2)
    result = invoke("compare", "p-1", "p-4")
    assert result.return_value == 4
    assert result.stdout.startswith("p-4 against p-1: 6 with too few runs to say")


def test_a_damaged_record_is_said_first_and_nothing_lasting_is_made_of_it(site: Path, tmp_path: Path) -> None:
    log = min((site / "campaigns/p-2/log").glob("*.jsonl"))
    log.write_bytes(log.read_bytes().replace(b'"repeat":1,', b'"repeat":2,', 1))
    for words in (("compare", "p-1", "p-2"), ("history", "triad")):
        result = invoke(*words)
        assert result.return_value == 3
        assert result.stdout.startswith("DAMAGED: the record of p-2 is damaged: ")
        with pytest.raises(Exception, match="damaged"):
            invoke(*words, "--csv", str(tmp_path / "x.csv"))
    assert not (tmp_path / "x.csv").exists()


def test_a_history_goes_on_without_a_record_that_cannot_be_read(site: Path) -> None:
    log = min((site / "campaigns/p-2/log").glob("*.jsonl"))
    log.write_bytes(log.read_bytes()[:500] + b"\ngarbage\n" + log.read_bytes()[500:])
    result = invoke("history", "triad", "--case", "a/n=2")
    lines = result.stdout.splitlines()
    assert (result.return_value, lines[0][:8]) == (3, "DAMAGED:")
    assert [line.split()[0] for line in lines if line.startswith("  p-")] == ["p-1", "p-3"]
    assert any(line.startswith("left out, for its record cannot be read: ") and "p-2/log" in line for line in lines)


# ---- history -------------------------------------------------------------------------------------------------------------


def test_a_history_shows_each_campaign_and_what_changed(site: Path, tmp_path: Path) -> None:
    table, drawing = tmp_path / "h.csv", tmp_path / "h.png"
    result = invoke("history", "triad", "--case", "a/n=2", "--csv", str(table), "--figure", str(drawing))
    lines = result.stdout.splitlines()
    assert lines[0] == "triad of a/n=2, GB/s"
    assert [line.split()[0] for line in lines[1:5]] == ["CAMPAIGN", "p-1", "p-2", "p-3"]
    assert [line.split(":")[0].strip() for line in lines if "worse:" in line or "better:" in line] == [
        "worse",
        "better",
    ]
    assert lines[-1] == "2 changes of level of 2% or more"
    assert max(map(len, lines)) <= 80
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert [row["new_level"] for row in rows] == ["", "r000004", "r000004"]
    assert drawing.read_bytes().startswith(b"\x89PNG")
    data = json.loads(invoke("history", "triad", "--test", "a", "--json").stdout)
    history = data["history"]
    assert len(history["lines"]) == 9 and len(history["changes"]) == 2 and history["campaigns"] == ["p-1", "p-2", "p-3"]


def test_a_history_gives_references(site: Path) -> None:
    result = invoke("history", "triad", "p-1", "p-3", "--case", "a/n=2", "--reference")
    lines = result.stdout.splitlines()
    assert lines[0] == "contract: history" and len(lines) == 5
    assert '"triad"' in lines[4] and '"n": "2"' in lines[4] and "n 24, median" in lines[4]
    assert "has a new level since p-2" in invoke("history", "triad", "--case", "a/n=2", "--reference").stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("triadd",), "no campaign here measured 'triadd'\nhint: did you mean 'triad'?"),
        (("triad", "--test", "b"), "no run that counts gave a value of triad of b"),
        (("triad", "p-7"), "there is no campaign 'p-7' in "),
    ],
)  # fmt: skip
def test_wrong_use_of_history_is_told(site: Path, words: tuple[str, ...], said: str) -> None:
    with pytest.raises(UsageError, match=f"^{re.escape(said)}"):
        invoke("history", *words)
