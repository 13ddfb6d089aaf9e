"""Filters of the page's template: they format numbers, times, words, and the small strip of dots. ``FILTERS`` lists them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from shakedown.diagnosis.findings import show_p
from shakedown.metrics.cases import FigureSummary
from shakedown.metrics.judging.scorecard import CriterionScore
from shakedown.metrics.requirements import Requirement
from shakedown.metrics.rows.rows import NoteRow, RunRow
from shakedown.metrics.rulings import Rate
from shakedown.metrics.statistics import Summary
from shakedown.metrics.words import plural, show_number, show_share, with_unit
from shakedown.model.bounds import converted, written_unit
from shakedown.model.contracts import where_text
from shakedown.model.units import show_bytes
from shakedown.report.figures.style import ACCENT, INK
from shakedown.report.words import one_line, show_change, show_elapsed, show_figure, show_time

if TYPE_CHECKING:
    from markupsafe import Markup

SIGNS = {
    "met": "✓", "not met": "✗", "undecided": "?", "accepted": "✓", "accepted with restrictions": "✓", "rejected": "✗",
    "incomplete": "?", "not judged": "–", "waived": "!", "not met, waived": "!", "undecided, waived": "!", "unjudged": "–",
    "disputed": "!", "not known": "–",
}  # fmt: skip
TONES = {"✓": "good", "✗": "bad", "?": "open", "–": "open", "!": "open"}
DOTS_LIMIT = 120
_FAR = "#a3201a"  # the circle of an outlier
_LONG_NAME = 16  # letters: what is longer may not fit into a column of a table
_WIDE, _HIGH, _PAD = 120.0, 16.0, 6.0


def name(text: str) -> Markup:
    """A name of unknown origin, escaped. Lines break after its slashes, commas and underscores, before its partition and before the
    keys of a row, rather than anywhere else.
    """
    from markupsafe import Markup, escape

    parts = re.split(r"(?<=[/,_])|(?=[\[@])", one_line(text))
    return Markup("").join(Markup('<span class="part">{}</span>').format(escape(part)) for part in parts if part)


def named(text: str) -> Markup:
    """A sentence, escaped, in which long names break as in ``name`` and words do not break."""
    from markupsafe import Markup, escape

    words = re.split(r"( )", one_line(text))
    return Markup("").join(name(word) if _is_long_name(word) else escape(word) for word in words)


def _is_long_name(word: str) -> bool:
    return len(word) > _LONG_NAME and re.search(r"[/,_@\[][^ ]", word) is not None


def sign(word: str) -> str:
    return SIGNS.get(word, "?")


def tone(word: str) -> str:
    return TONES[sign(word)]


def sentence(text: str) -> str:
    """The text with a capital letter and a full stop."""
    if not text:
        return ""
    return text[0].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def detail(summary: str) -> str:
    """A scorecard's summary without the outcome it begins with."""
    return re.sub(r"^[\w ]+(?:: | (?=\())", "", summary)


def measured(item: CriterionScore) -> str:
    """The arithmetic without the bound, which has its own column."""
    return one_line(item.arithmetic.replace(f", must {item.must}", "") or "–")


def between(item: CriterionScore) -> str:
    """The 95 % interval, in words; "" where there is none."""
    if item.interval is None:
        return ""
    if item.unit == "share":
        low, high = map(show_share, item.interval)
        return f"95% interval {low} to {high}"
    unit = written_unit(item.must, item.unit)  # that of the value beside it
    low, high = (show_number(converted(end, item.unit, unit)) for end in item.interval)
    return f"95% interval {low} to {with_unit(high, unit)}"


def share(value: float | None) -> str:
    return "–" if value is None else show_share(value)


def margin(one: Requirement) -> str:
    """The distance to the bound: "+2.4%", for a share "+0.2 pt"; to two bounds: "+2.4% lower, +0.3% upper"."""
    unit = " pt" if one.points else "%"
    if one.margins:
        return ", ".join(f"{show_change(100 * size)}{unit} {side}" for side, size in one.margins)
    return "–" if one.margin is None else f"{show_change(100 * one.margin)}{unit}"


def percent(value: float | None) -> str:
    """A difference in per cent, with its sign; a dash where it is None."""
    return "–" if value is None else f"{show_change(100 * value)}%"


def wilson(rate: Rate) -> str:
    """A share with its interval: 96.0% (93.2% to 97.7%)."""
    if rate.share is None or rate.interval is None:
        return "–"
    low, high = rate.interval
    return f"{show_share(rate.share)} ({show_share(low)} to {show_share(high)})"


def mean(numbers: Summary | None) -> str:
    """The mean with half its 95 % interval: 4148 ± 1.2."""
    if numbers is None:
        return "–"
    half = "" if numbers.interval is None else f" ± {show_number((numbers.interval[1] - numbers.interval[0]) / 2, 2)}"
    return f"{show_number(numbers.mean)}{half}"


def times(value: float | None) -> str:
    """A factor: "1.1 ×"; a dash where it is None."""
    return "–" if value is None else f"{show_number(value, 2)} ×"


def signed(value: float) -> str:
    return show_change(value)


def size(value: float) -> str:
    return show_bytes(value) if value else "–"


def rate(value: float, unit: str) -> str:
    """A rate with a decimal prefix: 5.3 TFLOP/s."""
    for factor, prefix in ((1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= factor:
            return f"{show_number(value / factor)} {prefix}{unit}"
    return f"{show_number(value)} {unit}" if value else "–"


def runs(rows: Sequence[RunRow]) -> str:
    """The name of one run; of several their number and the first names."""
    names = ", ".join(row.run for row in rows[:4])
    return names if len(rows) <= 4 else f"{plural(len(rows), 'run')}: {names}..."


def ruled(rows: Sequence[RunRow]) -> str:
    """To which party the failures were attributed: 2 site, 1 vendor."""
    counted = Counter(row.ruling for row in rows if row.ruling)
    return ", ".join(f"{count} {one_line(party)}" for party, count in sorted(counted.items()))


def facts(value: Any) -> str:
    """A small mapping in words: host here, user ann."""
    if not isinstance(value, Mapping):
        return ""
    return ", ".join(
        f"{key} {said}" for key, said in value.items() if isinstance(said, str | int | float) and said != ""
    )


def kind(note: NoteRow) -> str:
    """The kind of a note: of a finding its own kind, of a request its name."""
    return str(note.value.get("kind") or note.kind).replace("_", " ")


def text(value: Any) -> str:
    return str(value) if isinstance(value, str | int | float) else ""


def strip(figure: FigureSummary) -> Markup:
    """The values as dots on a line, the median as a mark, outliers circled. Contains only numbers, so nothing is escaped.

    The colours are in the picture itself: in the PDF, unlike in a browser, a page's style sheet does not apply inside of it.
    """
    from markupsafe import Markup

    numbers = figure.summary
    if numbers is None or numbers.count < 2:
        return Markup("")
    span = numbers.highest - numbers.lowest
    places = [_place(value, numbers.lowest, span) for value in figure.values]
    middle = _HIGH / 2
    step = -(-len(places) // DOTS_LIMIT)
    dots = [f'<circle cx="{x:.1f}" cy="{middle}" r="2.4"/>' for x in places[::step]]
    far = [f'<circle class="far" cx="{places[i]:.1f}" cy="{middle}" r="4.6"/>' for i in numbers.outliers[:20]]
    x = _place(numbers.median, numbers.lowest, span)
    body = "".join(
        (
            f'<line class="axis" stroke="#c4cad1" x1="0" y1="{middle}" x2="{_WIDE:.0f}" y2="{middle}"/>',
            f'<g fill="{ACCENT}" fill-opacity=".5">{"".join(dots)}</g>',
            f'<g fill="none" stroke="{_FAR}" stroke-width="1.2">{"".join(far)}</g>' if far else "",
            f'<line class="middle" stroke="{INK}" stroke-width="1.4" x1="{x:.1f}" y1="1.5" x2="{x:.1f}" y2="{_HIGH - 1.5}"/>',
        )
    )
    return Markup(f'<svg class="strip" viewBox="0 0 {_WIDE:.0f} {_HIGH:.0f}" aria-hidden="true">{body}</svg>')


def _place(value: float, least: float, span: float) -> float:
    return _WIDE / 2 if span <= 0 else _PAD + (_WIDE - 2 * _PAD) * (value - least) / span


FILTERS: dict[str, Callable[..., Any]] = {
    "between": between,
    "bytes": size,
    "chance": show_p,
    "count": plural,
    "detail": detail,
    "elapsed": show_elapsed,
    "facts": facts,
    "kind": kind,
    "line": one_line,
    "margin": margin,
    "mean": mean,
    "measured": measured,
    "name": name,
    "named": named,
    "number": show_figure,
    "percent": percent,
    "rate": rate,
    "ruled": ruled,
    "runs": runs,
    "sentence": sentence,
    "share": share,
    "sign": sign,
    "signed": signed,
    "strip": strip,
    "text": text,
    "time": show_time,
    "times": times,
    "tone": tone,
    "where": where_text,
    "wilson": wilson,
}
