"""Every benchmark, one after another, as a table of ratios: against a peer, or against a limit, in the same run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
BENCHMARKS = (
    "startup",
    "overhead",
    "listing",
    "record",
    "engine",
    "kernels",
    "tracer",
    "nodes",
    "live",
    "looking",
    "slurm",
    "packs",
    "models",
    "comparing",
    "production",
    "twin",
    "fault_campaigns",
    "rehearsals",
    "reports",
)
OUTCOMES = {0: "met", 1: "NOT MET", 4: "undecided"}


def main() -> int:
    """Run each in a process of its own; 0 when all are met or undecided for noise, 1 when one is not met."""
    worst = 0
    outcomes = []
    for name in BENCHMARKS:
        print(f"== {name}", flush=True)
        status = subprocess.run([sys.executable, str(HERE / f"{name}.py")], check=False).returncode
        outcomes.append((name, OUTCOMES.get(status, f"failed with exit status {status}")))
        worst = max(worst, 0 if status in (0, 4) else 1)
    print("\n" + "\n".join(f"{name:<12} {outcome}" for name, outcome in outcomes))
    return worst


if __name__ == "__main__":
    sys.exit(main())
