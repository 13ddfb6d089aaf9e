"""The archive of ASCI Q (paper 003, section 5): its path before and after it was balanced, its transfers, its aggregate."""

from __future__ import annotations

from dataclasses import dataclass

from shakedown.twin.models.archive import Members, PathModel, Stage, parse_stage, path_model

MB = 1e6
NATIVE = 30.0  # MB/s of a 9940B drive without compression (paper 003, summary of the archive)
FASTEST = 70.0  # MB/s of one tape at most, whatever the compression (bottlenecks)

# example -> stages, as in the two tables of bottlenecks; Gb/s where the paper prints GB/s and means bits
PATHS: dict[str, tuple[str, ...]] = {
    "before": (
        "RAID = 1 x 40-65 MB/s",
        "node = 1 x 125 MB/s",
        "12-port card = 4 Gb/s",
        "GigE router = 4 Gb/s",
        "tape = 1 x 30-70 MB/s",
    ),
    "balanced": (
        "RAID = 4 x 40-65 MB/s",
        "node = 4 x 125 MB/s",
        "12-port cards = 16 Gb/s",
        "direct links = 8 Gb/s",
        "tape = 4 x 30-70 MB/s",
    ),
    "16-way": (
        "RAID = 16 x 40-65 MB/s",
        "node = 16 x 125 MB/s",
        "12-port cards = 16 Gb/s",
        "direct links = 8 Gb/s",
        "tape = 16 x 30-70 MB/s",
    ),
    "transfer-1": (
        "RAID = 6 x 40-65 MB/s",
        "node = 4 x 125 MB/s",
        "12-port cards = 16 Gb/s",
        "direct links = 8 Gb/s",
        "tape = 4 x 30-70 MB/s",
    ),
    "transfer-2": (
        "RAID = 6 x 40-65 MB/s",
        "node = 4 x 125 MB/s",
        "12-port cards = 16 Gb/s",
        "direct links = 8 Gb/s",
        "tape = 4 x 30-70 MB/s",
    ),
    "transfer-3": (
        "RAID = 12 x 40-65 MB/s",
        "node = 8 x 125 MB/s",
        "12-port cards = 16 Gb/s",
        "direct links = 8 Gb/s",
        "tape = 12 x 30-70 MB/s",
    ),
}
SIZES = {"transfer-1": 450e9, "transfer-2": 66e9, "transfer-3": 96e9}
DRIVES = (Members(36, 13 * MB, 13 * MB), Members(20, 45 * MB, 45 * MB), Members(16, 45 * MB, 45 * MB))
DISK_CACHE = 50 * MB
ASSUMED = (
    "4 nodes in transfers 1 and 2 and at 4-way, 16 at 16-way (a file on 4-way tape uses 4); transfer 3 had 8",
    "4 Gb/s through the GigE router: half of the 8 Gb/s that direct links gave; the paper prints 2",
)
SAYS_NOT = (
    "the 12-port card, the router and the direct links are printed in GB/s and are Gb/s: 4 GB/s (500 MB/s)",
    "4 RAIDs of 40-65 MB/s are 160-260 MB/s; printed is 160-240",
    "half of the router's link speed is printed as 2, all of it as 8; the summary says that throughput doubled",
    "36, 20 and 16 tape drives are 72; the figure says 74",
    "2.138 GB/s need the 16 drives of June 2003; in April they were 1.418 GB/s",
    "36 drives 9940B hold no two stripes of 16 with a mirror of each; if the mirror is within the 16, they carry "
    "240-560 MB/s and not 480-1,120",
)


@dataclass(frozen=True, slots=True)
class Transfer:
    """A transfer that paper 003 measured, beside the model. ``expected``: from the compression, where it is printed."""

    name: str
    published_bytes_per_s: float
    low_bytes_per_s: float
    high_bytes_per_s: float
    limits: str
    drives: int
    compression: float | None
    native_per_drive_bytes_per_s: float | None
    expected_bytes_per_s: float | None


def path_of(example: str) -> tuple[Stage, ...]:
    """The stages of one of PATHS."""
    return tuple(parse_stage(text) for text in PATHS[example])


def transfers() -> tuple[Transfer, ...]:
    """Purpose: the paper's three transfers and what the model gives for them."""
    return (
        _transfer("transfer-1", 166 * MB, None),
        _transfer("transfer-2", 268 * MB, 2.2),
        _transfer("transfer-3", 478 * MB, 1.33),
    )


def _transfer(name: str, published: float, compression: float | None) -> Transfer:
    stages = path_of(name)
    model: PathModel = path_model(name, stages)
    drives = stages[-1].used
    native = None if compression is None else published / drives / compression
    expected = None
    if compression is not None:
        tape = drives * min(NATIVE * compression, FASTEST) * MB
        expected = min(tape, *(stage.high for stage in stages[:-1]))
    return Transfer(
        name, published, model.low_bytes_per_s, model.high_bytes_per_s, model.limit_low, drives, compression, native, expected
    )  # fmt: skip


def aggregate_bytes_per_s(june: bool = True) -> float:
    """Purpose: all drives and the disk cache together: 2,138 MB/s with the drives that were to come in June 2003."""
    drives = DRIVES if june else DRIVES[:-1]
    return sum(group.count * group.high_bytes_per_s for group in drives) + DISK_CACHE


@dataclass(frozen=True, slots=True)
class QArchive:
    """A path over ASCI Q's archive, and what paper 003 measured there."""

    path: PathModel
    transfers: tuple[Transfer, ...]
    aggregate_bytes_per_s: float
    aggregate_in_april_bytes_per_s: float
    assumed: tuple[str, ...]
    does_not_add_up: tuple[str, ...]


def q_archive(path: PathModel) -> QArchive:
    """Purpose: a path beside everything that the paper printed."""
    return QArchive(path, transfers(), aggregate_bytes_per_s(), aggregate_bytes_per_s(june=False), ASSUMED, SAYS_NOT)


def size_of(example: str) -> float | None:
    """Bytes of one of the paper's transfers; None for other paths."""
    return SIZES.get(example)
