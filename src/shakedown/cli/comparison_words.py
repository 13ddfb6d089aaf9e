"""A comparison as people read it on a terminal of 80 columns, and as CSV: the worst first, what did not move in one line."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from shakedown.cli.output import printable
from shakedown.metrics.words import plural, show_number, with_unit
from shakedown.report.words import show_percent

if TYPE_CHECKING:
    from shakedown.metrics.comparing.compare import Comparison, Counted, Middle, Missing, Move, ShareMove
    from shakedown.queries.comparisons import Compared, Conditions

WIDTH = 80
SHOWN = 30  # rows of one verdict, and lines on what one side lacks, without --all
MOST_RUNS = 1000  # that anybody would make of one case
TOO_FEW_SHOWN = 5  # rows that nothing can be said of
_HEAD = ("VERDICT", "CHANGE", "95 % INTERVAL", "RUNS", "WHAT")


def render(found: Compared, everything: bool) -> str:
    """Purpose: the whole comparison in words."""
    comparison = found.comparison
    parts = [_wrapped(_sentence(comparison)), *(_wrapped(note) for note in found.notes)]
    parts += _table(comparison, everything)
    parts += _missing(comparison.missing, everything)
    if comparison.unavailable:
        parts.append("")
        parts += [_wrapped(f"unavailable on both sides: {name}: {why}", "  ") for name, why in comparison.unavailable]
    for conditions in found.conditions:
        parts += _conditions(conditions, everything)
    return printable("\n".join(parts))


def _sentence(comparison: Comparison) -> str:
    groups = comparison.groups if len(comparison.groups) <= 3 else (plural(len(comparison.groups), "group"),)
    return f"{', '.join(groups)} against {comparison.baseline}: {_outcome(comparison)}"


def _outcome(comparison: Comparison) -> str:
    """What came of it, in the order in which it matters."""
    counts: dict[str, int] = {}
    for verdict in [one.verdict for one in comparison.moves] + [one.verdict for one in comparison.shares]:
        counts[verdict] = counts.get(verdict, 0) + 1
    said = [f"{counts[word]} {word}" for word in ("worse", "changed", "better") if word in counts]
    if counts.get("too few runs"):
        said.append(f"{counts['too few runs']} with too few runs to say")
    if any(one.decides for one in comparison.missing):
        said.append(f"{plural(sum(one.decides for one in comparison.missing), 'case')} missing on one side")
    if not comparison.tested:
        said.append("nothing could be compared")
    return ", ".join(said) or "nothing moved"


# ---- the table ---------------------------------------------------------------------------------------------------------


def _table(comparison: Comparison, everything: bool) -> list[str]:
    """Shares of passed runs and figures, by verdict, the worst first."""
    rows: list[tuple[str, str]] = [(one.verdict, _share_row(comparison, one)) for one in comparison.shares]
    rows += [(one.verdict, _move_row(comparison, one)) for one in comparison.moves]
    order = ("worse", "changed", "better", "too few runs", "no change seen")
    most = dict.fromkeys(order, len(rows)) if everything else {"too few runs": TOO_FEW_SHOWN, "no change seen": 0}
    lines = []
    for word in order:
        mine = [text for verdict, text in rows if verdict == word]
        shown = mine[: most.get(word, SHOWN)]
        lines += shown
        if 0 < len(shown) < len(mine):
            lines.append(f"{word:<14} {len(mine) - len(shown)} more: --all shows them")
    return [*(["", _line(*_HEAD)] if lines else []), *lines, "", *_unmoved(comparison)]


def _move_row(comparison: Comparison, move: Move) -> str:
    change, interval = "", ""
    if move.effect is not None:
        change = show_percent(move.effect.share)
        low, high = move.effect.interval
        interval = f"{show_percent(low)} .. {show_percent(high)}"
    what = (
        f"{move.figure} of {_who(comparison, move)}: {_side(move.first, move.unit)} -> {_side(move.second, move.unit)}"
    )
    if 0 < move.enough <= MOST_RUNS:
        what += f"; about {plural(move.enough, 'run')} a side would do"
    runs = f"{_count(move.first)}, {_count(move.second)}"
    return _line(move.verdict, change, interval, runs, what)


def _share_row(comparison: Comparison, share: ShareMove) -> str:
    what = f"passed runs of {_who(comparison, share)}: {_counted(share.first)} -> {_counted(share.second)}"
    runs = f"{share.first.judged}, {share.second.judged}"
    return _line(share.verdict, _points(-share.worse_by), f"p {share.corrected:.2g}", runs, what)


def _points(share: float) -> str:
    """A difference of shares in points, with its sign; none has none."""
    points = round(share * 100)
    return f"{points:+d} pt" if points else "0 pt"


def _who(comparison: Comparison, one: Move | ShareMove) -> str:
    """The case, and where several groups are compared with the first, which of them."""
    return f"{one.subject} in {one.after}" if len(comparison.groups) > 1 else one.subject


def _side(side: Middle | None, unit: str) -> str:
    """The mean that the change is one of."""
    return "no value" if side is None else with_unit(show_number(side.mean), unit)


def _count(side: Middle | None) -> str:
    return str(side.count) if side is not None else "0"


def _counted(side: Counted) -> str:
    others = ", ".join(f"{count} {verdict}" for verdict, count in side.verdicts.items() if verdict != "passed")
    return f"{side.passed} of {side.judged}" + (f" ({others})" if others else "")


def _line(verdict: str, change: str, interval: str, runs: str, what: str) -> str:
    """A row; its words go on below each other. What is wider than its column moves the words down."""
    head = f"{verdict:<14} {change:>8}  {interval:<18} {runs:<8} "
    words = textwrap.wrap(what, WIDTH - 4, break_on_hyphens=False) or [""]
    if len(head) + len(what) <= WIDTH:
        return (head + what).rstrip()
    return "\n".join([head.rstrip(), *(f"    {word}" for word in words)])


def _unmoved(comparison: Comparison) -> Iterator[str]:
    """One line on what did not move, and how it was tested."""
    open_ends = [one.enough for one in comparison.moves if one.enough]
    if open_ends:
        most = max(open_ends)
        would = (
            f"about {plural(most, 'run')} a side would do for all" if most <= MOST_RUNS else "a larger --least would do"
        )
        hides = f"a change of {comparison.least * 100:g}% could hide"
        yield _wrapped(f"{plural(len(open_ends), 'figure')} varied too much for so few runs: {hides}; {would}")
    still = [one for one in comparison.moves if one.verdict == "no change seen"]
    if still:
        ends = [one.effect.interval for one in still if one.effect is not None]
        reach = f"{show_percent(min(low for low, _ in ends))} to {show_percent(max(high for _, high in ends))}"
        yield _wrapped(f"no change seen in {plural(len(still), 'figure')}; their intervals lie within {reach}")
    moved = [one for one in comparison.shares if one.verdict == "no change seen" and one.worse_by]
    if moved:
        names = ", ".join(f"{one.subject} {_counted(one.first)} -> {_counted(one.second)}" for one in moved[:3])
        more = f" and {len(moved) - 3} more" if len(moved) > 3 else ""
        yield _wrapped(f"passed runs that differ no more than chance does: {names}{more}")
    blind = comparison.tested - comparison.corrected_for
    those = f" for the {comparison.corrected_for} that could show a change" if blind else ""
    yield _wrapped(
        f"smallest change that matters {comparison.least * 100:g}%; Welch's t on logarithms without the highest and the "
        f"lowest fifth, Fisher's test on passed runs; {plural(comparison.tested, 'test')}, corrected after Holm{those}, "
        f"{comparison.level * 100:g}% for all together"
    )


# ---- what is not in the table --------------------------------------------------------------------------------------------

_KINDS = {
    "case": "only in {beside}, not in the plan of {group}",
    "unavailable": "ran in {beside}, unavailable in {group}",
    "no run": "ran in {beside}, no run was judged in {group}",
    "figure": "measured in {beside}, not asked for in {group}",
}


def _missing(missing: Sequence[Missing], everything: bool) -> list[str]:
    """Cases and figures of one side alone, together by what became of them."""
    groups: dict[str, list[str]] = {}
    for one in missing:
        said = _KINDS[one.kind].format(beside=one.beside, group=one.group)
        groups.setdefault(said, []).append(f"{one.subject} ({one.why})" if one.why else one.subject)
    lines = [""] if groups else []
    for said, names in groups.items():
        shown = names if everything else names[:SHOWN]
        more = f"; and {len(names) - len(shown)} more" if len(shown) < len(names) else ""
        lines.append(_wrapped(f"{said}: {'; '.join(shown)}{more}", "", "  "))
    return lines


def _conditions(conditions: Conditions, everything: bool) -> list[str]:
    """What was different besides, under a heading for each kind."""
    kinds = (
        ("epochs", conditions.epochs),
        ("plan, contracts, system", conditions.plan),
        ("machine", conditions.machine),
        ("toolchains", conditions.toolchains),
        ("versions", conditions.versions),
    )
    lines = ["", f"conditions of {conditions.after} that {conditions.before} did not have"]
    if not any(found for _, found in kinds):
        names = ", ".join(name for name, _ in kinds)
        same = f"conditions: {names} of {conditions.after} are as those of {conditions.before}"
        return [
            "",
            _wrapped(f"{same}; what commands read besides, such as variables of the environment, is not compared"),
        ]
    for name, found in kinds:
        shown = found if everything else found[:10]
        lines += [f"  {name}"] if found else []
        lines += [_wrapped(line, "    ", "      ") for line in shown]
        lines += [f"    and {len(found) - len(shown)} more: --all shows them"] if len(shown) < len(found) else []
    return lines


def _wrapped(text: str, first: str = "", later: str = "") -> str:
    return textwrap.fill(text, WIDTH, initial_indent=first, subsequent_indent=later, break_on_hyphens=False)


# ---- as CSV ------------------------------------------------------------------------------------------------------------

_COLUMNS = (
    "before", "after", "subject", "cases", "figure", "unit", "better", "verdict", "before_runs", "after_runs", "before_median",
    "after_median", "before_mean", "after_mean", "before_sd", "after_sd", "change", "low", "high", "chance", "corrected_chance",
)  # fmt: skip


def as_csv(comparison: Comparison) -> bytes:
    """Purpose: a row for each figure, then for each share of passed runs, then for what one side lacks. Changes are shares."""
    from shakedown.report.tables.csv_files import Cell, to_csv

    rows: list[list[Cell]] = [_move_cells(move) for move in comparison.moves]
    for one in comparison.shares:
        sides = (one.first.judged, one.second.judged, one.first.share, one.second.share, None, None, None, None)
        about = (one.before, one.after, one.subject, " ".join(one.cases), "passed runs", "", "higher", one.verdict)
        rows.append([*about, *sides, -one.worse_by, None, None, one.chance, one.corrected])
    for lack in comparison.missing:
        sides_of = (
            lack.beside,
            lack.group,
            lack.subject,
            "",
            "",
            "",
            "",
            f"{lack.kind} missing: {lack.why}".rstrip(": "),
        )
        rows.append([*sides_of, *([None] * (len(_COLUMNS) - len(sides_of)))])
    return to_csv(_COLUMNS, rows)


def _move_cells(move: Move) -> list[str | float | int | None]:
    first, second, effect = move.first, move.second, move.effect
    about = [
        move.before,
        move.after,
        move.subject,
        " ".join(move.cases),
        move.figure,
        move.unit,
        move.better,
        move.verdict,
    ]
    counts = [side.count if side else 0 for side in (first, second)]
    middles = [getattr(side, name) if side else None for name in ("median", "mean", "sd") for side in (first, second)]
    ends = [effect.share, *effect.interval, effect.chance] if effect else [None] * 4
    return [*about, *counts, *middles, *ends, move.corrected]
