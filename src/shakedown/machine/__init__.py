"""Describes machines as a System: this machine, from /sys and /proc; another machine, from an hwloc file (``lstopo.py``).

``observer.py`` asks commands and servers for numbers that narrow budgets; ``ask_server.py`` is the process that asks a server.
"""

from __future__ import annotations

from shakedown.machine.here import Machine, probe, this_system

__all__ = ["Machine", "probe", "this_system"]
