"""Campaign directories as the conductor would leave them: a plan, a log, packs with outputs."""

from __future__ import annotations

import functools
import math
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from acceptance_story import story_document, tell
from once import made_once

from shakedown.events.lines import encode_event
from shakedown.events.segments import first_header
from shakedown.model.events import Event
from shakedown.model.frozen import digest, freeze
from shakedown.model.judging import Criterion
from shakedown.model.layout import Layout
from shakedown.model.nouns import (
    Build,
    Case,
    Cluster,
    Component,
    Document,
    FigureSpec,
    FileSystem,
    NodeType,
    Partition,
    Source,
    System,
    Test,
    Toolchain,
)
from shakedown.report import write_report
from shakedown.report.figures.registry import declared_figures
from shakedown.report.writing import make_report

BEGIN = 1_793_700_000.0  # a Tuesday in November 2026


class CampaignBuilder:
    """Writes a campaign event by event; ``save`` puts it on disk. ``now`` is the driver's clock."""

    def __init__(self, root: Path, document: Document, name: str = "c5-0001") -> None:
        self.root, self.document, self.now = root, document, BEGIN
        self.frozen = freeze(document)
        self.events: list[Event] = []
        self.pack = bytearray()
        self.jobs = 0
        self.digest = digest(self.frozen)
        self.add("campaign_start", value={"document": self.digest, "campaign": name, "plan": document.plan, "seed": 7})
        self.add("driver_start", value={"epoch": 1, "driver": {"host": "login1", "user": "acceptance", "pid": 4711}})

    def add(self, event: str, after: float = 0.0, **fields: Any) -> int:
        self.now += after
        self.events.append(Event(event, seq=len(self.events) + 1, time=self.now, **fields))
        return len(self.events)

    def run(
        self, case: str, component: str, verdict: str = "passed", repeat: int = 1, attempt: int = 1, seconds: float = 1.0,
        output: str | bytes = "", reason: str = "", wait: float = 0.1, mode: str = "", **value: Any,
    ) -> str:  # fmt: skip
        """A run from its order to its verdict; the clock goes on by ``wait``, the run ends ``seconds`` later."""
        self.jobs += 1
        run, job = f"r{self.jobs:06d}", f"j{self.jobs:06d}"
        ids = {"component": component, "repeat": repeat, "attempt": attempt} | ({"mode": mode} if mode else {})
        self.add("submit_order", wait, run=run, job=job, case=case, value=ids | {"units": 1, "now": self.now, "at": 1})
        self.add("submit_accepted", job=job, value={"id": str(9000 + self.jobs)})
        facts = ids | {"verdict": verdict} | value
        if verdict not in ("build_failed", "submit_failed"):
            facts |= {"started": self.now, "ended": self.now + seconds, "elapsed_s": seconds, "nodes": "c5n0001"}
        if output:
            facts["output"] = self.keep(output)
        self.add("verdict", run=run, case=case, value=facts, reason=reason or "every check held")
        return run

    def keep(self, output: str | bytes) -> dict[str, Any]:
        """Pack an output; the pointer to it."""
        data = output.encode() if isinstance(output, str) else output
        pointer = {"pack": "000001.pack", "offset": len(self.pack), "bytes": len(data)}
        self.pack += data
        return pointer

    @staticmethod
    def record(kind: str, **fields: Any) -> str:
        return record_line(kind, **fields)

    def end(self) -> None:
        self.add("campaign_end", 5.0, value={"counts": {}})
        self.add("driver_stop")

    def save(self) -> Path:
        layout = Layout(self.root)
        for directory in (layout.log, layout.documents, layout.packs):
            directory.mkdir(parents=True, exist_ok=True)
        layout.document(self.digest).write_bytes(self.frozen)
        header = msgspec.json.encode(first_header(1)) + b"\n"
        (layout.log / "000001.jsonl").write_bytes(header + b"".join(map(encode_event, self.events)))
        (layout.packs / "000001.pack").write_bytes(bytes(self.pack))
        return self.root


def record_line(record: str, **fields: Any) -> str:
    return msgspec.json.encode({"record": record} | fields).decode() + "\n"


# ---- a small one -----------------------------------------------------------------------------------------------------


def small_document(**changes: Any) -> Document:
    """One test, one case, one component."""
    system = System(
        "box",
        (Cluster("local", "local", (Partition("all", "local", "localhost", 1, "host"),)),),
        (NodeType("host", cores=2),),
    )
    fields: dict[str, Any] = {
        "plan": "small",
        "system": system,
        "components": (Component("main", "functionality", ("hello",)),),
        "cases": (Case("hello", "hello", "local:all"),),
        "tests": (Test("hello"),),
    }
    return Document(**(fields | changes))


@pytest.fixture(scope="session")
def new_in() -> Callable[..., CampaignBuilder]:
    """Makes a small campaign in a directory, with these fields of its document changed; nothing has run in it yet."""
    return lambda root, **changes: CampaignBuilder(root, small_document(**changes), "small-0001")


@pytest.fixture
def new(tmp_path: Path, new_in: Callable[..., CampaignBuilder]) -> Callable[..., CampaignBuilder]:
    return functools.partial(new_in, tmp_path / "small-0001")


@pytest.fixture
def small(new: Callable[..., CampaignBuilder]) -> CampaignBuilder:
    return new()


# ---- a large one: what an acceptance of a real machine looks like ------------------------------------------------------

NODES = [f"c5n{number:04d}" for number in range(1, 49)]


def large_document() -> Document:
    return Document(
        plan="c5-phase2",
        about="Acceptance of the second phase: 1,920 nodes, functionality to stability.",
        system=_system(),
        components=_components(),
        cases=_cases(),
        tests=_tests(),
        builds=(
            Build("3b1f" * 16, "stream with gcc", "/site/src", "make"),
            Build("77ac" * 16, "cm4 with oneapi", "/site/src", "./build.sh"),
        ),
        seed=7,
        sources=tuple(Source(path, (f"{n:02d}ab" * 16)) for n, path in enumerate(("systems/c5.yaml", "tests/stream.yaml",
                      "tests/cm4.yaml", "plans/c5-phase2.yaml"))),
    )  # fmt: skip


def _system() -> System:
    return System(
        "c5",
        (Cluster("c5", "slurm", (Partition("batch", "c5", "c5n[0001-1920]", 1920, "rome"),)),),
        (NodeType("rome", 2, 128, 2, 8, 256 * 2.0**30, 5.3e12, "zen2", 512 * 2.0**20),),
        about="HPE Cray EX, two AMD EPYC 7H12 a node",
        network=(("kind", "dragonfly"), ("nics", "2"), ("injection", "12.5 GB/s")),
        filesystems=(FileSystem("f2", "lustre", "/lustre/f2/{mdt}/acceptance", (("mdt", ("mdt0", "mdt1", "mdt2")),)),),
        toolchains=(
            Toolchain("classic", ("PrgEnv-intel", "intel-classic/2022.2.1"), "cc", "CC", "ftn"),
            Toolchain("oneapi", ("PrgEnv-intel", "intel-oneapi/2022.2.1"), "cc", "CC", "ftn"),
        ),
        found=(
            ("kernel", "5.14.21"),
            ("operating system", "SLES 15 SP4"),
            ("slurm", "22.05.8"),
            ("huge pages", "madvise"),
        ),
    )


def _cases() -> tuple[Case, ...]:
    stream = [Case(f"stream/threads={n}", "stream", "c5:batch", "classic", build="3b1f" * 16) for n in (1, 16, 128)]
    cm4 = [
        Case("cm4/toolchain=classic", "cm4", "c5:batch", "classic"),
        Case("cm4/toolchain=oneapi", "cm4", "c5:batch", "oneapi", build="77ac" * 16, expect="build_failed",
             because="it needs language features of newer standards"),
    ]  # fmt: skip
    lost = "needs the program 'hpcc', which is not on this system; get it with: apt-get install hpcc"
    plain = [Case(name, name, "c5:batch") for name in ("hello", "pairs", "noise", "io", "minisweep")]
    return (*plain, *stream, *cm4, Case("hpcc", "hpcc", "c5:batch", unavailable=lost))


def _tests() -> tuple[Test, ...]:
    triad = FigureSpec("triad", "GB/s", "higher", json="triad.gb_s")
    return (
        Test("hello", "ranks, hosts, cores bound"),
        Test("stream", "memory bandwidth", figures=(triad,)),
        Test(
            "pairs",
            "all-pairs bandwidth",
            figures=(FigureSpec("median", "MB/s", "higher", json="m"),),
            draws=("matrix",),
        ),
        Test("noise", "operating system noise", draws=("histogram",)),
        Test("io", "file system", figures=(FigureSpec("write", "MB/s", "higher", json="w"),), draws=("io",)),
        Test("minisweep", "radiation transport"),
        Test("cm4", "coupled model", figures=(FigureSpec("sypd", "years/day", "higher", regex="(?P<value>x)"),)),
        Test("hpcc", "the HPC challenge"),
    )


def _components() -> tuple[Component, ...]:
    return (
        Component("functionality", "functionality", ("hello", "hpcc", "cm4/toolchain=oneapi"), 3, criteria=(
            Criterion("done", "passed / wanted", "=", 1.0, unit="%", must="= 100%"),)),
        Component("performance", "performance", ("stream/threads=1", "stream/threads=16", "stream/threads=128", "pairs",
                                                 "noise", "io"), 12, criteria=(
            Criterion("correct", "correct / completed", "=", 1.0, unit="%", must="= 100%"),
            Criterion("triad", "value", ">=", 330.0, "GB/s", of="triad", test="stream", per="", statistic="max",
                      enough=3, must=">= 330 GB/s"),
            Criterion("steady", "sd / mean", "<=", 0.05, "%", of="elapsed", test="stream", per="case", enough=10,
                      must="<= 5%"),)),
        Component("stability", "stability", ("cm4/toolchain=classic", "minisweep"), 100, after=("performance",), criteria=(
            Criterion("correct", "correct / completed", "=", 1.0, unit="%", must="= 100%"),
            Criterion("completed", "passed / attempts", ">=", 0.95, "%", enough=100, must=">= 95%"),
            Criterion("sypd", "value", ">=", 11.0, "years/day", of="sypd", must=">= 11 years/day", enough=20),
            Criterion("variation", "sd / mean", "<=", 0.02, "%", of="elapsed", per="case", must="<= 2%"),)),
    )  # fmt: skip


def build_large(root: Path) -> Path:
    """About 300 runs over ten hours: a slow node, doubled runs, node failures with retries, an expected build failure."""
    chance = random.Random(20261103)
    builder = CampaignBuilder(root, large_document())
    builder.add("build_order", build="3b1f" * 16, value={"now": 0, "at": 1})
    builder.add(
        "build_end", 41.0, build="3b1f" * 16, value={"state": "done", "log": "builds/3b1f.log", "elapsed_s": 41.2}
    )
    builder.add(
        "unavailable", case="hpcc", value={"component": "functionality"}, reason=large_document().cases[-1].unavailable
    )
    _functionality(builder)
    _performance(builder, chance)
    _stability(builder, chance)
    builder.add(
        "finding", run="r000120", value={"kind": "late_mark"}, reason="a mark of r000120 came after its verdict"
    )
    builder.end()
    return builder.save()


def _functionality(builder: CampaignBuilder) -> None:
    for repeat in (1, 2, 3):
        builder.run("hello", "functionality", repeat=repeat, seconds=2.1 + repeat / 10, wait=3.0)
        builder.run("cm4/toolchain=oneapi", "functionality", "build_failed", repeat, wait=2.0,
                    reason="the build 77ac77ac failed: ifx: error #5082: syntax error")  # fmt: skip
    builder.add("build_end", build="77ac" * 16, reason="exit status 1",
                value={"state": "failed", "log": "builds/77ac.log", "elapsed_s": 312.0})  # fmt: skip


def _performance(builder: CampaignBuilder, chance: random.Random) -> None:
    peaks = {"stream/threads=1": 21.0, "stream/threads=16": 182.0, "stream/threads=128": 331.0}
    for repeat in range(1, 13):
        for case, peak in peaks.items():
            triad = chance.gauss(peak, peak * 0.006)
            seconds = chance.gauss(38.0, 0.5) * (1.6 if case.endswith("=16") and repeat == 7 else 1.0)
            builder.run(case, "performance", repeat=repeat, seconds=seconds, wait=21.0, figures={"triad": triad})
        builder.run("pairs", "performance", repeat=repeat, seconds=chance.gauss(61, 1), wait=30.0, output=_matrix(chance),
                    figures={"median": chance.gauss(11200, 60)})  # fmt: skip
        builder.run("noise", "performance", repeat=repeat, seconds=30.2, wait=9.0, output=_histograms(chance))
        rates = {
            mode: chance.gauss(value, value / 20) for mode, value in (("shared", 8200.0), ("file per process", 14100.0))
        }
        builder.run("io", "performance", repeat=repeat, seconds=chance.gauss(120, 9), wait=40.0, output=_io(rates, chance),
                    figures={"write": rates["shared"]})  # fmt: skip


def _matrix(chance: random.Random) -> str:
    slow = 17
    rows = [
        [None if i == j else round(chance.gauss(11300 if abs(i - j) < 8 else 10900, 70) * (0.62 if slow in (i, j) else 1), 1)
         for j in range(len(NODES))]
        for i in range(len(NODES))
    ]  # fmt: skip
    return "warming up\n" + record_line("matrix", name="bandwidth", unit="MB/s", labels=NODES, rows=rows)


def _histograms(chance: random.Random) -> str:
    edges = [round(1000 * 1.05**step, 3) for step in range(64)]
    lines = ""
    for core in range(16):
        spread, tail = (0.07, 40) if core != 0 else (0.1, 400)
        counts = [int(2e6 * math.exp(-(((step - 2) * 0.05 / spread) ** 2))) for step in range(63)]
        counts = [
            count + (chance.randrange(tail) // (1 + step // 4) if step > 2 else 0) for step, count in enumerate(counts)
        ]
        lines += record_line(
            "histogram", name="noise", unit="us", edges=edges, counts=counts, core=core, host="c5n0001"
        )
    return lines


def _io(rates: dict[str, float], chance: random.Random) -> str:
    lines = ""
    for mode, value in rates.items():
        for operation, factor in (("write", 1.0), ("read", 1.25)):
            for transfer, share in ((1 << 20, 1.0), (1 << 16, 0.4)):
                rate = value * factor * share * chance.gauss(1, 0.02)
                lines += record_line("io", operation=operation, mode=mode, transfer=transfer, unit="MB/s", value=rate)
    for operation, rate in (("create", 21000.0), ("stat", 88000.0), ("remove", 24000.0)):
        lines += record_line(
            "io", operation=operation, mode="metadata", unit="ops/s", value=rate * chance.gauss(1, 0.03)
        )
    return lines


def _stability(builder: CampaignBuilder, chance: random.Random) -> None:
    builder.add(
        "waiting", value={"class": "stability", "key": "mdt"}, reason="f2/mdt is fully loaded by 8 copies of cm4"
    )
    for repeat in range(1, 101):
        seconds = chance.gauss(4150, 32) * (1.93 if repeat in (33, 34, 71) else 1.0)
        figures = {"sypd": 86400 * 0.55 / seconds}
        if repeat in (12, 58, 59):
            run = builder.run("cm4/toolchain=classic", "stability", "node_fail", repeat, seconds=seconds * 0.4, wait=200.0,
                              reason=f"node c5n0{repeat}1 failed while it ran")  # fmt: skip
            ids = {"component": "stability", "repeat": repeat}
            builder.add("retry", run=run, case="cm4/toolchain=classic", value=ids | {"attempt": 2, "not_before": 0.0})
            builder.run("cm4/toolchain=classic", "stability", "passed", repeat, 2, seconds, wait=100.0, figures=figures)
        elif repeat == 80:
            builder.run("cm4/toolchain=classic", "stability", "failed", repeat, seconds=611.0, wait=200.0,
                        reason="exit status 139 (segmentation fault)", exit=-11,
                        checks=[['output contains "Completed"', False, "it does not"]],
                        excerpt="step 412 of 8640\nstep 413 of 8640\nsrun: error: c5n0811: task 3: Segmentation fault")  # fmt: skip
        else:
            builder.run(
                "cm4/toolchain=classic", "stability", repeat=repeat, seconds=seconds, wait=250.0, figures=figures
            )
        minisweep = "timeout" if repeat in (40, 41) else "passed"
        builder.run("minisweep", "stability", minisweep, repeat, seconds=900.0 if repeat in (40, 41) else chance.gauss(300, 3),
                    wait=60.0, reason="it was ended at its time limit of 15 min" if minisweep == "timeout" else "")  # fmt: skip


# ---- a middle one, with every picture, for tests that make it twice --------------------------------------------------


def picture_document(**changes: Any) -> Document:
    """Three tests that draw, in one component."""
    kinds = {"pairs": "matrix", "noise": "histogram", "io": "io"}
    fields: dict[str, Any] = {
        "plan": "pictures",
        "components": (Component("main", "performance", tuple(kinds)),),
        "cases": tuple(Case(name, name, "local:all") for name in kinds),
        "tests": tuple(Test(name, draws=(kind,)) for name, kind in kinds.items()),
    }
    return small_document(**(fields | changes))


def build_pictures(root: Path) -> Path:
    chance = random.Random(5)
    builder = CampaignBuilder(root, picture_document(), "pictures-0001")
    rows = [[None, 5.0, 7.0], [5.5, None, 6.0], [7.5, 6.5, None]]
    matrix = record_line("matrix", name="bandwidth", unit="MB/s", labels=["a", "b", "c"], rows=rows)
    builder.run("pairs", "main", output=matrix, wait=1.0)
    builder.run("noise", "main", output=_histograms(chance), seconds=2.0)
    builder.run("io", "main", output=_io({"shared": 900.0}, chance), seconds=3.0)
    builder.end()
    return builder.save()


@pytest.fixture
def drawing_campaign(tmp_path: Path) -> CampaignBuilder:
    """A campaign whose three tests draw; nothing has run in it yet."""
    return CampaignBuilder(tmp_path / "drawing-0001", picture_document(), "drawing-0001")


@pytest.fixture(scope="session")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The campaign with every picture and its report; tests must leave it as it is."""
    place = made_once(tmp_path_factory, "reported", lambda place: write_report(build_pictures(place / "pictures-0001")))
    return place / "pictures-0001"


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The large campaign, with its report; tests must leave it as it is."""
    place = made_once(tmp_path_factory, "large", lambda place: write_report(build_large(place / "c5-0001")))
    return place / "c5-0001"


@pytest.fixture(scope="session")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The acceptance story (six models, isolated, fill and stability), in a site, without a report."""
    site = tmp_path_factory.mktemp("sites") / "site"
    (site / "campaigns").mkdir(parents=True)
    (site / "site.yaml").write_text("site: here\n")
    builder = CampaignBuilder(site / "campaigns" / "c5-phase2-1", story_document(), "c5-phase2-1")
    tell(builder)
    return builder.save()


@pytest.fixture(scope="session")
def acceptance(told: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The acceptance story with its report, as PDF too where one can be made; tests must leave it as it is."""

    def make(place: Path) -> None:
        shutil.copytree(told, place / told.name)
        make_report(place / told.name, pdf=None)

    return made_once(tmp_path_factory, "acceptance", make) / told.name


@pytest.fixture
def without_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests of words and numbers alone: figures take most of a report's time."""
    kept = tuple(one for one in declared_figures() if one.section in ("stability", "node_map"))
    monkeypatch.setattr("shakedown.report.figures.registry.declared_figures", lambda: kept)
