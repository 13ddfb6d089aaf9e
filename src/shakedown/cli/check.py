"""``shakedown check``: everything in a site directory is read, and everything that is wrong is told at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from shakedown.cli.output import emit, json_option, printable, site_option
from shakedown.model.errors import MET, WRONG_USE, FileProblems

if TYPE_CHECKING:
    from shakedown.model.printed import Published
    from shakedown.plans.checking import Checked
    from shakedown.plans.systems import Machine


@click.command("check")
@click.argument("files", nargs=-1, metavar="[FILE]...")
@site_option
@json_option
def command(files: tuple[str, ...], site: str | None, as_json: bool) -> int:
    """Check the files of a site directory: systems, tests with all their cases, contracts, plans.

    Every file is read, for every system of the site and for this machine. With FILEs (paths, or names of plans, tests, systems
    and contracts) only their faults are shown; of a plan, all that keeps it from starting. Cases of plans that cannot run are
    listed with the reason, and so is what a system does not allow of the site's other tests. A plan with cases that cannot run
    does not start, unless it says 'unavailable: restrict'. Warnings are no faults: they say where a plan may not do what its
    author meant.
    """
    from shakedown.conductor.record.baselines import past_of
    from shakedown.machine import this_system
    from shakedown.plans import find_site
    from shakedown.plans.checking import check_site

    where = find_site(Path(site) if site else None)
    checked = check_site(where, this_system, files, faults=_faults, past=past_of(where))
    if checked.problems and not as_json:
        raise FileProblems(checked.problems)
    counts = {name: getattr(checked, name) for name in ("systems", "tests", "cases", "contracts", "plans")}
    data = {"site": str(where), **counts, "problems": checked.problems, "warnings": checked.warnings}
    data |= {"unavailable": checked.unavailable, "beyond": checked.beyond, "not_shown": checked.not_shown}
    emit(data, as_json, lambda: _render(checked, files))
    return WRONG_USE if checked.problems else MET


def _faults(machine: Machine) -> Iterator[tuple[Published, str, str | None]]:
    """Printed numbers of a machine that cannot be worked out. One that does not add up is no fault of the file."""
    if machine.published:
        from shakedown.twin.models.peaks import faults

        for one, error in faults(machine.system, machine.published):
            yield one, error.message, error.hint


def _render(checked: Checked, files: tuple[str, ...]) -> str:
    machines = "this machine" + (f" and {_many(checked.systems, 'system')}" if checked.systems else "")
    parts = [
        _many(checked.tests, "test"),
        _many(checked.cases, "case"),
        *([_many(checked.contracts, "contract")] if checked.contracts else []),
        _many(checked.plans, "plan"),
    ]
    where = f" in {', '.join(files)}" if files else ""
    warnings = [f"warning{str(problem).removeprefix('error')}" for problem in checked.warnings]
    return "\n".join(
        [
            *warnings,
            f"checked {', '.join(parts)}, on {machines}: {_found(checked)}{where}",
            *([f"not shown: {_many(checked.not_shown, 'fault')} of other files"] if checked.not_shown else []),
            *_unable(checked),
            *_beyond(checked),
        ]
    )


def _found(checked: Checked) -> str:
    stays = any(not lost.restrict for lost in checked.unavailable)
    return "no mistake, but a plan does not start as it is" if stays else "nothing is wrong"


def _unable(checked: Checked) -> list[str]:
    """A line for each plan with cases that cannot run: whether it starts."""
    said = []
    for plan in dict.fromkeys(lost.plan for lost in checked.unavailable):
        lost = [one for one in checked.unavailable if one.plan == plan]
        then = "it can at best be accepted with restrictions" if lost[0].restrict else "it does not start"
        said.append(f"plan {plan}: {_many(len({one.case for one in lost}), 'case')} cannot run: {then}")
    return said


def _beyond(checked: Checked) -> list[str]:
    """A line for each system of the site with cases that it does not allow; where there is one case, with the reason."""
    lines = []
    for system, lost in checked.beyond.items():
        case, reason = next(iter(lost.items()))
        why = f"'shakedown list cases --system {system}' says why"
        shown = f"{case} cannot run there: {reason}" if len(lost) == 1 else f"{len(lost)} cases cannot run there; {why}"
        lines.append(printable(f"system {system}: {shown}"))
    return lines


def _many(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"
