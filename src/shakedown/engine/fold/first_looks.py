"""Folding how the scheduler had jobs when they were first seen: as ordered, by a rule of the site's, or changed by somebody.

One job alone does not tell which. A rule meets every job that asks alike; so one that was taken as it asks tells that the others
were changed. A rule that is new meets all jobs from then on.
"""

from __future__ import annotations

from shakedown.engine.fold.queue_guard import pool_of
from shakedown.engine.state.jobs import Job
from shakedown.engine.state.keys import TermKey
from shakedown.engine.state.records import FirstLook
from shakedown.engine.state.state import State
from shakedown.model.events import Event
from shakedown.model.job_terms import Terms, unlike, with_altered

RULE_LOOKS = 3  # looks in a row at which no job is as it was ordered: then that is a rule, whatever was before
_ONE_LOOK_S = 1.0  # what one look tells is heard within this time


def key_of(state: State, job: Job, name: str) -> TermKey:
    """Purpose: under which key the state keeps how jobs are taken that ask for what this one asks for by one term."""
    return TermKey(pool_of(state, job), name, str(job.asked[name]))


def first_seen(state: State, job: Job, now: float) -> None:
    """Purpose: count each of the terms that a job is first seen on."""
    terms = job.terms
    for name in job.asked if terms is not None else ():
        look = state.pools.first_looks.setdefault(key_of(state, job, name), FirstLook(job.asked[name]))
        has = unlike(name, job.asked[name], terms) if terms is not None else None
        if has is None:
            _as_asked(look)
            continue
        if has != look.has:
            look.has, look.looks = has, 0
        if look.looks == 0 or now > look.at + _ONE_LOOK_S:
            look.looks, look.at = look.looks + 1, now
        if look.looks < RULE_LOOKS:
            look.jobs[job.id] = [job.run, job.case, has]


def _as_asked(look: FirstLook) -> None:
    """Those before it that were not so were changed, unless that had become a rule, which is lifted now."""
    if look.looks >= RULE_LOOKS:
        look.jobs.clear()
    look.as_asked, look.looks = True, 0


def is_rule(look: FirstLook | None) -> bool:
    """Purpose: whether jobs that are not first seen as they were ordered have met a rule of the site's, as far as is known."""
    return look is None or not look.as_asked or look.looks >= RULE_LOOKS


def ordered_as(state: State, job: Job, terms: Terms) -> Terms:
    """Purpose: the terms of a job that is seen for the first time, as they were before somebody changed them."""
    changed = {}
    for name, asked in job.asked.items():
        has = unlike(name, asked, terms)
        if has is not None and not is_rule(state.pools.first_looks.get(key_of(state, job, name))):
            changed[name] = [has, asked]
    return with_altered(terms, changed) if changed else terms


def changed_before(state: State, event: Event) -> None:
    """Purpose: fold that somebody changed a job before it was first seen. What it was taken as is what was ordered."""
    changes = event.value["altered"]
    for key, look in state.pools.first_looks.items():
        if key.name in changes:
            look.jobs.pop(event.job, None)
    job = state.jobs.get(event.job)
    if job is not None and job.terms is not None:
        job.terms = with_altered(job.terms, {name: pair[::-1] for name, pair in changes.items()})
