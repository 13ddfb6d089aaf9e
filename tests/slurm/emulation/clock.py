"""A clock that is wrong on one node: a small library, preloaded into the node's programs, adds seconds to the calendar time.

A clock of its own for each node is what no namespace of Linux gives (they have only monotonic ones). The library is preloaded by
the dynamic loader's own file, laid over the node's /etc at the first step. So it reaches every dynamically linked program that
starts on the node after that first step (``step-clock NODE 0`` before a job prepares a step in its middle), and later steps reach
those at once. Slurm's daemons and commands keep the true time, and so do the file system's time stamps: a file server's clock.
"""

from __future__ import annotations

import contextlib
import struct
from pathlib import Path

from .nodes import enter
from .processes import say
from .site import Cluster, Trouble

TEXT = (
    "the calendar clock of a node's jobs is wrong by so many seconds, for programs started after the first step of the node "
    "(0 prepares it; later steps reach those at once); Slurm's programs and time stamps of files keep the true time"
)
SOURCE = Path(__file__).resolve().parent / "clock_step.c"
OVERLAY = """
[ ! -e /etc/ld.so.preload.emulated ] || exit 0
mkdir -p /dev/shm/.etc && mount -t tmpfs tmpfs /dev/shm/.etc && mkdir /dev/shm/.etc/upper /dev/shm/.etc/work || exit 1
cp /etc/hosts /dev/shm/.etc/upper/hosts
mkdir -p /dev/shm/.etc/upper/openmpi
[ ! -e /etc/openmpi/openmpi-mca-params.conf ] || cp /etc/openmpi/openmpi-mca-params.conf /dev/shm/.etc/upper/openmpi/
echo "$1" >/dev/shm/.etc/upper/ld.so.preload
touch /dev/shm/.etc/upper/ld.so.preload.emulated
exec mount -t overlay overlay -o lowerdir=/etc,upperdir=/dev/shm/.etc/upper,workdir=/dev/shm/.etc/work /etc
"""


def step(cluster: Cluster, node: str, seconds: float) -> None:
    """Raises Trouble where it cannot be done."""
    library = compiled(cluster, node)
    write_offset(offset_file(cluster, node), seconds)
    enter(cluster, node, ["sh", "-c", OVERLAY, "sh", str(library)])


def write_offset(path: Path, seconds: float) -> None:
    """In place: running programs have the file mapped, and a shorter one would kill them."""
    path.touch()
    with path.open("r+b") as file:
        file.write(struct.pack("q", round(seconds * 1e9)))


def offset(cluster: Cluster, node: str) -> float:
    """Seconds by which the node's clock is wrong."""
    with contextlib.suppress(OSError, struct.error):
        nanoseconds: int = struct.unpack("q", offset_file(cluster, node).read_bytes())[0]
        return nanoseconds / 1e9
    return 0.0


def offset_file(cluster: Cluster, node: str) -> Path:
    return cluster.directory / "nodes" / f"{node}.clock"


def compiled(cluster: Cluster, node: str) -> Path:
    """The library for this node, compiled when it is first wanted."""
    library = cluster.directory / "nodes" / f"{node}.clock.so"
    if not library.exists():
        words = [
            "gcc",
            "-O2",
            "-shared",
            "-fPIC",
            f'-DOFFSET_FILE="{offset_file(cluster, node)}"',
            "-o",
            str(library),
            str(SOURCE),
        ]
        status, output = say([*words, "-ldl"], cluster.environment())
        if status:
            raise Trouble(
                f"the clock's library does not compile:\n{output}",
                "install a C compiler: apt-get install gcc libc6-dev",
            )
    return library
