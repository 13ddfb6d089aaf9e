"""Building what runs need.

``builder``   carries builds out, each as a process
``telling``   the line of a log that says why a build failed
"""
