"""What a case asks for besides nodes, tasks and cores, as options of sbatch that Slurm 20.11 and later understand. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from shakedown.model.resources import Resources

_FEATURES = re.compile(r"[A-Za-z0-9_.+&-]+")  # a constraint to which another one can be added with '&'


def resource_words(asked: Resources, site: Sequence[str]) -> list[str]:
    """Purpose: the options for one submission. ``site``: those of the cluster and the partition, which come before them.

    Of several ``--gres`` and ``--constraint`` Slurm uses the last, so what the site's options ask for is repeated in ours.
    """
    before = [*site, *asked.options]
    words = list(asked.options)
    if asked.gpus_per_node:
        words.append(f"--gres={','.join([*_non_gpu_resources(_last(before, 'gres')), f'gpu:{asked.gpus_per_node}'])}")
    if asked.constraint:
        words.append(f"--constraint={_joined_features(_last(site, 'constraint', '-C'), asked.constraint)}")
    words += memory_words(asked)
    return [*words, f"--reservation={asked.reservation}"] if asked.reservation else words


def memory_words(asked: Resources) -> list[str]:
    """Purpose: the option for memory, in whole MiB as Slurm counts it; [] for none."""
    for word, count in (("mem", asked.memory_bytes), ("mem-per-cpu", asked.memory_per_cpu_bytes)):
        if count:
            return [f"--{word}={math.ceil(count / 2**20)}M"]
    return []


def _last(words: Sequence[str], name: str, short: str = "--") -> str:
    """The value of the last option with this name, "" for none."""
    found = [word.partition("=")[2] for word in words if word.startswith(f"--{name}=")]
    found += [word.removeprefix(short) for word in words if short != "--" and word.startswith(short)]
    return found[-1] if found else ""


def _non_gpu_resources(gres: str) -> list[str]:
    """The generic resources that are not GPUs."""
    return [one for one in gres.split(",") if one and one.partition(":")[0] != "gpu"]


def _joined_features(site: str, own: str) -> str:
    """The features of both; only the test's where they cannot be joined with '&'."""
    joined = _FEATURES.fullmatch(site) and _FEATURES.fullmatch(own)
    return f"{site}&{own}" if joined else own
