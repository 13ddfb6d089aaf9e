"""All kernels, built once for all workers of a run, with the strictest warnings: what the compiler says is kept beside them."""

from __future__ import annotations

from pathlib import Path

import pytest
from once import made_once

from shakedown.kernels import build_kernels, find_mpicc

STRICT = "-Wall -Wextra -Wshadow -Wvla -Wno-unused-command-line-argument"


def built_kernels(factory: pytest.TempPathFactory) -> Path:
    """Purpose: the directory of their programs, and of ``warnings``, which is empty where the compiler has none."""
    return made_once(factory, "kernels", _build)


def _build(place: Path) -> None:
    wrapper = place / "mpicc"
    wrapper.write_text(
        f'#!/bin/sh\ncase " $* " in *" /dev/null "*) exec {find_mpicc()} "$@" ;; esac\n'  # it is asked which flags it knows
        f'{find_mpicc()} "$@" {STRICT} 2>{place}/said.$$\nstatus=$?\ntee -a {place}/warnings <{place}/said.$$ >&2\n'
        f"rm {place}/said.$$\nexit $status\n"
    )
    wrapper.chmod(0o755)
    (place / "warnings").touch()
    build_kernels(place, mpicc=wrapper)
