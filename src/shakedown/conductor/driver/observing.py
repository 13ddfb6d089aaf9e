"""Asking in time for numbers that narrow budgets. Answers become events where they may change a decision.

That is so where more or fewer runs fit than before, now or if none of ours ran; otherwise a number is recorded once in half the
time for which it may be used. When numbers stop coming, the last one is recorded too, since silence is counted from it. Why there
is none is recorded after half that time, and again in other words once in that time, or when the silence is reported.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from shakedown.conductor.driver.asked_numbers import Asked
from shakedown.engine import State
from shakedown.engine.constraints.budgets import asked_for
from shakedown.engine.constraints.observed import names_observed, silent_from, total_of
from shakedown.engine.state.phases import CampaignPhase
from shakedown.engine.state.records import Observed
from shakedown.model.observing import TARGET, Answer, Observe, Question

if TYPE_CHECKING:
    from shakedown.conductor.driver.conductor import Conductor

_SAID = 300  # letters of a trouble that are kept


def observe(conductor: Conductor) -> float | None:
    """Purpose: take the answers, and ask for what is due. Returns when the next question is due; None where nothing is observed."""
    state = conductor.state
    if state.plan is None or state.phase != CampaignPhase.RUNNING or not (state.index.observed or conductor.asked):
        return None
    wanted = names_observed(state)
    conductor.asked = {name: _same(conductor.asked.get(name), word) for name, word in wanted.items()}
    for answer in conductor.ports.observer.poll():
        if answer.name in conductor.asked:
            _hear(conductor, answer, conductor.asked[answer.name])
    now, running = conductor.ports.clock.now(), None
    for name, asked in conductor.asked.items():
        _tell_silence(conductor, name, asked, now)
    questions = []
    for name, asked in conductor.asked.items():
        if asked.waiting is None and now >= asked.next:
            running = _running(state) if running is None else running
            asked.waiting, asked.ours, asked.next = now, running.get(name, 0.0), now + asked.word.every_s
            questions.append(_question(name, asked.word))
    if questions:
        conductor.ports.observer.ask(questions)
    return min((asked.next for asked in conductor.asked.values() if asked.waiting is None), default=None)


def _same(asked: Asked | None, word: Observe) -> Asked:
    """What is known of a number; nothing, where an amendment asks for another one."""
    return asked if asked is not None and asked.word == word else Asked(word)


def _question(name: str, word: Observe) -> Question:
    query = word.query.replace(TARGET, name.rpartition("@")[2]) if "@" in name else word.query
    return Question(name, word.source, query, word.url, word.database, word.token_file, word.within_s, word.oldest_s)


def _running(state: State) -> Mapping[str, float]:
    """Budget or target -> what runs take that have begun. Jobs that wait at the scheduler take nothing yet."""
    waits = asked_for(state)
    return {name: max(0.0, load - waits.get(name, 0.0)) for name, load in state.usage.loads.items()}


def _hear(conductor: Conductor, answer: Answer, asked: Asked) -> None:
    if asked.waiting is None:
        return  # it was asked for by a word that no longer holds
    at, asked.waiting = asked.waiting, None
    if answer.number is None or not (math.isfinite(answer.number) and answer.number >= 0):
        asked.trouble = (answer.trouble or f"{answer.number} is no amount")[:_SAID]
        return
    state, asked.trouble = conductor.state, ""
    total = total_of(state, answer.name)
    asked.samples.append((at, asked.word.beside(answer.number, asked.ours, total)))
    while asked.samples[0][0] <= at - max(asked.word.smooth_s, 0.0) and len(asked.samples) > 1:
        asked.samples.popleft()
    beside = _short(asked.word.smoothed(asked.samples))
    asked.last = {"budget": answer.name, "number": _short(answer.number), "full": _short(asked.word.full)}
    asked.last |= {"ours": _short(asked.ours), "beside": beside, "at": round(at, 6)}
    if _is_news(state, answer.name, asked.word, beside, total, at):
        conductor.log("observed", value=asked.last)


def _tell_silence(conductor: Conductor, name: str, asked: Asked, now: float) -> None:
    """Record the last number where no newer one comes in time, and why none comes."""
    state, word = conductor.state, asked.word
    seen = state.pools.observed.get(name, Observed())
    if asked.last and asked.last["at"] > seen.at and now >= seen.at + (_soon(word) if asked.trouble else word.oldest_s):
        conductor.log("observed", value=asked.last)
        seen = state.pools.observed[name]
    if asked.trouble in ("", seen.trouble) or now - seen.at < word.oldest_s / 2:
        return
    told_next = not seen.told and now >= silent_from(state, name, word)  # the finding names the newest
    if not seen.trouble or told_next or now - asked.said_at >= word.oldest_s / 2:
        asked.said_at = now
        conductor.log("observed", value={"budget": name}, reason=asked.trouble)


def _soon(word: Observe) -> float:
    """How old the last recorded number may be before a newer one is recorded, in seconds; it leaves time for the next answer."""
    return min(word.oldest_s / 2, word.oldest_s - word.every_s - word.within_s)


def _is_news(state: State, name: str, word: Observe, beside: float, total: float, at: float) -> bool:
    """Whether to record a number: it is the first, or the first after a trouble or a silence, or changes what may start, or the
    last recorded one is getting too old.
    """
    seen = state.pools.observed.get(name, Observed())
    if not seen.at or seen.trouble or seen.told or at - seen.at >= _soon(word):
        return True
    budget, used = name.partition("@")[0], state.usage.loads.get(name, 0.0)
    loads = {load for case in state.index.document.cases for own, load in case.loads if own == budget and load > 0}
    before, after = max(0.0, total - seen.beside), max(0.0, total - beside)
    low, high = sorted((before - used, after - used))
    return any(low < load <= high or before // load != after // load for load in loads)


def _short(amount: float) -> float:
    return float(f"{amount:.9g}")
