"""JSON Schemas (draft 2020-12) of the files that people write, for editors; made from the same tables that read them."""

from __future__ import annotations

from typing import Any

from shakedown.plans.schema.tables import TABLES

_DRAFT = "https://json-schema.org/draft/2020-12/schema"


def json_schema(kind: str = "") -> dict[str, Any]:
    """Purpose: the schema of one kind of file (site, system, test, plan, contract), or of any of them."""
    if kind:
        return {"$schema": _DRAFT, "title": f"Shakedown: a {kind}'s file", **TABLES[kind].schema()}
    return {"$schema": _DRAFT, "title": "Shakedown: any file", "anyOf": [table.schema() for table in TABLES.values()]}
