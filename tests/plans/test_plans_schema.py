"""The JSON Schemas and the reference: made from the tables that read the files, and held against them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from shakedown.plans.schema.json_schema import json_schema
from shakedown.plans.schema.records import documented
from shakedown.plans.schema.tables import TABLES

EXAMPLE = Path(__file__).parent / "example"
REFERENCE = Path(__file__).parents[2] / "docs" / "reference" / "files.md"
KEYWORDS = {
    *("$schema", "title", "description", "type", "properties", "required", "additionalProperties", "propertyNames"),
    *("items", "minItems", "anyOf", "enum", "pattern", "minimum", "maximum", "minProperties", "maxProperties"),
}


def fits(value: Any, schema: dict[str, Any]) -> bool:
    """The part of draft 2020-12 that the schemas use."""
    if "anyOf" in schema and not any(fits(value, choice) for choice in schema["anyOf"]):
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    types = schema.get("type", [])
    if types and not any(is_a(value, name) for name in ([types] if isinstance(types, str) else types)):
        return False
    if "pattern" in schema and isinstance(value, str) and not re.search(schema["pattern"], value):
        return False
    if isinstance(value, dict):
        return fits_map(value, schema)
    if isinstance(value, list) and "items" in schema:
        return len(value) >= schema.get("minItems", 0) and all(fits(item, schema["items"]) for item in value)
    return not isinstance(value, int) or schema.get("minimum", value) <= value <= schema.get("maximum", value)


def fits_map(value: dict[str, Any], schema: dict[str, Any]) -> bool:
    if not set(schema.get("required", [])) <= set(value):
        return False
    if not schema.get("minProperties", 0) <= len(value) <= schema.get("maxProperties", len(value)):
        return False
    known, rest = schema.get("properties", {}), schema.get("additionalProperties", True)
    for key, item in value.items():
        if "propertyNames" in schema and not fits(key, schema["propertyNames"]):
            return False
        wanted = known.get(key, rest)
        if wanted is False or (isinstance(wanted, dict) and not fits(item, wanted)):
            return False
    return True


def is_a(value: Any, name: str) -> bool:
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, {"string": str, "boolean": bool, "object": dict, "array": list}[name])


def keywords(schema: Any) -> set[str]:
    """Every keyword of a schema, however deep; names of properties are none."""
    found = set(schema)
    below = [*schema.get("properties", {}).values(), *schema.get("anyOf", [])]
    below += [schema[key] for key in ("items", "propertyNames", "additionalProperties") if key in schema]
    return found.union(*(keywords(part) for part in below if isinstance(part, dict)))


@pytest.mark.parametrize("kind", [*TABLES, ""])
def test_a_schema_uses_known_keywords_and_is_json(kind: str) -> None:
    schema = json_schema(kind)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert keywords(schema) <= KEYWORDS
    assert json.loads(json.dumps(schema)) == schema


def undescribed(schema: Any, path: str = "") -> list[str]:
    """Where an editor has nothing to show: parts of a schema without a description."""
    below = {f"{path}.{name}": part for name, part in schema.get("properties", {}).items()}
    below |= {
        f"{path}[{key}]": schema[key] for key in ("items", "propertyNames", "additionalProperties") if schema.get(key)
    }
    below |= {
        f"{path}|{number}": part
        for number, part in enumerate(schema.get("anyOf", []))
        if "properties" in part or "items" in part
    }
    missing = [name for name, part in below.items() if not part.get("description")]
    return [*missing, *(name for start, part in below.items() for name in undescribed(part, start))]


@pytest.mark.parametrize("kind", [*TABLES, ""])
def test_every_part_of_a_schema_says_what_it_is(kind: str) -> None:
    schema = json_schema(kind)
    assert schema["title"].startswith("Shakedown: ") and schema["description"]
    assert undescribed(schema) == []


def test_an_item_of_a_list_and_a_free_key_say_what_they_are() -> None:
    properties = json_schema("test")["properties"]
    assert properties["tags"]["items"]["description"] == "a tag"
    assert properties["figures"]["propertyNames"]["description"] == "a figure's name"
    assert properties["run"]["description"] == "what one run is and takes"  # the key's own words go first


def test_each_shape_of_a_value_says_what_its_key_is_for() -> None:
    """An editor shows the words of the shape that is written, and not those of the key."""
    run = json_schema("test")["properties"]["run"]["properties"]
    launch = "what {launch} stands for: a launcher, or a map; without it srun"
    assert [one["description"] for one in run["launch"]["anyOf"]] == [
        f"{launch}\n\nHere: a launcher",
        f"{launch}\n\nHere: a map that says how ranks are started",
    ]
    assert run["launch"]["description"] == launch
    assert ["description" in one for one in run["time_limit"]["anyOf"]] == [False, False]  # shown once, from the key


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("site", "site"),
        ("system", "systems/c5"),
        ("test", "tests/defaults"),
        ("test", "tests/cm4"),
        ("test", "tests/stream"),
        ("plan", "plans/phase2"),
        ("contract", "contracts/phase2"),
        ("failures", "failures/site"),
        ("rehearsal", "rehearsals/naive"),
        ("rehearsal", "rehearsals/busy"),
    ],
)
def test_the_example_fits_its_schemas(kind: str, name: str) -> None:
    value = yaml.safe_load((EXAMPLE / f"{name}.yaml").read_text())
    assert fits(value, json_schema(kind))
    assert fits(value, json_schema())
    assert not fits({**value, "misspelt": 1}, json_schema(kind))
    assert not fits(value, json_schema("plan" if kind != "plan" else "test"))


def sections() -> dict[str, str]:
    """Kind of file -> its part of the reference."""
    parts = re.split(
        r"^## .*\((site|system|test|plan|contract|failures|rehearsal)\)$", REFERENCE.read_text(), flags=re.MULTILINE
    )
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("kind", list(TABLES))
def test_the_reference_has_every_key_and_no_other(kind: str) -> None:
    (table,) = re.findall(
        r"^\| key \| what it is \|\n\|---\|---\|\n((?:\|.*\n)+)", sections()[kind], flags=re.MULTILINE
    )
    rows = re.findall(r"^\| `([^`]+)` \| (.*) \|$", table, flags=re.MULTILINE)
    wanted = [(path, key.about + (" (required)" if key.required else "")) for path, key in documented(TABLES[kind])]
    assert rows == [(path, about.replace("|", "\\|")) for path, about in wanted]


@pytest.mark.parametrize("kind", list(TABLES))
def test_examples_in_the_reference_are_read_without_a_fault(kind: str) -> None:
    from shakedown.plans.schema.problems import Problems
    from shakedown.plans.schema.yaml_nodes import read_nodes

    texts = re.findall(r"```yaml\n(.*?)```", sections()[kind], flags=re.DOTALL)
    assert texts
    problems = Problems()
    root = read_nodes(texts[0].encode(), "reference", problems)
    assert root is not None
    TABLES[kind].read(root, "", problems)
    assert [str(problem) for problem in problems.found] == []
