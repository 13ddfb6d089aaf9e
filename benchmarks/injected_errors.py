"""Two hundred failing system calls and three hundred kills, each followed by ``resume``: every run judged as it ended.

With them go fifty stale handles and a hundred siblings: half writes, syncs that lose what was written, locks, links, closing,
processes that do not start. The tests hold a sample of it (``tests/end_to_end/test_injected_errors.py``); this runs all: about
twenty minutes on two idle cores.

    benchmarks/injected_errors.py [ERRORS] [KILLS] [SEED]
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
TEST = "tests/end_to_end/test_injected_errors.py"
ERRORS, KILLS = 200, 300


def main() -> int:
    """0 where every run is judged as it ended, 1 where one is not."""
    errors, kills, first = (*map(int, sys.argv[1:4]), *(ERRORS, KILLS, 0)[len(sys.argv[1:4]) :])
    start = time.perf_counter()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "2", TEST]
    environment = os.environ | {
        "INJECTED_ERRORS": str(errors),
        "INJECTED_KILLS": str(kills),
        "INJECTED_FIRST": str(first),
    }
    status = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
    said = f"{errors} failing system calls and {kills} kills in {time.perf_counter() - start:.0f} s"
    print(f"{said}: {'some runs are not judged as they ended' if status else 'every run is judged as it ended'}")
    return 1 if status else 0


if __name__ == "__main__":
    sys.exit(main())
