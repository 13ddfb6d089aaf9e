"""Rehearsals: the conductor loop on a simulated machine in virtual time, and what limits a plan. Entry point: ``rehearse``."""
