"""The first word of a scheduler on a job, held against what was ordered: what somebody changed before anybody looked.

What a site's own rule (a plugin, a default) makes of every job is told once. It is no change, and interrupts nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shakedown.conductor.driver.conductor import Conductor
from shakedown.engine.fold.first_looks import is_rule
from shakedown.engine.state.keys import TermKey
from shakedown.engine.state.state import State
from shakedown.model.job_terms import in_words, unlike
from shakedown.model.ports import JobReport

_CHANGED = "somebody changed it at the scheduler before it was first seen there, which does not say who"


def asked_alike_first(state: State, reports: Sequence[JobReport]) -> Sequence[JobReport]:
    """Purpose: the same reports, those of jobs last that are seen for the first time and not as they were ordered.

    What one look says of the others tells whether that is a rule.
    """
    strange = {report.job for report in reports if _is_strange(state, report)}
    return sorted(reports, key=lambda report: report.job in strange) if strange else reports


def _is_strange(state: State, report: JobReport) -> bool:
    job, terms = state.jobs.get(report.job), report.terms
    if job is None or job.terms is not None or terms is None or report.run:
        return False
    return any(unlike(name, asked, terms) is not None for name, asked in job.asked.items())


def say_first_looks(conductor: Conductor) -> None:
    """Purpose: a finding for each job that somebody changed before it was first seen, and one for each rule of the site's."""
    changes: dict[tuple[str, str, str], dict[str, list[Any]]] = {}
    rules: dict[str, dict[str, list[Any]]] = {}
    state = conductor.state
    for key, look in state.pools.first_looks.items():
        if look.jobs and not is_rule(look):
            for job, (run, case, has) in look.jobs.items():
                changes.setdefault((job, run, case), {})[key.name] = [look.asked, has]
        elif look.jobs and TermKey(key.pool, key.name, "") not in state.pools.site_rules:
            rules.setdefault(key.pool, {})[key.name] = [look.asked, look.has]
    for (job, run, case), altered in changes.items():
        value = {"kind": "changed_at_scheduler", "altered": altered, "before_seen": True}
        conductor.log("finding", job=job, run=run, case=case, value=value, reason=f"{_CHANGED}: {in_words(altered)}")
    for pool, altered in rules.items():
        why = f"jobs of {pool} are taken on other terms than they ask for: {in_words(altered)}; this counts as a rule of the site"
        conductor.log("finding", value={"kind": "site_rule", "pool": pool, "altered": altered}, reason=why)
