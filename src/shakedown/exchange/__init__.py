"""Imported data: the job history of a machine, from its scheduler's accounting or from an archive."""
