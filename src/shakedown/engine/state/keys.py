"""Names of several parts, as tuples: by these the state keeps what it knows of cases, results, failures and limits."""

from __future__ import annotations

from typing import Literal, NamedTuple


class CaseKey(NamedTuple):
    """A case of a component, by the component's name. It stays the same when an amendment numbers components anew."""

    component: str
    case: str


class ResultsKey(NamedTuple):
    """All repeats of a case in one mode of a component. ``component`` is a number in the plan's order."""

    component: int
    mode: str
    case: str


class NeededKey(NamedTuple):
    """A case in one mode of a component that others need, by the component's name: an amendment does not change it."""

    component: str
    mode: str
    case: str


class Stage(NamedTuple):
    """One mode of one case of a component: while it runs it has its pool to itself. ``mode`` is never a warm-up's."""

    component: str
    mode: str
    case: str

    def __str__(self) -> str:
        """Its name in the record."""
        return f"{self.component} {self.mode} {self.case}"


class LimitKey(NamedTuple):
    """A limit that a person set: the cap of a test, or the amount of a budget."""

    kind: Literal["cap", "budget"]
    name: str


class SweepKey(NamedTuple):
    """A sweep of a component on one of its pools."""

    component: str
    pool: str


class TermKey(NamedTuple):
    """One term of those jobs in a pool that ask for the same by all of their words. ``alike``: these words, as text."""

    pool: str
    name: str
    alike: str


class SiteRule(NamedTuple):
    """What a scheduler makes of one term of jobs in a pool, by a rule of the site's: from what to what, as text."""

    pool: str
    name: str
    asked: str
    has: str


class WantedKey(NamedTuple):
    """A wanted result by the name of its component, which stays what it is when an amendment numbers components anew."""

    component: str
    mode: str
    case: str
    repeat: int


class YieldKey(NamedTuple):
    """One of the ``yield`` rules of a component. ``number`` counts from 0 in the plan's order."""

    component: str
    number: int


class NodeFailure(NamedTuple):
    """A failure of a node: the run that was judged by it, and the start of the job that was on the node."""

    run: str
    job: str
    restart: int


class RunVerdict(NamedTuple):
    """A run and the verdict on it."""

    run: str
    verdict: str


class Deadline(NamedTuple):
    """When a job that still is said to run is past its time limit, in seconds since 1970."""

    when: float
    job: str
