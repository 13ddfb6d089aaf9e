"""Audit: seal and sign a record, verify it, and judge kept outputs again."""
