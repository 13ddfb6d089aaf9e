"""What the harness costs: no-op cases (each a real ``sh`` command with a check), recorded and judged, against a plain loop.

The plain loop is a Python program of its own that spawns the same commands, two at a time. The bars: 1,000 cases, start-up
included, at most 2x the plain loop; 10,000 cases at most 10.5x of 1,000. Public peers run beside us, for the record.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import Row, command_seconds, interleaved

HERE = Path(__file__).parent
SHAKEDOWN = str(Path(sys.executable).parent / "shakedown")
PEERS = HERE / ".peers"
LIMIT, GROWTH_LIMIT = 2.0, 10.5

PLAIN_LOOP = """
import subprocess, sys
live = []
for number in range(int(sys.argv[1])):
    if len(live) == 2:
        live.pop(0).communicate()
    live.append(subprocess.Popen(["sh", "-c", f"echo ok {number}"], stdout=subprocess.PIPE))
for process in live:
    process.communicate()
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-peers", action="store_true", help="leave the other tools out")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="shakedown-overhead-") as folder:
        rows = overhead_rows(Path(folder), options.rounds)
        if not options.no_peers:
            rows += peer_rows(Path(folder), rows[0].seconds / 1000)
    print("\n".join(map(str, rows)))
    return 0 if all(row.met for row in rows) else 1


def overhead_rows(folder: Path, rounds: int) -> list[Row]:
    """1,000 cases against the plain loop, interleaved; then 10,000 against 1,000."""
    small, large = make_site(folder / "small", 1000), make_site(folder / "large", 10_000)
    best = interleaved(
        {
            "plain loop, 1,000 two at a time": lambda: command_seconds(sys.executable, "-c", PLAIN_LOOP, "1000"),
            "shakedown run, 1,000 cases": lambda: campaign_seconds(small),
        },
        rounds,
    )
    plain, ours = best.values()
    growth = interleaved({"1": lambda: campaign_seconds(small), "10": lambda: campaign_seconds(large)}, 3)
    ours_small = min(ours, growth["1"])
    return [
        Row("plain loop, 1,000 two at a time", plain, 1.0),
        Row("shakedown run, 1,000 cases", ours, ours / plain, LIMIT),
        Row("shakedown run, 10,000 cases (of 1,000)", growth["10"], growth["10"] / ours_small, GROWTH_LIMIT),
    ]


def make_site(site: Path, count: int) -> Path:
    """A site directory whose one test has ``count`` cases."""
    for name in ("tests", "plans", "systems", "campaigns"):
        (site / name).mkdir(parents=True)
    numbers = ", ".join(map(str, range(count)))
    (site / "site.yaml").write_text("site: overhead\n")
    (site / "tests/noop.yaml").write_text(
        "test: noop\n"
        f"parameters: {{number: [{numbers}]}}\n"
        'run: {command: "echo ok {number}"}\n'
        'check:\n  - output contains "ok"\n'
    )
    (site / "plans/noop.yaml").write_text(
        "plan: noop\nsystem: here\ncomponents:\n  - functionality:\n      tests: [noop]\n"
        '      criteria: {correct: {measure: correct / completed, must: "= 100%"}}\n'
    )
    return site


def campaign_seconds(site: Path) -> float:
    """One whole command, in a new campaign.

    Nothing is deleted before the end: ext4 does not use an inode again for five seconds and searches past them, so that
    deleting one round's files would slow down the next round's.
    """
    return command_seconds(SHAKEDOWN, "run", "noop", "--quiet", cwd=str(site))


# ---- peers -----------------------------------------------------------------------------------------------------------


def peer_rows(folder: Path, plain_each: float) -> list[Row]:
    """HyperQueue, ReFrame and JUBE with the same commands, per command against the plain loop's; shown, not judged."""
    if not (PEERS / "bin/reframe").exists():
        print("installing the peers ...", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", str(PEERS)], check=True)
        pip = [str(PEERS / "bin/pip"), "install", "-q", "-r", str(HERE / "peers/requirements.txt")]
        subprocess.run(pip, check=True)
    rows = [_peer("HyperQueue, 1,000 tasks", 1000, plain_each, _hyperqueue(folder, 1000))]
    rows.append(_peer("ReFrame, 100 tests", 100, plain_each, _reframe(folder, 100)))
    if shutil.which("jube") is None and os.geteuid() == 0:
        subprocess.run(["apt-get", "install", "-y", "-q", "jube"], capture_output=True, check=False)
    if shutil.which("jube"):
        rows.append(_peer("JUBE, 100 work packages", 100, plain_each, _jube(folder, 100)))
    else:
        print("JUBE is not here: apt-get install jube", file=sys.stderr)
    return rows


def _peer(name: str, count: int, plain_each: float, seconds: float) -> Row:
    return Row(name, seconds, seconds / count / plain_each)


def _hyperqueue(folder: Path, count: int) -> float:
    place = folder / "hyperqueue"
    place.mkdir()
    return command_seconds(str(PEERS / "bin/python"), str(HERE / "peers/hyperqueue_tasks.py"), str(count), str(place))


def _reframe(folder: Path, count: int) -> float:
    os.environ["COUNT"] = str(count)
    place = folder / "reframe"
    place.mkdir()
    script = str(HERE / "peers/reframe_noop.py")
    return command_seconds(str(PEERS / "bin/reframe"), "--prefix", str(place), "-c", script, "-r", cwd=str(place))


def _jube(folder: Path, count: int) -> float:
    place = folder / "jube"
    place.mkdir()
    text = (HERE / "peers/jube_noop.xml").read_text()
    (place / "noop.xml").write_text(text.replace("OUTPATH", str(place / "out")).replace("COUNT", str(count)))
    return command_seconds("jube", "run", str(place / "noop.xml"), "--hide-animation", cwd=str(place))


if __name__ == "__main__":
    sys.exit(main())
