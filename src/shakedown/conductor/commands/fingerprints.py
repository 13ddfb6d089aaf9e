"""Fingerprints of the machine in a campaign: taken at the start, on resume, and when a person asks; recorded as events.

The probe runs in the background. On this machine nothing is measured beside it, for as long as it takes, up to its patience. On a
cluster it takes idle nodes, as whole nodes, for a moment; the first order does not wait for it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from shakedown.conductor.commands.refusals import refusal
from shakedown.conductor.driver.conductor import Conductor
from shakedown.conductor.driver.ports import clusters_of
from shakedown.engine.state.phases import CampaignPhase
from shakedown.events.plain_files import read_plain
from shakedown.events.segment_file import sync_directory
from shakedown.machine.fingerprint import Facts, probe_script
from shakedown.machine.fingerprint_facts import (
    Found,
    describe_machine,
    digest_of_content,
    event_value,
    in_words,
    read_content,
)
from shakedown.machine.fingerprint_here import Answers, LocalProbe, Probe
from shakedown.model.dialects import call, dialect_named
from shakedown.model.events import Event
from shakedown.model.layout import Layout
from shakedown.model.nouns import Document, System
from shakedown.model.ports import Command
from shakedown.processes.reactor import Reactor

SETTLE_S = (
    8.0  # how long the end of a campaign waits for one that is under way: nodes that its last runs held are asked now
)
HURRY_S = 6.0  # and then for what there is


def probe_of(layout: Layout, document: Document, reactor: Reactor) -> Probe | None:
    """Purpose: the probe that asks the nodes a plan runs on; None where there is none for its scheduler."""
    clusters = clusters_of(document)
    dialect = dialect_named(clusters[0].scheduler)  # a campaign has one kind of scheduler
    if dialect is None or not dialect.probe:
        return None
    used = {case.partition for case in document.cases if not case.unavailable}
    probe: Probe = call(dialect, "probe", layout, reactor, clusters, used)
    return probe


def script_of(system: System) -> str:
    """The script of the probe, with the commands that the system's file adds."""
    return probe_script(dict(system.fingerprint))


class Fingerprints:
    """Takes fingerprints for one driver. At most one is under way; requests that come meanwhile are answered by the same one."""

    def __init__(self, layout: Layout, probe: Probe | None) -> None:
        self.layout, self.probe = layout, probe
        self._busy = False
        self._asked: list[Command] = []

    def take(self, conductor: Conductor) -> None:
        """Purpose: take the fingerprint at the start of a session. It is recorded before the first order, unless
        it takes too long.
        """
        if self.probe is None:
            return
        self._start(conductor)
        self._wait(conductor, self.probe.patience_s)

    def settle(self, conductor: Conductor) -> None:
        """Purpose: finish a fingerprint that is still under way at the end of a session. A conductor that leaves early does not
        wait for it.
        """
        if self.probe is None or not self._busy:
            return
        if conductor.state.phase == CampaignPhase.ENDED:
            self._wait(conductor, SETTLE_S)
            self.probe.hurry()
            self._wait(conductor, HURRY_S)
        if self._busy:
            self.close()
            why = "no fingerprint: the conductor left before the nodes had answered"
            conductor.log("finding", value={"kind": "no_fingerprint"} | _asked_by(self._asked), reason=why)

    def _wait(self, conductor: Conductor, patience_s: float) -> None:
        clock = conductor.ports.clock
        end = clock.now() + patience_s
        while self._busy and clock.now() < end:
            clock.wait(end)

    def command(self, conductor: Conductor, command: Command) -> Event | None:
        """The command ``fingerprint``. Its event is recorded when the probe is over."""
        if self.probe is None:
            return refusal(command, no_probe(conductor.state.index.document.system))
        self._asked.append(command)
        if not self._busy:
            self._start(conductor)
        return None

    def close(self) -> None:
        """End a fingerprint that is under way; the next driver takes one anyway."""
        self._busy = False
        if self.probe is not None:
            self.probe.close()

    def _start(self, conductor: Conductor) -> None:
        assert self.probe is not None
        self._busy = True
        self.probe.start(
            script_of(conductor.state.index.document.system), lambda answers: self._told(conductor, answers)
        )

    def _told(self, conductor: Conductor, answers: Answers) -> bool:
        self._busy = False
        asked, self._asked = self._asked, []
        conductor.more_calls.update(answers.calls)
        event = fingerprint_event(self.layout, conductor.state.campaign.fingerprint, answers, asked)
        conductor.log(event)
        return True


def no_probe(system: System) -> str:
    """Why the nodes of a system cannot be asked."""
    return f"nobody knows how the nodes of {system.name} are asked"


def fingerprint_event(layout: Layout, last: str, answers: Answers, asked: list[Command] | None = None) -> Event:
    """Purpose: the event for the answers of a probe; its facts are stored before. ``last``: the digest of the
    fingerprint before.
    """
    before = read_facts_file(layout, last) if last else None
    found = describe_machine(answers.texts, answers.silent, before)
    if found.nothing:
        why = "; ".join(found.unanswered) or "no node was asked"
        return Event("finding", value={"kind": "no_fingerprint"} | _asked_by(asked), reason=f"no fingerprint: {why}")
    try:
        file = keep_facts(layout, found)
    except OSError as error:
        why = f"no fingerprint: its facts cannot be kept: {error.strerror}"
        return Event("finding", value={"kind": "no_fingerprint"} | _asked_by(asked), reason=why)
    calls = {"calls": dict(answers.calls)} if answers.calls else {}
    value = event_value(found) | {"facts_file": file} | calls | _asked_by(asked)
    words = in_words(found, before is not None)
    if last and before is None:
        words += "; the facts of the last time are gone, so what changed cannot be said"
    return Event("fingerprint", value=value, reason=words)


def _asked_by(asked: list[Command] | None) -> dict[str, Any]:
    if not asked:
        return {}
    first = asked[0]
    by = str(first.value.get("by") or first.who)[:100]
    return {"request": first.request, "who": first.who, "by": by} | (
        {"because": first.reason[:300]} if first.reason else {}
    )


# ---- files of facts ------------------------------------------------------------------------------------------------------


def facts_path(layout: Layout, digest: str) -> Path:
    return layout.root / "fingerprints" / f"{digest}.json"


def keep_facts(layout: Layout, found: Found) -> str:
    """Purpose: store the facts of a fingerprint in a file, once and durably. Returns its path in the campaign. Raises OSError."""
    path = facts_path(layout, found.digest)
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        with draft.open("wb") as file:
            file.write(found.content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        sync_directory(path.parent)
    return str(path.relative_to(layout.root))


def read_facts_file(layout: Layout, digest: str) -> dict[str, Facts] | None:
    """Purpose: node -> facts of a fingerprint; None where the file is gone or was changed."""
    with suppress(OSError, ValueError):
        content = read_plain(facts_path(layout, digest))
        if digest_of_content(content) == digest:
            return read_content(content)
    return None


# ---- without a driver ------------------------------------------------------------------------------------------------------


def ask_now(layout: Layout | None = None, document: Document | None = None) -> Answers | None:
    """Purpose: probe now and wait for the answers: of a campaign's nodes, or of this machine. None where they cannot be asked."""
    reactor = Reactor()
    probe = LocalProbe(reactor) if layout is None or document is None else probe_of(layout, document, reactor)
    if probe is None:
        reactor.close()
        return None
    arrived: list[Answers] = []
    try:
        probe.start(probe_script() if document is None else script_of(document.system), arrived.append)
        while not arrived:
            reactor.wait(None)
    finally:
        probe.close()
        reactor.close()
    return arrived[0]


def answer_now(layout: Layout) -> Callable[[Conductor, Command], Event]:
    """The command ``fingerprint`` where there is no driver: it waits for the probe."""

    def command(conductor: Conductor, command: Command) -> Event:
        document = conductor.state.index.document
        answers = ask_now(layout, document)
        if answers is None:
            return refusal(command, no_probe(document.system))
        return fingerprint_event(layout, conductor.state.campaign.fingerprint, answers, [command])

    return command
