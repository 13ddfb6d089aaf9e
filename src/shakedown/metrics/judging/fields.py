"""The role of each field of a frozen plan in a settlement: ``ROLES``. A test fails if a field is in no table.

An amendment may change any field, so this table decides on each. ``differ`` compares two objects by the fields of a role.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from shakedown.model.filling import ClockTerms, Fill, Pack, Phase, Sweep, Window, Yield
from shakedown.model.nouns import (
    Build,
    Case,
    Cluster,
    Component,
    Document,
    Drill,
    Limits,
    Mode,
    NodeType,
    Partition,
    Patience,
    Procedure,
    Retry,
    Shape,
    System,
    Test,
)
from shakedown.model.observing import Observe
from shakedown.model.resources import Gpus, Resources

RUNS = "runs"  # what a run is and where it takes place: nobody knows how another run would have come out
STEERS = "steers"  # which runs come about and when: without this, other runs would have come about
ASKS = "asks"  # requirements, each weighed separately by asked_less, taken_away, harder, beyond or consent
FILLED = "filled in"  # copied into the cases and builds as far as it matters
WORDS = "words"  # for people: it affects no verdict and no run

ROLES: Mapping[type[Struct], Mapping[str, tuple[str, ...]]] = {
    Document: {
        ASKS: (
            "system",
            "components",
            "cases",
            "tests",
            "builds",
            "contracts",
            "parties",
            "scores",
            "consent",
            "record_environment",
            "issues",
            "baselines",  # each criterion on a baseline has the baseline's digest
        ),
        STEERS: ("limits", "seed"),
        WORDS: ("plan", "about", "sources", "schema", "failures", "unavailable", "ad_hoc"),
    },
    System: {
        ASKS: ("clusters", "node_types", "fingerprint"),
        STEERS: ("budgets", "targeted", "licence_names"),
        FILLED: ("filesystems", "toolchains"),
        WORDS: ("name", "about", "network", "found", "budget_units"),
    },
    Cluster: {
        RUNS: ("scheduler", "options"),
        STEERS: ("licences", "most_jobs", "patience"),
        ASKS: ("name", "partitions"),
    },
    Patience: {STEERS: ("poll_s", "grace_s", "lost_after_s", "no_answer_s", "dead_after_s")},
    Partition: {
        RUNS: ("type", "options"),
        STEERS: ("time_limit_s", "most_nodes"),
        ASKS: ("name", "cluster", "nodes", "count"),
    },
    NodeType: {
        RUNS: ("sockets", "cores", "threads_per_core", "numa", "memory_bytes", "features", "gpus"),
        FILLED: (
            "peak_flop_per_s",
            "last_level_cache_bytes",
            "clock_hz",
            "flops_per_cycle",
            "fast_memory_bytes",
            "memory_bandwidth_bytes_per_s",
        ),
        ASKS: ("name",),
        WORDS: ("cpu",),
    },
    Gpus: {RUNS: ("count", "model", "memory_bytes", "numa")},
    Case: {
        RUNS: (
            "partition",
            "toolchain",
            "parameters",
            "script",
            "environment",
            "build",
            "files",
            "work",
            "targets",
            "stage",
            "container",
        ),
        STEERS: ("loads",),
        ASKS: ("id", "test", "shape", "unavailable", "expect", "rows", "sides", "checks", "figures", "needs"),
        WORDS: ("because",),
    },
    Shape: {
        RUNS: ("nodes", "tasks_per_node", "cpus_per_task", "units", "exclusive", "resources"),
        ASKS: ("time_limit_s", "requeue"),
    },
    Resources: {
        RUNS: (
            "gpus_per_node",
            "gpus_per_task",
            "constraint",
            "memory_bytes",
            "memory_per_cpu_bytes",
            "reservation",
            "licences",
            "options",
            "directives",
        )
    },
    Build: {
        STEERS: ("time_limit_s", "where", "partition", "cpus"),
        ASKS: ("key",),
        FILLED: ("script", "environment"),  # into the key, as the content of the source is
        WORDS: ("name", "source"),
    },
    Test: {ASKS: ("name", "checks", "figures", "scaling"), WORDS: ("about", "draws", "tags", "path")},
    Component: {
        STEERS: (
            "limits",
            "fill",
            "fillers",
            "windows",
            "yields",
            "phases",
            "mix",
            "stop_after",
            "sweep",
            "pack",
            "ladder",
            "set_up",
            "clean_up",
            "drills",
        ),
        ASKS: (
            "name",
            "cases",
            "repeats",
            "after",
            "criteria",
            "retry",
            "modes",
            "procedures",
            "gate",
            "duration_s",
            "clock",
            "deadline",
        ),
        WORDS: ("kind", "about"),
    },
    Retry: {ASKS: ("verdict", "times"), STEERS: ("backoff_s",)},
    Mode: {ASKS: ("name", "repeats", "warm_up", "copies", "overlap")},
    Drill: {
        STEERS: ("at_s", "case"),
        ASKS: ("name", "evidence", "settle_s", "lost", "hole_s", "back_s"),
        WORDS: ("about", "who", "clause", "written"),
    },
    Procedure: {ASKS: ("name", "about", "evidence"), WORDS: ("who", "clause")},
    Limits: {STEERS: ("copies", "budgets", "queued", "builds", "stagger_s", "exclude_after", "observed")},
    Observe: {
        STEERS: (
            "budget",
            "source",
            "query",
            "url",
            "database",
            "means",
            "full",
            "every_s",
            "within_s",
            "smooth_s",
            "smooth_by",
            "oldest_s",
            "when_silent",
        ),
        WORDS: ("token_file",),
    },
    Fill: {STEERS: ("target", "queue_ahead_s", "survive_s", "ramp_s", "drain")},
    Window: {STEERS: ("from_s", "to_s", "zone", "budgets", "copies", "closed"), WORDS: ("text",)},
    Yield: {STEERS: ("clusters", "pending", "until", "budgets", "copies", "closed")},
    ClockTerms: {ASKS: ("start", "causes", "ramp", "drain")},
    Phase: {STEERS: ("name", "duration_s")},
    Sweep: {STEERS: ("queued", "rounds", "wait_s")},
    Pack: {STEERS: ("runs", "at_once", "allocations")},
}

# Further fields that steer a component that runs for a time: it fills its time with its cases, and wants no number of results. Not
# included: "repeats" and "modes", which it does not use; "duration_s", "clock" and "deadline", which move its end (late_orders, the
# clock) and no run before it; "gate" and "after" (held_back); "expect", checks, figures and rows, which judge completed runs.
TIMED: Mapping[type[Struct], tuple[str, ...]] = {
    Component: ("cases",),
    Case: ("unavailable",),
    Shape: ("time_limit_s", "requeue"),
    Retry: ("times",),
    Partition: ("nodes", "count"),
}


def differ(old: Struct, new: Struct, role: str) -> tuple[str, ...]:
    """Purpose: the fields of a role in which two objects of one type differ."""
    return tuple(name for name in ROLES[type(old)].get(role, ()) if getattr(old, name) != getattr(new, name))
