"""Systems in files: what is wrong with their hardware, word for word; and the package's systems behind a site's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from shakedown.model.errors import UsageError
from shakedown.model.nouns import NodeType
from shakedown.model.printed import Published
from shakedown.plans import finding, list_cases, read_site, read_system
from shakedown.plans.checking import check_site
from shakedown.plans.site import Site

MACHINE = """\
system: {name}
clusters: {{c: {{scheduler: slurm, partitions: {{p: {{nodes: "n[1-8]", type: t}}}}}}}}
node_types: {{t: {{cores: 4}}}}
filesystems: {{fs: {{path: "/fs/{{mdt}}", targets: {{mdt: [a, b]}}}}}}
budgets: {{fs/mdt: 2 per target}}
"""


def typed(node: str = "cores: 4", rest: str = "") -> str:
    head = 'system: m\nclusters: {c: {scheduler: slurm, partitions: {p: {nodes: "n[1-8]", type: t}}}}\n'
    return f"{head}node_types: {{t: {{{node}}}}}\n{rest}"


def node(site: Any, text: str) -> NodeType:
    return read_system(site.write("systems/m.yaml", typed(text))).node_type("t")


def test_the_peak_is_counted_where_it_is_not_written(site: Any) -> None:
    assert node(site, "cores: 32, flops_per_cycle: 16, clock: 2.3 GHz").peak_flop_per_s == pytest.approx(1177.6e9)
    assert node(site, "cores: 32, clock: 2.3 GHz").peak_flop_per_s == 0
    assert node(site, "cores: 32, peak: 1.2 TFLOP/s").peak_flop_per_s == 1.2e12
    both = node(site, "cores: 128, flops_per_cycle: 16, clock: 2.6 GHz, peak: 5.3 TFLOP/s")
    assert both.peak_flop_per_s == 5.3e12  # 5.3248, as it is written


@pytest.mark.parametrize(
    ("node", "rest", "told"),
    [
        (
            "cores: 32, flops_per_cycle: 16, clock: 2.3 GHz, peak: 1.3 TFLOP/s",
            "",
            "3:72: peak is written as 1.3 TFLOP/s, and 32 cores x 16 flops a cycle x 2.3 GHz make 1.1776 TFLOP/s\n"
            "hint: correct one of them, or leave peak out",
        ),
        (
            "cores: 4, clock: 2.3",
            "",
            "3:35: node_types.t.clock: '2.3' needs a unit, such as '2.3 GHz'",
        ),
        (
            "cores: 4, clock: 0 GHz",
            "",
            "3:35: node_types.t.clock: '0 GHz' is no amount\nhint: write an amount above zero",
        ),
        (
            "cores: 4, flops_per_cycle: 1.5",
            "",
            "3:45: node_types.t.flops_per_cycle: '1.5' is not a whole number",
        ),
        (
            "cores: 4, fast_memory: -16 GiB",
            "",
            "3:41: node_types.t.fast_memory: '-16 GiB' is no amount\nhint: write an amount above zero",
        ),
        (
            "cores: 4, flop_per_cycle: 16",
            "",
            "3:28: unknown key 'flop_per_cycle' in node_types.t\nhint: did you mean 'flops_per_cycle'?",
        ),
        (
            "cores: 4",
            "network: {injecton: 1 GB/s}",
            "4:11: unknown key 'injecton' in network\nhint: did you mean 'injection'?",
        ),
        ("cores: 4", "network: {injection: plenty}", "4:22: network.injection: 'plenty' is not a number with a unit"),
        (
            "cores: 4",
            "network: {injection: 2 h}",
            "4:22: network.injection: '2 h': 'h' is not a unit of bytes/s\nhint: write it in GB/s",
        ),
        (
            "cores: 4",
            "network: {dimensions: 18x0x24}",
            "4:23: network.dimensions: '18x0x24' are no dimensions\nhint: write the length of each, such as 18x12x24",
        ),
        (
            "cores: 4",
            "network: {taper: 0%}",
            "4:18: network.taper: '0%' is no amount\nhint: write an amount above zero",
        ),
        (
            "cores: 4",
            "network: {kind: torus, kind: tree}",
            "4:24: key 'kind' is written twice\nhint: the first is on line 4; keep one",
        ),
        (
            "cores: 4",
            "filesystems: {f: {targets: {ost: {capacity: 1 TB}}}}",
            "4:34: targets.ost has neither names nor a count\nhint: ost: {count: 4}",
        ),
        (
            "cores: 4",
            "filesystems: {f: {targets: {ost: {names: [a, b], count: 3}}}}",
            "4:57: targets.ost has 2 names, and its count is 3\nhint: leave count out: the names are counted",
        ),
        (
            "cores: 4",
            "filesystems: {f: {targets: {ost: {names: [a, a]}}}}",
            "4:46: target 'a' is written twice\nhint: keep one",
        ),
        (
            "cores: 4",
            'filesystems: {f: {path: "/f/{ost}", targets: {ost: {count: 3}}}}',
            "4:25: '{ost}': the targets of class ost of file system f have no names\nhint: targets: {ost: [ost0, ost1]}",
        ),
        (
            "cores: 4",
            "filesystems: {f: {targets: {ost: {count: 3}}}}\nbudgets: {f/ost: 2 per target}",
            "5:11: budgets.f/ost: the targets of class 'ost' of file system f have no names\n"
            "hint: filesystems: {f: {targets: {ost: [ost0, ost1]}}}",
        ),
        (
            "cores: 4",
            "assumed: {node_types.t.clok: because}",
            "4:11: assumed: there is no key 'node_types.t.clok' in this file\nhint: there are: cores",
        ),
        (
            "cores: 4, clock: 1 GHz",
            "assumed: {node_types.t.clok: because}",
            "4:11: assumed: there is no key 'node_types.t.clok' in this file\nhint: did you mean 'clock'?",
        ),
        (
            "cores: 4",
            "published: [{what: nodes, value: 1,728, from: nodes}]",
            "4:36: unknown key '728' in published\nhint: known here: what, value, from, source, because",
        ),
        (
            "cores: 4",
            'published: [{what: nodes, value: "about 8", from: nodes}]',
            "4:34: published.value: 'about 8' is no number as it is printed\nhint: write it as 41.5 PFLOP/s, > 217 TB or 153216",
        ),
        (
            "cores: 4",
            "published: [{what: nodes, value: 8}]",
            "4:13: 'from' is missing in published\nhint: from: what the file makes of it",
        ),
        (
            "cores: 4",
            "published: [{what: nodes, value: 8, from: nodse}]",
            "4:43: published: unknown name 'nodse', or the file does not say it\nhint: did you mean 'nodes'?",
        ),
        (
            "cores: 4",
            "published: [{what: nodes, value: 8 GB, from: nodes}]",
            "4:46: published: '8 GB' and 'nodes', which is in number, do not measure the same thing",
        ),
        (
            "cores: 4",
            'published: [{what: nodes, value: 8, from: "t.clock + nodes"}]',
            "4:43: published: unknown name 't.clock', or the file does not say it",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_place(site: Any, here: Any, node: str, rest: str, told: str) -> None:
    from shakedown.cli.check import _faults

    site.write("systems/m.yaml", typed(node, rest))
    problems = check_site(site.path, lambda: here, faults=_faults).problems
    assert any(told in str(problem).replace(f"{site.path.name}/", "") for problem in problems), [*map(str, problems)]


def test_what_does_not_add_up_is_no_fault_of_the_file(site: Any, here: Any) -> None:
    from shakedown.cli.check import _faults

    site.write("systems/m.yaml", typed(rest="published: [{what: nodes, value: 9, from: nodes}]\n"))
    assert check_site(site.path, lambda: here, faults=_faults).problems == ()


def test_published_numbers_and_assumptions_are_no_part_of_the_system(site: Any) -> None:
    rest = 'published:\n  - {what: nodes, value: "8", from: nodes, source: a, because: b}\nassumed: {node_types.t.cores: c}\n'
    site.write("systems/m.yaml", typed(rest=rest))
    machine = read_site(site.path).machines["m"]
    assert machine.published == (Published("nodes", "8", "nodes", "a", "b", 5, 37),)
    assert machine.assumed == (("node_types.t.cores", "c"),)
    assert machine.system == read_system(site.write("systems/m.yaml", typed()))


def test_names_with_dots_can_be_called_assumed(site: Any) -> None:
    text = typed(
        rest="filesystems: {v2.1: {targets: {ost: {count: 3}}}}\nassumed: {filesystems.v2.1.targets.ost.count: so}\n"
    )
    site.write("systems/m.yaml", text)
    assert read_site(site.path).problems.found == []


# ---- the package's systems --------------------------------------------------------------------------------------------


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A catalogue with two systems, and a file that is none."""
    folder = tmp_path / "shipped"
    folder.mkdir()
    for name in ("q1", "q2"):
        (folder / f"{name}.yaml").write_text(MACHINE.format(name=name))
    (folder / "README").write_text("not a system")
    monkeypatch.setattr(finding, "CATALOGUE_SYSTEMS", str(folder))
    return folder


def machine_file(reading: Site, name: str, here: Any) -> str:
    return reading.machine(name, lambda: here).file


def test_the_package_has_systems_that_a_site_has_not(site: Any, here: Any, shipped: Path) -> None:
    reading = read_site(site.path)
    assert reading.systems == ()
    assert machine_file(reading, "q1", here) == "catalogue:systems/q1.yaml"
    assert [
        case.id for case in list_cases(site.test("test: a\nrun: {command: x}\n").path, "q1", lambda: here).cases
    ] == ["a"]


def test_a_system_of_the_site_goes_before(site: Any, here: Any, shipped: Path) -> None:
    site.write("systems/mine.yaml", MACHINE.format(name="q1"))
    reading = read_site(site.path)
    assert machine_file(reading, "q1", here) == "systems/mine.yaml"
    assert machine_file(reading, "q2", here) == "catalogue:systems/q2.yaml"


def test_a_broken_system_of_the_site_is_not_replaced_in_silence(site: Any, here: Any, shipped: Path) -> None:
    site.write("systems/q1.yaml", "system: q1\n")
    site.write("plans/p.yaml", "plan: p\nsystem: q1\ncomponents: []\n")
    reading = read_site(site.path)
    assert reading.machines == {}
    with pytest.raises(UsageError, match="there is no system 'q1'"):
        reading.machine("q1", lambda: here)


def test_a_plan_runs_on_a_system_of_the_package(site: Any, here: Any, shipped: Path) -> None:
    """Its tests may name what only that system has, in every listing of the site."""
    site.test("test: a\nrun: {command: x, nodes: {default: 1, q1: 2}}\nloads: {fs/mdt: 1}\n")
    with pytest.raises(UsageError, match="there is no system 'q1'"):
        list_cases(site.path, "here", lambda: here)
    document = site.plan("plan: p\nsystem: q1\ncomponents: [{functionality: {tests: [a]}}]\n")
    assert (document.system.name, document.cases[0].shape.nodes) == ("q1", 2)
    assert "catalogue:systems/q1.yaml" in {source.path for source in document.sources}
    assert [case.id for case in list_cases(site.path, "here", lambda: here).cases] == ["a"]
    checked = check_site(site.path, lambda: here)
    assert (checked.problems, checked.systems) == ((), 1)


@pytest.mark.parametrize(
    "plan", ["plan: p\nsystem: q1\n", '{"plan": "p", "system": "q1"}', "plan: p\nsystem:   'q1'  # ours\n"]
)
def test_a_plan_names_its_system_in_any_way_that_yaml_has(site: Any, shipped: Path, plan: str) -> None:
    site.write("plans/p.yaml", plan)
    assert set(read_site(site.path).machines) == {"q1"}


def test_an_unknown_system_is_told_of_those_of_the_package(site: Any, here: Any, shipped: Path) -> None:
    reading = read_site(site.path)
    with pytest.raises(UsageError) as caught:
        reading.machine("w", lambda: here)
    assert caught.value.hint == "there are: here; 'shakedown list systems' has those of the package too"
    with pytest.raises(UsageError) as caught:
        reading.machine("q11", lambda: here)
    assert caught.value.hint == "did you mean 'q1'?"
