"""The record of a campaign: an append-only log of events, the lease of the one process that may append, the inbox of operators.

- ``writer``, ``opening``: append to the log; ``reader``, ``follower``, ``verification``: read it
- ``segments``, ``segment_file``, ``lines``, ``upcast``, ``damage``: the files and lines of the log
- ``lease``, ``identity``: which process drives a campaign; ``inbox``: what operators ask of the driver
- ``snapshots``: folded states, which can be deleted at any time; ``campaigns``: the directories of campaigns
"""
