"""``shakedown list``: tests, cases, systems and plans, with what cannot run here and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shakedown.cli.output import emit, fitted, json_option, printable, site_option, table
from shakedown.model.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from shakedown.model.nouns import Case, System, Test
    from shakedown.plans import Listing
    from shakedown.plans.systems import Machine


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be listed. ``nowhere``: there is no site here."""

    site: Path
    test: str | None
    tag: str | None
    plan: str | None
    system: str | None
    as_json: bool
    nowhere: bool = False


@click.command("list")
@click.argument("what", default="tests", metavar="[tests|cases|systems|plans|campaigns]")
@click.option("--test", help="Only this test.")
@click.option("--tag", help="Only tests with this tag.")
@click.option("--plan", help="Only what this plan runs, on its system.")
@click.option("--system", help="Cases on this system; without it, on the machine this runs on.")
@site_option
@json_option
def command(
    what: str,
    test: str | None,
    tag: str | None,
    plan: str | None,
    system: str | None,
    site: str | None,
    as_json: bool,
) -> None:
    """List tests (the default), cases, systems, plans or campaigns. What cannot run here is shown with the reason.

    Campaigns are those of the site's register: also those whose directories are gone, with how they ended.
    """
    if what not in LISTS:
        raise UsageError(f"there is no list of '{what}'", did_you_mean(what, LISTS) or f"there are: {', '.join(LISTS)}")
    found = _site_for(what, site)
    LISTS[what](Asked(found or Path(), test, tag, plan, system, as_json, nowhere=found is None))


def _site_for(what: str, site: str | None) -> Path | None:
    """The site; the machine we are on and the package's systems are there without one."""
    from shakedown.plans import find_site

    try:
        return find_site(Path(site) if site else None)
    except UsageError:
        if what == "systems" and site is None:
            return None
        raise


def list_tests(asked: Asked) -> None:
    """Tests with how many cases they have, and those that are only extended."""
    listing = _listing(asked)
    count = Counter(case.test for case in listing.cases)
    lost = Counter(case.test for case in listing.cases if case.unavailable)
    rows: list[tuple[str, ...]] = [
        (test.name, str(count[test.name]), _lost(lost[test.name]), " ".join(test.tags), test.about)
        for test in listing.tests
    ]
    if not (asked.test or asked.tag or asked.plan):
        rows += [(name, "abstract", "", "", about) for name, about, _ in listing.abstract]
    data = [
        {
            "test": test.name,
            "about": test.about,
            "tags": test.tags,
            "file": test.path,
            "cases": count[test.name],
            "unavailable": lost[test.name],
        }
        for test in listing.tests
    ]
    emit(
        data, asked.as_json, lambda: fitted(table(("TEST", "CASES", "UNAVAILABLE", "TAGS", "ABOUT"), rows, right=(1,)))
    )


def list_cases(asked: Asked) -> None:
    """Cases with what each takes; what cannot run here says why."""
    listing = _listing(asked)
    local = {
        f"{cluster.name}:{partition.name}"
        for cluster in listing.system.clusters
        for partition in cluster.partitions
        if cluster.embedded
    }
    emit(listing.cases, asked.as_json, lambda: fitted(_render_cases(listing.cases, local, listing.system)))


def list_systems(asked: Asked) -> None:
    """The machine this runs on, the systems of the site, and those of the package; a site's own hides one of the package."""
    from shakedown.machine import this_system
    from shakedown.plans import read_site
    from shakedown.plans.finding import shipped_systems
    from shakedown.plans.schema.problems import Problems
    from shakedown.plans.site import Site
    from shakedown.plans.systems import Machine

    site = read_site(asked.site, parts="") if not asked.nowhere else Site("", Problems())
    site.stop()
    shipped = shipped_systems()
    own = [machine for machine in site.machines.values() if not machine.shipped]
    names = sorted(shipped.keys() - {machine.system.name for machine in own})
    machines = [Machine(this_system()), *own, *(site.machine(name, this_system) for name in names)]
    site.stop()
    hidden = {machine.system.name for machine in own} & shipped.keys()
    emit(
        [_system_data(machine, hidden) for machine in machines],
        asked.as_json,
        lambda: fitted(
            table(("SYSTEM", "FROM", "PARTITIONS", "ABOUT"), [_system_row(machine, hidden) for machine in machines])
        ),
    )


def list_plans(asked: Asked) -> None:
    """The plans of the site, and those of the package."""
    from shakedown.plans.documents import plan_summaries
    from shakedown.plans.site import read_site

    plans = plan_summaries(read_site(asked.site, parts="plans"))
    rows = [(plan.name, plan.system, ", ".join(plan.components), plan.about) for plan in plans]
    emit(plans, asked.as_json, lambda: fitted(table(("PLAN", "SYSTEM", "COMPONENTS", "ABOUT"), rows)))


def list_campaigns(asked: Asked) -> None:
    """What the site's register has, the oldest first."""
    from shakedown.cli.register import show_campaigns

    show_campaigns(asked.site, asked.as_json)


LISTS = {
    "tests": list_tests,
    "cases": list_cases,
    "systems": list_systems,
    "plans": list_plans,
    "campaigns": list_campaigns,
}


# ---- what is asked for -----------------------------------------------------------------------------------------------


def _listing(asked: Asked) -> Listing:
    """Tests and cases, narrowed to what was asked for. A filter that fits nothing is an error."""
    from dataclasses import replace

    listing = _of_plan(asked) if asked.plan else _of_site(asked)
    tests = [test for test in listing.tests if _wanted(test, asked)]
    if (asked.test or asked.tag) and not tests:
        raise UsageError(*_nothing(listing, asked))
    if len(tests) == len(listing.tests):
        return listing
    names = {test.name for test in tests}
    return replace(listing, tests=tuple(tests), cases=tuple(case for case in listing.cases if case.test in names))


def _of_site(asked: Asked) -> Listing:
    from shakedown.machine import this_system
    from shakedown.plans import list_cases

    return list_cases(asked.site, asked.system, this_system)


def _of_plan(asked: Asked) -> Listing:
    from shakedown.machine import this_system
    from shakedown.plans import Listing, read_plan
    from shakedown.plans.files import CATALOGUE

    plan = asked.plan or ""
    if asked.system and not plan.startswith(CATALOGUE):
        raise UsageError("--plan and --system do not go together", "a plan names its own system")
    document = read_plan(asked.site, plan, this_system, system=asked.system)
    return Listing(document.system, document.tests, document.cases, document.builds)


def _wanted(test: Test, asked: Asked) -> bool:
    return asked.test in (None, test.name) and (asked.tag is None or asked.tag in test.tags)


def _nothing(listing: Listing, asked: Asked) -> tuple[str, str | None]:
    """What fits nothing, and what may have been meant."""
    names, tags = [test.name for test in listing.tests], {tag for test in listing.tests for tag in test.tags}
    abstract = [name for name, *_ in listing.abstract]
    if asked.test in abstract:
        return f"test '{asked.test}' is abstract: it has no cases", "list a test that extends it"
    if asked.test and asked.test not in names:
        near = did_you_mean(asked.test, [*names, *abstract]) or "'shakedown list tests' has them"
        return f"there is no test '{asked.test}'", near
    if asked.tag and asked.tag not in tags:
        return f"no test has the tag '{asked.tag}'", did_you_mean(
            asked.tag, tags
        ) or f"tags are: {', '.join(sorted(tags))}"
    return f"test '{asked.test}' has no tag '{asked.tag}'", None


# ---- in words --------------------------------------------------------------------------------------------------------


def _render_cases(cases: Sequence[Case], local: set[str], system: System) -> str:
    rows = [(case.id, _takes(case, local), _note(case)) for case in cases]
    lost = sum(bool(case.unavailable) for case in cases)
    total = f"{len(cases)} case{'' if len(cases) == 1 else 's'}" + (f", {lost} unavailable" if lost else "")
    return "\n".join([table(("CASE", "TAKES", "NOTE"), rows), total, *_unnamed(cases, system)])


def _unnamed(cases: Sequence[Case], system: System) -> list[str]:
    """A line on partitions that no case is on, because their nodes are in another and nothing names them."""
    from shakedown.plans.partition_scopes import named_only

    used = {case.partition for case in cases}
    several = len(system.clusters) > 1
    names = [
        f"{ident if several else ident.partition(':')[2]} (nodes of {home})"
        for ident, home in named_only(system).items()
        if ident not in used
    ]
    return [printable(f"only where a test or a plan names them: {', '.join(names)}")] if names else []


def _takes(case: Case, local: set[str]) -> str:
    if not case.script:
        return ""  # what it would take is not known where it cannot run
    units, thing = case.shape.units, "core" if case.partition in local else "node"
    gpus = case.shape.resources.gpus_per_node
    with_gpus = f", {gpus} GPU{'' if gpus == 1 else 's'}{'' if thing == 'core' else ' each'}" if gpus else ""
    return f"{units} {thing}{'' if units == 1 else 's'}{with_gpus}"


def _note(case: Case) -> str:
    if case.unavailable:
        return f"unavailable: {case.unavailable}"
    return f"expected: {case.expect}, {case.because}" if case.expect else ""


def _lost(count: int) -> str:
    return str(count) if count else ""


def _system_row(machine: Machine, hidden: set[str]) -> tuple[str, ...]:
    system = machine.system
    source = "the package" if machine.shipped else machine.file or "as found"
    source += ", not the package's" if system.name in hidden else ""
    partitions = ", ".join(_partition(system, partition) for partition in system.partitions())
    return system.name, source, partitions, system.about.partition(". ")[0]


def _system_data(machine: Machine, hidden: set[str]) -> dict[str, Any]:
    """The system, the file it is from ("" for the machine as found), and whether it hides one of the package."""
    import msgspec

    system: dict[str, Any] = msgspec.to_builtins(machine.system)
    return {**system, "file": machine.file, "hides_shipped": machine.system.name in hidden}


def _partition(system: System, partition: Any) -> str:
    kind = system.node_type(partition.type)
    gpus = f", {kind.gpus.count} GPU{'' if kind.gpus.count == 1 else 's'}" if kind.gpus.count else ""
    return printable(f"{partition.cluster}:{partition.name} ({partition.count} x {kind.cores} cores{gpus})")
