"""What is wrong with a criterion is said at its place, with the way out."""

# An entry is a line, however long its answer is.
# ruff: noqa: E501

from __future__ import annotations

from typing import Any

import pytest

SYSTEM = """\
system: c5
clusters: {c5: {scheduler: slurm, partitions: {batch: {nodes: "n[1-8]", type: rome}}}}
node_types: {rome: {cores: 8}}
"""
TEST = """\
test: a
run: {command: x}
figures: {triad: {json: a, unit: GB/s, better: higher}}
"""
PLAN = """\
plan: p
system: c5
components:
  - performance:
      tests: [a]
      criteria:
        c: {CRITERION}
"""
WRONG = [
    ("measure: passed / atempts, must: all", "7:22: performance.criteria.c.measure: 'passed / atempts' is not one of"),
    ("measure: passed / attempts, must: '>= 95%', leave_out: sites", "c.leave_out: 'sites' is not a kind of run that a criterion can leave out\nhint: write outliers, or 'ruled PARTY', such as 'ruled site'"),
    ("measure: passed / attempts, must: '>= 95%', leave_out: [ruled sight]", "'sight' is no party of a ruling\nhint: did you mean 'site'?"),
    ("measure: passed / attempts, must: '>= 95%', leave_out: outliers", "criteria.c: 'passed / attempts' has no outliers\nhint: figures have: value, sd / mean and fill / isolated"),
    ("measure: passed / attempts, must: '>= 95%', epochs: first", "'first' names no epochs\nhint: write all, last, or the number of the first that counts, from 1"),
    ("measure: passed / attempts, must: '>= 95%', epochs: 0", "'0' names no epochs"),
    ("measure: passed / attempts, must: '>= 95%', mode: fill", "criteria.c: the component has no mode 'fill'\nhint: modes: {fill: {repeats: 3}}"),
    ("measure: fill / isolated, of: elapsed, must: '<= 10%'", "7:22: criteria.c: the component has no mode 'isolated'\nhint: modes: {isolated: {repeats: 3}, fill: {repeats: 3}}"),
    ("measure: fill / isolated, must: '<= 10%'", "7:12: 'of' is missing in criteria.c"),
    ("measure: attested, must: all", "7:22: criteria.c: the component has no procedures\nhint: procedures: [{name: what is attested}]"),
    ("measure: attested, must: all, test: a", "'test' has no meaning for measure 'attested'"),
    ("measure: value, of: triad, must: '>= 1 GB/s', basis: vendor", "'basis' has no meaning for measure 'value'\nhint: it goes with rows met"),
    ("measure: value, of: triad, must: '>= 1 GB/s', statistic: p42", "'p42' is not one of"),
    ("measure: our node-hours / clock node-hours, must: '>= 90'", "'90' needs a unit, such as '90 %'"),
    ("measure: our node-hours / clock node-hours, must: '>= 120%'", "'120%' is not a share\nhint: it lies between 0% and 100%"),
    ("measure: our node-hours / clock node-hours, must: '>= 90%', leave_out: ruled site", "'leave_out' has no meaning"),
]  # fmt: skip


@pytest.mark.parametrize(("criterion", "answer"), WRONG)
def test_a_wrong_criterion(told: Any, criterion: str, answer: str) -> None:
    files = {"plans/p.yaml": PLAN.replace("CRITERION", criterion), "systems/c5.yaml": SYSTEM, "tests/a.yaml": TEST}
    assert answer in told(files)
    assert told(files).startswith("error: plans/p.yaml:7:")
