"""Folds events into plain rows. ``table.fold_runs`` is the way in."""
