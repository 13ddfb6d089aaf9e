"""``shakedown nodes``: which nodes stand out among the failed and slow runs, what each did, and where the node-hours went."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from shakedown.cli.naming import campaign_argument
from shakedown.cli.output import emit, fitted, json_option, printable, site_option, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shakedown.diagnosis.findings import NodeFinding
    from shakedown.diagnosis.left_out import LeftOutNode
    from shakedown.diagnosis.node_report import NodeRow, NodesExamined

WIDTH = 80
SHOWN = 20  # nodes, without --all
NAME_LIMIT = 22  # letters of a node's name in the table


@click.command()
@campaign_argument
@site_option
@click.option(
    "--all", "everything", is_flag=True, help="Show every node, also those without findings, failures or slow runs."
)
@click.option(
    "--time", "of_time", is_flag=True, help="Show where the node-hours went, by cause, and the machine's availability."
)
@json_option
def command(campaign: str | None, site: str | None, everything: bool, of_time: bool, as_json: bool) -> int:
    """Which nodes stand out among failed and slow runs.

    CAMPAIGN is the id of a campaign of the site, or the path of its directory; without it the newest is taken.
    First come the findings. On a machine without bad nodes, fewer than one campaign in a hundred has any. Then come nodes that
    were left out since they launched nothing, with what was tried there, and a table of nodes with findings, failures or slow
    runs, and of those that are excluded or left out, the worst first.

    With --time: what every node-hour of the campaign went to, from its record; nodes that were idle while jobs waited; and the
    availability of the machine and its nodes. --all then shows every cause. The report has the same as tables and a figure.
    """
    from shakedown.cli.record import find_campaign, folds_of, tell_trouble

    path = find_campaign(Path(site) if site else None, campaign)
    if of_time:
        from shakedown.cli.time_spent import show_time_spent
        from shakedown.report.reading import read_campaign

        show_time_spent(read_campaign(path), everything, as_json)
        return 0
    from shakedown.model.layout import Layout
    from shakedown.queries.nodes import nodes_of

    folds = folds_of(path)
    examined, events = nodes_of(Layout(path), folds)
    tell_trouble(folds)
    data = msgspec.to_builtins(examined) | {"events": events} if as_json else {}
    emit(data, as_json, lambda: fitted(f"{_render(examined, everything)}\nas of event {events}"))
    return 0


def _render(examined: NodesExamined, everything: bool) -> str:
    parts = [_wrapped(text, later="  ") for text in examined.barren[:SHOWN]]
    parts += _findings(examined.findings) if examined.findings or not parts else []
    parts += _left_out(examined.left_out)
    parts += ["", *(_wrapped(f"{text}.") for text in examined.enough)]
    rows = examined.nodes if everything else examined.worst(SHOWN)
    if rows:
        parts += ["", _table(rows)]
    if len(rows) < len(examined.nodes):
        parts.append(f"{len(examined.nodes) - len(rows)} more of {len(examined.nodes)} nodes: --all shows them")
    if examined.unused:
        parts.append(_wrapped(f"no run has used {examined.unused}"))
    if examined.unplaced:
        parts.append(f"the nodes of {examined.unplaced} runs cannot be read")
    return printable("\n".join(parts))


def _findings(findings: Sequence[NodeFinding]) -> list[str]:
    """Each as a paragraph, and once for each kind what a person can do."""
    if not findings:
        return ["no node stands out among failed or slow runs"]
    lines = []
    for kind in dict.fromkeys(finding.kind for finding in findings):
        mine = [finding for finding in findings if finding.kind == kind]
        lines += [kind, *(_wrapped(finding.sentence, "  ", "    ") for finding in mine)]
        lines.append(_wrapped(f"what to do: {mine[0].advice}", "  ", "    "))
    return lines


def _left_out(nodes: Sequence[LeftOutNode]) -> list[str]:
    """Those that are left out now first, else the last ones."""
    shown = sorted(nodes, key=lambda one: (one.until is not None, -one.since))[:SHOWN]
    lines = (
        ["", "nodes that launched nothing", *(_wrapped(one.sentence, "  ", "    ") for one in shown)] if shown else []
    )
    return [*lines, f"  and {len(nodes) - len(shown)} more: --json has all"] if len(shown) < len(nodes) else lines


def _table(rows: Sequence[NodeRow]) -> str:
    headings = ("node", "runs", "failed", "node_fail", "slowness", "hours", "")
    return table(headings, [_cells(row) for row in rows], right=(1, 2, 3, 4, 5))


def _cells(row: NodeRow) -> list[str]:
    name = row.node if len(row.node) <= NAME_LIMIT else f"…{row.node[1 - NAME_LIMIT :]}"
    numbers = [str(row.runs), str(row.failed), str(row.node_fail)]
    slowness = "–" if row.slowness is None else f"{row.slowness:.3f}"
    return [name, *numbers, slowness, f"{row.hours:.1f}", row.note]


def _wrapped(text: str, first: str = "", later: str = "") -> str:
    return textwrap.fill(text, WIDTH, initial_indent=first, subsequent_indent=later, break_on_hyphens=False)
