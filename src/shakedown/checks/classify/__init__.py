"""Why a run failed, by what was said: lines of an output, words of the scheduler, the exit status. Pure.

``lines`` takes a text apart, ``catalogue`` knows the classes, ``needed`` what a pattern needs, ``denials`` what is no cause,
``echoes`` what follows from a cause elsewhere, ``likeness`` makes unknown lines comparable, ``ending`` has what a verdict, a
signal or a scheduler's word means by itself, ``reading`` scans an output and names the most telling line.
"""
