"""``shakedown agree``: agree to what the other party did."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shakedown.cli.naming import campaign_option_given, names_after_campaign
from shakedown.cli.output import emit, json_option, printable, site_option
from shakedown.cli.steer.requests import said_by
from shakedown.model.errors import ShakedownError, UsageError

if TYPE_CHECKING:
    from shakedown.model.layout import Layout


@click.command()
@names_after_campaign("[CAMPAIGN] ACT...")
@said_by("Who agrees.", "Why; it is kept in the record.")
@click.option("--sign", "key", default=None, metavar="KEY", help="Sign it with your own SSH key.")
@site_option
@json_option
def command(names: tuple[str, ...], who: str, because: str, key: str | None, site: str | None, as_json: bool) -> int:
    """Agree to ACTs: numbers of events, as 'shakedown acts' shows them. Without CAMPAIGN it is the newest one.

    An act is one-sided until every party that the plan names has agreed to it. One agrees to all that the act says: its digest is
    kept, and --sign signs it. A party to which the plan gives keys can agree only with a signature.

    A seal can be agreed to, too, by the number of its event. Once every party has, what people do after it has no effect until all
    agree.
    """
    from shakedown.cli.record import folds_of
    from shakedown.cli.steer.requests import find_started
    from shakedown.conductor.commands.agreeing import agreeable, why_not_agree
    from shakedown.conductor.commands.asking import record_wishes
    from shakedown.conductor.record.settling import consent_of
    from shakedown.events.agreements import MOST_ACTS, agreed_text, sign_agreement, who_signed
    from shakedown.events.signatures import moment
    from shakedown.metrics.judging.consent import Signed

    campaign, numbers = acts_named(names, "agree [CAMPAIGN] ACT... --by WHO --because WHY")
    layout, _ = find_started(site, campaign, "agree to", who, act=False)
    record = folds_of(layout.root).whole_record()
    pairs = agreeable(record, numbers, layout.root.name, act_elsewhere(layout))
    parties = consent_of(layout, record).parties
    values: list[dict[str, Any]] = []
    for place in range(0, len(pairs), MOST_ACTS):
        mine, at = list(pairs[place : place + MOST_ACTS]), moment()
        text = agreed_text(record.identity, mine, who, because, at)
        armour = sign_agreement(text, Path(key)) if key is not None else ""
        why = why_not_agree(parties, record, mine, who, Signed(*who_signed(text, armour)) if armour else None)
        if why:
            raise UsageError(why)
        values.append({"acts": mine, "by": who, "signed_at": at, "signature": armour})
    data = record_wishes(layout, "agree", values, because)
    words = f"{who} agrees to event{'s' if len(pairs) > 1 else ''} {', '.join(str(number) for number, _ in pairs)}"
    emit(data | {"acts": [number for number, _ in pairs]}, as_json, lambda: printable(f"{words}; {data['said']}"))
    return 0


def acts_named(names: tuple[str, ...], usage: str) -> tuple[str | None, list[int]]:
    """Purpose: the campaign, or None, and the numbers after it. Errors: UsageError with the usage."""
    named = campaign_option_given()
    first = names[:1] if named is None and (not names[0].isdecimal() or Path(names[0]).is_dir()) else ()
    numbers = names[len(first) :]
    if not numbers:
        raise UsageError("no act is named", hint=f"shakedown {usage}; 'shakedown acts' lists them")
    wrong = next((name for name in numbers if not (name.isdecimal() and name.isascii()) or len(name) > 15), None)
    if wrong is not None:
        raise UsageError(
            f"'{wrong[:40]}' is not the number of an event", hint=f"shakedown {usage}; 'shakedown acts' lists them"
        )
    return (first[0] if first else named), [int(name) for name in numbers]


def act_elsewhere(layout: Layout) -> Callable[[int], str]:
    """Purpose: the way out for the number of an act that a campaign has not, and others of its site have: without a name it is the
    newest campaign that is meant. "" where none has it.
    """
    from shakedown.cli.record import folds_of
    from shakedown.events.campaigns import campaigns_in
    from shakedown.metrics.judging.people import acts_of

    def others(number: int) -> str:
        having = []
        for other in campaigns_in(layout.root.parent):
            if other.name == layout.root.name:
                continue
            try:
                acts = acts_of(folds_of(other).whole_record())
            except (ShakedownError, OSError):
                continue  # what is damaged is told by commands that are about it
            having += [other.name] * any(number in act.events for act in acts)
        newest = having[-3:]
        return f"{', '.join(newest)} has such an act: --campaign {shlex.quote(newest[-1])}" if newest else ""

    return others
