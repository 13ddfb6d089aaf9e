"""What ships with the package as data: tests, plans, systems, classes of failures."""
