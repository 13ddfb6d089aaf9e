"""The exact script of a job, the paths it is made of, and the cores it is bound to."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shakedown.model.layout import Layout
from shakedown.model.nouns import Case
from shakedown.schedulers.claims import CannotStart, Workplace
from shakedown.schedulers.directories import Places
from shakedown.schedulers.local_host.cores import Cores, core_slots
from shakedown.schedulers.local_host.script import fill, job_script

if TYPE_CHECKING:
    from tests.schedulers.conftest import Machine

    MakeMachine = Callable[..., Machine]


# ---- the script ------------------------------------------------------------------------------------------------------


def test_the_script_of_a_job_is_this() -> None:
    case = Case(
        "stream", "stream", "local:all", script="export OMP_NUM_THREADS=2\n{build}/stream --out {campaign}/x '{text}'"
    )

    script = job_script(case, Layout(Path("/c 1")), "r001234", "j000007", "/c 1/builds/abc", restart=2)

    assert script == (
        "set -C\n"
        "echo \"$$\" >'/c 1/claims/000/j000007.claim.2' || exit 97\n"
        "set +C\n"
        "cd '/c 1/work/001/r001234' || exit\n"
        "export OMP_NUM_THREADS=2\n"
        "'/c 1/builds/abc'/stream --out '/c 1'/x '{text}'\n"
    )


PATHS = st.text(st.sampled_from(list("aZ0 ./'\"$`\\*?[]{}()<>|&;!#~=-\té\n")), min_size=1, max_size=12)
PLACES = [
    "printf %s {build}",
    'printf %s "{build}"',
    "printf %s '{build}'",
    "# it's \"no\" comment' {build}\nprintf %s {build}",
    'x="a{build}b"; y=${x#a}; printf %s "${y%b}"',
    "printf %s \\\\ >/dev/null; printf %s {build}",
    'printf %s "it\'s {build}" | tail -c +6',
]


@settings(max_examples=60)
@given(path=PATHS, place=st.sampled_from(PLACES))
def test_the_shell_reads_the_path_wherever_it_stands(path: str, place: str) -> None:
    if place.startswith("#"):
        path = path.replace("\n", "")  # a comment ends with its line
    said = subprocess.run(["/bin/sh", "-c", fill(place, "{build}", path)], capture_output=True, check=True)

    assert said.stdout.decode() == path


def test_a_site_directory_with_a_blank_in_its_name_works(make_machine: MakeMachine, tmp_path: Path) -> None:
    machine = make_machine(tmp_path / 'my site\'s $HOME "x"')
    order = machine.order('pwd; echo {campaign}; echo "{build}"; echo evidence >x', build="abc")
    machine.submit(order)

    said = machine.output(machine.ended(order)).decode().splitlines()

    assert said == [str(machine.work(order)), str(machine.layout.root), str(machine.layout.build("abc"))]


@given(
    root=st.sampled_from(["/c", "/j000001/r000001/claims", "/a b"]),
    number=st.integers(0, 5_000_000),
    restart=st.integers(0, 3),
)
def test_quick_paths_are_those_of_the_layout(root: str, number: int, restart: int) -> None:
    layout = Layout(Path(root))
    places = Places(layout)
    for step in (0, 1):
        run, job = f"r{number + step:06d}", f"j{number + step:06d}"
        assert places.work_directory(run) == str(layout.work_directory(run))
        assert places.claim(job, restart) == str(layout.claim(job, restart))


# ---- waiting for room ------------------------------------------------------------------------------------------------


def test_a_waiting_job_that_cannot_be_started_for_too_long_is_given_back(
    make_machine: MakeMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = make_machine(cores=1, patience_s=0.3)
    first, second = machine.order("sleep 0.02"), machine.order("true")
    machine.submit(first, second)
    tries: list[str] = []

    def prepare(self: Workplace, run: str, *rest: object, **named: object) -> None:
        tries.append(run)
        raise CannotStart("run r000002 cannot be started: No space left on device", transient=True)

    monkeypatch.setattr(Workplace, "prepare", prepare)
    report = machine.ended(second)
    monkeypatch.undo()

    assert len(tries) >= 2
    assert report.state == "refused"
    assert report.message == "run r000002 cannot be started: No space left on device"
    assert machine.run("true").state == "completed"


def test_a_job_that_can_never_be_started_is_refused_while_others_wait(
    make_machine: MakeMachine, tmp_path: Path
) -> None:
    machine = make_machine(cores=1)
    files = (("in", str(tmp_path / "missing")),)
    first, broken, last = machine.order("sleep 0.02"), machine.order("true", files=files), machine.order("true")

    answers = machine.submit(first, broken, last)

    assert [answer.outcome for answer in answers] == ["accepted", "refused", "accepted"]
    assert answers[1].message == f"run r000002 cannot be started: an input file is missing ({tmp_path}/missing)"
    assert machine.ended(last).state == "completed"


def test_a_waiting_job_that_turns_out_not_to_start_does_not_block_the_others(
    make_machine: MakeMachine, tmp_path: Path
) -> None:
    machine = make_machine(cores=1)
    large = (("A", "x" * 200_000),)
    first, broken, last = machine.order("sleep 0.02"), machine.order("true", environment=large), machine.order("true")
    machine.submit(first, broken, last)

    report = machine.ended(broken)

    assert report.state == "refused"
    assert report.message == "run r000002 cannot be started: its environment is larger than this system allows"
    assert machine.ended(last).state == "completed"


# ---- cores -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def two_threads_a_core(tmp_path: Path) -> Path:
    """Four cores of two threads each: 0 and 4, 1 and 5..., as Linux numbers them."""
    for cpu in range(8):
        place = tmp_path / f"cpu{cpu}/topology"
        place.mkdir(parents=True)
        (place / "thread_siblings_list").write_text(f"{cpu % 4},{cpu % 4 + 4}\n")
    return tmp_path


@pytest.mark.parametrize(
    ("cpus", "count", "slots"),
    [
        (range(8), None, [{0, 4}, {1, 5}, {2, 6}, {3, 7}]),
        (range(8), 4, [{0, 4}, {1, 5}, {2, 6}, {3, 7}]),
        (range(8), 2, [{0, 4}, {1, 5}]),
        (range(8), 8, [{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}]),  # the site counts threads
        ([1, 2, 5], None, [{1, 5}, {2}]),  # what we may use decides
        ([1, 2], 4, [{1}, {2}, {1}, {2}]),  # the site says four, we were given two
    ],
)
def test_a_slot_is_a_whole_core_where_there_are_enough(
    two_threads_a_core: Path, cpus: range | list[int], count: int | None, slots: list[set[int]]
) -> None:
    assert core_slots(list(cpus), count, two_threads_a_core) == slots


def test_where_the_topology_is_not_told_each_thread_is_a_core(tmp_path: Path) -> None:
    assert core_slots([0, 3], None, tmp_path) == [{0}, {3}]


def test_the_lowest_free_slots_are_taken_and_given_back() -> None:
    cores = Cores(4)
    first, second = cores.take(1), cores.take(2)

    assert (first, second, cores.take(2)) == ((0,), (1, 2), None)
    assert first is not None
    cores.give_back(first)
    assert cores.take(2) == (0, 3)
    assert cores.free == 0
