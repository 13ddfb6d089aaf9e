"""Which scheduler a plan gets, and what a session says when it leaves one."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from shakedown.conductor.commands.amend import keep_document
from shakedown.conductor.driver.ports import clusters_of
from shakedown.conductor.driver.shutdown import LEAVE, Interruptions, heard, leave
from shakedown.engine.state.records import Agenda, Driver
from shakedown.model.errors import UsageError
from shakedown.model.layout import Layout
from shakedown.model.nouns import Case, Cluster, Document, NodeType, Partition, System
from shakedown.model.ports import JobReport
from shakedown.model.resources import Gpus


def document(*used: str, unavailable: str = "") -> Document:
    """A plan on a system of a login node and two clusters, one of an unknown kind."""
    kinds = {"login": "local", "big": "slurm", "small": "slurm", "old": "slurn"}
    clusters = tuple(Cluster(name, kind, (Partition("all", name, "n1", 1, "node"),)) for name, kind in kinds.items())
    cases = [Case(f"c{number}", "t", f"{name}:all") for number, name in enumerate(used)]
    cases += [Case("no", "t", f"{unavailable}:all", unavailable="why not")] if unavailable else []
    return Document("p", System("s", clusters, (NodeType("node"),)), (), tuple(cases), ())


def names(plan: Document) -> list[str]:
    return [cluster.name for cluster in clusters_of(plan)]


def test_a_plan_gets_the_clusters_that_its_cases_run_on() -> None:
    assert names(document("big", "big")) == ["big"]
    assert names(document("small", "big")) == ["big", "small"]
    assert names(document("big", unavailable="login")) == ["big"]
    assert names(document()) == ["login"]


def test_a_plan_over_two_kinds_of_scheduler_is_refused_with_a_way_out() -> None:
    with pytest.raises(UsageError) as caught:
        clusters_of(document("login", "big"))
    assert str(caught.value) == (
        "plan p runs on clusters of different schedulers: login (local), big (slurm)\n"
        "hint: make it one plan for each: a campaign has one kind of scheduler"
    )


def test_a_scheduler_that_nobody_knows_is_refused_by_name() -> None:
    with pytest.raises(UsageError, match=r"cluster old has an unknown scheduler: slurn\nhint: did you mean 'slurm'"):
        clusters_of(document("old"))


class Listener:
    """A conductor whose jobs are as told; ``logged`` is what was recorded."""

    def __init__(self, running: int, queued: int) -> None:
        jobs = {str(n): SimpleNamespace(phase="running" if n < running else "queued") for n in range(running + queued)}
        self.logged: list[tuple[str, str]] = []
        self.state: Any = SimpleNamespace(jobs=jobs, runs={}, builds_running=lambda: 0)
        self.state.driver, self.state.agenda = Driver(), Agenda()
        self.state.only_undetermined = False

    def log(self, event: str, value: dict[str, Any], reason: str) -> None:
        self.logged.append((event, reason))
        self.state.driver.stopping = reason


@pytest.mark.parametrize(
    ("running", "queued", "words"),
    [
        (
            2,
            3,
            "; 5 jobs (2 running) at the scheduler: they go on without us, and whoever resumes the campaign picks them up",
        ),
        (
            0,
            1,
            "; 1 job (0 running) at the scheduler: they go on without us, and whoever resumes the campaign picks them up",
        ),
        (0, 0, ""),
    ],
)
def test_what_is_left_behind_is_said_and_nothing_is_ended(running: int, queued: int, words: str) -> None:
    conductor: Any = Listener(running, queued)
    assert leave(conductor, None) == f"the conductor was told to leave at once{words}"
    assert conductor.logged == [("stop_request", "the conductor was told to leave at once")]


def test_ctrl_c_says_once_what_goes_on_and_a_second_one_leaves() -> None:
    said: list[str] = []
    conductor: Any = Listener(1, 1)
    interruptions = Interruptions(said.append, jobs_go_on=True)
    assert not interruptions.should_stop(conductor)
    interruptions.signalled(2, None)
    assert not interruptions.should_stop(conductor)
    assert not interruptions.should_stop(conductor)
    assert said == [
        "nothing new is submitted; 2 jobs (1 running) may end (Ctrl-C again to leave at once; they go on without us)"
    ]
    conductor.state.jobs.clear()
    assert interruptions.should_stop(conductor), "nothing is left to wait for"
    conductor.state.jobs["1"] = SimpleNamespace(phase="running")
    interruptions.signalled(2, None)
    assert interruptions.level >= LEAVE
    assert interruptions.should_stop(conductor)


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (signal.SIGINT, "Ctrl-C at the conductor"),
        (signal.SIGQUIT, "Ctrl-\\ at the conductor"),
        (signal.SIGTERM, "the conductor was told to end (SIGTERM)"),
        (signal.SIGHUP, "the conductor's terminal is gone (SIGHUP)"),
    ],
)
def test_why_a_conductor_leaves_names_its_signal(number: signal.Signals, words: str) -> None:
    conductor: Any = Listener(0, 1)
    interruptions = Interruptions(lambda text: None)
    interruptions.signalled(number, None)
    if not interruptions.should_stop(conductor):
        assert conductor.logged == [("stop_request", words)]
        interruptions.signalled(number, None)
        assert interruptions.should_stop(conductor)
    leave(conductor, None, interruptions.signal)
    assert conductor.logged == [("stop_request", words)]


@pytest.mark.parametrize(("before", "words"), [("Ctrl-C at the conductor", ", a second time"), ("", "")])
def test_runs_that_a_conductor_ends_as_it_leaves_are_said(
    before: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where it had been told to start nothing new, which ended none; what was over by then is not among them."""
    for name in ("log_reports", "hear", "act"):
        monkeypatch.setattr(f"shakedown.conductor.driver.shutdown.{name}", lambda *given: None)
    conductor: Any = Listener(3, 0)
    conductor.state.driver.stopping = before
    states = ("interrupted", "completed", "interrupted")
    leave(conductor, lambda: [JobReport(str(n), state, "marks") for n, state in enumerate(states)], "SIGINT")
    assert conductor.logged == [("stop_request", f"Ctrl-C at the conductor{words}: 2 runs were ended while running")]


@pytest.mark.parametrize("deaf", [False, True])
def test_sigquit_is_heard_as_ctrl_c_is(deaf: bool) -> None:
    """Also by one that a script started in the background, which is deaf to both; without a core and without orphans."""
    before = signal.signal(signal.SIGQUIT, signal.SIG_IGN if deaf else signal.SIG_DFL)
    try:
        interruptions = Interruptions(lambda text: None)
        with heard(interruptions):
            os.kill(os.getpid(), signal.SIGQUIT)
            assert interruptions.level == 1
            os.kill(os.getpid(), signal.SIGINT)
            assert interruptions.level >= LEAVE
    finally:
        signal.signal(signal.SIGQUIT, before)


def test_an_amendment_may_want_no_cluster_that_whoever_drives_has_not_opened() -> None:
    from shakedown.conductor.commands.amend import another_cluster

    assert another_cluster(document("big", "small"), document("small", "small")) == ""
    words = (
        "{} would be new or described anew, and whoever drives opened the clusters of before: "
        "end it (Ctrl-C, or TERM), then amend and resume"
    )
    assert another_cluster(document("big"), document("big", "small")) == words.format("cluster small")
    assert another_cluster(document(), document("small", "big")) == words.format("clusters big, small")
    assert another_cluster(document("big"), document("old")).startswith("cluster old has an unknown scheduler")
    plan = document("big")
    changed = replace(
        plan,
        system=replace(plan.system, clusters=tuple(replace(c, options=("--exclusive",)) for c in plan.system.clusters)),
    )
    assert another_cluster(plan, changed) == words.format("cluster big")
    assert another_cluster(plan, replace(plan, plan="q")) == ""


@pytest.mark.parametrize("driven", [True, False])
def test_a_person_hears_at_once_that_whoever_drives_cannot_open_a_cluster(driven: bool, tmp_path: Path) -> None:
    state: Any = SimpleNamespace(
        plan=SimpleNamespace(document=document("big")),
        campaign=SimpleNamespace(next_run=1),
        driver=SimpleNamespace(inputs=""),
    )
    layout = Layout(tmp_path)
    layout.documents.mkdir(parents=True)
    if not driven:  # the next conductor opens the clusters of the new plan
        assert keep_document(layout, state, document("small"))[1]
        return
    with pytest.raises(UsageError, match="cluster small would be new or described anew"):
        keep_document(layout, state, document("small"), driven=True)
    assert list(layout.documents.iterdir()) == []


def test_an_amendment_of_this_machines_slots_waits_for_the_next_conductor() -> None:
    """Whoever drives shares out the cores and GPUs that the file named when it began."""
    from shakedown.conductor.commands.amend import another_cluster

    cluster = Cluster("here", "local", (Partition("all", "here", "n1", 1, "node"),))
    case = Case("x", "t", "here:all")

    def plan(kind: NodeType) -> Document:
        return Document("p", System("lab", (cluster,), (kind,)), (), (case,), ())

    before = plan(NodeType("node", cores=2))
    assert another_cluster(before, plan(NodeType("node", cores=2, sockets=2))) == ""
    for after in (NodeType("node", cores=1), NodeType("node", cores=2, gpus=Gpus(1))):
        assert another_cluster(before, plan(after)).startswith("cluster here would be new or described anew")
