"""GPUs, memory, features and other words of the scheduler that a test asks for: filled in, launched with, and missing."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from shakedown import machine
from shakedown.cli.main import cli
from shakedown.engine.state.plan import class_label, index_plan
from shakedown.model.nouns import Cluster, Document, NodeType, Partition, Shape, System
from shakedown.model.resources import NOTHING_ASKED, Gpus, Resources
from shakedown.plans import read_system

SYSTEM = """\
system: c5
clusters:
  c5:
    scheduler: slurm
    licences: {solver: 8}
    partitions:
      gpu: {nodes: "n[1-4]", type: big}
      cpu: {nodes: "m[1-4]", type: small}
node_types:
  big: {cores: 64, numa: 4, memory: 256 GiB, gpus: {count: 4, model: A100, memory: 40 GiB, numa: [3, 2, 1, 0]}}
  small: {cores: 64, memory: 128 GiB}
filesystems: {fast: {path: /fast}, slow: {path: /slow}}
"""


@pytest.fixture
def made(site: Any) -> Any:
    """The cases of a test with these words in ``run``, by the name of their partition."""

    def make(run: str, more: str = "") -> dict[str, Any]:
        site.write("systems/c5.yaml", SYSTEM)
        site.test(f'test: a\nrun: {{{run}, command: "true"}}\n{more}')
        return {case.id: case for case in site.cases("c5")}

    return make


def test_everything_that_a_test_can_ask_for(made: Any) -> None:
    run = (
        "gpus_per_node: 4, gpus_per_task: 2, tasks_per_node: 2, constraint: knl&cache, memory: 64 GiB, reservation: acceptance, "
        "licences: {matlab: 2}, options: [--qos=debug], directives: ['#DW jobdw capacity=1TB']"
    )
    assert made(run)["a@gpu"].shape.resources == Resources(
        gpus_per_node=4,
        gpus_per_task=2,
        constraint="knl&cache",
        memory_bytes=64 * 2.0**30,
        reservation="acceptance",
        licences=(("matlab", 2),),
        options=("--qos=debug",),
        directives=("#DW jobdw capacity=1TB",),
    )


def test_a_test_that_asks_for_nothing_asks_for_nothing(made: Any) -> None:
    case = made("tasks_per_node: 2")["a@gpu"]
    assert case.shape.resources == NOTHING_ASKED
    assert case.unavailable == ""


def test_every_word_may_be_a_parameter(made: Any) -> None:
    run = (
        'gpus_per_node: "{g}", constraint: "{mode}", memory: "{node.memory // 2}", reservation: "r{g}", licences: {x: "{g}"}, '
        'options: ["--qos={mode}"], directives: ["#BB size={g}G"], exclusive: "{whole}", requeue: "{whole}", '
        'work: "{disc}", stage: "{how}", files: [a.yaml], launch: {with: "{starter}", mpi: mpich}'
    )
    values = "g: [3], mode: [quad], whole: ['no'], disc: [slow], how: [copy], starter: [mpiexec]"
    case = next(iter(made(run, f"parameters: {{{values}}}\n").values()))
    assert case.unavailable == ""
    assert (case.shape.exclusive, case.shape.requeue, case.work, case.stage) == (False, False, "/slow", "copy")
    assert case.shape.resources == Resources(
        gpus_per_node=3,
        constraint="quad",
        memory_bytes=128 * 2.0**30,
        reservation="r3",
        licences=(("x", 3),),
        options=("--qos=quad",),
        directives=("#BB size=3G",),
    )


def test_the_starter_may_be_a_parameter(made: Any, site: Any) -> None:
    site.write("systems/c5.yaml", SYSTEM)
    site.test(
        "test: a\nparameters: {by: [srun, mpiexec]}\nwhere: {partitions: [gpu]}\n"
        'run: {launch: "{by}", command: "{launch} x"}'
    )
    assert [case.script.split()[0] for case in site.cases("c5")] == ["srun", "mpiexec"]


def test_tests_name_the_gpus_of_a_node(site: Any) -> None:
    site.write("systems/c5.yaml", SYSTEM)
    words = "{node.gpus} {gpu.model} {gpu.memory} {gpu.numa} {gpus_per_node} {gpus_per_task} {ranks}"
    site.test(
        "test: a\nwhere: {partitions: [gpu]}\n"
        f'run: {{tasks_per_node: "{{node.gpus}}", gpus_per_task: 1, nodes: 2, command: "{words}"}}'
    )
    case = site.case("c5")
    assert case.script == f"4 A100 {40 * 2**30} 3,2,1,0 4 1 8"
    assert case.shape.resources == Resources(gpus_per_node=4, gpus_per_task=1)


def test_a_parameter_of_that_name_is_meant_where_run_says_nothing(made: Any) -> None:
    cases = made("tasks_per_node: 1", "parameters: {gpus_per_node: [0, 2]}\nwhere: {partitions: [gpu]}\n")
    assert [case.shape.resources.gpus_per_node for case in cases.values()] == [0, 2]


# ---- what a node lacks -----------------------------------------------------------------------------------------------

LACKING = [
    ("gpus_per_node: 5", "a@gpu", "it takes 5 GPUs of a node and one of partition gpu has 4 GPUs"),
    ("gpus_per_node: 1", "a@cpu", "it takes 1 GPU of a node and one of partition cpu has none "
     "(gpus of node type small in the system's file says how many there are)"),
    ("gpus_per_task: 2, tasks_per_node: 3", "a@gpu", "it takes 6 GPUs of a node and one of partition gpu has 4 GPUs"),
    ("gpus_per_node: 2, gpus_per_task: 1, tasks_per_node: 4", "a@gpu", "its tasks on a node take 4 GPUs and gpus_per_node is 2"),
    ('gpus_per_node: "{node.gpus}"', "a@cpu", "gpus_per_node comes out as 0: a node of partition cpu has no GPUs"),
    ("memory: 257 GiB", "a@gpu", "it takes 257.0 GiB of memory of a node and one of partition gpu has 256.0 GiB"),
    ("memory_per_cpu: 3 GiB, tasks_per_node: 64", "a@cpu",
     "it takes 192.0 GiB of memory of a node and one of partition cpu has 128.0 GiB"),
]  # fmt: skip


@pytest.mark.parametrize(("run", "case", "reason"), LACKING)
def test_a_case_that_asks_for_more_than_a_node_has_is_unavailable(made: Any, run: str, case: str, reason: str) -> None:
    assert made(run)[case].unavailable == reason


@pytest.mark.parametrize("run", ["gpus_per_node: 4", "gpus_per_task: 2, tasks_per_node: 2", "memory: 256 GiB"])
def test_a_case_that_asks_for_all_of_a_node_can_run(made: Any, run: str) -> None:
    assert made(run)["a@gpu"].unavailable == ""


def test_gpus_as_a_parameter_of_all_or_none(made: Any) -> None:
    """A parameter that comes out as 0 because the node has none cannot run; one that is written as 0 can."""
    for values, unavailable in (('[1, "{node.gpus}"]', True), ('[0, "{node.gpus + 1}"]', False)):
        cases = made('gpus_per_node: "{g}"', f"parameters: {{g: {values}}}\n")
        zero = cases["a/g=0@cpu"]
        assert bool(zero.unavailable) is unavailable, zero.unavailable


# ---- licences --------------------------------------------------------------------------------------------------------


def test_a_licence_that_the_systems_file_counts_is_a_load(made: Any) -> None:
    case = made("licences: {solver: 3, matlab: 1}", "loads: {solver: 2}\n")["a@gpu"]
    assert case.loads == (("solver", 5.0),)
    assert case.shape.resources.licences == (("matlab", 1),)
    assert "and the budget is 8" in made("licences: {solver: 9}")["a@gpu"].unavailable


# ---- the launch line -------------------------------------------------------------------------------------------------

COUNTS = "--nodes=1 --ntasks=4 --ntasks-per-node=4 --cpus-per-task=1"
LINES = [
    ("gpus_per_node: 4", f"srun --mpi=none {COUNTS} --gres=gpu:4 x"),
    ("gpus_per_task: 1", f"srun --mpi=none {COUNTS} --gpus-per-task=1 x"),
    ("gpus_per_node: 4, memory: 10 GiB", f"srun --mpi=none {COUNTS} --gres=gpu:4 --mem=10240M x"),
]


@pytest.mark.parametrize(("run", "line"), LINES)
def test_the_words_of_srun(made: Any, site: Any, run: str, line: str) -> None:
    site.write("systems/c5.yaml", SYSTEM)
    for binding in ("", ", gpu_binding: closest"):
        site.test(
            "test: a\nwhere: {partitions: [gpu]}\n"
            f'run: {{tasks_per_node: 4, {run}, launch: {{mpi: none{binding}}}, command: "{{launch}} x"}}'
        )
        wanted = line.replace(" x", " --gpu-bind=closest x") if binding else line
        assert site.case("c5").script == wanted


def test_mpiexec_cannot_bind_to_gpus(site: Any) -> None:
    site.write("systems/c5.yaml", SYSTEM)
    site.test(
        "test: a\nwhere: {partitions: [gpu]}\nrun: {tasks_per_node: 4, gpus_per_node: 4, "
        'launch: {with: mpiexec, mpi: mpich, gpu_binding: closest}, command: "{launch} x"}'
    )
    said = "mpiexec cannot give each rank the closest GPU: leave launch.gpu_binding out, or use srun"
    assert said in site.case("c5").unavailable


# ---- the engine ------------------------------------------------------------------------------------------------------

LOCAL = """\
system: gpubox
clusters: {box: {scheduler: local, partitions: {all: {nodes: localhost, type: t}}}}
node_types: {t: {cores: 16, gpus: {count: 4}}}
"""
PLAN = "plan: p\nsystem: SYSTEM\ncomponents:\n  - functionality: {tests: [a, b], repeats: 2}\n"


def planned(site: Any, system: str, text: str, *runs: str) -> Document:
    site.write(f"systems/{system}.yaml", text)
    for name, run in zip("ab", runs, strict=True):
        site.write(f"tests/{name}.yaml", f'test: {name}\nrun: {{{run}, command: "true"}}\n')
    return site.plan(PLAN.replace("SYSTEM", system).replace("[a, b]", str(["a", "b"][: len(runs)])))  # type: ignore[no-any-return]


def test_runs_that_ask_for_other_things_are_other_submissions(site: Any) -> None:
    document = planned(site, "c5", SYSTEM, "constraint: knl", "constraint: haswell")
    index = index_plan(document)
    keys = {index.class_of(0, case.id, "") for case in document.cases if case.partition == "c5:gpu"}
    assert len(keys) == 2
    assert len({class_label(index, key) for key in keys}) == 2
    document = planned(site, "c5", SYSTEM, "constraint: knl", "constraint: knl")
    assert (
        len({index_plan(document).class_of(0, case.id, "") for case in document.cases if case.partition == "c5:gpu"})
        == 1
    )


def test_the_gpus_of_this_machine_are_a_budget_and_a_clusters_are_not(site: Any) -> None:
    document = planned(site, "gpubox", LOCAL, "gpus_per_node: 3", "cpus_per_task: 1")
    index = index_plan(document)
    assert index.budgets["gpus:box:all"] == 4.0
    assert index.class_of(0, "a", "").loads == (("gpus:box:all", 3.0),)
    assert index.class_of(0, "b", "").loads == ()
    assert not any(
        name.startswith("gpus:") for name in index_plan(planned(site, "c5", SYSTEM, "nodes: 1", "nodes: 2")).budgets
    )


# ---- records ---------------------------------------------------------------------------------------------------------


def test_nouns_of_older_records_are_read() -> None:
    shape = msgspec.json.decode(b'{"nodes":2,"tasks_per_node":4,"cpus_per_task":1,"units":2}', type=Shape)
    assert shape.resources == NOTHING_ASKED
    assert msgspec.json.decode(b'{"name":"t","cores":4}', type=NodeType).gpus == Gpus()
    assert msgspec.json.decode(msgspec.json.encode(shape), type=Shape) == shape


def test_a_label_differs_where_anything_differs() -> None:
    each = [
        NOTHING_ASKED,
        Resources(gpus_per_node=1),
        Resources(constraint="knl"),
        Resources(reservation="knl"),
        Resources(memory_bytes=1.0),
        Resources(memory_bytes=2.0),
        Resources(memory_per_cpu_bytes=1.0),
        Resources(licences=(("a", 1),)),
        Resources(options=("--a",)),
        Resources(directives=("#BB",)),
    ]
    labels = [one.label() for one in each]
    assert labels[0] == ""
    assert len(set(labels)) == len(labels)
    assert all("/" not in label for label in (Resources(constraint="a/b").label(), *labels))


def test_the_gpus_of_a_systems_file(site: Any) -> None:
    path = site.write("systems/c5.yaml", SYSTEM)
    assert read_system(path).node_type("big").gpus == Gpus(4, "A100", 40 * 2.0**30, (3, 2, 1, 0))


# ---- what is shown ---------------------------------------------------------------------------------------------------


@pytest.fixture
def shakedown(site: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Commands on a site with GPUs, here and on c5."""
    box = System(
        "here",
        (Cluster("box", "local", (Partition("all", "box", "localhost", 1, "t"),)),),
        (NodeType("t", cores=8, gpus=Gpus(2)),),
    )
    monkeypatch.setattr(machine, "this_system", lambda: box)
    site.write("systems/c5.yaml", SYSTEM)
    run = "gpus_per_node: 2, memory: 4 GiB, constraint: knl, directives: ['#BB a'], command: 'true'"
    site.test(f"test: a\nrun: {{{run}}}\n")
    monkeypatch.chdir(site.path)

    def run_command(*words: str) -> str:
        result = CliRunner().invoke(cli, list(words), standalone_mode=False, catch_exceptions=False)
        return str(result.output)

    return run_command


def test_a_case_is_shown_with_what_it_asks_for(shakedown: Any) -> None:
    lines = [line.strip() for line in shakedown("show", "case", "a@gpu", "--system", "c5").splitlines()]
    at = next(number for number, line in enumerate(lines) if line.startswith("asks for"))
    shown = [lines[at].removeprefix("asks for").strip(), *lines[at + 1 : at + 4]]
    assert shown == ["gpus_per_node: 2", "constraint: knl", "memory: 4.0 GiB", "directives: #BB a"]
    assert "constraint: knl: the local scheduler does not use it" in shakedown("show", "case", "a")
    assert "gpus_per_node: 2\n" in shakedown("show", "case", "a")


def test_the_script_of_a_case_has_its_directives(shakedown: Any) -> None:
    assert "#!/bin/sh\n#BB a\n# job j000001\n" in shakedown("show", "script", "a@gpu", "--system", "c5")
    assert "#BB a" not in shakedown("show", "script", "a")


def test_gpus_stand_in_the_tables(shakedown: Any) -> None:
    assert "c5:gpu (4 x 64 cores, 4 GPUs), c5:cpu (4 x 64 cores)" in shakedown("list", "systems")
    assert "2 GPUs each" in shakedown("list", "cases", "--system", "c5")
    assert "1 core, 2 GPUs" in shakedown("list", "cases")
    system = " ".join(shakedown("show", "system", "c5").split())
    assert "c5:gpu slurm, n[1-4], 4 of big, 4 GPUs each" in system
    assert "4 A100 GPUs of 40.0 GiB beside memory domains 3,2,1,0" in system


def test_the_script_of_a_case_that_only_a_plan_has(site: Any, shakedown: Any) -> None:
    """The plan names the system: nobody has to say it again. A plan that is wrong hides none of the others."""
    site.write("plans/broken.yaml", "plan: broken\n")
    none = "there is no case 'a@gpu'"
    assert none in str(CliRunner().invoke(cli, ["show", "script", "a@gpu"]).exception)
    site.write("plans/p.yaml", "plan: p\nsystem: c5\ncomponents: [{functionality: {tests: [a]}}]\n")
    assert "#!/bin/sh\n#BB a\n# job j000001\n" in shakedown("show", "script", "a@gpu")
    assert "gpus_per_node: 2" in shakedown("show", "case", "a@gpu")
    assert none in str(CliRunner().invoke(cli, ["show", "script", "a@gpu", "--system", "here"]).exception)
