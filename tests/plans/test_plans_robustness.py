"""Whatever a file holds, reading it ends with a document or with problems that have a place; nothing else ever happens."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shakedown.model.errors import FileProblems
from shakedown.plans.checking import check_site
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.tables import TABLES
from shakedown.plans.schema.yaml_nodes import LIMIT_NODES, read_nodes

QUICK = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
WORDS = [
    *(
        "",
        "a",
        "1",
        "0",
        "-1",
        "1.5",
        "x y",
        "~",
        "no",
        "12:30",
        "2h",
        "50%",
        "4 GB/s",
        ">= 1 GB/s",
        "tag:x",
        "all",
        "c5",
    ),
    *(
        "{node.cores}",
        "{a + 1}",
        "{",
        "}",
        "{threads}",
        "exit is any",
        'output contains "x"',
        "(?P<value>x)",
        "elapsed",
    ),
    *("../x", "/etc/passwd", "src", "stream", "none", "n[1-4]", "\x1b[31m", "é\u2028", "a" * 150),
]


@given(st.one_of(st.text(), st.text(alphabet="ab:-{}[]'\"&*!<>|\n\t #,?%@`"), st.binary()))
def test_any_text(text: str | bytes) -> None:
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    for table in TABLES.values():
        problems = Problems()
        root = read_nodes(data, "a.yaml", problems)
        if root is None:
            assert len(problems) == 1
        else:
            table.read(root, "", problems)
        assert all(problem.path == "a.yaml" and problem.message.isprintable() for problem in problems.found)


@pytest.mark.parametrize("piece", ["[", "{a: ", "- ", "? ", "[[{a: ", "&a [*a, "])
def test_nesting_without_end(piece: str) -> None:
    problems = Problems()
    assert read_nodes((piece * 2**20)[: 2**20].encode(), "a.yaml", problems) is None
    assert len(problems) == 1


def test_a_few_lines_that_stand_for_billions() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    problems = Problems()
    assert read_nodes("\n".join(lines).encode(), "a.yaml", problems) is None
    assert [p.message for p in problems.found] == [f"its aliases stand for more than {LIMIT_NODES} entries"]


def test_anchors_and_merge_keys_are_understood() -> None:
    text = b"a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\nc: {<<: [{x: 4}, *a]}\nd: *a\n"
    problems = Problems()
    root = read_nodes(text, "a.yaml", problems)
    assert root is not None
    assert problems.found == []
    shown = {key.value: {k.value: v.value for k, v in value.value} for key, value in root.value}
    assert shown == {
        "a": {"x": "1", "y": "2"},
        "b": {"y": "3", "x": "1"},
        "c": {"x": "4", "y": "2"},
        "d": {"x": "1", "y": "2"},
    }


# ---- the example, damaged --------------------------------------------------------------------------------------------

FILES = ["site", "systems/c5", "tests/defaults", "tests/cm4", "tests/stream", "plans/phase2", "contracts/phase2"]
EXAMPLE = Path(__file__).parent / "example"
TREES = {name: yaml.load((EXAMPLE / f"{name}.yaml").read_text(), yaml.CBaseLoader) for name in FILES}


def paths(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    pairs = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, below in pairs:
        yield from paths(below, (*path, key))


DAMAGE = st.one_of(
    st.sampled_from(WORDS),
    st.just(None),
    st.text(max_size=10),
    st.builds(lambda word: [word], st.sampled_from(WORDS)),
    st.builds(lambda key, word: {key: word}, st.sampled_from(WORDS), st.sampled_from(WORDS)),
    st.builds(lambda: Ellipsis),  # taken away
)


def damaged(name: str, path: tuple[Any, ...], damage: Any) -> Any:
    tree = copy.deepcopy(TREES[name])
    node = tree
    for step in path[:-1]:
        node = node[step]
    if damage is ...:
        del node[path[-1]]
    else:
        node[path[-1]] = damage
    return tree


@QUICK
@given(st.data())
def test_the_example_with_any_part_replaced(example: Any, here: Any, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(FILES))
    path = data.draw(st.sampled_from(list(paths(TREES[name]))))
    text = yaml.safe_dump(damaged(name, path, data.draw(DAMAGE)), sort_keys=False, allow_unicode=True)
    example.write(f"{name}.yaml", text)
    try:
        checked = check_site(example.path, lambda: here)
        for problem in checked.problems:
            assert problem.message.isprintable()
            assert problem.line > 0 or "already" in problem.message
        if not checked.problems:
            example.read("plans/phase2.yaml")
    except FileProblems:
        pytest.fail("what check does not find, reading a plan must not find either")
    finally:
        example.write(f"{name}.yaml", (EXAMPLE / f"{name}.yaml").read_text())
