"""Order between tests, from the plan and the log alone: nothing begins before what it needs passed, and nothing is called
``not_run`` while what it needs may still pass. What is handed on is what the run left that the needed result was closed by.
"""

from __future__ import annotations

from typing import Any

from oracle_modes import Want, mode_of, need

from shakedown.model.events import Event
from shakedown.model.nouns import Case, Document

WELL = ("passed", "performance")


class NeedRules:
    """Sees every event. A result is told by component, mode, case and repeat; ``out``: how those came out that are over."""

    def __init__(self, document: Document) -> None:
        self.verdicts: dict[str, tuple[Want, str]] = {}  # run -> its result, and the verdict that stands
        self.last: dict[Want, str] = {}  # result -> the run that it was closed by
        self.rounds: dict[str, int] = {}  # component -> how often it was told to run again
        self.left: dict[str, dict[str, Any]] = {}  # run -> what it left to be handed on
        self.not_run = self.after_others = self.handed = 0
        self.amended = False
        self.amend(document)

    def amend(self, document: Document) -> None:
        self.document = document
        self.cases: dict[str, Case] = {**getattr(self, "cases", {}), **{case.id: case for case in document.cases}}

    def see(self, event: Event) -> None:
        value = event.value
        if event.event == "submit_order":
            self._ordered(event)
        elif event.event == "again":
            self.rounds[value["component"]] = self.rounds.get(value["component"], 0) + 1
        elif event.event == "amended":
            self.amended = True
        elif event.event == "verdict":
            want = _want(event)
            self.verdicts[event.run] = want, value["verdict"]
            self.left[event.run] = value.get("left", self.left.get(event.run, {}))
            if value["verdict"] == "not_run" and not self.amended:
                self._not_run(event)
            if value.get("final"):
                self.last[want] = event.run
        elif event.event == "given_up":
            self.last[_want(event)] = event.run

    def _ordered(self, event: Event) -> None:
        for needed in [] if self.amended else self.needed(_want(event)):
            self.after_others += 1
            need(self.came_out(needed) in WELL, f"{event.run} of {event.case} is ordered and {needed} did not pass")

        if not self.amended:
            handed = {(one["run"], one["into"]): one["files"] for one in event.value.get("handed", ())}
            need(handed == self._handed(event), f"{event.run} is given {handed}, and not what the runs before it left")
            self.handed += len(handed)

    def _handed(self, event: Event) -> dict[tuple[str, str], dict[str, str]]:
        """What a run is to be given: (run, directory) -> path and sum of each file, of the runs that closed what it needs."""
        found = {}
        for one, want in zip(self.cases[event.case].needs, self.needed(_want(event)), strict=True):
            if one.files:
                left = self.left[self.last[want]]
                found[self.last[want], one.into] = {path: s for files in one.files for path, s in left[files].items()}
        return found

    def _not_run(self, event: Event) -> None:
        self.not_run += 1
        bad = [one for one in self.needed(_want(event)) if self.came_out(one) not in ("", *WELL)]
        need(bool(bad), f"{event.run} of {event.case} is not run, and nothing that it needs is lost")

    def came_out(self, want: Want) -> str:
        """How a result came out, "" while it is open."""
        run = self.last.get(want)
        return self.verdicts[run][1] if run is not None else ""

    def needed(self, want: Want) -> list[Want]:
        """The results that one needs: of the same repeat, or the last one where there are fewer."""
        name, case, mode, repeat = want
        components = list(self.document.components)
        own = next(number for number, one in enumerate(components) if one.name == name)
        found: list[Want] = []
        for one in self.cases[case].needs:
            home = next(components[n] for n in range(own, -1, -1) if one.case in components[n].cases)
            there = mode if home is components[own] else (home.modes[0].name if home.modes else "")
            most = self._most(home, there, one.case) * (1 + self.rounds.get(home.name, 0))
            found.append((home.name, one.case, there, min(repeat, most)))
        return found

    def _most(self, component: Any, mode: str, case: str) -> int:
        if not mode:
            return int(component.repeats)
        base = mode.removeprefix("warm-up ")
        found = next(one for one in component.modes if one.name == base)
        copies = self.document.system.copies(found, self.cases[case])
        return int((found.repeats if base == mode else found.warm_up) * copies)


def _want(event: Event) -> Want:
    return event.value["component"], event.case, mode_of(event.value), event.value["repeat"]
