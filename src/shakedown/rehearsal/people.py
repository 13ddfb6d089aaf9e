"""Stand-ins for the people of a campaign in a rehearsal; the record names "rehearsal" as the author of their acts."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from shakedown.engine import State
from shakedown.engine.state.phases import CampaignPhase
from shakedown.events.segment_file import unwritable
from shakedown.metrics.rehearsed import NOT_MODELLED
from shakedown.model.layout import Layout
from shakedown.model.ports import Command

NOBODY = "rehearsal"


class RehearsedPeople:
    """The Inbox port of a rehearsal. It attests procedures as met and does drills at their planned moments.
    It opens gates that stay closed if ``open_gates`` is set, or if only things that are not modelled keep them closed."""

    def __init__(self, layout: Layout, open_gates: bool = False) -> None:
        self.layout, self.open_gates = layout, open_gates
        self.waiting: list[Command] = []
        self._count = 0

    def poll(self) -> Sequence[Command]:
        return list(self.waiting)

    def acknowledge(self, requests: Sequence[str]) -> None:
        self.waiting = [command for command in self.waiting if command.request not in requests]

    def attend(self, state: State) -> bool:
        """Queue the commands that are due; returns whether any wait. It is cheap enough for every turn."""
        if state.phase != CampaignPhase.RUNNING or self.waiting:
            return bool(self.waiting)
        if not self._count:
            self._attest_all(state)
        self._drill(state)
        if not (state.jobs or state.runs):
            self._open(state)
        return bool(self.waiting)

    def _attest_all(self, state: State) -> None:
        for component in state.index.components:
            for procedure in component.procedures:
                evidence = [
                    self._stand_in(f"{component.name}, {procedure.name}, {number}")
                    for number in range(1, procedure.evidence + 1)
                ]
                said = {"component": component.name, "procedure": procedure.name, "met": True, "evidence": evidence}
                self._say("attest", said, "nobody was asked: in a rehearsal procedures count as met")
        self._count += 1

    def _drill(self, state: State) -> None:
        """Do each drill at its planned moment, without duration; its effect on the machine is given by faults."""
        for component in state.index.components if state.clocks.drills else ():
            for drill in component.drills:
                progress = state.clocks.drills.get(component.name, {}).get(drill.name)
                if progress is None or progress.due is None or progress.begun is not None:
                    continue
                said = {"component": component.name, "drill": drill.name, "from": progress.due}
                why = "nobody was asked: in a rehearsal a drill is done at its moment"
                evidence = [
                    self._stand_in(f"{component.name}, drill {drill.name}, {number}")
                    for number in range(1, drill.evidence + 1)
                ]
                self._say("drill", said | {"act": "begun"}, why)
                self._say("drill", said | {"act": "ended", "evidence": evidence}, why)

    def _open(self, state: State) -> None:
        for name in state.index.awaited:
            outcome = state.gates.outcomes.get(name)
            if outcome is None or outcome.outcome == "met" or name in state.gates.waived:
                continue
            if self.open_gates:
                restriction = "opened by the rehearsal (--open-gates), to see what comes after it"
            elif outcome.outcome == "undecided" and f": {NOT_MODELLED}: " in outcome.why:
                restriction = "opened by the rehearsal: what it asks for is not modelled"
            else:
                continue
            self._say("waive", {"what": "gate", "component": name, "restriction": restriction}, outcome.why)

    def _say(self, what: str, value: dict[str, object], reason: str) -> None:
        self._count += 1
        self.waiting.append(Command(f"rehearsal-{self._count}", what, NOBODY, value | {"by": NOBODY}, reason))

    def _stand_in(self, of: str) -> dict[str, object]:
        """Write a file that stands in for evidence from people, and store it like real evidence."""
        text = f"A rehearsal: nobody brought evidence of {of}.\n".encode()
        digest = hashlib.sha256(text).hexdigest()
        try:
            self.layout.evidence.mkdir(exist_ok=True)
            (self.layout.evidence / digest).write_bytes(text)
        except OSError as error:
            raise unwritable(self.layout.evidence, error) from error
        return {"name": "rehearsal.txt", "sha256": digest, "bytes": len(text)}
