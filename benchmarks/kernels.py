"""The kernels against plain programs that do the same: ``stream`` and OpenMP loops, ``pairs`` and a windowed ping-pong, ``pt2pt``
and a ping-pong, ``collectives`` and a loop of allreduces.

Both are compiled by one Makefile with one set of flags and run with the same sizes and threads, in turn, ten rounds of plain,
kernel, plain: the second plain run says how far two runs of one program differ on this machine as it is now.

The row ``crowd`` has no plain program: it compares ``stream`` with eight ranks and with one rank, both on one core and with small
arrays. Ranks that take turns on a core move no more than one rank does.

Exit status: 0 every ratio of medians is within 0.95 to 1.05, and that of the crowd at most 1.25; 1 one is not; 4 plain against
plain is not either, so the machine is too busy to tell.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from shakedown.kernels import build_kernels, find_mpicc, find_mpiexec, kernel_directory

PLAIN = Path(__file__).parent / "plain"
ROUNDS = 10
ATTEMPTS = 3  # while plain against plain differs too much; the kernel's own ratio does not count here
LEAST, MOST = 0.95, 1.05
MET, NOT_MET, UNDECIDED = 0, 1, 4
TOO_BUSY = "the machine is too busy to tell"

ELEMENTS, REPEATS = 20_000_000, 12
CROWD, CROWD_ELEMENTS, MOST_OF_A_CROWD = 8, 100_000, 1.25
BYTES, WINDOW, ITERATIONS = 1 << 20, 10, 200
SHORT, ROUND_TRIPS = 8, 10_000


@dataclass(frozen=True, slots=True)
class Row:
    """Medians over the rounds; ``same`` is plain against plain, which is 1 on a quiet machine."""

    kernel: str
    unit: str
    plain: float
    ours: float
    ratio: float
    same: float
    verdict: str


def main(arguments: list[str] | None = None) -> int:
    """Purpose: measure all pairs, print a table or JSON, and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", dest="as_json", help="print JSON")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="rounds of plain, kernel, plain (%(default)s)")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as scratch:
        build(Path(scratch))
        rows = [
            compare(
                "triad", "GB/s", plain_stream(Path(scratch), 0), our_stream(Path(scratch), "triad"), options.rounds
            ),
            compare("copy", "GB/s", plain_stream(Path(scratch), 1), our_stream(Path(scratch), "copy"), options.rounds),
            compare("pairs", "MB/s", plain_window(Path(scratch)), our_window(Path(scratch)), options.rounds),
            compare("latency", "us", plain_latency(Path(scratch)), our_latency(Path(scratch)), options.rounds),
            compare("allreduce", "us", plain_allreduce(Path(scratch)), our_allreduce(Path(scratch)), options.rounds),
            crowd(stream_on_a_core(Path(scratch), 1), stream_on_a_core(Path(scratch), CROWD), options.rounds),
        ]
    print(json.dumps([asdict(r) for r in rows], indent=2) if options.as_json else as_table(rows))
    return max((status_of(r) for r in rows), key=[MET, UNDECIDED, NOT_MET].index)


def build(scratch: Path) -> None:
    """The kernels, and the plain programs by the kernels' own Makefile without their common files."""
    build_kernels(scratch, ["stream", "pairs", "pt2pt", "collectives"])
    sources = scratch / "sources"
    shutil.copytree(kernel_directory(), sources)
    for name in ("triad", "window", "pingpong", "allreduce"):
        shutil.copy(PLAIN / f"{name}.c", sources)
        command = ["make", "-s", "-C", str(sources), f"CC_MPI={find_mpicc()}", "COMMON=", name]
        subprocess.run(command, check=True)
        shutil.move(sources / name, scratch / name)


def compare(kernel: str, unit: str, plain: Callable[[], float], ours: Callable[[], float], rounds: int) -> Row:
    """A row measured while plain agreed with itself, or the last of the attempts."""
    for _ in range(ATTEMPTS - 1):
        row = measure(kernel, unit, plain, ours, rounds)
        if row.verdict != TOO_BUSY:
            return row
    return measure(kernel, unit, plain, ours, rounds)


def measure(kernel: str, unit: str, plain: Callable[[], float], ours: Callable[[], float], rounds: int) -> Row:
    """Interleaved, and with the order turned round every time: what changes slowly on the machine meets all alike."""
    first: list[float] = []
    middle: list[float] = []
    last: list[float] = []
    plain(), ours()  # files and caches are warm
    for number in range(rounds):
        turns: list[tuple[Callable[[], float], list[float]]] = [(plain, first), (ours, middle), (plain, last)]
        for run, values in turns if number % 2 == 0 else reversed(turns):
            values.append(run())
    base, measured = statistics.median(first + last), statistics.median(middle)
    ratio, same = measured / base, statistics.median(first) / statistics.median(last)
    return Row(kernel, unit, base, measured, ratio, same, verdict(ratio, same))


def crowd(alone: Callable[[], float], together: Callable[[], float], rounds: int) -> Row:
    """One rank on a core and many of them: the best of one against the best of many, since only too much is wrong."""
    ones: list[float] = []
    many: list[float] = []
    for _ in range(rounds):
        ones.append(alone())
        many.append(together())
    ratio = max(many) / max(ones)
    return Row("crowd", "GB/s", max(ones), max(many), ratio, 1.0, "met" if ratio <= MOST_OF_A_CROWD else "not met")


def verdict(ratio: float, same: float) -> str:
    if not LEAST <= same <= MOST:
        return TOO_BUSY
    return "met" if LEAST <= ratio <= MOST else "not met"


def status_of(row: Row) -> int:
    return {"met": MET, "not met": NOT_MET}.get(row.verdict, UNDECIDED)


def as_table(rows: list[Row]) -> str:
    lines = [
        "kernel     plain median   kernel median  ratio  plain/plain  verdict (ratio 0.95 to 1.05; of the crowd at most 1.25)"
    ]
    for r in rows:
        plain, ours = f"{r.plain:.5g} {r.unit}", f"{r.ours:.5g} {r.unit}"
        lines.append(f"{r.kernel:<9}  {plain:>13}  {ours:>13}  {r.ratio:5.3f}  {r.same:11.3f}  {r.verdict}")
    return "\n".join(lines)


# ---- the programs -------------------------------------------------------------------------------------------------------


def plain_stream(where: Path, word: int) -> Callable[[], float]:
    return lambda: float(output([str(where / "triad"), str(ELEMENTS), str(REPEATS)]).split()[word])


def our_stream(where: Path, operation: str) -> Callable[[], float]:
    options = ["--elements", str(ELEMENTS), "--repeats", str(REPEATS), "--threads", str(threads())]
    return lambda: figure(output([str(where / "stream"), *options]), operation, "gb_s")


def stream_on_a_core(where: Path, ranks: int) -> Callable[[], float]:
    core = str(min(os.sched_getaffinity(0)))
    options = ["--elements", str(CROWD_ELEMENTS), "--repeats", str(REPEATS), "--threads", "1"]
    command = ["taskset", "-c", core, str(find_mpiexec()), "-n", str(ranks), str(where / "stream"), *options]
    return lambda: figure(output(command), "triad", "gb_s")


def plain_window(where: Path) -> Callable[[], float]:
    return lambda: float(output([*two_ranks(), str(where / "window"), str(BYTES), str(WINDOW), str(ITERATIONS)]))


def our_window(where: Path) -> Callable[[], float]:
    options = ["--size", str(BYTES), "--window", str(WINDOW), "--iterations", str(ITERATIONS)]
    return lambda: figure(output([*two_ranks(), str(where / "pairs"), *options]), "send", "mean_mb_s")


def plain_latency(where: Path) -> Callable[[], float]:
    return lambda: float(output([*two_ranks(), str(where / "pingpong"), str(SHORT), str(ROUND_TRIPS)]))


def our_latency(where: Path) -> Callable[[], float]:
    options = [*sizes(SHORT), "--patterns", "latency", "--round-trips", str(ROUND_TRIPS)]
    return lambda: figure(output([*two_ranks(), str(where / "pt2pt"), *options]), "us")


def plain_allreduce(where: Path) -> Callable[[], float]:
    return lambda: float(output([*two_ranks(), str(where / "allreduce"), str(SHORT), str(ROUND_TRIPS)]))


def our_allreduce(where: Path) -> Callable[[], float]:
    options = [*sizes(SHORT), "--operations", "allreduce", "--iterations", str(ROUND_TRIPS)]
    return lambda: figure(output([*two_ranks(), str(where / "collectives"), *options]), "us")


def sizes(bytes_: int) -> list[str]:
    """Options for one size alone."""
    return ["--smallest", str(bytes_), "--largest", str(bytes_)]


def two_ranks() -> list[str]:
    return [str(find_mpiexec()), "-n", "2"]


def threads() -> int:
    return len(os.sched_getaffinity(0))


def output(command: list[str]) -> str:
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads())}
    done = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    )
    return done.stdout


def figure(text: str, *keys: str) -> float:
    """The value under the keys of the first record that has them."""
    for line in text.splitlines():
        value = json.loads(line)
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        if value is not None:
            return float(value)
    raise SystemExit(f"the kernel printed no {'.'.join(keys)}")


if __name__ == "__main__":
    sys.exit(main())
