"""Wrong GPUs, memory and words of the scheduler, and the exact words they are answered with."""

# An entry is a line, however long its answer is.
# ruff: noqa: E501

from __future__ import annotations

from typing import Any

import pytest

SYSTEM = """\
system: c5
clusters: {c5: {scheduler: slurm, partitions: {batch: {nodes: "n[1-8]", type: rome}}}}
node_types: {rome: {cores: 8, numa: 2, gpus: {count: 2}}}
"""
RUNS = [
    ("gpus_per_node: -1", "2:22: run.gpus_per_node: -1 is less than 0, the least that is possible"),
    ("gpus_per_node: a100", "2:22: run.gpus_per_node: 'a100' is not a whole number"),
    ('gpus_per_node: "{node.gpu}"', "2:22: run.gpus_per_node: unknown name 'node.gpu' in an expression\nhint: did you mean 'node.gpus'?"),
    ('gpus_per_task: "{1 / 2}"', "2:22: run.gpus_per_task: 0.5 is not a whole number\nhint: // divides without a remainder"),
    ("gpu_per_node: 1", "2:7: unknown key 'gpu_per_node' in run\nhint: did you mean 'gpus_per_node'?"),
    ("partition: batch", "2:7: unknown key 'partition' in run\nhint: beside run, write where: {partitions: [NAME]}"),
    ("ntasks: 8", "2:7: unknown key 'ntasks' in run\nhint: for 8 ranks write nodes: 2, tasks_per_node: 4"),
    ("walltime: 1h", "2:7: unknown key 'walltime' in run\nhint: here it is 'time_limit'"),
    ("gres: 'gpu:4'", "2:7: unknown key 'gres' in run\nhint: here it is 'gpus_per_node'"),
    ("qos: debug", "2:7: unknown key 'qos' in run\nhint: for the submission write options: ['--qos=NAME']"),
    ("repeats: 3", "2:7: unknown key 'repeats' in run\nhint: a component of a plan has repeats: N"),
    ("modules: [gcc]", "2:7: unknown key 'modules' in run\nhint: beside run, write software: {modules: [NAME]}"),
    ("figures: {}", "2:7: unknown key 'figures' in run\nhint: it stands beside run, not in it"),
    ("memory: 64", "2:15: run.memory: '64' needs a unit, such as '64 GiB'"),
    ("memory: 0 GiB", "2:15: run.memory: '0 GiB' is no amount\nhint: write an amount above zero"),
    ("memory: 4 GB/s", "2:15: run.memory: '4 GB/s': 'GB/s' is not a unit of bytes\nhint: did you mean 'GB'?"),
    ("memory: 1 GiB, memory_per_cpu: 1 GiB", "2:38: run.memory_per_cpu: there is memory too, and a run has one of them\nhint: keep memory (of a node) or this (of a core)"),
    ("constraint: knl cache", "2:19: run.constraint: 'knl cache' is no constraint\nhint: features, joined by '&' or '|' without blanks: knl&cache"),
    ("reservation: a b", "2:20: run.reservation: 'a b' is no reservation\nhint: its name, as scontrol show reservations has it"),
    ("licences: {matlab: 0}", "2:26: run.licences.matlab: 0 is less than 1, the least that is possible"),
    ("licences: [matlab]", "2:17: run.licences is whole numbers by licence, not a list\nhint: write it so: licences: {LICENCE: ...}"),
    ("options: --qos=debug", "2:16: run.options is a list of options, not '--qos=debug'\nhint: write it in brackets: [--qos=debug]"),
    ("options: [qos=debug]", "2:17: run.options: 'qos=debug' is not one option in one word\nhint: write --account=NAME, and another one as a word of its own"),
    ("options: [--nodes=2]", "2:17: run.options: '--nodes=2': every submission says --nodes already\nhint: a test says it: run.nodes"),
    ("options: [--constraint=knl]", "2:17: run.options: '--constraint=knl': --constraint is no option of a test\nhint: a test says it: run.constraint"),
    ("options: [-Cknl]", "2:17: run.options: '-Cknl': --constraint is no option of a test\nhint: a test says it: run.constraint"),
    ("options: [--mem=4G]", "2:17: run.options: '--mem=4G': --mem is no option of a test\nhint: a test says it: run.memory"),
    ("options: [--exclusive]", "2:17: run.options: '--exclusive': --exclusive is no option of a test\nhint: a test says it: run.exclusive"),
    ("options: [-pdebug]", "2:17: run.options: '-pdebug': --partition is no option of a test\nhint: a test says it: where.partitions"),
    ("options: ['--gres=nvme:1,gpu:4']", "2:17: run.options: '--gres=nvme:1,gpu:4': GPUs are no option of a test\nhint: a test says it: run.gpus_per_node"),
    ("options: [--gpus-per-node=4]", "2:17: run.options: '--gpus-per-node=4': GPUs are no option of a test\nhint: a test says it: run.gpus_per_node"),
    ('options: ["--{what}=4"]', "2:17: run.options: '--mem=4': --mem is no option of a test\nhint: a test says it: run.memory"),
    ("directives: ['#SBATCH --mem=4G']", "2:20: run.directives: '#SBATCH --mem=4G' is an option of the submission, not a directive\nhint: write it as options: [--word=value]"),
    ("directives: [DW jobdw]", "2:20: run.directives: 'DW jobdw' is no directive\nhint: one line that begins with #BB, #DW or the like, in quotes"),
    ('directives: ["#BB a\\nrm -rf /"]', "2:20: run.directives: '#BB a\\nrm -rf /' is no directive\nhint: one line that begins with #BB, #DW or the like, in quotes"),
    ('exclusive: "{what}"', "2:18: run.exclusive: 'mem' is neither true nor false"),
    ("launch: {gpu_binding: near}", "2:29: run.launch.gpu_binding: 'near' is not one of closest, none"),
    ('launch: {with: "{what}"}', "2:22: run.launch.with: 'mem' is not a launcher\nhint: it is srun, mpiexec or mpirun"),
    ('stage: "{what}", files: [a.yaml]', "2:14: run.stage: 'mem' is not one of link, copy, per-target"),
]  # fmt: skip
TYPES = [
    ("{model: A100}", "3:46: 'count' is missing in node_types.rome.gpus\nhint: count: how many a node has"),
    ("{count: 0}", "3:54: node_types.rome.gpus.count: 0 is less than 1, the least that is possible"),
    ("4", "3:46: node_types.rome.gpus is a map with count, not '4'"),
    ("{count: 2, numa: [0]}", "3:63: gpus.numa has 1 memory domain, and gpus.count is 2\nhint: one for each GPU, in the order of their numbers"),
    ("{count: 2, numa: [0, 2]}", "3:67: gpus.numa: there is no memory domain 2: the node has 2, from 0\nhint: numa of the node type says how many there are"),
    ("{count: 2, memory: 40}", "3:65: node_types.rome.gpus.memory: '40' needs a unit, such as '40 GiB'"),
]  # fmt: skip
PLAN = "plan: p\nsystem: c5\ncomponents:\n  - WHAT\n"
FILES = {
    "systems/c5.yaml": SYSTEM,
    "tests/a.yaml": "test: a\nrun: {command: x, constraint: quad}\n",
    "tests/b.yaml": "test: b\nrun: {command: x}\n",
    "tests/g.yaml": "test: g\nrun: {command: x, gpus_per_node: 2}\n",
    "tests/h.yaml": "test: h\nrun: {command: x, gpus_per_node: 1, memory: 4 GiB}\n",
}
SHARED = [
    ("functionality: {tests: [a, b], sweep: yes}", "4:36: sweep: b and a ask for another constraint: none and quad\nhint: runs of one job agree in it; put such tests into a component of their own"),
    ("functionality: {tests: [a, b], pack: yes}", "4:36: pack: b and a ask for another constraint: none and quad\nhint: runs of one job agree in it; put such tests into a component of their own"),
    ("functionality: {tests: [g, b], pack: {at_once: 2}}", "4:52: pack.at_once: g asks for GPUs\nhint: runs side by side could be given the same one; leave at_once out"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "answer"), RUNS)
def test_a_wrong_word_of_run(told: Any, words: str, answer: str) -> None:
    more = "parameters: {what: [mem]}\n" if "{what}" in words else ""
    text = f'test: a\nrun: {{{words}, command: "{{launch}} x"}}\n{more}'
    assert told({"tests/a.yaml": text}) == f"error: tests/a.yaml:{answer}"


@pytest.mark.parametrize(("gpus", "answer"), TYPES)
def test_wrong_gpus_of_a_node_type(told: Any, gpus: str, answer: str) -> None:
    assert told({"systems/c5.yaml": SYSTEM.replace("{count: 2}", gpus)}) == f"error: systems/c5.yaml:{answer}"


@pytest.mark.parametrize(("what", "answer"), SHARED)
def test_runs_that_cannot_share_a_job(told: Any, what: str, answer: str) -> None:
    assert told({**FILES, "plans/p.yaml": PLAN.replace("WHAT", what)}) == f"error: plans/p.yaml:{answer}"


@pytest.mark.parametrize("what", ["tests: [g, b, h], sweep: yes", "tests: [g, h], pack: yes", "tests: [a, b]"])
def test_runs_that_can_share_a_job(told: Any, what: str) -> None:
    assert told({**FILES, "plans/p.yaml": PLAN.replace("WHAT", f"functionality: {{{what}}}")}) == ""
