"""Audit: sealing a record, signing it, verifying it, judging kept outputs again."""
