"""Campaigns that keep an emulated cluster full, see each of its nodes, or pack many runs into few jobs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from full_machine import Line, Told, begins, executed_twice, jobs_of, told_by_payloads
from slurm_cluster import Cluster
from slurm_disturbed import Disturbed, wait_until

from shakedown.model.events import Event
from shakedown.model.layout import Layout
from shakedown.schedulers.cluster.job_places import campaign_token

MDTS = ("mdt0", "mdt1", "mdt2", "mdt3")
PATIENCE = "poll: 1s, grace: 5s, lost_after: 40s, no_answer: 10min, dead_after: 5s"
_SYSTEM = """\
system: emu
clusters:
{clusters}
node_types: {{node: {{cores: 16}}}}
filesystems: {{f2: {{kind: lustre, targets: {{mdt: [{targets}]}}, path: "{path}/{{mdt}}/acceptance"}}}}
budgets: {{f2/mdt: {amount} per target}}
"""
_CLUSTER = """\
  {name}:
    scheduler: slurm
    patience: {{{patience}}}
    partitions: {{batch: {{nodes: "n[001-{nodes:03d}]", type: node}}}}"""
_TEST = """\
test: {name}
{more}
run:
  nodes: {nodes}
  time_limit: {limit}
  command: |
    {begins}
{command}
"""


def a_test(name: str, command: str, nodes: int = 1, limit: str = "1min", more: str = "") -> str:
    """Purpose: a test whose payload says first of all that it began."""
    lines = "\n".join(f"    {line}" for line in command.splitlines())
    return _TEST.format(name=name, nodes=nodes, limit=limit, more=more, begins=begins(name), command=lines)


class Full(Disturbed):
    """A site for one cluster or several, with these tests and this component of its plan ``p``. ``amount``: of each target."""

    def __init__(
        self,
        clusters: Sequence[Cluster],
        site: Path,
        tests: Mapping[str, str],
        component: str,
        amount: int = 2,
        plan: str = "",
    ) -> None:
        self.cluster, self.clusters, self.site, self.root = clusters[0], clusters, site, site / "campaigns/p-1"
        self.payloads, self.driver, self.lustre = {}, None, site / "lustre"
        self.bin = site / "bin"
        for folder in ("systems", "tests", "plans", "bin", *(f"lustre/{target}" for target in MDTS)):
            (site / folder).mkdir(parents=True)
        (site / "site.yaml").write_text("site: emu\n")
        described = [_CLUSTER.format(name=one.name, patience=PATIENCE, nodes=one.nodes) for one in clusters]
        (site / "systems/emu.yaml").write_text(
            _SYSTEM.format(clusters="\n".join(described), targets=", ".join(MDTS), path=site / "lustre", amount=amount)
        )
        for name, text in tests.items():
            (site / f"tests/{name}.yaml").write_text(text)
        lines = "\n".join(f"      {line}" for line in component.splitlines()[1:])
        head = f"plan: p\nsystem: emu\ncomponents:\n  - {component.splitlines()[0]}\n"
        (site / "plans/p.yaml").write_text(f"{head}{lines}\n{plan}")

    # ---- what it did ----

    def told(self) -> list[Told]:
        """What the payloads said."""
        return told_by_payloads(self.site / "executed")

    def jobs(self) -> dict[str, Line]:
        return jobs_of(self.events())

    def judged(self) -> list[Event]:
        return [event for event in self.events("verdict") if "supersedes" not in event.value]

    def counted(self) -> dict[str, int]:
        """How many runs have which verdict."""
        return dict(Counter(event.value["verdict"] for event in self.judged()))

    def where(self) -> dict[str, str]:
        """Run -> the nodes that its verdict names."""
        return {event.run: event.value.get("nodes", "") for event in self.judged()}

    def said(self, *words: str) -> None:
        """A command of a person's, which has to be taken."""
        done = self.command(*words, "--by", "Ada Example", "--because", "a test")
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"

    def first_jobs(self) -> dict[str, list[str]]:
        """Job -> the runs that it was ordered with, in their order."""
        found: dict[str, list[str]] = {}
        for event in self.events("submit_order"):
            found.setdefault(event.job, []).append(event.run)
        return found

    def killable(self, count: int) -> str:
        """A job of which so many runs were judged, and many more were not; empty while there is none."""
        judged = {event.run for event in self.judged()}
        for job, runs in self.first_jobs().items():
            if count <= sum(run in judged for run in runs) <= len(runs) // 2:
                return job
        return ""

    def slurm_id(self, job: str) -> str:
        """Slurm's id of one of our jobs."""
        ids = [event.value["id"] for event in self.events("submit_accepted") if event.job == job]
        return str(ids[-1]).split(";")[0]

    def wait_event(self, name: str, count: int = 1) -> Event:
        self.wait_until(lambda: len(self.events(name)) >= count, f"{count} {name}")
        return self.events(name)[count - 1]

    def wait_judged(self, count: int) -> None:
        self.wait_until(lambda: len(self.judged()) >= count, f"{count} runs are judged")

    # ---- what must hold ----

    def assert_sound(self) -> None:
        """Every run that was ordered is judged once or went back unexecuted, none was executed twice, no job is left."""
        prefix = f"sd-{campaign_token(Layout(self.root))}-"
        wait_until(lambda: not any(prefix in names for names in map(_queued, self.clusters)), "no job is left")
        verdicts = Counter(event.run for event in self.judged())
        assert set(verdicts.values()) == {1}, f"judged more than once: {verdicts}\n{self.tale()}"
        ordered = {event.run for event in self.events() if event.event in ("submit_order", "requeued")}
        executed = {one.run for one in self.told()}
        open_runs = ordered - set(verdicts)
        assert not open_runs & executed, f"executed and never judged: {open_runs & executed}\n{self.tale()}"
        assert open_runs <= self._void(), f"ordered and never judged: {open_runs}\n{self.tale()}"
        assert executed <= ordered, executed - ordered
        assert not executed_twice(self.told()), f"executed twice: {executed_twice(self.told())}\n{self.tale()}"
        passed = {event.run for event in self.judged() if event.value["verdict"] == "passed"}
        assert passed <= executed, f"passed and never executed: {passed - executed}"
        assert self.command("log", "p-1", "--verify").returncode == 0


def _queued(cluster: Cluster) -> str:
    """The names of all jobs in its queue."""
    return cluster.run("squeue", "-h", "-o", "%j")
