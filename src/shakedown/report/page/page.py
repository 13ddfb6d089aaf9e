"""The page itself: the values that the template receives. The template engine escapes everything of unknown origin.

``render_page`` is the table of contents; the text and the order of the sections are in ``templates/report.html``.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shakedown import __version__
from shakedown.diagnosis.findings import FALSE_FINDINGS
from shakedown.metrics.cases import CaseSummary
from shakedown.metrics.issues import SEVERITIES, by_month
from shakedown.metrics.judging import floors
from shakedown.metrics.judging.contract import ROW_RULES
from shakedown.metrics.judging.drills import every_drill
from shakedown.metrics.judging.populations import RULES, counts_as_passed
from shakedown.metrics.judging.scorecard import NOT_KNOWN, Scorecard
from shakedown.metrics.requirements import requirements
from shakedown.metrics.rows.table import Record
from shakedown.metrics.scores.results import SCORE_RULES, factor_words, needs_words, over_words
from shakedown.metrics.time_spent import GROUPS, Stretch, causes_in_words
from shakedown.metrics.utilisation import DEFINITIONS
from shakedown.metrics.words import plural, show_number, show_score, show_share, show_value
from shakedown.model.build_names import names_of_builds
from shakedown.model.nouns import Procedure
from shakedown.model.units import show_duration
from shakedown.report.after_seal import came_after
from shakedown.report.evidence import Evidence
from shakedown.report.failures import failures_by_class, find_failures
from shakedown.report.figures.pairs import NodeMedian, is_time
from shakedown.report.figures.registry import Pictures
from shakedown.report.figures.time_axis import span_text
from shakedown.report.page.cover import parties, what_is_missing
from shakedown.report.page.first_pages import MOST, first_pages
from shakedown.report.page.settled_block import framed
from shakedown.report.page.site_templates import digests, render, style_sheet
from shakedown.report.page.together import keep_together
from shakedown.report.page.what_is_signed import what_is_signed
from shakedown.report.reading import CampaignRead
from shakedown.report.tables.recipes import TABLES, recipes
from shakedown.report.terminal import standing_words

ROWS_LIMIT = 100  # of tables that may grow without bound; the CSV files hold everything
NODES_LIMIT = 8
ISSUES_LEAST = 12  # that are shown; closed ones may be hundreds, for each failed node is one
WORST_LIMIT = 12  # nodes, besides those that were found
_NOTABLE = ("finding", "stop_request", "cancel_request", "command_refused")


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over the components. ``bad`` are attempts that neither passed nor ended as expected."""

    wanted: int
    passed: int
    attempts: int
    bad: int
    expected: int


@dataclass(frozen=True, slots=True)
class CaseLine:
    """A case as a table shows it: its summary, how its other attempts ended, and the two shares of its bar in per cent."""

    summary: CaseSummary
    others: str
    good_share: str
    bad_share: str

    def __getattr__(self, name: str) -> Any:
        return getattr(self.summary, name)


def render_page(
    campaign: CampaignRead,
    evidence: Evidence,
    pictures: Pictures,
    templates: Path | None = None,
    signatures: list[tuple[str, str]] | None = None,
) -> bytes:
    """Purpose: report.html. ``templates``: the site's own, where it has any; the outcome then comes before their content.

    ``signatures``: shown instead of all signatures that exist.
    """
    from markupsafe import Markup

    facts = page_facts(campaign, evidence, pictures)
    facts |= {} if signatures is None else {"signatures": signatures}
    facts |= {"css": Markup(style_sheet(templates)), "site_templates": digests(templates)}
    page = keep_together(render(templates, facts))
    return (framed(page, facts) if facts["site_templates"] else page).encode("utf-8", "backslashreplace")


def page_facts(campaign: CampaignRead, evidence: Evidence, pictures: Pictures) -> dict[str, Any]:
    """Purpose: everything that a template may use; docs/guides/report.md lists it."""
    record, scorecard, document, cases = evidence.record, evidence.scorecard, evidence.document, evidence.cases
    failures, failures_left = find_failures(campaign, cases)
    facts: dict[str, Any] = {
        "plan_digest": record.document or campaign.digest, "record_digest": campaign.record_digest,
        "document": document, "record": record, "scorecard": scorecard, "evidence": evidence, "pictures": pictures,
        "missing": what_is_missing(evidence),
        "parties": parties(document), "totals": _totals(scorecard), "span": span_text(record.started, record.last),
        "duration": _duration(record), "by_component": _by_component(scorecard, cases), "outliers": _outliers(cases),
        "notes": scorecard.remarks, "failures": failures, "failures_left": failures_left,
        "slow_nodes": _slow(pictures.nodes), "builds": _builds(evidence), "drivers": record.of_kind("driver_start"),
        "amendments": record.of_kind("amended"), "events_of_note": record.of_kind(*_NOTABLE),
        "superseded": _superseded(record), "waits": _waits(record), "rules": _rules(scorecard),
        "failure_classes": failures_by_class(cases), "definitions": DEFINITIONS, "floors": floors.DEFINITIONS,
        "orders": evidence.orders, "acts": scorecard.acts_judged, "standing_words": standing_words, "not_known": NOT_KNOWN,
        "recipes": list(recipes(document, scorecard)), "tables": TABLES,
        "factor_words": factor_words, "needs_words": needs_words, "over_words": over_words,
        "show_value": show_value, "show_score": show_score,
        "show_number": show_number, "show_share": show_share,
        "requirements": requirements(document, record, scorecard),
        "issues": evidence.issues, "months": by_month(evidence.issues), "severities": SEVERITIES,
        "ledger_limit": _issues_shown(evidence),
        "groups": GROUPS, "causes": causes_in_words(document, evidence.spent) if evidence.spent else (),
        "longest_pending": _longest_pending(evidence),
        "procedures": _procedures(evidence), "drills": every_drill(evidence.document, evidence.record),
        "limit": ROWS_LIMIT, "version": __version__,
    }  # fmt: skip
    facts["signatures"] = signatures_on_page(campaign)
    facts |= first_pages(document, scorecard)
    facts["signed"] = what_is_signed(
        record, campaign.record_digest, facts["plan_digest"], scorecard.outcome, MOST.seals, scorecard.after_seal
    )
    facts |= {"after_seal": scorecard.after_seal, "came_after": came_after(evidence)}
    facts |= {"worst_nodes": evidence.nodes.worst(WORST_LIMIT), "false_findings": FALSE_FINDINGS}
    facts["contents"] = _contents(facts)
    return facts


def _contents(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """The sections that this report has."""
    evidence, pictures, record = facts["evidence"], facts["pictures"], facts["record"]
    people = len(record.epochs) > 1 or record.rulings or record.waivers
    parts: list[tuple[str, str, Any]] = [
        ("restrictions", "To sign", True),
        ("requirements", "Requirements, by clause", any(one.clause for one in facts["requirements"])),
        ("scorecard", "Scorecard", True),
        ("scores", "Scores", facts["scorecard"].scores),
        ("acts", "What people did", facts["acts"]),
        ("after-seal", "After the joint seal", facts["after_seal"]),
        ("issues", "Issue ledger", evidence.issues),
        ("contract", "Contract", facts["scorecard"].contract),
        ("components", "Components", True),
        ("performance", "Isolated, fill and vendor", evidence.sides),
        ("scaling", "Scaling", evidence.scaling),
        ("toolchains", "Toolchains", evidence.toolchains),
        ("congestion", "Congestion", evidence.congestion),
        ("changes", "Changes since", evidence.changes),
        ("runs", "Runs by test", evidence.counts),
        ("times", "Run times", pictures.times or evidence.variation),
        ("stability", "Stability", evidence.stability),
        ("utilisation", "Utilisation", evidence.utilisation),
        ("time", "Where the time went", evidence.spent),
        ("failures", "What did not pass", True),
        ("nodes", "Nodes", evidence.nodes.several or bool(evidence.nodes.left_out)),
        ("people", "Epochs and rulings", people),
        ("procedures", "Procedures", facts["procedures"]),
        ("drills", "Drills", facts["drills"]),
        ("machine", "The machine", pictures.machine or pictures.troubles),
        ("unavailable", "Unavailable cases", facts["scorecard"].unavailable),
        ("system", "System", True),
        ("plan", "Plan and builds", True),
        ("record", "Record", True),
        ("recompute", "Compute again", True),
    ]
    return [(anchor, title) for anchor, title, there in parts if there]


def _rules(scorecard: Scorecard) -> list[str]:
    """How this campaign is counted, in sentences."""
    return [*RULES, *ROW_RULES, *(SCORE_RULES if scorecard.scores else ())]


def _issues_shown(evidence: Evidence) -> int:
    """How many issues the table shows: all open ones up to a limit, and closed ones where few are open."""
    return min(ROWS_LIMIT, max(ISSUES_LEAST, sum(one.state == "open" for one in evidence.issues)))


def _longest_pending(evidence: Evidence) -> Stretch | None:
    pending = evidence.spent.pending if evidence.spent else ()
    return max(pending, key=lambda one: (one.end - one.begin, -one.begin), default=None)


def _procedures(evidence: Evidence) -> list[tuple[str, Procedure, Any]]:
    """Each procedure of the plan with its component and its attestation, or None."""
    said = evidence.record.attestations
    return [
        (c.name, item, said.get((c.name, item.name))) for c in evidence.document.components for item in c.procedures
    ]


def _totals(scorecard: Scorecard) -> Totals:
    parts = scorecard.components
    passed = sum(dict(part.verdicts).get("passed", 0) for part in parts)
    attempts, expected = sum(part.attempts for part in parts), sum(part.as_expected for part in parts)
    wanted = sum(part.wanted for part in parts)
    return Totals(wanted, sum(part.passed for part in parts), attempts, attempts - passed - expected, expected)


def _duration(record: Record) -> str:
    return "–" if record.started is None else show_duration(max(0.0, record.last - record.started))


def _by_component(scorecard: Scorecard, cases: tuple[CaseSummary, ...]) -> dict[str, list[CaseLine]]:
    lines: dict[str, list[CaseLine]] = {component.name: [] for component in scorecard.components}
    for case in cases:
        lines[case.component].append(_line(case))
    return lines


def _line(case: CaseSummary) -> CaseLine:
    others = [f"{count} {verdict}" for verdict, count in case.verdicts if verdict != "passed"]
    if case.attempts > case.judged:
        others.insert(0, plural(case.attempts, "attempt"))
    fine = sum(counts_as_passed(row, case.case) for row in case.rows)
    whole = max(case.attempts, case.wanted, 1)
    shares = [f"{100 * count / whole:.2f}" for count in (fine, case.attempts - fine)]
    return CaseLine(case, ", ".join(others), *shares)


def _outliers(cases: tuple[CaseSummary, ...]) -> list[tuple[CaseSummary, Any, Any]]:
    found = [(case, figure, outlier) for case in cases for figure in case.figures for outlier in figure.outliers]
    return sorted(found, key=lambda item: (-abs(item[2].score), item[2].run))


def _slow(nodes: list[NodeMedian]) -> list[NodeMedian]:
    """The slowest nodes of matrices with enough nodes to call one slow."""
    several = [node for node in nodes if node.many]
    return sorted(several, key=lambda node: (_slowness(node), node.case, node.node))[:NODES_LIMIT]


def _slowness(node: NodeMedian) -> float:
    return -node.score if is_time(node.unit) else node.score


def signatures_on_page(campaign: CampaignRead) -> list[tuple[str, str]]:
    """Purpose: (words, digest of the seal) for each signature: the signer, the key and the party."""
    from shakedown.conductor.record.settling import parties_of_seals
    from shakedown.conductor.record.signing import signed_for
    from shakedown.events.signatures import signatures_of
    from shakedown.report.page.signature import signature_words

    found = signatures_of(campaign.layout, [row.digest for row in campaign.record.seals])
    parties = parties_of_seals(campaign.layout, {one.digest for one in found})
    sides = {digest: signed_for(mine, found) for digest, mine in parties.items()}
    return [(signature_words(one, sides[one.digest].get(one.file, "")), one.digest) for one in found]


def _builds(evidence: Evidence) -> list[tuple[str, Any, str]]:
    """Every build with its name and how many cases use it."""
    names = names_of_builds(evidence.document.builds, evidence.document.cases)
    uses = Counter(case.build for case in evidence.document.cases)
    return [(names.get(key, key[:16]), row, plural(uses[key], "case")) for key, row in evidence.record.builds.items()]


def _superseded(record: Record) -> list[tuple[Any, Any]]:
    by_seq = {row.seq: row for row in record.runs}
    return [(row, by_seq[row.superseded_by]) for row in record.runs if row.superseded_by]


def _waits(record: Record) -> list[tuple[str, int]]:
    """The ten most frequent reasons why runs waited, with counts. A note without a key says that nothing holds them any more."""
    counted = Counter(note.reason for note in record.of_kind("waiting") if note.reason and note.value.get("key"))
    return sorted(counted.items(), key=lambda item: (-item[1], item[0]))[:10]
