"""Driving a campaign: ``session`` is the way in."""
