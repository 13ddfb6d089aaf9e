"""Checking the words of people before any of their commands is carried out."""

from __future__ import annotations

from shakedown.conductor.driver.conductor import Conductor
from shakedown.engine.state.state import State
from shakedown.model.ports import Command
from shakedown.model.said_words import wrong_said


def unfit_words(conductor: Conductor, command: Command) -> str:
    """Purpose: why a command is refused for its words: a name that looks like another one, or a reason or restriction that says
    nothing; "" where they are fine. Names are compared with those in the plan in force.
    """
    by, restriction = (str(command.value.get(key) or "") for key in ("by", "restriction"))
    return wrong_said(by, command.reason, restriction, people_of(conductor.state))


def people_of(state: State) -> list[str]:
    """Purpose: the people that the plan in force names; [] where no plan is known yet."""
    plan = state.plan
    return [person for party in plan.document.parties for person in party.people] if plan is not None else []
