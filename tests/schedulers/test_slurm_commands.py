"""The argument lists of Slurm's commands, and the environment that they and the jobs get."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from shakedown.model.nouns import Case, Cluster, Pairs, Partition, Shape
from shakedown.model.ports import JobOrder, Part
from shakedown.processes.spawn import login_umask
from shakedown.schedulers.slurm import commands
from shakedown.schedulers.slurm.refusals import sort_answer
from shakedown.schedulers.slurm.runner import Runner, command_environment

BATCH = Partition("batch", "emu", "n[001-004]", 4, "node", time_limit_s=3600.0, options=("--reservation=test",))
EMU = Cluster(
    "emu", "slurm", (BATCH,), options=("--account=a", "--job-name=mine"), licences=(("scratch", 4.0), ("mds", 8.0))
)


def ordered(after: str = "", names: Pairs = (), cluster: Cluster = EMU, **fields: Any) -> list[str]:
    """The words of an order that are not those of a plain one."""
    loads = fields.pop("loads", ())
    order = JobOrder("j1", "r1", Case("c", "t", "emu:batch", loads=loads, shape=Shape(requeue=True)), **fields)
    words = commands.sbatch(order, cluster, "sd-1-j1", "/c/job.sh", "/c/slurm.out", "/c", False, names, after)
    return [
        word for word in words if word.startswith(("--nodel", "--ex", "--dep", "--lic", "--no-", "--re", "--hold"))
    ][1:]


def submission(shape: Shape | None = None, held: bool = False, several: bool = False, **fields: object) -> list[str]:
    case = Case("c", "t", "emu:batch", shape=shape or Shape(), **fields)  # type: ignore[arg-type]
    order = JobOrder("j1", "r1", case, held=held)
    return commands.sbatch(order, EMU, "sd-1-j1", "/c/job.sh", "/c/100%/slurm.out", "/c", several)


def test_a_whole_submission() -> None:
    assert submission(Shape(2, 4, 3, 2, True, 100.0)) == [
        "sbatch",
        "--parsable",
        "--partition=batch",
        "--account=a",
        "--job-name=mine",
        "--reservation=test",
        "--job-name=sd-1-j1",
        "--nodes=2",
        "--ntasks-per-node=4",
        "--cpus-per-task=3",
        "--exclusive",
        "--time=3",
        "--no-requeue",
        "--export=ALL",
        "--chdir=/c",
        "--output=/c/100%%/slurm.out",
        "--open-mode=append",
        "/c/job.sh",
        "sd-1-j1",
    ]


def test_what_is_asked_for_only_sometimes() -> None:
    words = submission(Shape(requeue=True), held=True, several=True, loads=(("scratch", 1.5), ("f2/bandwidth", 3.0)))
    assert "--requeue" in words and "--no-requeue" not in words
    assert words[-3] == "--hold" and "--clusters=emu" in words
    assert "--licenses=scratch:2" in words, "a part of a licence is a whole one; a load that is no licence is none"
    assert "--exclusive" not in words


@given(st.floats(0.001, 1e6))
def test_a_time_limit_leaves_room_for_the_end_mark(limit: float) -> None:
    asked = commands.minutes(limit) * 60
    assert limit + commands.ROOM_S <= asked < limit + commands.ROOM_S + 60.0 + 1e-6


@given(st.floats(1, 1e6), st.floats(60, 1e6))
def test_a_time_limit_stays_within_the_partitions(limit: float, most: float) -> None:
    assert 1 <= commands.minutes(limit, most) <= math.floor(most / 60)


def test_one_cluster_needs_no_database_to_be_named() -> None:
    for words in (
        commands.squeue("emu", 0, False),
        commands.sacct("emu", False, ids=["1"]),
        commands.scancel("emu", False, ["1"]),
    ):
        assert not any(word.startswith("--clusters") for word in words)
    assert "--clusters=emu" in commands.squeue("emu", 0, True)


def test_ids_are_asked_for_by_id_and_names_by_name() -> None:
    assert "--jobs=3_4,11+0" in commands.sacct("emu", False, ids=["3_4", "11+0"])
    words = commands.sacct("emu", False, labels=["sd-1-j1"], days=2)
    assert "--name=sd-1-j1" in words and "--starttime=now-2days" in words


def test_the_conductors_own_job_does_not_leak_into_its_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SLURM_JOB_ID", "SBATCH_PARTITION", "PMI_RANK", "TMPDIR", "SSH_TTY"):
        monkeypatch.setenv(name, "x")
    for name in ("SLURM_CONF", "SBATCH_ACCOUNT", "OMP_PROC_BIND"):
        monkeypatch.setenv(name, "kept")
    environment = command_environment()
    assert not environment.keys() & {b"SLURM_JOB_ID", b"SBATCH_PARTITION", b"PMI_RANK", b"TMPDIR", b"SSH_TTY"}
    assert {environment[name] for name in (b"SLURM_CONF", b"SBATCH_ACCOUNT", b"OMP_PROC_BIND")} == {b"kept"}
    assert environment[b"SLURM_TIME_FORMAT"] == b"%s"


def test_a_command_that_hangs_is_ended_with_all_it_started() -> None:
    ran = Runner()(["sh", "-c", "sleep 1000 & sleep 1000"], 0.2)
    assert ran.timed_out and ran.status == -9 and ran.error == "sh gave no answer for 0.2 s"


@pytest.mark.parametrize(
    "said",
    ["Slurm temporarily unable to accept job, sleeping and retrying", "Slurm job queue full, sleeping and retrying"],
)
def test_an_sbatch_that_sleeps_and_tries_again_is_not_waited_for(
    said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The controller holds as many jobs as it may: nothing was accepted, and the words are those that a person needs."""
    with_sbatch(f"echo 'sbatch: error: {said}' >&2; sleep 1000; echo 7", tmp_path, monkeypatch)
    ran = Runner()(["sbatch", "x"], 60.0)
    answer = sort_answer(ran)
    assert not ran.timed_out
    assert (answer.outcome, answer.transient, answer.message) == ("refused", True, said.partition(",")[0])


def test_an_sbatch_that_answers_is_heard_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_sbatch("echo a banner >&2; seq 100000; exit 3", tmp_path, monkeypatch)
    ran = Runner()(["sbatch", "x"], 60.0)
    assert (ran.status, ran.error, ran.output.count("\n")) == (3, "a banner\n", 100000)
    with_sbatch("echo 7; sleep 1000", tmp_path, monkeypatch)
    assert Runner()(["sbatch", "x"], 0.5).timed_out


def with_sbatch(script: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program of this name, first in PATH."""
    path = folder / "sbatch"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def test_a_directory_that_was_removed_stops_no_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """sbatch refuses to work where it cannot tell where it is."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    assert Runner()(["pwd", "-P"], 60.0).output == f"{gone}\n"
    gone.rmdir()
    assert Runner()(["pwd", "-P"], 60.0).output == "/\n"


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/a b/%j", "/a b/%%j"),
        ("/a\\b/%j", "/a\\\\b/%j"),  # as Slurm 22.05 was seen to read them
        ("/a\\\\b", "/a\\\\\\\\b"),
    ],
)
def test_slurm_replaces_nothing_in_a_path(path: str, words: str) -> None:
    assert commands.literal(path) == words


def test_a_command_that_is_not_there() -> None:
    runner = Runner()
    ran = runner(["no-such-command-of-slurm"], 5.0)
    assert (ran.status, ran.error) == (127, "no-such-command-of-slurm cannot be run: No such file or directory")
    assert (runner.take_calls(), runner.take_calls()) == ({"no-such-command-of-slurm": 1}, {})


def test_where_a_job_may_go_and_after_which_other() -> None:
    assert ordered(node=3) == ["--nodelist=n003", "--requeue", "--export=ALL"]
    assert ordered(exclude=("n002", "n001", "n099")) == ["--exclude=n[001-002]", "--requeue", "--export=ALL"]
    assert ordered(exclude=("n099",)) == ["--requeue", "--export=ALL"], "Slurm refuses a name that it does not know"
    part = structs.replace(EMU.partitions[0], options=("--partition=batch", "--exclude=n[003-004]"))
    mixed = structs.replace(EMU, partitions=(part, *EMU.partitions[1:]))
    order = JobOrder("j1", "r1", Case("c", "t", "emu:batch", shape=Shape()), exclude=("n001",))
    words = commands.sbatch(order, mixed, "sd-1-j1", "/c/job.sh", "/c/slurm.out", "/c", False)
    only = [word for word in words if word.startswith("--exclude")]
    assert only == ["--exclude=n[003-004],n001"], "of several Slurm hears the last alone"
    assert ordered(after="17", held=True) == ["--dependency=afterany:17", "--requeue", "--export=ALL", "--hold"]
    with pytest.raises(IndexError):
        ordered(node=5)


def test_nodes_that_a_waiting_job_must_not_have_are_said_anew_with_those_of_the_site_s_options() -> None:
    plain = commands.scontrol_exclude(EMU, BATCH, False, "12", ("n002", "n003", "elsewhere"))
    assert plain == ["scontrol", "update", "JobId=12", "ExcNodeList=n[002-003]"]
    mixed = structs.replace(BATCH, options=("--exclude=n001",))
    several = commands.scontrol_exclude(EMU, mixed, True, "12", ("n003",))
    assert several == ["scontrol", "--clusters=emu", "update", "JobId=12", "ExcNodeList=n001,n003"]
    assert commands.scontrol_exclude(EMU, BATCH, False, "12", ())[-1] == "ExcNodeList="


def test_a_job_of_several_runs_is_never_put_back_into_the_queue() -> None:
    assert ordered(parts=(Part("r1", Case("c", "t", "emu:batch")),)) == ["--no-requeue", "--export=ALL"]


@pytest.mark.parametrize(
    ("loads", "targets", "wanted"),
    [
        ((("scratch", 1.0),), (), ["--licenses=scratch:1"]),
        ((("f2/mdt", 1.5),), (("f2/mdt", "mdt0"),), ["--licenses=mds:2"]),
        ((("f2/mdt", 1.0),), (("f2/mdt", "mdt1"),), []),
        ((("f2/mdt", 1.0),), (), []),
        ((("scratch", 1.0),), (("scratch", "a"),), ["--licenses=scratch:1"]),
        ((("bandwidth", 3.0), ("scratch", 1.0)), (), ["--licenses=scratch:4"]),
    ],
)
def test_licences_by_the_names_that_the_site_has_for_them(loads: Any, targets: Any, wanted: list[str]) -> None:
    names = (("f2/mdt@mdt0", "mds"), ("bandwidth", "scratch"))
    assert [w for w in ordered(names=names, loads=loads, targets=targets) if "licenses" in w] == wanted


def test_jobs_get_the_file_mode_mask_of_a_login_whatever_ours_is() -> None:
    """sbatch gives a job its own; whoever started the conductor (a service, a script) may have another."""
    before = os.umask(0o077)
    try:
        assert int(Runner()(["sh", "-c", "umask"], 60.0).output, 8) == login_umask()
    finally:
        os.umask(before)
