"""What the tracer costs: nanoseconds of each call of MPI, and seconds until the trace of 1,024 ranks is written and read.

The overhead of a call is the difference between the best passes of one program with and without the tracer, run in turn:
messages of one byte to oneself, the shortest calls there are. At 1,000 calls a second of a rank, 100 ns are 0.01 % of its time.

Exit status: 0 the overhead is below 2 % at 1,000 calls a second, and 1,024 ranks take less than 1 s; 1 it is not so.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from shakedown.kernels import build_tracer, find_mpicc, find_mpiexec, kernel_directory
from shakedown.kernels.traces import read_trace

PLAIN = Path(__file__).parent / "plain"
ROUNDS, RANKS = 10, 1024
CALLS_PER_S, MOST_SHARE, MOST_S = 1000, 0.02, 1.0


def main(arguments: list[str] | None = None) -> int:
    """Purpose: measure, print a table or JSON, and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", dest="as_json", help="print JSON")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="pairs of runs without and with it (%(default)s)")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        plain, traced = _calls(place, options.rounds)
        written, read = _collect(place)
    overhead = traced - plain
    numbers = {
        "plain_ns": plain,
        "traced_ns": traced,
        "overhead_ns": overhead,
        "share_at_1000_calls_s": overhead * 1e-9 * CALLS_PER_S,
        "ranks": RANKS,
        "written_s": written,
        "read_s": read,
    }
    print(
        json.dumps(numbers)
        if options.as_json
        else "\n".join(f"{name:24} {value:.6g}" for name, value in numbers.items())
    )
    return 0 if numbers["share_at_1000_calls_s"] < MOST_SHARE and written + read < MOST_S else 1


def _calls(place: Path, rounds: int) -> tuple[float, float]:
    """Nanoseconds of a call without the tracer and with it: medians over the rounds."""
    library, program = build_tracer(place), place / "calls"
    subprocess.run([find_mpicc(), "-O2", "-o", program, PLAIN / "calls.c"], check=True)
    start: list[str | Path] = [find_mpiexec(), "-n", "1"]
    preload = ["env", f"LD_PRELOAD={library}", f"SHAKEDOWN_TRACE={place / 'calls.jsonl'}"]
    pairs = [(_number([*start, program]), _number([*start, *preload, program])) for _ in range(rounds)]
    return statistics.median(one for one, _ in pairs), statistics.median(other for _, other in pairs)


def _collect(place: Path) -> tuple[float, float]:
    """Seconds until rank 0 wrote the trace, and until it is read again."""
    program, trace, source = place / "collect", place / "collected.jsonl", kernel_directory().parent / "trace"
    subprocess.run([find_mpicc(), "-O1", f"-I{source}", "-o", program, PLAIN / "collect.c", "-ldl"], check=True)
    written = _number([find_mpiexec(), "-n", "1", program, str(RANKS), trace])
    began = time.perf_counter()
    assert len(read_trace(trace).ranks) == RANKS
    return written, time.perf_counter() - began


def _number(command: list[str | Path]) -> float:
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


if __name__ == "__main__":
    sys.exit(main())
