"""Charts of the live page as SVG: counts over time, and run times against starts.

They are made here, from counts of the index, and not by a script in the browser: so pages work without scripts and can be read
aloud (every mark has a title). A chart of 100,000 runs is as fast as one of 100, because its number of marks is limited.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from shakedown.metrics.failures import NO_FAILURE
from shakedown.report.words import show_time

WIDTH, HEIGHT = 720, 170
LEFT, BOTTOM, TOP, RIGHT = 64, 24, 8, 8
GROUPS = ("passed", "bad", "other")  # from below: what passed, what did not, and the rest
SYMBOLS = {"passed": "", "bad": "×", "other": "–"}


@dataclass(frozen=True, slots=True)
class Box:
    """The area of the marks, and the values at its edges."""

    low: float
    high: float
    top: float

    def x(self, value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (value - self.low) / ((self.high - self.low) or 1)

    def y(self, value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * value / (self.top or 1)


def counts_over_time(found: Sequence[tuple[int, str, int]], live: Iterable[str]) -> Markup:
    """Purpose: how many runs were judged in each stretch of time, passed runs at the bottom; "" where there is none.

    ``found``: (minute, state, count). ``live``: states that are not verdicts; they are left out. At most 120 bars.
    """
    hidden = set(live)
    judged = [(minute, _group(state), count) for minute, state, count in found if state not in hidden]
    if not judged:
        return Markup("")
    first, last = min(m for m, _, _ in judged), max(m for m, _, _ in judged)
    width = max(1, math.ceil((last - first + 1) / 120))
    bars: dict[int, Counter[str]] = defaultdict(Counter)
    for minute, group, count in judged:
        bars[(minute - first) // width][group] += count
    top = max(sum(bar.values()) for bar in bars.values())
    box = Box(0, (last - first) // width + 1, top)
    marks = [
        mark for place, bar in sorted(bars.items()) for mark in _bar(box, place, bar, (first + place * width) * 60)
    ]
    step = f"{width} min"
    return _drawing(f"Runs judged in each {step}", box, [*marks, *_times(first * 60, (last + 1) * 60)], f"{top} runs")


def _bar(box: Box, place: int, bar: Counter[str], start: float) -> Iterable[str]:
    below = 0
    for group in GROUPS:
        if not bar[group]:
            continue
        x, width = box.x(place), max(1.0, box.x(place + 1) - box.x(place) - 1)
        y, height = box.y(below + bar[group]), box.y(below) - box.y(below + bar[group])
        words = escape(f"{show_time(start)}: {bar[group]} {_group_in_words(group)}")
        place_of_bar = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
        yield f'<rect class="{group}" {place_of_bar}><title>{words}</title></rect>'
        below += bar[group]


def run_times(found: Sequence[tuple[float, float, str, str]]) -> Markup:
    """Purpose: how long runs took against when they began; "" where there are none. ``found``: (start, seconds, state, test).

    A dot stands for all equal runs at its place; a cross for those that did not pass.
    """
    if not found:
        return Markup("")
    first, last = min(one[0] for one in found), max(one[0] for one in found)
    top = max(one[1] for one in found)
    box = Box(first, last if last > first else first + 1, top)
    places: dict[tuple[int, int, str], list[tuple[float, float, str, str]]] = defaultdict(list)
    for one in found:
        places[round(box.x(one[0]) / 3), round(box.y(one[1]) / 3), _group(one[2])].append(one)
    marks = []
    for (across, down, group), here in sorted(places.items()):
        tests = Counter(one[3] for one in here).most_common(3)
        said = ", ".join(f"{test}: {count}" for test, count in tests)
        words = escape(f"{show_time(here[0][0])}, {here[0][1]:.3g} s, {_group_in_words(group)} ({said})")
        x, y = across * 3, down * 3
        if group == "passed":
            marks.append(f'<circle class="passed" cx="{x}" cy="{y}" r="2"><title>{words}</title></circle>')
        else:
            cross = f"M{x - 3} {y - 3}l6 6m0 -6l-6 6"
            marks.append(f'<path class="{group}" d="{cross}"><title>{words}</title></path>')
    return _drawing("Seconds that runs took, by when they began", box, [*marks, *_times(first, last)], f"{top:.4g} s")


def _drawing(title: str, box: Box, marks: Iterable[str], top: str) -> Markup:
    axis = f'<path class="axis" d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}"/>'
    words = f'<text class="label" x="{LEFT - 4}" y="{TOP + 10}" text-anchor="end">{escape(top)}</text>'
    zero = f'<text class="label" x="{LEFT - 4}" y="{HEIGHT - BOTTOM}" text-anchor="end">0</text>'
    inside = axis + words + zero + "".join(marks)
    return Markup(
        f'<figure><div class="wide" tabindex="0" role="region" aria-label="{escape(title)}, drawn">'
        f'<svg role="img" aria-label="{escape(title)}" viewBox="0 0 {WIDTH} {HEIGHT}">{inside}</svg></div>'
        f"<figcaption>{escape(title)}: ● passed, × not passed, – other verdicts. Times are UTC.</figcaption></figure>"
    )


def _times(first: float, last: float) -> list[str]:
    y = HEIGHT - 7
    begin = f'<text class="label" x="{LEFT}" y="{y}">{show_time(first)}</text>'
    end = f'<text class="label" x="{WIDTH - RIGHT}" y="{y}" text-anchor="end">{show_time(last)}</text>'
    return [begin, end]


def _group(state: str) -> str:
    return "passed" if state == "passed" else "other" if state in NO_FAILURE else "bad"


def _group_in_words(group: str) -> str:
    return {"passed": "passed", "bad": "not passed", "other": "with another verdict"}[group]
