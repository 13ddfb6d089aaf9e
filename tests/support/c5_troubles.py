"""Troubles planted into the acceptance of ``examples/c5``, alone and together: what each does to its runs, plan or machine."""

from __future__ import annotations

import atexit
import csv
import io
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from tempfile import mkdtemp

import msgspec
from c5_in_virtual_time import C5, Plant, document, play, slower
from campaigns_scripted import Asked, Part, Played

from shakedown.metrics.judging.criteria import score
from shakedown.metrics.judging.scorecard import Scorecard
from shakedown.metrics.rows.table import Record, fold_runs
from shakedown.model.judging import Criterion
from shakedown.model.nouns import Document
from shakedown.report.evidence import Evidence, find_evidence
from shakedown.report.figures.registry import draw_all
from shakedown.report.page.page import render_page
from shakedown.report.reading import read_campaign
from shakedown.report.tables.tables import make_tables

DAYS = 2.2  # of the stability test: about 400 runs in all
HALF_S = 2.0 * 86400  # after the start: about half way
WRONG = (11, 37, 60)  # runs of SHIELD in the stability test
DOUBLED = 20  # the run of CM4 there
ENOUGH = 30  # runs of UFS that are asked for; it has about ten
LOST_ROW = '  - [cm4, {pe: intel-oneapi, f2: shared}, runtime, "<= 4000 s", vendor, "report p. 7", "", "", ""]\n'
NODES = [f"emu{number:02d}" for number in range(1, 17)]
FACTS = {"kernel": "5.14.21", "library.libfabric": "1.15.0", "firmware.nic": "16.32"}
NAMES = ("wrong", "slow in fill", "doubled", "library", "lost row", "few")


@dataclass
class Outcome:
    """A campaign, what it came to, and where it lies on disk."""

    campaign: Played
    document: Document
    record: Record
    card: Scorecard
    root: Path
    painted: bool  # whether the figures are: most of a page's time, and no test here reads them

    @cached_property
    def page(self) -> str:
        """The report's page as text."""
        pictures = draw_all(self.root, self.evidence)
        if not self.painted:
            for drawing in pictures.all:
                drawing.__dict__["inline"] = ""
        return render_page(read_campaign(self.root), self.evidence, pictures).decode()

    @cached_property
    def evidence(self) -> Evidence:
        read = read_campaign(self.root)
        return find_evidence(read.document, read.record, self.card)

    def table(self, name: str) -> list[dict[str, str]]:
        """One of the report's tables, a map a line."""
        return list(csv.DictReader(io.StringIO(self._tables[f"{name}.csv"].decode("utf-8-sig"))))

    @cached_property
    def _tables(self) -> dict[str, bytes]:
        return make_tables(self.evidence, [])


@cache
def planted(*names: str) -> Outcome:
    """The campaign with these troubles; each is played once a session. The figures of that with all of them are painted."""
    site = Path(mkdtemp(prefix="shakedown-planted-"))
    atexit.register(shutil.rmtree, site, ignore_errors=True)
    plants = tuple(plant for name, plant in _RUNS.items() if name in names)
    plan = _with_lost_row(site / "c5") if "lost row" in names else document()
    change = _with_few if "few" in names else _as_it_is
    machines = ((0.0, _machine("1.15.0")), (HALF_S, _machine("1.15.3"))) if "library" in names else ()
    campaign = play(site / "c5-phase2-1", DAYS, plants, change, plan=plan, machines=machines)
    record = fold_runs(campaign.log.events())
    card = score(campaign.document, record)
    return Outcome(campaign, campaign.document, record, card, campaign.save(), set(names) == set(NAMES))


# ---- what is planted ---------------------------------------------------------------------------------------------------------


def _wrong(asked: Asked, part: Part) -> Part:
    mine = asked.component == "stability" and asked.test == "shield" and asked.number in WRONG
    return replace(part, wrong=True) if mine else part


def _slow(asked: Asked, part: Part) -> Part:
    return slower(part, 1.12) if asked.mode == "fill" and asked.test == "spear" else part


def _doubled(asked: Asked, part: Part) -> Part:
    mine = asked.component == "stability" and asked.test == "cm4" and asked.number == DOUBLED
    return slower(part, 2.0) if mine else part


_RUNS: dict[str, Plant] = {"wrong": _wrong, "slow in fill": _slow, "doubled": _doubled}


def _machine(changed: str) -> dict[str, dict[str, str]]:
    """All nodes alike, but for a library on one of them."""
    return {node: FACTS | ({"library.libfabric": changed} if node == "emu07" else {}) for node in NODES}


def _with_lost_row(site: Path) -> Document:
    """The plan with a row in its contract that no case matches."""
    shutil.copytree(C5, site, ignore=shutil.ignore_patterns("campaigns", "register.jsonl"))
    with (site / "contracts/c5-phase2.yaml").open("a") as file:
        file.write(LOST_ROW)
    return document(site)


_as_it_is: Callable[[Document], Document] = lambda plan: plan  # noqa: E731


def _with_few(plan: Document) -> Document:
    """The plan with a criterion that asks for more runs of UFS than the mix gives."""
    fields = {"unit": "%", "of": "runtime", "test": "ufs", "enough": ENOUGH, "must": "<= 2%"}
    steady = Criterion("variation-ufs", "sd / mean", "<=", 0.02, **fields)  # type: ignore[arg-type]
    parts = tuple(
        msgspec.structs.replace(part, criteria=(*part.criteria, steady)) if part.name == "stability" else part
        for part in plan.components
    )
    return msgspec.structs.replace(plan, components=parts)
