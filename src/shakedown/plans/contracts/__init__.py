"""Contracts: their files, rows matched to cases, and what is frozen of them."""
