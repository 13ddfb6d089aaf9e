"""``shakedown show plan``: the components of a plan, what each wants, and how it keeps the machine busy."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from shakedown.cli.facts import facts, pairs
from shakedown.cli.output import table
from shakedown.metrics.words import plural
from shakedown.model.units import show_duration

if TYPE_CHECKING:
    from shakedown.model.filling import Window, Yield
    from shakedown.model.nouns import Component, Document, Limits
    from shakedown.model.observing import Observe


def render_plan(document: Document) -> str:
    """Purpose: a plan in words: its head, a table of its components, and what there is to say of each beside."""
    lost = [f"{case.id}  {case.unavailable}" for case in document.cases if case.unavailable]
    limits, targeted = document.limits, {name for name, _ in document.system.targeted}
    head = facts(
        ("plan", document.plan),
        ("about", document.about),
        ("system", document.system.name),
        (
            "contract",
            "\n".join(f"{contract.name}, {plural(len(contract.rows), 'row')}" for contract in document.contracts),
        ),
        ("seed", str(document.seed)),
        *_limits(limits, targeted),
        ("bad nodes", f"excluded after {limits.exclude_after} failed runs" if limits.exclude_after else ""),
        ("builds", f"{len(document.builds)}, {limits.builds} at once"),
        ("unavailable", "\n".join(lost)),
    )
    rows = [_row(component) for component in document.components]
    columns = table(("COMPONENT", "KIND", "CASES", "REPEATS", "AFTER", "CRITERIA"), rows, right=(2, 3))
    beside = [
        f"{component.name}\n{said}" for component in document.components if (said := _beside(component, targeted))
    ]
    return "\n\n".join([head, columns, *beside])


def _limits(limits: Limits, targeted: Collection[str]) -> tuple[tuple[str, str], ...]:
    return (
        ("copies", pairs(limits.copies)),
        ("budgets", pairs((name, _amount(name, amount, targeted)) for name, amount in limits.budgets)),
        ("observed", "\n".join(_observed(word) for word in limits.observed)),
        ("stagger", show_duration(limits.stagger_s) if limits.stagger_s else ""),
    )


def _observed(word: Observe) -> str:
    """A number that narrows a budget, in a line."""
    asked = f"{word.source} {word.url + ' ' if word.url else ''}{word.query}"
    smooth = f", {word.smooth_by} of {show_duration(word.smooth_s)}" if word.smooth_s else ""
    then = f"{word.when_silent} where there is none for {show_duration(word.oldest_s)}"
    return (
        f"{word.budget}: {word.means}, of {word.full:g}, every {show_duration(word.every_s)}{smooth}, {then}: {asked}"
    )


def _amount(name: str, amount: float, targeted: Collection[str]) -> str:
    return f"{amount:g} per target" if name in targeted else f"{amount:g}"


def _how_often(component: Component) -> str:
    """Repeats, or those of each mode, or for how long, and what people do."""
    words = [f"{mode.repeats} {mode.name}" for mode in component.modes]
    words += [f"for {component.duration_s:g} s"] if component.duration_s else []
    words += [f"{component.sweep.rounds} a node"] if component.sweep and not component.duration_s else []
    words = words or ([str(component.repeats)] if component.cases else [])
    procedures = len(component.procedures)
    return ", ".join([*words, *([f"{procedures} procedure{'s' * (procedures > 1)}"] if procedures else [])])


def _row(component: Component) -> tuple[str, ...]:
    words = [(f"{c.name}:", c.measure, c.of or c.files, c.must, c.per and f"per {c.per}") for c in component.criteria]
    criteria = "; ".join(" ".join(filter(None, said)) for said in words)
    return (
        component.name,
        component.kind,
        str(len(component.cases)),
        _how_often(component),
        ", ".join(component.after) + (" (met)" if component.gate == "met" else ""),
        criteria,
    )


# ---- how it keeps the machine busy -----------------------------------------------------------------------------------


def _beside(component: Component, targeted: Collection[str]) -> str:
    """What there is to say of a component beside its row; "" where that is all."""
    sweep, pack = component.sweep, component.pack
    return facts(
        ("phases", ", ".join(f"{phase.name} {show_duration(phase.duration_s)}" for phase in component.phases)),
        ("mix", pairs((name, f"{100 * share:g}%") for name, share in component.mix)),
        ("sets up", ", ".join(component.set_up)),
        ("cleans up", ", ".join(component.clean_up)),
        ("filler", ", ".join(component.fillers)),
        ("fill", _fill(component)),
        ("clock", _clock(component)),
        *_limits(component.limits, targeted),
        ("windows", "\n".join(_window(window, targeted) for window in component.windows)),
        ("yields", "\n".join(_yield(room, targeted) for room in component.yields)),
        ("sweep", f"{sweep.queued} jobs at most wait at the scheduler" if sweep else ""),
        ("pack", _pack(pack.runs, pack.at_once, pack.allocations) if pack else ""),
        ("ladder", component.ladder.in_words() if component.ladder else ""),
        ("stops", f"a case that fails {component.stop_after} times in a row" if component.stop_after else ""),
        indent="  ",
    )


def _fill(component: Component) -> str:
    """Where it says more than that the machine is kept full."""
    fill = component.fill
    if not component.duration_s or component.sweep:
        return ""
    times = (
        ("{} ahead at the scheduler", fill.queue_ahead_s),
        ("{} without a conductor", fill.survive_s),
        ("ramp {}", fill.ramp_s),
    )
    said = [words.format(show_duration(seconds)) for words, seconds in times if seconds]
    return ", ".join([f"{100 * fill.target:g}% of the nodes", *said, "drains" if fill.drain else "does not drain"])


def _clock(component: Component) -> str:
    """What its clock does otherwise than usual."""
    clock = component.clock
    said = ["starts when a person declares it"] if clock.start == "declared" else []
    said += [f"{act} for {cause}" for cause, act in clock.causes]
    said += ["" if clock.ramp else "the ramp does not count", "" if clock.drain else "the drain does not count"]
    return ", ".join(filter(None, said))


def _window(window: Window, targeted: Collection[str]) -> str:
    return f"{window.text} {window.zone}: {_less(window, targeted)}"


def _yield(room: Yield, targeted: Collection[str]) -> str:
    clusters = ", ".join(room.clusters)
    return f"from {room.pending} jobs waiting on {clusters}, until {room.until}: {_less(room, targeted)}"


def _less(said: Window | Yield, targeted: Collection[str]) -> str:
    every: Iterable[tuple[str, float]] = (*said.budgets, *said.copies)
    return "closed" if said.closed else ", ".join(f"{name} {_amount(name, amount, targeted)}" for name, amount in every)


def _pack(runs: int, at_once: int, allocations: int) -> str:
    beside = f"{at_once} side by side" if at_once else "as many side by side as fit"
    most = f", {allocations} allocations at a time" if allocations else ""
    return f"{runs} runs an allocation, {beside}{most}"
