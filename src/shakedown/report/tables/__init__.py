"""The CSV tables of the report."""
