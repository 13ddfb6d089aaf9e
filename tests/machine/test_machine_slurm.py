"""A Slurm cluster is described by what its commands print: captured outputs, odd machines, and controllers that are silent."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import yaml

from shakedown.cli.main import main
from shakedown.machine import slurm
from shakedown.machine.slurm import NoSlurm, Reply, describe
from shakedown.machine.slurm_nodes import gpus_in
from shakedown.machine.slurm_system import Around, Drafted, Said, drafted
from shakedown.machine.writing import system_yaml
from shakedown.model.errors import UsageError
from shakedown.model.resources import Gpus
from shakedown.plans import read_system

CAPTURED = Path(__file__).parents[1] / "machines/slurm/init"
GIB = 2.0**30


def captured(name: str) -> str:
    return (CAPTURED / f"{name}.txt").read_text()


class FakeSlurm:
    """Answers as the captured cluster does; remembers what it was asked. ``silent``: commands that fail, and how."""

    def __init__(self, name: str = "accounting", silent: dict[str, str] | None = None) -> None:
        self.name, self.silent, self.asked = name, silent or {}, list[list[str]]()

    def __call__(self, words: Sequence[str]) -> Reply:
        self.asked.append(list(words))
        for word, failure in self.silent.items():
            if word in words:
                return Reply(failure=failure, talk=failure)
        if words[0] == "srun":
            return Reply(talk=captured("mpi-types"))
        if words[0] == "sacctmgr":
            texts = {"assoc": f"{self.name}.associations", "qos": f"{self.name}.qos"}
            plain = {"user": "accept\n", "clusters": "h3\nh3b\n"}
            what = words[words.index("show") + 1]
            return Reply(plain[what] if what in plain else captured(texts[what]))
        names = {"config": "config", "nodes": "nodes", "partitions": "partitions", "licenses": "licences"}
        return Reply(captured(f"{self.name}.{names[words[-1]]}"))


def node(name: str, cores: int = 16, **fields: str) -> str:
    known = {
        "Arch": "x86_64",
        "CoresPerSocket": str(cores // 2),
        "CPUTot": str(cores),
        "Sockets": "2",
        "ThreadsPerCore": "1",
        "RealMemory": "32768",
        "AvailableFeatures": "(null)",
        "Gres": "(null)",
        "State": "IDLE",
        **fields,
    }
    return f"NodeName={name} " + " ".join(f"{key}={value}" for key, value in known.items())


def cluster(nodes: list[str], partitions: list[str], **more: str) -> Drafted:
    said = Said("ClusterName = odd\nSLURM_VERSION = 23.11.4", "\n".join(nodes), "\n".join(partitions), **more)
    return drafted([said], Around())


def test_the_captured_cluster() -> None:
    draft = describe(FakeSlurm(), user="root")
    (found,) = draft.system.clusters
    assert (found.name, found.scheduler, found.licences, found.most_jobs) == (
        "h3",
        "slurm",
        (("mds", 8.0), ("scratch", 4.0)),
        0,
    )
    assert [(p.name, p.nodes, p.count, p.type, p.time_limit_s) for p in found.partitions] == [
        ("batch", "n[001-004]", 4, "node", 0.0),
        ("low", "n[001-004]", 4, "node", 0.0),
        ("urgent", "n[001-004]", 4, "node", 0.0),
        ("debug", "n[001-002]", 2, "node", 1800.0),
    ]
    (kind,) = draft.system.node_types
    assert (kind.sockets, kind.cores, kind.threads_per_core) == (2, 16, 1)
    assert (kind.memory_bytes, kind.features) == (32000 * 2.0**20, ("emulated",))
    facts = dict(draft.system.found)
    assert (facts["slurm"], facts["accounting"]) == ("22.05.8", "slurmdbd")
    assert facts["mpi types of srun"] == "pmix, none, cray_shasta, pmi2, pmix_v4"
    assert draft.remarks.head == (
        "Out of service when this was written, and part of the machine all the same:",
        "  n002: idle+drain (drained by hand)",
        "  n004: down+not_responding (Not responding)",
    )
    assert "accounting knows other clusters too: h3b (init --clusters NAME,NAME)" in draft.look_at


def test_a_captured_cluster_of_24_11() -> None:
    config, nodes, partitions, licences = (
        captured(f"newer.{name}") for name in ("config", "nodes", "partitions", "licences")
    )
    draft = drafted([Said(config, nodes, partitions, licences)], Around())
    (found,) = draft.system.clusters
    assert (found.name, found.licences) == ("emu", (("mds", 8.0), ("scratch", 4.0)))
    assert [(p.name, p.nodes, p.count, p.time_limit_s) for p in found.partitions] == [
        ("batch", "n[001-004]", 4, 0.0),
        ("low", "n[001-004]", 4, 0.0),
        ("urgent", "n[001-004]", 4, 0.0),
        ("debug", "n[001-002]", 2, 1800.0),
    ]
    (kind,) = draft.system.node_types
    assert (kind.sockets, kind.cores, kind.gpus.count, kind.gpus.model) == (2, 16, 4, "a100")
    assert dict(draft.system.found)["slurm"] == "24.11.5"
    assert draft.remarks.head[1:] == (
        "  n002: idle+drain (bad DIMM)",
        "  n003: down+not_responding (Not responding)",
    )


def test_what_is_written_is_read_back_as_it_was(tmp_path: Path) -> None:
    draft = describe(FakeSlurm("limited"), user="root")
    text = system_yaml(draft.system, draft.remarks)
    (tmp_path / "h3b.yaml").write_text(text)
    again = read_system(tmp_path / "h3b.yaml")
    assert again.clusters == draft.system.clusters
    assert again.node_types == draft.system.node_types
    assert again.toolchains == draft.system.toolchains
    assert again.found == draft.system.found
    assert again.clusters[0].most_jobs == 20
    assert "most_jobs: 20   # queued and running at once: MaxSubmitJobs of account accept\n" in text
    assert "# accounts: accept (the default), root; choose one with options: [--account=NAME]\n" in text


def test_every_option_of_a_partition_is_read_back(tmp_path: Path) -> None:
    draft = cluster(
        [node("a1"), node("a2"), node("b1", 64, AvailableFeatures="big,gpu"), "NodeName=ghost State=DOWN"],
        [
            "PartitionName=all Default=NO MaxNodes=1 MaxTime=1-12:30:00 Nodes=a[1-2],b1,ghost State=UP",
            "PartitionName=main Default=YES MaxNodes=UNLIMITED MaxTime=UNLIMITED Nodes=a[1-2] State=DRAIN AllowAccounts=x",
        ],
    )
    (tmp_path / "odd.yaml").write_text(system_yaml(draft.system, draft.remarks))
    assert read_system(tmp_path / "odd.yaml").clusters == draft.system.clusters
    main_partition, small, big = draft.system.partitions()
    assert (main_partition.name, main_partition.nodes) == ("main", "a[1-2]")  # the default one comes first
    assert (small.name, small.nodes, small.time_limit_s, small.most_nodes) == (
        "all-16-cores-32GiB",
        "a[1-2]",
        131400.0,
        1,
    )
    assert small.options == ("--partition=all", "--exclude=b1,ghost")
    assert (big.name, big.options, big.most_nodes) == ("all-big", ("--partition=all", "--exclude=a[1-2],ghost"), 0)
    assert "partition all is written without ghost: Slurm does not say what processors they have" in draft.look_at
    assert draft.remarks.partitions == {
        "odd:main": "the default; it is drain; only for accounts x",
        "odd:all-16-cores-32GiB": "all mixes 2 types of nodes: this is one of them",
        "odd:all-big": "all mixes 2 types of nodes: this is one of them",
    }


def test_threads_cores_kept_for_the_system_and_memory_that_nobody_configured() -> None:
    draft = cluster(
        [
            node("t1", 8, CPUTot="16", CPUEfctv="14", ThreadsPerCore="2", RealMemory="1", Gres="gpu:a100:4"),
            node("t2", 8, CPUTot="8", ThreadsPerCore="2", RealMemory="1"),
        ],
        ["PartitionName=p Nodes=t1", "PartitionName=q Nodes=t2"],
    )
    first, second = draft.system.node_types
    assert (first.cores, first.threads_per_core, first.memory_bytes) == (7, 2, 0.0)
    assert (second.cores, second.threads_per_core) == (8, 2)  # Slurm counts cores there, not threads
    assert (first.gpus, second.gpus) == (Gpus(4, "a100"), Gpus())
    assert draft.remarks.node_types[first.name] == (
        "8 cores, of which Slurm gives 7 to jobs",
        "Arch=x86_64",
        "Gres=gpu:a100:4",
    )


@pytest.mark.parametrize(
    ("gres", "gpus"),
    [
        ("gpu:4", Gpus(4)),
        ("gpu:a100:4", Gpus(4, "a100")),
        ("gpu:a100:4(S:0-1),nvme:1", Gpus(4, "a100")),
        ("nvme:1,gpu:2(S:0,2)", Gpus(2)),
        ("gpu:a100_1g.5gb:7(S:0)", Gpus(7, "a100_1g.5gb")),
        ("gpu:v100:2(S:0),gpu:p100:1(S:1)", Gpus(3)),
        ("gpu:a100:no_consume:4", Gpus(4, "a100")),
        ("gpu:no_consume:4", Gpus(4)),
        ("mps:a100:200,shard:8,nvme:1", Gpus()),
        ("gpu", Gpus()),
        ("gpux:4", Gpus()),
        ("", Gpus()),
    ],
)
def test_gpus_by_what_slurm_says(gres: str, gpus: Gpus) -> None:
    assert gpus_in(gres) == gpus


def test_gpus_are_written_and_read_back(tmp_path: Path) -> None:
    """A login node of a cluster with GPUs: features and GRES of each kind of node reach the file."""
    draft = drafted([Said("ClusterName = delta", captured("gpus.nodes"), captured("gpus.partitions"))], Around())
    text = system_yaml(draft.system, draft.remarks)
    (tmp_path / "delta.yaml").write_text(text)
    again = read_system(tmp_path / "delta.yaml")
    assert again.node_types == draft.system.node_types
    found = {kind.name: (kind.features, kind.gpus) for kind in again.node_types}
    assert found == {
        "64-cores-251.5GiB": (("milan",), Gpus()),
        "nvlink": (("milan", "nvlink"), Gpus(4, "a100")),
        "trento": (("trento", "mi210"), Gpus(8, "mi210")),
    }
    assert draft.remarks.node_types["nvlink"][-1] == "Gres=gpu:a100:4(S:0-1),nvme:1"
    assert "    gpus: {count: 4, model: a100}" in text
    assert "gpus of node type trento: Slurm does not say their memory" in draft.look_at


def test_node_types_that_only_their_gpus_tell_apart_are_named_after_them() -> None:
    draft = cluster([node("a"), node("b", Gres="gpu:4")], ["PartitionName=p Nodes=a", "PartitionName=q Nodes=b"])
    assert [kind.name for kind in draft.system.node_types] == ["16-cores-32GiB", "16-cores-32GiB-4-gpus"]
    assert (
        "gpus of node type 16-cores-32GiB-4-gpus: Slurm does not say their memory, nor what they are" in draft.look_at
    )


def test_features_that_say_where_a_node_stands_make_no_types() -> None:
    nodes = [node(f"n{i}", AvailableFeatures=f"rome,rack{i}") for i in range(1, 13)]
    draft = cluster(nodes, ["PartitionName=p Nodes=n[1-12]"])
    (kind,) = draft.system.node_types
    assert kind.features == ("rome",)
    assert [p.nodes for p in draft.system.partitions()] == ["n[1-12]"]
    assert draft.remarks.node_types["node"][-1].startswith("features that only some of them have: rack1, rack2,")


def test_two_clusters_share_a_type_though_their_nodes_have_the_same_names() -> None:
    one = Said("ClusterName = one", node("n1"), "PartitionName=batch Nodes=n1")
    two = Said("ClusterName = two", node("n1", 64) + "\n" + node("n2"), "PartitionName=batch Nodes=n[1-2]")
    system = drafted([one, two], Around()).system
    assert system.name == "one-two"
    types = {kind.name: kind.cores for kind in system.node_types}
    assert [(p.cluster, p.name, p.nodes, types[p.type]) for p in system.partitions()] == [
        ("one", "batch", "n1", 16),
        ("two", "batch-64-cores-32GiB", "n1", 64),
        ("two", "batch-16-cores-32GiB", "n2", 16),
    ]


def test_limits_that_are_not_enforced_bind_nobody() -> None:
    rows = {"associations": "a|||20||50||normal\n".replace("|||20||50||", "||20||50||"), "qos": "normal|10||100|5\n"}
    enforced = drafted(
        [
            Said(
                "ClusterName = c\nAccountingStorageEnforce = associations,limits,qos",
                node("n"),
                "PartitionName=p Nodes=n",
                **rows,
            )
        ],
        Around(),
    )
    assert enforced.system.clusters[0].most_jobs == 10
    assert enforced.remarks.clusters["c"] == (
        "MaxSubmitJobsPerUser of QOS normal",
        "at most 5 run at once: MaxJobsPerUser of QOS normal",
    )
    loose = drafted(
        [Said("ClusterName = c\nAccountingStorageEnforce = none", node("n"), "PartitionName=p Nodes=n", **rows)],
        Around(),
    )
    assert loose.system.clusters[0].most_jobs == 0
    assert loose.remarks.clusters["c"] == (
        "",
        "MaxSubmitJobsPerUser of QOS normal is 10, but this cluster does not enforce limits",
    )


def test_reasons_of_others_cannot_add_keys_or_lines(tmp_path: Path) -> None:
    evil = "x Sockets=99 \x1b[2J\u2028system: hacked"
    draft = cluster(
        [node("n1", State="DOWN*+DRAIN") + f" Reason={evil} [root@2026-01-01T00:00:00]"], ["PartitionName=p Nodes=n1"]
    )
    assert draft.system.node_types[0].sockets == 2
    text = system_yaml(draft.system, draft.remarks)
    assert "\x1b" not in text
    assert "\u2028" not in text
    assert yaml.safe_load(text)["system"] == "odd"


def test_a_cluster_without_partitions_says_so() -> None:
    with pytest.raises(
        UsageError, match="cluster odd has no partition that jobs can be sent to: partition p is left out"
    ):
        cluster([node("n1")], ["PartitionName=p Nodes=(null)"])


def test_accounting_that_does_not_answer_is_no_obstacle() -> None:
    fake = FakeSlurm(silent={"sacctmgr": "sacctmgr: error: Connection refused"})
    draft = describe(fake, user="root")
    assert draft.system.clusters[0].most_jobs == 0
    assert len(draft.system.partitions()) == 4


def test_an_mpi_that_srun_cannot_start_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slurm, "software_facts", lambda *_: (("mpi", "Open MPI 4.1.4 (/usr/bin/mpiexec)"),))
    monkeypatch.setattr(slurm, "search_here", lambda program: f"/usr/bin/{program}")
    fake = FakeSlurm()
    monkeypatch.setattr(slurm, "mpi_types", lambda _: ("none", "pmi2"))
    draft = describe(fake, user="root")
    assert "srun cannot start openmpi: it needs --mpi=pmix, and srun has none, pmi2" in draft.look_at


def test_a_compiler_of_another_place_says_nothing_of_the_mpi(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slurm, "software_facts", lambda *_: (("mpi", "Open MPI 4.1.4 (/opt/a/mpiexec)"),))
    monkeypatch.setattr(slurm, "search_here", lambda program: f"/opt/{'a' if program == 'mpiexec' else 'b'}/{program}")
    assert {tool.mpi for tool in describe(FakeSlurm(), user="root").system.toolchains} == {""}


# ---- the command -----------------------------------------------------------------------------------------------------

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def init(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """``init(fake, words...)``: the command where this Slurm answers."""

    def run(fake: FakeSlurm, *words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(slurm, "run_here", fake)
        monkeypatch.setattr(sys, "argv", ["shakedown", "init", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, said.out, said.err

    return run


def test_init_on_a_cluster(init: Run, tmp_path: Path) -> None:
    status, out, err = init(FakeSlurm(), str(tmp_path / "site"))
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == (
        "found cluster h3: 4 nodes of 1 type; partitions batch, low, urgent, debug; licences mds (8), scratch (4)"
    )
    assert f"wrote {tmp_path}/site/systems/h3.yaml" in lines
    assert "look at out of service now: n004: down+not_responding (Not responding)" in lines
    assert lines[-1] == f"next: shakedown run first --site {tmp_path}/site"
    assert yaml.safe_load((tmp_path / "site/plans/first.yaml").read_text())["system"] == "h3"


def test_local_asks_slurm_nothing(init: Run, tmp_path: Path) -> None:
    fake = FakeSlurm()
    assert init(fake, str(tmp_path / "site"), "--local", "--name", "lab")[0] == 0
    assert fake.asked == []
    assert yaml.safe_load((tmp_path / "site/systems/lab.yaml").read_text())["clusters"]["local"]["scheduler"] == "local"


def test_json_has_what_was_found(init: Run, tmp_path: Path) -> None:
    status, out, _ = init(FakeSlurm("limited"), str(tmp_path / "site"), "--json", "--name", "mine")
    answer = json.loads(out)
    assert (status, answer["system"], answer["scheduler"]) == (0, "mine", "slurm")
    assert answer["found"] == [
        "cluster h3b: 2 nodes of 1 type; partitions batch, low, urgent, debug; licences mds (8), scratch (4); "
        "at most 20 jobs at once"
    ]


def test_a_controller_that_does_not_answer_writes_nothing(init: Run, tmp_path: Path) -> None:
    silent = {"config": "slurm_load_ctl_conf error: Unable to contact slurm controller (connect failure)"}
    status, out, err = init(FakeSlurm(silent=silent), str(tmp_path / "site"))
    assert (status, out) == (2, "")
    assert err == (
        "error: Slurm does not answer: 'scontrol show config': "
        "slurm_load_ctl_conf error: Unable to contact slurm controller (connect failure)\n"
        "hint: wait until 'scontrol ping' says UP, or describe this machine alone with: shakedown init --local\n"
    )
    assert not (tmp_path / "site").exists()


def test_commands_without_a_configuration_mean_this_machine_and_it_is_said(init: Run, tmp_path: Path) -> None:
    silent = {"config": "scontrol: fatal: Could not establish a configuration source"}
    status, _, err = init(FakeSlurm(silent=silent), str(tmp_path / "site"), "--name", "lab")
    assert status == 0
    assert err == (
        "note: Slurm's commands are here, but not set up "
        "(scontrol: fatal: Could not establish a configuration source): this machine alone is described\n"
    )
    assert "scheduler: local" in (tmp_path / "site/systems/lab.yaml").read_text()


def test_clusters_that_are_named_must_answer(init: Run, tmp_path: Path) -> None:
    fake = FakeSlurm(silent={"--clusters=nope": "scontrol: error: 'nope' can't be reached now"})
    status, _, err = init(fake, str(tmp_path / "site"), "--clusters", "h3, nope")
    assert status == 2
    assert err == (
        "error: Slurm does not answer: 'scontrol --clusters=nope show config': scontrol: error: 'nope' can't be reached now\n"
        "hint: 'sacctmgr show clusters' lists what --clusters can name\n"
    )
    assert ["scontrol", "--clusters=h3", "--oneliner", "show", "nodes"] in fake.asked


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["--clusters", "a", "--local"], "error: --clusters and --local do not go together\nhint: leave one out\n"),
        (
            ["--clusters", "a,,b"],
            "error: 'a,,b' is no list of clusters\nhint: write their names with commas: --clusters one,two\n",
        ),
        (
            ["--clusters=-x"],
            "error: '-x' is no list of clusters\nhint: write their names with commas: --clusters one,two\n",
        ),
    ],
)
def test_wrong_use(init: Run, tmp_path: Path, words: list[str], answer: str) -> None:
    assert init(FakeSlurm(), str(tmp_path / "site"), *words) == (2, "", answer)


def test_a_command_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "scontrol"
    program.write_text("#!/bin/sh\nexec sleep 600\n")
    program.chmod(0o755)
    monkeypatch.setattr(slurm, "_PATIENCE_S", 0.5)
    reply = slurm.run_here([str(program), "show", "config"])
    assert reply.failure == "no answer in 0.5 s"


def test_a_command_that_is_not_there_or_fails(tmp_path: Path) -> None:
    assert slurm.run_here(["no-such-command-here"]).failure == "there is no command 'no-such-command-here' here"
    assert slurm.run_here(["sh", "-c", "echo one >&2; echo two >&2; exit 3"]).failure == "two"
    assert slurm.run_here(["sh", "-c", "exit 3"]).failure == "exit status 3"
    with pytest.raises(NoSlurm):
        describe(lambda words: Reply(failure=f"there is no command '{words[0]}' here"), user="x")
