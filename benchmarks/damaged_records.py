"""Damage records at random, and see that no reader is led astray: 2,000 damages take some ten minutes on two cores.

    benchmarks/damaged_records.py [COUNT] [SEED] [PROCESSES] [KIND...]

KINDs of records: all that this machine can make, if none is named; those of packs want Slurm (``scripts/slurm-packages``).
Ctrl-C ends it early, with what was counted until then. Status 1 where a promise of ``tests/support/record_damages.py`` was
broken; each such damage is printed with the seed that makes it again.
"""

from __future__ import annotations

import multiprocessing
import random
import sys
import tempfile
from collections import Counter
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))

import damaged_stories
import record_damages
from record_damages import Damage, Source


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    processes = int(sys.argv[3]) if len(sys.argv) > 3 else 4
    with tempfile.TemporaryDirectory(prefix="shakedown-damages-") as folder:
        known = (*record_damages.KINDS, *filter(damaged_stories.can_have, damaged_stories.KINDS))
        sources = record_damages.make_records(Path(folder), sys.argv[4:] or known)
        with multiprocessing.get_context("fork").Pool(processes) as pool:
            sources = pool.map(_learned, [(source, Path(folder) / f"whole-{source.name}") for source in sources], 1)
        others = tuple(source.root for source in sources)
        Path(folder).chmod(0o755)  # some commands run as another user
        work = [(sources[seed % len(sources)], others, Path(folder), seed) for seed in range(first, first + count)]
        bad, kinds = 0, Counter[str]()
        with multiprocessing.get_context("fork").Pool(processes) as pool, suppress(KeyboardInterrupt):
            for seed, name, done, broken in pool.imap_unordered(_one, work):
                kinds[done.kind] += 1
                bad += bool(broken)
                for sentence in broken:
                    print(f"seed {seed}, {name}, {done}: {sentence}", flush=True)
    print(f"{kinds.total()} damages, {bad} of them broke a promise; by kind: {dict(kinds.most_common())}")
    return 1 if bad else 0


def _learned(work: tuple[Source, Path]) -> Source:
    source, scratch = work
    record_damages.learn(source, scratch)
    return source


def _one(work: tuple[Source, tuple[Path, ...], Path, int]) -> tuple[int, str, Damage, list[str]]:
    source, others, folder, seed = work
    chance = random.Random(seed)
    site = record_damages.copy(source, folder / f"copy-{multiprocessing.current_process().pid}")
    done = None
    if chance.random() < 0.4:
        record_damages.warm(source, site)
        done = record_damages.damage_beside(site, chance) if chance.random() < 0.3 else None
    done = done or record_damages.damage(site / source.campaign, chance, others)
    return seed, source.name, done, record_damages.try_commands(source, site, done, chance, 5)


if __name__ == "__main__":
    sys.exit(main())
