"""The CSV files on the judgement: contract rows, modes, rates, utilisation, epochs, rulings, procedures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from shakedown.metrics.judging.drills import every_drill
from shakedown.metrics.judging.scorecard import Scorecard
from shakedown.metrics.rows.table import Record
from shakedown.metrics.statistics import Interval, Summary
from shakedown.metrics.utilisation import DEFINITIONS
from shakedown.model.contracts import where_text
from shakedown.model.nouns import Document
from shakedown.report.after_seal import AFTER_SEAL, after_rows
from shakedown.report.evidence import Evidence
from shakedown.report.failures import failures_by_class
from shakedown.report.tables.csv_files import Cell, to_csv
from shakedown.report.tables.recipes import recipes

Rows = Iterable[Sequence[Cell]]


def judging_tables(evidence: Evidence) -> dict[str, bytes]:
    """Purpose: the tables by their file names."""
    document, record, scorecard = evidence.document, evidence.record, evidence.scorecard
    return {
        "recipes.csv": to_csv(("component", "criterion", "computed_from"), recipes(document, scorecard)),
        "acts.csv": to_csv(_ACTS, _acts(scorecard)),
        "after-seal.csv": to_csv(AFTER_SEAL, after_rows(evidence)),
        "restrictions.csv": to_csv(("restriction",), ((text,) for text in scorecard.restrictions)),
        "contract-rows.csv": to_csv(_CONTRACT, _contract_rows(scorecard)),
        "unjudged-figures.csv": to_csv(("test", "figure", "unit", "values", "cases"), _unjudged(scorecard)),
        "modes.csv": to_csv(_MODES, _modes(evidence)),
        "variation.csv": to_csv(_VARIATION, _variation(evidence)),
        "rates.csv": to_csv(_RATES, _rates(evidence)),
        "verdicts-by-test.csv": to_csv(_VERDICTS, _verdicts(evidence)),
        "failures-by-class.csv": to_csv(_FAILURES, _failures(evidence)),
        "utilisation.csv": to_csv(_UTILISATION, _utilisation(evidence)),
        "recorded.csv": to_csv(_RECORDED, _recorded(document, record)),
        "epochs.csv": to_csv(("epoch", "opened_by", "time", "by", "because", "difference", "event"), _epochs(record)),
        "rulings.csv": to_csv(("run", "as", "by", "because", "time", "event", "in_force"), _rulings(record)),
        "rejudged.csv": to_csv(_REJUDGED, _rejudged(record)),
        "waivers.csv": to_csv(_WAIVERS, _waivers(record)),
        "fingerprints.csv": to_csv(_FINGERPRINTS, _fingerprints(record)),
        "procedures.csv": to_csv(_PROCEDURES, _procedures(document, record)),
        "drills.csv": to_csv(_DRILLS, _drills(document, record)),
    }


_RECORDED = ("run", "component", "case", "partition", "parameters", "pattern", "files", "sum", "event", "superseded_by")
_CONTRACT = (
    "row", "contract", "test", "where", "figure", "must", "unit", "low", "high", "strict", "basis", "clause", "statistic",
    "mode", "outcome", "measured", "values", "outside", "to_come", "worst_run", "arithmetic", "reason", "cases", "overridden",
    "waived", "restriction", "waived_by", "written_in",
)  # fmt: skip
_MODES = (
    "component", "case", "figure", "unit", "better", "isolated_n", "isolated_mean", "isolated_sd", "isolated_low_95",
    "isolated_high_95", "fill_n", "fill_mean", "fill_sd", "fill_low_95", "fill_high_95", "fill_worst", "worse",
    "worst_copy_worse", "copies_at_once", "copies_required", "not_counted", "vendor", "isolated_better_than_vendor",
    "vendor_of_fill", "fill_better_than_vendor", "measured_n", "measured_mean", "measured_better_than_vendor", "rows",
)  # fmt: skip
_VARIATION = (
    "component", "test", "case", "mode", "n", "mean_s", "sd_s", "sd_percent", "outliers", "n_without", "mean_without_s",
    "sd_without_s", "sd_percent_without",
)  # fmt: skip
_RATES = (
    "component", "test", "attempts", "good", "before", "before_low_95", "before_high_95", "attempts_after", "after",
    "after_low_95", "after_high_95", "ruled",
)  # fmt: skip
_VERDICTS = ("component", "test", "verdict", "count", "attempts", "share", "low_95", "high_95")
_FAILURES = ("class", "family", "likeness", "runs", "tests", "nodes", "verdicts", "first", "last", "line")
_UTILISATION = (
    "component", "name", "share", "node_hours", "of_node_hours", "nodes", "hours", "runs", "runs_of_unknown_times",
    "definition",
)  # fmt: skip
_ACTS = (
    "event", "kind", "what", "component", "by", "party", "said", "as_of", "backdated", "because", "standing", "agreed",
    "missing", "withdrawn_by", "takes", "without", "difference", "digest",
)  # fmt: skip
_REJUDGED = ("by", "because", "examined", "replaced", "kept", "not_judged", "document", "time", "event")
_WAIVERS = ("what", "component", "name", "restriction", "by", "because", "time", "event")
_FINGERPRINTS = (
    "time", "epoch", "changed", "digest", "groups", "between_nodes", "since_last", "unanswered", "facts_file", "event",
)  # fmt: skip
_DRILLS = (
    "component", "drill", "about", "who", "clause", "at_s", "settle_s", "begun", "ended", "until", "backdated", "run", "lost_runs",
    "lost", "hole_s", "hole_before_s", "level", "lowest", "back_s", "evidence", "why",
)  # fmt: skip
_PROCEDURES = (
    "component", "procedure", "about", "who", "clause", "evidence_required", "attested", "met", "by", "because", "time",
    "evidence", "event",
)  # fmt: skip


def _acts(scorecard: Scorecard) -> Rows:
    for act in scorecard.acts_judged:
        yield (
            act.number, act.kind, act.what, act.component, act.by, act.party, act.said, act.as_of, act.backdated, act.because,
            act.standing, "; ".join(act.agreed), " ".join(act.missing), act.withdrawn_by or None, "; ".join(act.takes),
            act.without, "; ".join(act.difference), act.digest,
        )  # fmt: skip


def _rejudged(record: Record) -> Rows:
    for row in record.rejudged:
        counts = (row.examined, row.replaced, row.kept, row.not_judged)
        yield row.by, row.reason, *counts, row.document, row.time, row.seq


def _recorded(document: Document, record: Record) -> Iterable[Sequence[Cell]]:
    cases = {case.id: case for case in document.cases}
    for row in record.runs:
        case = cases.get(row.case)
        parameters = " ".join(f"{name}={value}" for name, value in case.parameters) if case else ""
        for pattern, one in row.recorded.items():
            mine = (row.run, row.component, row.case, case.partition if case else "", parameters, pattern, one.count)
            yield *mine, one.sum, row.seq, row.superseded_by or None


def _contract_rows(scorecard: Scorecard) -> Rows:
    for score in scorecard.contract.rows if scorecard.contract else ():
        row = score.row
        yield (
            row.name, row.contract, row.test, where_text(row), row.figure, row.must, row.unit, row.low, row.high,
            row.strict, row.basis, row.clause, row.statistic, row.mode, score.outcome, score.measured, score.count,
            score.outside, score.to_come, score.worst_run, score.arithmetic, score.reason, " ".join(score.cases),
            " ".join(score.overridden), score.waived, score.waiver, score.waived_by, row.place,
        )  # fmt: skip


def _unjudged(scorecard: Scorecard) -> Rows:
    for figure in scorecard.contract.figures if scorecard.contract else ():
        yield figure.test, figure.figure, figure.unit, figure.count, " ".join(figure.cases)


def _modes(evidence: Evidence) -> Rows:
    for side in evidence.sides:
        alone, fill, plain, slower = side.numbers("isolated"), side.numbers("fill"), side.numbers(""), side.slowdown
        rows = "; ".join(f"{row.name} {row.basis} {row.must}" for row in side.rows)
        shares = (slower.share, slower.slowest_share) if slower else (None, None)
        copies = (slower.achieved, slower.required, slower.aside) if slower else (None, None, None)
        yield (
            side.component, side.case, side.figure.name, side.figure.unit, side.figure.better, *_mean(alone),
            *_mean(fill), slower.slowest if slower else None, *shares, *copies, side.vendor("isolated" if alone else ""),
            side.better("isolated"), side.vendor("fill"), side.better("fill"), plain.count if plain else None,
            plain.mean if plain else None, side.better(""), rows,
        )  # fmt: skip


def _mean(numbers: Summary | None) -> Sequence[Cell]:
    if numbers is None:
        return (None,) * 5
    return numbers.count, numbers.mean, numbers.sd, *(numbers.interval or (None, None))


def _variation(evidence: Evidence) -> Rows:
    for case, figure in evidence.variation:
        name = (case.component, case.case.test, case.case.id, figure.mode)
        outliers = " ".join(outlier.run for outlier in figure.outliers)
        yield *name, *_spread(figure.summary), outliers, *_spread(figure.without_outliers)


def _spread(numbers: Summary | None) -> Sequence[Cell]:
    if numbers is None:
        return (None,) * 4
    return numbers.count, numbers.mean, numbers.sd, None if numbers.spread is None else 100 * numbers.spread


def _rates(evidence: Evidence) -> Rows:
    for one in evidence.rates:
        before, after = one.passed_before, one.passed_after
        ruled = " ".join(f"{party}={count}" for party, count in one.ruled)
        yield (
            one.component, one.test, one.attempts, before.hits, before.share, *_ends(before.interval), after.count,
            after.share, *_ends(after.interval), ruled,
        )  # fmt: skip


def _verdicts(evidence: Evidence) -> Rows:
    for one in evidence.rates:
        for verdict, rate in one.verdicts:
            yield one.component, one.test, verdict, rate.hits, rate.count, rate.share, *_ends(rate.interval)


def _failures(evidence: Evidence) -> Rows:
    for one in failures_by_class(evidence.cases):
        counted = (
            " ".join(f"{name}={count}" for name, count in pairs) for pairs in (one.tests, one.nodes, one.verdicts)
        )
        yield one.name, one.family, one.key, one.count, *counted, one.first, one.last, one.line


def _ends(interval: Interval | None) -> tuple[float | None, float | None]:
    return interval or (None, None)


def _utilisation(evidence: Evidence) -> Rows:
    for one in evidence.utilisation:
        yield (
            one.component, one.name, one.share, one.node_hours, one.of_node_hours, one.nodes, one.hours, one.runs,
            one.untimed, DEFINITIONS[one.name],
        )  # fmt: skip


def _epochs(record: Record) -> Rows:
    for one in record.epochs:
        yield one.number, one.opened_by, one.time, one.by, one.reason, "; ".join(one.difference), one.seq


def _rulings(record: Record) -> Rows:
    last = {row.run: row.seq for row in record.rulings}
    for row in record.rulings:
        yield row.run, row.party or "none", row.by, row.reason, row.time, row.seq, last[row.run] == row.seq


def _waivers(record: Record) -> Rows:
    for row in record.waivers:
        yield row.what, row.component, row.name, row.restriction, row.by, row.reason, row.time, row.seq


def _fingerprints(record: Record) -> Rows:
    for row in record.fingerprints:
        groups = "; ".join(f"{nodes} {digest}" for nodes, digest in row.groups)
        texts = ["; ".join(lines) for lines in (row.between_nodes, row.since_last, row.unanswered)]
        yield row.time, row.epoch, row.changed, row.digest, groups, *texts, row.facts_file, row.seq


def _drills(document: Document, record: Record) -> Rows:
    for score in every_drill(document, record):
        drill, done = score.drill, not score.why
        files = "; ".join(f"{name} {digest}" for word in score.words for name, digest in word.evidence)
        yield (
            score.component, drill.name, drill.about, drill.who, drill.clause, drill.at_s, drill.settle_s, score.begun, score.ended,
            score.until, score.backdated, score.run, "; ".join(score.lost), len(score.lost) if done else None,
            score.hole_s if done else None, score.hole_before_s if done else None, score.level if done else None,
            score.lowest if done else None, score.back_s, files, score.why,
        )  # fmt: skip


def _procedures(document: Document, record: Record) -> Rows:
    for component in document.components:
        for item in component.procedures:
            said = record.attestations.get((component.name, item.name))
            asked = (component.name, item.name, item.about, item.who, item.clause, item.evidence)
            if said is None:
                yield *asked, False, None, "", "", None, "", None
            else:
                files = "; ".join(f"{name} {digest}" for name, digest in said.evidence)
                yield *asked, True, said.met, said.by, said.reason, said.time, files, said.seq
