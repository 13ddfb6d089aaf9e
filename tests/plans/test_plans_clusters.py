"""Slurm clusters in a system's file: their keys, nonsense in them, limits that make cases unavailable, partitions aside."""

from __future__ import annotations

from typing import Any

import pytest

from shakedown.model.errors import FileProblems
from shakedown.model.nouns import Patience
from shakedown.plans import read_site

SYSTEM = """\
system: big
clusters:
  one:
    scheduler: slurm
    licences: {matlab: 4, fine: 2}
    partitions:
      batch: {nodes: "n[001-016]", type: t, time_limit: 2h, most_nodes: 8}
      low: {nodes: "n[001-016]", type: t}
      debug: {nodes: "n[001-002]", type: t, time_limit: 30min}
      large: {nodes: "n[001-032]", type: t}
  two:
    scheduler: slurm
    partitions: {batch: {nodes: "n[001-002]", type: t}}
node_types: {t: {cores: 16}}
budgets: {disc: 10 GB/s}
"""


def named(site: Any, keys: str, run: str = "") -> list[tuple[str, str]]:
    """Cases of a test with these keys on the system above, with why they cannot run."""
    site.write("systems/big.yaml", SYSTEM)
    site.test(f'test: a\nrun: {{command: "true"{run}}}\n{keys}')
    return [(case.id, case.unavailable) for case in site.cases("big")]


def test_a_partition_inside_an_earlier_one_is_used_where_a_test_names_it(site: Any) -> None:
    assert named(site, "") == [("a@one:batch", ""), ("a@large", ""), ("a@two:batch", "")]
    assert named(site, "where: {partitions: [debug, low]}\n") == [("a@low", ""), ("a@debug", "")]
    assert named(site, 'where: {partitions: ["one:low"]}\n') == [("a@low", "")]


def test_a_plan_names_a_partition_too(site: Any) -> None:
    named(site, "")
    plan = "plan: p\nsystem: big\ncomponents:\n  - functionality:\n      tests: [a, {test: a, where: {partition: PARTITION}}]\n"
    every = ("a@one:batch", "a@large", "a@two:batch")
    assert site.plan(plan.replace("PARTITION", "debug")).components[0].cases == (*every, "a@debug")
    assert site.plan(plan.replace("PARTITION", "[low, debug]")).components[0].cases == (*every, "a@low", "a@debug")
    assert site.plan(plan.replace("PARTITION", "large")).components[0].cases == every
    with pytest.raises(FileProblems, match="no case of test 'a' has partition=lwo"):
        site.plan(plan.replace("PARTITION", "lwo"))


def test_what_the_partition_does_not_allow_is_unavailable(site: Any) -> None:
    only = "where: {partitions: [PART]}\n"
    assert named(site, only.replace("PART", "debug"), ", time_limit: 30min") == [("a@debug", "")]
    assert named(site, only.replace("PART", "debug"), ", time_limit: 31min") == [
        ("a@debug", "its time limit is 31 min 00 s and partition debug allows 30 min 00 s")
    ]
    assert named(site, only.replace("PART", '"one:batch"'), ", nodes: 8") == [("a@one:batch", "")]
    assert named(site, only.replace("PART", '"one:batch"'), ", nodes: 9, time_limit: 3h") == [
        (
            "a@one:batch",
            "it takes 9 nodes and partition batch gives a job 8 nodes; "
            "its time limit is 3 h 00 min and partition batch allows 2 h 00 min",
        )
    ]
    assert named(site, only.replace("PART", '"one:batch"'), ", nodes: 17") == [
        ("a@one:batch", "it takes 17 nodes and partition batch has 16 nodes")
    ]


def test_more_of_a_licence_or_a_budget_than_there_is_is_unavailable(site: Any) -> None:
    only = "where: {partitions: [low]}\nloads: {LOAD}\n"
    for load, why in {
        "matlab: 4": "",
        "matlab: 5": "one run takes 5 of matlab and the budget is 4",
        "matlab: 1.5": "one run takes 1.5 of matlab, a licence that Slurm hands out in whole numbers",
        "disc: 10 GB/s": "",
        "disc: 11 GB/s": "one run takes 11 GB/s of disc and the budget is 10 GB/s",
    }.items():
        assert named(site, only.replace("LOAD", load)) == [("a@low", why)]


def test_two_clusters_have_a_licence_together_but_a_job_takes_it_from_one(site: Any) -> None:
    both = SYSTEM.replace("partitions: {batch", "licences: {matlab: 2}\n    partitions: {batch")
    site.write("systems/big.yaml", both)
    site.test('test: a\nrun: {command: "true"}\nloads: {matlab: 3}\nwhere: {partitions: [low, "two:batch"]}\n')
    listing = site.listing("big")
    assert dict(listing.system.budgets)["matlab"] == 6
    assert [case.unavailable for case in listing.cases] == [
        "",
        "one run takes 3 of matlab and cluster two has 2 of this licence",
    ]


def test_without_a_word_on_patience_it_is_the_usual(site: Any) -> None:
    site.write("systems/big.yaml", SYSTEM.replace("    licences", "    patience: {grace: 3min}\n    licences", 1))
    (system,) = read_site(site.path).systems
    assert [cluster.patience for cluster in system.clusters] == [Patience(grace_s=180), Patience()]


IN_CLUSTER = [
    ("most_jobs: 0", "clusters.one.most_jobs: 0 is less than 1, the least that is possible"),
    ("most_jobs: 1e3", "clusters.one.most_jobs: '1e3' is not a whole number"),
    ("licences: {a: -1}", "clusters.one.licences.a: -1 is less than 1, the least that is possible"),
    ("licences: {a: 4 GB/s}", "clusters.one.licences.a: '4 GB/s' is not a whole number"),
    ("licences: {a b: 4}", "clusters.one.licences: 'a b' cannot be a budget's name"),
    ("patience: {pol: 5s}", "unknown key 'pol' in clusters.one.patience\nhint: did you mean 'poll'?"),
    ("patience: {poll: 5}", "clusters.one.patience.poll: '5' is not a duration"),
    ("patience: {poll: -5s}", "clusters.one.patience.poll: '-5s' is not a duration"),
    ("patience: {poll: 0s}", "clusters.one.patience.poll: '0s' is no time to wait"),
    (
        "patience: {poll: 2min}",
        "patience.grace is shorter than patience.poll\nhint: the scheduler is asked that often only",
    ),
    (
        "patience: {grace: 1s}",
        "patience.grace is shorter than patience.poll\nhint: the scheduler is asked that often only",
    ),
    (
        "options: --account=x",
        "clusters.one.options is a list of options, not '--account=x'\nhint: write it in brackets",
    ),
    (
        "options: [--account x]",
        "clusters.one.options: '--account x' is not one option in one word\nhint: write --account=NAME",
    ),
    ("options: [account=x]", "clusters.one.options: 'account=x' is not one option in one word"),
    (
        "options: [-Jmine]",
        "clusters.one.options: '-Jmine': every submission says --job-name already\nhint: leave it out",
    ),
    ("options: [--time=5]", "'--time=5': every submission says --time already\nhint: a test says it: run.time_limit"),
    ("options: [-N2]", "'-N2': every submission says --nodes already\nhint: a test says it: run.nodes"),
]


@pytest.mark.parametrize(("line", "answer"), IN_CLUSTER)
def test_nonsense_in_a_cluster(site: Any, line: str, answer: str) -> None:
    text = SYSTEM.replace("    licences: {matlab: 4, fine: 2}\n", f"    {line}\n")
    site.write("systems/big.yaml", text)
    told = "\n".join(map(str, read_site(site.path).found_problems()))
    assert answer in told
    assert "systems/big.yaml:5:" in told


IN_PARTITION = [
    ("time_limit: 30", "clusters.one.partitions.low.time_limit: '30' is not a duration"),
    ("time_limit: UNLIMITED", "clusters.one.partitions.low.time_limit: 'UNLIMITED' is not a duration"),
    ("time_limit: -1h", "clusters.one.partitions.low.time_limit: '-1h' is not a duration"),
    ("most_nodes: 0", "clusters.one.partitions.low.most_nodes: 0 is less than 1, the least that is possible"),
    ("options: [--output=x]", "'--output=x': every submission says --output already"),
]


@pytest.mark.parametrize(("key", "answer"), IN_PARTITION)
def test_nonsense_in_a_partition(site: Any, key: str, answer: str) -> None:
    site.write("systems/big.yaml", SYSTEM.replace("low: {", f"low: {{{key}, "))
    told = "\n".join(map(str, read_site(site.path).found_problems()))
    assert answer in told
    assert "systems/big.yaml:8:" in told


ELSEWHERE = [
    ("budgets: {disc: 10 GB/s}", "budgets: {matlab: 8}", "budgets.matlab is 8, and there are only 4 of the licence"),
    (
        "budgets: {disc: 10 GB/s}",
        "budgets: {matlab: 1 GB/s}",
        "budgets.matlab is in bytes/s, and the licence is a plain number",
    ),
    ("{t: {cores: 16}}", "{t: {cores: 16, features: [a&b]}}", "node_types.t.features: 'a&b' is not a feature"),
    (
        "{t: {cores: 16}}",
        "{t: {cores: 16}}\ntoolchains: {gcc: {mpi: Open MPI}}",
        "toolchains.gcc.mpi: 'Open MPI' is no MPI",
    ),
]


@pytest.mark.parametrize(("old", "new", "answer"), ELSEWHERE)
def test_nonsense_elsewhere(site: Any, old: str, new: str, answer: str) -> None:
    assert old in SYSTEM
    site.write("systems/big.yaml", SYSTEM.replace(old, new))
    assert answer in "\n".join(map(str, read_site(site.path).found_problems()))


def test_a_budget_may_narrow_a_licence(site: Any) -> None:
    site.write("systems/big.yaml", SYSTEM.replace("budgets: {", "budgets: {matlab: 3, "))
    (system,) = read_site(site.path).systems
    assert system.budgets == (("matlab", 3.0), ("disc", 10e9), ("fine", 2.0))


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        (
            "most_jobs: 5\n    partitions: {all: {nodes: x, type: t}}",
            "'most_jobs' means nothing to the local scheduler",
        ),
        (
            "options: [-Aa]\n    partitions: {all: {nodes: x, type: t}}",
            "'options' means nothing to the local scheduler",
        ),
        ("partitions: {all: {nodes: x, type: t, time_limit: 1h}}", "'time_limit' means nothing to the local scheduler"),
    ],
)
def test_a_local_system_has_no_scheduler_to_speak_of(site: Any, keys: str, told: str) -> None:
    site.write(
        "systems/s.yaml",
        f"system: s\nclusters:\n  c:\n    scheduler: local\n    {keys}\nnode_types: {{t: {{cores: 1}}}}\n",
    )
    (problem,) = read_site(site.path).found_problems()
    assert (problem.message, problem.hint) == (told, "leave it out, or scheduler: slurm")


def test_a_node_of_this_machine_is_of_one_type(site: Any) -> None:
    """Else its cores would count as more of the node in one partition than in the other."""
    text = """\
system: s
clusters:
  c:
    scheduler: local
    partitions:
      thin: {nodes: n1, type: thin}
      fat: {nodes: n1, type: fat}
node_types: {thin: {cores: 1}, fat: {cores: 2}}
"""
    site.write("systems/s.yaml", text)
    (problem,) = read_site(site.path).found_problems()
    assert problem.message == "node n1 is of type thin in partition thin and of type fat here"
    site.write("systems/s.yaml", text.replace("{nodes: n1, type: fat}", "{nodes: n2, type: fat}"))
    (system,) = read_site(site.path).systems
    assert len(system.partitions()) == 2
