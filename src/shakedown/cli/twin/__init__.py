"""``shakedown twin``: one model a file."""
