"""The sums of a campaign record, pure: rows (``table``), numbers (``statistics``, ``cases``) and judgement (``criteria``).

No files, no clock, no processes: events and the frozen document arrive as arguments.
"""
