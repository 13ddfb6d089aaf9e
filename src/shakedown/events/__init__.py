"""The record: an append-only log of events, the lease that says who may append, the inbox for operators.

- ``writer``, ``opening``: append to the log; ``reader``, ``follower``, ``verification``: read it
- ``segments``, ``segment_file``, ``lines``, ``upcast``, ``damage``: the files and lines that it is made of
- ``lease``, ``identity``: who drives a campaign; ``inbox``: what operators ask of the driver
- ``snapshots``: folded states, disposable; ``campaigns``: the directories that all of this lies in
"""
