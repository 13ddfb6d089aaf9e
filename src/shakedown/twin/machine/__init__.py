"""The simulated machine: nodes, jobs, accidents, and a scheduler that lies as real ones do."""
