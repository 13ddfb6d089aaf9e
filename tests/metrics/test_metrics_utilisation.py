"""Three numbers with their denominators, by hand; and the ten days of paper 004 from its own table."""

from __future__ import annotations

import msgspec
import pytest
import recompute_numbers
from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet
from record_rows import Book, criterion

from shakedown.metrics.days import days_of
from shakedown.metrics.judging.populations import populations
from shakedown.metrics.judging.scope import arounds
from shakedown.metrics.utilisation import CALENDAR, CONTRACTUAL, OURS, utilisation
from shakedown.model.events import Event
from shakedown.model.nouns import Case, Cluster, Mode, Partition, Shape, System
from shakedown.model.shared_nodes import different_nodes

HOUR = 3600.0


def shares(book: Book) -> dict[str, float | None]:
    return {item.name: item.share for item in utilisation(book.document(), book.record)}


def test_the_three_numbers_of_one_story() -> None:
    """Ten hours on 8 nodes of 12. Contractual: 4 runs of 2 nodes and 5 h = 40. Ours: besides one failed after 3 h = 6,
    a warm-up of 1 h = 2 and, of another component, 4 nodes for 2 h = 8. Delivered: 40 and those 8.
    """
    book = Book()
    book.component("st", "cm4", modes=(Mode("isolated", 5, 1),))
    book.component("other", "io", units=4)
    book.run("st", "cm4", mode="warm-up", begin=0.0, elapsed_s=HOUR)
    book.run("st", "cm4", "failed", mode="isolated", begin=0.0, elapsed_s=3 * HOUR)
    for begin in (0.0, 0.0, 5.0, 5.0):
        book.run("st", "cm4", mode="isolated", begin=begin * HOUR, elapsed_s=5 * HOUR)
    book.run("other", "io", begin=4 * HOUR, elapsed_s=2 * HOUR)
    found = {item.name: item for item in utilisation(book.document(), book.record) if item.component == "st"}
    assert {name: item.node_hours for name, item in found.items()} == pytest.approx(
        {CONTRACTUAL: 40, OURS: 56, CALENDAR: 48}
    )
    assert {name: item.of_node_hours for name, item in found.items()} == pytest.approx(
        {CONTRACTUAL: 80, OURS: 80, CALENDAR: 120}
    )
    assert found[CONTRACTUAL].arithmetic() == (
        "40 contractual node-hours of 4 runs / (8 nodes x 10 h = 80 clock node-hours) = 50.0%"
    )
    assert found[CALENDAR].arithmetic() == (
        "48 delivered node-hours of 5 runs / (12 nodes x 10 h = 120 calendar node-hours) = 40.0%"
    )


def test_runs_of_one_allocation_share_its_nodes() -> None:
    """A pack on two nodes for 4 h: one run of 4 h, beside it one of 2 h that failed, then one of 1 h. The allocation took 8
    node-hours, of which the failed run had half of the nodes for 2 h = 2. Another job's run at that time has nodes of its own.
    """
    book = Book()
    book.component("st", "cm4", repeats=4)
    book.run("st", "cm4", begin=0.0, elapsed_s=4 * HOUR, job="j1")
    book.run("st", "cm4", "failed", begin=0.0, elapsed_s=2 * HOUR, job="j1")
    book.run("st", "cm4", begin=2 * HOUR, elapsed_s=HOUR, job="j1")
    book.run("st", "cm4", begin=0.0, elapsed_s=HOUR, job="j2")
    found = {item.name: item for item in utilisation(book.document(), book.record)}
    assert {name: item.node_hours for name, item in found.items()} == pytest.approx(
        {CONTRACTUAL: 8, OURS: 10, CALENDAR: 8}
    )
    (around,) = arounds(book.document(), book.record)
    clock = around.clock
    assert clock is not None
    (day,) = days_of(populations(book.document(), book.record)["st"], around, clock)
    assert (day.contractual, day.ours, day.delivered) == pytest.approx((8, 10, 8))


@pytest.mark.parametrize(
    ("sets", "count"),
    [
        (["n[001-008]"], 8),
        (["n[001-008]", "n[001-008]", "n[001-002]"], 8),
        (["n[001-008]", "n[005-012],login1"], 13),
        (["n[1-8]", "n[01-08]"], 16),
        (["r[1-2]n[1-4]", "r2n[3-6]"], 10),
        ([], 0),
    ],
)
def test_a_node_of_several_partitions_counts_once(sets: list[str], count: int) -> None:
    partitions = [
        Partition(f"p{at}", "c", nodes, len(NodeSet(nodes, resolver=RESOLVER_NOGROUP)), "t")
        for at, nodes in enumerate(sets)
    ]
    assert different_nodes(partitions) == count
    again = [{"name": "c", "partitions": [{"name": one.name, "nodes": one.nodes} for one in partitions]}]
    assert recompute_numbers.different_nodes(again, {f"c:{one.name}" for one in partitions}) == count


def test_nodes_of_two_clusters_are_different_ones() -> None:
    assert different_nodes([Partition("p", name, "n[1-4]", 4, "t") for name in ("c", "d")]) == 8


def test_the_calendar_has_each_node_of_the_machine_once() -> None:
    """batch and low are the same 8 nodes, debug two of them: an hour of all is 8 node-hours."""
    book = Book()
    book.component("st", "a")
    book.run("st", "a", begin=0.0, elapsed_s=HOUR)
    parts = (("batch", "n[1-8]", 8), ("low", "n[1-8]", 8), ("debug", "n[1-2]", 2))
    partitions = tuple(Partition(name, "c", nodes, count, "t") for name, nodes, count in parts)
    document = book.document()
    system = msgspec.structs.replace(document.system, clusters=(Cluster("c", "slurm", partitions),))
    found = utilisation(msgspec.structs.replace(document, system=system), book.record)
    assert {item.name: item.of_node_hours for item in found} == pytest.approx({CONTRACTUAL: 8, OURS: 8, CALENDAR: 8})


def test_what_lies_outside_the_clock_is_cut_off() -> None:
    """The other component's run began two hours before this one's clock: one of its three hours counts, on 2 nodes."""
    book = Book()
    book.component("early", "a")
    book.component("st", "b")
    book.run("early", "a", begin=0.0, elapsed_s=3 * HOUR)
    book.run("st", "b", begin=2 * HOUR, elapsed_s=2 * HOUR)
    found = {item.name: item for item in utilisation(book.document(), book.record) if item.component == "st"}
    assert found[CONTRACTUAL].node_hours == pytest.approx(4)
    assert found[OURS].node_hours == pytest.approx(4 + 2)
    assert found[OURS].hours == pytest.approx(2)


def test_the_clock_begins_with_the_first_order_not_the_first_start() -> None:
    book = Book()
    book.component("st", "a")
    book.run("st", "a", begin=HOUR, elapsed_s=HOUR)
    book.record.first_orders["st"] = 0.0
    assert shares(book)[CONTRACTUAL] == pytest.approx(2 * 1 / (8 * 2))


def test_judging_again_moves_no_end_of_the_clock() -> None:
    """A job that left no end mark was judged failed after an hour, and again by an amended check ten days later."""
    book = Book()
    book.component("st", "a", repeats=2)
    ids = {"component": "st", "attempt": 1}
    told = [
        ("submit_order", 0.0, "r1", ids | {"repeat": 1}),
        ("submit_order", 0.0, "r2", ids | {"repeat": 2}),
        ("verdict", HOUR, "r1", ids | {"repeat": 1, "verdict": "passed", "started": 0.0, "elapsed_s": HOUR}),
        ("verdict", HOUR, "r2", ids | {"repeat": 2, "verdict": "failed"}),
        ("verdict", 240 * HOUR, "r2", ids | {"repeat": 2, "verdict": "failed", "supersedes": 4, "was": "failed"}),
    ]
    for seq, (event, time, run, value) in enumerate(told, 1):
        book.record.add(Event(event, seq, time, case="a", run=run, job=f"j{run}", value=value))
    assert shares(book)[CONTRACTUAL] == pytest.approx(2 / 8)


def test_wrong_answers_and_expected_failures_are_no_contractual_work() -> None:
    book = Book()
    book.component("st", "a", repeats=4)
    book.runs("st", "a", "piP", begin=0.0, elapsed_s=HOUR)
    found = shares(book)
    assert [found[CONTRACTUAL], found[OURS]] == pytest.approx([4 / 8, 6 / 8])


def test_on_a_machine_that_counts_cores_a_run_holds_a_share_of_a_node() -> None:
    """Nodes of 4 cores: a case of 2 cores for an hour takes half a node-hour of 8."""
    book = Book(scheduler="local", cores=4)
    book.component("st", "a", units=2)
    book.run("st", "a", begin=0.0, elapsed_s=HOUR)
    assert shares(book)[CONTRACTUAL] == pytest.approx(0.5 / 8)


def test_runs_of_unknown_times_are_said_not_guessed() -> None:
    book = Book()
    book.component("st", "a", repeats=2)
    book.run("st", "a", begin=0.0, elapsed_s=HOUR)
    book.run("st", "a", "lost", elapsed_s=None)
    book.run("st", "a", "submit_failed", elapsed_s=None)
    ours = next(item for item in utilisation(book.document(), book.record) if item.name == OURS)
    assert (ours.runs, ours.untimed) == (1, 1), "one that never started took nothing"
    assert ours.arithmetic().endswith("= 25.0% (1 run of unknown times not counted)")


def test_as_a_criterion_it_waits_for_the_end_and_shows_its_arithmetic() -> None:
    book = Book()
    book.component("st", "a", repeats=2, criteria=(criterion(CONTRACTUAL, ">= 20%"),))
    book.run("st", "a", begin=0.0, elapsed_s=HOUR)
    assert (book.only(ended=False).outcome, book.only(ended=False).reason) == ("undecided", "results are still to come")
    book.run("st", "a", begin=HOUR, elapsed_s=HOUR)
    found = book.only()
    assert found.outcome == "met"
    assert found.arithmetic.endswith("(8 nodes x 2 h = 16 clock node-hours) = 25.0%, must >= 20%")


def test_nothing_judged_has_no_utilisation() -> None:
    book = Book()
    book.component("st", "a", criteria=(criterion(OURS, ">= 20%"),))
    assert utilisation(book.document(), book.record) == ()
    assert book.only(ended=False).reason == "the clock has not run: nothing of the component is judged"


def test_ten_days_of_c5_by_its_own_table() -> None:
    """Paper 004, tables III and IV: job size, mean run time and number of jobs of each test on 1,920 nodes in ten days.

    1050 x 4148.1 x 48 + 416 x 6016.8 x 18 + ... = 780.2 million node-seconds of 1920 x 240 h: 47 %.
    """
    table = {
        "cm4": (48, 4148.1, 1050), "esm4-small": (18, 6016.8, 416), "esm4-large": (26, 4565.7, 660),
        "spear": (22, 5808.1, 647), "shield": (96, 4201.2, 861), "ufs": (24, 6049.5, 123),
    }  # fmt: skip
    book = Book()
    book.component("st", *table, repeats=1050)
    book.cases = {name: Case(name, name, "c5:batch", shape=Shape(n, units=n)) for name, (n, _, _) in table.items()}
    for name, (_, elapsed, jobs) in table.items():
        for number in range(jobs):
            book.run("st", name, begin=number / jobs * (240 * HOUR - elapsed), elapsed_s=elapsed)
    book.run("st", "cm4", "timeout", begin=240 * HOUR - 7200, elapsed_s=7200.0)
    book.record.first_orders["st"] = 0.0
    document = book.document()
    partition = Partition("batch", "c5", "c5n[1-1920]", 1920, "t")
    system = System("c5", (Cluster("c5", "slurm", (partition,)),), document.system.node_types)
    found = utilisation(type(document)("p", system, document.components, document.cases, document.tests), book.record)
    assert found[0].of_node_hours == pytest.approx(460_800)
    assert found[0].share == pytest.approx(0.470, abs=0.001)
    assert found[0].arithmetic().startswith("216736 contractual node-hours of 3757 runs / (1920 nodes x 240 h")
