"""Looking at a campaign without driving it: status, runs, failures, nodes."""
