"""Clusters for the tests of this directory, and the rules they run under: see README.md."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from slurm_cluster import Cluster, why_not
from slurm_pool import KINDS, NEWER, PREFIX, SHARED, Pool, groups
from slurm_releases import NEWER as NEWER_RELEASES
from slurm_releases import asked_for, search_path
from slurm_warden import remove, start_warden

HERE = Path(__file__).resolve().parent
POOL = Pool()
FIRST_ATTEMPT = "first attempt"
CONFIGURATIONS = ("accounting", "plain", "forgetful")


def pytest_configure() -> None:
    try:
        asked_for()
    except ValueError as error:
        raise pytest.UsageError(str(error)) from None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that is marked runs on each release, unless one was asked for."""
    if metafunc.definition.get_closest_marker("newer_slurm") and not asked_for():
        releases = ("", *NEWER_RELEASES)
        metafunc.parametrize("slurm_release", releases, ids=[one or "own" for one in releases], indirect=True)


@pytest.fixture
def slurm_release(request: pytest.FixtureRequest) -> str:
    """The release of Slurm that the test runs on; "" is the machine's own. Skips, with the reason, where it cannot run."""
    release = str(getattr(request, "param", asked_for()))
    if reason := why_not(release):
        pytest.skip(reason)
    return release


@pytest.fixture(scope="session")
def slurm_here() -> None:
    """Skips, with the reason, where no emulated Slurm can run."""
    if reason := why_not():
        pytest.skip(reason)


@pytest.fixture
def short_directory() -> Iterator[Path]:
    """For a cluster of the test's own (sockets want short paths); it is taken down at the end whatever the test did."""
    directory = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir="/tmp"))
    warden = start_warden(directory)
    yield directory
    remove(directory, warden.pid)
    warden.kill()
    warden.wait()


def _lend(kind: str, release: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    cluster = POOL.lend(kind, release)
    point_at(cluster, monkeypatch)
    yield cluster
    POOL.give_back()


def point_at(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", search_path(cluster.release, os.environ["PATH"]))
    monkeypatch.setenv("SLURM_CONF", str(cluster.slurm_conf))


@pytest.fixture
def accounting_cluster(slurm_release: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """16 nodes with slurmdbd."""
    yield from _lend("accounting", slurm_release, monkeypatch)


@pytest.fixture
def plain_cluster(slurm_release: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """8 nodes without accounting."""
    yield from _lend("plain", slurm_release, monkeypatch)


@pytest.fixture
def forgetful_cluster(slurm_release: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """8 nodes; finished jobs leave memory after 2 s, accounting stores no comments."""
    yield from _lend("forgetful", slurm_release, monkeypatch)


@pytest.fixture
def limited_cluster(slurm_release: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """4 nodes; 20 jobs of a user at most are accepted (MaxSubmitJobs of the association, enforced)."""
    yield from _lend("limited", slurm_release, monkeypatch)


@pytest.fixture
def gpu_cluster(slurm_release: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """2 nodes with four GPUs each, without accounting. There are no devices: Slurm counts them, and says which ones a job has."""
    yield from _lend("gpu", slurm_release, monkeypatch)


@pytest.fixture
def fault_cluster(slurm_release: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """8 nodes with slurmdbd; a silent node is down after 10 s."""
    yield from _lend("fault_accounting", slurm_release, monkeypatch)


@pytest.fixture(params=CONFIGURATIONS)
def any_cluster(
    request: pytest.FixtureRequest, slurm_release: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Cluster]:
    """The test runs three times: on each configuration."""
    yield from _lend(request.param, slurm_release, monkeypatch)


@pytest.fixture(params=CONFIGURATIONS)
def any_fault_cluster(
    request: pytest.FixtureRequest, slurm_release: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Cluster]:
    """The test runs three times: on each configuration, where a silent node is down after 10 s."""
    yield from _lend(f"fault_{request.param}", slurm_release, monkeypatch)


@pytest.fixture
def two_clusters(slurm_release: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Cluster, Cluster]]:
    """16 and 8 nodes that share slurmdbd and name each other (``-M``)."""
    clusters = (POOL.lend("accounting", slurm_release), POOL.lend("fault_accounting", slurm_release))
    point_at(clusters[0], monkeypatch)
    yield clusters
    for POOL.current in clusters:
        POOL.give_back()


def kind_of(item: pytest.Item) -> str:
    """Which cluster the test uses; empty when none."""
    names = getattr(item, "fixturenames", ())
    parameters: dict[str, Any] = getattr(getattr(item, "callspec", None), "params", {})
    if "any_cluster" in names:
        return str(parameters["any_cluster"])
    if "any_fault_cluster" in names:
        return f"fault_{parameters['any_fault_cluster']}"
    if "fault_cluster" in names or "two_clusters" in names:
        return "fault_accounting"
    return next((kind for kind in KINDS if f"{kind}_cluster" in names), "")


def group_kind(item: pytest.Item) -> str:
    """The kind of cluster, with a word before it for a release that is not that of most tests."""
    parameters: dict[str, Any] = getattr(getattr(item, "callspec", None), "params", {})
    newer = parameters.get("slurm_release", "") and kind_of(item)
    return f"{NEWER}{kind_of(item)}" if newer else kind_of(item)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test here is marked, and tests of one group run one after another on one cluster: few daemons live at a time."""
    order = list(SHARED)
    mine = [number for number, item in enumerate(items) if item.path.is_relative_to(HERE)]
    here = [items[number] for number in mine]
    grouped = zip(groups([group_kind(item) for item in here]), here, strict=True)
    in_order = sorted(grouped, key=lambda pair: (order.index(kind_of(pair[1])), pair[0]))
    for number, (group, item) in zip(mine, in_order, strict=True):
        item.add_marker(pytest.mark.slurm)
        item.add_marker(pytest.mark.xdist_group(group))
        items[number] = item


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """A failed test is repeated once on fresh clusters: Slurm's own daemons misbehave on a busy machine. Both are told."""
    if not item.path.is_relative_to(HERE) or not kind_of(item):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, log=False, nextitem=nextitem)
    if failed := [report for report in reports if report.failed]:
        POOL.renew()
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
        for report in reports:
            if report.when == "call" or report.failed:
                report.user_properties.append((FIRST_ATTEMPT, whole_text(failed[0])))
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def whole_text(report: pytest.TestReport) -> str:
    """A failure with all that was captured, as it would have been printed."""
    return "\n".join((report.longreprtext, *(f"--- {title}\n{text}" for title, text in report.sections)))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """The report of a failure shows what Slurm saw."""
    report = yield
    if report.failed and POOL.current and kind_of(item):
        report.sections.append((f"Slurm cluster {POOL.current.name}", POOL.current.story()))
    return report


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Never in silence: what passed only at its second attempt, and what had to be put right between tests."""
    stats: dict[str, list[Any]] = terminalreporter.stats
    seen = [r for outcome in ("passed", "failed", "error", "skipped") for r in stats.get(outcome, [])]
    for report in seen:
        for name, text in getattr(report, "user_properties", ()):
            if name == FIRST_ATTEMPT:
                how = "PASSED ONLY AT ITS SECOND ATTEMPT" if report.passed else "FAILED AT BOTH ATTEMPTS"
                terminalreporter.section(f"{how}: {report.nodeid}", sep="!", red=True, bold=True)
                terminalreporter.line("The first attempt's failure:")
                terminalreporter.line(text)
    if POOL.notes:
        terminalreporter.section("Slurm clusters between tests")
        for note in POOL.notes:
            terminalreporter.line(note)


def pytest_unconfigure() -> None:
    POOL.close()
