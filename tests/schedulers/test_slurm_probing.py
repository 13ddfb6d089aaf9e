"""What is asked of Slurm for the nodes' fingerprints, and what is made of its answers."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from shakedown.model.layout import Layout
from shakedown.model.nouns import Cluster, Partition
from shakedown.schedulers.slurm.probing import Ask, Place, Probing
from shakedown.schedulers.slurm.runner import Ran
from shakedown.schedulers.slurm.versions import QUEUE_FIELDS, SEPARATOR

TOKEN = "1234abcd"
NODES = ("n1", "n2", "n3")


class Slurm:
    """Slurm with answers of the test's; ``answers``: what the job leaves by node."""

    def __init__(self, root: Path, answers: dict[str, str], sbatch: Ran | None = None, states: str = "") -> None:
        self.root, self.answers, self.sbatch, self.states = root, answers, sbatch or Ran(0, "7\n"), states
        self.commands: list[list[str]] = []
        self.names: list[str] = []
        self.strangers = ["sd-1234abcd-j000001", "sd-ffffffff-f9-0", "sd-1234abcd-f9-0x"]

    def __call__(self, command: Sequence[str], timeout_s: float) -> Ran:
        self.commands.append(list(command))
        if command[0] == "sbatch":
            self.names += [word.partition("=")[2] for word in command if word.startswith("--job-name=")]
            for node, text in self.answers.items():
                (Path(command[-1]).parent / "answers" / node).write_text(text)
            return self.sbatch
        if command[0] == "squeue":
            return Ran(0, "".join(row(number, name) for number, name in enumerate([*self.strangers, *self.names], 100)))
        if command[0] == "sinfo":
            return Ran(0, self.states.replace("|", SEPARATOR))
        return Ran(0)

    def take_calls(self) -> dict[str, int]:
        return dict(Counter(command[0] for command in self.commands))


def row(number: int, name: str) -> str:
    cells = {"id": str(number), "name": name, "state": "PENDING"}
    return SEPARATOR.join(cells.get(field, "") for field, _ in QUEUE_FIELDS) + SEPARATOR + "\n"


def probing(root: Path, slurm: Slurm, most_nodes: int = 0) -> Probing:
    cluster = Cluster(
        "c", "slurm", (Partition("batch", "c", "n[1-3]", 3, "node", 0.0, ("--qos=x",), most_nodes),), ("--account=a",)
    )
    now = iter(range(10_000))
    ask = Ask(os.fsencode(root), TOKEN, (cluster,), (Place("c", "batch", NODES),), "true\n", 10.0, 5.0)
    return Probing(ask, slurm, lambda seconds: False, lambda: float(next(now)))


def test_one_job_and_nothing_else_where_all_answer(tmp_path: Path) -> None:
    slurm = Slurm(tmp_path, {node: f"text of {node}" for node in NODES} | {"n9": "nobody asked", "../n1": ""})
    del slurm.answers["../n1"]
    told = probing(tmp_path, slurm).carry_out()
    assert told.texts == {node: f"text of {node}" for node in NODES}
    assert (told.silent, told.calls) == ({}, {"sbatch": 1})
    (command,) = slurm.commands
    assert re.fullmatch(rf"sd-{TOKEN}-f\d+-0", slurm.names[0])
    assert command[:5] == ["sbatch", "--parsable", "--partition=batch", "--account=a", "--qos=x"]
    assert {"--nodes=1-3", "--exclusive", "--time=2", "--no-requeue"} <= set(command)
    assert list(Layout(tmp_path).probes.iterdir()) == []


def test_a_node_of_which_a_new_controller_has_not_heard_is_not_called_down(tmp_path: Path) -> None:
    slurm = Slurm(tmp_path, {"n1": "text"}, states="n2|allocated|none\nn3|unknown*|none\n")
    said = probing(tmp_path, slurm).carry_out().silent["n3"]
    assert said == "Slurm does not know its state yet: slurmctld has not heard of it since it was started"


def test_what_waits_when_time_is_up_is_cancelled_and_nothing_else(tmp_path: Path) -> None:
    slurm = Slurm(
        tmp_path, {"n1": "text"}, states="n2|allocated|none\nn3|down*|Not responding\nn3|down*|Not responding\n"
    )
    told = probing(tmp_path, slurm).carry_out()
    assert told.silent == {"n2": "busy (Slurm: allocated) for 10 s", "n3": "down (Slurm: down*, Not responding)"}
    assert [command for command in slurm.commands if command[0] == "scancel"] == [["scancel", "103"]]


def test_a_refused_job_is_said_of_its_nodes(tmp_path: Path) -> None:
    refused = Ran(
        1,
        error="sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified",
    )
    told = probing(tmp_path, Slurm(tmp_path, {}, refused)).carry_out()
    assert set(told.silent) == set(NODES)
    assert all(
        why.startswith("Slurm takes no job that asks it: ") and "Invalid account" in why for why in told.silent.values()
    )
    assert told.calls == {"sbatch": 1}


def test_jobs_of_a_probe_before_are_cancelled(tmp_path: Path) -> None:
    (Layout(tmp_path).probes / "f5").mkdir(parents=True)
    slurm = Slurm(tmp_path, dict.fromkeys(NODES, "text"))
    slurm.strangers.append(f"sd-{TOKEN}-f5-0")
    probing(tmp_path, slurm).carry_out()
    assert [command for command in slurm.commands if command[0] == "scancel"] == [["scancel", "103"]]
    assert list(Layout(tmp_path).probes.iterdir()) == []


def test_a_partition_that_takes_fewer_nodes_at_once(tmp_path: Path) -> None:
    slurm = Slurm(tmp_path, dict.fromkeys(NODES, "text"))
    probing(tmp_path, slurm, most_nodes=2).carry_out()
    assert "--nodes=1-2" in slurm.commands[0]
