"""Contract rows that are not met, undecided or unjudged, and planned dates that were missed, in a line: where no criterion asks
about them the outcome hides them.
"""

from __future__ import annotations

from collections.abc import Sequence

from shakedown.metrics.judging.scorecard import Scorecard
from shakedown.metrics.words import plural, some

_WORDS = {"not met": "not met", "undecided": "undecided", "unjudged": "judged by nothing"}


def rows_beside(scorecard: Scorecard) -> str:
    """Purpose: how many contract rows are not met, undecided and judged by nothing, and which; of what is accepted the planned
    dates that were missed, too. "" where there is nothing of that.

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
    accepted = scorecard.outcome in ("accepted", "accepted with restrictions")
    found += [missed_words(scorecard.missed_dates)] if accepted and scorecard.missed_dates else []
    told = "; ".join(found)
    return f"{'Beside the criteria' if accepted else 'Of the contract'}: {told}" if told else ""


def missed_words(missed: Sequence[str]) -> str:
    """Purpose: 1 planned date was missed (speed: 1 h 00 min late)."""
    were = "was" if len(missed) == 1 else "were"
    return f"{plural(len(missed), 'planned date')} {were} missed ({some(list(missed))})"
