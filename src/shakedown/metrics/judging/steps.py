"""The steps that amendments made from one plan to the next, and which of them brought results about: ``Steps``.

An amendment that makes runs easier leaves something behind where results came by it, whatever is asked for after it; one that
steers what runs, where something was ordered after it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from math import inf

from shakedown.metrics.judging import beyond
from shakedown.metrics.judging.asked_less import eased, eases_runs, steers_runs
from shakedown.metrics.judging.people import Act
from shakedown.metrics.rows.table import Record
from shakedown.model.nouns import Document


class Steps:
    """Every amendment of a campaign, beside the plan that was in force before it. ``void``: acts without effect; ``missing``: of a
    plan that names parties: act -> the parties whose word is missing.
    """

    def __init__(
        self,
        record: Record,
        acts: Sequence[Act],
        void: Collection[int],
        document_of: Callable[[str], Document],
        missing: Mapping[int, Sequence[str]],
    ) -> None:
        self.record, self.void, self.document_of, self.missing = record, void, document_of, missing
        self.amends = [act for act in acts if act.kind == "amend"]

    def steering(self) -> set[int]:
        """The amendments that had other runs come about: some were ordered while they were in force."""
        orders = [row.ordered_by for row in self.record.current()] + [run.seq for run in self.record.open.values()]
        last = max(orders, default=0)
        return {act.number for act in self.amends if act.number < last and steers_runs(*self.of(act))}

    def relied(self) -> set[int]:
        """The amendments by whose easier plan results came, so that nobody knows what these would be without them."""
        return {
            act.number
            for act in self.amends
            if eases_runs(*self.of(act)) and not beyond.is_known(*self.of(act)) and self.is_relied_on(act)
        }

    def of(self, act: Act) -> tuple[Document, Document]:
        """The plan that was in force before an amendment, and the one that it put into force."""
        place = self.amends.index(act)
        last = max((k for k in range(place) if self.amends[k].number not in self.void), default=-1)
        before, after = (self.record.documents[k + 1] for k in (last, place))
        return self.document_of(before), self.document_of(after)

    def stood_by(self, act: Act) -> Document:
        """The last plan before an amendment that every party stood by: that of the beginning, or one that all of them agreed to.
        What one party alone asked for meanwhile is nobody's to lose.
        """
        place = self.amends.index(act)
        numbers = [one.number for one in self.amends[:place]]
        agreed = (k for k in reversed(range(place)) if numbers[k] not in self.void and not self.missing.get(numbers[k]))
        return self.document_of(self.record.documents[next(agreed, -1) + 1])

    def is_relied_on(self, act: Act) -> bool:
        """Whether a verdict that counts was given, or its run let start, before a later amendment asked for all of it again."""
        before, after = self.of(act)
        later = (one for one in self.amends if one.number > act.number)
        until = next((one for one in later if not eases_runs(before, self.of(one)[1])), None)
        last, end = (until.number, until.said) if until is not None else (inf, inf)
        parts, cases = eased(before, after)
        for row in self.record.runs:
            if row.superseded_by or not (row.component in parts or row.case in cases):
                continue
            began = row.charged if row.charged is not None else row.started
            if act.number < row.seq < last or (began is not None and act.said <= began < end):
                return True
        return False
