"""Node attribution: how often a machine without bad nodes gives any finding, how many planted nodes are found, how long it takes.

The bars: findings in less than 1 % of 2,000 clean campaigns of all shapes; every planted node found; 2,000 nodes with 8,000 runs
and 20,000 nodes with 100,000 runs in 10 s each.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "tests/support")]

from nodes_as_rows import Load, Machine, campaign, clean_campaign, name_of  # noqa: E402

from shakedown.diagnosis.node_report import examine_rows  # noqa: E402
from shakedown.diagnosis.trials import Setting  # noqa: E402

CAMPAIGNS, FALSE, SECONDS = 2000, 0.01, 10.0
PLAIN = Setting({}, {})


def main(campaigns: int) -> int:
    """0 when all bars are met, 1 when one is not."""
    found = sum(bool(examine_rows(clean_campaign(seed), PLAIN).findings) for seed in range(1000, 1000 + campaigns))
    print(f"clean machines: findings in {found} of {campaigns} campaigns; less than {FALSE:.0%} wanted")
    mixed = [Load("a/x"), Load("b/x", 4, 1200.0), Load("c/x", 96, 3000.0), Load("d/x", 16)]
    large = timed("2,000 nodes, 8,000 runs", Machine(2000, bad={7: 0.5, 9: 0.2}, slow={700: 1.1}), mixed, 8000)
    narrow = [Load("a/x"), Load("b/x")]
    huge = timed(
        "20,000 nodes, 100,000 runs", Machine(20000, bad={7: 1.0}), narrow, 100_000
    )  # five runs a node are too few to tell a slow one
    return 0 if found < FALSE * campaigns and large and huge else 1


def timed(title: str, machine: Machine, loads: list[Load], runs: int) -> bool:
    """Whether all planted nodes and no others are found in time."""
    rows = campaign(machine, loads, runs, 1)
    begin = time.perf_counter()
    findings = examine_rows(rows, PLAIN).findings
    seconds = time.perf_counter() - begin
    names = {name for finding in findings for name in finding.names}
    wanted = {name_of(node) for node in (*machine.bad, *machine.slow)}
    print(f"{title}: {seconds:.1f} s of {SECONDS:.0f} s; found {sorted(names)}, planted {sorted(wanted)}")
    return seconds <= SECONDS and names == wanted


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else CAMPAIGNS))
