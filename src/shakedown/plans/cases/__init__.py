"""A test on a system into its cases: parameters, builds, launch lines, work directories."""
