"""Every invariant of the engine's design at once: the oracle of ``oracle.py``, and what can be asked beside it at every event.

At drawn moments of a campaign the dear ones are held: a snapshot is taken, and followed from then on; rows are counted.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import msgspec
from oracle import Oracle
from oracle_modes import need
from oracle_needs import NeedRules
from oracle_runs import RunRules
from oracle_truth import TruthRules, nothing_of_this_process
from oracle_waiting import WaitingRules

from shakedown.conductor.driver.startup import fold, fold_one
from shakedown.engine import State
from shakedown.engine.state.job_index import job_index_of, same
from shakedown.engine.state.plan import LOCAL_POLICY
from shakedown.engine.state.snapshot import freeze_state, thaw_state
from shakedown.metrics.rows.table import Record, fold_runs
from shakedown.model.events import Event

EVERY = 60  # events between two drawn moments, about
LIFTED = 0.1  # of the rests, at which reasons are lifted


class StrictOracle(Oracle):
    def __init__(self, campaign: Any) -> None:
        super().__init__(campaign)
        self.draw = random.Random(f"moments:{campaign.seed}")
        self.followed: State | None = None  # from a snapshot, and every event since
        self.next_moment = self.draw.randrange(1, EVERY)
        self.prefixes: list[bytes] = []  # what was durable at each crash
        self.moments = self.lifted = 0

    def _new_rules(self) -> None:
        super()._new_rules()
        self.runs = RunRules(self.document, self.campaign.policy or LOCAL_POLICY)
        self.truth = TruthRules(self.campaign)
        self.waiting = WaitingRules(self)
        self.needs = NeedRules(self.document)
        self.record = Record()

    def _rules(self) -> tuple[Any, ...]:
        return (*super()._rules(), self.runs, self.truth, self.waiting, self.needs)

    # ---- after every event -------------------------------------------------------------------------------------------------

    def watch(self, state: State, event: Event) -> None:
        super().watch(state, event)
        need(
            same(state.job_index, job_index_of(state.jobs.values())),
            f"after {event.event} the job_index is not that of the jobs",
        )
        if self.followed is not None:
            fold_one(self.followed, event, self.campaign.documents.__getitem__, self.campaign.policy)
        if event.seq >= self.next_moment:
            self.next_moment = event.seq + self.draw.randrange(1, 2 * EVERY)
            self._moment(state)

    def _keep_books(self, event: Event) -> None:
        super()._keep_books(event)
        self.record.add(event)

    def _moment(self, state: State) -> None:
        """Snapshot + tail = live state = the whole prefix folded; and rows, tallies and our own books count alike."""
        self.moments += 1
        if self.followed is not None:
            need(self.followed == state, "a snapshot and what came after it is not the live state")
        frozen = freeze_state(state)
        self.followed = thaw_state(
            frozen, fold(self.prefix(), self.campaign.documents.__getitem__, self.campaign.policy).index
        )
        need(self.followed == state, "a snapshot is not the live state")
        self._rows_alike(state)

    def prefix(self) -> list[Event]:
        log = self.campaign.log
        lines = [msgspec.json.decode(line, type=Event) for line in (*log.durable, *log.written)]
        return [*lines, *self.campaign.conductor.pending]

    def _rows_alike(self, state: State) -> None:
        """The fold, the rows that reports are made of, and this oracle count the same verdicts."""
        rows = Counter(row.verdict for row in self.record.current())
        tallies: Counter[str] = Counter()
        for tally in state.tallies:
            tallies.update(tally.verdicts)
        need(rows == tallies or self.amended, f"rows count {dict(rows)}, tallies {dict(tallies)}")
        need(rows == Counter(self.books.verdicts.values()), f"rows count {dict(rows)}, the oracle otherwise")
        need(not self.record.irregular, f"the rows say: {self.record.irregular[:1]}")
        need(
            len(self.record.open) == len(self.books.runs.keys() - self.books.verdicts.keys()),
            "runs that are open are counted differently",
        )

    def at_rest(self, state: State) -> None:
        now = self.campaign.clock.now()
        if state.phase == "running":
            self.waiting.nothing_is_permitted(now)
        super().at_rest(state)
        self.truth.at_rest(now)
        if state.phase == "running" and self.draw.random() < LIFTED:
            self.lifted += self.waiting.lifted(state, now)

    # ---- crashes and the end -------------------------------------------------------------------------------------------------

    def before_crash(self, durable: bytes) -> None:
        super().before_crash(durable)
        self.prefixes.append(durable)

    def after_crash(self, log: bytes, events: list[Event]) -> None:
        self.followed = None
        super().after_crash(log, events)

    def at_the_end(self, state: State) -> None:
        super().at_the_end(state)
        log = self.campaign.log.bytes()
        for prefix in self.prefixes:
            need(log.startswith(prefix), "the log does not extend what was durable at a crash")
        self._moment(state)
        self._restarts_are_told()
        events = self.campaign.log.events()
        need(fold_runs(events).runs == self.record.runs, "rows folded at once are not those folded one by one")
        self.truth.jobs_one_to_one(state.phase == "ended")
        self.truth.node_seconds(list(self.record.current()))
        nothing_of_this_process(log)
        for name in ("loads", "jobs", "units") if state.phase == "ended" else ():
            left = {key: amount for key, amount in getattr(state.usage, name).items() if abs(amount) > 1e-9}
            need(not left, f"the campaign is over and {name} is {left}")

    def _restarts_are_told(self) -> None:
        """Every start of a job that really ran has a run of its own, or the word that nobody wanted it."""
        for execution in self.campaign.world.executions:
            told = execution.restart < max(1, len(self.books.job_runs[execution.job])) or execution.part
            told = told or self.truth.was_unseen(execution)
            need(
                told or execution.job in self.truth.unwanted,
                f"start {execution.restart} of {execution.job} was never told",
            )

    def _watch_the_machine(self) -> None:
        super()._watch_the_machine()
        world = self.campaign.world
        execute = world.execute

        def executed(*what: Any, **more: Any) -> None:
            execute(*what, **more)
            self.truth.begins(world.executions[-1])

        world.execute = executed
