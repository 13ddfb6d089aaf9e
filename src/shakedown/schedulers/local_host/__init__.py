"""The embedded scheduler of the machine that one stands on."""
