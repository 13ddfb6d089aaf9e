"""Run times of a past campaign for a rehearsal: what its scenario does not write itself is as it was then."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from shakedown.conductor.looking import look_at_runs
from shakedown.events.campaigns import find_campaign
from shakedown.events.chain import refuse_damaged
from shakedown.metrics.run_times import run_times
from shakedown.model.errors import UsageError
from shakedown.model.layout import Layout
from shakedown.model.scenario import Scenario


def with_past_times(scenario: Scenario, site: Path | None) -> Scenario:
    """Purpose: the scenario with the run times of the campaign that it names (``times: from``), where it names one.

    What is written for a test or a case goes before them. Errors: UsageError where there is no such campaign, or no run in it;
    RecordError where its record is damaged.
    """
    if not scenario.times_from:
        return scenario
    campaign = find_campaign(site, scenario.times_from)
    refuse_damaged(Layout(campaign))
    record = look_at_runs(Layout(campaign))
    past = run_times(record.current(), scenario.times_from)
    if not past:
        message = f"no run of campaign {scenario.times_from} came to its end, so that nothing is known of run times"
        raise UsageError(message, "name another under 'times: from', or write the times")
    written = dict(scenario.times)
    more = tuple((case, time) for case, time in past if case not in written and _test(case) not in written)
    return replace(scenario, times=scenario.times + more)


def _test(case: str) -> str:
    return case.partition("/")[0].partition("@")[0]
