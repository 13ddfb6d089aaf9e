"""``shakedown show contract``: the rows of a contract by test, which cases each is in force for, and what is unjudged."""

from __future__ import annotations

import csv
import io
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shakedown.cli.output import emit, printable
from shakedown.model.contracts import where_text

if TYPE_CHECKING:
    from shakedown.model.judging import Contract, ContractRow
    from shakedown.plans.contracts.contract_views import Bare, RowView, Scene

WIDTH = 80
CSV_COLUMNS = (
    *("row", "test", "where", "figure", "must", "basis", "clause", "text", "statistic", "mode", "verdict", "about"),
    *("matches", "in force", "place"),
)


def show_contract(site: Path, name: str, system: str | None, as_json: bool, as_csv: bool) -> None:
    """Purpose: print the contracts of a plan, or one contract, against the cases they ask about."""
    from shakedown.machine import this_system
    from shakedown.plans.contracts.contract_views import bare_figures, row_views, scene

    seen = scene(site, name, system, this_system)
    views = row_views(seen)
    bare = bare_figures(seen, views)
    emit(_data(seen, views, bare), as_json, lambda: _csv(views) if as_csv else _render(seen, views, bare), exact=as_csv)


def _data(scene: Scene, views: Sequence[RowView], bare: Sequence[Bare]) -> dict[str, Any]:
    contracts = [
        {"contract": c.name, "title": c.title, "about": c.about, "parties": dict(c.parties)} for c in scene.contracts
    ]
    unmatched = [view.row.name for view in views if not view.matches]
    return {
        "plan": scene.plan,
        "system": scene.system,
        "contracts": contracts,
        "rows": views,
        "unjudged": {"rows": unmatched, "figures": bare},
    }


def _csv(views: Sequence[RowView]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for view in views:
        row = view.row
        said = (
            row.name,
            row.test,
            where_text(row),
            row.figure,
            row.must,
            row.basis,
            row.clause,
            row.text,
            row.statistic,
        )
        verdict = "yes" if row.verdict else "no"
        writer.writerow((*said, row.mode, verdict, row.about, len(view.matches), len(view.in_force), row.place))
    return text.getvalue().rstrip("\n")


# ---- in words --------------------------------------------------------------------------------------------------------


def _render(scene: Scene, views: Sequence[RowView], bare: Sequence[Bare]) -> str:
    which = f"plan {scene.plan}" if scene.plan else "its tests"
    parts = [*map(_head, scene.contracts), f"on system {scene.system}, against {_cases(len(scene.cases))} of {which}"]
    matched = [view for view in views if view.matches]
    for test in dict.fromkeys(view.row.test for view in matched):
        count = sum(case.test == test for case in scene.cases)
        parts += [
            "",
            f"{test}, {_cases(count)}" if count else test,
            *(_row(view, count) for view in matched if view.row.test == test),
        ]
    unmatched = [view for view in views if not view.matches]
    if unmatched:
        parts += ["", "unjudged, rows that match no case:", *(_unmatched(view.row) for view in unmatched)]
    if bare:
        parts += ["", "unjudged, figures that no row asks about:", *_bare(scene, bare)]
    return printable("\n".join(parts))


def _head(contract: Contract) -> str:
    parties = ", ".join(f"{role}: {name}" for role, name in contract.parties)
    text = f"contract {contract.name}" + (f": {contract.title}" if contract.title else "")
    return _wrapped(text + (f" ({parties})" if parties else ""), "", "  ")


def _row(view: RowView, cases: int) -> str:
    """The row, who says so, and the cases it is in force for."""
    lines = [_wrapped(f"{_asks(view.row)}", f"  {view.row.name}  ", "    "), _wrapped(_says(view.row), "    ", "    ")]
    count, force = len(view.matches), len(view.in_force)
    if force == count and not view.half:
        return "\n".join([*lines, f"    in force for {'all of them' if count == cases else _cases(count)}"])
    half = f", for {len(view.half)} of them with the bound that no more specific row replaces" if view.half else ""
    lines.append(_wrapped(f"in force for {force} of the {_cases(count)} it matches{half}", "    ", "      "))
    for beaten in view.beaten_by:
        lines.append(_wrapped(f"{beaten.row} wins for {_cases(len(beaten.cases))}: {beaten.why}", "      ", "      "))
    return "\n".join(lines)


def _asks(row: ContractRow) -> str:
    statistic = "" if row.statistic == "each" else f"{row.statistic} of "
    mode = f" in mode {row.mode}" if row.mode else ""
    where = where_text(row)
    return f"{statistic}{row.figure} {row.must}{mode}" + (f" where {where}" if where else "")


def _says(row: ContractRow) -> str:
    judges = "a run outside is judged performance" if row.verdict else ""
    return "; ".join(filter(None, (row.basis, row.clause, row.text, judges, row.about)))


def _unmatched(row: ContractRow) -> str:
    return _wrapped(f"{row.test}: {_asks(row)} ({_says(row)}), {row.place}", f"  {row.name}  ", "    ")


def _bare(scene: Scene, bare: Iterable[Bare]) -> list[str]:
    """A line for each test; the number of cases is said where it is not all of them."""
    counts: dict[str, int] = {}
    for case in scene.cases:
        counts[case.test] = counts.get(case.test, 0) + 1
    lines: dict[str, list[str]] = {}
    for item in bare:
        some = "" if len(item.cases) == counts[item.test] else f" (in {_cases(len(item.cases))})"
        lines.setdefault(item.test, []).append(item.figure + some)
    return [_wrapped(", ".join(figures), f"  {test}: ", "    ") for test, figures in lines.items()]


def _cases(count: int) -> str:
    return "1 case" if count == 1 else f"{count} cases"


def _wrapped(text: str, first: str, later: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent=first, subsequent_indent=later, break_on_hyphens=False)
