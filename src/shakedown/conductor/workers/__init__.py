"""Worker processes that turn outputs into evidence."""
