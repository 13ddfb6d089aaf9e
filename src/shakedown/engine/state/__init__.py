"""The state of a campaign, the indexed plan, and the words for what is wanted."""
