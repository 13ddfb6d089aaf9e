"""Slurm: commands and parsing are pure, one runner executes them, two processes may hang with it, one port speaks for all."""

from shakedown.schedulers.slurm.port import SlurmScheduler

__all__ = ["SlurmScheduler"]
