"""The page: its cover, its signatures, its templates, and the PDF."""
