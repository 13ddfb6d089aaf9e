"""Starts of a job that did nothing: the word in its marks, and why; and why a payload was not run."""

from __future__ import annotations

VOID = {
    "over": "an earlier start of its job had come to its own end; Slurm started it again, and that start did nothing",
    "before": "the job that it was to follow left no end mark and may still run; it was started all the same, and did nothing",
}

# Of a job that waited while its campaign was moved: what the scheduler was told of its directory leads nowhere.
MOVED = "its campaign was moved from {place} while it waited, so it could not begin there; no node is at fault"

# Of a job, or one of its runs, whose script found something else in the file of its payload than the name says.
PAYLOAD_CHANGED = "its payload in payloads/ is not what its name says: somebody changed it, so it was not run"

# Of a job whose script found no token, or another one, in the campaign.
TOKEN_CHANGED = "the file token of the campaign was removed or changed while it is driven, and is put right"
