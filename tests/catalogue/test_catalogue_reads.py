"""The catalogue and the example site through the reader itself: no fault, and cases that fit machines of every size."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from shakedown import catalogue
from shakedown.machine import this_system
from shakedown.machine.here import local_system
from shakedown.machine.software import search_here
from shakedown.model.nouns import Case, Document, NodeType, System, Toolchain
from shakedown.plans import list_cases, read_plan, read_site

CATALOGUE = Path(catalogue.__file__).parent / "tests"
PAGE = Path(__file__).parents[2] / "docs/guides/catalogue.md"
EXAMPLE = Path(__file__).parents[2] / "examples" / "laptop"
GCC = Toolchain("gcc", cc="gcc", cxx="g++", fc="gfortran")


def machine(cores: int) -> System:
    """A machine of any size."""
    return local_system("here", "somewhere", NodeType("host", cores=cores), "", (GCC,), ())


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site with nothing of its own."""
    (tmp_path / "site.yaml").write_text("site: empty\n")
    return tmp_path


def cases_on(site: Path, cores: int) -> list[Case]:
    document = read_plan(site, "all", lambda: machine(cores))
    return list(document.cases)


@pytest.fixture
def everything(site: Path) -> Path:
    """A plan of all that the catalogue has."""
    (site / "plans").mkdir()
    (site / "plans" / "all.yaml").write_text(
        "plan: all\nsystem: here\ncomponents:\n  - site: {tests: ['tag:kernel', 'tag:application', 'tag:program', 'tag:machine',"
        " 'tag:nodes', 'tag:survey']}\n"
    )
    return site


def test_nothing_is_wrong_with_the_catalogue(site: Path) -> None:
    assert read_site(site).found_problems() == []


def test_nothing_is_wrong_with_the_example() -> None:
    assert read_site(EXAMPLE).found_problems() == []


@pytest.mark.parametrize("tag", ["kernel", "network", "memory", "io", "machine"])
def test_no_plan_of_a_single_node_asks_for_a_test_between_nodes_by_a_tag(site: Path, tag: str) -> None:
    (site / "plans").mkdir()
    (site / "plans" / "all.yaml").write_text(
        f"plan: all\nsystem: here\ncomponents: [{{site: {{tests: ['tag:{tag}']}}}}]\n"
    )
    assert [case.id for case in cases_on(site, 16) if " nodes and partition " in case.unavailable] == []


def test_every_test_of_the_catalogue_has_cases(everything: Path) -> None:
    cases = cases_on(everything, 2)
    concrete = {path.stem for path in CATALOGUE.glob("*.yaml") if "\nabstract: true\n" not in path.read_text()}
    assert {case.test for case in cases} == concrete
    assert len(cases) <= 100  # a catalogue is to choose from, and each of its cases is read with every plan


@pytest.mark.parametrize("cores", [2, 16, 128])
def test_every_kernel_fits_a_machine_with_two_cores_and_more(everything: Path, cores: int) -> None:
    for case in cases_on(everything, cores):
        if case.test.startswith(("gpcnet", "congestion", "network-distance", "nodecheck", "loader-sbcast")):
            continue  # it measures between nodes
        if case.test in ("survey-congestion", "survey-nodecheck"):
            continue
        assert "it takes" not in case.unavailable, case.id
        assert case.shape.tasks_per_node * case.shape.cpus_per_task <= cores, case.id


def test_on_a_single_core_only_what_needs_a_partner_is_left_out_and_says_so(everything: Path) -> None:
    too_large = {case.test: case.unavailable for case in cases_on(everything, 1) if "it takes" in case.unavailable}
    between = {name for name in too_large if name.startswith(("osu-", "imb-", "gpcnet-"))} | {
        "congestion",
        "gpu-pairs",
        "loader-sbcast",
        "mpigraph",
        "mpimem",
        "network-distance",
        "nodecheck",
        "pairs",
        "pt2pt",
        "survey-congestion",
        "survey-nodecheck",
        "survey-pairs",
    }
    assert len(between) == 22
    assert set(too_large) == between
    assert "it takes 2 cores of a node" in too_large["pairs"]
    assert [case.id for case in cases_on(everything, 1) if case.test == "stream"] == ["stream/threads=1"]


def test_all_cores_stream_and_each_is_looked_at_for_noise(everything: Path) -> None:
    cases = {case.id: case for case in cases_on(everything, 16)}
    assert {"stream/threads=1", "stream/threads=16"} <= set(cases)
    assert cases["noise/samples=3000"].shape.ranks == 16


def test_the_tests_that_the_page_extends_are_read_without_a_fault(site: Path) -> None:
    written = re.findall(r"^```yaml\n# (tests/\S+)\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(written) == 6
    (site / "tests/inputs").mkdir(parents=True)
    (site / "tests/inputs/bench.tpr").touch()
    for name, text in written:
        (site / name).write_text(text)
    assert read_site(site).found_problems() == []


# ---- examples/laptop -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def laptop() -> Document:
    return read_plan(EXAMPLE, "laptop", lambda: replace(machine(2), found=this_system().found))


def test_the_example_shows_each_kind_of_component(laptop: Document) -> None:
    assert [component.kind for component in laptop.components] == ["functionality", "performance", "site", "stability"]
    assert [component.after for component in laptop.components] == [
        (),
        ("functionality",),
        ("performance",),
        ("performance",),
    ]


def test_its_own_tests_run_beside_those_of_the_catalogue(laptop: Document) -> None:
    cases = {name for component in laptop.components[:2] for name in component.cases}
    assert {"hello", "compress", "primes/limit=1000000", "primes/limit=10000000", "stream/threads=2"} <= cases
    assert {"pairs/size=1MiB", "noise/samples=3000", "io/transfer=1MiB"} <= cases


def test_programs_that_are_not_here_stay_in_sight(laptop: Document) -> None:
    applications = {case.id: case for case in laptop.cases if case.id in laptop.components[2].cases}
    assert len(applications) == 4
    for case in applications.values():
        program = {"hpcc": "hpcc", "lammps-reaxff": "lmp_reaxff"}.get(case.test, "lmp")
        assert search_here(program) or f"{program} " in case.unavailable
    hpcc = applications["hpcc/n=2000"]
    assert search_here("hpcc") or hpcc.unavailable.endswith("apt-get install hpcc")


def test_no_criterion_depends_on_how_fast_the_machine_is(laptop: Document) -> None:
    for component in laptop.components:
        for criterion in component.criteria:
            assert criterion.measure != "value" or (criterion.comparison, criterion.bound) == (">", 0.0)


def test_the_example_lists_without_a_fault() -> None:
    listing = list_cases(EXAMPLE, None, lambda: machine(2))
    assert "primes/limit=1000000" in str(listing)
