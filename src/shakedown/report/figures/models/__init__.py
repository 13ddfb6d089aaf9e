"""Figures of the models of ``shakedown twin``."""
