"""Levers: ways to loosen a rehearsed plan. Each lever changes one setting of the plan or of the machine, and nothing else.

Start reading at ``levers_of``. Only a rehearsal with a lever shows how much the lever gains (see ``trials``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from shakedown.metrics.limits import Limits
from shakedown.metrics.trials import ANOTHER_PLAN
from shakedown.model.nouns import Component, Document, Loads, Retry
from shakedown.model.settings_in_words import THE_SYSTEM, setting
from shakedown.model.units import show_duration
from shakedown.plans.components.component_parts import takes
from shakedown.rehearsal.levers_of_machine import quick_builds, without
from shakedown.rehearsal.levers_of_tests import filler, longer_limits, narrow, shorter_limits
from shakedown.rehearsal.loosened import (
    Change,
    amount_of,
    component_wise,
    fewer_of_budgets,
    more_of_budget,
    more_of_copies,
    more_of_licence,
    plan_wise,
    raised,
)
from shakedown.rehearsal.virtual_session import Rehearsal

_LEAST_MORE, _MOST_MORE, _USUAL_MORE = 1.1, 4.0, 2.0  # factors for the first trial of a lever
FURTHER = (1.25, 1.5, 2.0, 3.0, 4.0)  # factors for further trials of the levers that helped
_MOST_TESTS = 12  # tests that get a lever for their number of copies
_RETRIED = ("failed", "timeout", "node_fail", "interrupted", "lost")
_MORE_RETRIES = 3
_APART = (*ANOTHER_PLAN, "retry")  # causes whose levers ``together`` leaves out


@dataclass(frozen=True, slots=True)
class Lever:
    """One loosened setting. ``cause``: the cause that it removes, as in ``engine.idle``; ``change``: as a plan would state it.

    ``plan``: the function that changes the plan; None: only the machine changes, which nobody can do, but it shows the cost.
    ``machine``: the changed rehearsal; None: the machine stays as it is. ``again``: the same lever with another factor;
    None: it has no amount. ``thing``: the name of the loosened setting without its value; "": see ``change``.
    """

    cause: str
    change: str
    plan: Change | None = None
    machine: Rehearsal | None = None
    times: float = 0.0
    thing: str = ""
    again: Callable[[float], Lever] | None = None


def levers_of(
    document: Document,
    rehearsal: Rehearsal,
    limits: Limits,
    longest: dict[str, float],
    overran: Collection[str] = (),
) -> list[Lever]:
    """Purpose: a lever for each setting that may limit the plan; levers for the causes in ``limits`` come first, in that order.

    ``longest``: case -> the longest of its runs that passed, in seconds; ``overran``: cases with a run that reached its time limit.
    """
    more = {limit.cause: _more(limit.share, limits.share) for limit in limits.limits}
    found = [*_amounts(document, more), *_of_campaign(document), *_of_components(document, rehearsal)]
    kept = {case: seconds for case, seconds in longest.items() if case not in overran}
    found += [Lever(*one, thing="run.time_limit") for one in shorter_limits(document, kept)]
    if overran:
        found.append(_scaled("verdict:timeout", more, partial(longer_limits, document, frozenset(overran))))
    if document.builds:
        text = "builds that are done before it begins (a component of its own that comes first)"
        found.append(Lever("build:time", text, lambda plan: plan, quick_builds(rehearsal)))
    idle = 1 - limits.share
    found += [Lever(*one) for one in (*narrow(document, idle), *filler(document))]
    found += [Lever(cause, change, machine=changed) for cause, change, changed in without(rehearsal)]
    return sorted(found, key=lambda lever: _place(lever, list(more)))


def _place(lever: Lever, named: list[str]) -> int:
    """The sort key: the position of the lever's cause in ``named``. A lever may stand for all causes of a kind ("kind:...")."""
    places = [place for place, cause in enumerate(named) if lever.cause in (cause, cause.partition(":")[0])]
    return min(places, default=len(named))


def together(levers: list[Lever], but: Lever | None = None) -> Lever | None:
    """Purpose: one lever that combines all levers on the plan, except ``but``; None if fewer than two are left."""
    kept = [lever for lever in levers if lever is not but and lever.cause not in _APART]
    changes = [lever.plan for lever in kept if lever.plan is not None]

    def loosen(document: Document) -> Document:
        for change in changes:
            document = change(document)
        return document

    machine = next((lever.machine for lever in kept if lever.plan is not None and lever.machine is not None), None)
    text = "; ".join(lever.change for lever in kept)
    return Lever("together", text, loosen, machine) if len(changes) > 1 else None


def _more(share: float, worked: float) -> float:
    return min(_MOST_MORE, max(_LEAST_MORE, 1 + share / worked if worked > 0 else _USUAL_MORE))


# ---- amounts -----------------------------------------------------------------------------------------------------------


def _amounts(document: Document, more: dict[str, float]) -> Iterator[Lever]:
    """Levers for larger amounts of budgets, licences and copies."""
    licensed = dict(document.system.licence_names)
    licences = {name for cluster in document.system.clusters for name, _ in cluster.licences}
    loads = list(dict.fromkeys(name for case in document.cases for name, _ in case.loads))
    for name in loads:
        licence = licensed.get(name, name)
        if licence in licences:
            yield _scaled(f"licence:{licence}", more, partial(_licence, document, licence))
        elif amount_of(document, name) is not None:
            yield _scaled(f"budget:{name}", more, partial(_budget, document, name))
    if "slowed" in more and loads:
        yield Lever("slowed", "half of every budget that runs load", lambda plan: fewer_of_budgets(plan, loads))
    tests = list(dict.fromkeys(test for test, _ in _all_copies(document)))
    for test in sorted(tests, key=lambda one: -more.get(f"copies:{one}", 0.0))[:_MOST_TESTS]:
        yield _scaled(f"copies:{test}", more, partial(_copies, document, test))


def _scaled(cause: str, more: dict[str, float], make: Callable[[float], tuple[str, str, Change]]) -> Lever:
    def again(times: float) -> Lever:
        thing, change, plan = make(times)
        return Lever(cause, change, plan, times=times, thing=thing, again=again)

    return again(more.get(cause, _USUAL_MORE))


def _all_copies(document: Document) -> Iterator[tuple[str, int]]:
    yield from document.limits.copies
    for component in document.components:
        yield from component.limits.copies


def _licence(document: Document, name: str, times: float) -> tuple[str, str, Change]:
    parts = []
    for cluster in document.system.clusters:
        has = dict(cluster.licences).get(name)
        if has is not None:
            parts.append(setting(THE_SYSTEM, ("clusters", cluster.name, "licences", name), f"{raised(has, times):g}"))
    return f"the system's licences {name}", "; ".join(parts), lambda plan: more_of_licence(plan, name, times)


def _budget(document: Document, name: str, times: float) -> tuple[str, str, Change]:
    """Raise the budget wherever the plan or the system gives a smaller amount."""
    has, where = amount_of(document, name) or (0.0, "")
    most = raised(has, times, dict(document.system.budget_units).get(name, ""))
    text = document.system.amount(name, most)
    said: list[tuple[str, tuple[str, ...], Loads]] = []
    said += [(one.name, ("limits", "budgets", name), one.limits.budgets) for one in document.components]
    said += [("", ("limits", "budgets", name), document.limits.budgets)]
    said += [(THE_SYSTEM, ("budgets", name), document.system.budgets)]
    parts = [setting(place, keys, text) for place, keys, amounts in said if dict(amounts).get(name, most) < most]
    return f"{where} {name}", "; ".join(parts), lambda plan: more_of_budget(plan, name, times)


def _copies(document: Document, test: str, times: float) -> tuple[str, str, Change]:
    """Raise the number of copies wherever the plan allows fewer."""
    said = [(one.name, dict(one.limits.copies)) for one in document.components] + [("", dict(document.limits.copies))]
    least, where = min((found[test], place) for place, found in said if test in found)
    most = raised(least, times)
    keys = ("limits", "copies", test)
    parts = [setting(place, keys, f"{most:g}") for place, found in said if found.get(test, most) < most]
    thing = f"{where}.limits.copies {test}" if where else f"limits.copies {test}"
    return thing, "; ".join(parts), lambda plan: more_of_copies(plan, test, times)


# ---- settings ------------------------------------------------------------------------------------------------------------


def _of_campaign(document: Document) -> Iterator[Lever]:
    limits = document.limits
    stagger = max([limits.stagger_s, *(one.limits.stagger_s for one in document.components)])
    if stagger:
        yield from _stagger(document, stagger)
    if document.builds:
        more = limits.builds * 2
        yield Lever(
            "build:slots", setting("", ("limits", "builds"), f"{more}"), plan_wise(builds=more), thing="limits.builds"
        )
    most = max(2 * limits.queued, 200)
    yield Lever("queued", setting("", ("limits", "queued"), f"{most}"), plan_wise(queued=most), thing="limits.queued")
    if limits.exclude_after:
        yield Lever(
            "excluded", "limits without exclude_after", plan_wise(exclude_after=0), thing="limits.exclude_after"
        )


def _stagger(document: Document, stagger_s: float) -> Iterator[Lever]:
    tests = dict.fromkeys(case.test for case in document.cases)
    where = "" if document.limits.stagger_s >= stagger_s else _whose(document, stagger_s)

    def less(times: float) -> Lever:
        def loosen(plan: Document) -> Document:
            plan = plan_wise(stagger_s=plan.limits.stagger_s / times)(plan)
            return component_wise(plan, lambda one: {"limits": {"stagger_s": one.limits.stagger_s / times}})

        text = setting(where, ("limits", "stagger"), show_duration(stagger_s / times))
        thing = f"{where}.limits.stagger" if where else "limits.stagger"
        return Lever("stagger", text, loosen, times=times, thing=thing, again=less)

    if tests:
        yield less(_USUAL_MORE)


def _whose(document: Document, stagger_s: float) -> str:
    return next(one.name for one in document.components if one.limits.stagger_s >= stagger_s)


def _of_components(document: Document, rehearsal: Rehearsal) -> Iterator[Lever]:
    """Levers for settings of components, each changed in all components that have it."""
    mine = document.components
    filled = [one for one in mine if one.duration_s and takes(one, "fill")]
    if filled:
        has = max(one.fill.queue_ahead_s for one in filled)
        ahead = min(
            max(2 * has, 600.0), max(one.duration_s for one in filled)
        )  # more than the whole duration has no effect
        if ahead > has:
            yield _fill(filled, "ahead", "queue_ahead", show_duration(ahead), queue_ahead_s=ahead)
    if any(one.fill.target < 1 for one in filled):
        yield _fill(filled, "target", "target", "100%", target=1.0)
    if any(one.fill.ramp_s for one in filled):
        slow = ", ".join(one.name for one in filled if one.fill.ramp_s)
        without_ramp = partial(_set, {"fill": {"ramp_s": 0.0}})
        yield Lever("ramp", f"no fill.ramp in {slow}", without_ramp, thing="fill.ramp")
    if any(one.fill.drain for one in filled):
        yield _fill(filled, "drain", "drain", "no", drain=False)
    if filled and rehearsal.troubles.crashes:
        away = max(lasts for _, lasts in rehearsal.troubles.crashes) * 1.25
        yield _fill(filled, "away", "survive", show_duration(away), survive_s=away)
    for cause, key, field, empty in (
        ("window", "windows", "windows", ()),
        ("yield", "yield_to", "yields", ()),
        ("mix", "mix (the same share for each test)", "mix", ()),
        ("gate", "after", "after", ()),
        ("stopped", "stop_after", "stop_after", 0),
    ):
        names = [one.name for one in mine if getattr(one, field)]
        if names:
            said = f"no {key} in {', '.join(names)}"
            yield Lever(cause, said, partial(_set, {field: empty}))
    if any(one.sweep for one in mine):
        twice = _in_each(mine, lambda one: f"{one.sweep.queued * 2}" if one.sweep else "", ("sweep", "queued"))
        yield Lever("sweep", twice, lambda plan: component_wise(plan, _wider_sweep), thing="sweep.queued")
    yield from _more_retries([one for one in mine if takes(one, "retry")])


def _more_retries(mine: list[Component]) -> Iterator[Lever]:
    names = {one.name for one in mine}
    if mine:
        yield Lever(
            "retry",
            _in_each(mine, _retries_to_paste, ("retry",)),
            lambda plan: component_wise(plan, lambda one: {"retry": _retries(one.retry)} if one.name in names else {}),
            thing=f"retry ({_MORE_RETRIES} attempts more of what does not pass)",
        )


def _set(fields: dict[str, object], plan: Document) -> Document:
    return component_wise(plan, lambda one: fields)


def _fill(filled: list[Component], cause: str, key: str, value: str, **fields: object) -> Lever:
    change = _in_each(filled, lambda one: value, ("fill", key))
    names = {one.name for one in filled}
    return Lever(
        cause,
        change,
        lambda plan: component_wise(plan, lambda one: {"fill": fields} if one.name in names else {}),
        thing=f"fill.{key}",
    )


def _in_each(components: Iterable[Component], value: Callable[[Component], str], keys: tuple[str, ...]) -> str:
    """The setting for each component, ready to paste into the plan; components with the value "" are left out."""
    return "; ".join(setting(one.name, keys, text) for one in components if (text := value(one)))


def _retries_to_paste(one: Component) -> str:
    words = [f"{retry.verdict}: {retry.times}" for retry in _retries(one.retry)]
    return f"{{{', '.join(words)}}}"


def _wider_sweep(one: object) -> dict[str, object]:
    sweep = getattr(one, "sweep", None)
    return {} if sweep is None else {"sweep": {"queued": sweep.queued * 2}}


def _retries(said: tuple[Retry, ...]) -> tuple[Retry, ...]:
    times = {one.verdict: one.times for one in said}
    return tuple(Retry(verdict, times.get(verdict, 0) + _MORE_RETRIES) for verdict in _RETRIED)
