"""Whole campaigns on an emulated cluster: tests pinned to nodes, what was executed, what was judged, and what must hold of any."""

from __future__ import annotations

import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from slurm_cluster import Cluster
from stories import SHAKEDOWN

from shakedown.events.reader import read_events
from shakedown.model.events import Event

LIMIT_S = 240.0  # for anything that has to happen in a campaign on a busy machine
PATIENCE = "poll: 1s, grace: 3s, lost_after: 40s, no_answer: 10min, dead_after: 5s"

# A partition of ours for each node, and those of Slurm's that tests want besides: where a fault strikes is then known.
_SYSTEM = """\
system: emu
clusters:
  {cluster}:
    scheduler: slurm
    patience: {{{patience}}}{licences}
    partitions:
{partitions}
node_types: {{node: {{cores: 16}}}}
{budgets}"""
_TEST = """\
test: {name}
where: {{partitions: [{place}]}}
run:
  time_limit: {limit}
  requeue: {requeue}
  nodes: {nodes}
  command: |
    echo "{name} job=$SLURM_JOB_ID restart=$SHAKEDOWN_RESTART run=$SHAKEDOWN_RUN" >>{{campaign}}/../../executed
{command}
{more}
"""
_PLAN = """\
plan: p
system: emu
components:
  - functionality:
      tests: [{tests}]
{repeats}      retry: {{{retry}}}
{more}      criteria: {{done: {{measure: passed / wanted, must: ">= 0%"}}}}
"""


SCRIPT_KILLED = (
    "interrupted",
    "it was ended from outside: its job script was ended by signal 9 (SIGKILL), and how its payload ended is not known",
)


@dataclass(frozen=True)
class Payload:
    """A test. ``place``: a node, such as n003, or one of Slurm's partitions. ``command``: shell lines; ``$attempt`` is 1, 2..."""

    name: str
    place: str
    command: str
    limit: str = "30s"
    requeue: bool = False
    nodes: int = 1
    more: str = ""  # other keys of the test's file

    def text(self) -> str:
        count = f'attempt=$(grep -c "^{self.name} " {{campaign}}/../../executed)\n'
        lines = "".join(f"    {line}\n" for line in (count + self.command).splitlines())
        return _TEST.format(
            name=self.name,
            place=self.place,
            limit=self.limit,
            requeue=str(self.requeue).lower(),
            nodes=self.nodes,
            command=lines,
            more=self.more,
        )


class Campaign:
    """A site of its own for a cluster, and its one campaign. As a context: whatever happens, its driver is ended."""

    def __init__(
        self,
        cluster: Cluster,
        site: Path,
        payloads: Iterable[Payload],
        retry: str = "",
        repeats: int = 1,
        patience: str = PATIENCE,
        licences: str = "",
        budgets: str = "",
        more: str = "",
    ) -> None:
        """``more``: lines of the plan's component beside those that every one has."""
        self.cluster, self.site, self.root = cluster, site, site / "campaigns/p-1"
        self.payloads = {payload.name: payload for payload in payloads}
        self.driver: subprocess.Popen[str] | None = None
        for folder in ("systems", "tests", "plans"):
            (site / folder).mkdir(parents=True)
        (site / "site.yaml").write_text("site: emu\n")
        (site / "systems/emu.yaml").write_text(self._system(patience, licences, budgets))
        for payload in self.payloads.values():
            (site / f"tests/{payload.name}.yaml").write_text(payload.text())
        often = "" if "sweep:" in more else f"      repeats: {repeats}\n"
        plan = _PLAN.format(tests=", ".join(self.payloads), retry=retry, repeats=often, more=more)
        (site / "plans/p.yaml").write_text(plan)

    def _system(self, patience: str, licences: str, budgets: str) -> str:
        nodes = [f"n{number:03d}" for number in range(1, self.cluster.nodes + 1)]
        places = [
            f'{node}: {{nodes: {node}, type: node, options: ["--partition=batch", "--nodelist={node}"]}}'
            for node in nodes
        ]
        places += [
            f'low{int(node[1:])}: {{nodes: {node}, type: node, options: ["--partition=low", "--nodelist={node}"]}}'
            for node in nodes
        ]
        pair = f"{nodes[-2]},{nodes[-1]}"
        places += [f'pair: {{nodes: "{pair}", type: node, options: ["--partition=batch", "--nodelist={pair}"]}}']
        if len(nodes) >= 6:
            for name, two in zip(("first", "second", "third"), (nodes[:2], nodes[2:4], nodes[4:6]), strict=True):
                both = ",".join(two)
                places += [
                    f'{name}: {{nodes: "{both}", type: node, options: ["--partition=batch", "--nodelist={both}"]}}'
                ]
        places += [f'batch: {{nodes: "n[{nodes[0][1:]}-{nodes[-1][1:]}]", type: node}}']
        return _SYSTEM.format(
            cluster=self.cluster.name,
            patience=patience,
            licences=f"\n    licences: {{{licences}}}" if licences else "",
            partitions="\n".join(f"      {place}" for place in places),
            budgets=f"budgets: {{{budgets}}}\n" if budgets else "",
        )

    # ---- its driver ----

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.driver is not None and self.driver.poll() is None:
            self.driver.kill()
            self.driver.communicate()

    def command(self, *words: str, environment: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """A command of Shakedown's in the site, to its end."""
        return subprocess.run(
            [*SHAKEDOWN, *words],
            cwd=self.site,
            env={**self.cluster.environment, **(environment or {})},
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )

    def start(self, *words: str, environment: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        """Its driver, in the background: ``run p`` unless other words are given."""
        self.driver = subprocess.Popen(
            [*SHAKEDOWN, *(words or ("run", "p"))],
            cwd=self.site,
            env={**self.cluster.environment, **(environment or {})},
            stdout=subprocess.DEVNULL,
            stderr=(self.site / "said").open("a"),
            text=True,
        )
        return self.driver

    def end(self, limit_s: float = LIMIT_S, statuses: tuple[int, ...] = (0, 1)) -> None:
        """Wait until its driver has nothing left to do; then see that what must hold of every campaign holds."""
        assert self.driver is not None
        try:
            status = self.driver.wait(limit_s)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"the campaign goes on and on: {self.tale()}") from None
        assert status in statuses, (self.site / "said").read_text()
        self.assert_sound()

    # ---- what it did ----

    def events(self, name: str = "") -> list[Event]:
        log = self.root / "log"
        return [event for event in read_events(log) if name in ("", event.event)] if log.exists() else []

    def executed(self) -> list[tuple[str, str]]:
        """(test, "job=... restart=... run=...") of each payload that began, in that order."""
        file = self.site / "executed"
        lines = file.read_text().splitlines() if file.exists() else []
        return [(line.split(" ", 1)[0], line.split(" ", 1)[1]) for line in lines]

    def seen(self) -> str:
        """What payloads wrote into a file that they share."""
        file = self.site / "seen"
        return file.read_text() if file.exists() else ""

    def executions(self) -> dict[str, int]:
        """How often each test's payload began."""
        return dict(Counter(name for name, _ in self.executed()))

    def verdicts(self) -> dict[str, list[tuple[str, str]]]:
        """(verdict, reason) of each attempt by test, in the order of judging; ids that Slurm gave read JOB."""
        told: dict[str, list[tuple[str, str]]] = {}
        for event in self.events("verdict"):
            told.setdefault(self.name(event), []).append((event.value["verdict"], event.reason))
        return told

    def findings(self) -> dict[str, list[tuple[str, bool]]]:
        """(kind, whether it proves the job dead) of each finding by test."""
        told: dict[str, list[tuple[str, bool]]] = {}
        for event in self.events("finding"):
            told.setdefault(self.name(event), []).append((event.value["kind"], bool(event.value.get("dead"))))
        return told

    def name(self, event: Event) -> str:
        """The test that an event is about."""
        return event.case.split("/")[0].split("@")[0]

    def job(self, name: str) -> str:
        """Slurm's id of the test's newest job; empty when it has none."""
        ours = {event.job for event in self.events("submit_order") if self.name(event) == name}
        ids = [event.value["id"] for event in self.events("submit_accepted") if event.job in ours]
        return str(ids[-1]).split(";")[0] if ids else ""

    def tale(self) -> str:
        """For a failure's report: the log, a line for each event."""
        lines = []
        for event in self.events():
            value = {key: value for key, value in event.value.items() if key not in ("environment", "driver", "output")}
            lines.append(
                f"{event.seq} {event.time:.1f} {event.event} {event.case} {event.run} {event.job} {value} {event.reason}"
            )
        return "\n".join([(self.site / "said").read_text() if (self.site / "said").exists() else "", *lines])

    # ---- waiting ----

    def wait_until(self, condition: Callable[[], object], what: str, limit_s: float = LIMIT_S) -> None:
        end = time.monotonic() + limit_s
        while not condition():
            assert time.monotonic() < end, f"after {limit_s:.0f} s still not: {what}\n{self.tale()}"
            assert self.driver is None or self.driver.poll() is None, f"it ended before: {what}\n{self.tale()}"
            time.sleep(0.1)

    def wait_running(self, *names: str, count: int = 1) -> None:
        """Until the payloads of these tests (all, without any) have begun so many times."""
        wanted = names or tuple(self.payloads)
        self.wait_until(
            lambda: all(self.executions().get(name, 0) >= count for name in wanted), f"{', '.join(wanted)} executed"
        )

    def wait_verdict(self, name: str, count: int = 1) -> None:
        self.wait_until(lambda: len(self.verdicts().get(name, [])) >= count, f"{name} has {count} verdicts")

    # ---- what must hold ----

    def assert_sound(self) -> None:
        """Each run was judged once, each attempt executed at most once, and nothing of ours is left at the scheduler."""
        runs = Counter(event.run for event in self.events("verdict"))
        void = self._void()
        ordered = {event.run for event in self.events() if event.event in ("submit_order", "requeued")}
        assert set(runs.values()) <= {1}, f"judged more than once: {runs}\n{self.tale()}"
        assert ordered - void == set(runs), (
            f"ordered and not judged, or the reverse: {ordered ^ set(runs)}\n{self.tale()}"
        )
        began = Counter(what for _, what in self.executed())
        assert set(began.values()) <= {1}, f"executed twice under one claim: {began}"
        attempts = Counter(self.name(event) for event in self.events("verdict"))
        assert all(count <= attempts[name] for name, count in self.executions().items()), self.tale()
        left = self.cluster.run("squeue", "-h", "-o", "%j %T").splitlines()
        assert not [line for line in left if line.startswith("sd-")], f"left in the queue: {left}\n{self.tale()}"
        assert self.command("log", "p-1", "--verify").returncode == 0

    def _void(self) -> set[str]:
        """Runs that waited on and were never ordered again: put off or claimed, and then cancelled or not at all."""
        judged = {event.run for event in self.events("verdict")}
        return {e.run for e in self.events() if e.event in ("submit_deferred", "claim_taken")} - judged
