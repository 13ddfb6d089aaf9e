"""Names that a shell completes: campaigns, plans, tests, systems, runs, nodes. Imported only while a shell asks.

What cannot be read has no names to offer: a completion never prints an error into the line that a person types.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import click
from click.shell_completion import CompletionItem

MOST = 200  # names that are offered at once
_LARGEST_LOG = 50_000_000  # bytes; runs of a longer log are not looked for while a person waits
_NAME = {kind: re.compile(rf"^{kind}:\s*['\"]?([\w.-]+)", re.MULTILINE) for kind in ("plan", "test", "system")}


def complete_names(command: click.Command) -> None:
    """Purpose: let the arguments of a command complete what they name, by the name or the metavar of each argument."""
    for parameter in command.params:
        words = f"{parameter.name} {parameter.metavar or ''}".lower() if isinstance(parameter, click.Argument) else ""
        sources = [find for word, find in _SOURCES if re.search(rf"\b{word}s?\b", words)]
        if words and (sources or parameter.name == "names"):
            parameter.shell_complete = _completer(sources or [_campaigns])  # type: ignore[method-assign, assignment]


def _completer(
    sources: list[Callable[[Path], Iterable[str]]],
) -> Callable[[click.Context, str], list[CompletionItem]]:
    def complete(context: click.Context, incomplete: str) -> list[CompletionItem]:
        from shakedown.plans import find_site

        found: list[str] = []
        with contextlib.suppress(Exception):
            site = find_site(context.params.get("site"))
            for source in sources:
                with contextlib.suppress(Exception):
                    found += [name for name in source(site) if name.startswith(incomplete)]
        return [CompletionItem(name) for name in sorted(set(found))[:MOST]]

    return complete


def _campaigns(site: Path) -> Iterable[str]:
    return [path.name for path in (site / "campaigns").iterdir() if path.is_dir() and not path.name.startswith(".")]


def _named(kind: str) -> Callable[[Path], Iterable[str]]:
    def find(site: Path) -> Iterable[str]:
        for file in (site / f"{kind}s").rglob("*.y*ml"):
            match = _NAME[kind].search(file.read_text(errors="replace"))
            if match:
                yield match[1]

    return find


def _runs(site: Path) -> Iterable[str]:
    """Runs of the newest campaign."""
    from shakedown.events.campaigns import find_campaign
    from shakedown.events.reader import read_events
    from shakedown.metrics.rows.table import fold_runs
    from shakedown.model.layout import Layout

    layout = Layout(find_campaign(site, None))
    if sum(file.stat().st_size for file in layout.log.iterdir()) > _LARGEST_LOG:
        return []
    record = fold_runs(read_events(layout.log))
    return [*(row.run for row in record.current()), *record.open]


def _nodes(site: Path) -> Iterable[str]:
    """Nodes of the site's systems."""
    from shakedown.model.shared_nodes import nodes_of
    from shakedown.plans import read_system

    for file in (site / "systems").glob("*.y*ml"):
        for partition in read_system(file).partitions():
            yield from map(str, nodes_of(partition))


_SOURCES: tuple[tuple[str, Callable[[Path], Iterable[str]]], ...] = (
    ("campaign", _campaigns),
    ("plan", _named("plan")),
    ("test", _named("test")),
    ("system", _named("system")),
    ("run", _runs),
    ("node", _nodes),
)
