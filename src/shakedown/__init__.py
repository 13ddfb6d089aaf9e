"""Shakedown takes a supercomputer from "the hardware is in" to "accepted, with a report both sides can sign"."""

__version__ = "0.14.0"
