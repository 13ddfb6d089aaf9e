"""What ``rehearse`` does: freeze the plan, make a rehearsal's directory, rehearse it, show what came out and what limits it."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from shakedown.cli.driving import how_to_name, show_scorecard, site_of, this_machine
from shakedown.cli.output import emit, say
from shakedown.metrics.words import plural
from shakedown.model.layout import Layout

if TYPE_CHECKING:
    from shakedown.engine import State
    from shakedown.metrics.limits import Limits
    from shakedown.metrics.trials import Verdict
    from shakedown.rehearsal.rehearse import Rehearsed
    from shakedown.rehearsal.trials import Base
    from shakedown.rehearsal.virtual_session import Rehearsal

SILENT_S = 2.0  # what takes no longer than this needs no progress
REDRAW_S = 0.5
LINE_S = 5.0
MOST_TIMES = 12  # that are said


@dataclass(frozen=True, slots=True)
class Wish:
    """What was asked for, as it was typed."""

    plan: str
    site: Path | None
    system: str | None
    scenario: str | None
    seed: int | None
    faults: tuple[str, ...]
    open_gates: bool
    identifier: str | None


@dataclass(frozen=True, slots=True)
class Show:
    """What is to be shown. ``try_all``: measure what limits the plan; None = where that is cheap."""

    quiet: bool = False
    as_json: bool = False
    report: bool = False
    try_all: bool | None = None

    def tell(self, text: str) -> None:
        if not self.quiet:
            say(text)


def rehearse_and_show(wish: Wish, show: Show) -> int:
    """Purpose: rehearse a plan, then print its scorecard and what limits it. The exit status is its outcome's."""
    from shakedown.rehearsal.rehearse import in_short, rehearse
    from shakedown.rehearsal.trials import Base
    from shakedown.rehearsal.virtual_session import Onlooker

    tell, quiet = show.tell, show.quiet
    layout, rehearsal = new_rehearsal(wish)
    tell(f"rehearsal {layout.root.name} in {layout.root}: a model, no measurement")
    began, progress = time.monotonic(), Progress(quiet=quiet)
    outcome = rehearse(layout, rehearsal, Onlooker(progress.look))
    progress.done()
    took = time.monotonic() - began
    tell(f"rehearsed in {took:.1f} s: {in_short(outcome.state, outcome.state.time - outcome.state.campaign.began)}")
    for line in [*_times_in_words(outcome), *_not_modelled(rehearsal, outcome)]:
        tell(line)
    if not outcome.finished:
        say(f"not finished: {outcome.left}")
        closed = [name for name, found in outcome.state.gates.outcomes.items() if found.outcome != "met"]
        if closed and not wish.open_gates:
            say("hint: --open-gates goes on all the same, to see what comes after")
    base = Base(layout, outcome.state.index.document, rehearsal, outcome)
    status = _show_all(base, show)
    if show.report:
        from shakedown.report import write_report

        say(f"report: {write_report(layout.root, tell=tell)}")
    else:
        tell(f"report: shakedown report {how_to_name(layout)}")
    return status


def _show_all(base: Base, show: Show) -> int:
    """The scorecard, where the node-hours went, and what limits the plan: measured, or guessed."""
    from shakedown.rehearsal.trials import is_cheap

    wanted = is_cheap(base) if show.try_all is None else show.try_all
    if show.as_json:
        return _emit_all(base, _tried(base, show) if wanted else None)
    status = show_scorecard(base.layout, base.outcome, as_json=False)
    say("\n".join(["", *_limits_in_words(base.outcome.limits)]))
    if base.outcome.limits is not None:
        from shakedown.metrics.trials import lines_of

        found = _tried(base, show) if wanted else None
        say("\n".join(_guess_in_words(base.outcome.limits) if found is None else lines_of(found)))
    return status


def _emit_all(base: Base, tried: Verdict | None) -> int:
    """The scorecard as JSON, with what limits the plan beside it."""
    import msgspec

    from shakedown.conductor.workers.settling import settled
    from shakedown.metrics.judging.scorecard import exit_status
    from shakedown.model.errors import UNDECIDED

    scorecard = settled(base.layout)
    data = {**msgspec.to_builtins(scorecard), "limits": base.outcome.limits, "tried": tried}
    emit(data, as_json=True, render=str)
    return exit_status(scorecard) if base.outcome.finished else UNDECIDED


def _tried(base: Base, show: Show) -> Verdict | None:
    """What limits the plan, measured, with how far it is."""
    from shakedown.rehearsal.trials import try_all

    progress = Progress(quiet=show.quiet)
    found = try_all(base, lambda done, asked: progress.draw(f"tried {done} of {asked} changes"))
    progress.done()
    return found


def _guess_in_words(main: Limits) -> list[str]:
    """What limits the plan as far as one rehearsal tells, and how to know."""
    if main.worst is None:
        return ["what limits it, as a first guess: nothing keeps more than 1% of them"]
    return [
        f"what limits it, as a first guess: {main.worst.says}",
        f"what might help: {main.worst.change}",
        "to know: shakedown rehearse --try rehearses it again with one thing loosened at a time, and measures each",
    ]


def _times_in_words(outcome: Rehearsed) -> list[str]:
    """How long runs of each case took on the machine, and who says so: much of it may be assumed."""
    from shakedown.model.units import show_duration

    cases, alike = outcome.state.index.cases, dict[tuple[str, str, str], list[str]]()
    for case, law in outcome.times.items():
        if case in cases:
            alike.setdefault((cases[case].test, show_duration(law.mean_s), law.source), []).append(case)
    tests = [test for test, _, _ in alike]
    lines = [
        f"  {_whom(test, names, tests.count(test))}: {took} ({source or 'nobody says from where'})"
        for (test, took, source), names in alike.items()
    ]
    more = [f"  and {len(lines) - MOST_TIMES} more"] if len(lines) > MOST_TIMES else []
    lines = ["run times on this machine:", *sorted(lines)[:MOST_TIMES], *more] if lines else []
    return lines + [f"  build {name}: {show_duration(took)}" for name, took in outcome.builds[:MOST_TIMES]]


def _not_modelled(rehearsal: Rehearsal, outcome: Rehearsed) -> list[str]:
    """What the past campaign knows of the plan's tests and the rehearsal leaves out."""
    tests = {case.test for case in outcome.state.index.cases.values()}
    said = [words for test, words in rehearsal.scenario.not_modelled if test in tests]
    more = [f"  and {plural(len(said) - MOST_TIMES, 'test')} more"] if len(said) > MOST_TIMES else []
    hint = ["  --fault failed=SHARE, timeout=SHARE and the like model it (--faults lists them)"] if said else []
    return [*(f"  {line}" for line in said[:MOST_TIMES]), *more, *hint]


def _whom(test: str, cases: list[str], groups: int) -> str:
    """The test where all of its cases take as long, else the case, or how many there are beside the first."""
    if groups == 1:
        return test
    return cases[0] if len(cases) == 1 else f"{cases[0]} and {len(cases) - 1} more"


def _limits_in_words(main: Limits | None) -> list[str]:
    """Where the node-hours of the plan went."""
    from shakedown.metrics.limits import had_in_words, partitions_in_words, table_of

    if main is None:
        return ["what limits it: nothing had the machine for any time"]
    lines = [had_in_words(main), *(f"  {line}" for line in partitions_in_words(main))]
    if main.unbuilt:
        lines += [
            f"builds failed: {plural(main.unbuilt, 'result')} never ran; 'shakedown why CASE' says how each failed"
        ]
    rows = [f"  {share:>6}  {says}" for share, _, says in table_of(main)]
    return [*lines, *(["what the others went to, as a first guess:"] if rows else []), *rows]


def new_rehearsal(wish: Wish) -> tuple[Layout, Rehearsal]:
    """Purpose: freeze the plan, read the scenario and make the rehearsal's directory."""
    from shakedown.cli.unavailable import warn_of_refusal
    from shakedown.conductor.record.baselines import past_of
    from shakedown.conductor.record.registering import refuse_used
    from shakedown.events.campaigns import REHEARSALS, create_campaign, new_identifier
    from shakedown.events.register import read_register
    from shakedown.model.frozen import freeze
    from shakedown.plans import find_site, read_plan
    from shakedown.plans.rehearsals.scenarios import read_scenario
    from shakedown.rehearsal.faults import troubles
    from shakedown.rehearsal.history import with_past_times
    from shakedown.rehearsal.rehearse import portable
    from shakedown.rehearsal.virtual_session import Rehearsal

    root = find_site(wish.site or site_of(wish.plan))
    document = read_plan(root, wish.plan, this_machine, system=wish.system, past=past_of(root))
    warn_of_refusal(document)
    scenario = with_past_times(read_scenario(root, document, wish.scenario), root)
    asked = troubles(scenario, wish.faults, document.system)
    document = portable(document, root)
    used = {entry.campaign for entry in read_register(root).campaigns()}
    if wish.identifier:
        refuse_used(root, wish.identifier)
    identifier = wish.identifier or new_identifier(root, document.plan, REHEARSALS, used)
    layout = create_campaign(root / REHEARSALS, identifier, freeze(document))
    seed = document.seed if wish.seed is None else wish.seed
    return layout, Rehearsal(asked, seed, wish.open_gates)


@dataclass(slots=True)
class Progress:
    """How far a rehearsal is: one line on a terminal, plain lines elsewhere; nothing in the first two seconds."""

    quiet: bool = False
    began: float = field(default_factory=time.monotonic)
    terminal: bool = field(default_factory=lambda: sys.stderr is not None and sys.stderr.isatty())
    _next: float = 0.0
    _turns: int = 0
    _drawn: bool = False

    def look(self, state: State, passed_s: float) -> None:
        self._turns += 1
        if self.quiet or self._turns % 64:
            return
        now = time.monotonic() - self.began
        if now < max(self._next, SILENT_S):
            return
        self._next = now + (REDRAW_S if self.terminal else LINE_S)
        judged = sum(sum(tally.verdicts.values()) for tally in state.tallies)
        self._draw(
            f"day {passed_s / 86400:.1f} on the machine: {plural(judged, 'run')} judged, {plural(len(state.jobs), 'job')}, "
            f"{plural(state.seq, 'event')}"
        )

    def draw(self, text: str) -> None:
        """Something is done: say so, where the last word is long enough ago."""
        now = time.monotonic() - self.began
        if self.quiet or now < max(self._next, SILENT_S):
            return
        self._next = now + (REDRAW_S if self.terminal else LINE_S)
        self._draw(text)

    def _draw(self, text: str) -> None:
        if self.terminal:
            self._drawn = True
            click.echo(f"\r\x1b[K{text}", err=True, nl=False)
        else:
            say(text)

    def done(self) -> None:
        if self._drawn:
            click.echo("\r\x1b[K", err=True, nl=False)
