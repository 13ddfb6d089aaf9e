"""``shakedown reference``: contract rows proposed from what campaigns measured, as a contract's file."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shakedown.cli.output import emit, json_option, say, site_option
from shakedown.model.errors import UsageError

if TYPE_CHECKING:
    from shakedown.metrics.references import Proposal, Proposed, Tolerance
    from shakedown.metrics.rows.table import Record
    from shakedown.model.nouns import Document

_COLUMNS = ("test", "where", "figure", "must", "basis", "mode", "about")
_SAID = 10  # warnings that are spelt out; all of them are in the rows


@click.command()
@click.option("--from", "first", multiple=True, metavar="CAMPAIGN", help="A campaign; without any the newest.")
@click.argument("more", nargs=-1, metavar="[CAMPAIGN]...")
@click.option("--basis", type=click.Choice(["history", "site"]), default="history", help="The rows' basis.")
@click.option(
    "--tolerance",
    default="3",
    metavar="NUMBER|PERCENT",
    help="How far a value may lie from the median: in spreads (3, the default), or in per cent of the median (5%).",
)
@click.option("--name", default="", help="The contract's name; without it the basis.")
@click.option("--csv", "form", flag_value="csv", help="Print CSV.")
@click.option("--yaml", "form", flag_value="yaml", default=True, help="Print YAML, the default.")
@site_option
@json_option
def command(
    first: tuple[str, ...],
    more: tuple[str, ...],
    basis: str,
    tolerance: str,
    name: str,
    form: str,
    site: str | None,
    as_json: bool,
) -> int:
    """Propose contract rows from what CAMPAIGNs measured: per case and figure the median, its spread and a bound.

    Only runs that passed count. A figure with a better direction is bounded on the bad side alone. A spread is 1.4826 times the
    median absolute deviation, at least 1 % of the median. Write what is printed to contracts/NAME.yaml, and read it first.
    """
    from shakedown.cli.record import find_whole_campaign
    from shakedown.metrics.references import propose

    wanted = _tolerance(tolerance)
    root = Path(site) if site else None
    named: list[str | None] = [*first, *more]
    paths = list(dict.fromkeys(find_whole_campaign(root, campaign) for campaign in named or [None]))
    proposed = propose([_read(path) for path in paths], wanted)
    warn(proposed)
    if not proposed.rows:
        campaigns = ", ".join(path.name for path in paths)
        raise UsageError(f"no run of {campaigns} passed, so there is nothing to propose")
    about = f"proposed from {', '.join(path.name for path in paths)}: the median, and {wanted}"
    make = _csv if form == "csv" else contract_yaml
    emit(proposed, as_json, lambda: make(proposed.rows, basis, _name(name or basis), about), exact=True)
    return 0


def _tolerance(text: str) -> Tolerance:
    from shakedown.metrics.references import Tolerance

    match = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*(%?)\s*", text)
    amount = float(match[1]) if match else math.nan
    if match is None or not 0 < amount < 1e6:
        raise UsageError(
            f"--tolerance '{text}' is no distance from a median", "write 3 (spreads) or 5% (of the median)"
        )
    return Tolerance(amount, bool(match[2]))


def _name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,99}", text):
        raise UsageError(f"--name '{text}' is no name for a contract", "use letters, digits, '_', '-', '.' and '+'")
    return text


def _read(path: Path) -> tuple[Document, Record]:
    """A campaign's plan in force and its record. Raises RecordError, UsageError."""
    from shakedown.events.campaigns import read_document
    from shakedown.events.reader import read_events
    from shakedown.metrics.rows.table import fold_runs
    from shakedown.model.frozen import thaw
    from shakedown.model.layout import Layout

    layout = Layout(path)
    record = fold_runs(read_events(layout.log))
    if not record.document:
        raise UsageError(f"campaign {path.name} has not started: there is nothing to propose from")
    return thaw(read_document(layout, record.document)), record


def warn(proposed: Proposed) -> None:
    """Purpose: what to know of the rows, on standard error, so that what is printed stays a contract."""
    lines = [f"{_subject(row)}: {'; '.join(row.warnings)}" for row in proposed.rows if row.warnings]
    lines += proposed.without
    for line in lines[:_SAID]:
        say(f"warning: {line}")
    if len(lines) > _SAID:
        say(f"warning: and {len(lines) - _SAID} more; the rows say what each rests on")


def _subject(row: Proposal) -> str:
    where = ", ".join(f"{name}={value}" for name, value in row.where)
    mode = f", {row.mode}" if row.mode else ""
    return f"{row.figure} of {row.test} ({where}{mode})"


# ---- as a contract's file --------------------------------------------------------------------------------------------


def contract_yaml(rows: tuple[Proposal, ...], basis: str, name: str, about: str) -> str:
    """Purpose: a contract's file. JSON is YAML: every cell is quoted, so that nothing in it means anything but itself."""
    head = [f"contract: {name}", f"about: {_quoted(about)}", f"columns: [{', '.join(_COLUMNS)}]", "rows:"]
    cells = [(row.test, dict(row.where), row.figure, row.must, basis, row.mode, row.about) for row in rows]
    return "\n".join([*head, *(f"  - [{', '.join(map(_quoted, row))}]" for row in cells)])


def _quoted(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _csv(rows: tuple[Proposal, ...], basis: str, name: str, about: str) -> str:
    """The contract is called as its file, so ``name`` is only said."""
    text = io.StringIO()
    text.write(f"# contract {name}, {about}\n")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for row in rows:
        writer.writerow((row.test, _where(row), row.figure, row.must, basis, row.mode, row.about))
    return text.getvalue().rstrip("\n")


def _where(row: Proposal) -> str:
    """As ``name=value; name=value``; as a map where a value holds one of its marks."""
    plain = all(not set(value) & set("|;{") and value == value.strip() != "" for _, value in row.where)
    return "; ".join(f"{name}={value}" for name, value in row.where) if plain else _quoted(dict(row.where))
