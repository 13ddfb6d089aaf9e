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
TEST = 'test: a\nparameters: {n: [1]}\nrun: {command: "x {n}"}\n'


def told(site: Any, here: Any) -> list[str]:
    checked = check_site(Path(site.path), lambda: here)
    assert checked.problems == ()
    return [f"{problem.path}:{problem.line}: {problem.message}" for problem in checked.warnings]


@pytest.mark.parametrize(
    ("key", "label"),
    [
        ("about: runs with {n}", "about: '{n}'"),
        ("needs: {programs: ['x{n}']}", "needs.programs: '{n}'"),
        ("needs: {programs: ['x{1 + n}']}", "needs.programs: '{1 + n}'"),
        ("tags: [a]\nexpect: [{verdict: failed, because: 'with {node.cores // 2} cores'}]", "{node.cores // 2}"),
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
        "check: ['output contains \"{{done}} {a,b} {} {print $1}\"']",
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


FILLED = """\
test: a
parameters: {size: ["1.5", "2+"]}
run: {nodes: 1, command: "echo {size}"}
check:
  - output contains "size = {size}, nodes = {nodes}, ranks = {ranks * 2}, {{size}}"
  - output matches "^size={size} a{3} \\d{2,4}$"
  - file out.{size} exists
figures: {f: {regex: 'size {size}: (?P<value>[0-9]{1,3})', from: "log.{size}"}, g: {json: "runs.{ranks}"}, h: {json: h}}
"""


def test_each_case_has_its_own_values_in_checks_and_figures(site: Any) -> None:
    """In a regular expression a value means itself; quantifiers stay what they are."""
    site.test(FILLED)
    (test,) = site.listing().tests
    first, second = [test.of(case) for case in site.cases()]
    assert [check.argument for check in first.checks[:2]] == [
        "size = 1.5, nodes = 1, ranks = 2, {size}",
        r"^size=1\.5 a{3} \d{2,4}$",
    ]
    assert second.checks[1].argument == r"^size=2\+ a{3} \d{2,4}$"
    assert second.checks[1].text == r'output matches "^size=2+ a{3} \d{2,4}$"'
    assert [one.checks[2].subject for one in (first, second)] == ["out.1.5", "out.2+"]
    assert (first.figures[0].regex, first.figures[0].source) == (r"size 1\.5: (?P<value>[0-9]{1,3})", "log.1.5")
    assert [figure.json for figure in second.figures] == ["", "runs.1", "h"]


@pytest.mark.parametrize(
    "written",
    ["{n + 1}", "{1 + n}", "{(n + 1)}", "{ n + 1 }", "{-n + 7}", "{2 * n - 2}", "{+n + 1}", "{max(4, n)}", "{\tn+1}"],
)
def test_an_expression_is_filled_in_however_it_begins(site: Any, written: str) -> None:
    """Left as it is written, ``lacks "failures {1 + n}"`` would pass whatever the run says."""
    checks = [
        f'output lacks "failures {written}"',
        f'output matches "^a{{3}} {written} x{{2,5}}$"',
        f"exit is {written}",
    ]
    body = "check:\n" + "".join(f"  - '{check}'\n" for check in checks)
    figure = f"figures: {{f: {{regex: '{written}: (?P<value>[0-9]{{1,3}})', from: 'log.{written}'}}}}\n"
    site.test("test: a\nparameters: {n: [3]}\nrun: {command: x}\n" + (body + figure).replace("\t", "  "))
    (test,) = site.listing().tests
    own = test.of(site.case())
    arguments = [check.argument for check in own.checks]
    assert arguments == ["failures 4", "^a{3} 4 x{2,5}$", "4"]
    assert (own.figures[0].regex, own.figures[0].source) == ("4: (?P<value>[0-9]{1,3})", "log.4")


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("{{1 + n}}", "{1 + n}"),
        ("{{ n }}", "{ n }"),
        ("{{n ** 2}}", "{n ** 2}"),
        ('{\\"n\\": 1}', '{"n": 1}'),
        ("{1 + 2} {3} {2,} {,2} {}", "{1 + 2} {3} {2,} {,2} {}"),
    ],
)
def test_braces_that_are_meant_literally_stay(site: Any, written: str, kept: str) -> None:
    site.test(f"test: a\nparameters: {{n: [3]}}\nrun: {{command: x}}\ncheck: ['output lacks \"{written}\"']\n")
    assert site.listing().tests[0].of(site.case()).checks[0].argument == kept


def test_a_backslash_that_is_itself_escaped_keeps_no_name_from_its_value(site: Any) -> None:
    site.test(r"""test: a
parameters: {n: [3]}
run: {command: x}
check: ['output matches "\\{n} \{n} \N{DIGIT ONE} \{{n}}"']
""")
    assert site.listing().tests[0].of(site.case()).checks[0].argument == r"\\3 \{n} \N{DIGIT ONE} \{3}"


@pytest.mark.parametrize("written", ["{n ** 2}", "{2n}", "{n +}", "{sqrt(n)}", "{n[0]}", "{n, 5}"])
@pytest.mark.parametrize("check", ['output lacks "%s"', 'file out contains "%s"'])
def test_what_computes_with_a_name_and_is_no_expression_is_an_error(site: Any, check: str, written: str) -> None:
    site.test(f"test: a\nparameters: {{n: [3]}}\nrun: {{command: x}}\ncheck: ['{check % written}']\n")
    with pytest.raises(FileProblems) as wrong:
        site.cases()
    assert f"a.yaml:4:9: check: '{written}' is not an expression" in str(wrong.value)
    assert "'{{' and '}}'" in str(wrong.value) or "it may hold names" in str(wrong.value)


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("check: ['output contains \"{1 + sise}\"']", "check: unknown name 'sise' in an expression"),
        ("check: ['output contains \"{ sise }\"']", "braces that are meant literally are doubled: '{{' and '}}'"),
        ("check: ['exit is {3}']", "check: 'exit is {3}' is not a check"),
        (
            "parameters: {size: [1]}\ncheck: ['output contains \"{sise}\"']",
            "check: unknown name 'sise' in an expression",
        ),
        ("figures: {f: {regex: '{nods} (?P<value>x)'}}", "figures.f: unknown name 'nods' in an expression"),
        ("check: ['output lacks \"{campaign}/log\"']", "check: '{campaign}' has no value in checks and figures"),
        ("parameters: {p: [../x]}\ncheck: ['file {p} exists']", "check: '../x' is not in the run's directory"),
    ],
)
def test_a_name_that_has_no_value_in_a_check_is_an_error(site: Any, key: str, said: str) -> None:
    site.test(f"test: a\nrun: {{command: x}}\n{key}\n")
    with pytest.raises(FileProblems) as wrong:
        site.cases()
    assert said in str(wrong.value)
    assert ".yaml:3" in str(wrong.value) or ".yaml:4" in str(wrong.value)


def test_what_ranks_are_bound_to_may_be_a_parameter(site: Any) -> None:
    text = 'test: a\nparameters: {to: [cores, %s]}\nrun: {launch: {binding: "{to}"}, command: "{launch} x"}\n'
    site.test(text % "numa")
    assert [case.script.partition("--bind-to ")[2] for case in site.cases()] == ["core x", "numa x"]
    site.test(text % "nume")
    with pytest.raises(
        FileProblems, match=r"run\.launch\.binding: 'nume' is not one of cores, sockets, numa, none"
    ) as wrong:
        site.cases()
    assert "did you mean 'numa'" in str(wrong.value)


def test_a_name_in_a_plan_is_told_but_where_cases_are_chosen_by_it(site: Any, here: Any) -> None:
    site.write("tests/a.yaml", "test: a\nparameters: {n: ['{node.cores}', 1]}\nrun: {command: x}\n")
    chosen = "{test: a, where: {n: '{node.cores}'}}"
    site.write(
        "plans/p.yaml",
        f"plan: p\nsystem: here\nabout: on {{node.cores}} cores, {{a}}\ncomponents:\n  - site: {{tests: [{chosen}]}}\n",
    )
    (line,) = [line for line in told(site, here) if "stays as it is" in line]
    assert line == "site/plans/p.yaml:3: about: '{node.cores}' stays as it is: nothing is filled in here"


def test_a_parameter_that_nothing_uses_is_told(site: Any, here: Any) -> None:
    """Its cases do the same under several names."""
    site.test('test: a\nabout: with each n\nparameters: {n: [1, 2], m: 3}\nrun: {command: "nm x"}\n')
    assert told(site, here) == [
        "site/tests/a.yaml:3: parameters.n: nothing in the test uses it: 2 cases in place of one do the same",
        "site/tests/a.yaml:3: parameters.m: nothing in the test uses it",
    ]


@pytest.mark.parametrize(
    "text",
    [
        r"run: {command: 'printf \"hello\n\"'}",
        "run: {command: 'echo {{n}} $n ${{n}} n'}",
        "run: {command: x, environment: {n: '1'}}",
        "run: {command: x}\nfigures: {n: {regex: 'n = (?P<value>[0-9]+)', unit: s}}",
        'run: {command: x}\ncheck:\n  - output matches "\\{n\\}"\n  - output contains "{{n}}"',
        "run: {command: x}\nexclude: [{n: 3}]",
        "run: {command: x}\nscaling: {along: n, kind: strong}",
    ],
)
def test_a_word_that_is_no_expression_uses_no_parameter(site: Any, here: Any, text: str) -> None:
    site.test(f"test: a\nparameters: {{n: [1, 2, 3]}}\n{text}\n")
    (line,) = [line for line in told(site, here) if "nothing in the test uses" in line]
    assert "parameters.n: nothing in the test uses it" in line


def test_values_that_are_one_number_and_names_that_differ_in_case_alone_are_told(site: Any, here: Any) -> None:
    text = "parameters: {n: [1, 1.0, 2], N: ['1', '1.0']}\nrun: {command: 'nm {n} {N}'}\n"
    site.test(f"test: a\n{text}")
    assert told(site, here) == [
        "site/tests/a.yaml:2: parameters.n: 1 and 1.0 are one number, and two cases",
        "site/tests/a.yaml:2: parameters.N and parameters.n differ in case alone",
    ]


def test_a_parameter_that_chooses_the_case_of_a_needed_test_is_used(site: Any, here: Any) -> None:
    """Each size needs the mesh of its own size; what the mesh has not is still told."""
    site.test('test: mesh\nparameters: {size: [1, 2]}\nrun: {command: "nm {size}"}\n', "tests/mesh.yaml")
    site.test("test: a\nparameters: {size: [1, 2], other: [1, 2]}\nneeds: mesh\nrun: {command: x}\n")
    assert told(site, here) == [
        "site/tests/a.yaml:2: parameters.other: nothing in the test uses it: 2 cases in place of one do the same"
    ]


@pytest.mark.parametrize(
    "use",
    [
        'run: {command: "x {n}"}',
        'run: {command: x, environment: {SIZE: "{n}"}}',
        'run: {command: x, nodes: "{n}"}',
        'run: {command: x}\nloads: {mds: "{2 * n} / min"}',
        "run: {command: x}\nfigures: {f: {regex: '(?P<value>[0-9]+) of {n}'}}",
        "run: {command: 'echo 3 >out'}\nfigures: {f: {regex: '(?P<value>[0-9]+)'}, g: {formula: f / n}}",
        "run: {command: x}\ncheck: ['output matches \"a{2} {n}\"']",
        "run: {command: x}\nscaling: {along: n, kind: weak, work: '{n * n}'}",
        'run: {command: "x {m}"}\nparameters+: {m: "{2 * n}"}',
    ],
)
def test_a_parameter_that_something_uses_is_not(site: Any, here: Any, use: str) -> None:
    text = "test: a\nparameters: {n: [1]}\n" + use + "\n"
    site.test(
        text.replace("parameters: {n: [1]}\n", "").replace("parameters+: {", "parameters: {n: [1], ")
        if "+" in use
        else text
    )
    checked = check_site(Path(site.path), lambda: here)
    assert not [said for said in (*checked.problems, *checked.warnings) if "nothing in the test uses" in said.message]


def test_a_parameter_of_what_a_test_extends_is_used_by_either(site: Any, here: Any) -> None:
    site.test('test: base\nabstract: true\nparameters: {n: [1], m: [1]}\nrun: {command: "x {m}"}\n', "tests/base.yaml")
    site.test('test: a\nextends: base\nrun: {environment: {N: "{n}"}}\n')
    assert told(site, here) == []
