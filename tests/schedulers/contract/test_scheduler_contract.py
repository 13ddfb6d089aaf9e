"""The contract of a scheduler port, held by each dialect: this machine, Slurm on played commands, and a site's package."""

from __future__ import annotations

import pytest
from contract_fixtures import MakeBench
from scheduler_bench import BENCHES
from scheduler_contract import CONTRACT

TRIED = [(name, kind) for name, one in CONTRACT.items() for kind, bench in BENCHES.items() if one.fits(bench)]


@pytest.mark.parametrize(("name", "kind"), TRIED)
def test_the_contract_holds(name: str, kind: str, make_bench: MakeBench) -> None:
    CONTRACT[name].tried(make_bench(BENCHES[kind]))


def test_what_a_dialect_need_not_hold_is_little() -> None:
    """A bench that says of everything that its dialect cannot do it would pass."""
    held = {kind: sum(one == kind for _, one in TRIED) for kind in BENCHES}
    assert held == {"local": 13, "slurm": len(CONTRACT) - 1, "spool": len(CONTRACT) - 1}
