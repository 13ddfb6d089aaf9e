"""Campaigns looked at while they run: the index kept up to date, the pages that are served from it, and feeds to other servers.

``indexing.Indexer`` brings the index up to date; ``server.application`` serves it. Nothing here steers a campaign.
"""
