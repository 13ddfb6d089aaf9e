"""Files that runs hand on: they become input files of other runs, and must lie in the directory of the run that left them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from shakedown.engine import State
from shakedown.engine.state.needs import name_of
from shakedown.model.layout import Layout
from shakedown.model.nouns import Case
from shakedown.model.ports import JobOrder, ReleaseOrder

Given = TypeVar("Given", JobOrder, ReleaseOrder)


class Stranger(Exception):
    """A file that was handed on now lies elsewhere. The message says why the run cannot be started."""


def with_handed(state: State, root: str, order: Given) -> Given:
    """Purpose: the order, with the files that its runs are given added to the input files of their cases. Raises Stranger.
    ``root``: the campaign's directory; "" where there are no files, as on a simulated machine.
    """
    if not root or not state.index.handing:
        return order
    layout = Layout(Path(root))
    if isinstance(order, JobOrder) and order.parts:
        parts = tuple(replace(part, case=_given(state, layout, part.run, part.case)) for part in order.parts)
        return replace(order, parts=parts)
    return replace(order, case=_given(state, layout, order.run, order.case))


def _given(state: State, layout: Layout, run: str, case: Case) -> Case:
    live = state.runs.get(run)
    if live is None or not live.handed:
        return case
    files = list(case.files)
    for handed in live.handed:
        place = layout.root / handed.directory if handed.directory else layout.work_directory(handed.run)
        home = os.path.realpath(place)
        for path in handed.files:
            real = os.path.realpath(place / path)
            if not real.startswith(f"{home}/"):
                raise Stranger(f"run {run} cannot be started: {path} leads out of the directory of {handed.run} by now")
            files.append((name_of(handed, path), real))
    return replace(case, files=tuple(files))
