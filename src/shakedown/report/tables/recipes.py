"""How to recompute each number: what every table holds, and for each criterion which rows and which formula."""

from __future__ import annotations

from collections.abc import Iterator

from shakedown.metrics.judging.default_criteria import criteria_of
from shakedown.metrics.judging.scorecard import Scorecard
from shakedown.model.judging import Criterion
from shakedown.model.measures import measure_named
from shakedown.model.nouns import Document

TABLES = {
    "criteria.csv": "One line a criterion; how each is computed is in recipes.csv. measured, measured_before, bound and the "
    "interval are numbers in unit (share: 0.95 is 95%; none: a plain count); must and arithmetic say the same in words, with "
    "units of their own. count, which enough is held against, is of criteria per case that of the case with the fewest.",
    "criteria-by-case.csv": "Criteria per case, a line a case, measured in unit as in criteria.csv; the worst one is the "
    "criterion's.",
    "scores.csv": "One line a part of a score, with what it is computed from: value (of run; else by rule of values.csv), its load "
    "and baseline; result and score by formula.",
    "recipes.csv": "One line a criterion: the table, its rows and the formula that give what was measured.",
    "requirements.csv": "Everything that is asked for, by clause: criteria, contract rows, scores, procedures. margin: how far "
    "inside of its bound, as a share of the bound; in points of a share where points = yes; below 0 it is outside. Of two bounds "
    "it is the smaller of margin_to_lower and margin_to_upper. first_text: what the clause said when the campaign began, where an "
    "amendment by changed_by exchanged its words.",
    "ladders.csv": "One line a size of a ladder: state = holds, fails, spared or to come; value is the median of the ladder's "
    "figure over its runs; a size fails where it is worse than at the smallest size by more than within.",
    "components.csv": "One line a component, counted from runs.csv: attempts are the rows with counted = yes; passed the "
    "different results of a case and mode among these with good = yes.",
    "acts.csv": "One line an act of a person: what, when, as of when, why, who agreed, what it takes away; the outcome without it "
    "is computed from the log without the act's events.",
    "after-seal.csv": "One line a run, finding, act or seal that came after the seal to which every party agreed: none of them "
    "counts, and no other table holds them. Empty where the whole record is judged.",
    "restrictions.csv": "A line for each thing that the acceptance leaves out or takes as it is.",
    "issues.csv": "The issue ledger, open ones first: pauses by a cause, held queues, failed and excluded nodes, rulings, waivers, "
    "changed conditions. A ruling is closed when each of its cases passed again; a ticket is what the words name.",
    "deadlines.csv": "One line a component with a deadline: when it was to be over, when it was (the last of its results and "
    "attestations; empty while something is to come), by how many seconds too late; of one that is not over as of the last event. "
    "first is the first date that a plan gave it, late_of_first_s how late it was by that one.",
    "issues-by-month.csv": "Issues opened and closed by month (UTC), counted from issues.csv.",
    "contract-rows.csv": "One line a contract row. Of a row on each run: outside counts the values beyond low or high, "
    "among values.csv with counts = yes, the row's figure, cases and mode; of others measured is its statistic of these.",
    "unjudged-figures.csv": "Figures that no contract row asks about, and in which cases.",
    "cases.csv": "One line a case of a component, counted from runs.csv like components.csv.",
    "figures.csv": "One line a figure of a case in a mode: of values.csv with the same component, case, mode and figure and "
    "counts = yes the n, mean, sd (divisor n - 1), median, quartiles (type 7) and t interval; without outliers: outlier = no too.",
    "modes.csv": "Isolated, fill and vendor. worse = fill_mean / isolated_mean - 1, where higher is better 1 - fill_mean / "
    "isolated_mean; a mode's better_than_vendor the same against vendor (of a fill vendor_of_fill) with the other sign; "
    "vendor is the value that the row names, its only bound, or the middle of both; means as in figures.csv, and of a row "
    "on the median that median in the place of the mean.",
    "scaling.csv": "One line a size of a series: of values.csv with counts = yes the median of the figure. speed = work / median, "
    "of a rate the median; speedup = speed / that at the smallest size; ideal = size / smallest; efficiency = speedup / ideal.",
    "changes.csv": "One line a case that a criterion on a change looks at. before, after: means of logarithms without the highest "
    "and the lowest fifth, of failures the shares that failed; worse_by = after / before - 1, where higher is better 1 - after / "
    "before, of failures after - before; chance: Welch's t on these, of failures Fisher's exact test; corrected after Holm for the "
    "criterion's lines, times the number of such criteria. smallest: the bound.",
    "toolchains.csv": "Tests with several toolchains: for each a line on its runs, one for each pattern of files (bits: letter and "
    "runs; equal letters are equal sums of recorded.csv), one for each figure (times: median over that of the first toolchain, the "
    "other way round where lower is better).",
    "congestion.csv": "What a load on the network does to others: of values.csv with counts = yes the medians of a figure X "
    "(isolated) and of X_congested or congested_X (congested), and of the same with _p99. impact = congested / isolated, where "
    "higher is better isolated / congested.",
    "variation.csv": "Run times (elapsed): of values.csv with figure = elapsed and counts = yes the n, mean, sd and 100 sd / "
    "mean; and the same with outlier = no.",
    "rates.csv": "Attempts by component and test (empty: all of them) of runs.csv with counted = yes. before = good = yes / "
    "all; after = the same without rows with good = no and a ruling other than vendor. Intervals are Wilson's.",
    "verdicts-by-test.csv": "Attempts by component, test and verdict of runs.csv with counted = yes; share = count / attempts.",
    "failures-by-class.csv": "One line a class of failures: runs.csv with counted = yes, good = no and this failure_class; of "
    "unclassified ones a line for each likeness, which is the failure_line without its numbers, times, paths and nodes.",
    "utilisation.csv": "share = node_hours / of_node_hours. node_hours: the sum over the runs that the definition counts of "
    "nodes x hours inside the clock; of_node_hours = nodes x hours of the clock.",
    "time-spent.csv": "Where the node-hours went, a line a component and cause: each moment of each node that the plan "
    "can use is in one line, so node_microseconds add up to nodes x the time of the campaign; node_hours is that / 3.6e9. "
    "Worked: runs.csv, elapsed_s x nodes of verdict passed or performance.",
    "time-spent-over-time.csv": "The same by stretches of time and groups of causes.",
    "idle-while-pending.csv": "Each stretch in which nodes were idle while jobs that might start and are no wider waited at "
    "the scheduler, as far as the driver knew: nodes on average, the most jobs that waited.",
    "availability.csv": "Each number with its arithmetic and its formula; times in s. The period is the campaign; outages are "
    "those of outages.csv, node failures those of nodes-out.csv.",
    "outages.csv": "What people paused a component or stopped its clock for: maintenance is scheduled; machine, vendor and site "
    "are not. What overlaps is one outage.",
    "nodes-out.csv": "Each stretch in which a node was given no work. down: it failed under a run (failed = yes), or was down or "
    "drained at a look; until the record shows it at work, idle or let in; end_known = no: until the end of the campaign.",
    "node-availability.csv": "Each node that was down: availability = 1 - down_hours / of_hours, both without scheduled outages; "
    "repairs_hours: of failures whose end is known. Nodes that are in no line were never down.",
    "clocks.csv": "What was said of each component's clock, as of when, by time: start and restart begin at nothing.",
    "clock-spans.csv": "The stretches in which each clock ran, which all node-hours of the clock are cut to; maintenance = yes: "
    "announced maintenance.",
    "days.csv": "24-hour days from the beginning of a clock: share = delivered / (all_nodes x hours); of_clock = contractual / "
    "(nodes x clock_hours); ours_of_clock = ours / the same. Node-hours as in utilisation.csv, of that day.",
    "shares.csv": "One line a test of a mix, fillers last: share = node_hours / the sum of all that are no filler; node_hours of "
    "all counted runs while the clock ran, right_node_hours of those with verdict passed or performance; hole: see longest hole.",
    "node-use.csv": "One line a node: hours of the clock in which any run of ours held it, by nodes, started and elapsed_s of "
    "runs.csv.",
    "interrupts.csv": "mean_h = clock_h / interrupts; system: those within 60 s of the one before are the same. Intervals: exact "
    "(Poisson); without an interrupt the low end is clock_h / 3.0.",
    "failure-rates.csv": "Attempts with counted = yes and good = no, by verdict and by class; per_1000_node_hours = 1000 x count / "
    "node_hours (of all attempts, failed ones too). after: without those ruled other than vendor.",
    "loads.csv": "Each change of what runs took of a budget or target (BUDGET@TARGET) while they ran (load), of what more was "
    "asked for by runs that might start and waited (asked), and the limit that held then.",
    "observed.csv": "Each number that was recorded of a budget or target whose load is measured, by when it was asked for: it and "
    "what stands for all there is (full), in its own unit; what our running runs were charged with then (charged), what others "
    "took (others, smoothed where the plan says so) and the limit of the plan and of people, in the base unit. why: none came.",
    "standing-orders.csv": "What people, or the plan, said while it ran: pauses, clocks, caps, budgets, exclusions; "
    "and when windows of the plan were open, which have no event: the plan and the clock on the wall tell them.",
    "runs.csv": "One line a verdict. counted: in the component's count; good: passed or ended as expected; aside: why its "
    "figures do not count; result: which wanted result it is an attempt at; failure_class: what it is put down to, by "
    "classified_by where a person did; ticket_by attached the ticket.",
    "values.csv": "One line a value of a run. counts: it is in the summary of its figure; outlier: as found there.",
    "recorded.csv": "One line a pattern of files that a verdict recorded: the sha256 of what sha256sum prints of them, sorted.",
    "epochs.csv": "What opened each epoch.",
    "rulings.csv": "Every ruling; the last one on a run is in force.",
    "rejudged.csv": "Acts of judging again. examined = replaced + kept; kept verdicts stand, not_judged of them because their "
    "outputs could not be judged; the replaced ones are in runs.csv with superseded_by.",
    "waivers.csv": "What was accepted as it is.",
    "fingerprints.csv": "The machine as found, each time; groups are nodes with equal facts.",
    "procedures.csv": "What the plan asks people to do, what was attested, and the digests of the evidence.",
    "drills.csv": "One line a drill: from begun to until (its end and settle_s, at most until the component's time was up). lost: "
    "runs of runs.csv that were live in it and ended as failed, timeout, node_fail, interrupted or lost; hole_s: the longest time "
    "without a begin or a right end of one; level: nodes in use on average in settle_s before; "
    "back_s: until 95 % of that after the least.",
    "unavailable.csv": "Cases that this system cannot run; they are in no count.",
    "builds.csv": "Every build.",
    "notes.csv": "Findings, drivers, requests and the like, in the order of the log.",
    "sources.csv": "The files that the plan was made from.",
    "node-findings.csv": "Nodes that stand out among failed or slow runs. p: exact and one-sided, times the number of nodes and of "
    "questions; hits of count runs on the nodes, elsewhere of the same cases; runs of nodes found before are set aside.",
    "node-runs.csv": "One line a node, counted from runs.csv without superseded rows. failed of counted: passed, failed, "
    "incorrect, performance, timeout, node_fail, not ruled application, harness or excused; "
    "slowness: median of elapsed_s / usual time.",
    "nodes.csv": "The median of what each node sent and received, of each matrix.",
}
_OF_ANOTHER_PLAN = (
    "asked for by the plan that was judged by, which is not the one in force: an amendment has no effect yet"
)


def recipes(document: Document, scorecard: Scorecard) -> Iterator[tuple[str, str, str]]:
    """Purpose: (component, criterion, how to recompute its number) for each criterion of the scorecard."""
    asked = {
        (component.name, criterion.name): criterion
        for component in document.components
        for criterion in criteria_of(component)
    }
    for scored in scorecard.components:
        for score in scored.criteria:
            criterion = asked.get((scored.name, score.name))
            said = recipe(scored.name, criterion) if criterion is not None else _OF_ANOTHER_PLAN
            yield scored.name, score.name, said


def recipe(component: str, criterion: Criterion) -> str:
    """Purpose: the sentence on one criterion."""
    declared = measure_named(criterion.measure)
    if declared is None:
        return f"this version knows no measure named {criterion.measure}"
    names = {"component": component, "test": criterion.test, "mode": criterion.mode}
    narrow = [f"{key} = {value}" for key, value in names.items() if value]
    text = declared.recipe.format(
        rows=", ".join([*narrow, "counted = yes"]),
        values=", ".join([*narrow, f"figure = {criterion.of}", "counts = yes"]),
        row=f"component = {component}" + (f" and test = {criterion.test}" if criterion.test else ""),
        statistic=criterion.statistic,
        basis=criterion.basis or "contract",
        of=criterion.of,
        files=criterion.files,
        across=f" or of cases that differ in {', '.join(criterion.across)} alone" if criterion.across else "",
    )
    return text + "".join(_exceptions(criterion, declared.always_per_case))


def _exceptions(criterion: Criterion, per_case: bool) -> Iterator[str]:
    if criterion.epochs == "last":
        yield "; of the last epoch only"
    elif criterion.epochs.isdigit():
        yield f"; with epoch {criterion.epochs} or later"
    if criterion.leave_out:
        yield f"; without rows that are {' or '.join(criterion.leave_out)}"
    if criterion.per or per_case:
        yield f"; for each {criterion.per or 'case'} on its own, the worst one counts (criteria-by-case.csv)"
