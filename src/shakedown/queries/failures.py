"""Failures: those of a campaign by class and by likeness, the known classes, and a trial of lines against them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import IO

from msgspec import Struct

from shakedown.checks.classify.catalogue import Classifier
from shakedown.checks.classify.likeness import likeness
from shakedown.checks.classify.lines import clean
from shakedown.checks.classify.reading import HEAD, TAIL, Scan
from shakedown.events.recorded_name import campaign_name
from shakedown.metrics.failures import FailureGroup, by_class, by_likeness
from shakedown.metrics.rows.frozen_rows import count_runs, selected
from shakedown.metrics.rows.table import Record
from shakedown.model.errors import ShakedownError, UsageError, did_you_mean
from shakedown.model.failures import UNCLASSIFIED, Failure, FailureClass
from shakedown.model.layout import Layout
from shakedown.model.nouns import Document
from shakedown.queries.folds import Folds
from shakedown.queries.run_view import show_run

_CHUNK = 1 << 20
_PLACEHOLDER = re.compile(r"(?:<(?:time|address|path|hex|node)>|#|<\w*$)+")
_LOOKED_AT = 5  # outputs
_FEWEST = 4  # characters in a row that a class's text needs


class FailuresSeen(Struct, frozen=True):
    """The failures of a campaign. ``judged``: how many runs have a verdict; ``unclassified``: groups by likeness; ``events``: the
    last event that was read.
    """

    campaign: str
    judged: int
    classes: tuple[FailureGroup, ...]
    unclassified: tuple[FailureGroup, ...]
    hints: dict[str, str]
    events: int = 0


class Tried(Struct, frozen=True):
    """One line of a text, its number, and every class that it may belong to, with the source of the class's text."""

    number: int
    line: str
    found: tuple[tuple[Failure, str], ...]


class TriedText(Struct, frozen=True):
    """The result for a text: the class that a run with this output would get, and each different line that a class matches.

    ``unlisted``: how many more lines may match. ``unread``: bytes in the middle that are not examined.
    """

    failure: Failure
    lines: tuple[Tried, ...]
    unlisted: int = 0
    unread: int = 0


def seen(layout: Layout, name: str = "", folds: Folds | None = None) -> FailuresSeen:
    """Purpose: the failure classes of a campaign's runs. ``name``: only this class, or this family of classes.

    ``folds``: those of the campaign, where kept ones may be used. Errors: UsageError where nothing has this name.
    """
    return (folds or Folds(layout)).checked(partial(_seen, layout, name))


def _seen(layout: Layout, name: str, record: Record) -> FailuresSeen:
    document = _document(layout, record.document)
    classes = classifier(document.failures if document else ()).classes
    failed = selected(record, lambda key: key.current and key.failed)
    rows = [row for row in failed if not row.was_taken_back]
    known = {row.cause for row in rows} | {row.cause_family for row in rows}
    known |= {one.name for one in classes} | {one.family for one in classes} | {UNCLASSIFIED}
    if name and name not in known:
        raise UsageError(
            f"there is no class '{name}'", did_you_mean(name, known) or "'shakedown failures --catalogue' has them"
        )
    chosen = [row for row in rows if name in ("", row.cause, row.cause_family)]
    tests = {case.id: case.test for case in document.cases} if document else {}
    return FailuresSeen(
        campaign_name(layout),
        count_runs(record),
        tuple(group for group in by_class(chosen, tests) if group.name != UNCLASSIFIED),
        tuple(by_likeness(chosen, tests)),
        {one.name: one.hint for one in classes},
        record.seq,
    )


def _document(layout: Layout, digest: str) -> Document | None:
    """The plan in force; None where the campaign has not begun."""
    from shakedown.events.campaigns import read_document
    from shakedown.model.frozen import thaw

    return thaw(read_document(layout, digest)) if digest else None


# ---- the catalogue -----------------------------------------------------------------------------------------------------


def classifier(own: Sequence[FailureClass]) -> Classifier:
    from shakedown.plans.failures import shipped_failures

    return Classifier(shipped_failures(), own)


def own_classes(site: Path | None) -> tuple[FailureClass, ...]:
    """Purpose: the classes of a site directory; () where there is no site. Raises FileProblems."""
    from shakedown.plans.failures import site_failures
    from shakedown.plans.finding import find_site
    from shakedown.plans.schema.problems import Problems
    from shakedown.plans.site import shown_from

    try:
        path = os.fspath(find_site(site))
    except UsageError:
        if site is not None:
            raise
        return ()
    problems = Problems()
    classes, _ = site_failures(path, problems)
    problems.stop(shown_from(path))
    return classes


def wrong_examples(known: Classifier, classes: Iterable[FailureClass]) -> list[str]:
    """Purpose: a sentence for each example that is not classified as its class says."""
    said = []
    for one in classes:
        for example in one.examples:
            found = known.best(clean(example))
            if found is None or found.name != one.name:
                said.append(
                    f"{one.place}: an example of {one.name} is classified as {found.name if found else 'nothing'}: {example}"
                )
        for example in one.unlike:
            found = known.best(clean(example))
            if found is not None and found.name == one.name:
                said.append(f"{one.place}: a line that is unlike {one.name} is classified as it: {example}")
    return said


def try_text(known: Classifier, stream: IO[bytes]) -> TriedText:
    """Purpose: classify a text line by line. As much of it is examined as of the output of a run."""
    head = stream.read(HEAD)
    tail, lines, unread = b"", 0, 0
    while chunk := stream.read(_CHUNK):
        tail += chunk
        left = tail[: max(0, len(tail) - TAIL)]
        lines, unread, tail = lines + left.count(b"\n"), unread + len(left), tail[len(left) :]
    scan = Scan(lambda: known, lists=True)
    if unread:
        scan.feed(head.decode("utf-8", "replace"))
        scan.feed(tail.decode("utf-8", "replace"), lines)
    else:
        scan.feed((head + tail).decode("utf-8", "replace"))
    tried = [
        Tried(number, found[0][0].line, tuple(found)) for number, line in scan.listed if (found := known.matches(line))
    ]
    return TriedText(scan.failure(), tuple(sorted(tried, key=lambda one: one.number)), scan.left_out, unread)


def stub(group: FailureGroup, campaign: str, layout: Layout | None = None) -> str:
    """Purpose: a class for a group of unclassified runs, as YAML to paste into failures/NAME.yaml of the site.

    Where no line says why they failed, it is made of the last line of an output. Raises UsageError where that says nothing either.
    """
    text, line, beside = text_of(group.key), group.line, ""
    if not _tells(text) and layout is not None:
        line, beside = _last_line(layout, group.runs), "  # the last line of its output: no line says why it failed"
        text = text_of(likeness(line))
    if not _tells(text):
        raise UsageError(
            f"the outputs of these {group.count} runs have no line that a class could be told by",
            "have the program print why it ends, such as 'ERROR: no licence'; 'shakedown note' puts runs down to a class by hand",
        )
    lines = [
        "failures:",
        "  - class: a-new-name",
        "    family: program-error  # what it is a kind of: 'shakedown schema failures' has them",
        "    about: What happened, in a sentence.",
        "    hint: What a person does next.",
        "    suspect: application  # or site, vendor, harness, machine",
        "    lines:",
        "      - weight: 70  # 1 to 100; the heaviest line of an output wins",
        f"        source: {_quoted(f'campaign {campaign}')}",
        f"        texts: [{_quoted(text)}]{beside}",
        f"    examples: [{_quoted(line)}]",
    ]
    return "\n".join(lines)


def _last_line(layout: Layout, runs: Sequence[str]) -> str:
    """The last line of the first of these outputs that can be read and has one that tells something."""
    for run in runs[:_LOOKED_AT]:
        try:
            output = show_run(layout, run).output
        except ShakedownError:
            continue
        for line in reversed(output.splitlines()):
            if _tells(text_of(likeness(clean(line)))):
                return clean(line)
    return ""


def text_of(key: str) -> str:
    """The common part of similar lines, as the text of a class: ``...`` stands for the parts that differ."""
    parts = [part.strip(" .") for part in _PLACEHOLDER.split(key)]
    kept = [part for part in parts if len(part) >= _FEWEST]
    return "...".join(kept) if kept else key


def _tells(text: str) -> bool:
    """Whether a file of classes may have this text."""
    return any(len(part.strip()) >= _FEWEST for part in _PLACEHOLDER.sub("...", text).split("..."))


def _quoted(text: str) -> str:
    """A text as a quoted YAML string; JSON strings are valid YAML."""
    return json.dumps(text, ensure_ascii=False)
