"""Planted nodes are found, their companions are not; on a machine without bad nodes nothing is."""

from __future__ import annotations

import random
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from nodes_as_rows import Load, Machine, campaign, clean_campaign, name_of

from shakedown.diagnosis.node_report import NodesExamined, examine_rows
from shakedown.diagnosis.trials import Setting
from shakedown.metrics.rows.rows import RunRow

PLAIN = Setting({}, {})
NARROW = [Load("stream/x"), Load("lammps/x", 1, 1200.0)]
MIXED = [Load("stream/x"), Load("cm4/x", 4, 1200.0), Load("ufs/x", 16, 900.0)]


def examine(rows: list[RunRow]) -> NodesExamined:
    return examine_rows(rows, PLAIN)


def named(examined: NodesExamined, kind: str) -> list[str]:
    return [finding.nodes for finding in examined.findings if finding.kind == kind]


# ---- planted ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("loads", [NARROW, MIXED], ids=["narrow", "mixed"])
def test_a_node_that_fails_half_of_its_runs_is_found_alone(loads: list[Load], seed: int) -> None:
    """About twenty runs on it, two of a hundred fail elsewhere."""
    width = sum(load.width for load in loads) / len(loads)
    rows = campaign(Machine(200, bad={7: 0.5}), loads, round(200 * 16 / width), seed)
    examined = examine(rows)
    assert named(examined, "node-failures") == [name_of(7)]
    assert named(examined, "node-slow") == []


@pytest.mark.parametrize("seed", range(5))
def test_a_node_that_is_a_tenth_slower_is_found_alone_among_wide_runs_too(seed: int) -> None:
    examined = examine(campaign(Machine(64, slow={5: 1.1}), MIXED, 400, seed))
    assert named(examined, "node-slow") == [name_of(5)]
    assert named(examined, "node-failures") == []
    assert examined.findings[0].ratio == pytest.approx(1.1, abs=0.03)


def test_several_at_once_the_worst_first_and_none_hides_another() -> None:
    machine = Machine(500, bad={7: 0.6, 9: 0.3, 400: 0.5}, slow={100: 1.5, 101: 1.06})
    examined = examine(campaign(machine, MIXED, 4000, 4))
    assert named(examined, "node-failures") == [name_of(7), name_of(400), name_of(9)]
    assert named(examined, "node-slow") == [name_of(100), name_of(101)]


@pytest.mark.parametrize("lowest", [True, False])
def test_nodes_that_swallow_run_after_run_are_found(lowest: bool) -> None:
    """All fail at once on three of sixteen nodes, which therefore get most of the runs."""
    examined = examine(campaign(Machine(16, bad={3: 1.0, 7: 1.0, 9: 1.0}, lowest=lowest), NARROW, 400, 1))
    assert sorted(named(examined, "node-failures")) == [name_of(3), name_of(7), name_of(9)]


def test_a_node_among_runs_on_96_of_1920_nodes() -> None:
    loads = [Load("shield/x", 96), Load("spear/x", 22), Load("stream/x")]
    examined = examine(campaign(Machine(1920, bad={1234: 0.5}, slow={77: 1.2}), loads, 3000, 2))
    assert named(examined, "node-failures") == [name_of(1234)]
    assert named(examined, "node-slow") == [name_of(77)]


# ---- companions ------------------------------------------------------------------------------------------------------


def hand_made(*groups: tuple[str, int, int], case: str = "t/x") -> list[RunRow]:
    """Runs as (nodes, passed, failed), shuffled in time."""
    ends = [(nodes, verdict) for nodes, good, bad in groups for verdict in ["passed"] * good + ["failed"] * bad]
    random.Random(4).shuffle(ends)
    return [
        RunRow(f"r{n:06d}", case, "main", n, 1, verdict, "", n, 100.0 * n, n, nodes=nodes, started=100.0 * n)
        for n, (nodes, verdict) in enumerate(ends, 1)
    ]


def others(runs: int) -> list[tuple[str, int, int]]:
    return [(f"n{node}", runs, 0) for node in range(10, 60)]


def test_who_ran_with_a_bad_node_is_not_blamed_where_their_own_runs_are_good() -> None:
    found = examine(hand_made(("n1,n2", 4, 8), ("n1", 3, 5), ("n2", 9, 0), *others(6)))
    assert named(found, "node-failures") == ["n1"]


def test_an_unlucky_companion_with_a_higher_rate_than_the_bad_node_is_not_blamed_either() -> None:
    """n2 ran with n1 only, when it failed most: without n1's runs nothing speaks against it, without its runs n1 still fails."""
    found = examine(hand_made(("n1,n2", 0, 8), ("n1", 22, 3), *others(6)))
    assert named(found, "node-failures") == ["n1"]


def test_nodes_that_always_ran_together_are_told_together() -> None:
    found = examine(hand_made(("n[1-4]", 4, 8), *others(6))).findings
    assert [finding.nodes for finding in found] == ["n[1-4]"]
    assert found[0].sentence.startswith(
        "one of n[1-4], which ran together too often to be told apart: 8 of its 12 runs failed"
    )


def test_two_bad_nodes_that_met_are_both_found() -> None:
    found = examine(hand_made(("n1,n2", 2, 6), ("n1", 4, 6), ("n2", 4, 6), *others(6)))
    assert sorted(named(found, "node-failures")) == ["n1", "n2"]


# ---- clean machines --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_clean_machines_give_findings_in_less_than_one_campaign_of_a_hundred() -> None:
    """A tenth of a per cent as a rule (benchmarks/nodes.py counts thousands); without correction it is most campaigns."""
    found = [seed for seed in range(300) if examine(clean_campaign(seed)).findings]
    assert len(found) <= 2, found


def test_a_case_that_always_fails_blames_no_node() -> None:
    """It runs more often on some nodes than on others; only that case fails."""
    good = [("n1", 5, 0), *((f"n{node}", 12, 0) for node in range(2, 30))]
    rows = hand_made(*good)
    bad = [
        replace(rows[0], run=f"b{n}", case="bad/x", verdict="failed", seq=9000 + n, nodes="n1", started=40.0 * n)
        for n in range(30)
    ]
    assert examine(rows + bad).findings == ()


def test_an_hour_in_which_everything_fails_blames_not_the_node_that_was_free() -> None:
    """The file system is away for ten minutes: the one idle node gets forty runs, all fail at once; the others are at work."""
    rows = hand_made(*((f"n{node}", 12, 0) for node in range(1, 30)))
    away = [
        replace(rows[0], run=f"x{n}", seq=9000 + n, verdict="failed", nodes="n3", started=17010.0 + n)
        for n in range(40)
    ]
    assert examine(rows + away).findings == ()


@pytest.mark.parametrize("seed", range(8))
def test_outages_in_which_most_runs_fail_everywhere_blame_not_the_node_that_got_most_of_them(seed: int) -> None:
    """Ten times nine of ten runs fail wherever they start; a fifth of those starts are on n3, which is otherwise well."""
    rows = hand_made(*((f"n{node}", 20, 0) for node in range(1, 60)))
    dice, away = random.Random(seed), list[RunRow]()
    for outage in range(10):
        nodes = ["n3"] * 10 + [f"n{node}" for node in dice.sample(range(4, 60), 40)]
        dice.shuffle(nodes)
        for n, node in enumerate(nodes):
            verdict, start = "failed" if dice.random() < 0.9 else "passed", 5010.0 + 10000.0 * outage + n
            number = len(away)
            away.append(
                replace(rows[0], run=f"x{number}", seq=9000 + number, verdict=verdict, nodes=node, started=start)
            )
    assert examine(rows + away).findings == ()
    only = [replace(row, verdict="passed") if row.nodes != "n3" else row for row in away]
    assert named(examine(rows + only), "node-failures") == ["n3"]


def test_nodes_used_before_the_machine_was_slowed_down_for_all_are_not_fast_nor_the_others_slow() -> None:
    rows = campaign(Machine(16, drift=lambda t: 1.0 if t < 20000 else 1.5), NARROW, 600, 1)
    late = [row for row in rows if (row.started or 0) < 20000 or row.nodes in (name_of(1), name_of(2), name_of(3))]
    assert examine(late).findings == ()


# ---- properties ------------------------------------------------------------------------------------------------------


def shape(examined: NodesExamined, names: dict[str, str]) -> set[tuple[object, ...]]:
    return {
        (f.kind, frozenset(names.get(name, name) for name in f.names), f"{f.p:.9e}", f.on_it, f.elsewhere, f.evidence)
        for f in examined.findings
    }


@settings(max_examples=15)
@given(st.integers(0, 1000), st.randoms(use_true_random=False))
def test_other_names_for_the_nodes_give_the_same_findings_under_these_names(seed: int, dice: random.Random) -> None:
    rows = campaign(Machine(20, bad={3: 0.6}, slow={8: 1.4}), MIXED, 150, seed)
    names = [name_of(node) for node in range(20)]
    new = ["".join(dice.choices(string.ascii_lowercase, k=6)) + str(n) for n in range(20)]
    dice.shuffle(new)
    renamed = dict(zip(names, new, strict=True))
    other = [replace(row, nodes=",".join(renamed[name] for name in row.nodes.split(","))) for row in rows]
    assert shape(examine(rows), renamed) == shape(examine(other), {})


@settings(max_examples=15)
@given(st.integers(0, 1000))
def test_clean_cases_besides_never_create_findings_of_failures(seed: int) -> None:
    """Runs of another case, none of which failed, say nothing about failures: p and counts stay."""
    rows = campaign(Machine(20, bad={3: 0.5}), NARROW, 150, seed)
    besides = [
        replace(row, run=f"c{row.run}", case="clean/x", verdict="passed", seq=row.seq + 1000, elapsed_s=None, started=1e7 + row.seq)
        for row in rows
    ]  # fmt: skip
    before = [f for f in examine(rows).findings if f.kind == "node-failures"]
    after = [f for f in examine(rows + besides).findings if f.kind == "node-failures"]
    assert [(f.nodes, f.p, f.on_it.hits) for f in after] == [(f.nodes, f.p, f.on_it.hits) for f in before]


@settings(max_examples=10)
@given(st.integers(0, 1000), st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_matter(seed: int, dice: random.Random) -> None:
    rows = campaign(Machine(20, bad={3: 0.6}, slow={8: 1.4}), MIXED, 150, seed)
    mixed = rows.copy()
    dice.shuffle(mixed)
    assert examine(rows) == examine(mixed)


def test_a_moment_at_which_all_are_slow_blames_not_the_node_that_got_most_runs_then() -> None:
    """Five cases, each run rarely, so that none of them alone knows of the slow minute."""
    rows = [
        replace(row, case=f"t{number % 5}/x", job="", elapsed_s=100.0 + (number * 37) % 10)
        for number, row in enumerate(hand_made(*((f"n{node}", 12, 0) for node in range(1, 30))))
    ]
    nodes = [node for number in range(1, 30) for node in ("n3", f"n{number + 30}")]
    slow = [
        replace(
            rows[0],
            run=f"x{n}",
            seq=9000 + n,
            case=f"t{n % 5}/x",
            nodes=node,
            started=17010.0 + n,
            elapsed_s=150.0 + n % 7,
        )
        for n, node in enumerate(nodes)
    ]
    assert examine(rows + slow).findings == ()
    quick = [replace(row, elapsed_s=100.0 + n % 9) if row.nodes != "n3" else row for n, row in enumerate(slow)]
    assert named(examine(rows + quick), "node-slow") == ["n3"]
