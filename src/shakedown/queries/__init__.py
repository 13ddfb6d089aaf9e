"""Read-only questions about a campaign: status, runs, failures, nodes."""
