"""The frozen documents of a campaign, by digest. Each is checked against its digest when it is read."""

from __future__ import annotations

from typing import Any

from shakedown.engine import State
from shakedown.events.campaigns import read_document
from shakedown.model.errors import RecordError
from shakedown.model.frozen import thaw
from shakedown.model.layout import Layout
from shakedown.model.nouns import Document


class Documents:
    """Reads each document once. ``digests``: those asked for so far, in that order, which is the order in which they came into
    force.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._known: dict[str, Document] = {}
        self.digests: list[str] = []

    def __call__(self, digest: str) -> Document:
        if digest not in self._known:
            self._known[digest] = thaw(read_document(self.layout, digest))
        if self.digests[-1:] != [digest]:
            self.digests.append(digest)
        return self._known[digest]

    @property
    def digest(self) -> str:
        """The digest that was asked for last."""
        return self.digests[-1] if self.digests else ""

    def newest(self, state: State) -> Document:
        """The document in force: the one that the log names, or the only one there is before the log begins."""
        if state.plan is not None:
            return state.plan.document
        names = sorted(path.stem for path in self.layout.documents.glob("*.json"))
        if len(names) != 1:
            raise RecordError(
                f"{self.layout.documents}: one frozen plan is expected before a campaign starts, not {len(names)}"
            )
        return self(names[0])

    def start_value(self, state: State) -> dict[str, Any]:
        """The value of the event with which a campaign begins."""
        document = self.newest(state)
        return {
            "document": self.digest,
            "campaign": self.layout.root.name,
            "plan": document.plan,
            "seed": document.seed,
        }
