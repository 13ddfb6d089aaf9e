"""The engine, pure: ``evolve`` folds a logged event into the state, ``decide`` says what to order next, ``explain`` says why a run
does not start. No files, no clock, no processes, no randomness: the time comes in as an argument and inside events.
"""

from shakedown.engine.fold.evolve import evolve
from shakedown.engine.policy.decide import decide
from shakedown.engine.policy.explain import explain
from shakedown.engine.state.orders import Decision, Order
from shakedown.engine.state.plan import Policy, index_plan
from shakedown.engine.state.state import State

__all__ = ["Decision", "Order", "Policy", "State", "decide", "evolve", "explain", "index_plan"]
