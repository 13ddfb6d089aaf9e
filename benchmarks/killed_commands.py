"""Kill the commands that write at random moments, and see that they leave nothing or all: 300 kills take some ten minutes.

    benchmarks/killed_commands.py [COUNT] [SEED]

Status 1 where one left something by halves; each is printed with the seed that makes it again.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))

import killing
import record_damages


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    bad, tried = 0, Counter[str]()
    with tempfile.TemporaryDirectory(prefix="shakedown-killed-") as folder:
        source = record_damages.make_records(Path(folder), ("finished",))[0]
        for seed in range(first, first + count):
            wrong = killing.trial(source, Path(folder) / "scratch", seed)
            tried[killing.COMMANDS[seed % len(killing.COMMANDS)][0]] += 1
            bad += bool(wrong)
            for sentence in wrong:
                print(f"seed {seed}: {sentence}", flush=True)
    print(f"{count} kills, {bad} left something by halves; by command: {dict(tried)}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
