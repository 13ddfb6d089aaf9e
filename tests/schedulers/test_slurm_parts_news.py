"""What is said of the parts of jobs: begins and ends once, before the word on their job, and nothing that is over is read again."""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence
from pathlib import Path

import pytest
from fake_slurm import DOWN, FakeSlurm, Looker, record, row

from shakedown.model.nouns import Cluster, Partition
from shakedown.model.ports import JobReport, Wanted
from shakedown.schedulers.cluster.job_places import JobPlaces
from shakedown.schedulers.cluster.part_marks import PartMark, read_part
from shakedown.schedulers.slurm import parts as module
from shakedown.schedulers.slurm.job_evidence import Asked
from shakedown.schedulers.slurm.runner import Ran
from shakedown.schedulers.slurm.versions import SEPARATOR

RUNS = tuple(f"r{n:06}" for n in range(1, 5))
JOB = Asked("j000001", "7", parts=RUNS)
END = "began=101.50 ended=103.00 status={status} ."


class Node(Looker):
    """A look at one job of four parts; reports in the order in which they are said."""

    def begin_part(
        self, run: str, *more: str, holder: str = "job=7 host=n001 uptime=101.50 restart=0 lane=12 ."
    ) -> None:
        path = self.places.layout.part_mark("j000001", run)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in (holder, *more)))

    def end_part(self, run: str, status: int = 0) -> None:
        self.begin_part(run, END.format(status=status))

    def said(self, job: Asked = JOB, after: float = 0.0, glance: bool = False) -> list[JobReport]:
        self.now += after
        reports: list[JobReport] = []
        (self.asker.glance if glance else self.asker.look)([job], reports.extend)
        return reports

    def job_ends(self, left: int) -> None:
        self._write(self.places.marks("j000001", 0), f"began=100.00 ended=110.00 status=0 told= left={left} .\n")


@pytest.fixture
def node(tmp_path: Path) -> Node:
    node = Node(tmp_path)
    node.slurm.queue[""] = [row(nodes="n001", start="50")]
    node.begin()
    return node


def words(reports: Sequence[JobReport]) -> list[tuple[str, str]]:
    return [(report.run, report.state) for report in reports]


def test_begins_and_ends_are_said_once(node: Node) -> None:
    assert words(node.said()) == [("", "running")]
    node.begin_part(RUNS[0])
    node.end_part(RUNS[1], 3)
    assert words(node.said()) == [("", "running"), (RUNS[0], "running"), (RUNS[1], "failed")]
    assert words(node.said()) == [("", "running")]
    node.end_part(RUNS[0])
    assert words(node.said()) == [("", "running"), (RUNS[0], "completed")]
    assert words(Node(node.root, node.slurm).said())[1:] == [(RUNS[0], "completed"), (RUNS[1], "failed")], (
        "a new session"
    )


def test_all_that_there_is_to_say_of_an_end(node: Node) -> None:
    layout = node.places.layout
    os.utime(node.places.claim("j000001", 0), (0, 5000.0))  # written at uptime 100
    output = layout.part_output("j000001", RUNS[0])
    output.parent.mkdir(parents=True)
    output.write_text("12345")
    node.end_part(RUNS[0], 3)
    (report,) = [report for report in node.said() if report.run]
    assert report == JobReport(
        "j000001",
        "failed",
        "marks",
        scheduler_id="7",
        exit_status=3,
        elapsed_s=1.5,
        nodes="n001",
        output={
            "file": f"outputs/000/j000001.0/{RUNS[0]}.out",
            "bytes": 5,
            "directory": f"work/000/j000001.0/{RUNS[0]}",
        },
        began=5001.5,
        run=RUNS[0],
    )


def test_an_output_that_somebody_removed_is_pointed_to_and_one_that_was_never_made_is_not(node: Node) -> None:
    node.end_part(RUNS[0])
    node.begin_part(RUNS[1], "trouble=place .")
    ended, never = (report for report in node.said() if report.run)
    assert (ended.output["file"], ended.output["bytes"]) == (f"outputs/000/j000001.0/{RUNS[0]}.out", 0)
    assert (never.state, never.output) == ("refused", {})


def test_a_time_limit_and_a_place_that_was_not_there(node: Node) -> None:
    node.begin_part(RUNS[0], "timeout=60 .", END.format(status=0))
    node.begin_part(RUNS[1], "trouble=place .")
    node.begin_part(RUNS[2], "timeout=60 .")
    first, second, third = (report for report in node.said() if report.run)
    assert (first.state, first.exit_status) == ("timeout", None)
    assert first.message == "it was ended at its time limit of 60 s; the job went on"
    assert (second.state, third.state) == ("refused", "running")


def test_what_the_conductor_took_and_what_a_dying_node_wrote_is_no_news(node: Node) -> None:
    node.begin_part(RUNS[0], holder="conductor")
    node.begin_part(RUNS[1], "began=101.50 ended=1")
    node.begin_part(RUNS[2], "began=101.50 ended=99.00 status=0 .", holder="")
    assert words(node.said())[1:] == [(RUNS[1], "running"), (RUNS[2], "completed")]


def test_parts_come_before_the_end_of_their_job_whatever_ends_it(node: Node) -> None:
    node.end_part(RUNS[0])
    node.begin_part(RUNS[1])
    node.slurm.queue[""] = [row(state="NODE_FAIL", nodes="n001")]
    assert words(node.said()) == [(RUNS[0], "completed"), (RUNS[1], "running")], "a directory may be shown late"
    (report,) = node.said(after=11.0)
    assert (report.run, report.state, report.output) == ("", "node_fail", {})


def test_a_job_that_counted_its_parts_is_over_when_all_have_been_seen(node: Node) -> None:
    node.slurm.queue[""] = []
    node.job_ends(left=1)
    for run in RUNS[:2]:
        node.end_part(run)
    assert words(node.said()) == [(run, "completed") for run in RUNS[:2]], "one is missing"
    node.end_part(RUNS[2])
    assert words(node.said()) == [(RUNS[2], "completed"), ("", "completed")]


def test_a_part_that_never_shows_does_not_hold_up_its_job_for_ever(node: Node) -> None:
    node.job_ends(left=0)
    node.slurm.queue[""] = [row(state="COMPLETED")]
    assert node.said() == []
    assert words(node.said(after=61.0)) == [("", "completed")]


def test_a_glance_tells_of_parts_without_slurm(node: Node) -> None:
    node.end_part(RUNS[0])
    assert words(node.said(glance=True)) == [(RUNS[0], "completed")]
    node.job_ends(left=2)
    node.end_part(RUNS[1])
    assert words(node.said(glance=True)) == [(RUNS[1], "completed")], "of the job itself Slurm is asked"
    assert node.slurm.asked == []


def test_marks_that_cannot_be_read_say_nothing_of_the_job(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> set[str]:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(module, "claimed_parts", broken)
    node.job_ends(left=0)
    node.slurm.queue[""] = [row(state="COMPLETED")]
    (report,) = node.said(after=61.0)
    assert (report.state, report.message) == (
        "no_answer",
        "the marks of its parts cannot be read: Input/output error",
    )


def test_what_is_over_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eighty jobs of 250 parts, of which all but the last have ended."""
    node = Node(tmp_path)
    jobs = []
    for number in range(1, 9):
        runs = tuple(f"r{number:03}{part:03}" for part in range(250))
        job = f"j{number:06}"
        jobs.append(Asked(job, str(number), parts=runs))
        node.begin(job, id=str(number))
        folder = node.places.layout.part_marks(job)
        folder.mkdir(parents=True)
        for run in runs:
            end = "" if run is runs[-1] else END.format(status=0) + "\n"
            (folder / run).write_text(f"job=7 host=n001 uptime=101.50 restart=0 lane=1 .\n{end}")
    node.slurm.queue[""] = [row(job.id, id=job.scheduler_id) for job in jobs]
    reports: list[JobReport] = []
    node.asker.look(jobs, reports.extend)
    assert len(reports) == 8 * 251
    read: list[str] = []

    def count(places: JobPlaces, job: str, run: str) -> PartMark | None:
        read.append(run)
        return read_part(places, job, run)

    monkeypatch.setattr(module, "read_part", count)
    node.asker.look(jobs, lambda _: None)
    assert read == [job.parts[-1] for job in jobs]


# ---- jobs on several nodes -----------------------------------------------------------------------------------------------


@pytest.fixture
def wide(node: Node) -> Node:
    """Its job has two nodes, and began at 5000 s; parts begin 1.5 s later and take 1.5 s."""
    node.slurm.queue[""] = [row(nodes="n[001-002]", start="50")]
    node.begin(nodes="n[001-002]")
    os.utime(node.places.claim("j000001", 0), (0, 5000.0))
    booted(node, 900)
    return node


def booted(node: Node, when: int, state: str = "IDLE") -> None:
    text = f"NodeName=n001 BootTime=900 State=ALLOCATED\nNodeName=n002 BootTime={when} State={state}\n"
    node.slurm.answers["scontrol"] = Ran(0, text)


@pytest.mark.parametrize(("when", "state"), [(900, "completed"), (5002, "node_fail"), (5004, "completed")])
def test_an_end_on_several_nodes_is_kept_until_their_boots_are_known(wide: Node, when: int, state: str) -> None:
    wide.end_part(RUNS[0])
    wide.begin_part(RUNS[1])
    assert words(wide.said()) == [("", "running"), (RUNS[1], "running")]
    assert words(wide.said(glance=True)) == []
    booted(wide, when)
    *_, report = wide.said(after=11.0)
    assert (report.run, report.state) == (RUNS[0], state)
    assert report.failed_nodes == (("n002",) if state == "node_fail" else ())
    assert words(wide.said(after=11.0)) == [("", "running")], "once"


def test_a_job_on_several_nodes_is_over_after_the_ends_that_were_kept(wide: Node) -> None:
    wide.end_part(RUNS[0])
    wide.job_ends(left=3)
    wide.slurm.queue[""] = [row(state="COMPLETING", nodes="n[001-002]", start="50")]
    assert words(wide.said()) == []
    wide.slurm.queue[""] = [row(state="COMPLETED", nodes="n[001-002]", start="50")]
    assert words(wide.said(after=1.0)) == []
    assert words(wide.said(after=9.0)) == [(RUNS[0], "completed"), ("", "completed")]


def test_a_step_that_was_given_up_or_a_silent_node_is_waited_for(wide: Node) -> None:
    for run, said in (
        (RUNS[0], "srun: Job step aborted: Waiting up to 5 seconds for job step to finish.\n"),
        (RUNS[1], ""),
    ):
        output = wide.places.layout.part_output("j000001", run)
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(said)
        wide.end_part(run)
    booted(wide, 900, "MIXED*")
    for seconds in (0, 11, 30):
        assert words(wide.said(after=seconds)) == [("", "running")]
    booted(wide, 900)
    assert words(wide.said(after=11)) == [("", "running"), (RUNS[1], "completed")]
    booted(wide, 900, "MIXED*")
    *_, report = wide.said(after=11)
    assert (report.run, report.state, report.failed_nodes) == (RUNS[0], "node_fail", ("n002",))
    assert report.message == "n002 has not answered since it ended"


@pytest.mark.parametrize(("over", "state"), [(5010, "node_fail"), (9000, "completed")])
def test_a_node_that_slurm_misses_soon_after_an_end(wide: Node, over: int, state: str) -> None:
    """It may have failed while the part ran. What ended long before, and is heard of only now, ended as it says."""
    wide.end_part(RUNS[0])
    assert words(wide.said()) == [("", "running")]
    wide.slurm.queue[""] = [row(state="NODE_FAIL", nodes="n[001-002]", start="50", end=over)]
    reports = [report for seconds in (1.0, 11.0) for report in wide.said(after=seconds)]
    assert words(reports) == [(RUNS[0], state), ("", "node_fail")]


def test_a_prolog_that_fails_on_another_node_is_no_word_of_a_person(wide: Node) -> None:
    """Slurm cancels the whole job as user 0. What had begun is charged to the node; the rest was never launched."""
    wide.begin_part(RUNS[0])
    wide.slurm.queue[""] = [row(state="CANCELLED", nodes="n[001-002]", start="50", end="5002")]
    wide.slurm.memory[""] = [record(state="CANCELLED by 0", NodeList="n[001-002]")]
    text = "NodeName=n001 BootTime=900\nNodeName=n002 BootTime=900 Reason=Prolog error [root@5001]\n"
    wide.slurm.answers["scontrol"] = Ran(0, text)
    *_, report = [report for seconds in (0, 11.0) for report in wide.said(after=seconds)]
    assert (report.run, report.state, report.failed_nodes) == ("", "node_fail", ("n002",))
    assert (report.launch_failure, report.dead) == (False, True)


# ---- what is looked up besides -------------------------------------------------------------------------------------------

HALF = Partition("half", "emu", "n[003-004,001]", 3, "node", options=("--partition=batch",))
EMU = Cluster("emu", "slurm", (Partition("batch", "emu", "n[001-016]", 16, "node"), HALF))
STATES = [("idle", "n[001,003]"), ("idle~", "n004"), ("idle*", "n005"), ("idle%", "n006"), ("idle#", "n007")]
STATES += [("drained", "n008"), ("reserved", "n009"), ("maint", "n010"), ("planned", "n011"), ("mixed", "n012")]


def survey(tmp_path: Path, slurm: FakeSlurm, wanted: Wanted, *clusters: Cluster) -> tuple[object, ...]:
    found: list[object] = []
    looker = Looker(tmp_path, slurm, clusters or (EMU,))
    looker.asker.look([], lambda _: None, wanted, found.append)
    return tuple(found)


def test_idle_nodes_are_numbers_in_the_order_of_their_partition(tmp_path: Path) -> None:
    text = "".join(f"{state}{SEPARATOR}{nodes}\n" for state, nodes in STATES)
    slurm = FakeSlurm(answers={"sinfo": Ran(0, text)})
    (found,) = survey(tmp_path, slurm, Wanted(idle=("emu:batch", "emu:half", "emu:gone")))
    assert found.idle == {"emu:batch": (1, 3, 4, 7), "emu:half": (1, 2, 3)}  # type: ignore[attr-defined]
    assert found.trouble == {"emu:gone": "there is no such partition here"}  # type: ignore[attr-defined]
    assert slurm.count("sinfo") == 1
    both = Wanted(idle=("emu:half",), unused=("emu:batch", "emu:half", "emu:gone"))
    (found,) = survey(tmp_path, slurm, both)
    assert found.idle == {"emu:half": (1, 2, 3)}  # type: ignore[attr-defined]
    assert found.unused == {"emu:batch": (1, 3, 4, 7), "emu:half": (1, 2, 3)}, "planned and reserved are kept"  # type: ignore[attr-defined]
    assert "emu:gone" in found.trouble  # type: ignore[attr-defined]
    assert slurm.count("sinfo") == 2, "one for each look, whoever wants to know"
    (silent,) = survey(tmp_path, FakeSlurm(answers={"sinfo": DOWN}), Wanted(idle=("emu:batch",)))
    assert silent.idle == {} and "Unable to contact" in silent.trouble["emu:batch"]  # type: ignore[attr-defined]


def test_nodes_that_are_out_are_told_with_slurms_word_and_reason(tmp_path: Path) -> None:
    rows = [("idle", "Unknown", "none", "n001"), ("drained*", "2026-01-01T00:00:00", "bad DIMM", "n[003-004]")]
    rows += [("draining", "2026-01-01T00:00:00", "bad DIMM", "n005"), ("down*", "Unknown", "Not responding", "n006")]
    rows += [("maint", "Unknown", "none", "n007"), ("idle*", "Unknown", "none", "n008")]
    rows += [
        ("unknown", "Unknown", "none", "n002")
    ]  # slurmctld was started again and has not heard of it: no reason to end a sweep
    text = "".join(SEPARATOR.join(row) + "\n" for row in rows)
    (found,) = survey(
        tmp_path, FakeSlurm(answers={"sinfo": Ran(0, text)}), Wanted(idle=("emu:half",), unused=("emu:batch",))
    )
    assert found.idle == {"emu:half": (1,)}  # type: ignore[attr-defined]
    assert found.out == {"emu:half": {"drained: bad DIMM": (2, 3)}}, "of pools that a sweep waits for"  # type: ignore[attr-defined]
    (found,) = survey(tmp_path, FakeSlurm(answers={"sinfo": Ran(0, text)}), Wanted(idle=("emu:batch",)))
    assert found.out["emu:batch"] == {  # type: ignore[attr-defined]
        "drained: bad DIMM": (3, 4),
        "draining: bad DIMM": (5,),
        "down: Not responding": (6,),
        "idle*": (8,),
    }


def test_nodes_that_do_not_answer_are_told_whatever_they_did(tmp_path: Path) -> None:
    rows = [("idle", "n001"), ("mixed*", "n[003-004]"), ("down", "n005"), ("drained", "n006"), ("allocated*", "n008")]
    text = "".join(f"{state}{SEPARATOR}Unknown{SEPARATOR}none{SEPARATOR}{nodes}\n" for state, nodes in rows)
    slurm = FakeSlurm(answers={"sinfo": Ran(0, text)})
    (found,) = survey(tmp_path, slurm, Wanted(silent=("emu:batch", "emu:half", "emu:gone")))
    assert found.silent == {"emu:batch": (3, 4, 5, 8), "emu:half": (2, 3)}  # type: ignore[attr-defined]
    assert (found.idle, found.out, found.unused) == ({}, {}, {})  # type: ignore[attr-defined]
    assert list(found.trouble) == ["emu:gone"] and slurm.count("sinfo") == 1  # type: ignore[attr-defined]


def test_jobs_of_others_that_wait_are_counted_on_clusters_that_need_not_be_ours(tmp_path: Path) -> None:
    slurm = FakeSlurm(
        queue={"": [], "c3": ["wrap", "sd-0a1b2c3d-j000001", "sd-ffffffff-j000001", "CLUSTER: c3", "arr", "arr"]}
    )
    slurm.queue["c4"] = DOWN
    (found,) = survey(tmp_path, slurm, Wanted(pending=("c3", "c4")))
    assert found.pending == {"c3": 4}  # type: ignore[attr-defined]
    assert list(found.trouble) == ["c4"]  # type: ignore[attr-defined]
    assert survey(tmp_path, slurm, None) == ()  # type: ignore[arg-type]


# ---- outputs that nobody reads ----


def test_a_part_that_the_end_of_its_job_cut_off_says_where_its_output_is(node: Node) -> None:
    layout = node.places.layout
    output = layout.part_output("j000001", RUNS[0])
    output.parent.mkdir(parents=True)
    output.write_bytes(b"as far as it came\n")
    node.begin_part(RUNS[0])
    (began,) = [report for report in node.said() if report.run]
    node.slurm.queue[""] = [row(state="NODE_FAIL", nodes="n001", start=50, end=60)]
    said = [report for after in (0.0, 11.0, 11.0) for report in node.said(after=after)]
    (cut,) = [report for report in said if report.run and report.output]
    assert (cut.run, cut.state) == (RUNS[0], "running")
    assert began.began and (cut.began, cut.nodes) == (began.began, began.nodes), (
        "all that is heard by a driver that was away"
    )
    assert cut.output == {
        "file": str(output.relative_to(layout.root)),
        "bytes": 18,
        "directory": str(layout.part_work("j000001", RUNS[0]).relative_to(layout.root)),
        "crc": f"{zlib.crc32(output.read_bytes()):08x}",
    }
    ends = [report for report in said if not report.run and report.state == "node_fail"]
    assert ends
    assert said.index(cut) < said.index(ends[0]), "before the word on their job"


def test_an_empty_claim_says_nothing_while_its_job_runs(node: Node) -> None:
    """Its lane may be about to write it, or to remove it because there is no room: the part has not begun then."""
    node.begin_part(RUNS[0], holder="")
    mark = node.places.layout.part_mark("j000001", RUNS[0])
    mark.write_bytes(b"")
    assert words(node.said()) == [("", "running")]
    mark.unlink()
    assert words(node.said(after=1)) == [("", "running")]
    node.begin_part(RUNS[0])
    assert (RUNS[0], "running") in words(node.said(after=1))


def test_an_empty_claim_of_a_job_that_is_over_is_a_part_that_may_have_begun(node: Node) -> None:
    node.begin_part(RUNS[0], holder="")
    node.places.layout.part_mark("j000001", RUNS[0]).write_bytes(b"")
    node.job_ends(left=3)
    node.slurm.queue[""] = [row("COMPLETED", nodes="n001", start="50", end="160")]
    told = [*node.said(), *node.said(after=70)]
    assert (RUNS[0], "running") in words(told)
