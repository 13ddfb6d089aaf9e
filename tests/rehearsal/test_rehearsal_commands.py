"""``shakedown rehearse`` as people use it: what it leaves, what shows it, what refuses it, and that it is the same everywhere."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from rehearsal_site import command, make_site

BANNER = "rehearsed on a model, no measurement"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site with one rehearsal, which has faults and a conductor that dies."""
    root = make_site(tmp_path_factory.mktemp("rehearsed") / "site")
    words = ("--fault", "node_fail=5%", "--fault", "crash=3h/1h", "--fault", "timed_out=5%")
    done = command("rehearse", "steady", "--scenario", "busy", *words, cwd=root)
    assert done.returncode == 0, done.stderr + done.stdout
    return root


def log_of(root: Path, name: str = "steady-1") -> bytes:
    return b"".join(path.read_bytes() for path in sorted((root / "rehearsed" / name / "log").glob("*.jsonl")))


# ---- the same everywhere ---------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_log_wherever_it_is_rehearsed(site: Path, tmp_path: Path) -> None:
    """Another directory, hash seed, time zone, current directory and process; and the next number in the same site."""
    words = ("--scenario", "busy", "--fault", "timed_out=5%", "--fault", "node_fail=5%", "--fault", "crash=3h/1h")
    elsewhere = make_site(tmp_path / "quite" / "another place")
    command("rehearse", "steady", *words, cwd=elsewhere / "plans", PYTHONHASHSEED="12345", TZ="Asia/Kathmandu")
    command("rehearse", "steady", *words, cwd=site, PYTHONHASHSEED="0", TZ="America/St_Johns", USER="nobody")
    assert log_of(elsewhere) == log_of(site) == log_of(site, "steady-2")
    shutil.rmtree(site / "rehearsed" / "steady-2")


def test_nothing_of_the_host_the_day_or_the_process_is_in_the_log(site: Path) -> None:
    import os
    import socket

    from shakedown import __version__

    text = log_of(site).decode()
    for word in (str(site), str(site.parent), socket.gethostname(), __version__, f'"pid":{os.getpid()}', "root"):
        assert word not in text, word


def test_another_seed_gives_another_log(site: Path) -> None:
    command("rehearse", "steady", "--scenario", "busy", "--seed", "8", "--id", "other", "-q", cwd=site)
    assert log_of(site, "other") != log_of(site)
    shutil.rmtree(site / "rehearsed" / "other")


# ---- a campaign like any other, that says what it is -------------------------------------------------------------------


@pytest.mark.parametrize(
    "words", [["log"], ["runs"], ["nodes"], ["figures"], ["failures"], ["why", "model"], ["why", "r000001"], ["verify"]]
)
def test_what_shows_a_campaign_shows_a_rehearsal(site: Path, words: list[str]) -> None:
    for name in ([], ["steady-1"]):
        done = (
            command(*words[:1], *name, *words[1:], cwd=site)
            if words[0] != "why"
            else command("why", words[1], cwd=site)
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.strip()


def test_status_scorecard_and_log_say_that_it_is_one(site: Path) -> None:
    status = command("status", cwd=site)
    assert f"{BANNER} (scenario busy, seed 7, faults: crash=3h/1h node_fail=5% timed_out=5%)" in status.stdout
    assert "hint: go on" not in status.stdout
    assert BANNER in json.loads(command("status", "--json", cwd=site).stdout)["rehearsal"]
    done = command("rehearse", "steady", "--id", "shown", "--json", "--quiet", cwd=site)
    assert BANNER in json.loads(done.stdout)["rehearsal"]
    assert BANNER in command("log", "steady-1", cwd=site).stdout.replace("\n" + " " * 22, " ")
    shutil.rmtree(site / "rehearsed" / "shown")


def test_the_report_says_so_on_its_cover_and_on_every_page(site: Path) -> None:
    done = command("report", "--no-pdf", cwd=site)
    assert done.returncode == 0, done.stderr
    page = (site / "rehearsed" / "steady-1" / "report.html").read_text()
    assert "Report of a rehearsal" in page and "Acceptance report" not in page
    assert '@top-left { content: "rehearsed on a model, no measurement"' in page
    assert "Rehearsal, no measurement:" in page
    assert "For the vendor" not in page  # nobody signs a model


def test_what_limits_it_is_in_the_record(site: Path) -> None:
    lines = [json.loads(line) for line in log_of(site).splitlines()]
    found = [line for line in lines if line.get("event") == "finding" and line["value"].get("kind") == "limits"]
    assert [line["value"]["component"] for line in found] == ["stability"]
    assert 0 < found[0]["value"]["worked"] < found[0]["value"]["node_hours"]


def test_procedures_are_attested_by_nobody_and_say_so(site: Path) -> None:
    lines = [json.loads(line) for line in log_of(site).splitlines()]
    (attested,) = [line for line in lines if line.get("event") == "attested"]
    assert attested["value"]["by"] == "rehearsal" and attested["value"]["met"] is True
    assert attested["reason"] == "nobody was asked: in a rehearsal procedures count as met"


# ---- what it is not --------------------------------------------------------------------------------------------------

REFUSED = [
    (["seal", "--by", "Ada"], "sealed"),
    (["resume"], "driven"),
    (["rule", "r000001", "--as", "site", "--by", "Ada", "--because", "power"], "added to"),
    (["change", "--by", "Ada", "--because", "new firmware"], "added to"),
    (["rejudge", "--by", "Ada", "--because", "again"], "judged again"),
]


@pytest.mark.parametrize(("words", "what"), REFUSED, ids=[words[0] for words, _ in REFUSED])
def test_nothing_is_added_to_it_afterwards(site: Path, words: list[str], what: str) -> None:
    before = log_of(site)
    done = command(*words, cwd=site)
    if done.returncode == 2 and "Usage:" in done.stderr:
        pytest.fail(done.stderr)
    assert done.returncode == 2
    assert f"steady-1 is a rehearsal on a model of the machine, no measurement: it cannot be {what}" in done.stderr
    assert log_of(site) == before


def test_real_campaigns_come_first(site: Path, tmp_path: Path) -> None:
    copy = tmp_path / "site"
    shutil.copytree(site, copy)
    shutil.copytree(copy / "rehearsed" / "steady-1", copy / "campaigns" / "real-1")
    assert command("status", cwd=copy).stdout.startswith("real-1:")
    assert command("status", "steady-1", cwd=copy).stdout.startswith("steady-1:")


def test_nothing_real_is_run(site: Path) -> None:
    assert not list(site.rglob("was-run")) and not list(site.rglob("was-built"))


# ---- gates, misuse ---------------------------------------------------------------------------------------------------


def test_a_gate_that_stays_closed_stops_it_and_is_told(site: Path) -> None:
    done = command("rehearse", "gated", "--scenario", "busy", "--id", "closed", cwd=site)
    assert done.returncode == 4
    assert "not finished: component functionality is not met: quick: " in done.stderr
    assert "hint: --open-gates goes on all the same" in done.stderr
    opened = command("rehearse", "gated", "--scenario", "busy", "--id", "opened", "--open-gates", cwd=site)
    assert opened.returncode == 1
    assert "not finished" not in opened.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["steddy"], "error: there is no plan 'steddy'\nhint: did you mean 'steady'?\n"),
        (["steady", "--scenario", "bussy"], "error: there is no rehearsal 'bussy'\nhint: did you mean 'busy'?\n"),
        (["steady", "--system", "larer"], "error: there is no system 'larer'\nhint: did you mean 'larger'?\n"),
        (
            ["steady", "--fault", "fayled"],
            "error: --fault fayled: there is no fault 'fayled'\nhint: did you mean 'failed'?\n",
        ),
        (
            ["steady", "--fault", "failed=150%"],
            "error: --fault failed=150%: '150%' is not a share; a share lies between 0% and 100%\n"
            "hint: failed=SHARE: this share of the runs fails; such as failed=5%\n",
        ),
        (
            ["steady", "--fault", "stale=soon"],
            "error: --fault stale=soon: 'soon' is no time, such as 90 s, 20 min, 8h or 3d\n"
            "hint: stale=TIME: the queue shows what was true so long ago; such as stale=30 s\n",
        ),
        (
            ["steady", "--fault", "hang"],
            "error: --fault hang: the scenario describes no metadata target that could hang (storage: metadata)\n"
            "hint: hang=TIME[/TIME]: the first metadata target answers nobody from then on, for 4 h or so long; such as hang=1d\n",
        ),
        (
            ["steady", "--id", "no/name"],
            "error: 'no/name' is no name for a campaign\nhint: use letters, digits, '.', '_' and '-', at most 100 of them\n",
        ),
    ],
)
def test_misuse_is_told_in_a_sentence(site: Path, words: list[str], said: str) -> None:
    done = command("rehearse", *words, cwd=site)
    assert (done.returncode, done.stderr) == (2, said)


def test_another_system_is_another_machine(site: Path) -> None:
    done = command("rehearse", "steady", "--system", "larger", "--id", "wide", cwd=site)
    assert done.returncode == 0
    assert "of 32 nodes idle" in done.stderr
