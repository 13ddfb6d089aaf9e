"""The measure ``rows met``: the share of the contract rows for a component's cases that are met."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec.structs import replace

from shakedown.metrics.judging.contract import RowScore, outcome_text, score_row, with_waiver
from shakedown.metrics.judging.populations import CaseRuns, Population
from shakedown.metrics.judging.scorecard import Measured
from shakedown.metrics.rows.rows import WaiverRow
from shakedown.metrics.words import plural, show_share
from shakedown.model.judging import ContractRow, Criterion


def rows_met(
    criterion: Criterion,
    population: Population,
    rows: Mapping[str, ContractRow],
    waivers: Sequence[WaiverRow] = (),
    component: str = "",
    waived_count: bool = False,
) -> Measured:
    """Purpose: the share of rows met, among the rows in force for the population's cases with the criterion's basis ("" is
    contract).

    ``rows``: every row of the plan's contracts by name. A row for another mode than the criterion's is ignored.
    A row that was waived, for the component or altogether, is named as waived; ``waived_count``: it counts as met.
    """
    scores = rows_asked(criterion, population, rows, waivers, component)
    judged = [score for score in scores if score.outcome != "unjudged"]
    if not judged:
        return Measured(None, 0, "", reason=f"no row of basis {criterion.basis or 'contract'} asks about a case of it")
    return _share(criterion, judged, len(scores) - len(judged), waived_count)


def rows_asked(
    criterion: Criterion,
    population: Population,
    rows: Mapping[str, ContractRow],
    waivers: Sequence[WaiverRow],
    component: str,
) -> list[RowScore]:
    """Purpose: the result of each of these rows. The arguments are those of ``rows_met``."""
    basis = criterion.basis or "contract"
    mine: dict[str, list[CaseRuns]] = {}
    for case in population.cases:
        for name in case.case.rows:
            mine.setdefault(name, []).append(case)
    return [
        with_waiver(score_row(row, mine[name]), waivers, component)
        for name, row in rows.items()
        if name in mine and row.basis == basis and _asks(criterion, row)
    ]


def share_met(criterion: Criterion, scores: Sequence[RowScore], open_ones: Collection[str]) -> Measured:
    """Purpose: the share of rows met if the rows in ``open_ones`` are taken as undecided, whatever their scores say."""
    judged = [replace(one, outcome="undecided") if one.row.name in open_ones else one for one in scores]
    return _share(criterion, [one for one in judged if one.outcome != "unjudged"], 0, False)


def _asks(criterion: Criterion, row: ContractRow) -> bool:
    return not criterion.mode or row.mode in ("", criterion.mode)


def _share(criterion: Criterion, scores: list[RowScore], unjudged: int, waived_count: bool) -> Measured:
    """The share of rows met, with its lowest and highest possible value: undecided rows may still be met or not."""
    met = sum(score.outcome == "met" or (waived_count and score.waived) for score in scores)
    undecided = [score for score in scores if score.outcome == "undecided" and not (waived_count and score.waived)]
    open_rows = len(undecided)
    count = len(scores)
    rest = outcome_text(scores)
    text = f"{met} met / {plural(count, 'row')} = {show_share(met / count, criterion.bound)}"
    text += f" ({rest})" if rest else ""
    text += f", {unjudged} more unjudged" if unjudged else ""
    reason = (
        f"{plural(open_rows, 'row')} undecided: {undecided[0].row.name}, {undecided[0].reason}" if undecided else ""
    )
    return Measured(met / count, count, text, met / count, (met + open_rows) / count, reason=reason)
