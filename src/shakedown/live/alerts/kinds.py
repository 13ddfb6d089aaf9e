"""The kinds of news, and which of them are sent by default. Imports nothing, because the help of a command reads it."""

from __future__ import annotations

FAILURES, NODES, HOLES, DISK, CRITERIA, SILENT, DAMAGE, OUTCOME, ACT, FINDINGS = (
    "failures", "nodes", "holes", "disk", "criteria", "silent", "damage", "outcome", "acts", "findings",
)  # fmt: skip
TEST = "test"  # nothing happened: ``alert --test`` alone tells it
KINDS = {
    FAILURES: "a run that neither passed nor was cancelled",
    NODES: "a node excluded, left out or taken back",
    HOLES: "a test that fell out of its mix, jobs that wait beside idle nodes, a campaign that stood still",
    DISK: "a file system that is full, or has less than 5 % of room, and when it has room again",
    CRITERIA: "a criterion that is not met",
    SILENT: "a conductor that does not answer, or is gone, and when somebody drives again",
    DAMAGE: "a record that is not what was written, or a campaign that is gone",
    OUTCOME: "the end of a campaign, and how it came out",
    ACT: "what a person did: amend, change, rule, waive, exclude, cancel...",
    FINDINGS: "every other finding",
}
USUAL = (FAILURES, NODES, HOLES, DISK, CRITERIA, SILENT, DAMAGE, OUTCOME)
