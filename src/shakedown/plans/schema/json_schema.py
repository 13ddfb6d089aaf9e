"""JSON Schemas (draft 2020-12) of the files that people write, for editors; made from the same tables that read the files."""

from __future__ import annotations

from typing import Any

from shakedown.plans.schema.tables import TABLES

_DRAFT = "https://json-schema.org/draft/2020-12/schema"


def json_schema(kind: str = "") -> dict[str, Any]:
    """Purpose: the schema of one kind of file (site, system, test, plan, contract), or where ``kind`` is "", of any of them."""
    if kind:
        return {"$schema": _DRAFT, **_of_file(kind)}
    about = "any file of a site directory; its first key says which kind it is"
    return {"$schema": _DRAFT, "title": "Shakedown: any file", "description": about, "anyOf": [*map(_of_file, TABLES)]}


def _of_file(kind: str) -> dict[str, Any]:
    return {"title": f"Shakedown: {_TITLES[kind]}", "description": _ABOUT[kind], **TABLES[kind].schema()}


_TITLES = {
    "site": "site.yaml",
    "system": "a system's file",
    "test": "a test's file",
    "plan": "a plan's file",
    "contract": "a contract's file",
    "failures": "a file of failure classes",
    "rehearsal": "a scenario's file",
}
_ABOUT = {
    "site": "site.yaml of a site directory: what the site is called",
    "system": "a file in systems/: clusters, partitions, node types and budgets of a machine",
    "test": "a file in tests/: how a program is built, run, checked and measured",
    "plan": "a file in plans/: which tests, how often, in which order, and what they must satisfy",
    "contract": "a file in contracts/: what figures must be, on what basis, by which clause",
    "failures": "a file in failures/: what failed runs are put down to, by what their output says",
    "rehearsal": "a file in rehearsals/: how the machine of a rehearsal behaves",
}
