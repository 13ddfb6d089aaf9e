"""Find out why a run failed, from its output, the scheduler's messages and the exit status. Pure.

``lines`` takes a text apart, ``catalogue`` knows the classes, ``needed`` what a pattern needs, ``denials`` what is no cause,
``echoes`` what follows from a cause elsewhere, ``likeness`` makes unknown lines comparable, ``ending`` has what a verdict, a
signal or a scheduler's word means by itself, ``reading`` scans an output and names the most telling line.
"""
