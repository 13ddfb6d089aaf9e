"""The loop and what it needs: the conductor, its ports, start-up, gates, shutdown."""
