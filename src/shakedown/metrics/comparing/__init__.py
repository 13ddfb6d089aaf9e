"""Comparisons of campaigns, epochs, toolchains and nodes, and of one figure over all campaigns: what changed, and by how much."""
