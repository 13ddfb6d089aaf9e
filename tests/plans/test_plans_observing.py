"""Numbers that narrow budgets in a plan: what they become, and what ``check`` says of each mistake."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shakedown.cli.show.show_plan import render_plan
from shakedown.model.errors import ShakedownError
from shakedown.model.frozen import freeze, thaw
from shakedown.model.nouns import Cluster, NodeType, Partition, System
from shakedown.model.observing import Observe
from shakedown.plans.checking import check_site

HERE = System(
    "here", (Cluster("local", "local", (Partition("all", "t", "localhost", 1, "t"),)),), (NodeType("t", cores=4),)
)
SYSTEM = """\
system: box
clusters: {box: {scheduler: slurm, partitions: {all: {nodes: 'n[1-4]', type: t}}}}
node_types: {t: {cores: 4}}
filesystems: {f2: {kind: lustre, path: '/f2/{mdt}', targets: {mdt: [mdt0, mdt1]}}}
budgets: {f2/mdt: 8 per target, disk: 40 GB/s, idle: 3}
"""
TEST = "test: t\nloads: {f2/mdt: 1, disk: 4 GB/s}\nrun: {command: 'true', time_limit: 1min}\n"
PLAN = "plan: p\nsystem: box\ncomponents:\n  - site: {tests: [t]}\nlimits:\n  observe:\n"
Read = Callable[[str], tuple[Observe, ...]]


@pytest.fixture
def read(site: Any) -> Read:
    """The numbers of a plan with these words under ``observe:``."""
    site.write("systems/box.yaml", SYSTEM)
    site.test(TEST, "tests/t.yaml")

    def observed(words: str) -> tuple[Observe, ...]:
        document = site.plan(PLAN + words)
        assert thaw(freeze(document)) == document
        found: tuple[Observe, ...] = document.limits.observed
        return found

    return observed


def test_a_number_is_frozen_with_what_is_usual(read: Read) -> None:
    assert read("    disk: {command: lfs-load --percent}\n") == (
        Observe("disk", "command", "lfs-load --percent", full=40.0),
    )


def test_every_word_of_it_is_frozen(read: Read) -> None:
    words = """\
    f2/mdt:
      promql: {url: "https://m.example.org/prom", query: "x{t='{target}'}", token_file: m.token}
      means: free
      full: 100%
      every: 10s
      within: 5s
      smooth: median 2min
      oldest: 1min
      when_silent: ignore
"""
    assert read(words) == (
        Observe(
            "f2/mdt", "promql", "x{t='{target}'}", url="https://m.example.org/prom", token_file="m.token", means="free",
            full=100.0, every_s=10.0, within_s=5.0, smooth_s=120.0, smooth_by="median", oldest_s=60.0, when_silent="ignore",
        ),
    )  # fmt: skip


def test_the_example_of_the_guide_is_read(site: Any) -> None:
    guide = Path(__file__).parent.parent.parent / "docs/guides/stability.md"
    example = guide.read_text().partition("## Load that is measured")[2].split("```")[1].removeprefix("yaml\n")
    site.write("systems/box.yaml", SYSTEM)
    site.test(TEST, "tests/t.yaml")
    (word,) = site.plan(PLAN.partition("limits:")[0] + example).limits.observed
    assert (word.budget, word.source, word.means, word.smooth_s, word.full) == (
        "f2/mdt",
        "promql",
        "used",
        300.0,
        100.0,
    )


def test_a_plan_in_words_tells_it(site: Any) -> None:
    site.write("systems/box.yaml", SYSTEM)
    site.test(TEST, "tests/t.yaml")
    said = render_plan(site.plan(PLAN + "    disk: {command: lfs-load, means: free, smooth: most 2min}\n"))
    assert (
        "disk: free, of 40, every 30.0 s, most of 2 min 00 s, hold where there is none for 5 min 00 s: command lfs-load"
        in said
    )


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("./lfs-lode", "./lfs-lode is not there on this machine"),
        ("./notes --percent", "./notes is no program of this machine"),
        ("lfs-lode-nobody-has | tail -1", "lfs-lode-nobody-has is not found on PATH of this machine"),
        ("./load", ""),
        ("cat load", ""),
        ("echo 3", ""),
        ("A=b ./lfs-lode", ""),
        ("$HOME/lfs-lode", ""),
    ],
)
def test_a_command_that_is_not_here_is_told(site: Any, command: str, says: str) -> None:
    site.write("systems/box.yaml", SYSTEM)
    site.test(TEST, "tests/t.yaml")
    site.write("load", "#!/bin/sh\necho 3\n")
    site.write("notes", "")
    (Path(site.path) / "load").chmod(0o755)
    site.write("plans/p.yaml", PLAN + f"    disk: {{command: '{command}'}}\n")
    checked = check_site(Path(site.path), lambda: HERE)
    told = [warning.message for warning in checked.warnings if "limits.observe" in warning.message]
    assert checked.problems == () and len(told) == bool(says)
    assert not says or says in told[0]


def test_a_budget_whose_unit_is_missing_is_told_and_not_what_follows_from_it(site: Any) -> None:
    site.write("systems/box.yaml", SYSTEM.replace("disk: 40 GB/s", "disk: 40"))
    site.test(TEST, "tests/t.yaml")
    site.write("plans/p.yaml", PLAN + "    disk: {command: lfs-load}\n")
    checked = check_site(Path(site.path), lambda: HERE)
    (problem,) = checked.problems
    assert problem.path.endswith("tests/t.yaml") and "loads.disk: '4 GB/s' and the budget" in problem.message


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        ("dsk: {command: x}", "limits.observe.dsk: system box has no such budget", "disk"),
        ("idle: {command: x}", "no test of the plan loads idle, so nothing is narrowed", "with loads in the test"),
        ("disk: {means: used}", "no source of the number is given", "name one of command, promql, influxql"),
        (
            "disk: {command: x, promql: {url: 'http://m', query: q}}",
            "command and promql are 2 sources of one number",
            "name one of",
        ),
        ("disk: {promql: {query: q}}", "'url' is missing in limits.observe.disk.promql", "the server's address"),
        ("disk: {promql: {url: 'ftp://m/x', query: q}}", "'ftp://m/x' is no address of a server", "such as http://prom"),
        ("disk: {promql: {url: 'http://m?a=b', query: q}}", "more than the server's address", "write it as"),
        ("disk: {promql: {url: 'http://ada:s3cret@m', query: q}}", "looks like a credential, and would be stored", ""),
        ("disk: {promql: {url: 'http://s3cret@m', query: q}}", "has a name, a password or a token in it", "token_file"),
        ("disk: {influxql: {url: 'http://m?p=s3cret', database: d, query: q}}", "would be stored in the record", "token_file"),
        ("disk: {influxql: {url: 'http://m', query: q}}", "'database' is missing in limits.observe.disk.influxql", ""),
        ("f2/mdt: {command: lfs-load}", "does not say for which target it asks", "{target} in it, which stands for mdt0, mdt1"),
        ("disk: {command: 'load {target}'}", "asks for {target}, and the budget has no targets", "leave it out"),
        ("disk: {command: x, every: 1min, oldest: 90s}", "every 1 min 00 s, and too old after 1 min 30 s", "at least twice every"),
        ("disk: {command: x, within: 5min}", "may take 5 min 00 s, and is too old after 5 min 00 s", "less than oldest"),
        ("disk: {command: x, every: 100ms}", "'100ms' is too short an interval", "write 1s or more"),
        ("disk: {command: x, full: 0}", "'0' cannot be the full amount", "write a number above zero"),
        ("disk: {command: x, full: nan}", "'nan' cannot be the full amount", "write a number above zero"),
        ("disk: {command: x, smooth: least 2min}", "'least 2min' is not a duration", "mean, median or most of one"),
        ("disk: {command: x, smooth: 90th 10s}", "'90th 10s' is not a duration", "mean, median or most of one"),
        ("disk: {command: x, smooth: median}", "'median' is not a duration", "mean, median or most of one"),
        ("disk: {command: x, when_silent: stop}", "when_silent: 'stop' is not one of hold, ignore", ""),
        ("disk: {command: ''}", "the command is empty", "such as"),
    ],
)  # fmt: skip
def test_every_mistake_is_told_with_the_way_out(read: Read, words: str, message: str, hint: str) -> None:
    with pytest.raises(ShakedownError) as told:
        read(f"    {words}\n")
    said = str(told.value)
    assert message in said and hint in said, said
    assert ":7:" in said and "s3cret" not in said and said.count("error:") <= 1, said
