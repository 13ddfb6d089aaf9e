"""Building what runs need.

``builder``      carries builds out here, each as a process
``job_builder``  carries builds out in a cluster's jobs, each in one of its own
``choosing``     one builder for both kinds
``sharing``      one look at the scheduler for runs and builds
``telling``      the line of a log that says why a build failed
"""
