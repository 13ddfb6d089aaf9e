"""``shakedown change``: declare that the machine or its surroundings were changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from shakedown.cli.naming import campaign_argument
from shakedown.cli.output import emit, json_option, printable, site_option
from shakedown.cli.steer.requests import said_by

if TYPE_CHECKING:
    from shakedown.engine import State


@click.command()
@campaign_argument
@said_by("Who declares it.", "What was changed and why; it is kept in the record.")
@site_option
@json_option
def command(campaign: str | None, who: str, because: str, site: str | None, as_json: bool) -> int:
    """Declare a change of the machine or its surroundings: it opens a new epoch, earlier results keep theirs."""
    from shakedown.cli.steer.requests import find_started
    from shakedown.conductor.commands.asking import record_wishes

    layout, state = find_started(site, campaign, "change", who)
    data = record_wishes(layout, "change", [{"by": who}], because)
    opened = f"epoch {state.epoch + 1} begins; " if data["recorded"] else ""
    lines = [opened + data["said"], *_how_to_run_again(state)]
    emit(data, as_json, lambda: printable("\n".join(lines)))
    return 0


def _how_to_run_again(state: State) -> list[str]:
    """Components over which a criterion counts only the last epoch: nothing of them is ordered again by itself."""
    return [
        f"hint: {one.name} counts only the last epoch ({', '.join(names)}); run it again in the new one, once it is over: "
        f"shakedown again {one.name} --by WHO --because WHY"
        for one in state.index.document.components
        if (names := [item.name for item in one.criteria if item.epochs == "last"])
    ]
