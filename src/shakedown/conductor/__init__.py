"""Driving a campaign. ``session`` is where to begin."""
