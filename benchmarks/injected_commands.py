"""Make system calls of commands fail at random, and see that each says so, adds nothing or all, and changes no number in silence.

    benchmarks/injected_commands.py [COUNT] [SEED] [PROCESSES] [KIND...]

KINDs of records as of ``damaged_records.py``, here four of them if none is named. Some third of the commands meet their error.
Status 1 where a promise was broken; each such command is printed with the seed that makes it again. Ctrl-C ends it early.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))

import failing_commands
import record_damages
from record_damages import Source

KINDS = ("finished", "interrupted", "acted", "paused")
PRELOAD = "LD_PRELOAD"
INJECTOR = Path(failing_commands.__file__).with_name("injector.c")


def main() -> int:
    if PRELOAD not in os.environ:
        return _with_injector()
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    processes = int(sys.argv[3]) if len(sys.argv) > 3 else 2
    bad = met = tried = 0
    with tempfile.TemporaryDirectory(prefix="shakedown-injected-") as folder:
        sources = record_damages.make_records(Path(folder), sys.argv[4:] or KINDS)
        for source in sources:
            record_damages.learn(source, Path(folder) / f"whole-{source.name}")
        work = [(sources[seed % len(sources)], Path(folder), seed) for seed in range(first, first + count)]
        with multiprocessing.get_context("fork").Pool(processes) as pool, suppress(KeyboardInterrupt):
            for seed, name, done, failed, broken in pool.imap_unordered(_one, work):
                tried += 1
                met += failed
                bad += bool(broken)
                for sentence in broken:
                    print(f"seed {seed}, {name}, {done}: {sentence}", flush=True)
                if tried % 100 == 0:
                    print(f"{tried} commands, {met} met their error, {bad} broke a promise", flush=True)
    print(f"{tried} commands, {met} met their error, {bad} of them broke a promise")
    return 1 if bad else 0


def _with_injector() -> int:
    """This program again, in a process whose calls can be made to fail."""
    with tempfile.TemporaryDirectory(prefix="shakedown-injector-") as folder:
        library = Path(folder) / "injector.so"
        compiler = ["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(INJECTOR), "-ldl"]
        subprocess.run(compiler, check=True)
        with subprocess.Popen([sys.executable, *sys.argv], env=os.environ | {PRELOAD: str(library)}) as again:
            while True:
                with suppress(KeyboardInterrupt):  # it hears that too, and says what it counted
                    return again.wait()


def _one(work: tuple[Source, Path, int]) -> tuple[int, str, str, bool, list[str]]:
    source, folder, seed = work
    site = record_damages.copy(source, folder / f"copy-{multiprocessing.current_process().pid}")
    return seed, source.name, *failing_commands.trial(source, site, random.Random(seed))


if __name__ == "__main__":
    sys.exit(main())
