"""Criteria, measures and contract rows against the rows of a campaign. ``criteria.score`` is the way in."""
