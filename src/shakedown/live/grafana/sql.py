"""The dashboard of the index in PostgreSQL (``shakedown serve --index postgresql://...``), in SQL."""

from __future__ import annotations

from shakedown.live.grafana.panels import SAID_BY_PEOPLE, WIDE, Panel, Source, Variable

_CAMPAIGN = "c.name IN ($campaign)"
_RUNS = f"{_CAMPAIGN} AND t.text ~ ${{test:sqlstring}}"
_OF_RUNS = """FROM runs r JOIN campaigns c ON c.id = r.campaign JOIN names t ON t.id = r.test JOIN names s ON s.id = r.state
  JOIN names k ON k.id = r."case" JOIN names n ON n.id = r.nodes JOIN names f ON f.id = r.failure JOIN names w ON w.id = r.reason"""
_STREAM = f"""SELECT to_timestamp(r.at) AS "last change", c.name AS campaign, r.run, k.text AS "case", s.text AS state,
  f.text AS "put down to", r.ruling AS ruled, r.ticket, r.attempt, to_timestamp(r.started) AS began, r.elapsed AS seconds,
  r.exit, n.text AS nodes, w.text AS reason {_OF_RUNS}
  WHERE {_RUNS} AND $__timeFilter(to_timestamp(r.at))"""
_LAST = "ORDER BY r.at DESC LIMIT 500"
_SAID = ", ".join(f"'{kind}'" for kind in SAID_BY_PEOPLE)
_OF_NOTES = f"""SELECT to_timestamp(o.time) AS "when", c.name AS campaign, k.text AS what, o.says, o.run
  FROM notes o JOIN campaigns c ON c.id = o.campaign JOIN names k ON k.id = o.kind
  WHERE {_CAMPAIGN} AND $__timeFilter(to_timestamp(o.time))"""

SQL = Source(
    "sql",
    "grafana-postgresql-datasource",
    "The index that 'shakedown serve --index postgresql://...' keeps: every campaign with its runs, live ones "
    "too, figures and notes.",
    (
        Variable("campaign", "Campaign", "SELECT name FROM campaigns ORDER BY last DESC"),
        Variable("test", "Tests (a regular expression)"),
    ),
    (
        Panel(
            "Campaigns",
            "table",
            f"""SELECT c.name AS campaign, c.plan, to_timestamp(c.started) AS began, to_timestamp(c.last) AS "last event",
  to_timestamp(c.ended) AS over, c.seq AS events, c.epoch, c.building, c.damage AS damaged, c.rehearsal
  FROM campaigns c WHERE {_CAMPAIGN} ORDER BY c.last DESC""",
            "As of the last event that the index has read of each.",
            width=WIDE,
            height=6,
        ),
        Panel(
            "Runs by state",
            "numbers",
            f"SELECT s.text AS state, count(*) AS runs {_OF_RUNS} WHERE {_RUNS} GROUP BY s.text ORDER BY 2 DESC",
            "Runs by verdict, or by where a run that is not judged is.",
            width=WIDE,
            height=5,
        ),
        Panel("Failures", "table", f"{_STREAM} AND r.bad = 1 {_LAST}", "The last runs that did not pass.", width=WIDE),
        Panel("Runs", "table", f"{_STREAM} {_LAST}", "The last runs that changed.", width=WIDE),
        Panel(
            "Verdicts over time",
            "bars",
            f"""SELECT to_timestamp(m.minute * 60) AS "time", s.text AS metric, sum(m.count) AS runs
  FROM minutes m JOIN campaigns c ON c.id = m.campaign JOIN names t ON t.id = m.test JOIN names s ON s.id = m.state
  WHERE {_RUNS} AND $__timeFilter(to_timestamp(m.minute * 60)) GROUP BY 1, 2 ORDER BY 1""",
            "Runs by the minute of their last change.",
            series=True,
        ),
        Panel(
            "Run times",
            "points",
            f"""SELECT to_timestamp(r.started) AS "time", t.text AS metric, r.elapsed AS seconds {_OF_RUNS}
  WHERE {_RUNS} AND r.elapsed IS NOT NULL AND $__timeFilter(to_timestamp(r.started)) ORDER BY 1""",
            "How long runs took, by when they began.",
            unit="s",
            series=True,
        ),
        Panel(
            "Figures",
            "points",
            f"""SELECT to_timestamp(r.started) AS "time", k.text || ': ' || g.text AS metric, v.value {_OF_RUNS}
  JOIN figures v ON v.campaign = r.campaign AND v.run = r.run JOIN names g ON g.id = v.figure
  WHERE {_RUNS} AND $__timeFilter(to_timestamp(r.started)) ORDER BY 1""",
            "Figures of merit, by when their runs began, in the units of their tests.",
            series=True,
        ),
        Panel(
            "What failures are put down to",
            "table",
            f"""SELECT f.text AS "put down to", count(*) AS runs {_OF_RUNS}
  WHERE {_RUNS} AND r.bad = 1 GROUP BY f.text ORDER BY 2 DESC""",
            "Runs that did not pass by class of failures, as a person said before all.",
        ),
        Panel(
            "Copies of each test",
            "table",
            f"""SELECT t.text AS test, count(*) AS running {_OF_RUNS}
  WHERE {_RUNS} AND s.text = 'running' GROUP BY t.text ORDER BY 2 DESC""",
            "Runs that are under way.",
        ),
        Panel(
            "Findings",
            "table",
            f"{_OF_NOTES} AND k.text LIKE 'finding:%' ORDER BY o.time DESC LIMIT 500",
            "What was noticed of the machine and of the campaign.",
            width=WIDE,
        ),
        Panel(
            "What people did and said",
            "table",
            f"{_OF_NOTES} AND k.text IN ({_SAID}) ORDER BY o.time DESC LIMIT 500",
            "Amendments, rulings, notes, waivers, pauses and the rest, each with why.",
            width=WIDE,
        ),
    ),
)
