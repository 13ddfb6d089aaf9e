"""Names in braces: filled in, or told where nothing is. The shell's own braces are no names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from shakedown.model.errors import FileProblems
from shakedown.model.layout import Layout
from shakedown.model.nouns import Case
from shakedown.plans.checking import check_site
from shakedown.schedulers.cluster.job_script import payload_script
from shakedown.schedulers.local_host.script import case_environment

SYSTEM = """\
system: other
clusters: {two: {scheduler: slurm, partitions: {far: {nodes: n1, type: t}}}}
node_types: {t: {cores: 2}}
fingerprint: {free: "awk '{print $1}' <${FILE} {a,b}", cores: "echo {node.cores}"}
"""
TEST = "test: a\nparameters: {n: [1]}\nrun: {command: x}\n"


def told(site: Any, here: Any) -> list[str]:
    checked = check_site(Path(site.path), lambda: here)
    assert checked.problems == ()
    return [f"{problem.path}:{problem.line}: {problem.message}" for problem in checked.warnings]


@pytest.mark.parametrize(
    ("key", "label"),
    [
        ("about: runs with {n}", "about: '{n}'"),
        ("check: ['output contains \"n = {n}\"']", "check: '{n}'"),
        ("check: ['file out.{n} exists']", "check: '{n}'"),
        ("figures: {f: {json: a, from: 'out.{n}'}}", "figures.f.from: '{n}'"),
        ("figures: {f: {regex: 'n={n} (?P<value>x)'}}", "figures.f.regex: '{n}'"),
        ("needs: {programs: ['x{n}']}", "needs.programs: '{n}'"),
        ("tags: [a]\nexpect: [{verdict: failed, because: 'with {node.cores // 2} cores'}]", "{node.cores // 2}"),
        ("check: ['output lacks \"{build}/log\"']", "check: '{build}'"),
    ],
)
def test_a_name_where_nothing_is_filled_in_is_told(site: Any, here: Any, key: str, label: str) -> None:
    site.test(TEST + key)
    (said,) = told(site, here)
    assert label in said
    assert said.endswith("stays as it is: nothing is filled in here")


@pytest.mark.parametrize(
    "key",
    [
        "check: ['output matches \"a{3} {4,5}\"']",
        "check: ['output contains \"{done}\"']",  # no name that there is
        "check: ['output contains \"${n} {{n}} {a,b} {} {print} {print $1}\"']",
        "figures: {f: {regex: '(?P<value>[0-9]{1,3})'}}",
        "figures: {f: {json: n}}",
    ],
)
def test_braces_that_name_nothing_are_no_matter(site: Any, here: Any, key: str) -> None:
    site.test(TEST + key)
    assert told(site, here) == []


def test_shell_braces_where_names_are_filled_in_stay_the_shells(site: Any, here: Any) -> None:
    site.test("test: a\nrun: {command: \"echo ${{X}} {{a,b}}; awk '{{print $1}}'; f() {{ :; }}\"}\n")
    assert told(site, here) == []
    assert site.case().script == "echo ${X} {a,b}; awk '{print $1}'; f() { :; }"


def test_a_system_that_names_what_only_tests_know_is_told(site: Any, here: Any) -> None:
    site.write("systems/other.yaml", SYSTEM)
    (said,) = told(site, here)
    assert (
        said == "site/systems/other.yaml:4: fingerprint.cores: '{node.cores}' stays as it is: nothing is filled in here"
    )


@pytest.mark.parametrize("name", ["build", "campaign"])
def test_a_build_does_not_know_where_it_will_be(site: Any, name: str) -> None:
    """It used to reach the shell as it is written."""
    site.test(f'test: a\nbuild: {{run: "make PREFIX={{{name}}}"}}\nrun: {{command: x}}\n')
    with pytest.raises(FileProblems) as wrong:
        site.cases()
    assert f"build.run: '{{{name}}}' has no value while it is built" in str(wrong.value)
    assert "use $PWD" in str(wrong.value)


@pytest.mark.parametrize("where", ["command: 'echo ${{build}}'", "{command: x, environment: {A: '{{campaign}}'}}"])
def test_a_literal_that_a_campaign_would_fill_in_is_refused(site: Any, where: str) -> None:
    run = where if where.startswith("{") else f"{{{where}}}"
    site.test(f"test: a\nbuild: {{run: make}}\nrun: {run}\n")
    with pytest.raises(FileProblems, match="would become a directory of the campaign"):
        site.cases()


def test_directories_of_the_campaign_reach_variables_too(tmp_path: Path) -> None:
    """On this machine and in a cluster's script; a path is one word whatever is in it."""
    layout = Layout(tmp_path / "it's here")
    case = Case("a", "a", "c:p", build="k", environment=(("LIB", "{build}/lib:{campaign}/x"), ("N", "1")), script="y")
    wanted = {"LIB": f"{layout.build('k')}/lib:{layout.root}/x", "N": "1"}
    assert case_environment(case, layout, str(layout.build("k"))) == wanted
    assert "{build}" not in payload_script(case, layout)
