"""The parts of a run that its component lacks under the plan in force, and the plan with such cases added again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from msgspec.structs import replace

from shakedown.metrics.rows.rows import CLEAN_UP, DRILL, SET_UP, RunRow
from shakedown.model.nouns import Case, Component, Document, Mode

FILLS = " is only a filler now"


def no_more(component: Component, row: RunRow) -> str:
    """Purpose: the drill, case or mode of a run that its component no longer has, in words; "" if it has all of them."""
    if row.mode == DRILL:
        has = any((one.case, one.name) == (row.case, row.of or one.name) for one in component.drills)
        return "" if has else f"drill {row.of}" if row.of else f"case {row.case}"
    if row.mode in (SET_UP, CLEAN_UP):
        return "" if (row.case, row.mode) in steps_of(component) else f"case {row.case}"
    if row.case not in component.cases:
        return f"case {row.case}{FILLS if row.case in component.fillers else ''}"
    if row.mode in [mode.name for mode in component.modes] or not (row.mode or component.modes):
        return ""
    return f"case {row.case} {f'in mode {row.mode}' if row.mode else 'without a mode'}"


def steps_of(component: Component) -> set[tuple[str, str]]:
    """Purpose: (case, mode) of a component's set-ups and clean-ups."""
    modes = ((SET_UP, component.set_up), (CLEAN_UP, component.clean_up))
    return {(case, mode) for mode, cases in modes for case in cases}


def with_gone(document: Document, earlier: Iterable[Document], gone: Collection[tuple[str, str]]) -> Document:
    """Purpose: the plan with these cases added to its components, and with their earlier modes, as the last plan that had them did.

    ``gone``: (component, case). ``earlier``: the plans that were in force before, in their order.
    """
    cases, modes = dict[str, Case](), dict[str, dict[str, Mode]]()
    for plan in earlier:
        cases |= {case.id: case for case in plan.cases}
        for part in plan.components:
            modes.setdefault(part.name, {}).update({mode.name: mode for mode in part.modes})
    missing = {case for _, case in gone} - {case.id for case in document.cases}
    more = tuple(cases[case] for case in sorted(missing) if case in cases)
    parts = tuple(_with(part, gone, modes.get(part.name, {})) for part in document.components)
    return replace(document, components=parts, cases=(*document.cases, *more))


def _with(part: Component, gone: Collection[tuple[str, str]], modes: Mapping[str, Mode]) -> Component:
    cases = (case for name, case in sorted(gone) if name == part.name and case not in part.cases)
    mine = {mode.name for mode in part.modes}
    more = (mode for name, mode in modes.items() if part.modes and name not in mine)
    return replace(part, cases=(*part.cases, *cases), modes=(*part.modes, *more))
