"""Starts of a job that did nothing: the word in its marks, and why."""

from __future__ import annotations

VOID = {
    "over": "an earlier start of its job had come to its own end; Slurm started it again, and that start did nothing",
    "before": "the job that it was to follow left no end mark and may still run; it was started all the same, and did nothing",
}
