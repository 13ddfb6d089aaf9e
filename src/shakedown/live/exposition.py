"""``/metrics``: the metrics for Prometheus, in its text format, version 0.0.4."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

_ABOUT = {
    "shakedown_runs": "Runs of a campaign by their state: a verdict, or where a run that is not judged is.",
    "shakedown_building": "Builds of a campaign that were ordered and are not over.",
    "shakedown_events_total": "Events in the record of a campaign.",
    "shakedown_epoch": "How often the plan or the machine changed, plus one.",
    "shakedown_last_event_seconds": "When the last event of a campaign was, in seconds since 1970.",
    "shakedown_over": "1 where a campaign is over.",
    "shakedown_damaged": "1 where the record of a campaign is not what was written.",
}


def exposition(campaigns: Iterable[dict[str, Any]]) -> str:
    """Purpose: the campaigns of ``Views.overview`` as metrics. All are gauges except the count of events."""
    samples: dict[str, list[str]] = {name: [] for name in _ABOUT}
    for row in campaigns:
        for name, more, value in _samples(row):
            labels = ",".join(f'{key}="{_label(text)}"' for key, text in {"campaign": row["name"], **more}.items())
            samples[name].append(f"{name}{{{labels}}} {value}")
    lines = []
    for name, found in samples.items():
        kind = "counter" if name.endswith("_total") else "gauge"
        lines += [f"# HELP {name} {_ABOUT[name]}", f"# TYPE {name} {kind}", *found]
    return "\n".join(lines) + "\n"


def _samples(row: dict[str, Any]) -> Iterator[tuple[str, dict[str, str], Any]]:
    for state, count in sorted(row["states"].items()):
        yield "shakedown_runs", {"state": state}, count
    yield "shakedown_building", {}, row["building"]
    yield "shakedown_events_total", {}, row["seq"]
    yield "shakedown_epoch", {}, row["epoch"]
    yield "shakedown_last_event_seconds", {}, row["last"]
    yield "shakedown_over", {}, int(row["ended"] is not None)
    yield "shakedown_damaged", {}, int(bool(row["damage"]))


def _label(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
