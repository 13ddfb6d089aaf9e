"""What Slurm prints: captured, odd, torn; and what sbatch's answers mean."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fake_slurm import Looker, row
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from shakedown.model.job_terms import NO_LIMIT_S, Terms
from shakedown.schedulers.slurm.job_evidence import Asked
from shakedown.schedulers.slurm.parsing import (
    cancelled_by,
    clean,
    exit_pair,
    finished,
    key_values,
    last_words,
    node_histories,
    node_states,
    out_of_work,
    queue_rows,
    records,
    settings,
    wait_status,
)
from shakedown.schedulers.slurm.refusals import sort_answer
from shakedown.schedulers.slurm.runner import Ran
from shakedown.schedulers.slurm.states import meaning
from shakedown.schedulers.slurm.versions import ACCOUNT_FIELDS, QUEUE_FIELDS, SEPARATOR

SAMPLES = Path(__file__).resolve().parents[1] / "machines" / "slurm" / "samples"


def sample(name: str) -> str:
    return (SAMPLES / name).read_text()


# ---- squeue ----


def test_captured_queue() -> None:
    rows = {row.id: row for row in queue_rows(sample("squeue.txt"))}
    waiting = rows["483"]
    assert (waiting.name, waiting.state, waiting.reason, waiting.restart) == (
        "sd-ceef7ae7-j000001",
        "PENDING",
        "BeginTime",
        1,
    )
    assert (waiting.nodes, waiting.start) == ("", 1795337778.0)
    lost = rows["485"]
    assert (lost.state, lost.nodes, lost.start, lost.end) == ("NODE_FAIL", "n003", 1795337739.0, 1795337763.0)
    assert rows["488"].state == "RUNNING"


def test_a_captured_queue_of_24_11() -> None:
    """Its exit statuses are pairs."""
    rows = {int(row.name[-2:]): row for row in queue_rows(sample("24.11/squeue.txt"))}
    told = {number: (row.state, row.exit, row.reason) for number, row in rows.items()}
    assert told == {
        1: ("COMPLETED", 0, ""),
        2: ("FAILED", 7, "NonZeroExitCode"),
        3: ("NODE_FAIL", -1, "NodeDown"),
        4: ("PENDING", 0, "BeginTime"),
        5: ("CANCELLED", -15, ""),
        6: ("RUNNING", 0, ""),
        7: ("PENDING", 0, "JobHeldUser"),
        8: ("FAILED", -9, "RaisedSignal:9(Killed)"),
        9: ("FAILED", 139, "NonZeroExitCode"),
        10: ("PENDING", 0, "job requeued in held state"),
    }
    assert (rows[6].nodes, rows[6].start, rows[6].used_s) == ("n001", 1795900116.0, 26.0)
    assert (rows[10].restart, rows[10].nodes, rows[10].start) == (1, "", None)


def row_text(**cells: str) -> str:
    plain = {"id": "7", "name": "sd-1-j1", "state": "RUNNING", "restart": "0", "exit": "0"}
    return SEPARATOR.join(({name: "" for name, _ in QUEUE_FIELDS} | plain | cells).values()) + SEPARATOR + "\n"


@pytest.mark.parametrize("job", ["7", "3_4", "3_[3-4%2]", "11+0"])
def test_ids_are_strings(job: str) -> None:
    assert queue_rows(row_text(id=job))[0].id == job


def test_a_torn_line_a_header_and_nothing_are_no_rows() -> None:
    assert queue_rows("CLUSTER: emu\n" + row_text()[:12] + "\n\n") == []
    assert len(queue_rows("CLUSTER: emu\n" + row_text())) == 1


def test_fields_that_a_release_does_not_know_come_empty() -> None:
    row = queue_rows(row_text(restart="", exit="", start="", nodes="(null)", reason="None"))[0]
    assert (row.restart, row.exit, row.start, row.nodes, row.reason) == (0, None, None, "", "")


@given(st.lists(st.text(), min_size=len(QUEUE_FIELDS), max_size=len(QUEUE_FIELDS) + 2))
def test_no_cell_is_too_odd(cells: list[str]) -> None:
    for found in queue_rows(SEPARATOR.join(cells)):
        assert found.id and found.reason.isprintable()
        assert meaning(found.state).state


@given(st.text())
def test_no_text_is_too_odd(text: str) -> None:
    queue_rows(text), records(text), node_states(text), settings(text), list(last_words(text))
    finished(text)
    assert clean(text) == "" or (clean(text).isprintable() and len(clean(text)) <= 300)


# ---- sacct, jobcomp, scontrol ----


def account_text(**cells: str) -> str:
    plain = {"JobID": "226", "JobName": "a", "State": "COMPLETED", "ExitCode": "0:0"}
    return SEPARATOR.join((dict.fromkeys(ACCOUNT_FIELDS, "") | plain | cells).values()) + "\n"


def test_captured_records() -> None:
    first = records(sample("sacct.txt"))[0]
    assert (first.id, first.name, first.state, first.exit, first.nodes) == ("283", "x-1", "CANCELLED", -15, "n001")


def test_captured_records_of_24_11() -> None:
    found = [(record.id, record.state, record.exit, record.by) for record in records(sample("24.11/sacct.txt"))]
    assert [row for row in found if row[0] in ("4", "5", "8", "10")] == [
        ("4", "NODE_FAIL", 1, ""),
        ("5", "CANCELLED", 0, "0"),
        ("8", "FAILED", -9, ""),
        ("10", "REQUEUED", 0, ""),
        ("10", "PENDING", 0, ""),
        ("4", "PENDING", 0, ""),
    ]


def test_steps_are_left_out_and_the_canceller_is_kept() -> None:
    text = account_text(State="CANCELLED by 1000", Start="Unknown") + account_text(JobID="226.batch")
    (record,) = records(text)
    assert (record.state, record.by, record.start) == ("CANCELLED", "1000", None)
    assert cancelled_by("CANCELLED+") == ("CANCELLED", "")


def test_captured_list_of_finished_jobs() -> None:
    lines = [record for line in sample("jobcomp.log").splitlines() if (record := finished(line))]
    by_name = {record.name: record for record in lines}
    assert (by_name["fail0"].state, by_name["fail0"].exit, by_name["fail0"].nodes) == ("FAILED", 3, "n001")
    assert by_name["held"].nodes == ""


def test_a_captured_list_of_finished_jobs_of_24_11() -> None:
    lines = [record for line in sample("24.11/jobcomp.log").splitlines() if (record := finished(line))]
    by_name = {record.name[-2:]: (record.state, record.exit, record.nodes) for record in lines}
    assert (by_name["02"], by_name["03"]) == (("FAILED", 7, "n001"), ("NODE_FAIL", -1, "n003"))
    assert by_name["10"] == ("REQUEUED", 0, "n001"), "it was put back, and that start is over"


def test_values_may_hold_spaces() -> None:
    assert key_values("JobId=1 Command=/a b/c d Reason=x") == {"JobId": "1", "Command": "/a b/c d", "Reason": "x"}


def test_captured_configuration() -> None:
    known = settings(sample("scontrol_config.txt"))
    assert known["JobCompType"] == "jobcomp/filetxt"
    assert known["AccountingStorageType"] == "accounting_storage/slurmdbd"


def test_a_node_of_several_partitions_is_one_node() -> None:
    nodes = node_states(sample("sinfo.txt"))
    assert [node.name for node in nodes] == ["n001", "n002", "n003", "n004"]
    assert nodes[3].state == "mixed"


def test_captured_nodes_of_24_11() -> None:
    told = {node.name: (node.state, node.reason, node.reason_at) for node in node_states(sample("24.11/sinfo.txt"))}
    assert told == {
        "n001": ("mixed", "", None),
        "n002": ("drained", "bad DIMM", 1795900117.0),
        "n003": ("down*", "Not responding", 1795900138.0),
        "n004": ("idle", "", None),
    }
    out = out_of_work(sample("24.11/sinfo_out.txt"))
    assert out == [("down*", 1795900138.0, "Not responding", "n003"), ("drained", 1795900117.0, "bad DIMM", "n002")]
    nodes = [(node.name, node.booted, node.reason, node.silent) for node in node_histories(sample("24.11/nodes.txt"))]
    assert nodes == [
        ("n001", 1795900112.0, "", False),
        ("n002", 1795900112.0, "bad DIMM", False),
        ("n003", 1795900112.0, "Not responding", True),
    ]


def test_a_captured_job_of_24_11() -> None:
    known = key_values(sample("24.11/job.txt"))
    assert (known["JobId"], known["JobState"], known["WorkDir"]) == ("6", "RUNNING", "/tmp")
    assert (known["NodeList"], known["TresPerNode"]) == ("n001", "gres/gpu:2")


@given(st.integers(0, 255))
def test_exit_statuses(status: int) -> None:
    assert wait_status(str(status << 8)) == wait_status(f"{status}:0") == status
    assert exit_pair(f"{status}:0") == status


@given(st.integers(1, 64))
def test_signals(signal: int) -> None:
    assert wait_status(str(signal)) == wait_status(f"0:{signal}") == -signal
    assert exit_pair(f"0:{signal}") == -signal


@pytest.mark.parametrize("word", ["", "0:", "x:y", "1;2"])
def test_an_empty_exit_status_is_not_zero(word: str) -> None:
    assert exit_pair(word) in (None, 0) and (word == "0:" or exit_pair(word) is None)


@pytest.mark.parametrize(
    ("word", "state"),
    [
        ("RUNNING", "running"),
        ("COMPLETING", "running"),
        ("SUSPENDED", "running"),
        ("OUT_OF_MEMORY", "failed"),
        ("PREEMPTED", "interrupted"),
        ("DEADLINE", "timeout"),
        ("BOOT_FAIL", "node_fail"),
        ("REVOKED", "cancelled"),
        ("SPECIAL_EXIT", "queued"),
        ("GONE_FISHING", "unknown"),
        ("", "unknown"),
    ],
)
def test_states(word: str, state: str) -> None:
    assert meaning(word).state == state


def test_an_unknown_state_is_told_as_it_is() -> None:
    assert "'GONE_FISHING'" in meaning("GONE_FISHING").note


def test_last_words() -> None:
    text = "slurmstepd-n007: error: *** JOB 105 ON n007 CANCELLED AT 2026-11-21T08:30:06 DUE TO TIME LIMIT ***\n"
    assert list(last_words(text)) == ["CANCELLED AT 2026-11-21T08:30:06 DUE TO TIME LIMIT"]


# ---- what sbatch's answers mean ----


def complaint(text: str) -> Ran:
    return Ran(1, error=f"sbatch: error: {text}\n")


@pytest.mark.parametrize(("output", "job"), [("17\n", "17"), ("a banner\n17;emu2\n", "17;emu2"), ("3_4\n", "3_4")])
def test_accepted(output: str, job: str) -> None:
    answer = sort_answer(Ran(0, output))
    assert (answer.outcome, answer.scheduler_id) == ("accepted", job)


@pytest.mark.parametrize(
    "text",
    [
        "invalid partition specified: nope\nsbatch: error: Batch job submission failed: Invalid partition name specified",
        "Batch job submission failed: Invalid account or account/partition combination specified",
        "Batch job submission failed: Requested node configuration is not available",
        "Batch job submission failed: Requested time limit is invalid (missing or exceeds some limit)",
        "Batch job submission failed: Invalid license specification",
        "Memory specification can not be satisfied",
        "Batch job submission failed: Access/permission denied",
        # as 24.11 says it
        "Batch job submission failed: Invalid node name specified",
        "Batch job submission failed: Invalid feature specification",
        "Batch job submission failed: Requested reservation is invalid",
        "Invalid generic resource (gres) specification",
        "CPU count per node can not be satisfied\n"
        "sbatch: error: Batch job submission failed: Requested node configuration is not available",
        "QOSMaxWallDurationPerJobLimit\nsbatch: error: Batch job submission failed: Job violates accounting/QOS policy"
        " (job submit limit, user's size and/or time limits)",
        "No cluster 'zz' known by database.\nsbatch: error: 'zz' can't be reached now, or it is an invalid entry for --cluster.",
    ],
)
def test_refused_for_good(text: str) -> None:
    answer = sort_answer(complaint(text))
    assert (answer.outcome, answer.transient) == ("refused", False), answer
    assert answer.message and not answer.message.startswith("sbatch")


@pytest.mark.parametrize(
    ("text", "unreachable"),
    [
        ("Batch job submission failed: Unable to contact slurm controller (connect failure)", True),
        ("Batch job submission failed: Slurm backup controller in standby mode", True),
        ("Batch job submission failed: Connection refused", True),
        ("fetch_config: DNS SRV lookup failed\nsbatch: fatal: Could not establish a configuration source", True),
        (
            'Munge encode failed: Failed to access "/run/munge/munge.socket.2"\nsbatch: error: Protocol authentication error',
            True,
        ),
        (
            "AssocMaxSubmitJobLimit\nsbatch: error: Batch job submission failed: Job violates accounting/QOS policy"
            " (job submit limit, user's size and/or time limits)",
            False,
        ),
        (
            "Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)",
            False,
        ),
        ("Batch job submission failed: Slurm temporarily unable to accept job", False),
        ("Batch job submission failed: Resource temporarily unavailable", False),
        ("Batch job submission failed: I/O error writing script/environment to file", False),
        ("Batch job submission failed: No space left on device", False),
        ("Batch job submission failed: Required partition not available (inactive or drain)", False),
    ],
)
def test_refused_for_now(text: str, unreachable: bool) -> None:
    answer = sort_answer(complaint(text))
    assert (answer.outcome, answer.transient, answer.unreachable) == ("refused", True, unreachable), answer


@pytest.mark.parametrize(
    "ran",
    [
        complaint("Batch job submission failed: Socket timed out on send/recv operation"),
        complaint("Batch job submission failed: Unable to contact slurm controller (receive failure)"),
        complaint("Unable to contact slurm controller"),
        complaint("Batch job submission failed: Protocol authentication error"),
        complaint(
            "Munge decode failed: Expired credential\nsbatch: error: Batch job submission failed: Protocol authentication error"
        ),
        complaint("Batch job submission failed: Zero Bytes were transmitted or received"),
        complaint("Batch job submission failed: Unexpected message received"),
        Ran(-9, error="sbatch gave no answer for 20 s", timed_out=True),
        Ran(-15),
        Ran(1),
        Ran(0, "Submitted, perhaps"),
        Ran(0),
    ],
)
def test_it_may_have_been_accepted(ran: Ran) -> None:
    answer = sort_answer(ran)
    assert answer.outcome == "unknown"
    assert answer.message


@given(st.integers(-64, 255), st.text(), st.text())
def test_every_answer_is_sorted(status: int, output: str, error: str) -> None:
    answer = sort_answer(Ran(status, output, error))
    assert answer.outcome in ("accepted", "refused", "unknown")
    assert (answer.outcome == "accepted") == bool(answer.scheduler_id)
    assert status == 0 or answer.outcome != "accepted"


# ---- the terms of a job --------------------------------------------------------------------------------------------------

TERMS = {  # as squeue of 22.05 and of 24.11 printed them, of a job on two whole nodes
    "partition": "batch", "time_limit": "1-02:00:00", "node_count": "2", "tasks": "4", "cpus": "32", "memory": "100M",
    "sharing": "NO", "wants": "n003", "features": "(null)", "gpus": "N/A",
    "reservation": "(null)", "qos": "normal", "account": "accept",
}  # fmt: skip


@pytest.mark.parametrize(
    ("cells", "wanted"),
    [
        ({}, {}),
        ({"time_limit": "UNLIMITED"}, {"time_limit_s": NO_LIMIT_S}),
        ({"time_limit": "2:00", "memory": "2G"}, {"time_limit_s": 120.0, "memory_bytes": 2.0**31}),
        ({"time_limit": "INVALID", "memory": "0"}, {"time_limit_s": None, "memory_bytes": None}),
        ({"tasks": "4294967294"}, {"tasks": None}),  # of a job that was cancelled while it waited
        ({"sharing": "OK"}, {"sharing": "nodes"}),
        ({"sharing": "YES"}, {"sharing": "cores"}),
        ({"sharing": "USER"}, {"sharing": "user"}),
        ({"state": "COMPLETING", "node_count": "1", "cpus": "16"}, {"nodes": None, "cpus": None}),
        ({"gpus": "gres/gpu:4", "features": "fast&big"}, {"gpus": "gres/gpu:4", "features": "fast&big"}),
    ],
)
def test_the_terms_of_a_job(cells: dict[str, str], wanted: dict[str, Any]) -> None:
    (found,) = queue_rows(row(**TERMS | cells))
    whole = Terms("batch", 93600.0, 2, 4, 32, 100 * 2.0**20, "none", "n003", qos="normal", account="accept")
    assert found.terms == replace(whole, **wanted)


def test_a_row_that_is_torn_in_its_terms_has_none() -> None:
    (found,) = queue_rows(row(**TERMS)[:-4])
    assert (found.state, found.terms) == ("RUNNING", None)
    (older,) = queue_rows(row())  # of a release that knows none of these fields
    assert older.terms == Terms()


def test_what_squeue_tells_of_the_terms_is_in_the_report(tmp_path: Path) -> None:
    looker = Looker(tmp_path)
    looker.slurm.queue[""] = [row(state="PENDING", **TERMS)]
    looks = [looker.one(Asked("j000001", "7"), settled=False)]
    looker.begin(nodes="n[001-002]")
    looker.end(0)
    looker.slurm.queue[""] = [row(state="COMPLETED", **TERMS | {"qos": "low"})]
    looks.append(looker.one(Asked("j000001", "7")))
    assert [(said.state, said.terms and said.terms.qos) for said in looks if said] == [
        ("queued", "normal"),
        ("completed", "low"),
    ]


def test_a_licence_that_slurm_does_not_have_says_where_to_look() -> None:
    """Slurm says the same of a name that it does not know and of a number that is too large."""
    answer = sort_answer(complaint("Batch job submission failed: Invalid license specification"))
    assert (answer.outcome, answer.transient) == ("refused", False)
    assert answer.message == (
        "Batch job submission failed: Invalid license specification (Slurm has fewer of a licence than the job asks for, or "
        "none of that name: compare the system file with scontrol show licenses)"
    )
