"""``shakedown show``: one test, case, system, plan or contract in full; or the exact script of a case's job."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shakedown.cli.facts import facts, pairs
from shakedown.cli.output import emit, json_option, printable, site_option
from shakedown.metrics.words import plural
from shakedown.model.errors import UsageError, did_you_mean
from shakedown.model.units import show_bytes, show_duration

if TYPE_CHECKING:
    from shakedown.model.nouns import Build, Case, Check, Document, FigureSpec, Need, Test
    from shakedown.plans import Listing
    from shakedown.queries.run_view import RunView


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be shown. ``system`` None is the machine this runs on."""

    site: str | None
    name: str
    system: str | None
    as_json: bool
    campaign: str | None = None
    as_csv: bool = False


@click.command("show")
@click.argument("kind", metavar="KIND")
@click.argument("name", required=False, default="")
@click.option("--system", help="On this system; without it, on the machine this runs on.")
@click.option("--campaign", help="The campaign of a run; without it the newest.")
@click.option("--csv", "as_csv", is_flag=True, help="A contract's rows as CSV.")
@site_option
@json_option
def command(
    kind: str, name: str, system: str | None, campaign: str | None, as_csv: bool, site: str | None, as_json: bool
) -> int | None:
    """Show a test, case, system, plan, contract or run in full; 'script' shows the exact job script of a case.

    KIND is one of: test, case, system, plan, contract, script, run. A run is looked for in the newest campaign, or
    --campaign. For a contract NAME is its own or a plan's: its rows, the cases each is in force for, and what is unjudged.
    """
    if kind not in SHOWS:
        raise UsageError(f"nothing of the kind '{kind}' can be shown", did_you_mean(kind, SHOWS) or _there_are(SHOWS))
    if as_csv and kind != "contract":
        raise UsageError("--csv is for a contract", "--json prints everything else")
    if not name and kind not in ("system", "contract"):
        raise UsageError(f"which {kind} is to be shown?", f"shakedown show {kind} NAME; 'shakedown list' has the names")
    return SHOWS[kind](Asked(site, name, system, as_json, campaign, as_csv))


def show_test(asked: Asked) -> None:
    """A test: what is checked and measured, and its cases."""
    listing = _listing(asked)
    abstract = [name for name, *_ in listing.abstract]
    if asked.name in abstract:
        _show_abstract(asked)
        return
    test = _one(asked.name, {test.name: test for test in listing.tests}, "test", abstract)
    cases = [case for case in listing.cases if case.test == test.name]
    emit({"test": test, "cases": cases}, asked.as_json, lambda: _render_test(test, list(map(_shown, cases))))


def _show_abstract(asked: Asked) -> None:
    """A test that others extend: what they check and measure, and where its file is."""
    from shakedown.plans import abstract_test

    found = abstract_test(_site(asked), asked.name)
    if found is None:
        _one(asked.name, {}, "test", [asked.name])
        return
    test, path = found
    way = f"none: it is abstract; another test says 'extends: {test.name}' and what is run"
    emit({"test": test, "cases": [], "file": path}, asked.as_json, lambda: _render_test(test, [way], path))


def show_case(asked: Asked) -> None:
    """A case: everything that is fixed for it."""
    listing, case = _case(asked)
    test = next(test for test in listing.tests if test.name == case.test).of(case)
    build = next((build for build in listing.builds if build.key == case.build), None)
    local = case.partition.partition(":")[0] in [one.name for one in listing.system.clusters if one.embedded]
    emit({"case": case, "test": test, "build": build}, asked.as_json, lambda: _render_case(case, test, build, local))


def show_script(asked: Asked) -> None:
    """The script of a case's job, with stand-ins for what only a campaign knows."""
    from shakedown.model.layout import Layout
    from shakedown.queries.run_view import in_one, scripts_of

    listing, case = _case(asked)
    if case.unavailable:
        raise UsageError(f"{case.id} cannot run here: {case.unavailable}")
    text = in_one(scripts_of(listing.system, case, Layout(Path("CAMPAIGN")), "r000001", "j000001"))
    emit({"case": case.id, "script": text}, asked.as_json, lambda: printable(text.rstrip("\n")), exact=True)


def show_system(asked: Asked) -> None:
    """A system, with what it adds up to; without a name, the machine this runs on."""
    from shakedown.cli.show.show_system import show_system as show

    show(asked.site, asked.name or asked.system or "here", asked.as_json)


def show_plan(asked: Asked) -> None:
    """A plan, resolved on its system; one of the package on the system that is asked for."""
    from shakedown.cli.show.show_plan import render_plan
    from shakedown.machine import this_system
    from shakedown.plans import read_plan
    from shakedown.plans.files import CATALOGUE

    system = asked.system if asked.name and asked.name.startswith(CATALOGUE) else None
    document = read_plan(_site(asked), asked.name, this_system, system=system)
    emit(document, asked.as_json, lambda: render_plan(document))


def show_contract(asked: Asked) -> None:
    """The rows of a contract, or of a plan's contracts, and the cases that each is in force for."""
    from shakedown.cli.show.show_contract import show_contract as show

    show(_site(asked), asked.name, asked.system, asked.as_json, asked.as_csv)


def show_run(asked: Asked) -> None:
    """A run, put together again from the record: script, environment, output, verdicts."""
    from shakedown.cli.record import find_campaign
    from shakedown.model.layout import Layout
    from shakedown.queries.run_view import show_run as put_together

    layout = Layout(find_campaign(Path(asked.site) if asked.site else None, asked.campaign))
    view = put_together(layout, asked.name)
    emit(view, asked.as_json, lambda: _render_run(view), exact=True)


# kind -> what shows it; a new kind is a line here, and a word in the help of `command`
SHOWS: dict[str, Callable[[Asked], int | None]] = {
    "test": show_test,
    "case": show_case,
    "system": show_system,
    "plan": show_plan,
    "contract": show_contract,
    "script": show_script,
    "run": show_run,
}


def _render_run(view: RunView) -> str:
    lines = [f"run {view.run} of {view.case}, job {view.job or 'none'}"]
    lines += [f"{verdict['verdict']}: {verdict['reason']}" for verdict in view.verdicts] or ["not judged yet"]
    lines += ["", "script:", *(f"  {line}" for line in view.script.splitlines())]
    beside = f"; {len(view.not_stored)} more are not stored" if view.not_stored else ""
    lines += [
        "",
        f"environment: {plural(len(view.environment), 'variable')}{beside}; --json and 'shakedown export' show them",
    ]
    size = int(view.output_at.get("bytes", 0))
    lines += ["", f"output, {show_bytes(size)}:" if size else "no output"]
    shown = view.output.splitlines()
    cut = (
        [f"  ... {plural(len(shown) - 40, 'line')} more; 'shakedown export' writes all of it"]
        if len(shown) > 40
        else []
    )
    lines += cut + [f"  {line}" for line in shown[-40:]]
    return printable("\n".join(lines + ([f"files: {view.work}"] if view.work else [])))


# ---- finding it ------------------------------------------------------------------------------------------------------


def _site(asked: Asked) -> Path:
    from shakedown.plans import find_site

    return find_site(Path(asked.site) if asked.site else None)


def _listing(asked: Asked) -> Listing:
    from shakedown.machine import this_system
    from shakedown.plans import list_cases

    return list_cases(_site(asked), asked.system, this_system)


def _case(asked: Asked) -> tuple[Listing | Document, Case]:
    """A case by its id, or by its test's name where that has a single one; or one that only a plan of the site has."""
    listing = _listing(asked)
    of_plan = None if asked.name in {case.id for case in listing.cases} else _of_a_plan(asked)
    if of_plan is not None:
        return of_plan
    of_test = [case for case in listing.cases if case.test == asked.name]
    if len(of_test) == 1:
        return listing, of_test[0]
    if of_test and asked.name not in {case.id for case in of_test}:
        shown = ", ".join(case.id for case in of_test[:5]) + (", ..." if len(of_test) > 5 else "")
        raise UsageError(f"test '{asked.name}' has {len(of_test)} cases", f"name one of {shown}")
    known = {case.id: case for case in listing.cases}
    _tell_of_its_test(asked.name, list(known))
    tests = [test.name for test in listing.tests]
    return listing, _one(asked.name, known, "case", [name for name, *_ in listing.abstract], tests)


def _tell_of_its_test(name: str, known: Sequence[str]) -> None:
    """A case that is none, of a test that is one: its cases are what may have been meant. Raises UsageError."""
    test = re.split("[/@]", name, maxsplit=1)[0]
    own = [case for case in known if re.split("[/@]", case, maxsplit=1)[0] == test]
    if own and name not in known and name != test:
        shown = ", ".join(own[:5]) + (", ..." if len(own) > 5 else "")
        raise UsageError(
            f"there is no case '{name}'", did_you_mean(name, own) or f"the cases of test '{test}' are: {shown}"
        )


def _of_a_plan(asked: Asked) -> tuple[Document, Case] | None:
    """A case that is there because a plan names its system, or a partition within another."""
    from shakedown.machine import this_system
    from shakedown.plans import read_plan, read_site

    for name in read_site(_site(asked), parts="plans").plans:
        try:
            document = read_plan(_site(asked), name, this_system)
        except UsageError:  # 'shakedown check' says what is wrong with it
            continue
        if asked.system in (None, document.system.name):
            for case in document.cases:
                if case.id == asked.name:
                    return document, case
    return None


def _one(name: str, known: dict[str, Any], kind: str, abstract: Sequence[str] = (), beside: Sequence[str] = ()) -> Any:
    """The thing of this name. ``abstract``: tests without cases; ``beside``: other names that may have been meant."""
    if name in known:
        return known[name]
    if name in abstract:
        raise UsageError(f"test '{name}' is abstract: it has no cases", "show a test that extends it, or its file")
    near = did_you_mean(name, [*known, *beside, *abstract]) or f"'shakedown list {kind}s' has them"
    raise UsageError(f"there is no {kind} '{name}'", near)


def _there_are(names: Iterable[str]) -> str:
    return f"there are: {', '.join(names)}"


# ---- in words --------------------------------------------------------------------------------------------------------


def _shown(case: Case) -> str:
    return f"{case.id}  (unavailable: {case.unavailable})" if case.unavailable else case.id


def _render_test(test: Test, cases: Sequence[str], path: str = "") -> str:
    return facts(
        ("test", test.name),
        ("about", test.about),
        ("file", path or test.path),
        ("tags", " ".join(test.tags)),
        ("checks", _checks(test.checks)),
        ("figures", "\n".join(map(_figure, test.figures))),
        ("draws", ", ".join(test.draws)),
        ("cases", "\n".join(cases)),
    )


def _checks(checks: Sequence[Check]) -> str:
    return "\n".join(check.text for check in checks)


def _figure(figure: FigureSpec) -> str:
    if figure.formula:
        where = f"formula {figure.formula}"
    elif figure.table is not None:
        rows = f", a number for each {', '.join(figure.table.by)}" if figure.table.by else ""
        where = f"table, column {figure.table.column}{rows}"
    else:
        found = {"json": figure.json, "yaml": figure.yaml, "regex": figure.regex}
        where = next((f"{kind} {text}" for kind, text in found.items() if text), "")
    parts = [figure.unit and f"in {figure.unit}", figure.better and f"{figure.better} is better", where]
    source = "" if figure.source == "output" else f" in file {figure.source}"
    several = "" if figure.formula else f", the {figure.pick} of several"
    return f"{figure.name}: {', '.join(part for part in parts if part)}{source}{several}"


def _need(need: Need) -> str:
    """A case that must pass before, and what is handed on of its run."""
    files = f", which leaves it {', '.join(need.files)}" if need.files else ""
    return f"{need.case}{files}{f' in {need.into}' if need.into else ''}"


def _render_case(case: Case, test: Test, build: Build | None, local: bool) -> str:
    shape = case.shape
    size = f"{shape.nodes} x {shape.tasks_per_node} tasks x {shape.cpus_per_task} cores" + (
        ", exclusive" if shape.exclusive else ""
    )
    return facts(
        ("case", case.id),
        ("unavailable", case.unavailable),
        ("test", f"{test.name} ({test.path})"),
        ("about", test.about),
        ("partition", case.partition),
        ("toolchain", case.toolchain),
        ("parameters", pairs(case.parameters)),
        ("needs", "\n".join(map(_need, case.needs))),
        ("shape", "" if case.unavailable and not case.script else size),
        ("asks for", _asks_for(case, local) if case.script else ""),
        ("time limit", show_duration(shape.time_limit_s) if case.script else ""),
        ("loads", pairs((name, f"{amount:g}") for name, amount in case.loads)),
        ("build", "" if build is None else f"{build.name}, key {build.key[:12]}\n{build.script}".rstrip()),
        ("source", build.source if build else ""),
        ("environment", pairs(case.environment)),
        ("files", pairs(case.files)),
        ("staged", "" if case.stage == "link" else case.stage),
        ("works on", _works_on(case)),
        ("container", case.container),
        ("script", case.script),
        ("checks", _checks(test.checks)),
        ("figures", "\n".join(map(_figure, test.figures))),
        ("expected", f"{case.expect}: {case.because}" if case.expect else ""),
    )


def _asks_for(case: Case, local: bool) -> str:
    """What it asks for beside tasks and cores, a line each."""
    unused = ("constraint", "reservation", "licences", "options", "directives", "memory", "memory_per_cpu")
    return "\n".join(
        f"{key}: {value}" + (": the local scheduler does not use it" if local and key in unused else "")
        for key, value in case.shape.resources.words()
    )


def _works_on(case: Case) -> str:
    """The place, and what stands for its words in braces."""
    loads = [f"{{{word}}} is the target of {budget} that the run loads" for word, budget in case.targets]
    return "\n".join([case.work, *loads]) if case.work else ""
