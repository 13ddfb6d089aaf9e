"""Contract rows that are not met, undecided or unjudged, and missed planned dates, in one line: without a criterion on them the
outcome does not show them.
"""

from __future__ import annotations

from collections.abc import Sequence

from shakedown.metrics.judging.scorecard import Scorecard
from shakedown.metrics.words import plural, some

_WORDS = {"not met": "not met", "undecided": "undecided", "unjudged": "judged by nothing"}


def rows_beside(scorecard: Scorecard) -> str:
    """Purpose: how many contract rows are not met, undecided or unjudged, and which; for an accepted campaign also the missed
    planned dates. "" if there are none.

    Waived rows and unavailable cases are left out, because they are restrictions and are reported as such.
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
    accepted = scorecard.outcome in ("accepted", "accepted with restrictions")
    found += [missed_words(scorecard.missed_dates)] if accepted and scorecard.missed_dates else []
    told = "; ".join(found)
    return f"{'Beside the criteria' if accepted else 'Of the contract'}: {told}" if told else ""


def missed_words(missed: Sequence[str]) -> str:
    """Purpose: the missed dates in words: "1 planned date was missed (speed: 1 h 00 min late)"."""
    were = "was" if len(missed) == 1 else "were"
    return f"{plural(len(missed), 'planned date')} {were} missed ({some(list(missed))})"
