"""The acceptance document, made from the record alone: the same log gives the same bytes, anywhere.

- ``writing``: the way in, and what goes to disk; ``terminal``: the scorecard for 80 columns
- ``reading`` the campaign, ``gathering`` what ``outputs`` hold of ``pictures``, ``failures``: what the report is made from
- ``drawing``: how figures look; ``draw_times``, ``draw_machine`` and its parts: the figures; ``tables``: the CSV files
- ``page``, ``filters``, ``templates/``: the page; ``words``: times, numbers and untrusted text
"""

from shakedown.report.terminal import render_scorecard
from shakedown.report.writing import make_report, write_report

__all__ = ["make_report", "render_scorecard", "write_report"]
