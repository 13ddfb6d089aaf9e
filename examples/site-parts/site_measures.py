from shakedown.metrics.judging.scorecard import Measured
from shakedown.model.measures import Measure


def first_time(criterion, population, context):
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
    reads="none",
)
