"""Builds of one name are told apart by what they differ in, and by nothing else."""

from __future__ import annotations

from shakedown.model.build_names import names_of_builds
from shakedown.model.nouns import Build, Case


def build(key: str, name: str = "triad", partition: str = "") -> Build:
    return Build(key, name, "", "make", partition=partition)


def case(number: int, key: str, toolchain: str = "", **parameters: str) -> Case:
    return Case(f"c{number}", "triad", "here:all", toolchain, tuple(parameters.items()), build=key)


def test_a_name_that_only_one_has_is_enough() -> None:
    builds = [build("a" * 64), build("b" * 64, "other")]
    assert names_of_builds(builds, [case(1, "a" * 64, "gcc", way="static")]) == {"a" * 64: "triad", "b" * 64: "other"}


def test_builds_of_one_name_say_what_they_differ_in() -> None:
    keys = [letter * 64 for letter in "abc"]
    cases = [
        case(1, keys[0], "gcc", way="static", size="1"),
        case(2, keys[0], "gcc", way="static", size="2"),  # the size is built into none of them
        case(3, keys[1], "gcc", way="shared", size="1"),
        case(4, keys[2], "clang", way="static", size="1"),
    ]
    names = names_of_builds(map(build, keys), cases)
    assert list(names.values()) == ["triad (gcc, way=static)", "triad (gcc, way=shared)", "triad (clang, way=static)"]


def test_builds_for_several_partitions_say_which() -> None:
    builds = [build("a" * 64, partition="c:batch"), build("b" * 64, partition="c:gpu")]
    names = names_of_builds(builds, [case(1, "a" * 64, "gcc"), case(2, "b" * 64, "gcc")])
    assert list(names.values()) == ["triad (on c:batch)", "triad (on c:gpu)"]


def test_builds_that_differ_in_what_nobody_names_have_their_keys() -> None:
    names = names_of_builds([build("a" * 64), build("b" * 64)], [])
    assert list(names.values()) == ["triad aaaaaaaa", "triad bbbbbbbb"]
