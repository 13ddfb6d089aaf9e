"""Words of people, before any command of theirs is carried out."""

from __future__ import annotations

from shakedown.conductor.driver.conductor import Conductor
from shakedown.model.ports import Command
from shakedown.model.said_words import wrong_said


def unfit_words(conductor: Conductor, command: Command) -> str:
    """Purpose: why a command is refused for its words: a name that looks like another one, a reason or a restriction that shows
    or says nothing; "" where they are well. Names are held against those of the plan in force.
    """
    plan = conductor.state.plan
    people = [person for party in plan.document.parties for person in party.people] if plan is not None else []
    by, restriction = (str(command.value.get(key) or "") for key in ("by", "restriction"))
    return wrong_said(by, command.reason, restriction, people)
