"""Campaigns, epochs, toolchains, nodes against each other, and one figure over all campaigns: what moved, and by how much."""
