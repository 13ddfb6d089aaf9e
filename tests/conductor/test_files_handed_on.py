"""Files that are handed on become input files of who is given them, and none that lies elsewhere by the time it is ordered."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from engine_by_hand import begun
from msgspec.structs import replace
from stage import small_document

from shakedown.conductor.driver import loop
from shakedown.conductor.driver.handing import Stranger, with_handed
from shakedown.engine import Order, State
from shakedown.engine.state.jobs import Handed
from shakedown.model.events import Event
from shakedown.model.nouns import Need
from shakedown.model.ports import JobOrder, Part, ReleaseOrder, SubmitAnswer


@pytest.fixture
def given(tmp_path: Path) -> State:
    """A campaign whose run r000001 is given two files of r000009, which lie in ``tmp_path``."""
    plan = small_document(tests=2, repeats=1)
    second = replace(plan.cases[1], needs=(Need(plan.cases[0].id, ("*",)),))
    state = begun(replace(plan, cases=(plan.cases[0], second, *plan.cases[2:]))).state
    state.runs["r000001"].handed = [
        Handed("r000009", "work/000/j000009.0", {"mesh.txt": "a" * 64, "out/x": "b" * 64}, "in")
    ]
    for name in ("mesh.txt", "out/x"):
        file = tmp_path / "work/000/j000009.0" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("here")
    return state


def test_they_are_input_files_of_a_job_of_a_part_and_of_a_release(given: State, tmp_path: Path) -> None:
    case = replace(given.index.cases[given.runs["r000001"].case], files=(("own", "/own"),))
    place = tmp_path / "work/000/j000009.0"
    files = (("own", "/own"), ("in/mesh.txt", str(place / "mesh.txt")), ("in/out/x", str(place / "out/x")))
    job = JobOrder("j000001", "r000001", case)
    assert with_handed(given, str(tmp_path), job) == replace(job, case=replace(case, files=files))
    release = ReleaseOrder("j000001", "r000001", case)
    assert with_handed(given, str(tmp_path), release).case.files == files
    other = Part("r000002", case)
    several = replace(job, parts=(Part("r000001", case), other))
    found = with_handed(given, str(tmp_path), several)
    assert (found.parts[0].case.files, found.parts[1], found.case) == (files, other, case)
    assert with_handed(given, "", job) is job, "a simulated machine has no files"


def test_a_file_that_was_moved_out_of_the_run_is_not_given(given: State, tmp_path: Path) -> None:
    """Whoever puts a link in its place after it was summed gets nothing of what is elsewhere into another run."""
    file = tmp_path / "work/000/j000009.0/mesh.txt"
    file.unlink()
    file.symlink_to("/etc/hostname")
    case = given.index.cases[given.runs["r000001"].case]
    order = JobOrder("j000001", "r000001", case)
    with pytest.raises(Stranger, match=r"mesh\.txt leads out of the directory of r000009 by now"):
        with_handed(given, str(tmp_path), order)
    said: list[tuple[str, dict[str, Any]]] = []
    asked: list[JobOrder] = []

    def submit(orders: list[JobOrder]) -> list[SubmitAnswer]:
        asked.extend(orders)
        return [SubmitAnswer(one.job, "accepted", "7") for one in orders]

    conductor: Any = SimpleNamespace(
        state=given,
        ports=SimpleNamespace(root=str(tmp_path), scheduler=SimpleNamespace(submit=submit)),
        log=lambda event, **fields: said.append((event, fields)),
    )
    loop._submit(conductor, [Order("submit", Event("submit_order", run="r000001", job="j000001"), order)])
    assert asked == [] and [name for name, _ in said] == ["submit_refused"]
    assert "leads out of the directory" in said[0][1]["reason"]
