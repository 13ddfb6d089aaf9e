"""Asking a cluster's nodes for their fingerprints by jobs: ``python -m shakedown.schedulers.slurm.probing``, a process of its own.

One short job for each partition takes all idle nodes, as whole nodes, and runs the script on each; each node leaves its text as a
file. Nodes that were not idle are tried again until the time is over, and are then reported as busy or down. When the conductor
closes its standard input, the process reports what it has, leaves none of its jobs behind, and ends.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from msgspec import Struct

from shakedown.model.layout import Layout
from shakedown.model.nouns import Cluster
from shakedown.model.shared_nodes import names_in
from shakedown.schedulers.cluster.job_places import job_label
from shakedown.schedulers.slurm import commands
from shakedown.schedulers.slurm.parsing import NodeState, QueueRow, clean, node_states, queue_rows
from shakedown.schedulers.slurm.refusals import sort_answer
from shakedown.schedulers.slurm.runner import Run, Runner

PACE_S = 0.2  # between two looks at the files
LOOK_EVERY_S = 4.0  # between two looks at the queue, and two jobs for the same nodes
TEXT_LIMIT = 1 << 18  # bytes of one node's text that are read
_ALIVE = frozenset({"PENDING", "RUNNING", "CONFIGURING", "COMPLETING", "SUSPENDED", "STAGE_OUT", "REQUEUED"})
_NODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class Place(Struct, frozen=True):
    """Nodes that are asked through one partition."""

    cluster: str
    partition: str
    nodes: tuple[str, ...]


class Ask(Struct, frozen=True):
    """What is asked for. ``root``: the campaign directory, absolute. ``wait_s``: how many seconds nodes that are not idle are
    waited for.
    """

    root: bytes
    token: str
    clusters: tuple[Cluster, ...]
    places: tuple[Place, ...]
    script: str
    wait_s: float
    command_s: float


class Told(Struct, frozen=True):
    """The result: node -> text, node -> why there is none, and how often Slurm's commands were run."""

    texts: dict[str, str] = {}
    silent: dict[str, str] = {}
    calls: dict[str, int] = {}


@dataclass(slots=True)
class Probing:
    """One probe. ``leave(seconds)`` waits that long, and returns True where the conductor wants the result now."""

    ask: Ask
    run: Run
    leave: Callable[[float], bool]
    clock: Callable[[], float] = time.monotonic
    folder: Path = field(init=False)
    texts: dict[str, str] = field(default_factory=dict)
    mute: dict[str, str] = field(default_factory=dict)  # nodes that are asked no more, and why
    live: dict[str, Place] = field(default_factory=dict)  # jobs that are not known to be over, by name
    states: dict[str, NodeState] = field(default_factory=dict)

    def carry_out(self) -> Told:
        """Purpose: ask all nodes, and wait until all have answered or the time is over. Raises OSError where nothing can be
        written.
        """
        end = self.clock() + self.ask.wait_s
        self.folder, leftover = self._make_folder()
        for place in self.ask.places:
            self._submit(place, place.nodes)
        if leftover:
            self._cancel(dead=True)
        next_look = self.clock() + LOOK_EVERY_S
        while self._unanswered() and self.clock() < end and not self.leave(PACE_S):
            self._read()
            if self.clock() >= next_look and self._unanswered():
                self._look()
                next_look = self.clock() + LOOK_EVERY_S
        return self._sum_up()

    def _sum_up(self) -> Told:
        self._read()
        gone = self._cancel() if self._unanswered() and self.live else True
        silent = self._why_silent()
        if gone:
            shutil.rmtree(self.folder, ignore_errors=True)
        return Told(self.texts, silent, self.run.take_calls())

    # ---- files ----

    def _make_folder(self) -> tuple[Path, bool]:
        """A new folder with the scripts of this probe; and whether an earlier probe left one, so that it may have left jobs."""
        above = Layout(Path(os.fsdecode(self.ask.root))).probes
        above.mkdir(parents=True, exist_ok=True)
        numbers = [int(path.name[1:]) for path in above.iterdir() if re.fullmatch(r"f\d+", path.name)]
        folder = (
            above / f"f{max([int(time.time() * 1000), *(number + 1 for number in numbers)])}"
        )  # no job of ours has had that name before
        folder.mkdir()
        (folder / "facts.sh").write_text(self.ask.script, encoding="utf-8", errors="surrogateescape")
        (folder / "node.sh").write_text(_NODE_SCRIPT, encoding="utf-8")
        (folder / "answers").mkdir()
        return folder, bool(numbers)

    def _read(self) -> None:
        """Read what nodes have left. Files with other names are ignored."""
        with contextlib.suppress(OSError):
            for path in (self.folder / "answers").iterdir():
                if path.name in self._unanswered() and _NODE.fullmatch(path.name):
                    with path.open("rb") as file:
                        self.texts[path.name] = file.read(TEXT_LIMIT).decode("utf-8", "replace")

    def _unanswered(self) -> set[str]:
        every = {node for place in self.ask.places for node in place.nodes}
        return every - self.texts.keys() - self.mute.keys()

    # ---- jobs ----

    def _submit(self, place: Place, nodes: Sequence[str]) -> None:
        """Submit one job for as many of these nodes as are idle. If it is refused, that is the answer for the nodes."""
        number = len(list(self.folder.glob("job.*.sh")))
        label = job_label(self.ask.token, f"{self.folder.name}-{number}")
        script = self.folder / f"job.{number}.sh"
        script.write_text(_JOB_SCRIPT.format(folder=shlex.quote(str(self.folder))), encoding="utf-8")
        others = [node for node in place.nodes if node not in nodes]
        command = commands.probe_job(
            self._cluster(place.cluster), place.partition, label, str(script), len(nodes), others, self._several
        )
        answer = sort_answer(self.run(command, self.ask.command_s))
        if answer.outcome == "refused" and not answer.transient:
            self.mute |= dict.fromkeys(nodes, f"Slurm takes no job that asks it: {answer.message}")
        elif answer.outcome != "refused":
            self.live[label] = place

    def _look(self) -> None:
        """Remove jobs that are over, note nodes on which they left nothing, and submit a job for nodes that have become idle."""
        rows = {row.name: row for cluster in self._live_clusters() for row in self._rows(cluster, tuple(self.live))}
        self._read()
        for label in list(self.live):
            row = rows.get(label)
            if row is None or row.state not in _ALIVE:
                del self.live[label]
                ran_on = names_in(row.nodes) if row else ()
                self.mute |= {
                    node: f"a job ran there and left no answer{_state_in_brackets(row)}"
                    for node in ran_on
                    if node in self._unanswered()
                }
        for place in self.ask.places:
            nodes = [node for node in place.nodes if node in self._unanswered()]
            if nodes and place not in self.live.values():
                self._look_at_nodes(place, nodes)
                idle = [node for node in nodes if self.states[node].state.rstrip("*~#!%$@^-") == "idle"]
                if idle:
                    self._submit(place, idle)

    def _rows(self, cluster: str, labels: Sequence[str]) -> list[QueueRow]:
        ran = self.run(commands.squeue_named(cluster, os.getuid(), self._several, labels), self.ask.command_s)
        if ran.status:  # nobody knows: they may go on
            return [QueueRow("", label, "PENDING") for label, place in self.live.items() if place.cluster == cluster]
        return queue_rows(ran.output, cluster)

    def _cancel(self, dead: bool = False) -> bool:
        """Cancel our own jobs; or, with ``dead``, those of earlier probes whose conductor died. Returns True where none can be
        left.
        """
        gone = True
        named = re.compile(re.escape(job_label(self.ask.token, "")) + r"f\d+-\d+")
        own = job_label(self.ask.token, f"{self.folder.name}-")
        for cluster in [cluster.name for cluster in self.ask.clusters] if dead else self._live_clusters():
            ran = self.run(commands.squeue(cluster, os.getuid(), self._several, everything=False), self.ask.command_s)
            rows = [row for row in queue_rows(ran.output, cluster) if named.fullmatch(row.name)]
            ids = [row.id for row in rows if row.name.startswith(own) != dead]
            if ids:
                done = self.run(commands.scancel(cluster, self._several, ids), self.ask.command_s)
                gone = gone and done.status == 0
            gone = gone and ran.status == 0
        if dead and gone:
            for path in self.folder.parent.iterdir():
                if path != self.folder:
                    shutil.rmtree(path, ignore_errors=True)
        return gone

    # ---- what is said of a node without an answer ----

    def _why_silent(self) -> dict[str, str]:
        for place in self.ask.places:
            if nodes := [node for node in place.nodes if node in self._unanswered()]:
                self._look_at_nodes(place, nodes)
        return self.mute | {node: _why_silent(self.states[node], self.ask.wait_s) for node in self._unanswered()}

    def _look_at_nodes(self, place: Place, nodes: Sequence[str]) -> None:
        """Look up the states of some nodes, in Slurm's words. The whole partition is asked for: for a few nodes Slurm may give old
        answers.
        """
        self.states |= {node: NodeState(node, "") for node in nodes}
        command = commands.sinfo_partition(place.cluster, self._slurm_partition(place), self._several)
        ran = self.run(command, self.ask.command_s)
        self.states |= {state.name: state for state in node_states(ran.output) if state.name in nodes}

    def _slurm_partition(self, place: Place) -> str:
        """Slurm's name of the partition. For a part of a mixed partition it is in the part's options."""
        found = next(p for p in self._cluster(place.cluster).partitions if p.name == place.partition)
        named = [word.partition("=")[2] for word in found.options if word.startswith("--partition=")]
        return named[-1] if named else place.partition

    def _cluster(self, name: str) -> Cluster:
        return next(cluster for cluster in self.ask.clusters if cluster.name == name)

    def _live_clusters(self) -> list[str]:
        return list(dict.fromkeys(place.cluster for place in self.live.values()))

    @property
    def _several(self) -> bool:
        return len(self.ask.clusters) > 1


# The whole node is ours for that moment: nothing is measured beside it. Each node says its name; a text is there wholly or not.
_JOB_SCRIPT = """\
#!/bin/sh
cd {folder} || exit 0
srun --nodes="$SLURM_JOB_NUM_NODES" --ntasks="$SLURM_JOB_NUM_NODES" --ntasks-per-node=1 --mpi=none --cpu-bind=none \\
    --kill-on-bad-exit=0 sh node.sh
"""
_NODE_SCRIPT = """\
exec 2>/dev/null
sh facts.sh >"answers/.$SLURMD_NODENAME" </dev/null
mv "answers/.$SLURMD_NODENAME" "answers/$SLURMD_NODENAME"
"""


def _state_in_brackets(row: QueueRow | None) -> str:
    return f" ({row.state})" if row and row.state != "COMPLETED" else ""


def _why_silent(state: NodeState, wait_s: float) -> str:
    """Why a node gave no answer, in words."""
    word = state.state.lower()
    if not word:
        return f"no answer within {wait_s:g} s, and Slurm says nothing of it"
    if word.startswith("unk"):
        return "Slurm does not know its state yet: slurmctld has not heard of it since it was started"
    if any(part in word for part in ("down", "drain", "fail", "power", "boot", "maint", "inval", "error")):
        return f"down (Slurm: {clean(word)}{f', {clean(state.reason)}' if state.reason else ''})"
    if any(part in word for part in ("alloc", "mix", "reserved", "blocked", "perfctrs", "planned")):
        return f"busy (Slurm: {clean(word)}) for {wait_s:g} s"
    return f"no answer within {wait_s:g} s (Slurm: {clean(word)})"


# ---- the process -------------------------------------------------------------------------------------------------------


def _main() -> int:
    data = b""
    while not data.endswith(b"\n"):
        piece = os.read(0, 1 << 16)
        if not piece:
            return 0
        data += piece

    def leave(seconds: float) -> bool:
        return bool(select.select([0], [], [], seconds)[0])  # nothing more is sent: what can be read is the end

    try:
        told = Probing(msgspec.json.decode(data, type=Ask), Runner(), leave).carry_out()
    except OSError as error:
        print(f"{error.filename or 'the campaign directory'}: {error.strerror}", file=sys.stderr)
        return 1
    with contextlib.suppress(OSError):
        os.write(1, msgspec.json.encode(told))
    return 0


if __name__ == "__main__":
    sys.exit(_main())
