"""Alerts: what people want to be woken for, gathered and sent to them. ``watchman.Watchman`` is the way in."""
