"""Points in InfluxDB's line protocol, versions 1 and 2, with special characters in names escaped.

Rules: a comma, a space or an equals sign in a tag is escaped with a backslash. A backslash itself cannot be written before these in
a tag, so in tags it becomes the letter ⧵; fields keep it. A new line in a field is written as two letters.
"""

from __future__ import annotations

from shakedown.live.feeds.points import Field, Point
from shakedown.report.words import harmless


def line_of(point: Point) -> str:
    """Purpose: one line, without the new line at its end. Empty tags are left out: the protocol has none."""
    tags = "".join(f",{_key(name)}={_tag(text)}" for name, text in sorted(point.tags.items()) if _tag(text))
    fields = ",".join(f"{_key(name)}={_value(value)}" for name, value in point.fields.items())
    return f"{_key(point.measurement)}{tags} {fields} {point.time_ns}"


def _key(text: str) -> str:
    return _tag(text) or "_"


def _tag(text: str) -> str:
    plain = harmless(text).replace("\n", " ").replace("\t", " ").replace("\\", "⧵").strip()
    for letter in ",= ":
        plain = plain.replace(letter, "\\" + letter)
    return plain


def _value(value: Field) -> str:
    if isinstance(value, int):
        return f"{value}i"
    if isinstance(value, float):
        return repr(value)
    text = harmless(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\\\n").replace("\t", "\\\\t")
    return f'"{text}"'
