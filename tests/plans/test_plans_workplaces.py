"""Where runs work: the directory follows the load, unless the test says otherwise; what other systems have does not bind."""

from __future__ import annotations

from typing import Any

import pytest

SYSTEM = """\
system: big
clusters: {one: {scheduler: slurm, licences: {lic_a: 8, lic_b: 8, flex: 4}, partitions: {batch: {nodes: "n[1-8]", type: t}}}}
node_types: {t: {cores: 16}}
filesystems:
  f2: {path: "/lustre/f2/{mdt}/acceptance", targets: {mdt: [a, b]}}
  f3: {path: "/lustre/f3/{ost}/{mdt}", targets: {mdt: [x], ost: [y, z]}}
  home: {path: /home/acceptance}
budgets:
  f2/mdt: {amount: 8 per target, licence: "lic_{target}"}
  f3/mdt: 4 per target
  f3/ost: 2 per target
  matlab: {amount: 3, licence: flex}
"""
ON_F2 = ("/lustre/f2/{mdt}/acceptance", (("mdt", "f2/mdt"),), "link")
IN_CAMPAIGN = ("", (), "link")


def place(site: Any, run: str = "", loads: str = "", system: str = "big") -> tuple[str, Any, str]:
    site.write("systems/big.yaml", SYSTEM)
    site.write("tests/deck", "x")
    site.test(f"test: a\nrun: {{command: 'true'{run}}}\n{f'loads: {{{loads}}}' if loads else ''}\n")
    case = site.case(system)
    return case.work, case.targets, case.stage


@pytest.mark.parametrize(
    ("run", "loads", "expected"),
    [
        ("", "", IN_CAMPAIGN),
        ("", "f2/mdt: 1", ON_F2),
        (", work: f2", "f2/mdt: 1", ON_F2),
        (", work: campaign", "f2/mdt: 1", IN_CAMPAIGN),
        (", work: home", "", ("/home/acceptance", (), "link")),
        (", work: home", "f2/mdt: 1", ("/home/acceptance", (), "link")),
        (", work: {big: f2}", "f2/mdt: 1", ON_F2),
        (", work: {default: campaign, here: home}", "f2/mdt: 1", IN_CAMPAIGN),
        ("", "f3/mdt: 1, f3/ost: 1", ("/lustre/f3/{ost}/{mdt}", (("ost", "f3/ost"), ("mdt", "f3/mdt")), "link")),
        (", work: f2", "f2/mdt: 1, f3/ost: 1", ON_F2),
        (", files: [deck], stage: per-target", "f2/mdt: 1", (*ON_F2[:2], "per-target")),
        (", files: [deck], stage: copy", "", ("", (), "copy")),
    ],
)
def test_the_directory_follows_the_load(site: Any, run: str, loads: str, expected: tuple[str, Any, str]) -> None:
    assert place(site, run, loads) == expected


def test_another_system_is_not_bound_by_targets_of_this_one(site: Any) -> None:
    run = ", files: [deck], stage: per-target"
    assert place(site, run, "f2/mdt: 1", system="here") == IN_CAMPAIGN


def test_a_file_system_that_only_another_system_has_makes_the_case_unavailable(site: Any) -> None:
    assert place(site, ", work: f2", "f2/mdt: 1", system="here") == IN_CAMPAIGN
    assert site.case("here").unavailable == "system here has no file system f2"


@pytest.mark.parametrize(
    ("loads", "fault"),
    [
        (
            "f2/mdt: 1, f3/mdt: 1",
            "loads: it loads targets of f2 and of f3\nhint: run: {work: f2} says where it works",
        ),
        ("f3/mdt: 1", "which target? the path of f3 has {ost}, and the test loads no f3/ost"),
    ],
)
def test_a_load_that_leaves_the_target_open_is_told(site: Any, loads: str, fault: str) -> None:
    from shakedown.model.errors import FileProblems

    with pytest.raises(FileProblems) as caught:
        place(site, "", loads)
    assert fault in str(caught.value)


def test_what_is_per_target_is_so_much_on_each_and_has_a_licence_for_each(site: Any) -> None:
    place(site)
    system = site.listing("big").system
    assert system.budgets == (("f2/mdt", 8.0), ("f3/mdt", 4.0), ("f3/ost", 2.0), ("matlab", 3.0))
    assert system.targeted == (("f2/mdt", ("a", "b")), ("f3/mdt", ("x",)), ("f3/ost", ("y", "z")))
    names = (("f2/mdt@a", "lic_a"), ("f2/mdt@b", "lic_b"), ("matlab", "flex"))
    assert system.licence_names == names


@pytest.mark.parametrize(
    ("loads", "why"),
    [
        ("f2/mdt: 9", "one run takes 9 of f2/mdt and each target has 8"),
        ("f2/mdt: 0.5", "one run takes 0.5 of f2/mdt, a licence that Slurm hands out in whole numbers"),
        ("matlab: 4", "one run takes 4 of matlab and the budget is 3"),
        ("f3/ost: 1.5, f3/mdt: 1", ""),
    ],
)
def test_one_run_fits_on_one_target(site: Any, loads: str, why: str) -> None:
    place(site, "", loads)
    assert site.case("big").unavailable == why


def test_a_budget_narrows_its_licences_and_a_share_is_of_each_target(site: Any) -> None:
    site.write("systems/big.yaml", SYSTEM)
    site.test("test: a\nrun: {command: 'true'}\nloads: {f2/mdt: 1}\n")
    plan = "plan: p\nsystem: big\ncomponents: [{functionality: {tests: [a], limits: {budgets: {f2/mdt: AMOUNT}}}}]\n"
    for written, amount in (("50%", 4.0), ("3 per target", 3.0), ("50% per target", 4.0)):
        (component,) = site.plan(plan.replace("AMOUNT", written)).components
        assert component.limits.budgets == (("f2/mdt", amount),)
