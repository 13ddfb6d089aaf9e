"""``shakedown status``: where a campaign stands, who drives it, what waits and why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from shakedown.cli.output import emit, json_option, printable, site_option, table


@click.command()
@click.argument("campaign", required=False)
@site_option
@json_option
def command(campaign: str | None, site: str | None, as_json: bool) -> int:
    """Where a campaign stands (the newest one, if none is named)."""
    from shakedown.conductor.looking import status
    from shakedown.events.campaigns import find_campaign
    from shakedown.events.lease import holder
    from shakedown.model.layout import Layout

    layout = Layout(find_campaign(Path(site) if site else None, campaign))
    data = status(layout)
    held = holder(layout)
    data["driver"] = str(held) if held is not None and not held.gone else ""
    emit(data, as_json, lambda: _render(data))
    return 0


def _render(data: dict[str, Any]) -> str:
    driver = data["driver"] or ("nobody drives it" if data["phase"] != "ended" else "it is over")
    parts = [f"{data['campaign']}: {data['phase']}; {driver}", "", _components(data)]
    for component in data["components"]:
        if component["unattested"]:
            parts.append(f"{component['name']}: not attested yet: {', '.join(component['unattested'])}")
    for name, phase in data.get("builds", {}).items():
        if phase != "done":
            parts.append(f"build {name}: {phase}")
    parts += [f"{run['run']}  {run['case']}: {run['doing']}" for run in data.get("live", [])[:20]]
    parts += [f"{group['count']} wait: {group['reason']}" for group in data["waiting"]]
    for name, budget in data.get("budgets", {}).items():
        parts.append(f"budget {name}: {budget['taken']:g} of {budget['limit']:g} taken")
    if data["phase"] == "running" and not data["driver"]:
        parts.append(f"hint: go on with: shakedown resume {data['campaign']}")
    return printable("\n".join(parts))


def _components(data: dict[str, Any]) -> str:
    rows = []
    for component in data["components"]:
        verdicts = ", ".join(f"{count} {verdict}" for verdict, count in component["verdicts"].items())
        numbers = [str(component[key]) for key in ("wanted", "closed", "in_flight", "waiting", "unavailable")]
        rows.append([component["name"], *numbers, verdicts])
    headings = ["component", "wanted", "closed", "live", "waiting", "unavailable", "verdicts"]
    return table(headings, rows, right=(1, 2, 3, 4, 5))
