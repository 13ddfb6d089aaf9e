"""GPUs, memory and other words of a test in the submission, and lines for the head of its script."""

from __future__ import annotations

from pathlib import Path

import pytest

from shakedown.model.layout import Layout
from shakedown.model.nouns import Case, Cluster, Partition, Shape
from shakedown.model.ports import JobOrder, Part
from shakedown.model.resources import Resources
from shakedown.schedulers.cluster.job_script import cluster_script
from shakedown.schedulers.cluster.parts_script import parts_script
from shakedown.schedulers.slurm import commands
from shakedown.schedulers.slurm.resources import resource_words

WORDS = [
    (Resources(), [], []),
    (Resources(gpus_per_node=4), [], ["--gres=gpu:4"]),
    (Resources(gpus_per_node=4, gpus_per_task=1), [], ["--gres=gpu:4"]),
    (Resources(gpus_per_node=2), ["--gres=nvme:1,gpu:8"], ["--gres=nvme:1,gpu:2"]),
    (Resources(gpus_per_node=2, options=("--gres=nvme:1",)), [], ["--gres=nvme:1", "--gres=nvme:1,gpu:2"]),
    (Resources(constraint="knl&cache"), [], ["--constraint=knl&cache"]),
    (Resources(constraint="cache"), ["--constraint=knl"], ["--constraint=knl&cache"]),
    (Resources(constraint="cache"), ["-Cknl"], ["--constraint=knl&cache"]),
    (Resources(constraint="a|b"), ["--constraint=knl"], ["--constraint=a|b"]),
    (Resources(memory_bytes=64 * 2.0**30), [], ["--mem=65536M"]),
    (Resources(memory_bytes=1.5), [], ["--mem=1M"]),
    (Resources(memory_per_cpu_bytes=2.0**30 + 1), [], ["--mem-per-cpu=1025M"]),
    (Resources(reservation="maintenance"), ["--reservation=site"], ["--reservation=maintenance"]),
    (Resources(options=("--qos=debug", "--signal=B:USR1@60")), [], ["--qos=debug", "--signal=B:USR1@60"]),
]


@pytest.mark.parametrize(("asked", "site", "words"), WORDS)
def test_the_words_of_sbatch(asked: Resources, site: list[str], words: list[str]) -> None:
    assert resource_words(asked, site) == words


def test_a_tests_words_come_after_the_sites_and_before_ours() -> None:
    batch = Partition("batch", "emu", "n[1-4]", 4, "node", options=("--gres=nvme:1",))
    cluster = Cluster("emu", "slurm", (batch,), options=("--qos=normal",), licences=(("scratch", 4.0),))
    asked = Resources(gpus_per_node=2, licences=(("matlab", 2), ("scratch", 1)), options=("--qos=debug",))
    case = Case("c", "t", "emu:batch", shape=Shape(resources=asked), loads=(("scratch", 1.0),))
    line = commands.sbatch(JobOrder("j1", "r1", case), cluster, "sd-1-j1", "/c/job.sh", "/c/out", "/c", False)
    wanted = ["--qos=normal", "--gres=nvme:1", "--qos=debug", "--gres=nvme:1,gpu:2", "--job-name=sd-1-j1"]
    assert line[3:8] == wanted
    assert "--licenses=scratch:2,matlab:2" in line


def test_directives_stand_before_the_first_command() -> None:
    """Plugins read them from the top, up to the first line that is no comment; braces in them mean themselves."""
    lines = ("#DW jobdw type=scratch capacity=1TB", "#BB {x}")
    case = Case("c", "t", "emu:batch", shape=Shape(resources=Resources(directives=lines)))
    layout = Layout(Path("/c"))
    scripts = [
        cluster_script(layout, "j000001", "r000001", case, Path("/c/payload.sh")),
        parts_script(layout, "j000001", [(Part("r000001", case), "digest")], 1),
    ]
    for script in scripts:
        assert script.splitlines()[:3] == ["#!/bin/sh", *lines]
