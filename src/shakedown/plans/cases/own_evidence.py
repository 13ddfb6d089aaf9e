"""``{name}`` in checks and figures: what a case looks for where its test writes parameters or other names of ``run``.

Only braces around an expression with a name are filled in: ``{3}`` of a regular expression and JSON's braces stay. What computes
with a name that is known and is no expression (``{n ** 2}``) is an error: as it is written no output would ever hold it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec.structs import replace

from shakedown.model.checks import kind_of
from shakedown.model.figures import Table
from shakedown.model.nouns import Check, FigureSpec, Test
from shakedown.plans.cases.combinations import Path
from shakedown.plans.cases.figure_specs import with_names
from shakedown.plans.cases.references import Freezer, filled
from shakedown.plans.partition_scopes import Names
from shakedown.plans.schema.check_items import CURVE, EQUAL
from shakedown.plans.schema.check_words import compile_pattern, inside, with_argument
from shakedown.plans.schema.expressions import ExpressionError, fill, names_in
from shakedown.plans.schema.scalars import InvalidValue

_IN_TEXT = re.compile(r"\{\{([^{}\n]*)\}\}|\{([^{}\n]*)\}")
_IN_PATTERN = re.compile(
    r"\\N\{[^{}\n]*\}|\\.|" + _IN_TEXT.pattern, re.DOTALL
)  # what is escaped, or a character's name, stays
_COMPUTED = re.compile(
    r"[\w\s.,+\-*/%()<>=!&|^~\[\]]*"
)  # what somebody writes who computes; JSON and a shell's braces have more
_WORD = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_WITHOUT_VALUE = ("build", "campaign", "launch")  # directories that a campaign makes, and a line of words
_LITERALLY = "braces that are meant literally are doubled: '{{' and '}}'"


def own_evidence(
    noun: Test, names: Names, at: Callable[[Path], None], freezer: Freezer
) -> tuple[tuple[tuple[str, Check], ...], tuple[FigureSpec, ...]]:
    """Purpose: the checks, each with the text that it stands for, and the figures that a case has of its own.

    ``at`` is told the place in hand. Raises ExpressionError or InvalidValue where a name is not known or a value does not fit.
    """
    checks = []
    for number, check in enumerate(noun.checks):
        kind = kind_of(check)
        if "{" in check.text and kind is not None and kind.argument != "sums":
            at(("check", number))
            own = _held_against(check, names, number, at, freezer) if kind.argument == "map" else _check(check, names)
            if own != check:
                checks.append((check.text, own))
    figures = []
    for figure in noun.figures:
        if figure.formula:
            at(("figures", figure.name, "formula"))
            mine = with_names(figure, noun.figures, names)
            if mine != figure:
                figures.append(mine)
        elif "{" in f"{figure.regex}{figure.json}{figure.source}{figure.yaml}{figure.table or ''}":
            at(("figures", figure.name))
            mine = _figure(figure, names)
            if mine != figure:
                figures.append(mine)
    return tuple(checks), tuple(figures)


def _held_against(check: Check, names: Names, number: int, at: Callable[[Path], None], freezer: Freezer) -> Check:
    """A check with a reference: the names of both files are filled in, and a case's own reference is frozen."""
    word = EQUAL if check.text.startswith(EQUAL) else CURVE
    at(("check", number, word))
    subject, shown = inside(_filled(check.subject, names)), _filled(check.text, names)
    own = replace(check, subject=subject, text=shown)
    reference = filled(own, lambda text: _filled(text, names))
    if reference.argument == check.argument:
        return own
    at(("check", number, word, "reference"))
    return freezer.freeze(number, word, reference)


def _check(check: Check, names: Names) -> Check:
    kind = kind_of(check)
    is_pattern = kind is not None and kind.argument == "pattern"
    argument = _filled(check.argument, names, is_pattern)
    shown = _filled(check.text, names, is_pattern, quoted=False)
    return replace(with_argument(check, argument), subject=inside(_filled(check.subject, names)), text=shown)


def _figure(figure: FigureSpec, names: Names) -> FigureSpec:
    regex = _filled(figure.regex, names, True)
    if regex:
        compile_pattern(regex)
    return replace(
        figure,
        regex=regex,
        json=_filled(figure.json, names),
        yaml=_filled(figure.yaml, names),
        source=inside(_filled(figure.source, names)),
        table=figure.table and _table(figure.table, names),
    )


def _table(table: Table, names: Names) -> Table:
    """Its lines are regular expressions; columns and rows are text."""
    patterns = (table.after, table.header, table.until, table.rows)
    after, header, until, rows = (_filled(one, names, True) for one in patterns)
    for pattern in filter(None, (after, header, until, rows)):
        compile_pattern(pattern)
    return replace(
        table,
        after=after,
        header=header,
        until=until,
        rows=rows,
        columns=tuple(_filled(one, names) for one in table.columns),
        column=_filled(table.column, names),
        records=_filled(table.records, names),
        by=tuple(_filled(one, names) for one in table.by),
        where=tuple((one, _filled(text, names)) for one, text in table.where),
    )


def _filled(text: str, names: Names, is_pattern: bool = False, quoted: bool = True) -> str:
    """The text with its names replaced; in a regular expression a value means itself, whatever its characters."""

    def one(match: re.Match[str]) -> str:
        doubled, single = match.group(1), match.group(2)
        if doubled is not None:
            return f"{{{doubled}}}" if _names_something(doubled, names) else match.group()
        if single is None or not _names_something(single, names):
            return match.group()
        value = _value(f"{{{single}}}", names)
        return re.escape(value) if is_pattern and quoted else value

    return (_IN_PATTERN if is_pattern else _IN_TEXT).sub(one, text)


def _names_something(inside_braces: str, names: Names) -> bool:
    """Whether what stands in braces is an expression with a name, or would be one of a name that has a value here."""
    try:
        return bool(names_in(f"{{{inside_braces}}}"))
    except ExpressionError:
        known = {*names.known(), *_WITHOUT_VALUE}
        return bool(_COMPUTED.fullmatch(inside_braces)) and not known.isdisjoint(_WORD.findall(inside_braces))


def _value(expression: str, names: Names) -> str:
    try:
        for name in _WITHOUT_VALUE:
            if name in names_in(expression):
                raise InvalidValue(f"'{{{name}}}' has no value in checks and figures", _LITERALLY)
        return fill(expression, names)
    except ExpressionError as error:
        if "are doubled" not in (error.hint or ""):
            error.hint = f"{error.hint}; {_LITERALLY}" if error.hint else _LITERALLY
        raise
