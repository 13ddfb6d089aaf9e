"""The scorecard for a terminal: 80 columns, plain letters, readable without colour."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from datetime import UTC, datetime

from shakedown.metrics.judging.contract import RowOutcome
from shakedown.metrics.judging.scorecard import NOT_KNOWN, ActScore, ComponentScore, CriterionScore, Scorecard
from shakedown.metrics.scores.results import ScoreResult, needs_words, over_words, part_words
from shakedown.metrics.words import plural, show_score
from shakedown.report.words import ad_hoc_words, one_line, show_time

WIDTH = 80
_HEADINGS = ("component", "outcome", "wanted", "passed", "attempts", "to come", "unavailable")
_ROW_WORDS: tuple[RowOutcome, ...] = ("met", "not met", "undecided", "unjudged")
_NAME_LEAST = 9  # the heading's own width


def render_scorecard(scorecard: Scorecard) -> str:
    """Purpose: the scorecard as text of at most 80 columns: the verdict, components, criteria with their arithmetic."""
    parts = [_wrapped(scorecard.rehearsal.upper()), ""] if scorecard.rehearsal else []
    parts += [_wrapped(ad_hoc_words(scorecard.ad_hoc)), ""] if scorecard.ad_hoc else []
    parts += [_wrapped(scorecard.summary), "", *_component_table(scorecard.components)]
    for component in scorecard.components:
        parts += ["", _cut(component.name, WIDTH), *_criteria(component)]
    parts += [line for result in scorecard.scores for line in _score(result)]
    parts += _contract(scorecard)
    missing = [line for component in scorecard.components for line in _unavailable(component)]
    if missing:
        parts += ["", "not judged: unavailable", *missing]
    parts += _acts(scorecard)
    if scorecard.remarks:
        parts += ["", *(_wrapped(f"note: {remark}", "      ") for remark in scorecard.remarks)]
    return "\n".join(parts)


def render_acts(scorecard: Scorecard) -> str:
    """Purpose: the acts of people, one by one, as text of at most 80 columns."""
    if not scorecard.acts:
        return "nobody did anything but run it"
    parts = [_wrapped(scorecard.summary), ""]
    for act in scorecard.acts:
        parts += act_lines(act)
    whole = f"without all of these acts: {scorecard.without_acts}"
    if any(act.without == NOT_KNOWN for act in scorecard.acts):
        whole += "; what is not known would show only by running again"
    return "\n".join([*parts, "", _wrapped(whole), *(_wrapped(f"note: {text}", "      ") for text in scorecard.told)])


def act_lines(act: ActScore) -> list[str]:
    """One act: what, by whom and why; then who agreed, what the act takes away, and the outcome without it."""
    said, back = _utc(act.said), ""
    if act.backdated and act.as_of is not None:
        if said == (back := _utc(act.as_of)):
            said, back = f"{show_time(act.said)} UTC", f"{show_time(act.as_of)} UTC"
        back = f", BACKDATED to {back}"
    who = f"{act.by or 'somebody'}{f' ({act.party})' if act.party else ''}"
    lines = [_wrapped(f"{act.number:>6}  {said}{back}: {who} {act.what}", " " * 8)]
    lines += [_wrapped(f"        because: {act.because}", " " * 10)] if act.because else []
    if act.standing:
        lines.append(_wrapped(f"        {standing_words(act)}", " " * 10))
    elif act.agreed:
        lines.append(_wrapped(f"        {'; '.join(act.agreed)}", " " * 10))
    lines += [_wrapped(f"        takes away: {act.takes_words}", " " * 10)] if act.takes else []
    if act.standing not in ("withdrawn", "no effect"):
        more = f" ({'; '.join(act.difference)})" if act.difference else ""
        lines.append(_wrapped(f"        without it: {act.without}{more}", " " * 10))
    return lines


def standing_words(act: ActScore, short: bool = False) -> str:
    """Purpose: whether an act is agreed, one-sided, without effect or withdrawn, in words. ``short``: without who
    agreed, and when.
    """
    agreed = "" if short else "; ".join(act.agreed)
    if not act.standing:
        return ""
    if act.standing == "withdrawn":
        return f"withdrawn by event {act.withdrawn_by}: it has no effect"
    if act.standing == "agreed":
        return f"agreed{': ' + agreed if agreed else ''}"
    missing = " and ".join(act.missing)
    have = "have" if len(act.missing) > 1 else "has"
    word = f"one-sided: {missing} {have} not agreed"
    if act.standing == "no effect":
        word = f"no effect until {missing} agreed"
    return word + (f"; agreed: {agreed}" if agreed else "")


def _utc(time: float) -> str:
    return f"{datetime.fromtimestamp(time, UTC):%Y-%m-%d %H:%M} UTC"


def _component_table(components: Sequence[ComponentScore]) -> list[str]:
    """Columns as wide as their widest cell; names are cut where a line would be too long."""
    rows = [
        [one_line(c.name), c.outcome]
        + [str(number) for number in (c.wanted, c.passed, c.attempts, c.to_come, len(c.unavailable))]
        for c in components
    ]
    table = [list(_HEADINGS), *rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(_HEADINGS))]
    if max(_NAME_LEAST, widths[0]) + sum(widths[1:]) + 2 * len(widths[1:]) > WIDTH and any(
        "with" in row[1] for row in rows
    ):
        table, widths = [row[:-1] for row in table], widths[:-1]  # unavailable cases are listed below, each by its name
    widths[0] = max(_NAME_LEAST, min(widths[0], WIDTH - sum(widths[1:]) - 2 * len(widths[1:])))
    return ["  ".join(_aligned(row, widths)).rstrip() for row in table]


def _aligned(row: list[str], widths: list[int]) -> list[str]:
    name = _cut(row[0], widths[0]).ljust(widths[0])
    numbers = [cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True)]
    return [name, row[1].ljust(widths[1]), *numbers]


def _criteria(component: ComponentScore) -> list[str]:
    ladders = [_wrapped(f"  {'ladder':<10}  {ladder.in_words()}", " " * 14) for ladder in component.ladders]
    return [*(_criterion(item) for item in component.criteria), *ladders]


def _criterion(item: CriterionScore) -> str:
    """The outcome in a column of its own, then the criterion's name and how its number was computed."""
    word = "not judged" if item.restricted else item.outcome.upper() if item.outcome == "not met" else item.outcome
    waived = f"{item.beneath}, waived by {item.waived_by}: {item.waiver}" if item.outcome == "waived" else ""
    said = "; ".join(part for part in (item.arithmetic, item.reason, waived) if part) or f"must {item.must}"
    return _wrapped(f"  {word:<10}  {item.name}: {said}", " " * 14)


def _score(result: ScoreResult) -> list[str]:
    """A score with its parts: what each part used, from which run, and what is missing to the bound."""
    whole = "no number yet" if result.value is None else show_score(result.value, result.unit)
    between = (
        f", 95 % {' to '.join(show_score(end, result.unit) for end in result.interval)}" if result.interval else ""
    )
    must = f", must {result.must}" if result.must else ""
    head = f"score {result.name} ({result.kind}): {whole}{between}{must}"
    beside = [
        result.reason,
        result.means,
        needs_words(result),
        f"proposed {show_score(result.proposed, result.unit)}, {over_words(result.over)}"
        if result.proposed is not None and result.over is not None
        else "",
    ]
    lines = [_wrapped(head, "  "), *(_wrapped(f"  {text}", "    ") for text in beside if text)]
    return ["", *lines, *(_wrapped(f"  {part.label}: {part_words(result, part)}", "    ") for part in result.parts)]


def _contract(scorecard: Scorecard) -> list[str]:
    """The contract in numbers, and each row that is not met or undecided."""
    contract = scorecard.contract
    if contract is None:
        return []
    counts = ", ".join(f"{count} {word}" for word in _ROW_WORDS if (count := contract.count(word)))
    head = f"contract: {plural(len(contract.rows), 'row')}: {counts}" if counts else "contract: no row"
    if contract.figures:
        head += f"; {plural(len(contract.figures), 'figure')} without a row"
    lines = []
    for score in contract.rows:
        if score.outcome in ("not met", "undecided"):
            word = score.outcome.upper() if score.outcome == "not met" and not score.waived else score.outcome
            waived = f"waived by {score.waived_by}: {score.waiver}" if score.waived else ""
            said = "; ".join(
                filter(None, (score.arithmetic or f"{score.row.figure} must {score.row.must}", score.reason, waived))
            )
            lines.append(_wrapped(f"  {word:<10}  {score.row.name}, {score.row.test}: {said}", " " * 14))
    return ["", _wrapped(head, "  "), *lines]


def _acts(scorecard: Scorecard) -> list[str]:
    """The acts that restrict or change an outcome, and the number of all acts."""
    if not scorecard.acts:
        return []
    lines = [line for act in scorecard.acts if act.matters or act.standing == "one-sided" for line in act_lines(act)]
    head = f"acts of people: {len(scorecard.acts)} (shakedown acts lists them); without all of them: {scorecard.without_acts}"
    return ["", _wrapped(head, "  "), *lines]


def _unavailable(component: ComponentScore) -> list[str]:
    return [_wrapped(f"  {row.case}: {row.reason}", "    ") for row in component.unavailable]


def _wrapped(text: str, indent: str = "") -> str:
    """Harmless text wrapped to the width; words longer than a line are broken."""
    lead = text[: len(text) - len(text.lstrip())]
    lines = textwrap.wrap(_spaced(text), WIDTH, initial_indent=lead, subsequent_indent=indent, break_on_hyphens=False)
    return "\n".join(lines)


def _spaced(text: str) -> str:
    """Text on one line with control characters visible; keeps the spaces that align columns."""
    return "".join(c if c.isprintable() else one_line(c) or " " for c in text.strip())


def _cut(text: str, most: int) -> str:
    return one_line(text, most)
