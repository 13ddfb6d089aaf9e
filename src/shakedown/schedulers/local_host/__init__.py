"""Shakedown's own scheduler, for the machine that it runs on."""
