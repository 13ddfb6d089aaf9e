"""The figures of the report, one file each. ``registry`` says which there are."""
