"""The dashboard for the data that ``shakedown feed influx`` sends, in InfluxQL."""

from __future__ import annotations

from shakedown.live.grafana.panels import NOT_PASSED, SAID_BY_PEOPLE, WIDE, Panel, Source, Variable

_CHOSEN = '$timeFilter AND "campaign" =~ /^$campaign$/'
_RUNS = f'{_CHOSEN} AND "test" =~ /$test/'
_BAD = "|".join(NOT_PASSED)
_SAID = "|".join(SAID_BY_PEOPLE)
_COLUMNS = '"campaign", "run", "case", "verdict", "failure", "attempt", "elapsed_s", "exit", "nodes", "reason"'
_LAST = "ORDER BY time DESC LIMIT 500"

INFLUX = Source(
    "influx",
    "influxdb",
    "What 'shakedown feed influx' sent: every event, every verdict, every figure. "
    "A run that was judged again has a point for each verdict.",
    (
        Variable("campaign", "Campaign", 'SHOW TAG VALUES FROM "shakedown_event" WITH KEY = "campaign"'),
        Variable("test", "Tests (a regular expression)"),
    ),
    (
        Panel(
            "Runs by verdict",
            "numbers",
            f'SELECT COUNT("run") FROM "shakedown_run" WHERE {_RUNS} GROUP BY "verdict"',
            "How many runs were judged so in the window.",
            width=WIDE,
            height=5,
        ),
        Panel(
            "Failures",
            "table",
            f'SELECT {_COLUMNS} FROM "shakedown_run" WHERE {_RUNS} AND "verdict" =~ /^({_BAD})$/ {_LAST}',
            "The last runs that did not pass.",
            width=WIDE,
        ),
        Panel(
            "Runs",
            "table",
            f'SELECT {_COLUMNS} FROM "shakedown_run" WHERE {_RUNS} {_LAST}',
            "The last runs that were judged.",
            width=WIDE,
        ),
        Panel(
            "Verdicts over time",
            "bars",
            f'SELECT COUNT("run") FROM "shakedown_run" WHERE {_RUNS} GROUP BY time($__interval), "verdict" fill(0)',
            "How many runs were judged so in each interval.",
            series=True,
        ),
        Panel(
            "Run times",
            "points",
            f'SELECT "elapsed_s" FROM "shakedown_run" WHERE {_RUNS} GROUP BY "test"',
            "How long runs took, by when they were judged.",
            unit="s",
            series=True,
        ),
        Panel(
            "Figures",
            "points",
            f'SELECT "value" FROM "shakedown_figure" WHERE {_RUNS} GROUP BY "case", "figure"',
            "Figures of merit, by when they were judged, in the units of their tests.",
            series=True,
        ),
        Panel(
            "What failures are put down to",
            "table",
            f'SELECT COUNT("run") FROM "shakedown_run" WHERE {_RUNS} AND "failure" =~ /./ GROUP BY "failure"',
            "Runs that did not pass, by class of failures as it was found.",
        ),
        Panel(
            "Events over time",
            "lines",
            f'SELECT COUNT("seq") FROM "shakedown_event" WHERE {_CHOSEN} GROUP BY time($__interval), "campaign" fill(0)',
            "A campaign without events stands still.",
            series=True,
        ),
        Panel(
            "Findings",
            "table",
            f'SELECT "campaign", "reason", "value" FROM "shakedown_event" WHERE {_CHOSEN} AND "event" = \'finding\' {_LAST}',
            "What was noticed of the machine and of the campaign.",
        ),
        Panel(
            "What people did and said",
            "table",
            f'SELECT "campaign", "event", "run", "reason", "value" FROM "shakedown_event" WHERE {_CHOSEN} '
            f'AND "event" =~ /^({_SAID})$/ {_LAST}',
            "Amendments, rulings, notes, waivers, pauses and the rest, each with who and why.",
            width=WIDE,
        ),
    ),
)
