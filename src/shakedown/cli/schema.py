"""``shakedown schema``: JSON Schemas of the files that people write, for editors that check while one types."""

from __future__ import annotations

import click

from shakedown.cli.output import emit


@click.command("schema")
@click.argument("kind", required=False, default="", metavar="[site|system|test|plan|contract|failures|rehearsal]")
def command(kind: str) -> None:
    """Print the JSON Schema (draft 2020-12) of a kind of file; without KIND, of any of them."""
    from shakedown.model.errors import UsageError, did_you_mean
    from shakedown.plans.schema.json_schema import json_schema
    from shakedown.plans.schema.tables import TABLES

    if kind and kind not in TABLES:
        hint = did_you_mean(kind, TABLES) or f"there are: {', '.join(TABLES)}"
        raise UsageError(f"there is no kind of file '{kind}'", hint)
    emit(json_schema(kind), True, str)
