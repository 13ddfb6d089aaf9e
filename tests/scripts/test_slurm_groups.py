"""Which tests on Slurm run one after another: those of one kind of cluster, the long kinds dealt out to several workers."""

from __future__ import annotations

from collections import Counter

from slurm_pool import KINDS, NEWER, SHARED, groups


def test_every_kind_has_its_place_in_the_order() -> None:
    assert sorted(SHARED) == sorted(["", *KINDS])


def test_a_group_has_one_kind_and_a_shared_kind_is_dealt_out_evenly() -> None:
    kinds = ["plain", "gpu", "plain", "", "plain", "accounting", "plain", "", "plain", "plain", "accounting"]
    found = groups(kinds)
    assert len(set(zip(found, kinds, strict=True))) == len(set(found)), "a group of two kinds"
    sizes = Counter(found)
    for kind, count in Counter(kinds).items():
        mine = [size for group, size in sizes.items() if group.rpartition("-")[0] == (kind or "none")]
        assert sum(mine) == count and len(mine) == min(SHARED[kind], count) and max(mine) - min(mine) <= 1, kind


def test_tests_of_a_newer_slurm_are_apart_and_all_of_a_kind_in_one_worker() -> None:
    kinds = ["plain", f"{NEWER}plain", f"{NEWER}plain", f"{NEWER}accounting", "plain", f"{NEWER}plain"]
    assert groups(kinds) == [
        "plain-1",
        "newer-plain-1",
        "newer-plain-1",
        "newer-accounting-1",
        "plain-2",
        "newer-plain-1",
    ]
