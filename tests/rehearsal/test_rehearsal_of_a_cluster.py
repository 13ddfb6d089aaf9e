"""A rehearsal on a cluster exactly as ``init`` writes it from a real Slurm, whose partitions share their nodes."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from rehearsal_site import command

from shakedown.machine.site import site_files, write_site
from shakedown.machine.slurm import Reply, describe
from shakedown.model.nouns import System

PLAN = """plan: whole
system: SYSTEM
components:
PARTS
"""
PART = """  - stability:
      name: on-NAME
      tests: [on-NAME]
      duration: 4h
      criteria:
        use: {measure: our node-hours / clock node-hours, must: ">= 1%"}
"""
TEST = """test: on-NAME
where: {partitions: [NAME]}
run: {nodes: 2, exclusive: true, time_limit: 20min, command: "sleep 600"}
check: [exit is 0]
"""


CAPTURED = Path(__file__).parents[1] / "machines" / "slurm" / "init"


def slurm(words: Sequence[str]) -> Reply:
    """What a real cluster answered: its configuration, nodes and partitions; accounting says nothing."""
    names = {"config": "config", "nodes": "nodes", "partitions": "partitions", "licenses": "licences"}
    if words[0] != "scontrol":
        return Reply(failure="no answer")
    return Reply((CAPTURED / f"accounting.{names[words[-1]]}.txt").read_text())


def captured() -> System:
    return describe(slurm, user="root").system


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("cluster") / "site"
    draft = describe(slurm, user="root")
    write_site(root, site_files("site", draft.system, draft.remarks))
    (root / "tests").mkdir(exist_ok=True)
    partitions = [one for one in draft.system.partitions() if one.count >= 2]
    assert len(partitions) > 1 and len({one.nodes for one in partitions}) < sum(one.count for one in partitions)
    for one in partitions:
        (root / "tests" / f"on-{one.name}.yaml").write_text(TEST.replace("NAME", one.name))
    parts = "".join(PART.replace("NAME", one.name) for one in partitions)
    plan = PLAN.replace("SYSTEM", draft.system.name).replace("PARTS\n", parts)
    (root / "plans" / "whole.yaml").write_text(plan)
    return root


def different(site: Path) -> set[str]:
    """The nodes of the partitions that the plan uses, by name, from the captured words of Slurm."""
    from shakedown.model.shared_nodes import names_in

    return {name for one in captured().partitions() if one.count >= 2 for name in names_in(one.nodes)}


def test_each_node_is_there_once_and_no_two_runs_have_it_together(site: Path) -> None:
    done = command("rehearse", "whole", "--id", "cluster", "--json", "--no-try", "-q", cwd=site)
    assert done.returncode in (0, 1), done.stderr
    limits = json.loads(done.stdout)["limits"]
    assert limits["nodes"] == pytest.approx(len(different(site)))
    assert 0 < limits["worked"] <= limits["node_hours"]

    from shakedown.model.layout import Layout
    from shakedown.model.shared_nodes import names_in
    from shakedown.queries.status import look_at_runs

    rows = [row for row in look_at_runs(Layout(site / "rehearsed" / "cluster")).current() if row.started and row.nodes]
    assert len({re.sub(".*:", "", row.component) for row in rows}) > 1
    spans = sorted(
        (row.started or 0.0, row.ended or 0.0, name, row.run) for row in rows for name in names_in(row.nodes)
    )
    last: dict[str, tuple[float, str]] = {}
    for began, ended, name, run in spans:
        until, other = last.get(name, (0.0, ""))
        assert began >= until - 1e-3, f"{run} and {other} have {name} together"
        last[name] = (ended, run)
