"""What the harness costs on a real Slurm: the emulated cluster of ``tests/slurm``, beside plain scripts, in one run.

The bars: 1,000 one-second cases within 1.2x of a script that submits the same and waits; 100 no-op cases submitted within 1.5x
of a plain loop of 100 ``sbatch`` calls, and all judged within two poll cycles of the last job's end.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))

from slurm_cluster import Cluster

from measure import Row

SHAKEDOWN = str(Path(sys.executable).parent / "shakedown")
THROUGHPUT_LIMIT, SUBMIT_LIMIT, CYCLES = 1.2, 1.5, 2.0

PLAIN_THROUGHPUT = """
import subprocess, sys, time
from concurrent.futures import ThreadPoolExecutor
count, script = int(sys.argv[1]), sys.argv[2]
def submit(_):
    subprocess.run(["sbatch", "--parsable", "-N1", "--exclusive", "-o", "/dev/null", script], check=True, capture_output=True)
with ThreadPoolExecutor(4) as pool:
    list(pool.map(submit, range(count)))
while subprocess.run(["squeue", "-h", "-o", "%i"], check=True, capture_output=True).stdout.strip():
    time.sleep(1)
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1000, help="of the throughput campaign")
    parser.add_argument("--nodes", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--ports", default="27000")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="shakedown-slurm-") as folder:
        options_up = ("--ports", options.ports)
        cluster = Cluster(Path(folder) / "emulation", "bench", options.nodes, "accounting", options_up).up()
        os.environ["SLURM_CONF"] = str(cluster.slurm_conf)
        try:
            rows = small_rows(Path(folder), options.rounds) + throughput_rows(Path(folder), options)
        finally:
            cluster.fault("down", "--all")
    print("\n".join(map(str, rows)))
    return 0 if all(row.met for row in rows) else 1


def small_rows(folder: Path, rounds: int) -> list[Row]:
    """100 no-op cases: the time of their submission, and from the last job's end to the last verdict."""
    plain, ours, late = [], [], []
    for number in range(rounds + 1):
        plain.append(plain_submissions(folder, 100))
        site = make_site(folder / f"small{number}", 100, "true")
        subprocess.run([SHAKEDOWN, "run", "noop", "--quiet"], cwd=site, check=True, capture_output=True)
        events = log_of(site)
        ours.append(submission_seconds(events))
        late.append(judging_seconds(events))
    return [
        Row("plain loop of 100 sbatch calls", min(plain), 1.0),
        Row("100 no-op cases submitted", min(ours), min(ours) / min(plain), SUBMIT_LIMIT),
        Row("last job's end to last verdict, in cycles", min(late), min(late) / poll_seconds(), CYCLES),
    ]


def throughput_rows(folder: Path, options: argparse.Namespace) -> list[Row]:
    """One-second cases, as many at once as there are nodes."""
    script = folder / "second.sh"
    script.write_text("#!/bin/sh\nsleep 1\n")
    plain, ours = [], []
    for number in range(options.rounds):
        plain.append(seconds_of([sys.executable, "-c", PLAIN_THROUGHPUT, str(options.cases), str(script)], folder))
        site = make_site(folder / f"large{number}", options.cases, "sleep 1")
        ours.append(seconds_of([SHAKEDOWN, "run", "noop", "--quiet"], site))
    name = f"{options.cases} one-second cases, {options.nodes} nodes"
    return [
        Row(f"plain script, {name}", min(plain), 1.0),
        Row(f"shakedown, {name}", min(ours), min(ours) / min(plain), THROUGHPUT_LIMIT),
    ]


def seconds_of(command: list[str], folder: Path) -> float:
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return time.perf_counter() - start


def plain_submissions(folder: Path, count: int) -> float:
    script = folder / "true.sh"
    script.write_text("#!/bin/sh\ntrue\n")
    start = time.perf_counter()
    for _ in range(count):
        subprocess.run(
            ["sbatch", "--parsable", "-N1", "--exclusive", "-o", "/dev/null", str(script)],
            check=True,
            capture_output=True,
        )
    seconds = time.perf_counter() - start
    while subprocess.run(["squeue", "-h", "-o", "%i"], check=True, capture_output=True).stdout.strip():
        time.sleep(0.5)
    return seconds


def make_site(site: Path, count: int, command: str) -> Path:
    """A site for the cluster that answers, whose one test has ``count`` cases."""
    subprocess.run([SHAKEDOWN, "init", str(site), "--name", "bench"], check=True, capture_output=True)
    numbers = ", ".join(map(str, range(count)))
    (site / "tests/noop.yaml").write_text(
        f"test: noop\nparameters: {{number: [{numbers}]}}\nwhere: {{partitions: [batch]}}\n"
        f'run: {{time_limit: 5min, command: "{command}; echo ok {{number}}"}}\ncheck:\n  - output contains "ok"\n'
    )
    (site / "plans/noop.yaml").write_text(
        "plan: noop\nsystem: bench\ncomponents:\n  - functionality:\n      tests: [noop]\n"
        '      criteria: {correct: {measure: correct / completed, must: "= 100%"}}\n'
    )
    return site


# ---- from the log ----------------------------------------------------------------------------------------------------


def log_of(site: Path) -> list[dict[str, Any]]:
    done = subprocess.run([SHAKEDOWN, "log", "--json"], cwd=site, check=True, capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def submission_seconds(events: list[dict[str, Any]]) -> float:
    """From the first order to the last acceptance."""
    ordered = [event["time"] for event in events if event["event"] == "submit_order"]
    accepted = [event["time"] for event in events if event["event"] == "submit_accepted"]
    return float(max(accepted) - min(ordered))


def judging_seconds(events: list[dict[str, Any]]) -> float:
    """From the last job's end, by the scheduler's clock (this machine's own here), to the last verdict."""
    ends = [event["value"]["over"] for event in events if event["event"] == "job_report" and "over" in event["value"]]
    return float(max(event["time"] for event in events if event["event"] == "verdict") - max(ends))


def poll_seconds() -> float:
    return 5.0


if __name__ == "__main__":
    sys.exit(main())
