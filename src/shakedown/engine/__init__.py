"""The engine, pure: ``evolve`` folds a logged event into the state, ``decide`` says what to order next, ``explain`` says why not.

No files, no clock, no processes, no randomness: time arrives as an argument and inside events.
"""

from shakedown.engine.decide import decide
from shakedown.engine.evolve import evolve
from shakedown.engine.explain import explain
from shakedown.engine.orders import Decision, Order
from shakedown.engine.plan import Policy, index_plan
from shakedown.engine.state import State

__all__ = ["Decision", "Order", "Policy", "State", "decide", "evolve", "explain", "index_plan"]
