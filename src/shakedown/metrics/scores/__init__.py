"""Scores that join several tests: their formulas, their inputs, and what comes out."""
