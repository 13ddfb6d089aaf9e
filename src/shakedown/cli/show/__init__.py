"""What ``shakedown show`` prints: a plan, a system, a contract."""
