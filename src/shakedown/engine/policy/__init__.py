"""What to order next, and why the rest waits: the mix, sweeps, packs, held jobs, recovery. ``decide`` is where to begin."""
