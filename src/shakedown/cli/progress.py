"""Live progress: what builds, runs and waits and why, in 80 columns on a terminal; plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections import Counter, deque
from typing import Any

from shakedown.cli.output import printable, say
from shakedown.cli.time_left import Pace, clock_share, time_left
from shakedown.conductor.session import Watchers
from shakedown.engine import State, explain
from shakedown.engine.state.phases import BuildPhase, RunPhase
from shakedown.metrics.words import show_number
from shakedown.model.events import SPARED, Event
from shakedown.model.units import show_duration

REDRAW_S = 0.25
LINE_EVERY_S = 5.0  # between two plain lines that only say how far it is
SAME_LINE_EVERY_S = 600.0  # and between two that say the same: a background conductor's words are kept in a file
FEW = 200  # up to so many wanted results, each verdict gets a line of its own
WIDTH = 80


class Progress:
    """Shows a campaign to a person. ``watchers`` is what a session needs of it."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        self.terminal = not quiet and sys.stderr is not None and sys.stderr.isatty()
        self.pace = Pace()
        self.recent: deque[str] = deque(maxlen=5)
        self.state: State | None = None
        self._live: Any = None
        self._last_line, self._said = 0.0, ""

    def watchers(self) -> Watchers:
        return Watchers(self.event, self.idle, self.say)

    def __enter__(self) -> Progress:
        if self.terminal:
            from rich.console import Console
            from rich.live import Live

            console = Console(stderr=True, width=min(WIDTH, Console(stderr=True).width))
            self._live = Live("", console=console, auto_refresh=False, transient=True)
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    # ---- what a session tells --------------------------------------------------------------------------------------------

    def event(self, state: State, event: Event) -> None:
        """An event happened: remember what the pictures need, and print what deserves a line."""
        self.state = state
        if event.event == "verdict":
            elapsed = event.value.get("elapsed_s")
            if elapsed is not None:
                self.pace.add(state.index.cases[event.case].test, elapsed)
        if self.quiet or event.event not in _LINES:
            return
        line = _LINES[event.event](state, event)
        if line:
            self._print(line, dull=event.event == "verdict" and event.value["verdict"] in ("passed", SPARED))

    def idle(self) -> float:
        """The loop waits: redraw, or say how far it is. Returns when it wants to be called again, in seconds."""
        if self.state is None or self.quiet:
            return LINE_EVERY_S
        if self._live is not None:
            self._live.update(self._picture(self.state), refresh=True)
            return REDRAW_S
        now, line = time.monotonic(), _how_far(self.state, self.pace) + _in_flight(self.state)
        if line != self._said or now - self._last_line >= SAME_LINE_EVERY_S:
            self._last_line, self._said = now, line
            self._plain(line)
        return LINE_EVERY_S

    def say(self, text: str) -> None:
        """A sentence that the person must see."""
        self._plain(text)

    # ---- printing ----------------------------------------------------------------------------------------------------------

    def _print(self, line: str, dull: bool) -> None:
        if self._live is not None:
            if dull:
                self.recent.append(line)
            else:
                self._plain(line)
        elif not dull or (self.state is not None and _wanted(self.state) <= FEW):
            self._plain(line)

    def _plain(self, line: str) -> None:
        if self._live is not None:
            self._live.console.print(printable(line), markup=False, highlight=False)
        else:
            say(printable(line))

    def _picture(self, state: State) -> Any:
        from rich.console import Group
        from rich.text import Text

        lines = [_clip(_how_far(state, self.pace)), _clip(_bar(state))]
        lines += [_clip(f"  builds   {name}") for name in _building(state)]
        lines += [_clip(f"  runs     {line}") for line in _running(state, state.time)]
        queued = _count(state, "ordered", "queued")
        lines += [f"  queued   {queued} with the scheduler"] if queued else []
        lines += [_clip(f"  waits    {line}") for line in _waiting(state)]
        lines += [_clip(f"  ended    {line}") for line in list(self.recent)[-3:]]
        return Group(*[Text(line) for line in lines])


def _clip(line: str) -> str:
    line = printable(line).replace("\n", " ")
    return line if len(line) <= WIDTH - 1 else line[: WIDTH - 2] + "…"


def _wanted(state: State) -> int:
    return sum(tally.wanted for tally in state.tallies)


def _how_far(state: State, pace: Pace) -> str:
    tallies = state.tallies
    closed = sum(tally.closed for tally in tallies)
    wanted = sum(tally.wanted - tally.unavailable for tally in tallies)
    verdicts: Counter[str] = Counter()
    for tally in tallies:
        verdicts.update(tally.verdicts)
    said = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items(), key=lambda item: -item[1]))
    left = time_left(state, pace, max(state.time, time.time())) if closed < wanted else ""
    return f"{closed} of {wanted} results" + (f": {said}" if said else "") + (f"; {left}" if left else "")


def _in_flight(state: State) -> str:
    """What the scheduler has of ours."""
    running, queued = _count(state, "running"), _count(state, "ordered", "queued")
    said = [f"{count} {word}" for count, word in ((running, "running"), (queued, "queued")) if count]
    return f"; {', '.join(said)}" if said else ""


def _count(state: State, *phases: str) -> int:
    return sum(run.phase in phases for run in state.runs.values())


def _bar(state: State) -> str:
    """By results; where a component runs for a time and is at it, by its clock: what it wants grows with what it has had."""
    width = 60
    ran = clock_share(state, max(state.time, time.time()))
    if ran is not None:
        done = int(width * ran)
        return "[" + "#" * done + "." * (width - done) + f"] {int(100 * ran):3d} % of time"
    closed = sum(tally.closed for tally in state.tallies)
    flying = sum(tally.in_flight for tally in state.tallies)
    wanted = max(1, sum(tally.wanted - tally.unavailable for tally in state.tallies))
    done, doing = width * closed // wanted, width * flying // wanted
    return "[" + "#" * done + "=" * doing + "." * (width - done - doing) + f"] {100 * closed // wanted:3d} %"


def _building(state: State) -> list[str]:
    names = state.index.build_names
    return [
        names[key] for key, build in state.builds.items() if build.phase in (BuildPhase.ORDERED, BuildPhase.STARTED)
    ][:3]


def _running(state: State, now: float) -> list[str]:
    running = [run for run in state.runs.values() if run.phase == RunPhase.RUNNING and run.started is not None]
    shown = [f"{run.case}  for {show_duration(max(0.0, time.time() - (run.started or now)))}" for run in running[:4]]
    return shown + ([f"and {len(running) - 4} more"] if len(running) > 4 else [])


def _waiting(state: State) -> list[str]:
    counts: Counter[str] = Counter()
    for waiting in explain(state, now=state.time):
        counts[waiting.text] += waiting.count
    return [f"{count}: {text}" for text, count in counts.most_common(3)]


# ---- which events deserve a line, and which line ---------------------------------------------------------------------------


def _verdict_line(state: State, event: Event) -> str:
    value = event.value
    elapsed = f" in {show_duration(value['elapsed_s'])}" if "elapsed_s" in value else ""
    numbers = "".join(f"  {name}={show_number(number)}" for name, number in list(value.get("figures", {}).items())[:2])
    if value["verdict"] == "passed":
        return f"{event.run}  passed{elapsed}  {event.case}{numbers}"
    if value["verdict"] == SPARED:
        return f"{event.run}  spared  {event.case}: {event.reason}"
    return f"{event.run}  {value['verdict'].upper()}{elapsed}  {event.case}: {event.reason}"


def _build_line(state: State, event: Event) -> str:
    name = state.index.build_names[event.build]
    elapsed = f" in {show_duration(event.value['elapsed_s'])}" if "elapsed_s" in event.value else ""
    if event.value["state"] == "done":
        return f"build    done{elapsed}  {name}"
    if event.value.get("transient"):
        return f"build    could not be carried out{elapsed} and is tried again  {name}: {event.reason}"
    return f"build    FAILED{elapsed}  {name}: {event.reason}; log: {event.value.get('log', '')}"


def _reason_line(state: State, event: Event) -> str:
    subject = event.case or event.run or event.job
    return f"{event.event.replace('_', ' ')}: {subject + ': ' if subject else ''}{event.reason}"


_LINES = {
    "verdict": _verdict_line,
    "build_end": _build_line,
    "unavailable": _reason_line,
    "given_up": _reason_line,
    "finding": _reason_line,
    "command_refused": _reason_line,
    "cancel_request": _reason_line,
    "amended": _reason_line,
}
