"""Folding logged events into the state, one file for each subject. ``evolve`` is where to begin."""
