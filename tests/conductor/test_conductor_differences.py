"""What an amendment changes in how a machine is filled is told in lines that a person can judge by."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from shakedown.conductor.record.differences import NOT_TOLD, differences
from shakedown.model.baselines import Baseline
from shakedown.model.failures import FailureClass
from shakedown.model.filling import Fill, Pack, Phase, Sweep, Window, Yield
from shakedown.model.judging import Contract
from shakedown.model.nouns import (
    Case,
    Check,
    Cluster,
    Component,
    Document,
    Drill,
    FigureSpec,
    Limits,
    Mode,
    NodeType,
    Partition,
    Party,
    Procedure,
    Retry,
    System,
    Test,
)
from shakedown.model.scores import Score

SYSTEM = System(
    name="c5",
    clusters=(Cluster("c5", "slurm", (Partition("batch", "c5", "n[1-8]", 8, "t"),)),),
    node_types=(NodeType("t", cores=8),),
    budgets=(("f2/mdt", 8.0),),
)
COMPONENT = Component("full", "stability", ("a",), duration_s=7200.0, mix=(("a", 1.0),))
DOCUMENT = Document("p", SYSTEM, (COMPONENT,), (Case("a", "a", "c5:batch"),), (Test("a"),))
MORNING = Window("Mon 06:00 to Mon 18:00", 21600.0, 64800.0, budgets=(("f2/mdt", 2.0),))


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ({}, {"fill": Fill(target=0.9, drain=False)}, ["fill.target 1.0 -> 0.9", "fill.drain yes -> no"]),
        ({}, {"limits": Limits((("a", 4),))}, ["limits.copies of a none -> 4"]),
        ({"limits": Limits((("a", 4),))}, {"limits": Limits((("a", 6),))}, ["limits.copies of a 4 -> 6"]),
        ({}, {"windows": (MORNING,)}, ["windows: now Mon 06:00 to Mon 18:00 UTC: f2/mdt 2"]),
        (
            {"windows": (MORNING,)},
            {"windows": (replace(MORNING, budgets=(), closed=True),)},
            [
                "windows: no longer Mon 06:00 to Mon 18:00 UTC: f2/mdt 2",
                "windows: now Mon 06:00 to Mon 18:00 UTC: closed",
            ],
        ),
        (
            {},
            {"yields": (Yield(("c3",), 50, 25, copies=(("a", 0),)),)},
            ["yields: now 50 jobs waiting on c3 until 25: a 0"],
        ),
        ({}, {"phases": (Phase("x", 7200.0),)}, ["phases: now x for 2 h 00 min"]),
        ({}, {"sweep": Sweep()}, ["sweep is added"]),
        ({"sweep": Sweep()}, {"sweep": Sweep(queued=4)}, ["sweep.queued 16 -> 4"]),
        ({"pack": Pack()}, {"pack": None}, ["pack is removed"]),
        ({"modes": (Mode("isolated", 3),)}, {"modes": (Mode("isolated", 3, 1),)}, ["modes: isolated.warm_up 0 -> 1"]),
        (
            {"modes": (Mode("isolated", 3),)},
            {"modes": (Mode("isolated", 2), Mode("fill"))},
            ["modes: now fill, once", "modes: isolated.repeats 3 -> 2"],
        ),
        ({"retry": (Retry("failed", 1),)}, {}, ["retry: no longer failed, once"]),
        (
            {"retry": (Retry("failed", 1),)},
            {"retry": (Retry("failed", 3, 60.0),)},
            ["retry: failed.times 1 -> 3", "retry: failed.backoff_s 0 -> 60"],
        ),
        (
            {"procedures": (Procedure("diag", evidence=2),)},
            {"procedures": (Procedure("diag"),)},
            ["procedures: diag.evidence 2 -> 0"],
        ),
        (
            {"deadline": 1796119200.0},
            {"deadline": 1796122800.0},
            ["deadline 2026-12-01 10:00:00 UTC -> 2026-12-01 11:00:00 UTC"],
        ),
        ({"deadline": 1796119200.0}, {}, ["deadline 2026-12-01 10:00:00 UTC -> none"]),
        ({}, {"deadline": 1796119200.0}, ["deadline none -> 2026-12-01 10:00:00 UTC"]),
        ({}, {"stop_after": 3, "fillers": ("b",)}, ["fillers: now b", "stop_after none -> 3"]),
        ({"cases": ("a", "b")}, {"cases": ("b", "c")}, ["cases: no longer a", "cases: now c"]),
        ({"cases": ("a", "b")}, {"cases": ("b", "a")}, ["the order of cases"]),
        ({"cases": ("a",)}, {"cases": tuple("abcdef")}, ["cases: now b, c, d and 2 more"]),
        (
            {"drills": (Drill("pull", 3600.0, "pull a cable", hole_s=60.0, written=(("hole", "1min"),)),)},
            {"drills": (Drill("pull", 3600.0, "look at a cable", hole_s=90.0, written=(("hole", "90s"),)),)},
            ["drills: pull.hole_s 60 -> 90", "drills: pull.about pull a cable -> look at a cable"],
        ),
        ({"drills": (Drill("pull", 0.0),)}, {"drills": (Drill("pull", 0.0, lost=2),)}, ["drills: pull.lost none -> 2"]),
        (
            {"drills": (Drill("pull", 0.0),)},
            {"drills": (Drill("push", 0.0),)},
            ["drills: no longer pull", "drills: now push"],
        ),
    ],
)
def test_what_a_component_does_otherwise(before: dict[str, Any], after: dict[str, Any], lines: list[str]) -> None:
    old, new = (replace(DOCUMENT, components=(replace(COMPONENT, **given),)) for given in (before, after))
    assert differences(old, new) == [f"component full is changed: {line}" for line in lines]


def test_what_the_plan_allows_and_the_system_has_is_told_by_name() -> None:
    new = replace(
        DOCUMENT,
        limits=Limits(budgets=(("f2/mdt", 4.0),), stagger_s=30.0),
        system=replace(SYSTEM, budgets=(("f2/mdt", 6.0), ("band", 1e9)), targeted=(("f2/mdt", ("a", "b")),)),
    )
    assert differences(DOCUMENT, new) == [
        "limits are changed: budgets of f2/mdt none -> 4; stagger_s none -> 30.0",
        "the system is changed: budgets of f2/mdt 8 -> 6; budgets of band none -> 1000000000; targeted",
    ]


def test_a_cluster_a_partition_and_nodes_that_come_or_go_are_told_with_how_many_nodes_they_have() -> None:
    part = Partition("batch", "a", "n[1-8]", 8, "t")
    old = replace(
        SYSTEM, clusters=(Cluster("a", "slurm", (part,)), Cluster("z", "slurm", (replace(part, cluster="z"),)))
    )

    def told(*clusters: Cluster) -> list[str]:
        return differences(replace(DOCUMENT, system=old), replace(DOCUMENT, system=replace(old, clusters=clusters)))

    first, last = old.clusters
    assert told(first) == ["the system is changed: no longer cluster z (8 nodes in batch)"]
    assert told(first, last, replace(last, name="y")) == ["the system is changed: now cluster y (8 nodes in batch)"]
    assert told(last, first) == ["the system is changed: the order of its clusters or node types"]
    fewer = replace(first, partitions=(replace(part, nodes="n[1-6,9]", count=7),), most_jobs=3)
    assert told(fewer, last) == [
        "the system is changed: cluster a: most_jobs none -> 3",
        "the system is changed: a:batch has 7 nodes, before 8 (without n[7-8], with n9)",
    ]
    other = replace(first, partitions=(replace(part, name="long", count=1, nodes="n1"),))
    assert told(other, last) == [
        "the system is changed: no longer partition a:batch (8 nodes)",
        "the system is changed: now partition a:long (1 node)",
    ]


def test_what_a_test_checks_and_measures_is_told_one_by_one() -> None:
    """Also where two checks say the same in other words, and where they only changed places."""
    sound = Check("contains", "output", "ok", text='output contains "ok"')
    zeros = Check("contains", "output", "zzz", text='output contains "zzz"')
    rate, time = FigureSpec("rate", "GB/s", "higher"), FigureSpec("time", "s", "lower")

    def told(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
        old, new = (replace(DOCUMENT, tests=(Test("a", **given),)) for given in (before, after))
        return differences(old, new)

    assert told({"checks": (sound,)}, {"checks": (sound, zeros)}) == [
        'test a is changed: checks: now output contains "zzz"'
    ]
    assert told({"checks": (sound, zeros)}, {"checks": (zeros, sound)}) == ["test a is changed: the order of checks"]
    assert told({"figures": (rate, time)}, {"figures": (replace(rate, unit="TB/s"),)}) == [
        "test a is changed: figures: no longer time",
        "test a is changed: figures: rate.unit GB/s -> TB/s",
    ]


OTHERWISE: dict[str, Any] = {
    "plan": "q", "about": "another text", "seed": 7, "unavailable": "restrict", "record_environment": ("OMP_NUM_THREADS",),
    "issues": ("major",),
    "ad_hoc": "--test a", "consent": ("amend",), "parties": (Party("site", ("Ada",)),), "limits": Limits((("a", 4),)),
    "system": replace(SYSTEM, budgets=()), "components": (replace(COMPONENT, duration_s=60.0),), "cases": (), "tests": (),
    "contracts": (Contract("c", rows=()),), "scores": (Score("s", "ci", ()),),
    "failures": (FailureClass("f", "memory", "it is", "", ()),), "baselines": (Baseline("before", "p-1"),),
}  # fmt: skip


@pytest.mark.parametrize("name", [name for name in Document.__struct_fields__ if name not in NOT_TOLD])
def test_no_field_of_a_plan_changes_in_silence(name: str) -> None:
    """A new field of the document fails here until it is told, or is said to tell nothing."""
    told = differences(DOCUMENT, replace(DOCUMENT, **{name: OTHERWISE[name]}))
    assert len(told) == 1, told


def test_the_severities_whose_open_issues_restrict_are_told() -> None:
    before, after = replace(DOCUMENT, issues=("major", "minor")), replace(DOCUMENT, issues=())
    told = "open issues of these severities restrict: major, minor -> nothing"
    assert differences(before, after) == [told]


def test_a_baseline_is_told_by_what_it_is_and_by_the_digest_of_its_values() -> None:
    """Not where the campaign was read again and says the same."""
    old = Baseline("before", "p-1", 0, "a" * 64)
    values, sealed = replace(old, digest="b" * 64), replace(old, seal="c" * 64)

    def told(now: Baseline) -> list[str]:
        return differences(replace(DOCUMENT, baselines=(old,)), replace(DOCUMENT, baselines=(now,)))

    was = f"p-1 (not sealed, values {'a' * 16})"
    assert told(old) == []
    assert told(sealed) == [f"baseline before is changed: {was} -> p-1 (sealed {'c' * 16})"]
    assert told(values) == [
        f"baseline before is changed: {was} -> p-1 (not sealed, values {'b' * 16})",
        f"baseline before is changed: values {'a' * 16} -> {'b' * 16}",
    ]


def test_a_seed_and_what_is_unavailable_are_told_in_numbers_and_words() -> None:
    after = replace(DOCUMENT, seed=7, unavailable="restrict")
    assert differences(DOCUMENT, after) == ["seed 0 -> 7", "unavailable none -> restrict"]
