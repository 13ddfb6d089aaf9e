"""People around a campaign, drawn from its seed: they say things at drawn times, and take back what would hold it for ever."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import msgspec
from stage import people

from shakedown.engine import State
from shakedown.engine.policy.explain import waits_for_people
from shakedown.model.nouns import Document
from shakedown.model.shared_nodes import nodes_of

LAST_S = 400.0  # after the start; what still holds the campaign then is taken back

Act = tuple[float, Callable[[Any], None]]


def operator_of(
    seed: int, document: Document, killed: tuple[float, ...], local: bool, takes_out: bool = True
) -> Callable[[Any, int], None]:
    """Purpose: who is asked at every wait of the conductor; it is woken at the times at which somebody says something.

    ``takes_out``: cases are taken out and put in again; where each test needs others that leaves few files to hand on.
    """
    draw = random.Random(f"people:{seed}")
    acts: list[Act] = [
        (draw.uniform(1.0, 250.0), _act(draw, document, local)) for _ in range(draw.choice((0, 0, 1, 2, 4)))
    ]
    acts += [(when, _kill) for when in killed]
    if takes_out:
        acts += _out_and_in(random.Random(f"out and in:{seed}"), document)
    acts += [(when, _look_again) for when in (draw.uniform(5.0, 200.0) for _ in range(draw.choice((0, 1, 2))))]
    acts.sort(key=lambda act: act[0])
    armed: list[bool] = []

    def operator(campaign: Any, wait: int) -> None:
        campaign.amnesia = False
        began = campaign.world.began
        if not armed:
            armed.append(True)
            for when in (*(when for when, _ in acts), LAST_S):
                campaign.clock.at(began + when, lambda: True)
        while acts and campaign.clock.now() >= began + acts[0][0]:
            acts.pop(0)[1](campaign)
        people(campaign, wait)
        helped = waits_for_people(campaign.conductor.state, campaign.clock.now())
        if (helped or campaign.clock.now() >= began + LAST_S) and not campaign.inbox.waiting:
            _let_go(campaign)

    return operator


def _look_again(campaign: Any) -> None:
    """The state is thrown away, and the log or a snapshot brings it back."""
    campaign.amnesia = True


def _kill(campaign: Any) -> None:
    """Somebody who is not us ends a job of ours."""
    live = [name for name, jobs in campaign.world.jobs.items() if jobs[-1].state in ("queued", "running")]
    if live:
        campaign.world.cancel(live[0])
        campaign.exercised["killed from outside"] += 1


def _act(draw: random.Random, document: Document, local: bool) -> Callable[[Any], None]:
    """One thing that a person may say."""
    names = [component.name for component in document.components]
    component, cause = draw.choice(names), draw.choice(("maintenance", "site", "vendor", "machine", "other"))
    test = draw.choice(sorted({case.test for case in document.cases if not case.unavailable}))
    choices: list[tuple[str, dict[str, Any]]] = [
        ("pause", {"component": component, "cause": cause}),
        ("pause", {"component": component, "cause": cause}),
        ("cap", {"test": test, "copies": draw.choice((0, 1, 2))}),
        ("drain", {"component": component} if draw.random() < 0.8 else {}),
        ("cancel", {"cases": [draw.choice(document.cases).id]}),
        ("cancel", {"all": True}),
        ("change", {}),
        ("stop", {}),
        ("nonsense", {}),
    ]
    budgets = [name for name, _ in document.system.budgets]
    if budgets:
        targets = dict(document.system.targeted).get(budgets[0], ())
        name = draw.choice((budgets[0], *(f"{budgets[0]}@{target}" for target in targets)))
        unit = max(amount for case in document.cases for _, amount in case.loads)
        choices += [("budget", {"budget": name, "amount": draw.choice((0.0, unit))})] * 2
    if not local:
        nodes = [str(node) for place in document.system.partitions() for node in nodes_of(place)]
        choices += [("exclude", {"nodes": draw.sample(nodes, draw.choice((1, 1, 2)))})] * 2
    what, value = draw.choice(choices)
    if draw.random() < 0.12:
        return _amend(draw, document)
    if draw.random() < 0.1:
        return _cancel_a_run
    return lambda campaign: campaign.ask(what, **value)


def _cancel_a_run(campaign: Any) -> None:
    runs = campaign.conductor.state.runs
    if runs:
        campaign.ask("cancel", runs=[next(iter(runs))])


def _amend(draw: random.Random, document: Document) -> Callable[[Any], None]:
    """A component less, more results of one, or other loads."""
    components, replace = list(document.components), msgspec.structs.replace
    how, chosen = draw.choice(("less", "more", "fewer", "loads")), draw.randrange(len(components))
    if how == "less" and len(components) > 1:
        gone = components.pop(chosen).name
        components = [replace(one, after=tuple(name for name in one.after if name != gone)) for one in components]
    elif how == "more":
        components[chosen] = replace(components[chosen], repeats=components[chosen].repeats + 1)
    elif how == "fewer":
        components[chosen] = replace(components[chosen], repeats=1, cases=components[chosen].cases[:1], mix=())
    cases = tuple(replace(case, loads=(), targets=()) for case in document.cases) if how == "loads" else document.cases
    after = replace(document, components=tuple(components), cases=cases)
    return lambda campaign: campaign.amend(after)


def _out_and_in(draw: random.Random, document: Document) -> list[Act]:
    """A component, or all of its cases but one, is taken out of the plan while it runs, and is in again before long."""
    if draw.random() < 0.7:
        return []
    components, replace = list(document.components), msgspec.structs.replace
    chosen, when = draw.randrange(len(components)), draw.uniform(1.0, 150.0)
    one = components.pop(chosen)
    if draw.random() < 0.5 or not components:
        components.insert(chosen, replace(one, cases=(draw.choice(one.cases),) if one.cases else (), mix=()))
    else:
        components = [
            replace(other, after=tuple(name for name in other.after if name != one.name)) for other in components
        ]
    less = replace(document, components=tuple(components))
    back = replace(document, about="all is in again")
    times = draw.choice((1, 1, 2))
    moments = sorted(when + draw.uniform(1.0, 40.0) for _ in range(2 * times - 1))
    plans = [less, back] * times
    return [(at, _amends(plan)) for at, plan in zip((when, *moments), plans, strict=True)]


def _amends(plan: Document) -> Callable[[Any], None]:
    """With the cases as they are by then: other loads that somebody gave them meanwhile stay, for live runs hold those."""

    def amend(campaign: Any) -> None:
        cases = campaign.conductor.state.index.document.cases
        campaign.amend(msgspec.structs.replace(plan, cases=cases))

    return amend


def _let_go(campaign: Any) -> None:
    """Whatever a person holds is let go; clocks that are to be declared are."""
    state: State = campaign.conductor.state
    if state.phase != "running":
        return
    for name in state.overrides.paused.keys() & state.index.component_number.keys():
        campaign.ask("continue", component=name)
    for test in state.overrides.caps:
        campaign.ask("cap", test=test)
    for name in state.overrides.amounts:
        campaign.ask("budget", budget=name)
    if state.overrides.excluded:
        campaign.ask("include", nodes=list(state.overrides.excluded))
    for key in state.overrides.stopped:
        name, case = key
        number = state.index.component_number.get(name)
        if number is not None and (state.index.components[number].duration_s or state.index.components[number].sweep):
            campaign.ask("continue", component=name, case=case)
    for component in state.index.components:
        said = [spell.act for spell in state.clocks.events.get(component.name, ())]
        if component.duration_s and component.clock.start == "declared" and not {"start", "restart"} & set(said):
            campaign.ask("clock", component=component.name, act="start")
