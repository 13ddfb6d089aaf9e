"""What overrides by people and terms of the plan hold back: pauses, drains, windows, caps, yields, stopped cases.

``standing_reason`` is the table of contents.
"""

from __future__ import annotations

from collections.abc import Iterator

from shakedown.engine.constraints.component_clock import has_started
from shakedown.engine.constraints.left_out import left_out_in_words
from shakedown.engine.constraints.reason import Reason
from shakedown.engine.state.keys import LimitKey, YieldKey
from shakedown.engine.state.modes import CLEAN_UP, is_step
from shakedown.engine.state.moments import moment
from shakedown.engine.state.nodes_out import excluded_in_words
from shakedown.engine.state.plan import QueueKey
from shakedown.engine.state.records import Pause
from shakedown.engine.state.retirement import drained, stopped
from shakedown.engine.state.state import State
from shakedown.model import windows
from shakedown.model.filling import Window, Yield
from shakedown.model.nouns import Component

FOR_PEOPLE = ("stopped:", "paused:", "clock:", "excluded:")  # reasons that last until a person says otherwise


def standing_reason(state: State, key: QueueKey, now: float) -> Reason | None:
    """Purpose: the override or term of the plan that holds this class back at ``now``; None where there is none."""
    if is_step(key.mode):
        return step_reason(state, key, now) or _capped(state, key)
    return _stopped(state, key) or component_reason(state, key.component, now) or _capped(state, key)


def step_reason(state: State, key: QueueKey, now: float) -> Reason | None:
    """Purpose: what holds a set-up or a clean-up back at ``now``: a pause, and for a set-up also a drain, a closed window or a
    yield.

    Set-ups and clean-ups do not count as clock time: a person may start the clock after the set-up, and a clean-up also runs after
    a drain.
    """
    component = state.index.components[key.component]
    paused = _paused(state, component)
    if paused is not None or key.mode == CLEAN_UP:
        return paused
    return _drained(state, key.component) or _closed_window(component, now) or _closed_yield(state, component)


def component_reason(state: State, number: int, now: float) -> Reason | None:
    """Purpose: the override or term of the plan that holds a whole component back at ``now``; None where there is none."""
    component = state.index.components[number]
    return (
        _paused(state, component)
        or _drained(state, number)
        or _not_started(state, number)
        or _closed_window(component, now)
        or _closed_yield(state, component)
    )


def _stopped(state: State, key: QueueKey) -> Reason | None:
    why = stopped(state, key.component, key.case) if key.case else ""
    return Reason(f"stopped:{key.case}", why) if why else None


def _paused(state: State, component: Component) -> Reason | None:
    pause = state.overrides.paused.get(component.name)
    return Reason(f"paused:{component.name}", pause_in_words(component.name, pause)) if pause is not None else None


def pause_in_words(name: str, pause: Pause) -> str:
    """Who paused a component, since when, why, and how to resume it."""
    if pause.phase:
        return pause.why
    cause = f" ({pause.cause})" if pause.cause else ""
    said = f"component {name} is paused by {pause.by or 'somebody'} since {moment(pause.since)}{cause}: {pause.why}"
    return f"{said}; shakedown resume --component {name}"


def _drained(state: State, number: int) -> Reason | None:
    why = drained(state, number)
    return Reason(f"drained:{state.index.components[number].name}", f"{why}; nothing new is ordered") if why else None


def _not_started(state: State, number: int) -> Reason | None:
    if has_started(state, number):
        return None
    name = state.index.components[number].name
    why = f"the clock of component {name} is started by a person: shakedown clock start --component {name}"
    return Reason(f"clock:{name}", why)


def _closed_window(component: Component, now: float) -> Reason | None:
    for window in _open_windows(component, now):
        if window.closed:
            until = windows.next_change(window, now)
            lasts = f"until {windows.show_local(window, until)}" if until is not None else "for good; amend the plan"
            why = f"component {component.name} orders nothing in the window {window.text}, {lasts}"
            return Reason(f"window:{component.name}", why)
    return None


def _closed_yield(state: State, component: Component) -> Reason | None:
    for word in _yields(state, component):
        if word.closed:
            return Reason(f"yield:{component.name}", yield_in_words(state, component, word))
    return None


def yield_in_words(state: State, component: Component, word: Yield) -> str:
    """Which jobs a component leaves room for, and until when."""
    waits = ", ".join(f"{state.pools.pending.get(cluster, 0)} on {cluster}" for cluster in word.clusters)
    until = f"until no more than {word.until} wait" + (" on each" if len(word.clusters) > 1 else " there")
    return f"component {component.name} leaves room for the jobs that wait on other clusters ({waits}), {until}"


def _capped(state: State, key: QueueKey) -> Reason | None:
    """The cap that a person set, where it is reached."""
    cap = state.overrides.caps.get(key.test) if key.test else None
    live = state.usage.loads.get(f"copies:{key.test}", 0.0)
    if cap is None or live + 1 <= cap * (1 + 1e-9):
        return None
    return Reason(f"cap:{key.test}", f"{cap_in_words(state, key.test)}; {live:g} are live")


def cap_in_words(state: State, test: str) -> str:
    """The cap that a person set, and how to lift it."""
    words = state.overrides.said_by.get(LimitKey("cap", test), "")
    return f"{test} is capped at {state.overrides.caps[test]} at once {words}; shakedown cap {test} none lifts it"


# ---- what holds less ---------------------------------------------------------------------------------------------------


def narrowed(state: State, component: int, now: float) -> dict[str, float]:
    """Purpose: budgets (by name, ``budget@target`` or ``copies:TEST``) whose limit at ``now`` is below the amount of the plan ->
    limit.
    """
    found = state.index.components[component]
    if not (state.overrides.caps or state.overrides.amounts or found.windows or state.pools.yielding):
        return {}
    least: dict[str, float] = {}
    for name, amount in _amounts(state, found, now):
        own = state.index.budgets.get(name)
        if (own is None or amount < own) and amount < least.get(name, float("inf")):
            least[name] = amount
    return least


def narrowed_by(state: State, number: int, name: str, now: float) -> str:
    """Purpose: "window" or "yield" where one of these gives the lowest limit of a budget at ``now``; else ""."""
    component, least = state.index.components[number], narrowed(state, number, now).get(name)
    own = dict(component.limits.budgets) | {f"copies:{test}": float(most) for test, most in component.limits.copies}
    if least is None or least >= own.get(name, float("inf")):
        return ""
    for word, holding in (("window", _open_windows(component, now)), ("yield", _yields(state, component))):
        for one in holding:
            said = dict(one.budgets) | {f"copies:{test}": float(most) for test, most in one.copies}
            if said.get(name) == least:
                return word
    return ""


def _amounts(state: State, component: Component, now: float) -> Iterator[tuple[str, float]]:
    yield from state.overrides.amounts.items()
    yield from ((f"copies:{test}", float(copies)) for test, copies in state.overrides.caps.items())
    holding: list[Window | Yield] = [*_open_windows(component, now), *_yields(state, component)]
    for word in holding:
        yield from word.budgets
        yield from ((f"copies:{test}", float(copies)) for test, copies in word.copies)


def _open_windows(component: Component, now: float) -> Iterator[Window]:
    return (window for window in component.windows if windows.is_open(window, now))


def _yields(state: State, component: Component) -> Iterator[Yield]:
    if not state.pools.yielding:
        return iter(())
    return (
        word for number, word in enumerate(component.yields) if YieldKey(component.name, number) in state.pools.yielding
    )


# ---- when, and what else -----------------------------------------------------------------------------------------------


def next_change(state: State, now: float) -> float | None:
    """Purpose: when a window of the plan next opens or closes; None where none does."""
    changes = [windows.next_change(window, now) for component in _at_work(state) for window in component.windows]
    return min((change for change in changes if change is not None), default=None)


def clusters_watched(state: State) -> tuple[str, ...]:
    """Purpose: the clusters whose waiting jobs are to be counted: components that still have results to get leave room for them."""
    named = [name for component in _at_work(state) for word in component.yields for name in word.clusters]
    return tuple(dict.fromkeys(named))


def _at_work(state: State) -> Iterator[Component]:
    """Components that still have results to get, and that have windows or yields."""
    for number, component in enumerate(state.index.components):
        if (component.windows or component.yields) and not state.tallies[number].over:
            yield component


def withdrawn(state: State, component: str) -> str:
    """Purpose: why the queued jobs of a component are to be taken back; "" where they stay in the queue."""
    pause = state.overrides.paused.get(component)
    if pause is not None:
        return pause_in_words(component, pause)
    return drained(state, state.index.component_number[component]) if state.overrides.draining else ""


def closed_now(state: State, number: int, now: float) -> str:
    """Purpose: the window or the yield that lets nothing of a component begin at ``now``, in words; "" where none does."""
    component = state.index.components[number]
    reason = _closed_window(component, now) or _closed_yield(state, component)
    return reason.text if reason is not None else ""


def in_force(state: State, now: float) -> list[str]:
    """Purpose: a sentence for each override, window and yield that holds at ``now``."""
    paused = ((name, pause) for name, pause in state.overrides.paused.items() if name in state.index.component_number)
    said = [pause_in_words(name, pause) for name, pause in paused]
    said += state.overrides.draining.values()
    for number, component in enumerate(state.index.components):
        if state.tallies[number].over:
            continue
        waits = _not_started(state, number)
        said += [waits.text] if waits is not None else []
        said += [_window_in_words(component, window, now) for window in _open_windows(component, now)]
        said += [yield_in_words(state, component, word) for word in _yields(state, component)]
    said += [cap_in_words(state, test) for test in state.overrides.caps]
    for name, amount in state.overrides.amounts.items():
        words = state.overrides.said_by.get(LimitKey("budget", name), "")
        most = state.index.document.system.amount(name, amount)
        said.append(f"budget {name} holds at most {most} {words}; shakedown budget {name} none lifts it")
    said += state.overrides.stopped.values()
    return said + _excluded_in_words(state) + left_out_in_words(state)


def _excluded_in_words(state: State) -> list[str]:
    """A sentence for each reason, with all nodes that are excluded for it."""
    alike: dict[str, list[str]] = {}
    for node, why in state.overrides.excluded.items():
        alike.setdefault(why, []).append(node)
    return [excluded_in_words(nodes, why) for why, nodes in alike.items()]


def _window_in_words(component: Component, window: Window, now: float) -> str:
    until = windows.next_change(window, now)
    lasts = f" until {windows.show_local(window, until)}" if until is not None else ""
    return f"component {component.name} is in the window {window.text}{lasts}"
