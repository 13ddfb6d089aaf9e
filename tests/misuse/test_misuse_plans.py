"""Wrong systems and plans, and the exact words they are answered with."""

# An entry is a line, however long its answer is.
# ruff: noqa: E501

from __future__ import annotations

from typing import Any

import pytest

SYSTEM = """\
system: c5
clusters: {c5: {scheduler: slurm, partitions: {batch: {nodes: "n[1-8]", type: rome}}}}
node_types: {rome: {cores: 8}}
toolchains: {intel: {cc: icc}}
budgets: {f2/mdt: 8, f2/bandwidth: 40 GB/s}
"""
SYSTEMS = [
    ("system: c5", "system: here", "1:9: 'here' is no name for a system: it always means the machine that a command runs on"),
    ("slurm", "slrum", "2:28: clusters.c5.scheduler: 'slrum' is not one of local, slurm\nhint: did you mean 'slurm'?"),
    ("slurm", "local", "2:63: the local scheduler runs on one node, not on 8\nhint: scheduler: slurm"),
    ("n[1-8]", "n[8-1]", "2:63: 'n[8-1]' is not a node set\nhint: write names and ranges, such as n[001-128],login1"),
    ("n[1-8]", "8", "2:63: '8' is a number, and no names of nodes\nhint: write names and ranges, such as n[001-128],login1"),
    ("slurm, partitions: {batch: {nodes: \"n[1-8]\"", "local, partitions: {batch: {nodes: 4", "2:63: the local scheduler runs on one node, not on 4\nhint: scheduler: slurm"),
    ("n[1-8]", "@all", "2:63: '@all' is not a node set\nhint: write names and ranges, such as n[001-128],login1"),
    ("n[1-8]", "n[1-99999999999]", "2:63: 'n[1-99999999999]' holds more than 1000000 nodes"),
    ("type: rome", "type: rom", "2:79: there is no node type 'rom'\nhint: did you mean 'rome'?"),
    ("{batch: {nodes: \"n[1-8]\", type: rome}}", "{}", "2:11: the system has no partition\nhint: jobs are sent to one"),
    ("cores: 8", "numa: 8", "3:20: 'cores' is missing in node_types.rome\nhint: cores: physical cores of a node"),
    ("cores: 8", "cores: 010", "3:28: node_types.rome.cores: '010' begins with 0, and some readers of YAML take that for base 8\nhint: write 10, or 8 if base 8 is meant"),
    ("cores: 8", "cores: 08", "3:28: node_types.rome.cores: '08' begins with 0, and some readers of YAML take that for base 8\nhint: write 8"),
    ("cores: 8", "cores: eight", "3:28: node_types.rome.cores: 'eight' is not a whole number"),
    ("cores: 8", "cores: 8, memory: 256", "3:39: node_types.rome.memory: '256' needs a unit, such as '256 GiB'"),
    ("cores: 8", "cores: 8, memory: 1e999 GiB", "3:39: node_types.rome.memory: '1e999 GiB' is no amount\nhint: write an amount above zero"),
    ("cores: 8", "cores: 8, peak: 5 TFLOPs", "3:37: node_types.rome.peak: '5 TFLOPs': 'TFLOPs' is not a unit of flop/s\nhint: did you mean 'TFLOP/s'?"),
    ("cc: icc", "cc: icc, modules: [a; rm]", "4:41: toolchains.intel.modules: 'a; rm' is not a module\nhint: a name without blanks"),
    ("40 GB/s", "40 GBs", "5:36: budgets.f2/bandwidth: '40 GBs': there is no unit 'GBs'\nhint: did you mean 'GB/s'?"),
    ("budgets", "filesystems: {f: {path: \"/x/{mdt}\"}}\nbudgets", "5:25: '{mdt}' is no class of targets of file system f\nhint: there are: none"),
]  # fmt: skip

PLAN = """\
plan: p
system: c5
components:
  - functionality:
      tests: [a]
      criteria:
        c: {measure: value, of: triad, must: ">= 1 GB/s"}
  - performance: {tests: ["tag:t"]}
limits: {budgets: {f2/bandwidth: 50%}, copies: {a: 1}}
"""
PLANNED = """\
test: a
tags: [t]
parameters: {n: [1, 2]}
run: {command: x}
figures: {triad: {json: a, unit: GB/s}, plain: {json: b}, sypd: {json: c, unit: years/day}}
loads: {f2/bandwidth: 10 GB/s}
"""
MUST = 'of: triad, must: ">= 1 GB/s"'
PLANS = [
    ("system: c5", "system: c6", "2:9: there is no system 'c6'\nhint: there are: here, c5"),
    ("[a]", "[]", "5:14: functionality.tests is empty\nhint: it is a list of tests"),
    ("[a]", "[b]", "5:15: there is no test 'b'\nhint: 'shakedown list tests' has them"),
    ("[a]", "[{test: a, where: {m: 1}}]", "5:33: test 'a' has no parameter 'm'\nhint: it has: n, partition, system, toolchain"),
    ("[a]", "[{test: a, where: {n: 3}}]", "5:32: no case of test 'a' has n=3\nhint: in its cases n is 1, 2"),
    ("tag:t", "tag:s", "8:27: no test has the tag 's'\nhint: tags are: t"),
    ("functionality:", "functionalty:", "4:5: unknown key 'functionalty' in components\nhint: did you mean 'functionality'?"),
    ("performance:", "functionality:", "8:5: there is a component 'functionality' already\nhint: give it a name of its own"),
    ("[a]\n", "[a]\n      after: performanc\n", "6:14: there is no component 'performanc'\nhint: did you mean 'performance'?"),
    ("[a]\n", "[a]\n      after: [functionality]\n", "6:15: component 'functionality' comes after itself"),
    ("[a]\n", "[a]\n      retry: {node_fial: 2}\n", "6:15: there is no verdict 'node_fial'\nhint: did you mean 'node_fail'?"),
    ("[a]\n", "[a]\n      retry: {incorrect: 2}\n", "6:15: 'incorrect' is never attempted again\nhint: such a verdict stands"),
    ("[a]\n", "[a]\n      retry: {lost: twice}\n", "6:21: functionality.retry.lost: 'twice' is not a number of attempts\nhint: write 2, '5 with backoff' or '5 with backoff 30s'"),
    ("[a]\n", "[a]\n      repeats: 0\n", "6:16: functionality.repeats: 0 is less than 1, the least that is possible"),
    ("[a]\n", "[a]\n      repeats: 100000000000000\n", "6:16: functionality.repeats: 100000000000000 is more than 1000000, the most that is possible"),
    ("of: triad, ", "", "7:12: 'of' is missing in criteria.c\nhint: of: the figure that is measured, such as elapsed"),
    ("of: triad", "of: traid", "7:33: criteria.c.of: no test of the component has a figure 'traid'\nhint: did you mean 'triad'?"),
    (">= 1 GB/s", ">= 1", "7:46: criteria.c.must: '1' has no unit, and the figure is in GB/s\nhint: write '1 GB/s' where that is meant"),
    (">= 1 GB/s", ">= 1 GBs", "7:46: criteria.c.must: '1 GBs': there is no unit 'GBs' that is known, and the figure is in GB/s\nhint: did you mean 'GB/s'?"),
    (">= 1 GB/s", ">= 1e999 GB/s", "7:46: criteria.c.must: '1e999 GB/s' is too large a number"),
    (">= 1 GB/s", ">= 1 GB/s, <= 2 GB/s", "7:46: functionality.criteria.c.must: '>= 1 GB/s, <= 2 GB/s' has two bounds\nhint: a criterion has one: write a second criterion for the other"),
    (">= 1 GB/s", "=> 1 GB/s", "7:46: functionality.criteria.c.must: '=> 1 GB/s' is not a bound\nhint: write a comparison and an amount, such as '>= 95%' or '<= 20 s'"),
    (MUST, 'of: elapsed, must: "<= 12:30"', "7:48: criteria.c.must: '12:30' is not a duration\nhint: write it with its units, such as 90s, 2h or 1h30m"),
    (MUST, 'of: plain, must: "<= 20 s"', "7:46: criteria.c.must: '20 s' and the figure, which is a plain number, do not measure the same thing\nhint: write a plain number"),
    (MUST, 'of: sypd, must: ">= 2 year/day"', "7:45: criteria.c.must: '2 year/day': there is no unit 'year/day' that is known, and the figure is in years/day\nhint: did you mean 'years/day'?"),
    (f"value, {MUST}", 'passed / wanted, must: ">= 95"', "7:45: criteria.c.must: '95' needs a unit, such as '95 %'"),
    (f"value, {MUST}", 'passed / wanted, must: ">= 950%"', "7:45: criteria.c.must: '950%' is not a share of runs\nhint: it lies between 0% and 100%"),
    ("value, of", "passed / wanted, of", "7:43: criteria.c: 'of' has no meaning for measure 'passed / wanted'\nhint: it goes with value, sd / mean, fill / isolated and change since"),
    ("of: triad", "of: triad, test: b", "7:46: criteria.c.test: the component runs no test 'b'\nhint: it runs: a"),
    ("copies: {a", "copies: {b", "9:49: limits.copies: the plan runs no test 'b'\nhint: its tests are: a"),
    ("50%", "150%", "9:20: limits.budgets.f2/bandwidth: '150%' is more than system c5 has\nhint: limits narrow a budget"),
    ("50%", "10%", "9:34: limits.budgets.f2/bandwidth: one run of a/n=2 takes 10 GB/s, and this leaves 4 GB/s\nhint: it could never run"),
    ("50%", "20 GB", "9:20: limits.budgets.f2/bandwidth: '20 GB' and the budget, which is in bytes/s, do not measure the same thing\nhint: write it in GB/s"),
    ("f2/bandwidth: 50%", "f2/bandwith: 50%", "9:20: limits.budgets.f2/bandwith: system c5 has no such budget\nhint: did you mean 'f2/bandwidth'?"),
    ("limits: {", "limits: {copis: 3, ", "9:10: unknown key 'copis' in limits\nhint: did you mean 'copies'?"),
    ("[a]\n", "[a]\n      limits: {copies: 3}\n", "6:24: functionality.limits.copies is numbers by test, not '3'\nhint: write it so: copies: {TEST: ...}"),
    ("[a]\n", "[a]\n      modes: {isolated: {}}\n", "6:7: 'modes' has no meaning in a component of kind functionality\nhint: it goes with performance"),
    ("[a]\n", "[a]\n      duration: 2h\n", "6:7: 'duration' has no meaning in a component of kind functionality\nhint: it goes with stability"),
    ("[a]\n", "[a]\n      gate: met\n", "6:7: 'gate' has no meaning without after\nhint: after: the components that come first"),
    ("[a]\n", "[a]\n      after: performance\n      gate: passed\n", "7:13: functionality.gate: 'passed' is not one of over, met"),
    ("[a]\n", "[a]\n      procedures: [{name: p}, {name: p}]\n", "6:38: there is a procedure 'p' already\nhint: give it a name of its own"),
    ("[a]\n", "[a]\n      procedures: [{who: vendor}]\n", "6:20: 'name' is missing in functionality.procedures\nhint: name: what it is called; attest names it"),
    ('["tag:t"]', '["tag:t"], modes: {}', "8:44: modes is empty\nhint: it is a map with isolated, fill or both"),
    ('["tag:t"]', '["tag:t"], modes: {isolated: {copies: 2}}', "8:56: unknown key 'copies' in performance.modes.isolated\nhint: known here: repeats, warm_up, overlap"),
    ('["tag:t"]', '["tag:t"], repeats: 2, modes: {fill: {}}', "8:49: 'repeats' and 'modes' both say how often cases run\nhint: keep one of them"),
    ('performance: {tests: ["tag:t"]}', "stability: {tests: [a], mix: {a: 100%}}", "8:29: 'mix' has no meaning without duration\nhint: duration: how long runs follow each other"),
    ('performance: {tests: ["tag:t"]}', "stability: {tests: [a], duration: 1h, mix: {b: 100%}}", "8:49: mix: the component runs no test 'b'\nhint: it runs: a"),
    ('performance: {tests: ["tag:t"]}', "stability: {tests: [a], duration: 1h, mix: {a: 60%}}", "8:48: the shares of mix come to 60%\nhint: they come to 100% together"),
    ('performance: {tests: ["tag:t"]}', "stability: {tests: [a], duration: 1h, mix: {a: 2 s}}", "8:52: mix.a: '2 s' is not a share\nhint: write a share, such as 40%"),
    ('performance: {tests: ["tag:t"]}', "vendor: {name: walk}", "8:13: 'tests' is missing in vendor\nhint: tests: which tests; or procedures: what people do and attest"),
    # One mistake, one error: what other keys say of tests follows from it, and so does what a key without a meaning holds.
    ('performance: {tests: ["tag:t"]}', "stability: {duration: 1h, mix: {a: 100%}, criteria: {c: {measure: passed / attempts, test: a, must: '>= 1%'}}}", "8:16: 'tests' is missing in stability\nhint: tests: which tests; or procedures: what people do and attest"),
    ('performance: {tests: ["tag:t"]}', "vendor: {procedures: [{name: walk}], mix: {a: 2 s}}", "8:42: 'mix' has no meaning in a component of kind vendor\nhint: it goes with stability"),
    ('performance: {tests: ["tag:t"]}', "vendor: {procedures: [{name: walk}], repeats: 2}", "8:42: 'repeats' has no meaning without tests"),
]  # fmt: skip


@pytest.mark.parametrize(("right", "wrong", "answer"), SYSTEMS)
def test_a_wrong_system(told: Any, right: str, wrong: str, answer: str) -> None:
    assert told({"systems/c5.yaml": SYSTEM.replace(right, wrong, 1)}) == f"error: systems/c5.yaml:{answer}"


@pytest.mark.parametrize(("right", "wrong", "answer"), PLANS)
def test_a_wrong_plan(told: Any, right: str, wrong: str, answer: str) -> None:
    files = {"plans/p.yaml": PLAN.replace(right, wrong, 1), "systems/c5.yaml": SYSTEM, "tests/a.yaml": PLANNED}
    assert told(files) == f"error: plans/p.yaml:{answer}"


KINDS = {"plans/p.yaml": "plan", "contracts/c.yaml": "contract", "systems/s.yaml": "system", "site.yaml": "site"}


@pytest.mark.parametrize(("name", "key"), KINDS.items())
def test_a_file_that_is_no_map_is_told_the_key_that_it_begins_with(told: Any, name: str, key: str) -> None:
    answer = (
        f"error: {name}:1:1: the file holds 'text', not a map of keys\nhint: it starts with a key, such as '{key}: ...'"
    )
    assert answer in told({name: "text"})


def test_the_plan_that_these_are_made_from_is_right(told: Any) -> None:
    assert told({"plans/p.yaml": PLAN, "systems/c5.yaml": SYSTEM, "tests/a.yaml": PLANNED}) == ""
