"""Slurm. Commands and parsing are pure; one runner runs the commands; two helper processes do what may hang; one port uses them
all.
"""

from shakedown.schedulers.slurm.port import SlurmScheduler

__all__ = ["SlurmScheduler"]
