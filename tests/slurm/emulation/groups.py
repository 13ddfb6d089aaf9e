"""Control groups: what lets a node hang or run slowly. The old hierarchies (one for each controller) and the unified one."""

from __future__ import annotations

import contextlib
from pathlib import Path

from .site import Cluster, Trouble

ROOT = Path("/sys/fs/cgroup")
PERIOD_US = 100_000


def old() -> bool:
    return (ROOT / "freezer").is_dir()


def directories(cluster: Cluster, node: str) -> list[Path]:
    """The node's groups, in each hierarchy."""
    own = f"emulated{str(cluster.directory).replace('/', '.')}.{node}"
    return [ROOT / kind / own for kind in ("freezer", "cpu")] if old() else [ROOT / own]


def make(cluster: Cluster, node: str) -> list[Path]:
    """The groups, made when missing; none where the machine lets none be made."""
    made = directories(cluster, node)
    try:
        for directory in made:
            directory.mkdir(exist_ok=True)
    except OSError:
        return []
    return made


def freeze(cluster: Cluster, node: str, frozen: bool) -> None:
    first = _existing(cluster, node)[0]
    if old():
        (first / "freezer.state").write_text("FROZEN" if frozen else "THAWED")
    else:
        (first / "cgroup.freeze").write_text("1" if frozen else "0")


def is_frozen(cluster: Cluster, node: str) -> bool:
    with contextlib.suppress(OSError):
        first = directories(cluster, node)[0]
        if old():
            return (first / "freezer.state").read_text().strip() != "THAWED"
        return (first / "cgroup.freeze").read_text().strip() == "1"
    return False


def throttle(cluster: Cluster, node: str, percent: int) -> None:
    """At most this much of one core for the whole node; 0 takes the limit away."""
    last = _existing(cluster, node)[-1]
    if old():
        (last / "cpu.cfs_quota_us").write_text(str(percent * PERIOD_US // 100 if percent else -1))
        return
    with contextlib.suppress(OSError):
        (ROOT / "cgroup.subtree_control").write_text("+cpu")
    quota = str(percent * PERIOD_US // 100) if percent else "max"
    (last / "cpu.max").write_text(f"{quota} {PERIOD_US}")


def percent_of(cluster: Cluster, node: str) -> int:
    """The limit, 0 without one."""
    with contextlib.suppress(OSError, ValueError):
        last = directories(cluster, node)[-1]
        text = (last / ("cpu.cfs_quota_us" if old() else "cpu.max")).read_text().split()[0]
        return 0 if text in ("-1", "max") else int(text) * 100 // PERIOD_US
    return 0


def remove(cluster: Cluster, node: str) -> None:
    for directory in directories(cluster, node):
        with contextlib.suppress(OSError):
            directory.rmdir()


def _existing(cluster: Cluster, node: str) -> list[Path]:
    groups = directories(cluster, node)
    if not all(group.is_dir() for group in groups):
        raise Trouble(
            f"{node} has no control groups ({groups[0]} is not there)",
            "is the node on? Where root may not make control groups, nodes cannot be frozen or slowed",
        )
    return groups
