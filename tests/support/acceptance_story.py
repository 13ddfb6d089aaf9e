"""A made-up acceptance after paper 004: six models in isolation, in fill and for ten days, with what goes wrong in one.

``story_document`` is the plan, ``tell`` the events; both are given to the builder of ``tests/report/conftest.py``.
"""

from __future__ import annotations

import random
from typing import Any

from shakedown.model.judging import Contract, ContractRow, Criterion
from shakedown.model.nouns import (
    Case,
    Cluster,
    Component,
    Document,
    FigureSpec,
    Mode,
    NodeType,
    Partition,
    Procedure,
    Shape,
    Source,
    System,
    Test,
)

# test -> nodes of a job, run time in isolation in s, copies in a fill, the vendor's run time, runs in the stability test
MODELS = {
    "cm4": (48, 4148.0, 4, 4120.0, 105),
    "esm4-small": (18, 6016.0, 10, 6050.0, 42),
    "esm4-large": (26, 4565.0, 7, 4600.0, 66),
    "spear": (22, 5808.0, 8, 5790.0, 65),
    "shield": (96, 4201.0, 2, 4150.0, 86),
    "ufs": (24, 6049.0, 8, 6100.0, 12),
}
NODES = 192
SLOWER_IN_FILL = {"shield": 1.12}  # the test that the machine slows down when it is full
HOUR = 3600.0


def story_document() -> Document:
    cases = tuple(
        Case(name, name, "c5:batch", "classic", shape=Shape(nodes=nodes, units=nodes), rows=_rows_in_force(name))
        for name, (nodes, *_) in MODELS.items()
    )
    years = FigureSpec("sypd", "years/day", "higher", regex="(?P<value>x)")
    return Document(
        plan="c5-phase2",
        about="Acceptance of the second phase, vendor test to stability test",
        system=System("c5", (Cluster("c5", "slurm", (Partition("batch", "c5", "c5n[0001-0192]", NODES, "rome"),)),),
                      (NodeType("rome", 2, 128, 2, 8, 256 * 2.0**30, 5.3e12, "zen2"),)),
        components=_components(),
        cases=cases,
        tests=tuple(Test(name, figures=(years,) if name == "cm4" else ()) for name in MODELS),
        contracts=(_contract(),),
        sources=(Source("contracts/c5.yaml", "ab" * 32), Source("plans/c5-phase2.yaml", "cd" * 32)),
        seed=7,
    )  # fmt: skip


def _components() -> tuple[Component, ...]:
    everything = tuple(MODELS)
    procedures = (
        Procedure("post", "Every node completes its power-on self-test", "vendor", 1, "SOW 3.1"),
        Procedure("diagnostics", "Network diagnostics of the vendor", "vendor", 1, "SOW 3.2"),
        Procedure("power-off", "A cabinet is powered off and comes back by itself", "site", 0, "SOW 3.9"),
    )
    modes = (Mode("isolated", 3, 1), Mode("fill", 1))
    return (
        Component("vendor", "vendor", (), procedures=procedures),
        Component("performance", "performance", everything, modes=modes, after=("vendor",), criteria=(
            Criterion("correct", "correct / completed", "=", 1.0, "%", must="= 100%", clause="SOW 4.1"),
            Criterion("contract", "rows met", "=", 1.0, "%", must="= 100%", clause="SOW 4.2", mode="isolated"),
            Criterion("fill", "fill / isolated", "<=", 0.05, "%", of="elapsed", statistic="mean", must="<= 5%"),)),
        Component("stability", "stability", everything, after=("performance",), duration_s=240 * HOUR, criteria=(
            Criterion("correct", "correct / completed", "=", 1.0, "%", must="= 100%", clause="SOW 5.1"),
            Criterion("completed", "passed / attempts", ">=", 0.95, "%", must=">= 95%", enough=100, clause="SOW 5.2",
                      leave_out=("ruled site",)),
            Criterion("variation", "sd / mean", "<=", 0.02, "%", of="elapsed", per="case", must="<= 2%", enough=30,
                      leave_out=("outliers",)),
            Criterion("work", "contractual node-hours / clock node-hours", ">=", 0.4, "%", must=">= 40%"),)),
    )  # fmt: skip


def _rows_in_force(test: str) -> tuple[str, ...]:
    place = list(MODELS).index(test) + 1
    return tuple(f"c5:{place + step * len(MODELS)}" for step in range(3))


def _contract() -> Contract:
    rows = []
    for place, (test, (_, seconds, _, vendor, _)) in enumerate(MODELS.items(), 1):
        most, plus = round(1.05 * seconds), len(MODELS)
        rows.append(
            ContractRow(
                f"c5:{place}",
                "c5",
                test,
                "elapsed",
                f"<= {most} s",
                "contract",
                high=most,
                unit="s",
                mode="isolated",
                clause=f"SOW 4.2.{place}",
                place=f"contracts/c5.yaml:{6 + place}",
            )
        )
        rows.append(ContractRow(f"c5:{place + plus}", "c5", test, "elapsed", f"{vendor:.0f} s +-2%", "vendor", unit="s",
                                low=0.98 * vendor, high=1.02 * vendor, statistic="mean", mode="isolated",
                                clause=f"VT report p. {place}", place=f"contracts/c5.yaml:{12 + place}"))  # fmt: skip
    for place, (test, (_, seconds, *_)) in enumerate(MODELS.items(), 1):
        most = round(1.03 * seconds)
        rows.append(ContractRow(f"c5:{place + 12}", "c5", test, "elapsed", f"<= {most} s", "contract", high=most, unit="s",
                                statistic="median", clause=f"SOW 5.3.{place}",
                                place=f"contracts/c5.yaml:{18 + place}"))  # fmt: skip
    rows.append(ContractRow("c5:19", "c5", "hpl", "rate", ">= 6.1 PFLOP/s", "vendor", low=6.1e15, unit="FLOP/s",
                            clause="VT report p. 9", place="contracts/c5.yaml:25"))  # fmt: skip
    return Contract("c5", tuple(rows), title="C5, phase 2, as ordered",
                    parties=(("vendor", "The Vendor Company"), ("site", "The Laboratory")))  # fmt: skip


# ---- what happens ------------------------------------------------------------------------------------------------------


def tell(builder: Any) -> None:
    """The whole campaign, from the vendor's procedures to its end."""
    chance = random.Random(4)
    _fingerprint(builder, "f1" * 32, [("c5n[0001-0192]", "aa" * 32)])
    _procedures(builder)
    for test in MODELS:
        _isolated(builder, test, chance)
    for test in MODELS:
        _fill(builder, test, chance)
    _stability(builder, chance)
    builder.end()


def _fingerprint(builder: Any, digest: str, groups: list[tuple[str, str]], **more: Any) -> None:
    value = {"digest": digest, "facts_file": f"evidence/{digest}"}
    builder.add("fingerprint", 5.0, value=value | more | {"groups": [{"nodes": n, "digest": d} for n, d in groups]})


def _procedures(builder: Any) -> None:
    for name, met, files in (("post", True, ["post.log"]), ("diagnostics", True, ["mpigraph.pdf", "gpcnet.txt"])):
        evidence = [
            {"name": file, "sha256": f"{number:02d}ef" * 16, "bytes": 1200} for number, file in enumerate(files)
        ]
        builder.add("attested", HOUR, reason="all nodes came up" if name == "post" else "as the vendor's report says",
                    value={"component": "vendor", "procedure": name, "met": met, "by": "R. Budgie",
                           "evidence": evidence})  # fmt: skip
    builder.add("waived", 600.0, reason="the cabinet's breaker is replaced in May",
                value={"what": "criterion", "component": "vendor", "name": "procedures", "by": "V. Example",
                       "restriction": "power-off is shown by 31 May"})  # fmt: skip


def _isolated(builder: Any, test: str, chance: random.Random) -> None:
    _, seconds, *_ = MODELS[test]
    for repeat, mode in ((1, "warm-up"), (1, "isolated"), (2, "isolated"), (3, "isolated")):
        took = chance.gauss(seconds, 9)
        builder.run(test, "performance", repeat=repeat, seconds=took, wait=seconds * 1.1, mode=mode)


def _fill(builder: Any, test: str, chance: random.Random) -> None:
    nodes, seconds, *_ = MODELS[test]
    copies = NODES // nodes
    builder.now += 1.5 * seconds
    for copy in range(1, copies + 1):
        took = chance.gauss(seconds * SLOWER_IN_FILL.get(test, 1.01), 11)
        builder.run(test, "performance", repeat=copy, seconds=took, wait=0.0, mode="fill")
    builder.now += 1.5 * seconds


def _stability(builder: Any, chance: random.Random) -> None:
    order = [test for test, (*_, runs) in MODELS.items() for _ in range(runs)]
    chance.shuffle(order)
    repeats = dict.fromkeys(MODELS, 0)
    for number, test in enumerate(order):
        repeats[test] += 1
        if number == 190:
            builder.add("changed", 60.0, reason="LNet time-outs raised to 120 s", value={"by": "V. Example"})
        if number == 260:
            _fingerprint(builder, "f2" * 32, [("c5n[0001-0016,0018-0192]", "aa" * 32), ("c5n0017", "bb" * 32)],
                         since_last=["c5n0017: libfabric 1.15.2 -> 1.20.1"],
                         between_nodes=["c5n0017: libfabric 1.20.1 instead of 1.15.2"])  # fmt: skip
        _one(builder, test, repeats[test], number, chance)


def _one(builder: Any, test: str, repeat: int, number: int, chance: random.Random) -> None:
    """One run of the stability test: most pass; wrong answers, doubled runs and faults have their places."""
    _, seconds, *_ = MODELS[test]
    took, verdict, reason = chance.gauss(seconds, seconds * 0.002), "passed", ""
    if number in (77, 144, 301):
        verdict, reason = "incorrect", "the checksum of ocean.res differs from the golden one of classic"
    elif number in (120, 121, 233, 234):
        took *= 1.93
    elif number % 41 == 11:
        verdict, took, reason = "timeout", 14500.0, "it was ended at its time limit of 4 h 1 min 40 s"
    elif number % 67 == 5:
        verdict, took, reason = "node_fail", took * chance.random(), f"node c5n{number % NODES:04d} failed while it ran"
    elif number % 97 == 50:
        verdict, took, reason = "failed", took * chance.random(), "exit status 1: MPI_Abort"
    figures = {"sypd": 86400 * 0.55 / took} if test == "cm4" and verdict == "passed" else {}
    run = builder.run(test, "stability", verdict, repeat, seconds=took, wait=2290.0, reason=reason, figures=figures)
    if verdict == "timeout" and number < 200:
        builder.add("ruled", run=run, reason="the file system stood still, ticket 4711",
                    value={"as": "site", "by": "V. Example"})  # fmt: skip
