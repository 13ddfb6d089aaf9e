from shakedown.metrics.judging.populations import Population
from shakedown.metrics.judging.scope import MeasureContext
from shakedown.metrics.judging.scorecard import Measured
from shakedown.model.judging import Criterion
from shakedown.model.measures import Measure


def first_time(criterion: Criterion, population: Population, context: MeasureContext) -> Measured:
    """The share of first attempts that passed."""
    rows = [row for row in population.rows if row.attempt == 1]
    if not rows:
        return Measured(None, 0, "", reason="nothing is judged yet")
    hits = sum(row.verdict == "passed" for row in rows)
    text = f"{hits} first attempts passed / {len(rows)} = {hits / len(rows):.0%}"
    coming = population.to_come
    low, high = hits / (len(rows) + coming), (hits + coming) / (len(rows) + coming)
    return Measured(hits / len(rows), len(rows), text, low, high)


FIRST_TIME = Measure(
    "first attempts passed",
    "first attempts that passed, of all first attempts",
    "site_measures:first_time",
    "runs.csv, rows with {rows} and attempt = 1: those with verdict = passed / all",
    keys=("test", "per", "epochs"),
    per=("case",),
    share_of_runs=True,
    sees_failures=True,
    reads="none",
)
