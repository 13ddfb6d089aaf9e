"""``why`` of a component, a criterion, a drill: what keeps it from being accepted."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from finished_campaign import finished, people, site

__all__ = ["finished", "people", "site"]

People = Callable[..., subprocess.CompletedProcess[str]]


def test_a_component_says_what_keeps_it_from_being_accepted(site: Path, people: People) -> None:
    done = people(site, "why", "functionality", "p-1")
    assert done.returncode == 0
    assert done.stdout.splitlines()[:3] == [
        "component functionality",
        "rejected: 2 of 4 wanted results passed",
        "passed is not met: 2 passed / 4 wanted = 50.0%, must = 100%",
    ]


def test_a_criterion_says_how_it_came_out_in_each_component(site: Path, people: People) -> None:
    done = people(site, "why", "passed")
    assert done.stdout.splitlines()[:2] == [
        "criterion passed",
        "functionality: passed is not met: 2 passed / 4 wanted = 50.0%, must = 100%",
    ]


def test_a_drill_says_how_far_it_came(site: Path, people: People) -> None:
    (site / "plans/d.yaml").write_text(
        "plan: d\nsystem: here\ncomponents:\n  - stability:\n      tests: [ok]\n      duration: 1s\n      drills:\n"
        "        - {name: pull, about: pull a link, at: 1ms, who: vendor, expect: {lost: 0}}\n"
    )
    people(site, "run", "d", "-q")
    lines = people(site, "why", "pull", "d-1").stdout.splitlines()
    assert lines[0] == "drill pull" and lines[1].startswith(
        "stability: drill pull is due: pull a link (vendor does it)"
    )
    assert lines[2] == "stability: drill pull: lost is undecided: it was not done yet by the vendor"


def test_an_accepted_ladder_says_up_to_which_size_it_holds_and_by_which_criterion(site: Path, people: People) -> None:
    (site / "tests/sizes.yaml").write_text(
        "test: sizes\nparameters: {n: [1, 2, 4, 8, 16]}\nrun: {command: 'test {n} -le 3'}\n"
    )
    (site / "plans/s.yaml").write_text(
        "plan: s\nsystem: here\ncomponents:\n  - functionality:\n      name: up\n      tests: [sizes]\n      ladder: n\n"
        "      criteria: {reach: {measure: largest size, must: '>= 2'}}\n"
    )
    assert people(site, "run", "s", "-q").returncode == 0
    lines = people(site, "why", "up", "s-1").stdout.splitlines()
    assert lines[:2] == ["component up", "accepted: 2 of 4 wanted results passed"]
    assert lines[2].startswith("ladder: sizes holds up to n=2, not at n=4 (") and lines[2].endswith("4 of 5 sizes ran")
    assert lines[3:] == ["reach is met: sizes holds up to n=2, not at n=4, must >= 2"]


def test_what_is_nothing_of_all_that_is_refused(site: Path, people: People) -> None:
    done = people(site, "why", "functionalty", "p-1")
    assert done.returncode == 2 and "p-1 has no run and no case 'functionalty'" in done.stderr


def test_all_beside_a_name_says_how_to_name_the_campaign(site: Path, people: People) -> None:
    done = people(site, "cancel", "--all", "p-1", "--because", "enough")
    assert done.returncode == 2
    assert done.stderr == (
        "error: --all cancels the whole campaign: 'p-1' beside it says nothing\n"
        "hint: where it is the campaign, name it so: shakedown cancel --all --campaign p-1\n"
    )


def test_parties_as_a_list_show_how_a_map_is_written(site: Path, people: People) -> None:
    (site / "plans/q.yaml").write_text("plan: q\nparties: [site, vendor]\n")
    done = people(site, "check")
    assert "parties is a map of parties, not a list" in done.stderr
    assert "write it so: parties: {PARTY: ...}" in done.stderr
