"""One mistake in a budget is one error, however many places it fits no more.

A budget whose unit is changed by mistake fits no longer what tests load and what plans limit. Each of these places would be told,
and the mistake is in none of them. So where several places do not fit one budget, the first is told, with the others and the other
way out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from shakedown.model.errors import Problem

_OF_A_BUDGET = re.compile(r"(?:\S*(?:budgets|loads)\.)?(?P<budget>\S+): .*\bthe budget\b")
_OF_ITS_UNIT = re.compile(r"\bthe budget, which is ")
_OF_A_LOAD = re.compile(r"loads\.(?P<budget>\S+): .*\bthe budget\b")
_LOADED_BY_NOBODY = re.compile(r"limits\.observe\.(?P<budget>\S+): no test of the plan loads ")
_MOST_PLACES = 3


def each_budget_once(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """Purpose: the problems, those of places that do not fit one budget as one; the order stays.

    That nobody loads a budget is no problem of its own where what is said of its load does not fit it, nor where another
    file is wrong: a test that cannot be read, or that asks for what the machine has not, loads nothing.
    """
    loads = {found["budget"] for one in problems if (found := _OF_A_LOAD.match(one.message)) is not None}
    follows = ((one, _LOADED_BY_NOBODY.match(one.message)) for one in problems)
    elsewhere = {one.path for one in problems if _LOADED_BY_NOBODY.match(one.message) is None}
    problems = [
        one for one, found in follows if found is None or not (found["budget"] in loads or elsewhere - {one.path})
    ]
    by_budget: dict[str, list[Problem]] = {}
    for problem in problems:
        found = _OF_A_BUDGET.match(problem.message)
        if found is not None:
            by_budget.setdefault(found["budget"], []).append(problem)
    one_for = {
        id(problem): _as_one(budget, same)
        for budget, same in by_budget.items()
        if len(same) > 1 and any(_OF_ITS_UNIT.search(one.message) for one in same)
        for problem in same
    }
    told = (one_for.get(id(problem), problem) for problem in problems)
    return tuple(dict.fromkeys(told))


def _as_one(budget: str, same: Sequence[Problem]) -> Problem:
    first, *others = same
    places = [f"{one.path}:{one.line}" for one in others[:_MOST_PLACES]]
    more = f" and {len(others) - _MOST_PLACES} more" if len(others) > _MOST_PLACES else ""
    way = f"{first.hint}; or " if first.hint else ""
    also = f"{', '.join(places)}{more} {'does' if len(others) == 1 else 'do'} not fit it either"
    return replace(first, hint=f"{way}mend the budget {budget} itself, in the system: {also}")
