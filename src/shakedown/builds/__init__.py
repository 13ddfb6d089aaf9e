"""Building what runs need.

``builder``      carries builds out on this machine, each as a process
``job_builder``  carries builds out on a cluster, each in a job of its own
``choosing``     one builder that uses both
``sharing``      one look at the scheduler for runs and builds
``telling``      the line of a log that says why a build failed
"""
