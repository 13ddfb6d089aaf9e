"""``shakedown failures``: what the runs that failed are put down to; the classes that there are; lines tried on them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shakedown.cli.naming import campaign_argument
from shakedown.cli.output import emit, fitted, json_option, printable, say, site_option
from shakedown.metrics.words import plural
from shakedown.model.errors import MET, NOT_MET, UsageError

if TYPE_CHECKING:
    from shakedown.metrics.failures import FailureGroup
    from shakedown.model.failures import FailureClass
    from shakedown.queries.failures import FailuresSeen, TriedText

_WIDTH = 80
_SHOWN = 4  # tests or nodes that are named


@click.command()
@campaign_argument
@click.option("--class", "name", default="", metavar="CLASS", help="Only this class, or this family of classes.")
@click.option("--unclassified", is_flag=True, help="Only runs of no known class, by likeness.")
@click.option(
    "--stub",
    type=click.IntRange(1),
    metavar="N",
    help="Print a class, as YAML, for the N-th group of unclassified runs.",
)
@click.option(
    "--catalogue", is_flag=True, help="List the classes, those of the site and of the package, and test their examples."
)
@click.option(
    "--try",
    "file",
    type=click.File("rb"),
    metavar="FILE|-",
    help="Classify a text: the line that wins, and the others that some class knows.",
)
@site_option
@json_option
def command(
    campaign: str | None,
    name: str,
    unclassified: bool,
    stub: int | None,
    catalogue: bool,
    file: Any,
    site: str | None,
    as_json: bool,
) -> int:
    """Show why runs failed: by class of failure, then the runs of no known class, grouped by likeness.

    A class is a hint from what the output says. It is no ruling: with 'shakedown rule' a person says whose failure a run was.
    """
    root = Path(site) if site else None
    if sum((catalogue, file is not None, stub is not None)) > 1:
        raise UsageError("--catalogue, --try and --stub cannot be given together", "give one of them")
    if catalogue or file is not None:
        if campaign:
            raise UsageError(f"--{'catalogue' if catalogue else 'try'} looks at no campaign", f"leave '{campaign}' out")
        return _catalogue(root, name, as_json) if catalogue else _try(root, file, as_json)
    return _campaign(root, campaign, name, unclassified, stub, as_json)


def _campaign(
    root: Path | None, campaign: str | None, name: str, unclassified: bool, number: int | None, as_json: bool
) -> int:
    from shakedown.cli.record import find_campaign, folds_of, tell_trouble
    from shakedown.model.layout import Layout
    from shakedown.queries import failures as failing

    path = find_campaign(root, campaign)
    folds = folds_of(path)
    found = failing.seen(Layout(path), name, folds)
    tell_trouble(folds)
    if number is not None:
        groups = found.unclassified
        if number > len(groups):
            raise UsageError(f"there is no group {number} of unclassified runs", f"there are {len(groups)}")
        text = failing.stub(groups[number - 1], found.campaign, Layout(path))
        emit({"stub": text}, as_json, lambda: printable(text), exact=True)
        return MET
    data: dict[str, Any] = {"campaign": found.campaign, "events": found.events, "judged": found.judged}
    data["unclassified"] = [_plain(group) for group in found.unclassified]
    if not unclassified:
        data["classes"] = [_plain(group) | {"hint": found.hints.get(group.name, "")} for group in found.classes]
    emit(data, as_json, lambda: fitted(printable(_render(found, unclassified))))
    return MET


def _plain(group: FailureGroup) -> dict[str, Any]:
    data: dict[str, Any] = {"class": group.name, "family": group.family, "runs": group.count}
    data |= {"tests": dict(group.tests), "nodes": dict(group.nodes), "verdicts": dict(group.verdicts)}
    data |= {"first": group.first, "last": group.last, "line": group.line, "names": group.runs}
    return data | ({"likeness": group.key} if group.name == "unclassified" else {})


def _render(found: FailuresSeen, unclassified: bool) -> str:
    classes = () if unclassified else found.classes
    failed = sum(group.count for group in (*found.classes, *found.unclassified))
    lines = [f"{found.campaign}: {failed} of {found.judged} judged runs are shown; the others passed, or are left out"]
    lines.append(f"as of event {found.events}")
    if not failed:
        return f"{found.campaign}: none of {found.judged} judged runs to show, as of event {found.events}"
    for group in classes:
        family = f", {group.family}" if group.family not in ("", group.name) else ""
        lines += ["", f"{group.name}{family}: {_runs(group.count)}", *_facts(group)]
        lines += _fact("next", found.hints.get(group.name, ""))
    for number, group in enumerate(found.unclassified, 1):
        lines += ["", f"unclassified {number}: {_runs(group.count)} alike", *_facts(group)]
        lines += _fact("next", f"'shakedown failures --stub {number}' prints a class for it")
    return "\n".join(lines)


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count} runs"


def _facts(group: FailureGroup) -> list[str]:
    from shakedown.report.words import show_time

    when = show_time(group.first) + (f" to {show_time(group.last)}" if group.count > 1 else "") + " UTC"
    lines = _fact("tests", _named(group.tests)) + _fact("nodes", _named(group.nodes))
    return lines + _fact("when", when) + _fact("line", group.line)


def _named(counted: Iterable[tuple[str, int]]) -> str:
    listed = [f"{name} {count}" for name, count in counted]
    more = f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
    return ", ".join(listed[:_SHOWN]) + more


def _fact(name: str, text: str, column: int = 7) -> list[str]:
    """'  name   text', wrapped under itself; nothing where there is no text."""
    if not text:
        return []
    width = _WIDTH - 2 - column
    parts = textwrap.wrap(printable(text).replace("\n", " "), width, break_long_words=True, break_on_hyphens=False)
    return [f"  {name if not place else '':<{column}}{part}" for place, part in enumerate(parts)]


# ---- the catalogue, and a text tried on it -----------------------------------------------------------------------------


def _catalogue(root: Path | None, name: str, as_json: bool) -> int:
    from shakedown.queries import failures as failing

    own = failing.own_classes(root)
    known = failing.classifier(own)
    chosen = [one for one in known.classes if name in ("", one.name, one.family)]
    if not chosen:
        from shakedown.model.errors import did_you_mean

        hint = did_you_mean(name, (one.name for one in known.classes)) or "--catalogue without --class lists them"
        raise UsageError(f"there is no class '{name}'", hint)
    wrong = failing.wrong_examples(known, own or ())
    emit({"classes": chosen, "wrong": wrong}, as_json, lambda: fitted(printable(_render_classes(chosen, bool(name)))))
    for sentence in wrong:
        say(printable(f"error: {sentence}"))
    return NOT_MET if wrong else MET


def _render_classes(classes: list[FailureClass], in_full: bool) -> str:
    lines: list[str] = []
    for one in sorted(classes, key=lambda one: (one.family, one.name)):
        facts = {"about": one.about}
        if in_full:
            facts |= {"next": one.hint, "suspect": one.suspect, "file": one.place}
        column = max(map(len, facts)) + 2
        lines.append(f"{one.name}, {one.family}" if one.family != one.name else one.name)
        lines += [line for name, text in facts.items() for line in _fact(name, text, column)]
        if in_full:
            for group in sorted(one.lines, key=lambda group: -group.weight):
                lines += _fact(
                    f"{group.weight}", f"{group.source}: " + " | ".join((*group.texts, *group.patterns)), column
                )
    return "\n".join(lines)


def _try(root: Path | None, file: Any, as_json: bool) -> int:
    from shakedown.queries import failures as failing

    known = failing.classifier(failing.own_classes(root))
    tried = failing.try_text(known, file)
    data: dict[str, Any] = {"failure": tried.failure.value(), "lines": [_plain_line(line) for line in tried.lines]}
    data |= {name: count for name, count in (("unlisted", tried.unlisted), ("unread", tried.unread)) if count}
    emit(data, as_json, lambda: fitted(printable(_render_tried(tried))))
    return MET


def _plain_line(line: Any) -> dict[str, Any]:
    found = [{"class": one.name, "weight": one.weight, "source": source} for one, source in line.found]
    return {"number": line.number, "line": line.line, "found": found}


def _render_tried(tried: TriedText) -> str:
    best = tried.failure
    lines = [
        best.name + (f", {best.family}" if best.family not in (best.name, "unknown") else ""),
        *_fact("line", best.line),
    ]
    ranked = sorted(tried.lines, key=lambda line: -line.found[0][0].weight)
    for line in ranked[:20]:
        said = ", ".join(f"{one.name} {one.weight}" for one, _ in line.found)
        lines += ["", f"line {line.number}: {said}", *_fact("line", line.line), *_fact("source", line.found[0][1])]
    if len(ranked) > 20:
        lines += ["", f"and {plural(len(ranked) - 20, 'line')} more that some class knows; --json has them all"]
    if tried.unlisted:
        lines += ["", f"and {tried.unlisted} lines more that some class may know; they are in no list"]
    if tried.unread:
        lines += ["", f"{tried.unread} bytes in the middle were not looked at, as of a run's output"]
    return "\n".join(lines)
