"""The one reader of entry points: what packages declare, and what is said of packages that are broken."""

from __future__ import annotations

import importlib.metadata
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from shakedown.metrics.judging.measures import measure
from shakedown.metrics.judging.populations import Population
from shakedown.metrics.judging.scope import MeasureContext
from shakedown.model import dialects as scheduler_dialects
from shakedown.model import measures as measure_declarations
from shakedown.model.dialects import DIALECTS, Dialect, call, dialects
from shakedown.model.entry_points import declared_by, declared_in_packages, forget_packages
from shakedown.model.errors import UsageError
from shakedown.model.judging import Criterion
from shakedown.model.measures import MEASURES, Measure, measures
from shakedown.model.scores import ScoreKind, score_kinds
from shakedown.report.figures import registry
from shakedown.report.figures.declaration import ReportFigure

GROUPS = {
    "shakedown.measures": Measure,
    "shakedown.schedulers": Dialect,
    "shakedown.figures": ReportFigure,
    "shakedown.scores": ScoreKind,
}
READERS: dict[str, Any] = {
    "shakedown.measures": measures,
    "shakedown.schedulers": dialects,
    "shakedown.figures": registry.declared_figures,
    "shakedown.scores": score_kinds,
}
IN_THE_WAY = {
    "shakedown.measures": "from shakedown.model.measures import MEASURES\nPART = MEASURES[0]",
    "shakedown.schedulers": "from shakedown.model.dialects import DIALECTS\nPART = DIALECTS[1]",
    "shakedown.figures": "from shakedown.report.figures.registry import _ours\nPART = _ours()[0]",
    "shakedown.scores": "from shakedown.model.scores import KINDS\nPART = KINDS[0]",
}
IRON = "from shakedown.model.dialects import Dialect\nPART = Dialect('iron', 'Iron', 'x:y')"
numbers = itertools.count()


class Packages:
    """Installed packages, as Python sees them: a module and its entry points in a directory of their own."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        monkeypatch.syspath_prepend(str(root))

    def install(self, group: str, text: str, package: str = "iron-parts") -> str:
        """The name of the module."""
        module = f"iron_{next(numbers)}"
        (self.root / f"{module}.py").write_text(text + "\n")
        about = self.root / f"{module}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(f"[{group}]\npart = {module}:PART\n")
        return module


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Packages]:
    forget()
    yield Packages(tmp_path, monkeypatch)
    forget()


def forget() -> None:
    for reader in READERS.values():
        reader.cache_clear()
    forget_packages()


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("raise RuntimeError('broken\\non purpose')", "cannot be loaded: RuntimeError: broken on purpose"),
        ("import nothing_of_the_kind", "cannot be loaded: ModuleNotFoundError: No module named 'nothing_of_the_kind'"),
        ("PART = (", "cannot be loaded: SyntaxError:"),
        ("OTHER = 7", "cannot be loaded: AttributeError:"),
        ("raise SystemExit(7)", "cannot be loaded: SystemExit: 7"),
        ("PART = 7", "is no "),
    ],
)
def test_a_broken_package_is_named_with_the_way_out(group: str, text: str, said: str, packages: Packages) -> None:
    packages.install(group, text)
    with pytest.raises(UsageError) as caught:
        READERS[group]()
    assert said in caught.value.message and "the package iron-parts" in caught.value.message
    assert "\n" not in caught.value.message
    assert "pip uninstall iron-parts" in (caught.value.hint or "")


@pytest.mark.parametrize("group", GROUPS)
def test_a_name_that_is_taken_is_refused(group: str, packages: Packages) -> None:
    packages.install(group, IN_THE_WAY[group])
    with pytest.raises(UsageError, match=r"the package iron-parts declares .* which is there already"):
        READERS[group]()


def test_packages_are_read_once_for_all_groups_and_again_where_the_places_are_others(
    packages: Packages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    really = importlib.metadata.entry_points

    def counted() -> Any:
        read.append(1)
        return really()

    monkeypatch.setattr(importlib.metadata, "entry_points", counted)
    for reader in READERS.values():
        reader()
    assert len(read) == 1
    (tmp_path / "elsewhere").mkdir()
    Packages(tmp_path / "elsewhere", monkeypatch).install("shakedown.schedulers", IRON)
    assert "iron" in declared_in_packages("shakedown.schedulers", Dialect, "scheduler")
    assert len(read) == 2


def test_two_packages_with_the_same_name_are_refused(packages: Packages) -> None:
    for package in ("iron-parts", "iron-spares"):
        packages.install("shakedown.schedulers", IRON, package)
    with pytest.raises(UsageError, match="the package iron-spares declares the scheduler 'iron'"):
        dialects()


def test_what_a_package_declares_stands_behind_our_own_and_is_known_as_its(packages: Packages) -> None:
    packages.install("shakedown.schedulers", IRON)
    assert list(dialects()) == [*(one.name for one in DIALECTS), "iron"]
    assert declared_by("shakedown.schedulers", "iron") == "the package iron-parts"
    assert declared_by("shakedown.schedulers", "slurm") == "" and declared_by("shakedown.measures", "iron") == ""


def test_without_packages_there_are_only_our_own(packages: Packages) -> None:
    assert tuple(dialects().values()) == DIALECTS and tuple(measures().values()) == MEASURES
    assert declared_in_packages("shakedown.nothing", Dialect, "thing") == {}


def test_a_figure_in_a_section_that_is_not_there_is_refused(packages: Packages) -> None:
    packages.install(
        "shakedown.figures",
        "from shakedown.report.figures.declaration import ReportFigure\nPART = ReportFigure('x', 'cellar', print)",
    )
    with pytest.raises(UsageError, match="the figure of a report 'x' of the package iron-parts stands in the section"):
        registry.declared_figures()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "AttributeError: module .* has no attribute 'open_it'"),
        ("def open_it(): raise OSError('no licence')", "OSError: no licence"),
        ("def open_it(more): pass", "TypeError: .*open_it"),
    ],
)
def test_a_scheduler_whose_function_fails_is_an_error_of_its_package(text: str, said: str, packages: Packages) -> None:
    module = f"iron_{next(numbers)}"
    (packages.root / f"{module}.py").write_text(text)
    packages.install(
        "shakedown.schedulers",
        f"from shakedown.model.dialects import Dialect\nPART = Dialect('iron', 'Iron', '{module}:open_it')",
    )
    with pytest.raises(UsageError, match=f"the scheduler 'iron' of the package iron-parts failed in {module}.*{said}"):
        call(dialects()["iron"], "open")


def test_a_fault_of_our_own_is_no_fault_of_a_package(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Dialect("ours", "broken on purpose", "os:nothing")
    monkeypatch.setattr(scheduler_dialects, "DIALECTS", (broken,))
    with pytest.raises(AttributeError):
        call(broken, "open")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("raise ValueError('no rows')", "failed: ValueError: no rows"),
        ("return 7", "gave int instead of Measured"),
    ],
)
def test_a_measure_that_fails_has_no_value_and_says_whose_fault_it_is(text: str, said: str, packages: Packages) -> None:
    module = f"iron_{next(numbers)}"
    (packages.root / f"{module}.py").write_text(f"def share(criterion, population, around):\n    {text}\n")
    packages.install(
        measure_declarations.GROUP,
        "from shakedown.model.measures import Measure\n"
        f"PART = Measure('iron share', 'of what', '{module}:share', 'none', without_cases=True)",
    )
    criterion = Criterion("first", "iron share", ">=", 0.9)
    found = measure(criterion, Population((), ()), cast("MeasureContext", None))
    assert (found.value, found.count) == (None, 0)
    assert found.reason == f"the measure 'iron share' of the package iron-parts {said}"
