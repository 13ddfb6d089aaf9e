"""``{name}`` in checks and figures: what a case looks for where its test writes parameters or other names of ``run``.

Only braces around an expression with a name are filled in: ``{3}`` of a regular expression and JSON's braces stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from msgspec.structs import replace

from shakedown.model.checks import kind_of
from shakedown.model.figures import Table
from shakedown.model.nouns import Check, FigureSpec, Test
from shakedown.plans.cases.combinations import Path
from shakedown.plans.cases.figure_specs import with_names
from shakedown.plans.cases.references import Freezer, filled
from shakedown.plans.schema.check_items import CURVE, EQUAL
from shakedown.plans.schema.check_words import compile_pattern, inside, with_argument
from shakedown.plans.schema.expressions import ExpressionError, Value, fill, names_in
from shakedown.plans.schema.scalars import InvalidValue

_IN_TEXT = re.compile(r"\{\{([A-Za-z_][^{}\n]*)\}\}|\{([A-Za-z_][^{}\n]*)\}")
_IN_PATTERN = re.compile(r"(?<!\\)\{\{([A-Za-z_][^{}\n]*)\}\}|(?<!\\)(?<!\\N)\{([A-Za-z_][^{}\n]*)\}")
_WITHOUT_VALUE = ("build", "campaign", "launch")  # directories that a campaign makes, and a line of words
_LITERALLY = "braces that are meant literally are doubled"


def own_evidence(
    noun: Test, names: Mapping[str, Value], at: Callable[[Path], None], freezer: Freezer
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


def _held_against(
    check: Check, names: Mapping[str, Value], number: int, at: Callable[[Path], None], freezer: Freezer
) -> Check:
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


def _check(check: Check, names: Mapping[str, Value]) -> Check:
    kind = kind_of(check)
    is_pattern = kind is not None and kind.argument == "pattern"
    argument = _filled(check.argument, names, is_pattern)
    shown = _filled(check.text, names, is_pattern, quoted=False)
    return replace(with_argument(check, argument), subject=inside(_filled(check.subject, names)), text=shown)


def _figure(figure: FigureSpec, names: Mapping[str, Value]) -> FigureSpec:
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


def _table(table: Table, names: Mapping[str, Value]) -> Table:
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


def _filled(text: str, names: Mapping[str, Value], is_pattern: bool = False, quoted: bool = True) -> str:
    """The text with its names replaced; in a regular expression a value means itself, whatever its characters."""

    def one(match: re.Match[str]) -> str:
        expression = f"{{{match.group(1) or match.group(2)}}}"
        try:
            named = names_in(expression)
        except ExpressionError:
            return match.group()
        if not named:
            return match.group()
        if match.group(1):
            return expression
        for name in _WITHOUT_VALUE:
            if name in named:
                raise InvalidValue(f"'{{{name}}}' has no value in checks and figures", _LITERALLY)
        try:
            value = fill(expression, names)
        except ExpressionError as error:
            error.hint = f"{error.hint}; {_LITERALLY}" if error.hint else _LITERALLY
            raise
        return re.escape(value) if is_pattern and quoted else value

    return (_IN_PATTERN if is_pattern else _IN_TEXT).sub(one, text)
