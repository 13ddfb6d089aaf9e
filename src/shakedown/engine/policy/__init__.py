"""What to order next, and why not: the mix, sweeps, packs, held jobs, recovery. ``decide`` is the way in."""
