"""The figures of the report, one file each. ``registry`` lists them."""
