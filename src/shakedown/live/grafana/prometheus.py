"""The dashboard for the metrics of ``shakedown serve`` at ``/metrics``, in PromQL."""

from __future__ import annotations

from shakedown.live.grafana.panels import NOT_PASSED, WIDE, Panel, Source, Variable

_CHOSEN = 'campaign=~"$campaign"'
_BAD = "|".join(NOT_PASSED)
_OVER = f"shakedown_over{{{_CHOSEN}}} == 1"

PROMETHEUS = Source(
    "prometheus",
    "prometheus",
    "What 'shakedown serve' has at /metrics: counts of each campaign as they are.",
    (Variable("campaign", "Campaign", "label_values(shakedown_events_total, campaign)"),),
    (
        Panel(
            "Runs by state",
            "numbers",
            f"sum by (state) (shakedown_runs{{{_CHOSEN}}})",
            "Runs by verdict, or by where a run that is not judged is.",
            legend="{{state}}",
            width=WIDE,
            height=5,
        ),
        Panel(
            "Runs by state over time",
            "lines",
            f"sum by (state) (shakedown_runs{{{_CHOSEN}}})",
            "The same over time.",
            series=True,
            legend="{{state}}",
        ),
        Panel(
            "Not passed",
            "lines",
            f'sum by (campaign) (shakedown_runs{{{_CHOSEN},state=~"{_BAD}"}})',
            "Runs that did not pass, as 'shakedown failures' counts them.",
            series=True,
            legend="{{campaign}}",
        ),
        Panel(
            "Building",
            "lines",
            f"shakedown_building{{{_CHOSEN}}}",
            "Builds that were ordered and are not over.",
            series=True,
            legend="{{campaign}}",
        ),
        Panel(
            "Events in a minute",
            "lines",
            f"60 * rate(shakedown_events_total{{{_CHOSEN}}}[5m])",
            "A campaign without events stands still.",
            series=True,
            legend="{{campaign}}",
        ),
        Panel(
            "Age of the last event",
            "lines",
            f"(time() - shakedown_last_event_seconds{{{_CHOSEN}}}) unless on (campaign) ({_OVER})",
            "Of campaigns that are not over.",
            unit="s",
            series=True,
            legend="{{campaign}}",
        ),
        Panel(
            "Over",
            "numbers",
            f"shakedown_over{{{_CHOSEN}}}",
            "1 where a campaign is over.",
            legend="{{campaign}}",
            height=5,
        ),
        Panel(
            "Damaged",
            "numbers",
            f"shakedown_damaged{{{_CHOSEN}}}",
            "1 where the record of a campaign is not what was written: no number of it stands without that word.",
            legend="{{campaign}}",
            height=5,
        ),
        Panel(
            "Epoch",
            "numbers",
            f"shakedown_epoch{{{_CHOSEN}}}",
            "How often the plan or the machine changed, plus one.",
            legend="{{campaign}}",
            height=5,
        ),
    ),
)
