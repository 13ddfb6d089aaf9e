"""Logged events into the state, one file a subject. ``evolve`` is the way in."""
