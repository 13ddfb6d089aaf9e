"""Names that a shell completes: campaigns, plans, tests, tags, systems, partitions, runs, nodes. Imported only while a shell asks.

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
_ABSTRACT = re.compile(r"^abstract:\s*(yes|true|on)\b", re.MULTILINE | re.IGNORECASE)
_NAME = {kind: re.compile(rf"^{kind}:\s*['\"]?([\w.-]+)", re.MULTILINE) for kind in ("plan", "test", "system")}


def complete_names(command: click.Command) -> None:
    """Purpose: let a command complete what its arguments and options name, by the name or the metavar of an argument, or the word
    of an option.
    """
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            _complete_option(parameter)
            continue
        words = f"{parameter.name} {parameter.metavar or ''}".lower()
        sources = [find for word, find in _SOURCES if re.search(rf"\b{word}s?\b", words)]
        if sources or parameter.name == "names":
            parameter.shell_complete = _completer(sources or [_campaigns])  # type: ignore[method-assign, assignment]


def _complete_option(option: click.Option) -> None:
    """An option that takes a name of a site; one that takes any text or a number offers nothing."""
    if not option.is_flag and isinstance(option.type, click.types.StringParamType):
        find = next((_OPTIONS[word] for word in option.opts if word in _OPTIONS), None)
        if find is not None:
            several = "," in (option.metavar or "")
            option.shell_complete = _completer([find], several)  # type: ignore[method-assign, assignment]


def _completer(
    sources: list[Callable[[Path], Iterable[str]]], several: bool = False
) -> Callable[[click.Context, str], list[CompletionItem]]:
    """``several``: names may stand in one word, with ',' between them; the last one is completed."""

    def complete(context: click.Context, incomplete: str) -> list[CompletionItem]:
        from shakedown.plans import find_site

        found: list[str] = []
        before, comma, begun = incomplete.rpartition(",") if several else ("", "", incomplete)
        with contextlib.suppress(Exception):
            site = find_site(context.params.get("site"))
            for source in sources:
                with contextlib.suppress(Exception):
                    found += [name for name in source(site) if name.startswith(begun)]
        return [CompletionItem(f"{before}{comma}{name}") for name in sorted(set(found))[:MOST]]

    return complete


def _campaigns(site: Path) -> Iterable[str]:
    return [path.name for path in (site / "campaigns").iterdir() if path.is_dir() and not path.name.startswith(".")]


def _named(kind: str) -> Callable[[Path], Iterable[str]]:
    def find(site: Path) -> Iterable[str]:
        for file in (site / f"{kind}s").rglob("*.y*ml"):
            text = file.read_text(errors="replace")
            match = _NAME[kind].search(text)
            if match and not _ABSTRACT.search(text):
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


def _tests(site: Path) -> Iterable[str]:
    """Tests of the site and of the package."""
    from shakedown.plans.finding import CATALOGUE_TESTS

    yield from _named("test")(site)
    for file in Path(CATALOGUE_TESTS).rglob("*.yaml"):
        text = file.read_text(errors="replace")
        match = _NAME["test"].search(text)
        if match and not _ABSTRACT.search(text):
            yield match[1]


def _tags(site: Path) -> Iterable[str]:
    """Tags of the tests of the site and of the package."""
    from shakedown.plans.site import read_site

    for test in read_site(site, parts="tests").tests.values():
        yield from test.values.get("tags", ())


def _partitions(site: Path) -> Iterable[str]:
    """Partitions of the site's systems, and of this machine."""
    from shakedown.plans import read_system

    yield "all"
    for file in (site / "systems").glob("*.y*ml"):
        yield from (partition.name for partition in read_system(file).partitions())


_OPTIONS: dict[str, Callable[[Path], Iterable[str]]] = {
    "--test": _tests,
    "--tag": _tags,
    "--system": _named("system"),
    "--partition": _partitions,
    "--plan": _named("plan"),
    "--campaign": _campaigns,
    "--last-failed": _campaigns,
}

_SOURCES: tuple[tuple[str, Callable[[Path], Iterable[str]]], ...] = (
    ("campaign", _campaigns),
    ("plan", _named("plan")),
    ("test", _named("test")),
    ("system", _named("system")),
    ("run", _runs),
    ("node", _nodes),
)
