"""What a case asks for beside nodes, tasks and cores, in the words of sbatch that Slurm 20.11 and later take. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from shakedown.model.resources import Resources

_FEATURES = re.compile(r"[A-Za-z0-9_.+&-]+")  # a constraint to which another one can be added with '&'


def resource_words(asked: Resources, site: Sequence[str]) -> list[str]:
    """Purpose: the words for one submission. ``site``: those of the cluster and the partition, which stand before them.

    Slurm takes the last of several ``--gres`` and ``--constraint``: what the site's words ask for is kept in ours.
    """
    before = [*site, *asked.options]
    words = list(asked.options)
    if asked.gpus_per_node:
        words.append(f"--gres={','.join([*_others(_last(before, 'gres')), f'gpu:{asked.gpus_per_node}'])}")
    if asked.constraint:
        words.append(f"--constraint={_both(_last(site, 'constraint', '-C'), asked.constraint)}")
    words += memory_words(asked)
    return [*words, f"--reservation={asked.reservation}"] if asked.reservation else words


def memory_words(asked: Resources) -> list[str]:
    """Purpose: memory in whole MiB, as Slurm counts it."""
    for word, count in (("mem", asked.memory_bytes), ("mem-per-cpu", asked.memory_per_cpu_bytes)):
        if count:
            return [f"--{word}={math.ceil(count / 2**20)}M"]
    return []


def _last(words: Sequence[str], name: str, short: str = "--") -> str:
    """The value of the last option of this name."""
    found = [word.partition("=")[2] for word in words if word.startswith(f"--{name}=")]
    found += [word.removeprefix(short) for word in words if short != "--" and word.startswith(short)]
    return found[-1] if found else ""


def _others(gres: str) -> list[str]:
    """Generic resources that are no GPUs."""
    return [one for one in gres.split(",") if one and one.partition(":")[0] != "gpu"]


def _both(site: str, own: str) -> str:
    """Features of both; the test's alone where they cannot be joined with '&'."""
    joined = _FEATURES.fullmatch(site) and _FEATURES.fullmatch(own)
    return f"{site}&{own}" if joined else own
