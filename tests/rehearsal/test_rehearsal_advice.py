"""Advice on a plan can be pasted: whatever has the form of a setting is read without a complaint where it says that it belongs."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from msgspec.structs import replace
from rehearsal_plans import HOUR, USUAL, Mixed, times

from shakedown.metrics.limits import Limits
from shakedown.metrics.limits_in_words import IN_WORDS, Words
from shakedown.model.filling import Fill, Sweep
from shakedown.model.nouns import Document, Retry
from shakedown.model.settings_in_words import THE_SYSTEM
from shakedown.plans import read_plan
from shakedown.plans.schema.plan import PLAN
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.tables import SYSTEM
from shakedown.plans.schema.test import TEST
from shakedown.plans.schema.yaml_nodes import read_nodes
from shakedown.rehearsal.faults import troubles
from shakedown.rehearsal.levers import Lever, levers_of
from shakedown.rehearsal.virtual_session import Rehearsal

SETTING = re.compile(r"(?:in ([\w' -]+): )?\b([a-z_]+): (\{.*\})$")
CLUSTER = {"scheduler": "slurm", "partitions": {"batch": {"nodes": "n[1-4]", "type": "t"}}}
COMPONENTS = ("steady", "sweep")
KEYS = {
    "after", "budgets", "build", "builds", "clock", "components", "copies", "drain", "duration", "exclude_after", "fill", "filler",
    "limits", "mix", "modes", "queue_ahead", "queued", "ramp", "repeats", "retry", "run", "stagger", "stop_after", "survive",
    "sweep", "target", "time_limit", "windows", "yield_to",
}  # fmt: skip


def complaints(where: str, key: str, value: str) -> list[str]:
    """What the reader of that file says of a setting that is pasted into it, beside what the file must have."""
    said = yaml.safe_load(f"{key}: {value}")
    if where == THE_SYSTEM:
        cluster = CLUSTER | said.pop("clusters", {}).get("c", {})
        table, whole = SYSTEM, {"system": "s", "clusters": {"c": cluster}, "node_types": {"t": {"cores": 4}}} | said
    elif where.startswith("test "):
        table, whole = TEST, {"test": "t", **said, "run": {"command": "x", **said.get("run", {})}}
    elif where:
        assert where in COMPONENTS, where
        table, whole = PLAN, {"plan": "p", "system": "s", "components": [{"stability": {"tests": ["t"]} | said}]}
    else:
        table, whole = PLAN, {"plan": "p", "system": "s", "components": [{"stability": {"tests": ["t"]}}]} | said
    problems = Problems()
    root = read_nodes(yaml.safe_dump(whole).encode(), "pasted.yaml", problems)
    assert root is not None
    table.read(root, "", problems)
    return [problem.message for problem in problems.found]


def wrong_in(advice: str) -> list[str]:
    """What cannot be pasted of an advice, a text of several parts: each is a setting, ends with one, or is words alone."""
    wrong = []
    for part in advice.split("; "):
        found = SETTING.search(part)
        words = part[: found.start()] if found else part
        wrong += [f"{part}: '{key}' looks like a setting" for key in re.findall(r"([a-z_]+): ", words) if key in KEYS]
        wrong += [f"{part}: {one}" for one in (complaints(found[1] or "", found[2], found[3]) if found else ())]
    return wrong


def busy() -> Document:
    """A plan in which everything can be loosened."""
    plan = Mixed(
        hours=2.0,
        copies=(("small", 3), ("large", 3)),
        stagger_s=200.0,
        per_target=1.0,
        ramp_s=HOUR,
        building=True,
        builds=1,
    ).plan()
    plan = replace(plan, limits=replace(plan.limits, exclude_after=3, queued=4))
    (one,) = plan.components
    fill = replace(one.fill, target=0.9, drain=True, queue_ahead_s=60.0)
    other = replace(
        one, name="sweep", duration_s=0.0, mix=(), fill=Fill(), sweep=Sweep(), retry=(Retry("node_fail", 2),)
    )
    return replace(plan, components=(replace(one, fill=fill, stop_after=3), other))


def levers(plan: Document, overran: tuple[str, ...] = (), *faults: str) -> list[Lever]:
    rehearsal = Rehearsal(troubles(times(**USUAL), faults, plan.system), 0)
    limits = Limits("", 100.0, 50.0, 2.0, 16.0, ())
    longest = {case.id: case.shape.time_limit_s / 4 for case in plan.cases}
    return levers_of(plan, rehearsal, limits, longest, overran)


@pytest.mark.parametrize("overran", [(), ("small",)])
def test_each_change_that_a_rehearsal_may_advise_can_be_pasted(overran: tuple[str, ...]) -> None:
    made = levers(busy(), overran, "crash=1h")
    assert {one.cause for one in made} >= {
        "budget:f2/mdt", "copies:small", "stagger", "queued", "excluded", "ahead", "target", "ramp", "drain", "away", "sweep",
        "retry", "walltime", "build:slots", "filler", "stopped",
    }  # fmt: skip
    assert [wrong for one in made if one.plan is not None for wrong in wrong_in(one.change)] == []
    more = [lever.again(times) for lever in made for times in (1.1, 1.25, 3.0) if lever.again is not None]
    assert [wrong for one in more for wrong in wrong_in(one.change)] == []


def test_a_test_of_one_node_that_the_plan_lacks_is_advised_in_words() -> None:
    (wide,) = [one for one in levers(Mixed(hours=2.0, widths=(9, 9)).plan()) if one.cause == "wide"]
    assert wide.change == "a test of one node in the mix of steady, with 50% of its node-hours"


def test_a_test_has_one_time_limit_that_is_long_enough_for_all_its_cases() -> None:
    """Of a test with two cases the longer run counts; where one case has no run that passed nothing is advised."""
    plan = Mixed(hours=2.0).plan()
    twice = replace(plan, cases=(*plan.cases, replace(plan.cases[0], id="small.2")))

    def advised(**longest: float) -> list[str]:
        rehearsal = Rehearsal(troubles(times(**USUAL), (), plan.system), 0)
        ran = {name.replace("_2", ".2"): seconds for name, seconds in longest.items()}
        made = levers_of(twice, rehearsal, Limits("", 100.0, 50.0, 2.0, 16.0, ()), ran)
        return [one.change for one in made if one.cause == "walltime"]

    assert advised(small=300.0, small_2=600.0) == ["in test small: run: {time_limit: 11 min 00 s}"]
    assert advised(small=300.0) == [] == advised(small=300.0, small_2=1750.0)


@pytest.mark.parametrize("kind", sorted(IN_WORDS))
def test_what_is_said_of_each_cause_can_be_pasted(kind: str) -> None:
    plan = busy()
    (cluster,) = plan.system.clusters
    plan = replace(plan, system=replace(plan.system, clusters=(replace(cluster, licences=(("app", 4.0),)),)))
    abouts = {"budget": ("f2/mdt",), "copies": ("small", "large"), "licence": ("app",), "build": ("slots", "time")}
    for about in abouts.get(kind, ("small", "")):
        _, _, change = IN_WORDS[kind](Words(plan, plan.components[0], about, 3.0, 16.0, 1.5))
        assert wrong_in(change) == []


def test_no_more_is_kept_at_the_scheduler_than_the_plan_lasts() -> None:
    def ahead(hours: float) -> list[str]:
        plan = Mixed(hours=hours).plan()
        plan = replace(plan, components=tuple(replace(one, fill=Fill()) for one in plan.components))
        return [one.change for one in levers(plan) if one.cause == "ahead"]

    assert ahead(1 / 15) == ["in steady: fill: {queue_ahead: 4 min 00 s}"]
    assert ahead(100.0) == ["in steady: fill: {queue_ahead: 10 min 00 s}"]


# ---- the plan with the change is read as any plan is ---------------------------------------------------------------------

EXAMPLE = Path(__file__).parents[1] / "plans" / "example"
IN_ALL = """plan: all
system: c5
components:
  - vendor: {procedures: [{name: diagnostics, who: vendor}]}
  - functionality: {name: sizes, tests: [{test: cm4, where: {toolchain: intel-classic}}], ladder: threads}
  - functionality: {name: nodes, tests: [stream], sweep: {queued: 16}}
  - stability: {name: swept, tests: [stream], sweep: {queued: 4}, duration: 2h}
  - stability:
      tests: [stream]
      duration: 2h
      retry: {timeout: 1}
      fill: {target: 90%}
      drills: [{name: oss, at: 20min, expect: {lost: 0}}]
scores:
  sustained:
    kind: ssp
    must: ">= 4"
    nodes: 4
    parts: {elsewhere: {time: 92.43 s, tflop: 3350.2, nodes: 2048}}
"""


FILES = {"c5-phase2": "phase2.yaml", "all": "all.yaml"}


def read(site: Path, plan: str) -> Document:
    return read_plan(site, plan, lambda: pytest.fail("the plan names its system"))


def pasted(whole: Any, said: Any) -> Any:
    """What stands in a file after a person merged a setting into it."""
    if not (isinstance(whole, dict) and isinstance(said, dict)):
        return said
    return whole | {key: pasted(whole.get(key), value) for key, value in said.items()}


def with_setting(site: Path, plan: str, where: str, said: dict[str, Any]) -> None:
    """Paste one setting into the file where it says that it belongs."""
    if where == THE_SYSTEM:
        path = site / "systems" / "c5.yaml"
    else:
        path = site / (
            f"tests/{where.removeprefix('test ')}.yaml" if where.startswith("test ") else f"plans/{FILES[plan]}"
        )
    whole = yaml.safe_load(path.read_text())
    if where and where != THE_SYSTEM and not where.startswith("test "):
        (place,) = [
            n
            for n, one in enumerate(whole["components"])
            for kind, part in one.items()
            if part.get("name", kind) == where
        ]
        ((kind, part),) = whole["components"][place].items()
        whole["components"][place] = {kind: pasted(part, said)}
    else:
        whole = pasted(whole, said)
    path.write_text(yaml.safe_dump(whole, sort_keys=False))


@pytest.mark.parametrize("plan", ["c5-phase2", "all"])
def test_a_plan_is_read_with_each_setting_that_is_tried(plan: str, tmp_path: Path) -> None:
    def a_site() -> Path:
        site = Path(shutil.copytree(EXAMPLE, tmp_path / "site", dirs_exist_ok=True))
        (site / "plans" / "all.yaml").write_text(IN_ALL)
        return site

    document = read(a_site(), plan)
    tried: set[tuple[str, str]] = set()
    seen: set[tuple[str, str, str]] = set()
    for one in levers(document, tuple(case.id for case in document.cases), "crash=1h"):
        for part in one.change.split("; ") if one.plan is not None else ():
            found = SETTING.search(part)
            if found and (found[1] or found.start() == 0) and (found[1] or "", found[2], one.cause) not in seen:
                seen.add((found[1] or "", found[2], one.cause))
                site = a_site()
                with_setting(site, plan, found[1] or "", yaml.safe_load(f"{found[2]}: {found[3]}"))
                read(site, plan)
                tried.add((found[1] or "", found[2]))
    retried = {where for where, key in tried if key == "retry"}
    assert retried == {one.name for one in document.components if one.cases}
    assert not {"scores", "diagnostics"} & {where for where, _ in tried}
    assert any(key == "fill" for _, key in tried)
