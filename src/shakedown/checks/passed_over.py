"""What a reader of tables passed over: rows that miss a condition, and lines behind a line that ended a table."""

from __future__ import annotations

from dataclasses import dataclass, field

from shakedown.checks.text import show
from shakedown.model.figures import Table

_NAMED = 8  # values that a sentence names


@dataclass(slots=True)
class Seen:
    """Filled by the reader. ``cut``: that a foreign line ended a table before more lines like its rows, or ""."""

    cut: str = ""
    fits: int = -1  # how many conditions of ``where`` the row that comes nearest meets, of those that miss one
    unlike: list[str] = field(default_factory=list)  # what such rows have where the next condition wants something else

    def miss(self, fits: int, text: str) -> None:
        if fits > self.fits:
            self.fits, self.unlike = fits, []
        if fits == self.fits and len(self.unlike) <= _NAMED and text not in self.unlike:
            self.unlike.append(text)

    def no_row(self, table: Table) -> str:
        """That no row fits ``where``, and what there is instead; "" where there was no row at all."""
        if self.fits < 0:
            return ""
        name, wanted = table.where[self.fits]
        among = " and ".join(f"{other} = {show(value, 40)}" for other, value in table.where[: self.fits])
        there = ", ".join(show(text, 40) for text in self.unlike[:_NAMED]) + (", ..." if self.unlike[_NAMED:] else "")
        return f"no row {f'with {among} ' if among else ''}has {name} = {show(wanted, 40)}; there are {there}"
