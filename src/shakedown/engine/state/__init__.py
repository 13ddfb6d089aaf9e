"""The state of a campaign, the indexed plan, and the names of what is wanted."""
