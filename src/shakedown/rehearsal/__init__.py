"""The one loop on a simulated machine in virtual time, and what limits a plan. ``rehearse`` is the way in."""
