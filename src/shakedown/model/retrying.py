"""How often a wanted result is attempted again: what a plan says, and what holds where it says nothing."""

from __future__ import annotations

from collections.abc import Sequence

from shakedown.model.events import SPARED, UNDETERMINED
from shakedown.model.nouns import Retry

# What is attempted again when a plan says nothing: what the harness or the machine's owner ended, not what the test did.
DEFAULT_RETRIES = (
    Retry("interrupted", times=1000),
    Retry("node_fail", times=2),
    Retry("submit_failed", times=5, backoff_s=10.0),
    Retry("lost", times=1),
)
GONE = Retry(
    UNDETERMINED, times=1000
)  # what a run wrote is gone for good, through no fault of its own: it is run again
# Of a sweep each result is one node's: what keeps ending there is what the sweep is to find, and not to be tried for ever.
FEW_ON_A_NODE = 3
NEVER_RETRIED = frozenset({"passed", "incorrect", "performance", "build_failed", "not_run", SPARED, "cancelled"})


def rule_for(own: Sequence[Retry], verdict: str, swept: bool) -> Retry | None:
    """Purpose: how a verdict is retried: the plan's word (``own``), else the usual one; None where it is final. ``swept``: of a
    component that sweeps nodes.
    """
    if verdict in NEVER_RETRIED:
        return None
    for rule in (*own, *DEFAULT_RETRIES):
        if rule.verdict == verdict:
            few = rule not in own and swept and rule.times > FEW_ON_A_NODE
            return Retry(rule.verdict, FEW_ON_A_NODE, rule.backoff_s) if few else rule
    return None
