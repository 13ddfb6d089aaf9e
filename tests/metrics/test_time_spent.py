"""Where the node-hours went: the parts add up to the last microsecond, and each moment of a node is in one part."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import shakedown.engine
from shakedown.metrics.availability import FORMULAS, availability
from shakedown.metrics.limits_in_words import IN_WORDS
from shakedown.metrics.rows.table import fold_runs
from shakedown.metrics.time_spent import (
    DOWN,
    EXCLUDED,
    GROUPS,
    LEFT_OUT,
    Look,
    Out,
    TimeSpent,
    account,
    causes_in_words,
    grounds_of,
    group_of,
    in_us,
)
from shakedown.model.events import Event
from shakedown.model.nouns import Case, Cluster, Component, Document, NodeType, Partition, Shape, System, Test

VERDICTS = ("passed", "passed", "performance", "failed", "node_fail", "timeout")
CAUSES = (
    "ahead",
    "budget:f2/mdt",
    "copies:a",
    "walltime",
    "drain:st",
    "gate:vendor",
    "paused:st",
    "held:c:batch",
    "made up:x",
)


def plan() -> Document:
    """Two partitions that share four of their nodes, one by itself, and a machine that counts cores."""
    partitions = (Partition("batch", "c", "n[1-8]", 8, "t"), Partition("low", "c", "n[5-10]", 6, "t"),
                  Partition("big", "c", "b[1-3]", 3, "t"))  # fmt: skip
    system = System("s", (Cluster("c", "slurm", partitions), Cluster("l", "local", (Partition("all", "l", "here", 1, "k"),))),
                    (NodeType("t"), NodeType("k", cores=3)))  # fmt: skip
    cases = (
        Case("a", "a", "c:batch", shape=Shape(1, units=2)),
        Case("b", "b", "c:low", shape=Shape(1, units=3)),
        Case("d", "d", "c:big", shape=Shape(1, units=1)),
        Case("e", "e", "l:all", shape=Shape(1, units=1)),
    )
    component = Component("st", "stability", tuple(case.id for case in cases))
    return Document("p", system, (component,), cases, tuple(Test(case.id) for case in cases))


def campaign(draw: random.Random, runs: int) -> list[Event]:
    """Runs of all kinds, some longer than the campaign, some in one allocation, some whose times nobody knows."""
    begin = 1_600_000_000 + draw.random()
    events = [Event("campaign_start", seq=1, time=begin, value={"campaign": "c", "plan": "p", "document": "d"})]
    for number in range(1, runs + 1):
        case, job = draw.choice("abde"), f"j{number if draw.random() < 0.7 else 1}"
        ids = {"component": "st", "repeat": number, "attempt": 1, "mode": draw.choice(("", "", "filler", "warm-up"))}
        run, started = f"r{number}", begin + draw.uniform(-5, 900)
        events.append(Event("submit_order", seq=len(events) + 1, time=begin, run=run, job=job, case=case, value=ids))
        verdict = {"verdict": draw.choice(VERDICTS), "started": started, "elapsed_s": draw.expovariate(0.01)}
        if draw.random() < 0.1:
            verdict = {"verdict": "lost"}
        if draw.random() < 0.9:
            events.append(
                Event(
                    "verdict", seq=len(events) + 1, time=begin + 1000, run=run, job=job, case=case, value=ids | verdict
                )
            )
        else:
            events.append(
                Event("job_report", seq=len(events) + 1, time=begin + 500, run=run, job=job, value={"state": "running"})
            )
    events.append(Event("driver_stop", seq=len(events) + 1, time=begin + 1000 + draw.random()))
    return events


def looks_and_outs(draw: random.Random, document: Document, begin: float) -> tuple[dict[str, list[Look]], list[Out]]:
    looks = {}
    for ground in grounds_of(document):
        times = sorted(begin + draw.uniform(-10, 1100) for _ in range(draw.randrange(30)))
        looks[ground.name] = [_look(draw, ground.count, at) for at in times]
    outs = []
    for _ in range(draw.randrange(12)):
        node = draw.choice(("n1", "n5", "n9", "b2", "n77"))
        since = begin + draw.uniform(-50, 900)
        kind = draw.choice((DOWN, LEFT_OUT, EXCLUDED))
        outs.append(Out("c", node, since, since + draw.uniform(0, 500), kind, failed=kind == DOWN))
    return looks, outs


def _look(draw: random.Random, nodes: int, at: float) -> Look:
    weights = [draw.random() for _ in range(draw.randrange(4))]
    causes = tuple(("st", draw.choice(CAUSES), weight / sum(weights)) for weight in weights)
    return Look(at, draw.uniform(0, nodes), causes, draw.choice((0, 0, 3)))


def spent(seed: int, runs: int = 40) -> TimeSpent:
    draw = random.Random(seed)
    record = fold_runs(campaign(draw, runs))
    looks, outs = looks_and_outs(draw, plan(), record.started or 0.0)
    found = account(plan(), record, looks, outs)
    assert found is not None
    return found


@given(st.integers(0, 10**9), st.integers(0, 60))
def test_the_parts_add_up_to_the_nodes_times_the_time_exactly(seed: int, runs: int) -> None:
    """By cause, by stretch of time and by partition: none of it twice, none of it nowhere."""
    found = spent(seed, runs)
    assert found.nodes == 10 + 3 + 1, "n5 to n8 are in two partitions and count once"
    lasted = in_us(found.end) - in_us(found.begin)
    assert found.node_us == found.nodes * lasted
    assert sum(part.node_us for part in found.parts) == found.node_us
    assert sum(sum(one.groups.values()) for one in found.slices) == found.node_us
    assert sum(had for _, had, _ in found.grounds) == found.node_us
    assert sum(found.groups().values()) == found.node_us
    assert all(part.node_us > 0 for part in found.parts) and set(found.groups()) <= set(GROUPS)
    assert sum(worked for _, _, worked in found.grounds) == found.groups().get("worked", 0)
    for one, after in zip(found.slices, found.slices[1:], strict=False):
        assert one.end == after.begin
    assert all(sum(one.groups.values()) == found.nodes * round((one.end - one.begin) * 1e6) for one in found.slices)


@given(st.integers(0, 10**9))
def test_what_runs_had_is_what_their_own_times_say(seed: int) -> None:
    """With room for all of them and no node out, each group of runs has nodes times run time, of an allocation its part."""
    draw = random.Random(seed)
    begin, wanted, events = 1000.0, {"worked": 0.0, "came to nothing": 0.0}, []
    events.append(Event("campaign_start", seq=1, time=begin, value={"campaign": "c", "plan": "p", "document": "d"}))
    at = begin
    for number in range(1, 20):
        ids = {"component": "st", "repeat": number, "attempt": 1}
        verdict, lasted = draw.choice(VERDICTS), draw.uniform(1, 50)
        value = ids | {"verdict": verdict, "started": at, "elapsed_s": lasted}
        for event, more in (("submit_order", ids), ("verdict", value)):
            events.append(
                Event(event, seq=len(events) + 1, time=at, run=f"r{number}", job=f"j{number}", case="a", value=more)
            )
        wanted["worked" if verdict in ("passed", "performance") else "came to nothing"] += 2 * lasted
        at += lasted
    events.append(Event("driver_stop", seq=len(events) + 1, time=at))
    found = account(plan(), fold_runs(events), {}, [])
    assert found is not None and not found.twice_us
    for group, node_s in wanted.items():
        assert found.groups().get(group, 0) / 1e6 == pytest.approx(node_s, abs=1e-4)
    assert group_of("nobody knows") == "not known"


def test_a_node_that_is_down_and_excluded_is_down_and_counts_once() -> None:
    document, begin = plan(), 1000.0
    record = fold_runs(
        [Event("campaign_start", seq=1, time=begin, value={}), Event("driver_stop", seq=2, time=begin + 100)]
    )
    outs = [
        Out("c", "b1", begin, begin + 60, DOWN, failed=True),
        Out("c", "b1", begin + 20, begin + 80, EXCLUDED),
        Out("c", "b2", begin - 10, begin + 10, LEFT_OUT),
    ]
    found = account(document, record, {}, outs)
    assert found is not None
    assert {part.cause: part.node_us / 1e6 for part in found.parts if part.cause != "unknown"} == {
        "down": 60.0,
        "excluded": 20.0,
        "left_out": 10.0,
    }


def test_every_reason_of_the_engine_has_a_group() -> None:
    """A new reason to wait that is in no group would be told as not known; one without words, as what people held back."""
    of_people = {"paused", "drained", "stopped", "cap", "clock"}
    room = Path(shakedown.engine.__file__).parent
    source = "".join(path.read_text() for path in sorted(room.rglob("*.py")))
    kinds = {found.partition(":")[0] for found in re.findall(r'Reason\(\s*f?"([a-z_-]+)', source)}
    assert len(kinds) > 15, kinds
    kinds |= set(IN_WORDS) - {"slowed", "unknown"}
    assert {kind for kind in kinds if group_of(kind) == "not known"} == set()
    assert kinds - set(IN_WORDS) - of_people == set(), "it has no words"


def test_idle_nodes_beside_jobs_that_wait_are_one_stretch_as_long_as_it_lasts() -> None:
    document, begin = plan(), 1000.0
    record = fold_runs(
        [Event("campaign_start", seq=1, time=begin, value={}), Event("driver_stop", seq=2, time=begin + 100)]
    )
    said = ((0, 3, "walltime", 2), (10, 2, "walltime", 5), (30, 3, "walltime", 0), (50, 1, "wide", 1))
    looks = {"c:big": [Look(begin + at, idle, (("st", cause, 1.0),), jobs) for at, idle, cause, jobs in said]}
    found = account(document, record, looks, [])
    assert found is not None
    assert [(one.begin - begin, one.end - begin, one.node_us / 1e6, one.jobs) for one in found.pending] == [
        (0, 30, 3 * 10 + 2 * 20, 5),
        (50, 100, 50, 1),
    ]
    assert [one.says for one in causes_in_words(document, found)], "said in the words of a rehearsal"


def test_availability_by_the_formulas_of_the_centres() -> None:
    """100 h: two components were paused for 4 h of maintenance, and 2 h of a fault of 6 h lie in it; two nodes fail."""
    hour, begin = 3600.0, 1000.0
    said: list[tuple[str, int, dict[str, Any]]] = [
        ("paused", 10, {"component": "a", "cause": "maintenance"}),
        ("paused", 11, {"component": "b", "cause": "maintenance"}),
        ("paused", 12, {"component": "x", "cause": "machine", "by": "Ada"}),
        ("continued", 13, {"component": "a"}),
        ("continued", 14, {"component": "b"}),
        ("continued", 18, {"component": "x"}),
        ("paused", 50, {"component": "a", "cause": "other"}),
        ("continued", 60, {"component": "a"}),
        ("clock", 70, {"component": "a", "act": "stop", "cause": "site", "from": begin + 69 * hour}),
        ("clock", 71, {"component": "a", "act": "go on"}),
    ]
    events = [Event("campaign_start", seq=1, time=begin, value={})]
    events += [Event(kind, seq=n, time=begin + at * hour, value=value) for n, (kind, at, value) in enumerate(said, 2)]
    events.append(Event("driver_stop", seq=len(events) + 1, time=begin + 100 * hour))
    record = fold_runs(events)
    outs = [
        Out("c", "b1", begin + 20 * hour, begin + 24 * hour, DOWN, failed=True),
        Out("c", "b1", begin + 30 * hour, begin + 32 * hour, DOWN, failed=True),
        Out("c", "b2", begin + 12 * hour, begin + 100 * hour, DOWN, failed=True, known=False),
        Out("c", "b3", begin, begin + 100 * hour, EXCLUDED),
    ]
    found = availability(record, account(plan(), record, {}, outs))
    assert found is not None
    planned, other = 4.0, 6.0 - 2.0 + 2.0
    assert [(one.scheduled, one.cause) for one in found.outages] == [
        (True, "maintenance"),
        (False, "machine"),
        (False, "site"),
    ]
    numbers = {name: value for name, value, _, _ in found.numbers()}
    assert list(numbers) == list(FORMULAS)
    assert numbers["scheduled availability"] == pytest.approx((100 - planned - other) / (100 - planned))
    assert numbers["overall availability"] == pytest.approx((100 - planned - other) / 100)
    assert numbers["mean time to interrupt by outages (MTTI)"] == pytest.approx((100 - planned - other) / 4 * hour)
    assert numbers["mean time to failure (MTTF)"] == pytest.approx((100 - other) / 3 * hour)
    assert numbers["mean time to repair"] == pytest.approx(other / 2 * hour)
    down = 4 + 2 + 88 - 2  # two hours of it lie in the maintenance
    assert numbers["availability of nodes"] == pytest.approx(1 - down / (14 * 96))
    assert numbers["mean time to failure of a node"] == pytest.approx((14 * 96 - down) / 3 * hour)
    assert numbers["mean time to repair of a node"] == pytest.approx((4 + 2) / 2 * hour)
    assert [(one.node, one.failures) for one in found.node_list] == [("b1", 2), ("b2", 1)]


def test_a_machine_that_was_never_down_has_no_time_to_repair() -> None:
    record = fold_runs([Event("campaign_start", seq=1, time=5.0, value={}), Event("driver_stop", seq=2, time=3605.0)])
    found = availability(record, account(plan(), record, {}, []))
    assert found is not None
    assert (found.scheduled, found.overall, found.of_nodes) == (1.0, 1.0, 1.0)
    assert found.mttr_s is found.node_mttr_s is found.node_mttf_s is None
    interval = found.node_mttf_interval
    assert interval is not None and interval[1] is None and interval[0] < found.node_s
