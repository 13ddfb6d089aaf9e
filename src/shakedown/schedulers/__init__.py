"""Schedulers, one dialect a file, and what they share.

``local``       this machine's cores: a queue, binding, time limits, no daemon
``running``     one job of it while it lives
``script``      the exact shell script of a job
``workplace``   claims and work directories on disk
``capture``     one run's output while it comes
``packs``       many small outputs in one file, and reading any output back
``cores``       which hardware threads make a core
"""
