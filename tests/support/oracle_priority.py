"""Who goes first in a mix, counted from the lines of the log alone: the test that is furthest behind its share.

For plans in which nothing but a full machine holds a test back: no caps, targets, gaps or fillers.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from shakedown.model.events import Event
from shakedown.model.nouns import Document


def passed_over(document: Document, events: Iterable[Event]) -> list[str]:
    """Purpose: a sentence for each run that was let start although another test was behind it by more than a run of its own.

    A test has had the node-seconds of its judged runs, and will have those of its live ones: each takes as long as its runs took on
    average, or its time limit before any was judged. What is let start within the longest time limit of the end is left out: there
    goes first what can be over in time.
    """
    events = list(events)
    began = next((event.time for event in events if event.event == "submit_order"), 0.0)
    [component] = [one for one in document.components if one.mix]
    shares, cases = dict(component.mix), {case.id: case for case in document.cases}
    width = {case.test: case.shape.units for case in cases.values()}
    limit = {case.test: case.shape.time_limit_s for case in cases.values()}
    had: dict[str, float] = defaultdict(float)
    judged: Counter[str] = Counter()
    live: dict[str, str] = {}  # run that may start -> its test
    found: list[str] = []

    def each(test: str) -> float:
        return had[test] / judged[test] if judged[test] else width[test] * limit[test]

    def progress(test: str) -> float:
        return (had[test] + sum(one == test for one in live.values()) * each(test)) / shares[test]

    until = began + component.duration_s - max(limit.values())
    for event in events:
        if event.time > until:
            break
        if event.event == "release_order" or (event.event == "submit_order" and not event.value.get("held")):
            test = cases[event.case].test
            last = min(shares, key=progress)
            if progress(test) > progress(last) + each(last) / shares[last]:
                found.append(f"{event.run} of {test} goes before {last}, which is behind it")
            live[event.run] = test
        elif event.event == "verdict" and (test := live.pop(event.run, "")):
            judged[test] += 1
            had[test] += width[test] * event.value.get("elapsed_s", 0.0)
    return found
