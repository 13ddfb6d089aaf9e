"""The clock of a component by the log alone, second by second in thought, for the oracle."""

from __future__ import annotations

from shakedown.model.events import Event
from shakedown.model.nouns import Component

CLOCK_EVENTS = ("paused", "continued", "clock")


def clock_time(component: Component, began: float, said: list[Event], now: float) -> float:
    """How long its clock has run at ``now``. ``began``: its first order; ``said``: events about clocks, in the log's order."""
    words = [(began, "start")] if component.clock.start == "first order" else []
    then = ""  # what the end of the pause does
    for event in said:
        value = event.value
        if event.event == "amended" and component.name in value.get("stopped", {}):
            # it had come to its end and is taken up again: between the two it stood still
            words += [(value["stopped"][component.name], "stop"), (event.time, "go on")]
        if value.get("component") != component.name or event.case:
            continue
        if event.event == "clock":
            words.append((value.get("from", event.time), value["act"]))
        elif event.event == "paused":
            does = "stops" if value.get("phase") else component.clock.act_for(value.get("cause", "other"))
            then = {"stops": "go on", "restarts": "restart"}.get(does, "")
            words += [(value.get("from", event.time), "stop")] if then else []
        elif then:
            words, then = [*words, (event.time, then)], ""
    ran, last, runs = 0.0, None, False
    for at, act in sorted(words, key=lambda word: word[0]):
        if at > now:
            break
        ran += at - last if runs and last is not None else 0.0
        if act in ("start", "restart"):
            ran, runs = 0.0, True
        else:
            runs = act == "go on"
        last = at
    return ran + (now - last if runs and last is not None else 0.0)
