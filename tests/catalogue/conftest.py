"""The catalogue as YAML, with what tests extend merged in: an independent reading, so that both readers are held to the files."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from catalogue_outputs import document_in

from shakedown import catalogue
from shakedown.conductor.workers import run_reader, worker
from shakedown.model.nouns import Document

CATALOGUE = Path(catalogue.__file__).parent / "tests"

Fields = dict[str, Any]


def written(name: str) -> Fields:
    """A test's file as it is written."""
    return deepcopy(_read(name))


@cache
def _read(name: str) -> Fields:
    fields: Fields = yaml.safe_load((CATALOGUE / f"{name}.yaml").read_text())
    return fields


def merged(name: str) -> Fields:
    """A test with everything it extends: maps merge deeply, ``check+`` adds, all else replaces."""
    own = written(name)
    if "extends" not in own:
        return own
    base = {key: value for key, value in merged(own["extends"]).items() if key != "abstract"}
    extra = own.pop("check+", [])
    whole = _deep(base, own)
    return {**whole, "check": [*whole.get("check", []), *extra]}


def _deep(base: Fields, own: Fields) -> Fields:
    both = dict(base)
    for key, value in own.items():
        both[key] = _deep(both[key], value) if isinstance(value, dict) and isinstance(both.get(key), dict) else value
    return both


@pytest.fixture
def fields_of() -> Callable[[str], Fields]:
    return merged


@pytest.fixture(scope="session")
def document(tmp_path_factory: pytest.TempPathFactory) -> Document:
    """A plan of every published program."""
    return document_in(tmp_path_factory.mktemp("site"))


@pytest.fixture
def as_in_a_worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    # These outputs need not survive a loss of power, and a disk takes longer to confirm one than we take to judge it.
    monkeypatch.setattr(run_reader, "make_durable", lambda layout, output: "")
    before = signal.signal(signal.SIGPROF, worker._alarm)  # what a worker that starts does
    yield
    signal.signal(signal.SIGPROF, before)
