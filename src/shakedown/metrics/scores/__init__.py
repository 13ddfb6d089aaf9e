"""Scores that combine several tests: their formulas, their inputs, and their results."""
