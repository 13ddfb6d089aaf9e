"""The index of the campaigns of a site, in a database. Built from the logs and may be deleted. Entry point: ``index.Index``."""
