"""The components of a plan: cases, criteria, budgets, filling, and lints."""
