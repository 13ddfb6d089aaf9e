"""Views of running campaigns: the index that is kept up to date, the pages that are served from it, and feeds to other servers.

``indexing.Indexer`` updates the index; ``server.application`` serves it. Nothing here controls a campaign.
"""
