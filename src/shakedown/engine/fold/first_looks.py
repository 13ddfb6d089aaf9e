"""Folding the terms that jobs had when they were first seen: as ordered, altered by a rule of the site, or changed by a person.

One job alone does not tell which. A rule goes by what a job asks for, so it alters every job that asks for exactly the same. If one
such job has what it asked for, the others were changed by a person. A rule that is new, or that also goes by something else (how
full a partition is), makes the same change to such jobs at look after look; a person does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shakedown.engine.fold.queue_guard import pool_of
from shakedown.engine.state.jobs import Job
from shakedown.engine.state.keys import TermKey
from shakedown.engine.state.records import FirstLook, OtherTerm
from shakedown.engine.state.state import State
from shakedown.model.events import Event
from shakedown.model.job_terms import Terms, asked_terms, unlike, with_altered

RULE_LOOKS = (
    3  # looks at which jobs that ask for the same had the same instead: then that is a rule, whatever others had
)
_ONE_LOOK_S = 1.0  # what one look tells is heard within this time


def alike(asked: Mapping[str, Any]) -> str:
    """Purpose: the part of what a job asks for that a rule of a site may go by, as text. Names of nodes are left out of it."""
    words = {name: bool(value) if name == "wants" else value for name, value in asked.items()}
    return " ".join(f"{name}={value}" for name, value in sorted(words.items()))


def first_seen(state: State, job: Job, now: float) -> None:
    """Purpose: count each of the terms that a job has when it is first seen."""
    if job.terms is None or not job.asked:
        return
    pool, words = pool_of(state, job), alike(job.asked)
    for name, asked in asked_terms(job.asked).items():
        look = state.pools.first_looks.setdefault(TermKey(pool, name, words), FirstLook())
        has = unlike(name, asked, job.terms)
        if has is None:
            _as_asked(look)
            continue
        other = look.others.setdefault(str(has), OtherTerm())
        if other.looks == 0 or now > other.at + _ONE_LOOK_S:
            other.looks, other.at = other.looks + 1, now
        if other.looks < RULE_LOOKS:
            look.jobs[job.id] = [job.run, job.case, asked, has]


def _as_asked(look: FirstLook) -> None:
    """A job has what it asked for. Earlier ones that had not were changed by a person, unless a rule was established, which is gone
    now.
    """
    for job in [job for job, (*_, has) in look.jobs.items() if _is_settled(look, has)]:
        del look.jobs[job]
    look.as_asked = True


def _is_settled(look: FirstLook, has: Any) -> bool:
    other = look.others.get(str(has))
    return other is not None and other.looks >= RULE_LOOKS


def is_rule(look: FirstLook | None, has: Any) -> bool:
    """Purpose: whether a rule of the site, as far as is known, gives jobs ``has`` in place of what they ask for."""
    return look is None or not look.as_asked or _is_settled(look, has)


def limit_by_rule(state: State, job: Job) -> bool:
    """Purpose: whether the job has the time limit that a rule of the site gives all jobs that ask for the same, at
    look after look.
    """
    if job.terms is None or "time_limit_s" not in job.asked:
        return False
    look = state.pools.first_looks.get(TermKey(pool_of(state, job), "time_limit_s", alike(job.asked)))
    return look is not None and _is_settled(look, job.terms.time_limit_s)


def ordered_as(state: State, job: Job, terms: Terms) -> Terms:
    """Purpose: the terms of a job that is first seen, without what a person changed before that."""
    changed = {}
    pool, words = pool_of(state, job), alike(job.asked)
    for name, asked in asked_terms(job.asked).items():
        has = unlike(name, asked, terms)
        if has is not None and not is_rule(state.pools.first_looks.get(TermKey(pool, name, words)), has):
            changed[name] = [has, asked]
    return with_altered(terms, changed) if changed else terms


def changed_before(state: State, event: Event) -> None:
    """Purpose: fold that a person changed a job before it was first seen. Its terms are set to those that it was ordered with."""
    changes = event.value["altered"]
    for key, look in state.pools.first_looks.items():
        if key.name in changes:
            look.jobs.pop(event.job, None)
    job = state.jobs.get(event.job)
    if job is not None and job.terms is not None:
        job.terms = with_altered(job.terms, {name: pair[::-1] for name, pair in changes.items()})
