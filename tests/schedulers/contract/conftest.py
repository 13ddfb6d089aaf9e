"""Benches for the contract of scheduler ports."""

from __future__ import annotations

from contract_fixtures import make_bench, spool_package

__all__ = ["make_bench", "spool_package"]
