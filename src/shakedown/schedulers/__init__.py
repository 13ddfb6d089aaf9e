"""Schedulers: one package for each dialect, and what they share.

``local_host``: Shakedown's own scheduler for one machine. ``slurm``: Slurm. ``cluster``: what all batch schedulers share: job
scripts, marks, targets.

``claims``: claims and work directories on disk. ``directories``: the layout's paths as text, thousands a second. ``linked_inputs``
and ``copied_inputs``: input files of runs. ``made_directories``: directories inside a campaign's. ``output_archive``: many small
outputs in one file, and reading any output back. ``output_sums``: sums of outputs and marks.
"""
