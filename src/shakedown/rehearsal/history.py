"""Run times, build times and figures of a past campaign, for the values that a scenario does not give itself."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from msgspec.structs import replace

from shakedown.conductor.record.documents import Documents
from shakedown.events.campaigns import find_campaign
from shakedown.events.chain import refuse_damaged
from shakedown.metrics.rows.table import Record
from shakedown.metrics.run_times import build_times, figures_of_runs, run_times
from shakedown.metrics.words import plural
from shakedown.model.errors import UsageError
from shakedown.model.events import SPARED
from shakedown.model.layout import Layout
from shakedown.model.scenario import Builds, FigureLaw, Scenario
from shakedown.queries.status import look_at_runs


def with_past_times(scenario: Scenario, site: Path | None) -> Scenario:
    """Purpose: the scenario with the run times, builds and figures of the campaign that it names (``times: from``).

    Values that the scenario gives for a test, a case or a build take precedence.

    Errors: UsageError if there is no such campaign, or if none of its runs came to its end; RecordError if its record is damaged.
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
    return replace(
        scenario,
        times=scenario.times + more,
        figures=scenario.figures + _figures(scenario, record),
        builds=_builds(scenario, record, Documents(Layout(campaign))),
        not_modelled=not_taken_over(record, scenario.times_from),
    )


def not_taken_over(record: Record, campaign: str) -> tuple[tuple[str, str], ...]:
    """Purpose: (test, note) for tests with runs that did not pass then: a rehearsal takes over run times, not verdicts."""
    judged, bad = Counter[str](), Counter[str]()
    for row in record.current():
        if row.verdict == SPARED:
            continue
        judged[_test(row.case)] += 1
        bad[_test(row.case)] += row.verdict != "passed"
    return tuple(
        (
            test,
            f"{test}: {count} of {plural(judged[test], 'run')} in {campaign} did not pass, which this rehearsal does not model",
        )
        for test, count in bad.items()
        if count
    )


def _figures(scenario: Scenario, record: Record) -> tuple[tuple[str, str, FigureLaw], ...]:
    written = {(name, figure) for name, figure, _ in scenario.figures}
    past = figures_of_runs(record.current(), scenario.times_from)
    return tuple(one for one in past if (one[0], one[1]) not in written and (_test(one[0]), one[1]) not in written)


def _builds(scenario: Scenario, record: Record, documents: Documents) -> Builds:
    """Build times of the past campaign, from all its plans; unchanged if the scenario gives one time for all builds."""
    builds = scenario.builds
    if builds.mean_s != Builds().mean_s:
        return builds
    names, tests = dict[str, str](), dict[str, set[str]]()
    for document in map(documents, dict.fromkeys(record.documents)):
        for build in document.builds:
            names[build.key] = build.name
            users = {case.test for case in document.cases if case.build == build.key}
            tests[build.name] = tests.get(build.name, set()) | users
    written = dict(builds.times)
    past = build_times(record.builds.values(), names)
    more = tuple((name, took) for name, took in past if name not in written and not tests[name] & set(written))
    return replace(builds, times=builds.times + more)


def _test(case: str) -> str:
    return case.partition("/")[0].partition("@")[0]
