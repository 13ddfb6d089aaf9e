"""Asking a cluster's nodes for their fingerprints: the Probe port for Slurm, through a child process that may hang in our place."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

import msgspec
from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet

from shakedown.machine.fingerprint_here import Answers
from shakedown.model.layout import Layout
from shakedown.model.nouns import Cluster, Partition
from shakedown.processes.reactor import Reactor, Timer
from shakedown.schedulers.claims import CannotStart
from shakedown.schedulers.cluster.job_places import campaign_token
from shakedown.schedulers.slurm.parsing import clean
from shakedown.schedulers.slurm.probing import Ask, Place, Told

WAIT_S = 30.0  # how long nodes that are busy are waited for
COMMAND_S = 20.0  # that one of Slurm's commands may take
HANGS_S = 90.0  # after the wait: a process that has still not said anything hangs
_COMMAND = (sys.executable, "-P", "-m", "shakedown.schedulers.slurm.probing")
_TOLD_LIMIT = 1 << 28
_dying: list[subprocess.Popen[bytes]] = []  # told to end, and not yet collected


def probe_nodes(layout: Layout, reactor: Reactor, clusters: Sequence[Cluster], used: Iterable[str]) -> SlurmProbe:
    """Purpose: the probe for the nodes of these partitions, each "cluster:partition"."""
    return SlurmProbe(layout, reactor, clusters, used)


class SlurmProbe:
    """The Probe port for the nodes of partitions, with at most one child at a time. The campaign's first order does not wait for
    it.
    """

    patience_s = 0.0

    def __init__(
        self, layout: Layout, reactor: Reactor, clusters: Sequence[Cluster], used: Iterable[str], wait_s: float = WAIT_S
    ) -> None:
        """``used``: the partitions, "cluster:partition", whose nodes are asked; without any, all are."""
        self._layout, self._reactor, self._clusters = layout, reactor, tuple(clusters)
        self._places, self._wait_s = places_of(clusters, used), wait_s
        self._child: subprocess.Popen[bytes] | None = None
        self._output = self._complaints = self._pidfd = -1
        self._timer: Timer | None = None

    def start(self, script: str, told: Callable[[Answers], object]) -> None:
        """Start the child. If it cannot be started, ``told`` is called with that as the answer, before this returns."""
        try:
            self._spawn(script)
        except (OSError, CannotStart) as error:
            self._forget()
            told(self._nobody(f"its nodes cannot be asked: {error}"))
            return
        assert self._child is not None
        self._timer = self._reactor.call_later(self._wait_s + HANGS_S, partial(self._hangs, told))
        self._reactor.watch(self._pidfd, partial(self._ended, told))

    def hurry(self) -> None:
        """Ask for what has arrived so far; jobs that still wait are cancelled."""
        if self._child is not None and self._child.stdin is not None:
            with contextlib.suppress(OSError):
                self._child.stdin.close()

    def close(self) -> None:
        """Let the child cancel its job and end; ``told`` is not called."""
        self.hurry()
        if self._child is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._child.wait(1.0)
        self._forget()

    # ---- the child ----

    def _spawn(self, script: str) -> None:
        root = os.fsencode(Path(self._layout.root).absolute())
        ask = Ask(root, campaign_token(self._layout), self._clusters, self._places, script, self._wait_s, COMMAND_S)
        self._output = os.memfd_create("fingerprints", os.MFD_CLOEXEC)
        self._complaints = os.memfd_create("complaints", os.MFD_CLOEXEC)
        self._child = subprocess.Popen(
            _COMMAND,
            stdin=subprocess.PIPE,
            stdout=self._output,
            stderr=self._complaints,
            start_new_session=True,  # Ctrl-C is the conductor's alone
            bufsize=0,
        )
        self._pidfd = os.pidfd_open(self._child.pid)
        assert self._child.stdin is not None
        unsent = memoryview(msgspec.json.encode(ask) + b"\n")
        while unsent:  # the child reads all of it before it does anything else
            unsent = unsent[os.write(self._child.stdin.fileno(), unsent) :]

    def _ended(self, told: Callable[[Answers], object]) -> object:
        assert self._child is not None
        status = self._child.wait()
        data = os.pread(self._output, _TOLD_LIMIT, 0)
        lines = os.pread(self._complaints, 1 << 16, 0).decode("utf-8", "replace").strip().splitlines()
        self._forget()
        try:
            found = msgspec.json.decode(data, type=Told)
        except msgspec.MsgspecError:
            why = clean(f"exit status {status}; {lines[-1] if lines else 'it said nothing'}")
            return told(self._nobody(f"the process that asks the nodes ended unexpectedly ({why})"))
        return told(Answers(found.texts, found.silent, found.calls))

    def _hangs(self, told: Callable[[Answers], object]) -> object:
        self.hurry()
        self._forget()
        return told(self._nobody(f"the process that asks the nodes said nothing for {self._wait_s + HANGS_S:g} s"))

    def _nobody(self, why: str) -> Answers:
        return Answers(silent={node: why for place in self._places for node in place.nodes})

    def _forget(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._pidfd >= 0:
            self._reactor.close_watched(self._pidfd)
        for descriptor in (self._output, self._complaints):
            if descriptor >= 0:
                os.close(descriptor)
        if self._child is not None:
            self.hurry()
            _dying.append(self._child)
        _dying[:] = [child for child in _dying if child.poll() is None]
        self._child, self._timer = None, None
        self._output = self._complaints = self._pidfd = -1


def places_of(clusters: Sequence[Cluster], used: Iterable[str]) -> tuple[Place, ...]:
    """Purpose: each node once, through as few partitions as possible; of equal ones the first in the system's file."""
    names = set(used)
    places = []
    for cluster in clusters:
        mine = [p for p in cluster.partitions if not names or f"{cluster.name}:{p.name}" in names]
        left = NodeSet(resolver=RESOLVER_NOGROUP)
        for partition in mine:
            left.update(_nodes(partition))
        ways = mine if not left else list(cluster.partitions)  # one that nobody uses may reach them all
        while left:
            best = max(ways, key=lambda partition: len(_nodes(partition) & left))
            places.append(Place(cluster.name, best.name, tuple(_nodes(best) & left)))
            left = left - _nodes(best)
    return tuple(places)


def _nodes(partition: Partition) -> NodeSet:
    return NodeSet(partition.nodes, resolver=RESOLVER_NOGROUP)
