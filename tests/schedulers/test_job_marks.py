"""Marks, claims and names of a cluster's jobs: read from files that a dying machine wrote, or anybody else."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shakedown.model.errors import UsageError
from shakedown.model.layout import Layout
from shakedown.model.nouns import Case
from shakedown.model.ports import JobOrder
from shakedown.schedulers.claims import CannotStart, Workplace, make_claim
from shakedown.schedulers.cluster.job_places import JobPlaces, campaign_token, job_label, job_of_label
from shakedown.schedulers.cluster.marks import Marks, read_marks

JOB = "j000007"
CLAIM = b"job=4711 host=n001 uptime=120.50 pid=17 nodes=n[001-002] .\n"
END = b"began=120.60 ended=123.10 status=3 told= .\n"


@pytest.fixture
def places(tmp_path: Path) -> JobPlaces:
    places = JobPlaces(Layout(tmp_path / "c"))
    places.control(JOB).mkdir(parents=True)
    return places


def test_what_a_whole_life_leaves(places: JobPlaces) -> None:
    places.claim(JOB, 0).write_bytes(CLAIM)
    os.utime(places.claim(JOB, 0), (0, 1795337739.25))
    assert read_marks(places, JOB) == Marks(0, True, "4711", "n001", "4711", "n[001-002]", 120.5, 1795337739.25)
    places.marks(JOB, 0).write_bytes(END)
    places.output(JOB, 0).parent.mkdir(parents=True)
    places.output(JOB, 0).write_text("12345")
    at = 1795337739.25
    whole = Marks(0, True, "4711", "n001", "4711", "n[001-002]", 120.6, at, 3, 2.5, 5, ended_at=at + 2.6)
    assert read_marks(places, JOB) == whole


def test_the_newest_restart_counts_by_number(places: JobPlaces) -> None:
    for restart in (0, 2, 10):
        places.claim(JOB, restart).write_bytes(CLAIM)
    places.marks(JOB, 2).write_bytes(END)
    for junk in ("claim.11.tmp", "claim.011", "claim.-1", "marks.", "claim.9999999", "marks.1e3", "claim.٣"):
        (places.control(JOB) / junk).write_bytes(CLAIM)
    marks = read_marks(places, JOB)
    assert marks is not None
    assert (marks.restart, marks.exit_status) == (10, None)


@pytest.mark.parametrize("length", range(len(CLAIM)))
def test_a_claim_that_is_being_written_is_a_claim_and_no_more(places: JobPlaces, length: int) -> None:
    places.claim(JOB, 0).write_bytes(CLAIM[:length])
    marks = read_marks(places, JOB)
    assert marks is not None
    assert (marks.claimed, marks.host, marks.nodes, marks.began_uptime_s) == (True, "", "", None)
    assert marks.holder in ("", "4711"), "half a number is no holder"


@pytest.mark.parametrize("length", range(len(END)))
def test_an_end_that_is_being_written_is_no_end(places: JobPlaces, length: int) -> None:
    places.claim(JOB, 0).write_bytes(CLAIM)
    places.marks(JOB, 0).write_bytes(END[:length])
    marks = read_marks(places, JOB)
    assert marks is not None
    assert (marks.exit_status, marks.elapsed_s, marks.told) == (None, None, "")


@settings(max_examples=200)
@given(claim=st.binary(max_size=200), end=st.binary(max_size=200), cut=st.integers(0, 60), hole=st.integers(0, 60))
def test_junk_is_never_a_verdict(
    claim: bytes, end: bytes, cut: int, hole: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Bytes of any kind, and true marks with a piece of them gone or zeroed, as file systems leave them."""
    places = JobPlaces(Layout(tmp_path_factory.mktemp("junk")))
    places.control(JOB).mkdir(parents=True)
    damaged = END[:hole] + bytes(max(0, min(cut, len(END)) - hole)) + END[max(hole, cut) :]
    for number, (first, second) in enumerate(((claim, end), (CLAIM, end), (claim, damaged))):
        places.claim(JOB, number).write_bytes(first)
        places.marks(JOB, number).write_bytes(second)
        marks = read_marks(places, JOB)
        assert marks is not None
        assert marks.claimed
        if second is damaged and damaged != END:
            assert marks.exit_status is None
        if marks.exit_status is not None:
            assert 0 <= marks.exit_status <= 999
        if marks.elapsed_s is not None:
            assert marks.elapsed_s >= 0


def test_a_clock_that_ran_backwards_measures_nothing(places: JobPlaces) -> None:
    places.claim(JOB, 0).write_bytes(CLAIM)
    places.marks(JOB, 0).write_bytes(b"began=120.60 ended=20.10 status=0 told= .\n")
    marks = read_marks(places, JOB)
    assert marks is not None
    assert (marks.exit_status, marks.elapsed_s) == (0, None)


def test_megabytes_fifos_links_and_directories_hold_nobody_up(places: JobPlaces, tmp_path: Path) -> None:
    places.claim(JOB, 0).write_bytes(b"x" * (5 << 20))
    os.mkfifo(places.marks(JOB, 0))
    marks = read_marks(places, JOB)
    assert marks == Marks(0, claimed=True, torn=True)
    (tmp_path / "secret").write_bytes(CLAIM)
    places.claim(JOB, 1).symlink_to(tmp_path / "secret")
    places.marks(JOB, 1).mkdir()
    assert read_marks(places, JOB) == Marks(1, claimed=True, torn=True)


def test_no_directory_is_no_mark_and_one_that_cannot_be_read_is_no_answer(places: JobPlaces) -> None:
    assert read_marks(places, JOB) is None
    assert read_marks(places, "j000008") is None
    places.control("j000009").write_text("a file in its place")
    assert read_marks(places, "j000009") is None
    if os.getuid() == 0:
        pytest.skip("root may read everything")
    places.control(JOB).chmod(0)
    with pytest.raises(PermissionError):
        read_marks(places, JOB)


def test_a_claim_of_nobody_is_told_from_no_claim(places: JobPlaces) -> None:
    assert places.claim_holder(JOB, 0) is None
    places.claim(JOB, 0).write_bytes(b"")
    assert places.claim_holder(JOB, 0) == ""
    assert not places.take_claim(JOB, 0)
    assert places.take_claim(JOB, 1)
    assert places.claim_holder(JOB, 1) == "conductor"
    marks = read_marks(places, JOB)
    assert marks == Marks(1, claimed=True, holder="conductor")


CLAIMS = {
    "of a job": "places.take_claim('j000007', 0)",
    "of a part": "places.take_parts('j000007', ['r000001']) == ['r000001']",
    "of a local job": "Workplace(places.layout).take_claim('j000007', 0)",
}


@pytest.mark.parametrize("how", CLAIMS.values(), ids=CLAIMS)
def test_who_is_killed_while_it_makes_a_claim_leaves_none(places: JobPlaces, how: str) -> None:
    """A claim without words is nobody's: its job would be waited for, though it never runs."""
    places.layout.part_marks(JOB).mkdir()
    program = (
        "import os, signal, sys\nfrom pathlib import Path\n"
        "from shakedown.model.layout import Layout\nfrom shakedown.schedulers.claims import Workplace\n"
        "from shakedown.schedulers.cluster.job_places import JobPlaces\n"
        "places = JobPlaces(Layout(Path(sys.argv[1])))\n"
        "os.write = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    killed = subprocess.run([sys.executable, "-c", program + how, str(places.layout.root)], check=False, timeout=60)
    assert killed.returncode == -signal.SIGKILL
    assert eval(how, {"places": places, "Workplace": Workplace}) is True
    assert eval(how, {"places": places, "Workplace": Workplace}) is True, "it is ours"


def test_without_hard_links_a_claim_is_made_once_all_the_same(
    places: JobPlaces, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr("os.link", refuse)
    assert make_claim(places.claim(JOB, 0), JOB, places.layout)
    assert not make_claim(places.claim(JOB, 0), JOB, places.layout)
    assert places.claim_holder(JOB, 0) == "conductor"
    assert [path.name for path in places.control(JOB).iterdir()] == ["claim.0"]


def test_a_claim_that_cannot_be_taken_is_neither_taken_nor_not(tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    (tmp_path / "c/jobs").write_text("in the way")
    with pytest.raises(CannotStart, match="the claim of job j000007 cannot be taken: Not a directory"):
        JobPlaces(Layout(tmp_path / "c")).take_claim(JOB, 0)


# ---- names at the scheduler ------------------------------------------------------------------------------------------


def test_a_campaign_keeps_its_token_when_it_moves(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    token = campaign_token(Layout(tmp_path / "a"))
    assert campaign_token(Layout(tmp_path / "a")) == token
    (tmp_path / "a").rename(tmp_path / "b")
    assert campaign_token(Layout(tmp_path / "b")) == token
    (tmp_path / "a").mkdir()
    assert campaign_token(Layout(tmp_path / "a")) != token


def test_a_copy_is_not_driven_beside_its_original(tmp_path: Path) -> None:
    """The jobs of both would bear the same names: the copy would cancel what the original runs."""
    original, copy = tmp_path / "a", tmp_path / "b\nb"
    original.mkdir()
    token = campaign_token(Layout(original))
    shutil.copytree(original, copy)
    with pytest.raises(UsageError, match=r"is a copy of the campaign in .*/a, and the jobs of both") as told:
        campaign_token(Layout(copy))
    assert told.value.hint is not None and str(Layout(copy).token) in told.value.hint
    assert campaign_token(Layout(original)) == token
    link = tmp_path / "link"
    link.symlink_to(original)
    assert campaign_token(Layout(link)) == token, "another name of the same directory"
    shutil.rmtree(original)
    assert campaign_token(Layout(copy)) == token, "the only one left may have been moved over file systems"
    assert campaign_token(Layout(copy)) == token
    copy.rename(original)
    assert campaign_token(Layout(original)) == token


def test_a_token_that_was_changed_is_not_taken_in_silence(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    token = campaign_token(layout)
    layout.token.write_text("deadbeef\n")
    with pytest.raises(UsageError, match=f"was changed: it holds deadbeef, and .* by {token}") as told:
        campaign_token(layout)
    assert told.value.hint == f"put it back: echo {token} >{layout.token}"
    layout.token.write_text(f"{token}\n")
    assert campaign_token(layout) == token


def test_a_copy_becomes_a_campaign_of_its_own_without_its_token(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    token = campaign_token(Layout(tmp_path / "a"))
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    Layout(tmp_path / "b").token.unlink()
    own = campaign_token(Layout(tmp_path / "b"))
    assert own != token and campaign_token(Layout(tmp_path / "b")) == own


@pytest.mark.parametrize("moved", [False, True])
@pytest.mark.parametrize("lost", [["token"], ["token", "token.place"]], ids=" ".join)
def test_a_token_that_is_gone_is_not_replaced_in_silence(tmp_path: Path, lost: list[str], moved: bool) -> None:
    """With another one the campaign would not know its own jobs. Their scripts still have it."""
    root = tmp_path / "a"
    root.mkdir()
    token = campaign_token(Layout(root))
    JobPlaces(Layout(root)).prepare(JobOrder(JOB, "r000001", Case("c", "t", "emu:batch", script="true")))
    if moved:
        root = root.rename(tmp_path / "b")
    for name in lost:
        (root / name).unlink()
    with pytest.raises(UsageError, match=r"token is gone: by what stood there this campaign knows its jobs") as told:
        campaign_token(Layout(root))
    assert told.value.hint == f"put it back: echo {token} >{root}/token (the scripts in {root}/jobs have it)"
    assert not (root / "token").exists()
    (root / "token").write_text(f"{token}\n")
    assert campaign_token(Layout(root)) == token


def test_a_token_that_no_script_has_is_asked_for(tmp_path: Path) -> None:
    """An older version wrote the scripts, or two campaigns' were mixed."""
    campaign_token(Layout(tmp_path))
    Layout(tmp_path).token.unlink()
    for number, line in enumerate(("# job j1 sd-00000000-j1", "# job j2 sd-00000001-j2", "# job j3")):
        script = Layout(tmp_path).jobs / f"000/j{number}/job.sh"
        script.parent.mkdir(parents=True)
        script.write_text(f"#!/bin/sh\n{line}\n")
    with pytest.raises(UsageError, match="is gone") as told:
        campaign_token(Layout(tmp_path))
    assert told.value.hint is not None and "from a backup" in told.value.hint and "sacct -X" in told.value.hint


@pytest.mark.parametrize("damage", [b"", b"abc", b"0123456789\n", b"\0" * 8, b"ABCDEF01\n"])
def test_a_damaged_token_is_not_replaced_in_silence(tmp_path: Path, damage: bytes) -> None:
    """Under another token the jobs that are out there would be strangers."""
    Layout(tmp_path).token.write_bytes(damage)
    with pytest.raises(CannotStart, match=r"token does not hold what was once written there"):
        campaign_token(Layout(tmp_path))


@given(label=st.text(max_size=40), token=st.from_regex(r"[0-9a-f]{8}", fullmatch=True))
def test_only_our_own_names_are_ours(label: str, token: str) -> None:
    assert job_of_label(token, job_label(token, JOB)) == JOB
    assert job_of_label(token, label) is None or label == job_label(token, label.rpartition("-")[2])
    other = "0" * 8 if token != "0" * 8 else "1" * 8
    assert job_of_label(other, job_label(token, JOB)) is None
    for near in (
        f"sd-{token}-",
        f"sd-{token}-j",
        f"sd-{token}-j1\n",
        f"xsd-{token}-j1",
        f"sd-{token}-j1 2",
        f"sd-{token}-../j1",
    ):
        assert job_of_label(token, near) is None


# ---- before it is submitted ------------------------------------------------------------------------------------------


def test_a_full_disk_passes_and_a_missing_right_does_not(places: JobPlaces, monkeypatch: pytest.MonkeyPatch) -> None:
    order = JobOrder(JOB, "r000007", Case("c", "t", "emu:batch", script="true"))

    def no_room(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", str(places.script(JOB)))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", no_room)
        with pytest.raises(CannotStart, match=r"run r000007 cannot be started: No space left .*job\.sh") as caught:
            places.prepare(order)
    assert caught.value.transient
    script = places.prepare(order)
    assert stat.S_ISREG(script.stat().st_mode)
    places.layout.payloads.joinpath("x").write_text("")
    (places.layout.root / "work/000/j000008.0").write_text("in the way")
    places.prepare(JobOrder("j000008", "r000008", order.case))  # the script finds out on the node, and says so
