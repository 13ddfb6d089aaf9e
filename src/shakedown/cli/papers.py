"""``shakedown papers``: the papers' derived numbers, computed again from their own tables."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import click

from shakedown.cli.output import emit, json_option, printable, table
from shakedown.model.errors import UsageError

if TYPE_CHECKING:
    from shakedown.queries.papers import Recomputed

_WIDE, _WHAT = 80, 46  # columns of the screen, and of what a number is


@click.command("papers")
@click.argument("papers", nargs=-1, metavar="[PAPER]...")
@click.option("--differs", is_flag=True, help="Only numbers that do not come out as printed.")
@json_option
def command(papers: tuple[str, ...], differs: bool, as_json: bool) -> None:
    """Every number that the PAPERs (000 to 004) derive from others, computed again from their own tables.

    Beside each number stands what the paper prints. '!' marks what does not come out so, and a line says why. A number without a
    printed one is derived by nobody else. 'show system NAME' has the numbers of one machine.
    """
    from shakedown.queries.papers import recomputed, titles

    known = titles()
    for name in papers:
        if name not in known:
            raise UsageError(f"there is no paper '{name}'", hint=f"there are: {', '.join(known)}")
    found = [one for one in recomputed() if not papers or one.paper in papers]
    shown = [one for one in found if one.differs or not differs]
    emit({"titles": known, "numbers": shown}, as_json, lambda: printable(f"{_render(shown, known)}\n\n{_count(found)}"))


def _render(found: list[Recomputed], titles: dict[str, str]) -> str:
    parts = []
    for paper in dict.fromkeys(one.paper for one in found):
        title = textwrap.fill(f"{paper}  {titles.get(paper, '')}", _WIDE, subsequent_indent="     ")
        parts.append(f"{title}\n{_of_one([one for one in found if one.paper == paper])}")
    return "\n\n".join(parts)


def _of_one(found: list[Recomputed]) -> str:
    rows: list[tuple[str, str, str, str]] = []
    for one in found:
        what = textwrap.wrap(one.what, _WHAT) or [""]
        computed = f"{one.computed:,.7g}" if one.computed < 1e9 else f"{one.computed:.7g}"
        rows.append(("!" if one.differs else "", what[0], one.printed or "-", computed))
        rows += [("", line, "", "") for line in what[1:]]
        if one.differs:
            why = f"{one.where}: {one.because}" if one.because else one.where
            rows += [("", f"  {line}", "", "") for line in textwrap.wrap(why, _WHAT - 2, break_on_hyphens=False)]
    return table(("", "NUMBER", "PRINTED", "COMPUTED"), rows, (2, 3))


def _count(found: list[Recomputed]) -> str:
    differ, alone = sum(one.differs for one in found), sum(not one.printed for one in found)
    same = len(found) - differ - alone
    return f"{len(found)} numbers: {same} come out as printed, {differ} do not, {alone} are printed nowhere"
