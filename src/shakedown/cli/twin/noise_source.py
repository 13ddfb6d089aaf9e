"""A source of noise as people write it: ``daemons,period=10s,duration=5ms,on=node,every=32,at=0,random``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from shakedown.model.errors import UsageError, did_you_mean
from shakedown.model.units import parse_duration

if TYPE_CHECKING:
    from shakedown.twin.models.noise_sources import Source

WORDS: dict[str, tuple[str, Any]] = {
    "core": ("on", "core"),
    "node": ("on", "node"),
    "periodic": ("pattern", "periodic"),
    "random": ("pattern", "random"),
    "synchronised": ("synchronised", True),
}
KEYS = ("name", "period", "duration", "on", "every", "at", "pattern")


class SourceText(click.ParamType["Source"]):
    """Words in any order: a name, key=value, and of WORDS each by itself."""

    name = "source"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Source:
        from shakedown.twin.models.noise_sources import Source

        if isinstance(value, Source):
            return value
        try:
            return Source(**self._parts(str(value)))
        except UsageError as error:
            self.fail(f"'{value}': {error.message}" + (f"; {error.hint}" if error.hint else ""), param, ctx)
        except ValueError as error:
            self.fail(f"'{value}': {error}", param, ctx)

    def _parts(self, text: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for word in (part.strip() for part in text.split(",")):
            key, equals, value = (part.strip() for part in word.partition("="))
            name, what = self._part(key, value) if equals else WORDS.get(word, ("name", word))
            if name in found:
                raise ValueError(f"'{word}' says again what was said before it")
            found[name] = what
        for needed in ("period", "duration"):
            if f"{needed}_s" not in found:
                raise ValueError(f"it has no {needed}; write {needed}=10ms")
        found.setdefault("name", f"{found['duration_s']:g}s-every-{found['period_s']:g}s")
        return found

    def _part(self, key: str, value: str) -> tuple[str, Any]:
        if key in ("period", "duration"):
            return f"{key}_s", parse_duration(value)
        if key in ("every", "at"):
            if not value.isdecimal() or len(value) > 9:
                raise ValueError(f"{key}={value}: it is a whole number")
            return key, int(value)
        if key in ("on", "pattern"):
            if WORDS.get(value, ("", ""))[0] != key:
                known = [word for word, (name, _) in WORDS.items() if name == key]
                raise ValueError(f"{key}={value}: {did_you_mean(value, known) or ' or '.join(known)}")
            return WORDS[value]
        if key == "name" and value:
            return key, value
        raise ValueError(f"there is no '{key}'; {did_you_mean(key, KEYS) or 'there are: ' + ', '.join(KEYS)}")
