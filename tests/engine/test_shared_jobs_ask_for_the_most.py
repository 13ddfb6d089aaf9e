"""A job of several runs asks for the most GPUs and memory of any, and no two of its runs share a GPU."""

from __future__ import annotations

from typing import Any

from shakedown.engine.state.bundles import Bundle, side_by_side, whole_job
from shakedown.model.nouns import Case, Shape
from shakedown.model.resources import Resources

GIB = 2.0**30
NODE = Bundle("pack", "small on batch", 4, 100, 0, 16, 0.0, memory_bytes=64 * GIB)


def case(name: str, cpus: int = 1, **asked: Any) -> Case:
    return Case(name, name, "c:batch", shape=Shape(1, 1, cpus, 1, resources=Resources(**asked)))


def test_the_job_asks_for_the_most_of_any() -> None:
    cases = [
        case("a", gpus_per_node=2, gpus_per_task=2, constraint="knl", memory_bytes=8 * GIB),
        case("b", cpus=4, gpus_per_node=1, constraint="knl", memory_per_cpu_bytes=4 * GIB),
        case("c", constraint="knl"),
    ]
    asked = whole_job(cases, NODE, 1).shape.resources
    assert asked == Resources(gpus_per_node=2, constraint="knl", memory_bytes=16 * GIB)


def test_runs_with_gpus_go_on_one_after_the_other() -> None:
    plain = [case("a"), case("b")]
    assert side_by_side(plain, NODE) == 2
    assert side_by_side([*plain, case("c", gpus_per_node=1)], NODE) == 1


def test_runs_side_by_side_have_room_in_a_nodes_memory() -> None:
    cases = [case(name, memory_bytes=30 * GIB) for name in "abcd"]
    assert side_by_side(cases, NODE) == 2
    assert side_by_side(cases, replace_at_once(3)) == 2
    assert whole_job(cases, NODE, 2).shape.resources.memory_bytes == 60 * GIB


def replace_at_once(count: int) -> Bundle:
    return Bundle("pack", "small on batch", 4, 100, count, 16, 0.0, memory_bytes=64 * GIB)


def test_nothing_is_asked_for_where_no_case_asks() -> None:
    assert whole_job([case("a"), case("b")], NODE, 2).shape.resources == Resources()
