"""Why a run failed, by what was said: lines of an output, words of the scheduler, the exit status. Pure.

``lines`` takes a text apart, ``catalogue`` knows the classes, ``likeness`` makes unknown lines comparable, ``ending`` has what a
verdict, a signal or a scheduler's word means by itself, ``reading`` scans an output and names the most telling line.
"""
