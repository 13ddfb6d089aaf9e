"""The tests here work on copies of a campaign that was really run."""

from __future__ import annotations

from finished_campaign import finished, people, site

__all__ = ["finished", "people", "site"]
