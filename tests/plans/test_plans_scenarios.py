"""Rehearsals' files: what is written becomes the machine; what is wrong is told with its place and a way out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from shakedown.model.errors import FileProblems, UsageError
from shakedown.model.scenario import (
    Bandwidth,
    Builds,
    Faults,
    Hang,
    Harness,
    Hole,
    Maintenance,
    Neighbour,
    Nodes,
    Queue,
    RunTime,
    Scenario,
)
from shakedown.plans import finding
from shakedown.plans.checking import check_site
from shakedown.plans.rehearsals.scenarios import read_scenario
from shakedown.plans.schema.problems import Problems
from shakedown.plans.site import shipped_machine

HOUR, DAY = 3600.0, 86_400.0


def read(example: Any, name: str | None) -> Scenario:
    return read_scenario(example.path, example.read(), name)


def without_twin(example: Any) -> None:
    file = example.path / "systems/c5.yaml"
    file.write_text(re.sub(r"^twin:.*\n", "", file.read_text(), flags=re.MULTILINE))


# ---- what is written ---------------------------------------------------------------------------------------------------------


def test_every_key_of_the_example_becomes_what_it_says(example: Any) -> None:
    found = read(example, "naive")
    assert found.times == (
        ("stream", RunTime(600.0, source="rehearsals/busy.yaml:6")),
        ("cm4", RunTime(4148.1, 11.3, 0.02, 1.9, "paper 004, Table IV")),
    )
    assert (found.times_from, found.assumed, found.begins_s) == ("phase2-1", 0.4, 8 * HOUR)
    assert found.builds == Builds(4, 2700.0, 300.0, 0.01, (("cm4", HOUR),), ("intel-oneapi",))
    deaths = (("c5n0009", 20 * HOUR, 6 * HOUR),)
    slow = ((("c5n0001", 1.3),), 0.001, 1.1, (("c5n0007", 0.3),))
    assert found.nodes == Nodes(1800 * DAY, 4 * HOUR, *slow, "node_fail", deaths)
    (metadata,) = found.metadata
    assert (metadata.budget, metadata.sigma, metadata.kappa, metadata.healthy) == ("f2/mdt", 0.05, 0.01, 8.0)
    assert (metadata.share, metadata.shares, metadata.hangs_past) == (0.1, (("cm4", 0.2),), 24.0)
    assert (metadata.every_run, metadata.target, metadata.hangs) == (1.0, "mdt0", (Hang("mdt1", 30 * HOUR, 2 * HOUR),))
    assert found.bandwidth == (Bandwidth("f2/bandwidth", 40e9, 0.05, (("cm4", 0.15),)),)
    assert found.maintenance == (Maintenance(5 * DAY, 8 * HOUR, "c5n[0001-0128]", DAY, "left"),)
    hole = Hole(("cm4",), 100 * HOUR, 68 * HOUR)
    assert found.harness == Harness(True, 0.005, 72 * HOUR, (hole,), (("cm4", 60 * HOUR),))
    assert found.queue == Queue(30.0, 100, False, 1.0, 2.0)
    assert found.faults == Faults(0.05, 0.01, 0.005, 0.005, 0.001)


def test_hours_are_one_entry_for_each_day_and_go_over_the_weeks_end(example: Any) -> None:
    weekly = read(example, "busy").others
    loads = (("f2/mdt", 4.0), ("f2/bandwidth", 12e9))
    berlin = "Europe/Berlin"
    days = [Neighbour("c3", day * DAY + 8 * HOUR, day * DAY + 18 * HOUR, loads, 40, berlin) for day in range(5)]
    assert weekly == (*days, Neighbour("c4", 5 * DAY + 22 * HOUR, 6 * DAY + 4 * HOUR, (("f2/bandwidth", 20e9),)))
    example.write(
        "rehearsals/o.yaml", "rehearsal: o\nothers:\n  - {cluster: c3, days: Sun, from: '22:00', to: '04:00'}\n"
    )
    (late,) = read(example, "o").others
    assert (late.from_s, late.to_s) == (6 * DAY + 22 * HOUR, 4 * HOUR)
    example.write("rehearsals/o.yaml", "rehearsal: o\nothers:\n  - {cluster: c3, pending: 7}\n")
    (always,) = read(example, "o").others
    assert always.from_s == always.to_s


def test_times_of_the_week_are_in_the_rehearsals_zone_and_else_in_utc(example: Any) -> None:
    """Files that name no zone keep their meaning."""
    others = "others:\n  - {cluster: c3, pending: 7}\n  - {cluster: c4, zone: Asia/Tokyo}\n"
    example.write("rehearsals/o.yaml", f"rehearsal: o\nbegins: Mon 08:00\n{others}")
    assert (read(example, "o").zone, *(one.zone for one in read(example, "o").others)) == ("UTC", "UTC", "Asia/Tokyo")
    example.write("rehearsals/o.yaml", f"rehearsal: o\nzone: America/New_York\n{others}")
    found = read(example, "o")
    assert (found.zone, *(one.zone for one in found.others)) == ("America/New_York", "America/New_York", "Asia/Tokyo")


def test_the_systems_own_word_stands_below_a_rehearsals(example: Any) -> None:
    alone = read(example, None)
    assert (alone.name, alone.queue.cycle_s, alone.metadata[0].healthy) == ("c5", 30.0, 8.0)
    example.write("rehearsals/n.yaml", "rehearsal: n\nscheduler: {depth: 5}\n")
    both = read(example, "n")
    assert (both.name, both.queue, both.metadata) == ("n", Queue(30.0, 5), alone.metadata)


def test_without_any_word_the_machine_is_healthy_and_idle(example: Any) -> None:
    without_twin(example)
    assert read(example, None) == Scenario()


def test_what_is_written_is_frozen_as_plain_data(example: Any) -> None:
    found = read(example, "naive")
    assert msgspec.json.decode(msgspec.json.encode(found), type=Scenario) == found


# ---- what is wrong -----------------------------------------------------------------------------------------------------------


def told(example: Any, text: str) -> list[str]:
    """What check says of a rehearsal ``x``: place, message, hint."""
    example.write("rehearsals/x.yaml", f"rehearsal: x\n{text}")
    found = check_site(example.path, lambda: _here()).problems
    return [f"{p.path.rpartition('/')[2]}:{p.line}:{p.column}: {p.message} | {p.hint}" for p in found]


def _here() -> Any:
    from shakedown.model.nouns import Cluster, NodeType, Partition, System

    partition = Partition("all", "local", "localhost", 1, "host")
    return System("here", (Cluster("local", "local", (partition,)),), (NodeType("host", cores=4),))


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("tims: {assumed: 5%}\n", ("x.yaml:2:1", "unknown key 'tims'", "did you mean 'times'?")),
        ("times: {tests: {cm5: 1h}}\n", ("x.yaml:2:17", "there is no test 'cm5'", "did you mean 'cm4'?")),
        ("times: {tests: {cm4: {spread: 1s}}}\n", ("'mean' is missing in times.tests.cm4",)),
        ("times: {assumed: 150%}\n", ("'150%' is not a share", "between 0% and 100%")),
        (
            "times: {assumed: 0.5}\n",
            (
                "x.yaml:2:18",
                "'0.5' needs a unit",
            ),
        ),
        ("nodes: {mtbf: 5y}\n", ("x.yaml:2:15", "'5y' is not a duration")),
        ("nodes: {mtbf: 0s}\n", ("'0s' is no time to wait",)),
        ("nodes: {slow: {c5n9999: 1.2}}\n", ("x.yaml:2:16", "there is no node 'c5n9999'")),
        ("nodes: {slow: {c5n0001: 0.5}}\n", ("'0.5' is no factor on a time", "1.3 is 30 % slower")),
        ("nodes: {bad: {c5n0001: nan}}\n", ("x.yaml:2:24", "'nan' is not a number")),
        ("nodes: {deaths: [{node: c5n0001}]}\n", ("'after' is missing in nodes.deaths",)),
        ("builds: {slots: 0}\n", ("0 is less than 1",)),
        ("builds: {broken: [intel-onapi]}\n", ("x.yaml:2:19", "'intel-onapi'", "did you mean 'intel-oneapi'?")),
        (
            "storage: {metadata: {f2/mds: {}}}\n",
            ("x.yaml:2:22", "there is no budget 'f2/mds'", "did you mean 'f2/mdt'?"),
        ),
        ("storage: {metadata: {f2/mdt: {target: mdt9}}}\n", ("there is no target 'mdt9'", "did you mean")),
        ("storage: {metadata: {f2/mdt: {kappa: -1}}}\n", ("'-1' is no plain number above zero",)),
        ("storage: {metadata: {f2/mdt: {kappa: 1e99}}}\n", ("'1e99' is no plain number",)),
        ("storage: {bandwidth: {f2/bandwidth: {capacity: 40 GB}}}\n", ("do not measure the same thing", "40")),
        ("storage: {bandwidth: {f2/bandwidth: {}}}\n", ("'capacity' is missing",)),
        ("others: [{cluster: c3, loads: {f2/mdt: 4 GB/s}}]\n", ("f2/mdt", "do not measure the same thing")),
        ("others: [{cluster: c3, from: '08:00'}]\n", ("hours need both 'from' and 'to', and one is missing",)),
        ("others: [{cluster: c3, from: 'Mon 08:00', to: '18:00'}]\n", ("both times of the day, or both of the week",)),
        ("others: [{cluster: c3, from: '8 am', to: '18:00'}]\n", ("'8 am' is no time of a week",)),
        ("maintenance: [{after: 5d}]\n", ("'lasts' is missing",)),
        ("maintenance: [{after: 5d, lasts: 1h, nodes: 'c5n[1-'}]\n", ("is not a node set",)),
        ("maintenance: [{after: 5d, lasts: 1h, nodes: 'n[1-3]'}]\n", ("there is no node 'n1'",)),
        ("maintenance: [{after: 5d, lasts: 1h, running: stays}]\n", ("'stays' is not one of killed, left",)),
        ("harness: {holes: [{tests: [cm5], after: 1h}]}\n", ("x.yaml:2:28", "there is no test 'cm5'")),
        ("harness: {forgets: 2}\n", ("'2' needs a unit",)),
        ("harness: {in_job: {cm5: 1h}}\n", ("there is no test 'cm5'",)),
        ("scheduler: {depth: 1.5}\n", ("'1.5' is not a whole number",)),
        ("faults: {faild: 1%}\n", ("unknown key 'faild'", "did you mean 'failed'?")),
        ("begins: '08:00'\n", ("begins: no day is named",)),
        ("extends: nothing\n", ("x.yaml:2:10", "there is no rehearsal 'nothing'")),
        ("extends: x\n", ("'x' extends itself",)),
        ("extends: [naive]\n", ("x.yaml:2:10", "extends is a name")),
        ("times: [1]\n", ("times is a map with tests, not a list",)),
    ],
)
def test_a_fault_is_told_with_its_place_and_a_way_out(example: Any, text: str, parts: Sequence[str]) -> None:
    found = told(example, text)
    assert len(found) == 1, found
    for part in parts:
        assert part in found[0]


def test_two_rehearsals_of_one_name_are_told(example: Any) -> None:
    example.write("rehearsals/z.yaml", "rehearsal: naive\n")
    assert "there is a rehearsal 'naive' already" in told(example, "about: x\n")[0]


def test_a_fault_under_twin_is_told_where_it_is(example: Any) -> None:
    file = example.path / "systems/c5.yaml"
    line = file.read_text().count("\n") + 1
    without_twin(example)
    file.write_text(file.read_text() + "twin: {times: {tests: {cm5: 1h}}}\n")
    (found,) = told(example, "about: x\n")
    assert found.startswith(f"c5.yaml:{line - 1}:24: there is no test 'cm5'")


def test_there_is_no_such_rehearsal(example: Any) -> None:
    with pytest.raises(UsageError, match="no rehearsal 'naif'") as error:
        read(example, "naif")
    assert error.value.hint == "did you mean 'naive'?"


def test_reading_one_rehearsal_stops_at_its_faults_and_not_at_those_of_others(example: Any) -> None:
    example.write("rehearsals/other.yaml", "rehearsal: other\nodd: 1\n")
    assert read(example, "naive").name == "naive"
    with pytest.raises(FileProblems, match="unknown key 'odd'"):
        read(example, "other")


def test_a_case_can_be_named_as_it_is_listed(example: Any) -> None:
    case = example.read().cases[0].id
    example.write("rehearsals/c.yaml", f"rehearsal: c\ntimes: {{tests: {{'{case}': 1h}}}}\n")
    assert read(example, "c").times[0][0] == case


def test_a_site_without_rehearsals_is_checked_as_before(example: Any) -> None:
    import shutil

    without_twin(example)
    shutil.rmtree(example.path / "rehearsals")
    assert check_site(example.path, _here).problems == ()
    assert read(example, None) == Scenario()


def test_a_system_of_the_package_that_no_plan_names_is_known_to_a_rehearsal_on_it(
    example: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = """system: far
clusters: {far: {scheduler: slurm, partitions: {batch: {nodes: "far[1-9]", type: one}}}}
node_types: {one: {cores: 4}}
twin: {scheduler: {depth: 7}}
"""
    example.write("../package/far.yaml", system)
    monkeypatch.setattr(finding, "CATALOGUE_SYSTEMS", str(tmp_path / "package"))
    machine = shipped_machine("far", Problems())
    assert machine is not None
    example.write("rehearsals/k.yaml", "rehearsal: k\nnodes: {slow: {far3: 1.5}}\n")
    document = msgspec.structs.replace(example.read(), system=machine.system)
    found = read_scenario(example.path, document, "k")
    assert (found.nodes.slow, found.queue.depth) == ((("far3", 1.5),), 7)
    with pytest.raises(FileProblems, match="there is no node 'far3'"):
        read(example, "k")
