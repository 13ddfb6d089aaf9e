"""Schedulers, one dialect a file, and what they share.

``local``       this machine's cores: a queue, binding, time limits, no daemon
``launch``      starting a job's process
``standby``     the shells of the next jobs, started ahead
``running``     one job while it lives
``leftovers``   jobs that ran without us: those of a conductor that died
``reports``     what is said of a job that ended
``script``      the exact shell script of a job
``workplace``   claims and work directories on disk
``capture``     one run's output while it comes
``packs``       many small outputs in one file, and reading any output back
``places``      the layout's paths, thousands a second
``cores``       which hardware threads make a core
"""
