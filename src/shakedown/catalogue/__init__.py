"""What ships with the package as data: tests, systems, classes of failures."""
