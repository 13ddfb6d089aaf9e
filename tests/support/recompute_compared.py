"""What the package says of a campaign beside what ``recompute.py`` says: ``disagreements`` names every number that differs."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from shakedown.metrics.judging.criteria import score
from shakedown.metrics.judging.scorecard import ComponentScore, CriterionScore
from shakedown.metrics.loads import loads
from shakedown.metrics.rows.table import Record
from shakedown.metrics.rulings import rates
from shakedown.metrics.stability import stability
from shakedown.metrics.utilisation import utilisation
from shakedown.model.nouns import Document

SCRIPT = Path(__file__).with_name("recompute.py")


def recomputed(campaign: Path) -> dict[str, Any]:
    """Purpose: what the script says, run as a person would, with nothing of the package on its path."""
    done = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path[:0] = [{str(SCRIPT.parent)!r}]; sys.argv[1:] = [{str(campaign)!r}]\n"
         f"import runpy; runpy.run_path({str(SCRIPT)!r}, run_name='__main__')"],
        capture_output=True, text=True, check=True, timeout=240,
    )  # fmt: skip
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def disagreements(document: Document, record: Record, again: dict[str, Any]) -> list[str]:
    """Purpose: a line for each number that the two do not agree on."""
    return [
        f"{name}: {ours!r} and {theirs!r}"
        for name, ours, theirs in pairs(document, record, again)
        if not _same(ours, theirs)
    ]


def pairs(document: Document, record: Record, again: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Every number of the scorecard and of the tables beside it: (name, ours, theirs)."""
    card = score(document, record)
    yield "outcome", card.outcome, again["outcome"]
    yield "epoch", card.epoch, again["epoch"]
    yield "components", [component.name for component in card.components], list(again["components"])
    for component in card.components:
        yield from _component(component, again["components"][component.name])
    scores = card.contract.rows if card.contract else ()
    yield "rows", [one.row.name for one in scores], list(again["rows"])
    for one in scores:
        theirs = again["rows"][one.row.name]
        for key in ("outcome", "measured", "count", "outside", "waived"):
            yield f"row {one.row.name} {key}", getattr(one, key), theirs[key]
    bare = {f"{one.test}: {one.figure}": one.count for one in (card.contract.figures if card.contract else ())}
    yield "figures without rows", bare, again["figures without rows"]
    yield from _rates(document, record, again["rates"])
    yield from _utilisation(document, record, again["utilisation"])
    yield from _stability(document, record, again["stability"])
    yield "loads", {one.name: one.steps for one in loads(document, record) if one.steps}, again["loads"]


def _component(ours: ComponentScore, theirs: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    plain = ("outcome", "wanted", "judged", "passed", "to_come", "attempts", "given_up", "as_expected", "warm_ups")
    for key in plain:
        yield f"{ours.name} {key}", getattr(ours, key), theirs[key]
    yield f"{ours.name} verdicts", dict(ours.verdicts), theirs["verdicts"]
    yield f"{ours.name} unavailable", len(ours.unavailable), theirs["unavailable"]
    yield f"{ours.name} aside", sorted(run for run, _ in ours.aside), theirs["aside"]
    yield f"{ours.name} criteria", [item.name for item in ours.criteria], list(theirs["criteria"])
    for item in ours.criteria:
        yield from _criterion(f"{ours.name} {item.name}", item, theirs["criteria"][item.name])


def _criterion(name: str, ours: CriterionScore, theirs: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    for key in ("outcome", "measured", "count", "restricted"):
        yield f"{name} {key}", getattr(ours, key), theirs[key]
    yield f"{name} interval", ours.interval, theirs["interval"]
    yield f"{name} left out", sum(count for _, count in ours.left_out), theirs["left_out"]
    yield f"{name} before", ours.measured_before, theirs["before"]
    cases = {case.case: (case.outcome, case.measured, case.count) for case in ours.cases}
    again = {case: (one["outcome"], one["measured"], one["count"]) for case, one in theirs.get("cases", {}).items()}
    yield f"{name} cases", cases, again


def _rates(document: Document, record: Record, theirs: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    ours = {}
    for one in rates(document, record):
        before, after = one.passed_before, one.passed_after
        ours[f"{one.component}: {one.test}"] = [before.hits, before.count, after.count, before.interval, after.interval]
    yield "rates", ours, theirs


def _utilisation(document: Document, record: Record, theirs: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    ours: dict[str, list[Any]] = {}
    for one in utilisation(document, record):
        ours.setdefault(one.component, []).append((one.share, one.runs))
    for name, three in ours.items():
        known = theirs[name] or [(None, runs) for _, runs in three]
        yield f"{name} utilisation", three, known


def _stability(document: Document, record: Record, theirs: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Clock, hours of each node, interrupts, each test's share and longest hole, and every day."""
    ours = {one.component.name: one for one in stability(document, record) if one.clock is not None}
    yield "stability", list(ours), list(theirs)
    for name, one in ours.items():
        again, clock = theirs[name], one.clock
        assert clock is not None and one.nodes is not None and one.interrupts is not None
        begin, end, ran = again["clock"]
        # The length beside the moments: a billionth of a moment since 1970 is more than a second.
        yield f"{name} clock", (clock.begin, clock.end - clock.begin, clock.ran), (begin, end - begin, ran)
        seconds = {f"{cluster} {node}": amount for (cluster, node), amount in one.nodes.seconds.items()}
        yield f"{name} nodes", seconds, again["nodes"]
        yield f"{name} interrupts", (dict(one.interrupts.jobs), one.interrupts.system), again["interrupts"]
        tests = {
            share.test: {
                "runs": share.runs,
                "right": share.right,
                "node_hours": (share.node_hours, share.right_node_hours),
                "hole": share.hole.seconds if share.hole else 0.0,
            }
            for share in one.shares
            if not share.filler
        }
        yield f"{name} tests", tests, again["tests"]
        days = [(day.clock_s, day.contractual, day.ours, day.delivered) for day in one.days]
        yield f"{name} days", days, again["days"]


def _same(ours: Any, theirs: Any) -> bool:
    """Equal, numbers to within a billionth, whatever holds them."""
    if isinstance(ours, float) and isinstance(theirs, float | int):
        return math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-9)
    if isinstance(ours, list | tuple) and isinstance(theirs, list | tuple):
        return len(ours) == len(theirs) and all(map(_same, ours, theirs))
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(_same(ours[key], theirs[key]) for key in ours)
    return bool(ours == theirs)
