"""The record that a command reads: found, and looked at first. What is damaged is said before anything else, and never hidden.

A command that finds its campaign here is told nothing else: ``output.emit`` puts the word before what it prints, and the front door
(``guarded``) makes the exit status 3 and turns what a damaged record does to a command into a sentence with its place.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shakedown.cli.error_places import place_of
from shakedown.cli.output import DAMAGED, damage_noted, printable, say
from shakedown.model.errors import OUR_FAULT, RecordError, ShakedownError

if TYPE_CHECKING:
    from shakedown.model.layout import Layout
    from shakedown.queries.folds import Folds

_CAMPAIGNS = "shakedown.campaigns"
_LOOKS = "shakedown.looks"  # campaign -> what is remembered of its log
_PLACE = "shakedown.damaged.place"  # the file that is damaged, inside its campaign


def find_campaign(site: Path | None, name: str | None) -> Path:
    """Purpose: as ``events.campaigns.find_campaign``; damage of its log is noted for whatever is printed afterwards."""
    from shakedown.events.campaigns import find_campaign as find
    from shakedown.events.chain import damage_of
    from shakedown.events.looks import Looks
    from shakedown.events.recorded_name import campaign_name
    from shakedown.events.set_back import set_back_of
    from shakedown.model.layout import Layout

    path = find(site, name)
    context = click.get_current_context(silent=True)
    looks = Looks(Layout(path))
    tell_other_name(Layout(path))
    _tell_another_entered(Layout(path))
    if context is not None:
        context.meta.setdefault(_CAMPAIGNS, []).append(path)
        context.meta.setdefault(_LOOKS, {})[path] = looks
    damage = damage_of(Layout(path), looks)
    if damage is not None and context is not None:
        context.meta.setdefault(_PLACE, damage.path)
        context.meta.setdefault(DAMAGED, f"the record of {path.resolve().name} is damaged: {damage}")
    elif damage is None and context is not None and (why := set_back_of(Layout(path), looks)):
        context.meta.setdefault(DAMAGED, f"{campaign_name(Layout(path))} {why}")
    return path


def tell_other_name(layout: Layout) -> None:
    """Purpose: say where a directory does not bear the name of the campaign in it; what is told of it bears the recorded one."""
    from shakedown.events.recorded_name import called_otherwise

    if said := called_otherwise(layout):
        say(printable(f"note: {said}"))


def _tell_another_entered(layout: Layout) -> None:
    """Say where the register of the site has another campaign under this name: this record was put in its place."""
    from shakedown.events.recorded_name import campaign_name
    from shakedown.events.set_back import another_entered

    if said := another_entered(layout):
        say(printable(f"note: {campaign_name(layout)}: {said}"))


def folds_of(path: Path) -> Folds:
    """Purpose: the folds of a campaign that was found here; of one that is damaged, from its log alone."""
    from shakedown.model.layout import Layout
    from shakedown.queries.folds import Folds

    context = click.get_current_context(silent=True)
    looks = context.meta.get(_LOOKS, {}).get(path) if context is not None else None
    return Folds(Layout(path), looks, damaged=bool(damage_noted()))


def tell_trouble(folds: Folds) -> None:
    """Purpose: say what was kept and is not believed. The answer is the same, from the log."""
    for sentence in folds.trouble:
        say(printable(f"{sentence}; this is from the log, and it is kept anew"))


def note_damage(words: str) -> None:
    """Purpose: a record that was found damaged only when it was read: it is said first, and the status is 3."""
    context = click.get_current_context(silent=True)
    if context is not None:
        context.meta.setdefault(DAMAGED, words)


def find_whole_campaign(site: Path | None, name: str | None) -> Path:
    """Purpose: the same for commands that add to the record, or make something lasting of it. Raises RecordError for damage."""
    from shakedown.events.set_back import refuse_other
    from shakedown.model.layout import Layout

    path = find_campaign(site, name)
    refuse_other(Layout(path))
    return path


def guarded(context: click.Context, run: Callable[[], Any]) -> Any:
    """Purpose: a command's status; 3 where a record that it read is damaged, whatever it found in it."""
    try:
        status = run()
    except (ShakedownError, OSError) as error:
        from shakedown.events.chain import RESTORE

        damage = context.meta.get(DAMAGED)
        if damage is None:
            raise
        _as_json(damage)
        if _tells_of_it(context, error):  # whoever could not read it found the same: everybody says it in one way
            raise RecordError(damage, hint=RESTORE) from error
        if "damaged" not in str(error):
            say(f"DAMAGED: {printable(damage)}")
        raise RecordError(*_words(error)) from error
    except (click.exceptions.Exit, click.ClickException, click.Abort):
        raise
    except Exception as error:
        explained = _explained(context, error)
        if isinstance(explained, RecordError):
            _as_json(explained.message)
        raise explained from error
    return OUR_FAULT if DAMAGED in context.meta else status


def _tells_of_it(context: click.Context, error: ShakedownError | OSError) -> bool:
    """Whether an error is about the very file that was found damaged before."""
    return isinstance(error, RecordError) and context.meta.get(_PLACE, "\0") in str(error)


def _as_json(damage: str) -> None:
    """Whoever asked for JSON reads standard output: where nothing else can be said there, that is."""
    if "--json" in sys.argv:
        import msgspec

        click.echo(msgspec.json.encode({"damaged": damage}))


def _words(error: ShakedownError | OSError) -> tuple[str, str | None]:
    if isinstance(error, ShakedownError):
        return error.message, error.hint
    return f"{place_of(error)}: {error.strerror or error}", None


def _explained(context: click.Context, error: Exception) -> Exception:
    """What a fault comes from, where it comes from a record that was read; else the fault itself."""
    from shakedown.conductor.driver.sense import nonsense_of
    from shakedown.events.chain import Unwhole, damage_of
    from shakedown.model.layout import Layout

    for path in context.meta.get(_CAMPAIGNS, []):
        layout = Layout(path)
        damage = damage_of(layout) or nonsense_of(layout)
        if damage is not None:
            return Unwhole(layout, damage)
    return error
