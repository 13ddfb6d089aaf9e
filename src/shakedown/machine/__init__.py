"""The machine: what stands under us (/sys, /proc) as a System; ``lstopo.py`` reads what hwloc wrote of another.

``observer.py`` asks commands and servers for numbers that narrow budgets; ``ask_server.py`` is the process that asks a server.
"""

from __future__ import annotations

from shakedown.machine.here import Machine, probe, this_system

__all__ = ["Machine", "probe", "this_system"]
