"""Tests that need others: what is wrong with it is told once, with its place and a way out."""

from __future__ import annotations

from typing import Any

import pytest

MESH = "test: make-mesh\nparameters: {size: [1, 2]}\nrun: {command: x}\n"
SOLVE = "test: solve\nrun: {command: x}\n"


@pytest.mark.parametrize(
    ("solve", "message"),
    [
        (
            SOLVE + "needs: make-mehs\n",
            "tests/solve.yaml:3:8: there is no test 'make-mehs'\nhint: did you mean 'make-mesh'?",
        ),
        (
            SOLVE + "needs: [{test: make-mesh, where: {sise: 1}}]\n",
            "tests/solve.yaml:3:35: test 'make-mesh' has no parameter 'sise'\nhint: did you mean 'size'?",
        ),
        (
            SOLVE + "needs: make-mesh\n",
            "tests/solve.yaml:3:8: 2 cases of test 'make-mesh' fit solve: make-mesh/size=1, make-mesh/size=2, which differ in "
            "size, and test 'solve' has no such parameter\nhint: say which, such as 'where: {size: 1}', or need each in an item "
            "of its own",
        ),
        (
            SOLVE + "needs: make-mesh\nparameters: {size: [1, 2, 3, 4]}\n",
            "tests/solve.yaml:3:8: solve/size=3 needs the case of test 'make-mesh' with size=3, and there is none\n"
            "hint: in its cases size is 1, 2; leave out such cases (exclude), or choose with where",
        ),
        (
            SOLVE + 'needs: {test: make-mesh, where: {size: "{n}"}}\nparameters: {m: [1]}\n',
            "tests/solve.yaml:3:40: needs.where: unknown name 'n' in an expression\nhint: known here: filesystems, "
            "gpu.memory, gpu.model, gpu.numa, m, node.cores, node.gpus, node.memory, node.numa, node.sockets, "
            "node.threads_per_core, partition, partition.nodes, system",
        ),
        (
            SOLVE + "needs: make-mesh\nparameters: {size: [1, 2]}\n",
            "",
        ),
        (
            SOLVE + "needs: {test: make-mesh, where: {size: 1}, files: [../mesh.txt]}\n",
            "tests/solve.yaml:3:52: needs.files: '../mesh.txt' is not in the run's directory\n"
            "hint: name the file from there, without '..'",
        ),
        (
            SOLVE + "needs: {test: make-mesh, where: {size: 1}, files: [/etc/passwd]}\n",
            "tests/solve.yaml:3:52: needs.files: '/etc/passwd' is not in the run's directory\n"
            "hint: name the file from there, without '..'",
        ),
        (
            SOLVE + 'needs: {test: make-mesh, where: {size: 1}, files: ["{up}/x"]}\nparameters: {up: [..]}\n',
            "tests/solve.yaml:3:52: '../x' is not in the run's directory\nhint: name the file from there, without '..'",
        ),
        (
            SOLVE + "needs: {test: make-mesh, where: {size: 1}, into: mesh}\n",
            "tests/solve.yaml:3:44: 'into' has no meaning without 'files' in needs\nhint: name the files too",
        ),
        (
            SOLVE
            + "needs:\n- {test: make-mesh, where: {size: 1}, files: [m]}\n- {test: make-mesh, where: {size: 2}, files: [m]}\n",
            "tests/solve.yaml:4:1: make-mesh/size=1 and make-mesh/size=2 both give solve a file m\n"
            "hint: give each a directory of its own: into: NAME",
        ),
        (
            "test: solve\nrun: {command: x, stage: copy}\nneeds: {test: make-mesh, where: {size: 1}, files: [m]}\n",
            "",
        ),
        (
            SOLVE + "needs: {test: make-mesh, where: {size: 1}, fils: [m]}\n",
            "tests/solve.yaml:3:44: unknown key 'fils' in needs\nhint: did you mean 'files'?",
        ),
        (
            SOLVE + 'needs: {test: make-mesh, where: {size: "{n // 2}"}}\nparameters: {n: [2, 4]}\n',
            "",
        ),
        (
            SOLVE
            + "needs: [{test: make-mesh, where: {size: 1}}, {test: make-mesh, where: {size: 2}}, {programs: [sh]}]\n",
            "",
        ),
    ],
)
def test_each_mistake_is_told_once(solve: str, message: str, told: Any) -> None:
    assert told({"tests/mesh.yaml": MESH, "tests/solve.yaml": solve}) == (f"error: {message}" if message else "")


def test_tests_in_a_circle(told: Any) -> None:
    files = {f"tests/{name}.yaml": f"test: {name}\nneeds: {other}\nrun: {{command: x}}\n" for name, other in
             (("a", "b"), ("b", "c"), ("c", "a"))}  # fmt: skip
    assert told(files) == (
        "error: tests/a.yaml:2:8: tests need each other in a circle: a -> b -> c -> a (also in tests/b.yaml:2, tests/c.yaml:2)\n"
        "hint: one of them has to begin without the others"
    )


def test_an_abstract_test_cannot_be_needed(told: Any) -> None:
    files = {"tests/a.yaml": SOLVE + "needs: base\n", "tests/b.yaml": "test: base\nabstract: true\n"}
    assert told(files).startswith("error: tests/a.yaml:3:8: test 'base' is abstract and has no cases\n")


@pytest.mark.parametrize(
    ("components", "message"),
    [
        (
            "[{functionality: {tests: [solve]}}]",
            "component 'functionality': solve/size=1 needs make-mesh/size=1, which no component has",
        ),
        (
            "[{functionality: {tests: [solve]}}, {site: {tests: [make-mesh]}}]",
            "component 'functionality': solve/size=1 needs make-mesh/size=1, which only component 'site' has, and that stands "
            "after it",
        ),
        (
            "[{stability: {tests: [make-mesh], duration: 1h, mix: {make-mesh: 100%}}}, {functionality: {tests: [solve]}}]",
            "component 'functionality': solve/size=1 needs make-mesh/size=1 of component 'stability', which runs for a time: its "
            "runs have no one after another to wait for",
        ),
        (
            "[{site: {tests: [make-mesh], after: functionality}}, {functionality: {tests: [solve]}}]",
            "component 'functionality': solve/size=1 needs make-mesh/size=1 of component 'site', which begins only after "
            "'functionality'",
        ),
    ],
)
def test_a_plan_has_what_its_tests_need(components: str, message: str, told: Any) -> None:
    solve = SOLVE + "needs: make-mesh\nparameters: {size: [1, 2]}\n"
    plan = f"plan: p\nsystem: here\ncomponents: {components}\n"
    said = told({"tests/mesh.yaml": MESH, "tests/solve.yaml": solve, "plans/p.yaml": plan})
    assert message in said and said.count("needs make-mesh") == 1 and "hint:" in said


def test_a_mix_may_need_what_a_component_before_it_made(told: Any) -> None:
    solve = SOLVE + "needs: make-mesh\nparameters: {size: [1, 2]}\n"
    components = "[{site: {tests: [make-mesh]}}, {stability: {tests: [solve], duration: 1h, mix: {solve: 100%}}}]"
    plan = f"plan: p\nsystem: here\ncomponents: {components}\n"
    assert told({"tests/mesh.yaml": MESH, "tests/solve.yaml": solve, "plans/p.yaml": plan}) == ""
