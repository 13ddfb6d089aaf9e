"""How long ``shakedown --help`` takes, against a Python that does nothing. The bar: 6x."""

from __future__ import annotations

import sys
from pathlib import Path

from measure import Row, command_seconds, interleaved

SHAKEDOWN = str(Path(sys.executable).parent / "shakedown")


def main() -> int:
    best = interleaved(
        {
            "python -c pass": lambda: command_seconds(sys.executable, "-c", "pass"),
            "python -c 'import click'": lambda: command_seconds(sys.executable, "-c", "import click"),
            "shakedown --help": lambda: command_seconds(SHAKEDOWN, "--help"),
        },
        rounds=15,
    )
    plain = best["python -c pass"]
    rows = [Row(name, seconds, seconds / plain, 6.0 if "--help" in name else None) for name, seconds in best.items()]
    print("\n".join(map(str, rows)))
    return 0 if all(row.met for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
