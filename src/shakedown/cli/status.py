"""``shakedown status``: where a campaign stands, who drives it, what waits and why."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shakedown.cli.naming import campaign_argument
from shakedown.cli.output import emit, fitted, json_option, printable, site_option, table
from shakedown.model.errors import UsageError

if TYPE_CHECKING:
    from shakedown.model.layout import Layout

_BESIDE = {"warm_up": "warm up", "filler": "take nodes that the mix leaves idle"}
LOOK_S = 0.5  # between two looks at the length of the log
SILENT_S = 10.0  # after which it is shown again though the log did not grow: nodes and the conductor may have changed
MOST_SETS = 10  # of nodes that are out, on a terminal


@click.command()
@campaign_argument
@site_option
@click.option("--watch", is_flag=True, help="Show it again whenever something happened, until the campaign is over.")
@json_option
def command(campaign: str | None, site: str | None, watch: bool, as_json: bool) -> int:
    """Where a campaign stands (the newest one, if none is named)."""
    from shakedown.cli.record import find_campaign
    from shakedown.model.layout import Layout

    if watch and as_json:
        raise UsageError("--watch is for people", hint="programs follow the events: shakedown log --follow --json")
    layout = Layout(find_campaign(Path(site) if site else None, campaign))
    if watch:
        _watch(layout)
        return 0
    data = _look(layout)
    emit(data, as_json, lambda: _render(data))
    return 0


def _watch(layout: Layout) -> None:
    """Status after status, each in the place of the one before it on a terminal, until the campaign is over."""
    import sys
    import time

    begin = "\x1b[H\x1b[2J" if sys.stdout.isatty() else ""
    shown = None
    while True:
        data = _look(layout)
        text = _render(data)
        if text != shown:
            click.echo(f"{begin}{text}" + ("" if begin else "\n"))
            shown = text
        if data["phase"] == "ended":
            return
        length, looked = _length(layout), time.monotonic()
        while _length(layout) == length and time.monotonic() - looked < SILENT_S:
            time.sleep(LOOK_S)


def _length(layout: Layout) -> int:
    """How long the log is: it grows with everything that happens."""
    return sum(path.stat().st_size for path in layout.log.glob("0*.jsonl"))


def _look(layout: Layout) -> dict[str, Any]:
    import msgspec

    from shakedown.cli.record import folds_of, tell_trouble
    from shakedown.events.lease import holder
    from shakedown.queries.outcome_now import outcome_now
    from shakedown.queries.status import status

    folds = folds_of(layout.root)
    data = status(layout, folds)
    now = outcome_now(folds) if data["phase"] != "not started" else None
    data |= msgspec.structs.asdict(now) if now is not None else {}
    tell_trouble(folds)
    held = holder(layout)
    data["driver"] = str(held) if held is not None and not held.gone else ""
    data["silent_s"] = round(held.silent_s, 1) if held is not None and data["phase"] != "ended" else 0.0
    data["replaced_after_s"] = held.replaced_after_s if held is not None and data["silent_s"] else 0.0
    return data


def _render(data: dict[str, Any]) -> str:
    from shakedown.queries.status_words import silent_in_words
    from shakedown.report.words import ad_hoc_words

    driver = data["driver"] or ("nobody drives it" if data["phase"] != "ended" else "it is over")
    rehearsal = data.get("rehearsal", "")
    if rehearsal and not data["driver"]:
        driver = "it is over" if data["phase"] == "ended" else "it came to no end"
    stands_still = data["phase"] == "running" and not data["driver"] and not rehearsal
    parts = [
        f"{data['campaign']}: {'not over' if stands_still else data['phase']}; {driver}{_as_of(data)}",
        *_renamed(data),
        *silent_in_words(data),
        *_full(data),
        *filter(None, [rehearsal, ad_hoc_words(data.get("ad_hoc", ""))]),
        "",
    ]
    parts.append(_components(data))
    parts += [f"outcome as of now: {data['summary']}"] if data.get("summary") else []
    for name in data.get("snapshots_refused", []):
        parts.append(
            f"log/snapshots/{name} is not what the log leads to: this is folded from the log; resume makes it again"
        )
    if data.get("unknown"):
        parts.append(f"events of a later version, which are passed over: {', '.join(data['unknown'])}")
    for component in data["components"]:
        beside = [f"{component[key]} {word}" for key, word in _BESIDE.items() if component.get(key)]
        if beside:
            some = " and ".join(beside)
            parts.append(f"{component['name']}: of the wanted results {some}, and are in no count of the report")
        if component["unattested"]:
            parts.append(f"{component['name']}: not attested yet: {', '.join(component['unattested'])}")
    parts += _lists(data)
    parts += _nodes(data.get("nodes", {}))
    parts += _over(data)
    parts += _asked(data.get("asked", {}))
    if stands_still:
        parts.append(f"hint: go on with: shakedown resume {data['campaign']}")
    return fitted(printable("\n".join(parts)))


def _lists(data: dict[str, Any]) -> list[str]:
    """What has a line for each: clocks, drills, baselines, builds, runs, what waits and why, orders, budgets."""
    from shakedown.queries.status_words import clock_in_words, deadline_in_words, shut_in_words

    parts = [*map(clock_in_words, data.get("clocks", [])), *map(deadline_in_words, data.get("deadlines", []))]
    parts += [f"{one['component']}: drill {one['drill']} {one['says']}" for one in data.get("drills", [])]
    for one in data.get("baselines", []):
        parts.append(f"baseline {one['baseline']}: {one['against']}{'; ' + one['says'] if one['says'] else ''}")
    parts += [f"build {name}: {phase}" for name, phase in data.get("builds", {}).items() if phase != "done"]
    parts += [f"{run['run']}  {run['case']}: {run['doing']}" for run in data.get("live", [])[:20]]
    parts += [f"{group['count']} wait: {group['reason']}" for group in data["waiting"]]
    parts += data.get("held", [])
    parts += data.get("unused", [])
    parts += [shut_in_words(pool, data["time"]) for pool in data.get("shut", [])]
    parts += [f"standing order: {sentence}" for sentence in data.get("standing", [])]
    for name, budget in data.get("budgets", {}).items():
        parts.append(f"budget {name}: {budget['said']}")
    parts += [f"{job['run']} (job {job['job']}): {job['why']}" for job in data.get("told", [])]
    return parts


def _renamed(data: dict[str, Any]) -> list[str]:
    directory = data.get("directory", data["campaign"])
    return [f"its directory is called {directory}"] if directory != data["campaign"] else []


def _as_of(data: dict[str, Any]) -> str:
    return f"; as of event {data['events']}" if "events" in data else ""


def _full(data: dict[str, Any]) -> list[str]:
    """What cannot be written down is not seen here."""
    if not data.get("record_full"):
        return []
    return [f"{data['record_full']}: what happened since event {data['events']} may not be in the record yet"]


def _nodes(nodes: dict[str, Any]) -> list[str]:
    """3 nodes are down or drained: ... Slurm is asked at this moment, so it is as of now, whoever drives the campaign."""
    from shakedown.engine.state.moments import moment

    if not nodes:
        return []
    lines = [f"nodes: {nodes['trouble']}"] if nodes["trouble"] else []
    if nodes["count"]:
        lines.append(
            "1 node is down or drained:" if nodes["count"] == 1 else f"{nodes['count']} nodes are down or drained:"
        )
    for one in nodes["out"][:MOST_SETS]:
        since = f" since {moment(one['since'])}" if one["since"] is not None else ""
        lines.append(f"  {one['nodes']}: {one['state']}{since}{': ' + one['why'] if one['why'] else ''}")
    if len(nodes["out"]) > MOST_SETS:
        lines.append(f"  and {len(nodes['out']) - MOST_SETS} more; --json has all")
    return lines


def _over(data: dict[str, Any]) -> list[str]:
    """Jobs that the scheduler has although their runs are over."""
    from shakedown.conductor.driver.left_jobs import left_in_words
    from shakedown.model.ports import LeftJob

    jobs = [LeftJob(**job) for job in data.get("over", [])]
    if not jobs:
        return []
    one = len(jobs) == 1
    whose = "1 job whose run is over is" if one else f"{len(jobs)} jobs whose runs are over are"
    what = "it" if one else "them"
    if data["phase"] == "ended":
        way_out = f"shakedown resume {data['campaign']} cancels {what}; where the record is sealed, scancel does"
    else:
        way_out = "the conductor cancels what waits or left its end mark while it looks at jobs, and the rest at the campaign's end"
    return [f"{whose} at the scheduler: {left_in_words(jobs)}; no run of {what} comes again", f"hint: {way_out}"]


def _asked(asked: dict[str, Any]) -> list[str]:
    """How often the scheduler was asked: its administrators may want to know."""
    if not asked:
        return []
    from shakedown.model.units import show_duration

    each = [
        f"{name} {numbers['count']} ({numbers['per_hour']:.0f} an hour)" for name, numbers in asked["commands"].items()
    ]
    return [f"asked the scheduler {asked['total']} times in {show_duration(asked['for_s'])}:", *_lines(each)]


def _lines(words: list[str], width: int = 78) -> list[str]:
    """Words with commas, on as few lines as they need."""
    lines: list[str] = []
    for word in words:
        if lines and len(lines[-1]) + len(word) + 2 <= width:
            lines[-1] += f", {word}"
        else:
            lines.append(f"  {word}")
    return lines


def _components(data: dict[str, Any]) -> str:
    rows = []
    for component in data["components"]:
        verdicts = ", ".join(f"{count} {verdict}" for verdict, count in component["verdicts"].items())
        numbers = [str(component[key]) for key in ("wanted", "closed", "in_flight", "waiting", "unavailable")]
        rows.append([component["name"], *numbers, verdicts])
    headings = ["component", "wanted", "closed", "live", "waiting", "unavailable", "verdicts"]
    told = table(headings, rows, right=(1, 2, 3, 4, 5))
    if any("cancelled" in component["verdicts"] for component in data["components"]):
        told += "\nwanted has what was cancelled, too; the report leaves out what never began"
    return told
