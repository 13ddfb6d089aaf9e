"""Feeds: what the records of a site say, sent to servers that a centre has. ``feed.Feed`` is the way in."""
