"""Compares kept outputs with their verdicts: figures and checks are evaluated again, and must give the same result.

Each verdict is compared by the plan that it was given by. Outputs that were not kept or cannot be read are counted and
reported. Files that a run left in its directory are no part of the record: where a test looks at such files, a difference is
reported as a remark, not as damage.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from msgspec import Struct

from shakedown.audit.rejudge import FROM_OUTPUT, Act, Judged, judge_again, read_verdicts
from shakedown.checks.trim import TRIMMED
from shakedown.events.campaigns import read_document
from shakedown.events.seal_check import Damage
from shakedown.metrics.words import plural
from shakedown.model.checks import is_of_exit_status
from shakedown.model.events import Event
from shakedown.model.frozen import thaw
from shakedown.model.layout import Layout
from shakedown.model.nouns import Document, Test
from shakedown.schedulers.output_sums import damage_of_output, has_grown, has_sum, missing_marks

_ACT = Act("verify", "held against its kept output")


class Held(Struct):
    """The result of the comparison. ``same``: number of verdicts that are the same again; ``unread``: reason why verdicts could
    not be evaluated -> their number.
    """

    same: int = 0
    damage: Damage | None = None
    remarks: list[str] = []
    unread: dict[str, int] = {}


def hold_outputs(layout: Layout, events: Iterable[Event], sealed: Mapping[str, int] | None = None) -> Held:
    """Purpose: evaluate every kept output again and compare. Changes nothing. ``sealed``: pack -> number of its bytes that the
    newest seal covers.

    Errors: RecordError where a frozen plan cannot be read.
    """
    found, unread = Held(), Counter[str]()
    sizes, ends = _pack_sizes(layout), Counter[str]()  # later bytes have events that are not read here
    judged = read_verdicts(_noting_ends(events, ends))
    found.damage = _changed(layout, judged)
    if found.damage is not None:
        return found
    found.remarks = _remarks(layout, judged) + _behind(sizes, ends, sealed or {})
    for digest, mine in _by_plan(judged).items():
        document = thaw(read_document(layout, digest))
        different = 0
        for event in _judged_again(mine, document, layout):
            different += 1
            _hold(found, unread, mine.verdicts[event.run], event, document)
        found.same += sum(old.value.get("verdict") in FROM_OUTPUT for old in mine.verdicts.values()) - different
    found.unread = dict(unread)
    return found


def _changed(layout: Layout, judged: Judged) -> Damage | None:
    """The first output, or mark of a job, that has changed since its run was judged; None where there is none."""
    for run, old in judged.verdicts.items():
        damage = damage_of_output(layout.root, old.value.get("output") or {})
        if damage is not None:
            return Damage(damage.path, f"{run}: {damage}", event=old.seq)
    return None


def _remarks(layout: Layout, judged: Judged) -> list[str]:
    """Sentences on everything that no sum protects: outputs without a sum, the middle of large outputs, bytes that were added
    after a run was judged, and missing marks.
    """
    outputs = [old.value.get("output") or {} for old in judged.verdicts.values()]
    bare = sum(not has_sum(output) for output in outputs)
    large = sum("ends" in output for output in outputs)
    grown = sum(has_grown(layout.root, output) for output in outputs)
    said = []
    if bare:
        why = "nobody read them to judge their runs, or an older version did; without a seal a change of them is not found"
        said.append(f"{plural(bare, 'kept output')} without a sum: {why}")
    if large:
        said.append(
            f"{plural(large, 'large output')}: their length, beginning and end have sums, what lies between has none"
        )
    if grown:
        said.append(
            f"{plural(grown, 'output')} longer than when the run was judged: what came later is no part of the record"
        )
    return said + _marks_gone(layout, outputs)


def _marks_gone(layout: Layout, outputs: Sequence[Mapping[str, Any]]) -> list[str]:
    """A sentence on the runs whose claim or marks are missing, from which their exit status and run time were read; [] where all
    are there.
    """
    marked = [output for output in outputs if output.get("marks")]
    gone = [paths for output in marked if (paths := missing_marks(layout.root, output))]
    if not gone:
        return []
    where = f"such as {gone[0][0]}" if layout.jobs.exists() else "all of jobs/ is"
    what = f"claims or marks of {len(gone)} of {plural(len(marked), 'run')} of a cluster gone ({where})"
    return [f"{what}: what they said of its exit status and run time stands in the log alone"]


def _pack_sizes(layout: Layout) -> dict[str, int]:
    sizes = {}
    for path in sorted(layout.packs.glob("*")):
        with suppress(OSError):
            sizes[path.name] = path.stat().st_size
    return sizes


def _noting_ends(events: Iterable[Event], ends: Counter[str]) -> Iterator[Event]:
    """Pass the events through unchanged; fills ``ends``: pack -> offset at which the last output that an event points to ends."""
    for event in events:
        output = event.value.get("output")
        if isinstance(output, dict) and isinstance(output.get("pack"), str):
            with suppress(TypeError, ValueError):
                end = int(output.get("offset", 0)) + int(output.get("bytes", 0))
                ends[output["pack"]] = max(ends[output["pack"]], end)
        yield event


def _behind(sizes: Mapping[str, int], ends: Mapping[str, int], sealed: Mapping[str, int]) -> list[str]:
    """Sentences on bytes in packs after their last outputs: a driver that died leaves such bytes, or somebody added them."""
    said = []
    for name, size in sizes.items():
        known = max(ends.get(name, 0), sealed.get(name, 0))
        behind = min(size, known if name in sealed else size) - ends.get(name, 0)
        if behind > 0:
            lie = "lies" if behind == 1 else "lie"
            said.append(
                f"{plural(behind, 'byte')} {lie} behind the last output in packs/{name}, and no verdict points to them"
            )
        if name in sealed and size > known:
            were = "was" if size - known == 1 else "were"
            said.append(
                f"{plural(size - known, 'byte')} {were} added to packs/{name} after it was sealed, under no seal"
            )
    return said


def _by_plan(judged: Judged) -> dict[str, Judged]:
    """The verdicts, grouped by the plan that each was given by: the plan in force then, or the plan of a later judging."""
    parts: dict[str, Judged] = {}
    for run, event in judged.verdicts.items():
        again = event.value.get("rejudged")
        said = str(again.get("document", "")) if isinstance(again, dict) else ""
        digest = said or judged.first_by.get(run, "") or judged.document
        part = parts.setdefault(digest, replace(judged, verdicts={}, document=digest))
        part.verdicts[run] = event
    return parts


def _judged_again(judged: Judged, document: Document, layout: Layout) -> list[Event]:
    from shakedown.conductor.workers.collector import WorkerCollector
    from shakedown.processes.reactor import Reactor

    reactor = Reactor()
    collector = WorkerCollector(layout, reactor, failures=lambda: document.failures)
    try:
        wait = lambda: reactor.wait(reactor.now() + 1.0)  # noqa: E731 - news wakes it
        return list(judge_again(judged, document, layout, collector, _ACT, wait=wait))
    finally:
        collector.close()
        reactor.close()


def _hold(found: Held, unread: Counter[str], old: Event, new: Event, document: Document) -> None:
    """Add the comparison of an old event with its new judgement to ``found`` and ``unread``."""
    if new.event == "finding":
        unread[new.reason.partition(" keeps its verdict: ")[2]] += 1
        return
    differs = _difference(old, new)
    if not differs:  # wording and class of failure may differ between versions
        found.same += 1
        return
    undecided = [check for check in new.value.get("checks", []) if check[1] is None]
    if undecided:
        unread[f"'{undecided[0][0]}' could not be decided: {undecided[0][2]}"] += 1
        return
    sentence = f"{old.run} (event {old.seq}) {differs}"
    tests = {case.id: case.test for case in document.cases}
    test = next((test for test in document.tests if test.name == tests.get(old.case)), None)
    if test is not None and _looks_at_files(test):
        found.remarks.append(f"{sentence}; its test looks at files in work/ too, which are no part of the record")
    elif found.damage is None:
        path = _place(old.value.get("output") or {})
        found.damage = Damage(path, f"the kept output and the verdict do not agree: {sentence}")


def _place(output: dict[str, Any]) -> str:
    return f"packs/{output['pack']}" if "pack" in output else str(output.get("file", "log"))


def _difference(old: Event, new: Event) -> str:
    """How figures, checks or the verdict differ, as a sentence; "" where they are equal."""
    if new.value.get("verdict") != old.value.get("verdict"):
        return f"was judged '{old.value.get('verdict')}' and comes out '{new.value.get('verdict')}'"
    before, now = old.value.get("figures", {}), new.value.get("figures", {})
    for name in sorted({*before, *now}):
        if before.get(name) != now.get(name):
            return f"has {name} = {before.get(name)} in the log, and {now.get(name)} comes out of its output"
    if TRIMMED in old.value.get("problems", []):  # left-out checks cannot be compared; figures are never left out
        return ""
    held = {check[0]: check[1] for check in old.value.get("checks", [])}
    for check in new.value.get("checks", []):
        if check[0] in held and held[check[0]] != check[1]:
            return f"has '{check[0]}' {_word(held[check[0]])} in the log, and its output says: {_word(check[1])}"
    return ""


def _word(held: bool | None) -> str:
    return "undecided" if held is None else "held" if held else "not held"


def _looks_at_files(test: Test) -> bool:
    subjects = [check.subject for check in test.checks if not is_of_exit_status(check)]
    return any(subject != "output" for subject in [*subjects, *(figure.source for figure in test.figures)])
