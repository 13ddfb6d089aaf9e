"""The first report of a scheduler on a job, compared with what was ordered, to find what somebody changed before that.

What a rule of the site (a plugin, a default) does to every job that asks for the same is recorded once. It is no change, and
interrupts nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shakedown.conductor.driver.conductor import Conductor
from shakedown.engine.fold.first_looks import is_rule
from shakedown.engine.state.keys import SiteRule
from shakedown.engine.state.state import State
from shakedown.model.job_terms import asked_terms, in_words, unlike
from shakedown.model.ports import JobReport

_CHANGED = "somebody changed it at the scheduler before it was first seen there, which does not say who"


def asked_alike_first(state: State, reports: Sequence[JobReport]) -> Sequence[JobReport]:
    """Purpose: the same reports, but jobs that are first seen with other terms than ordered come last. What the same look says of
    the others tells whether that is a rule of the site.
    """
    strange = {report.job for report in reports if _is_strange(state, report)}
    return sorted(reports, key=lambda report: report.job in strange) if strange else reports


def _is_strange(state: State, report: JobReport) -> bool:
    job, terms = state.jobs.get(report.job), report.terms
    if job is None or job.terms is not None or terms is None or report.run:
        return False
    return any(unlike(name, asked, terms) is not None for name, asked in asked_terms(job.asked).items())


def say_first_looks(conductor: Conductor) -> None:
    """Purpose: record a finding for each job that somebody changed before it was first seen, and one for each rule of the site."""
    changes: dict[tuple[str, str, str], dict[str, list[Any]]] = {}
    rules: dict[tuple[str, str], dict[str, list[Any]]] = {}  # by pool and the first job that met them
    told = set(conductor.state.pools.site_rules)
    for key, look in conductor.state.pools.first_looks.items():
        for job, (run, case, asked, has) in look.jobs.items():
            rule = SiteRule(key.pool, key.name, str(asked), str(has))
            if not is_rule(look, has):
                changes.setdefault((job, run, case), {})[key.name] = [asked, has]
            elif rule not in told:
                told.add(rule)
                rules.setdefault((key.pool, job), {})[key.name] = [asked, has]
    for (job, run, case), altered in changes.items():
        value = {"kind": "changed_at_scheduler", "altered": altered, "before_seen": True}
        conductor.log("finding", job=job, run=run, case=case, value=value, reason=f"{_CHANGED}: {in_words(altered)}")
    for (pool, job), altered in rules.items():
        why = f"jobs of {pool}, such as {job}, are taken on other terms than they ask for: {in_words(altered)}"
        value = {"kind": "site_rule", "pool": pool, "altered": altered}
        conductor.log("finding", value=value, reason=f"{why}; this counts as a rule of the site")
