"""``run --dry-run``: what would be submitted, on a terminal or as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from shakedown.cli.facts import facts
from shakedown.cli.output import emit, fitted, printable, table
from shakedown.model.errors import MET, WRONG_USE, UsageError
from shakedown.model.units import show_duration

if TYPE_CHECKING:
    from shakedown.model.nouns import Document
    from shakedown.queries.dry_run import BuildPlanned, CasePlanned, ComponentPlanned, Planned


def refuse_together(dry_run: bool, scripts: bool, driving: Mapping[str, bool]) -> None:
    """Raise UsageError for options that have no meaning with, or without, ``--dry-run``."""
    if scripts and not dry_run:
        raise UsageError("--scripts goes with --dry-run", "'shakedown show script CASE' prints the script of one case")
    for option, given in driving.items():
        if dry_run and given:
            raise UsageError(f"{option} has no meaning with --dry-run: nothing is run", "leave one of them out")


def show_dry_run(
    root: Path, document: Document, identifier: str | None, wish: str | None, scripts: bool, as_json: bool
) -> int:
    """Purpose: print what ``run`` would do. Returns 0, or 2 where it would refuse."""
    from shakedown.conductor.record.registering import refuse_used
    from shakedown.events.campaigns import refuse_taken
    from shakedown.queries.dry_run import planned

    if identifier:
        refuse_used(root, identifier)
        refuse_taken(root, identifier)
    found = planned(document, root, identifier or f"{document.plan}-N", wish, scripts)
    emit(found, as_json, lambda: printable(_render(found, scripts)), exact=True)
    return MET if found.starts else WRONG_USE


def _render(found: Planned, scripts: bool) -> str:
    parts = [_head(found), _cases(found.cases), *_builds(found.builds)]
    parts += [
        facts(("unavailable", "\n".join(dict.fromkeys(f"{one.case}: {one.reason}" for one in found.unavailable))))
    ]
    parts = [fitted(part) for part in parts]  # but no script
    parts += _scripts(found) if scripts else []
    last = "nothing was made, and nothing was entered in the register"
    if not found.starts:
        last = f"'shakedown run' refuses this: {found.refused}" + (f"\nhint: {found.hint}" if found.hint else "")
    return "\n\n".join(filter(None, [*parts, fitted(last)]))


def _head(found: Planned) -> str:
    return facts(
        ("plan", found.plan),
        ("ad hoc", found.ad_hoc),
        ("system", found.system),
        ("components", "\n".join(map(_component, found.components))),
        ("node-hours", _node_hours(found)),
        ("time", _time(found)),
        ("scripts", f"{found.scripts_in}/.../job.sh" if found.scripts_in else ""),
    )


def _component(one: ComponentPlanned) -> str:
    runs = "" if one.runs is None else f"{one.runs} run{'' if one.runs == 1 else 's'}"
    parts = [f"for {show_duration(one.duration_s)}" if one.duration_s else runs]
    parts += [f"several in a job ({one.together})"] if one.together else []
    parts += [f"{one.procedures} procedure{'' if one.procedures == 1 else 's'}"] if one.procedures else []
    return f"{one.name}: {', '.join(parts)}"


def _node_hours(found: Planned) -> str:
    most = f"at most {_amount(found.node_hours_at_most)}, by the time limits"
    if found.runs is None:
        most = f"at most {_amount(found.node_hours_at_most)}, if all nodes are busy all the time"
    expected = found.node_hours_expected
    return most if expected is None else f"about {_amount(expected)} by past runs; {most}"


def _amount(hours: float) -> str:
    return f"{hours:.3g}" if hours < 1000 else f"{hours:,.0f}"


def _time(found: Planned) -> str:
    """Runs alone: attempts again, builds and waiting in the queue are in none of these."""
    if found.runs is None:
        return "as long as its components run"
    parts = []
    if found.expected_s is not None and found.side_by_side_s is not None:
        parts.append(f"about {show_duration(found.side_by_side_s)} at least, on an empty machine, by past runs")
    parts.append(f"at most {show_duration(found.at_most_s or 0.0)}, one run after the other, by the time limits")
    return "\n".join([*parts, "builds, waiting in the queue and further attempts come on top"])


def _cases(cases: list[CasePlanned]) -> str:
    if not cases:
        return "no case would be submitted"
    several = len({case.component for case in cases}) > 1
    rows = [_row(case, several) for case in cases]
    headings = [*(["COMPONENT"] if several else []), "CASE", "PARTITION", "RUNS", "NODES", "RANKS", "TAKES", "LIMIT"]
    first = len(headings) - 5
    return table([*headings, "EXPECTED"], rows, right=(first, first + 1, first + 2))


def _row(case: CasePlanned, several: bool) -> list[str]:
    runs = "filler" if case.filler else "in turn" if case.runs is None else str(case.runs)
    thing = case.counted_in[:-1] if case.units == 1 else case.counted_in
    expected = f"at most {show_duration(case.time_limit_s)}"
    if case.expected_s is not None:
        expected = f"{show_duration(case.expected_s)} ({case.expected_from})"
    return [
        *([case.component] if several else []),
        case.case,
        case.partition,
        runs,
        str(case.nodes),
        str(case.ranks),
        f"{case.units} {thing}",
        show_duration(case.time_limit_s),
        expected,
    ]


def _builds(builds: list[BuildPlanned]) -> list[str]:
    rows = [(one.name, one.where, str(one.cases), show_duration(one.time_limit_s)) for one in builds]
    return [table(("BUILD", "WHERE", "CASES", "LIMIT"), rows, right=(2,))] if rows else []


def _scripts(found: Planned) -> list[str]:
    """Each script once, with the names that stand in for what only a campaign knows."""
    cases = {case.case: case.script for case in found.cases}
    every = [*((f"case {name}", text) for name, text in cases.items())]
    every += [(f"build {one.name}", one.script) for one in found.builds]
    return [f"# ==== {title}\n{text.rstrip()}" for title, text in every]
