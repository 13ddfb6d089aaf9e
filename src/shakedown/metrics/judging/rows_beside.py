"""Contract rows that are not met, undecided or unjudged, in a line: where no criterion asks about them the outcome hides them."""

from __future__ import annotations

from shakedown.metrics.judging.scorecard import Scorecard
from shakedown.metrics.words import plural, some

_WORDS = {"not met": "not met", "undecided": "undecided", "unjudged": "judged by nothing"}


def rows_beside(scorecard: Scorecard) -> str:
    """Purpose: how many contract rows are not met, undecided and judged by nothing, and which; "" where all are met.

    A waived row is a restriction, and so are unavailable cases: what restricts is not told here again.
    """
    found = []
    for outcome, words in _WORDS.items():
        names = [
            score.row.name
            for score in (scorecard.contract.rows if scorecard.contract else ())
            if score.outcome == outcome and not score.waived and not score.unavailable
        ]
        if names:
            verb = "is" if len(names) == 1 else "are"
            found.append(f"{plural(len(names), 'contract row')} {verb} {words} ({some(names)})")
    told = "; ".join(found)
    accepted = scorecard.outcome in ("accepted", "accepted with restrictions")
    return f"{'Beside the criteria' if accepted else 'Of the contract'}: {told}" if told else ""
