"""Alerts: collect the news that people want to know at once, and send it to them. ``watchman.Watchman`` is the main class."""
