"""Keys of several parts, as named tuples: the state uses them for cases, results, failures and limits."""

from __future__ import annotations

from typing import Literal, NamedTuple


class CaseKey(NamedTuple):
    """A case of a component, by the component's name, which an amendment does not change (as it may change its number)."""

    component: str
    case: str


class ResultsKey(NamedTuple):
    """All repeats of a case in one mode of a component. ``component``: its number in the plan's order."""

    component: int
    mode: str
    case: str


class NeededKey(NamedTuple):
    """A case, in one mode of a component, that others need; by the component's name, which an amendment does not change."""

    component: str
    mode: str
    case: str


class Stage(NamedTuple):
    """One mode of one case of a component, which has its pool to itself while it runs. ``mode``: never that of a warm-up."""

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
    """One term of the jobs in a pool that ask for exactly the same. ``alike``: all that they ask for, as text."""

    pool: str
    name: str
    alike: str


class SiteRule(NamedTuple):
    """A rule of the site that alters one term of jobs in a pool. ``asked``: what the jobs ask for, ``has``: what
    they get, as text.
    """

    pool: str
    name: str
    asked: str
    has: str


class WantedKey(NamedTuple):
    """A wanted result, by its component's name, which an amendment does not change."""

    component: str
    mode: str
    case: str
    repeat: int


class YieldKey(NamedTuple):
    """One of the ``yield`` rules of a component. ``number`` counts from 0 in the plan's order."""

    component: str
    number: int


class NodeFailure(NamedTuple):
    """A failure of a node: the run that was judged because of it, its job, and how often that job had been started again."""

    run: str
    job: str
    restart: int


class RunVerdict(NamedTuple):
    """A run and the verdict on it."""

    run: str
    verdict: str


class Deadline(NamedTuple):
    """When a job that is still reported as running is past its time limit, in seconds since 1970."""

    when: float
    job: str
