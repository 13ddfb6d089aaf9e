"""The archive's data path: against brute force over all members, and the transfers that paper 003 measured."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shakedown.model.errors import UsageError
from shakedown.twin.models.archive import Members, Stage, parse_stage, path_model, use
from shakedown.twin.models.archive_q import PATHS, aggregate_bytes_per_s, path_of, q_archive, transfers

MB = 1e6
RATES = st.tuples(st.integers(1, 500), st.integers(0, 500))
GROUPS = st.lists(st.tuples(st.integers(1, 20), RATES), min_size=1, max_size=3)


def stages_of(given_stages: list[list[tuple[int, tuple[int, int]]]]) -> tuple[Stage, ...]:
    stages = []
    for place, groups in enumerate(given_stages):
        members = tuple(Members(count, float(low), float(low + more)) for count, (low, more) in groups)
        stages.append(Stage(f"s{place}", members, sum(group.count for group in members)))
    return tuple(stages)


@given(st.lists(GROUPS, min_size=1, max_size=5))
def test_a_path_carries_what_its_narrowest_stage_does(given_stages: list[list[tuple[int, tuple[int, int]]]]) -> None:
    model = path_model("any", stages_of(given_stages))
    sums = [(sum(n * low for n, (low, _) in g), sum(n * (low + more) for n, (low, more) in g)) for g in given_stages]
    assert model.low_bytes_per_s == min(low for low, _ in sums)
    assert model.high_bytes_per_s == min(high for _, high in sums)
    assert sums[int(model.limit_low[1:])][0] == model.low_bytes_per_s
    assert sums[int(model.limit_high[1:])][1] == model.high_bytes_per_s


@given(st.lists(GROUPS, min_size=2, max_size=4))
def test_widening_takes_the_fewest_members_that_move_the_limit(
    given_stages: list[list[tuple[int, tuple[int, int]]]],
) -> None:
    """Counted up one by one: with one member less of any widened stage the path carries less."""
    stages = stages_of(given_stages)
    rate = path_model("any", stages).low_bytes_per_s
    for step in path_model("any", stages).widened:
        wide = stages
        for name, count in step.members.items():
            wide = use(wide, name, count)
        model = path_model("any", wide)
        assert model.low_bytes_per_s == step.low_bytes_per_s > rate
        by_name = {stage.name: stage for stage in wide}
        assert by_name[step.then_limits].low == step.low_bytes_per_s
        for name, count in step.members.items():
            before = next(stage.used for stage in stages if stage.name == name)
            if count > before:
                assert path_model("any", use(wide, name, count - 1)).low_bytes_per_s < step.low_bytes_per_s
        rate = step.low_bytes_per_s


def test_the_fastest_members_are_used_first() -> None:
    drives = parse_stage("tape = 36 x 13 MB/s + 20 x 45 MB/s")
    (four,) = use((drives,), "tape", 4)
    (some,) = use((drives,), "tape", 22)
    assert four.low == pytest.approx(180 * MB)
    assert some.low == pytest.approx((20 * 45 + 2 * 13) * MB)


def test_the_balanced_path_of_q() -> None:
    """Paper 003, "balancing the data path": 4-way tape 120-280 MB/s, 16-way 480-1,120, 4-way RAID 160-260 (printed 240)."""
    balanced, wide = (path_model(name, path_of(name)) for name in ("balanced", "16-way"))
    rates = {stage.name: (stage.low_bytes_per_s / MB, stage.high_bytes_per_s / MB) for stage in balanced.stages}
    assert rates["tape"] == (120, 280) and rates["RAID"] == (160, 260)
    assert rates["direct links"] == (1000, 1000) and rates["12-port cards"] == (2000, 2000)
    assert {s.name: s.high_bytes_per_s / MB for s in wide.stages}["tape"] == 1120
    # "probably will need more direct connections once 16-way tape archive is implemented"
    assert wide.limit_high == "direct links"
    assert wide.low_bytes_per_s <= 600 * MB <= wide.high_bytes_per_s, "the rate that the paper promises"


def test_before_it_was_balanced_one_tape_or_one_raid_limited() -> None:
    model = path_model("before", path_of("before"))
    assert (model.limit_low, model.limit_high) == ("tape", "RAID")
    assert (model.low_bytes_per_s, model.high_bytes_per_s) == (30 * MB, 65 * MB)


def test_the_three_transfers_of_paper_003() -> None:
    first, second, third = transfers()
    for transfer, published in ((first, 166), (second, 268), (third, 478)):
        assert transfer.published_bytes_per_s == published * MB
        assert transfer.low_bytes_per_s <= published * MB <= transfer.high_bytes_per_s
        assert transfer.limits == "tape"
    assert first.compression is None and first.expected_bytes_per_s is None
    # 268 MB/s over 4 drives, 2.2x compression, 96 % of the most a tape does: 31.7 MB/s native at all of it
    assert second.native_per_drive_bytes_per_s == pytest.approx(268e6 / (4 * 2.2))
    assert second.native_per_drive_bytes_per_s == pytest.approx(0.96 * 31.7e6, rel=0.002)
    assert second.published_bytes_per_s / (4 * 70 * MB) == pytest.approx(0.96, abs=0.005), "70 MB/s: one tape at most"
    assert third.native_per_drive_bytes_per_s == pytest.approx(30.0e6, rel=0.002)
    for transfer in (second, third):
        assert transfer.expected_bytes_per_s == pytest.approx(transfer.published_bytes_per_s, rel=0.02)


def test_the_aggregate_is_the_printed_one() -> None:
    assert aggregate_bytes_per_s() == 2138 * MB
    assert aggregate_bytes_per_s(june=False) == 1418 * MB
    assert q_archive(path_model("q", path_of("balanced"))).aggregate_bytes_per_s == 2.138e9


@pytest.mark.parametrize(
    ("text", "count", "low", "high"),
    [
        ("tape=16 x 30-70 MB/s", 16, 480e6, 1120e6),
        ("link = 8 Gb/s", 1, 1e9, 1e9),
        ("link = 2 x 500 Mb/s", 2, 125e6, 125e6),
        ("disk = 3*1.5-2.5GB/s", 3, 4.5e9, 7.5e9),
        ("disk = 1 GiB/s + 2 x 1 GB/s", 3, 2**30 + 2e9, 2**30 + 2e9),
    ],
)
def test_stages_are_read_as_they_are_written(text: str, count: int, low: float, high: float) -> None:
    stage = parse_stage(text)
    assert stage.count == count and [stage.low, stage.high] == pytest.approx([low, high])


@pytest.mark.parametrize(
    "text",
    [
        "", "tape", "tape=", "=4 MB/s", "tape = 16 x", "tape = 30", "tape = 30-70", "tape = 0 x 30 MB/s", "tape = 0 MB/s",
        "tape = 70-30 MB/s", "tape = 30 MB", "tape = 30 furlongs/s", "tape = -3 MB/s", "tape = nan MB/s",
        "tape = 1e999 MB/s", "tape = 99999999999999 x 1 MB/s", "tape = 4 x 30 MB/s +",
    ],
)  # fmt: skip
def test_a_stage_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_stage(text)


def test_a_path_of_nothing_and_names_that_are_not_there_are_refused() -> None:
    tape = parse_stage("tape = 30 MB/s")
    for wrong in ((), (tape, tape)):
        with pytest.raises(UsageError):
            path_model("wrong", wrong)
    with pytest.raises(UsageError, match="no stage 'disk'"):
        use((tape,), "disk", 1)
    with pytest.raises(UsageError):
        use((tape,), "tape", 0)


def test_every_example_is_a_path() -> None:
    for name in PATHS:
        assert path_model(name, path_of(name)).low_bytes_per_s > 0
