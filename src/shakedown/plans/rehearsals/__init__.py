"""Scenario files: the machine that a rehearsal runs on."""
