"""Feeds: send the events of a site's records to servers of the centre. ``feed.Feed`` is the main class."""
