"""One mistake is one error: the root cause, at its place, and nothing of what follows from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from shakedown.model.errors import Problem
from shakedown.plans.telling_budgets import each_budget_once

ROOT = Path(__file__).parents[2]
C5, EXAMPLE = ROOT / "examples/c5", ROOT / "tests/plans/example"
MISTAKES = [  # site, file, right, wrong, the error's beginning
    (C5, "tests/cm4.yaml", "test: cm4", "tst: cm4", "tests/cm4.yaml:1:1: unknown key 'tst'"),
    (C5, "tests/cm4.yaml", "test: cm4", "test: c m 4", "tests/cm4.yaml:1:7: test: 'c m 4' cannot be"),
    (C5, "tests/cm4.yaml", "run:", "rn:", "tests/cm4.yaml:4:1: unknown key 'rn'"),
    (C5, "tests/cm4.yaml", "run:", "run: {", "tests/cm4.yaml"),
    (C5, "tests/cm4.yaml", "extends: noaa", "extends: noa", "tests/cm4.yaml:3:10: there is no test 'noa'"),
    (C5, "tests/cm4.yaml", "test: cm4", "test: cm5", "contracts/c5-phase2.yaml:23:6: test: there is no test 'cm4' (also in "),
    (C5, "tests/noaa.yaml", "test: noaa", "test: noa", "tests/cm4.yaml:3:10: there is no test 'noaa' (also in "),
    (C5, "tests/noaa.yaml", "runtime:", "runtim:", "contracts/c5-phase2.yaml:23:24: figure: test 'cm4' has no figure"),
    (C5, "tests/noaa.yaml", "shrink:", "shrnk:", "tests/cm4.yaml:5:10: run.nodes: unknown name 'shrink'"),
    (C5, "tests/noaa.yaml", "build:", "bild:", "tests/noaa.yaml"),
    (C5, "systems/emu.yaml", "system: emu", "sytem: emu", "systems/emu.yaml:2:1: unknown key 'sytem'"),
    (C5, "systems/emu.yaml", "cores:", "coers:", "systems/emu.yaml:11:14: unknown key 'coers'"),
    (C5, "contracts/c5-phase2.yaml", "contract: c5-phase2", "contract: c5", "plans/c5-figures-emu.yaml:5:11: there is no contract"),
    (C5, "contracts/c5-phase2.yaml", "columns:", "colums:", "contracts/c5-phase2.yaml:7:1: unknown key 'colums'"),
    (C5, "plans/c5-phase2.yaml", "{test: cm4, where: {f2: shared", "{test: cm5, where: {f2: shared", "plans/c5-phase2.yaml:47:22"),
    (C5, "plans/c5-phase2.yaml", "{test: cm4, where: {f2: shared", "{test: cm4, where: {f2: shard", "plans/c5-phase2.yaml:47:34"),
    (C5, "plans/c5-phase2.yaml", "modes:", "mode:", "plans/c5-phase2.yaml"),
    (EXAMPLE, "systems/c5.yaml", "batch:", "batsh:", "contracts/phase2.yaml:9:11: where: there is no partition 'batch' (also in "),
    (EXAMPLE, "systems/c5.yaml", "intel-classic:", "intel-clasic:", ""),
    (EXAMPLE, "systems/c5.yaml", "cores: 128", "cores: many", "systems/c5.yaml:15:12"),
    (EXAMPLE, "systems/c5.yaml", "clusters:", "clusters: [", "systems/c5.yaml"),
    (EXAMPLE, "systems/c5.yaml", "f2/mdt:", "f2/mdd:", "systems/c5.yaml"),
    (EXAMPLE, "tests/cm4.yaml", "threads: [1, 2]", "threds: [1, 2]", "contracts/history.csv:3:1: where: test 'cm4' has no"),
    (EXAMPLE, "tests/cm4.yaml", "bandwidth: {json", "bandwith: {json", "contracts/phase2.yaml:9:43: figure: test 'cm4' has no"),
    (EXAMPLE, "tests/defaults.yaml", "test: climate-defaults", "test: climate-default", "tests/cm4.yaml"),
]  # fmt: skip


@pytest.mark.parametrize(("site", "file", "right", "wrong", "begins"), MISTAKES)
def test_one_mistake_is_one_error(told: Any, site: Path, file: str, right: str, wrong: str, begins: str) -> None:
    files = {str(path.relative_to(site)): path.read_bytes() for path in site.rglob("*") if path.is_file()}
    text = files[file].decode()
    assert right in text
    files[file] = text.replace(right, wrong, 1).encode()

    said = told(files)

    assert said.count("error: ") == 1, said
    assert said.startswith(f"error: {begins}")


def test_two_mistakes_are_two_errors(told: Any) -> None:
    """What follows from one hides nothing of the other."""
    files = {
        "tests/a.yaml": "test: a\nrunn: {command: x}\n",
        "plans/p.yaml": "plan: p\nsystem: here\ncomponents:\n  - stability: {tests: [a], duration: 1h, mix: {a: 50%, bee: 50%}}\n",
        "plans/q.yaml": "plan: q\nsystem: here\ncomponents:\n  - site: {tests: [z]}\n",
        "plans/r.yaml": "plan: r\nsystem: here\ncomponents:\n  - site: {tests: [z]}\n",
    }
    assert told(files).splitlines()[::2] == [
        "error: plans/p.yaml:4:57: mix: the component runs no test 'bee'",
        "error: plans/q.yaml:4:20: there is no test 'z' (also in plans/r.yaml:4)",
        "error: tests/a.yaml:2:1: unknown key 'runn'",
    ]


@pytest.mark.parametrize("text", ["a: 1\n", "a: [\n", "test: zz\na: [\n"])
def test_a_programs_own_files_hide_no_mistake(told: Any, text: str) -> None:
    """A file without a test's name in a source directory is no test whose name could be meant."""
    files = {
        "tests/a.yaml": "test: a\nbuild: {source: src, run: make}\nrun: {command: x}\n",
        "tests/b.yaml": "test: b\nextends: zz\nrun: {command: x}\n",
        "tests/src/settings.yaml": text,
        "plans/p.yaml": "plan: p\nsystem: here\ncomponents:\n  - site: {tests: [zz]}\n",
    }
    assert told(files).splitlines()[0] == "error: plans/p.yaml:4:20: there is no test 'zz' (also in tests/b.yaml:2)"


@pytest.mark.parametrize("text", ["a: 1\n", "a: [\n", "Final: {GFLOP/s: 1}\nrun: 3\n"])
@pytest.mark.parametrize(
    ("keys", "name"),
    [
        ("run: {command: x, files: [in.yaml]}", "tests/in.yaml"),
        ("run: {command: x, files: [case/]}", "tests/case/deep/in.yaml"),
        ("run: {command: x}\ncheck: [{files match golden: {glob: '*', sums: sums.yaml}}]", "tests/sums.yaml"),
        (
            "run: {command: x}\ncheck: [{files equal within: {file: o, reference: ref.yaml, absolute: 1}}]",
            "tests/ref.yaml",
        ),
    ],
)
def test_a_file_that_a_test_names_as_its_data_is_read_as_no_test(told: Any, keys: str, name: str, text: str) -> None:
    """Whatever is wrong with it is said of the test that names it, if at all: as sums and references are read."""
    said = told({"tests/a.yaml": f"test: a\n{keys}\n", "tests/b.yaml": "test: b\nrunn: {command: x}\n", name: text})
    assert f"{name}:" not in said, said
    assert "error: tests/b.yaml:2:1: unknown key 'runn'" in said


@pytest.mark.parametrize("files", [".", "in.yaml"])
def test_a_test_that_another_names_as_its_file_is_a_test(told: Any, files: str) -> None:
    said = told(
        {
            "tests/a.yaml": f"test: a\nrun: {{command: x, files: [{files}]}}\n",
            "tests/in.yaml": "test: in\nrunn: {command: x}\n",
        }
    )
    assert "error: tests/in.yaml:2:1: unknown key 'runn'" in said


def test_a_test_that_got_another_name_is_one_error_wherever_the_old_one_is_left(told: Any) -> None:
    """The plan runs it by its new name; limits, shares and criteria still have the old one."""
    criteria = "criteria: {c: {measure: runs, test: old, must: '>= 1'}}"
    component = f"{{tests: [new], duration: 1h, mix: {{old: 100%}}, limits: {{copies: {{old: 1}}}}, {criteria}}}"
    files = {
        "tests/a.yaml": "test: new\nrun: {command: x}\n",
        "plans/p.yaml": f"plan: p\nsystem: here\nlimits: {{copies: {{old: 2}}}}\ncomponents:\n  - stability: {component}\n",
    }
    said = told(files)
    assert said.count("error: ") == 1, said
    assert "runs no test 'old' (also in plans/p.yaml:5)" in said


@pytest.mark.parametrize(
    "text",
    ["test: a\n\trun: b\n", "test: a\ntags: [x\nrun: {command: y}\n", "test: [a]\ntags: [x]\nrun: {command: y}\n"],
)
def test_a_tag_is_not_missed_where_a_test_cannot_be_read(told: Any, text: str) -> None:
    files = {"tests/a.yaml": text, "plans/p.yaml": "plan: p\nsystem: here\ncomponents:\n  - site: {tests: ['tag:x']}\n"}
    said = told(files)
    assert said.startswith("error: tests/a.yaml:")
    assert said.count("error: ") == 1, said


def test_a_rehearsal_that_cannot_be_read_is_not_missed_by_those_that_extend_it(told: Any) -> None:
    said = told({"rehearsals/a.yaml": "rehearsal: a\nfaults: *x\n", "rehearsals/b.yaml": "rehearsal: b\nextends: a\n"})
    assert said.startswith("error: rehearsals/a.yaml:2:9: no anchor of this name")
    assert said.count("error: ") == 1, said


def test_a_text_over_several_lines_may_be_in_quotes(told: Any) -> None:
    about = 'about: "first\n  second: \\"third\n\n  - fourth"\n'
    assert told({"tests/a.yaml": f"test: a\n{about}run: {{command: x}}\n"}) == ""


@pytest.mark.parametrize(
    ("files", "begins"),
    [
        (
            {"tests/a.yaml": "test: a\nextends: -7\nrun: {command: x}\n"},
            "tests/a.yaml:2:10: extends: '-7' cannot be",
        ),
        (
            {
                "tests/a.yaml": "test: a\nabstract: true\ntags: [x]\ntags: [y]\n",
                "tests/b.yaml": "test: b\nextends: a\nrun: {command: x}\n",
            },
            "tests/a.yaml:4:1: key 'tags' is written twice",
        ),
        (
            {"contracts/a.csv": "test,figure,must,basis\na,elapsed,<= 1 s,site,1\na,elapsed,<= 2 s,site,2\n"},
            "contracts/a.csv:2:1: the row has 5 cells, and there are 4 columns (also in contracts/a.csv:3)",
        ),
        (
            {"tests/a.yaml": "test: a\nrun: {command: x}\nscaling: {by: n}\n"},
            "tests/a.yaml:3:11: unknown key 'by' in scaling",
        ),
        (
            {
                "tests/a.yaml": "\ttest: a\nrun: {command: x}\n",
                "tests/b.yaml": "test: b\nextends: a\nrun: {command: x}\n",
            },
            "tests/a.yaml:1:1: a tab indents this line",
        ),
        (
            {
                "tests/a.yaml": "test: a\nparameters: {n: [1]}\nexclude: [{n: 2}]\nrun: {command: x}\n"
                "expect: [{verdict: failed, because: c, where: {n: 2}}]\n"
            },
            "tests/a.yaml:3:15: parameter 'n' has no value '2' (also in tests/a.yaml:5)",
        ),
        (
            {"tests/a.yaml": "  test: a\nrun: {command: x}\n"},
            "tests/a.yaml:2:1: this line begins further left than the first one",
        ),
    ],
)
def test_what_follows_from_a_mistake_is_not_told_beside_it(told: Any, files: dict[str, str], begins: str) -> None:
    said = told(files)
    assert said.startswith(f"error: {begins}"), said
    assert said.count("error: ") == 1, said
    assert "hint: " in said


def test_a_figure_of_another_kind_is_one_error_in_all_parts_of_a_score(told: Any) -> None:
    part = "test: t, figure: r, tflop: 1, nodes: 1"
    parts = f"{{a: {{{part}, where: {{n: 1}}}}, b: {{{part}, where: {{n: 2}}}}}}"
    score = f"scores: {{s: {{kind: ssp, nodes: 1, parts: {parts}}}}}"
    said = told(
        {
            "tests/t.yaml": "test: t\nparameters: {n: [1, 2]}\nrun: {command: x}\nfigures: {r: {regex: '(?P<value>1)', unit: GB}}",
            "plans/p.yaml": f"plan: p\nsystem: here\ncomponents:\n  - site: {{tests: [t]}}\n{score}\n",
        }
    )
    assert "figure 'r' is in GB" in said and said.count("error: ") == 1, said


def test_a_budget_of_another_unit_is_one_error_with_the_places_that_do_not_fit_it() -> None:
    def of(path: str, line: int, message: str) -> Problem:
        return Problem(path, line, 1, message, "write it in parsecs")

    unit = "'1' and the budget, which is in parsecs, do not measure the same thing"
    found = [
        of("plans/a.yaml", 4, "limits.budgets.f2/mdt: '4 per target': the budget has no targets"),
        of("tests/b.yaml", 2, f"loads.f2/mdt: {unit}"),
        of("tests/b.yaml", 3, f"loads.f3/mdt: {unit}"),
        of("tests/c.yaml", 7, f"loads.f2/mdt: {unit}"),
    ]
    first, other = each_budget_once(found)
    assert (first.path, first.message, other) == ("plans/a.yaml", found[0].message, found[2])
    assert first.hint == (
        "write it in parsecs; or mend the budget f2/mdt itself, in the system: tests/b.yaml:2, tests/c.yaml:7 do not fit it either"
    )
    counts = [of("tests/b.yaml", n, "loads.f2/mdt: '4 per target': the budget has no targets") for n in (1, 2)]
    assert each_budget_once(counts) == tuple(counts)
