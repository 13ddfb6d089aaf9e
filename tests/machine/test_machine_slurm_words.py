"""The words of Slurm's commands: every format that was seen, and texts that nobody has seen."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shakedown.machine.mounts import cluster_filesystems
from shakedown.machine.slurm_nodes import out_of_service
from shakedown.machine.slurm_system import Around, Said, drafted
from shakedown.machine.slurm_words import expand, fields, fold, mpi_types, records, rows, seconds, settings
from shakedown.machine.writing import duration, system_yaml
from shakedown.model.errors import UsageError
from shakedown.model.units import parse_duration

CAPTURED = Path(__file__).parents[1] / "machines/slurm/init"


def captured(name: str) -> str:
    return (CAPTURED / f"{name}.txt").read_text()


def test_values_with_spaces_and_equal_signs() -> None:
    first = records(captured("accounting.nodes"), "NodeName")[1]
    assert first["OS"].startswith("Linux ")
    assert first["CfgTRES"] == "cpu=16,mem=32000M,billing=16"
    assert first["AllocTRES"] == ""
    assert first["Gres"] == ""
    assert first["Reason"].startswith("drained by hand [root@")
    assert first["Partitions"] == "batch,low,urgent,debug"


def test_fields_that_nobody_knows_survive() -> None:
    assert fields("NodeName=n1 NewThing=a b c Other_2=x State=IDLE") == {
        "NodeName": "n1",
        "NewThing": "a b c",
        "Other_2": "x",
        "State": "IDLE",
    }


def test_the_settings_of_a_controller() -> None:
    config = settings(captured("limited.config"))
    assert config["ClusterName"] == "h3b"
    assert config["SLURM_VERSION"] == "22.05.8"
    assert config["AccountingStorageEnforce"] == "associations,limits"
    assert config["Prolog"] == ""


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("UNLIMITED", 0),
        ("INFINITE", 0),
        ("", 0),
        ("30", 1800),
        ("00:30:00", 1800),
        ("10:30", 630),
        ("1-00:00:00", 86400),
        ("1-12", 129600),
        ("1-12:30", 131400),
        ("7-00:00:01", 604801),
        ("1:2:3:4", 0),
        ("-5", 0),
    ],
)
def test_limits_of_time(text: str, wanted: float) -> None:
    assert seconds(text) == wanted


@pytest.mark.parametrize("name", ["mpi-types", "mpi-types-20.11"])
def test_the_types_of_mpi_in_both_formats(name: str) -> None:
    assert {"none", "pmi2", "pmix"} <= set(mpi_types(captured(name)))


def test_states_that_take_no_job_and_states_that_do() -> None:
    states = ["IDLE", "MIXED+PLANNED", "IDLE+CLOUD+POWERED_DOWN", "ALLOCATED+MAINTENANCE", "SOMETHING_NEW"]
    assert out_of_service([{"NodeName": f"n{i}", "State": state} for i, state in enumerate(states)]) == []
    out = ["DOWN*", "IDLE+DRAIN", "MIXED*", "DOWN*+DRAIN", "INVAL", "IDLE+NOT_RESPONDING", "FAIL"]
    found = out_of_service([{"NodeName": f"n{i}", "State": state} for i, state in enumerate(out)])
    assert len(found) == len(out)
    assert found[0] == "n0: down* (no reason given)"


def test_nodes_of_one_state_and_reason_are_folded() -> None:
    down = [
        {"NodeName": f"n{i:03d}", "State": "DOWN*", "Reason": f"dead [root@2026-01-0{i}T00:00:00]"} for i in (1, 2, 3)
    ]
    assert out_of_service(down) == ["n[001-003]: down* (dead)"]


def test_shared_file_systems_of_the_mounts() -> None:
    mounts = """\
sysfs /sys sysfs rw 0 0
10.0.0.1@o2ib:/f2 /lustre/f2 lustre rw,flock 0 0
10.0.0.1@o2ib:/f2 /scratch lustre rw,flock 0 0
server:/home /home nfs4 rw 0 0
other:/home /old/home nfs rw 0 0
gp /with\\040space gpfs rw 0 0
x /brace{s} lustre rw 0 0
short
"""
    assert [(f.name, f.kind, f.path) for f in cluster_filesystems(mounts)] == [
        ("f2", "lustre", "/lustre/f2"),
        ("home", "nfs", "/home"),
        ("home-2", "nfs", "/old/home"),
        ("with-space", "gpfs", "/with space"),
    ]


@given(st.integers(1, 10**9))
def test_a_duration_is_read_back_as_it_was_written(count: int) -> None:
    assert parse_duration(duration(count)) == count


@given(st.lists(st.integers(1, 500), min_size=1, max_size=50, unique=True))
def test_folding_loses_no_node(numbers: list[int]) -> None:
    names = [f"nid{number:05d}" for number in numbers]
    assert sorted(expand(fold(names))) == sorted(names)


@given(
    st.dictionaries(
        st.from_regex(r"[A-Z][A-Za-z0-9_]{0,10}", fullmatch=True),
        st.from_regex(r"[a-z0-9:/. +*-]{0,20}", fullmatch=True),
    )
)
def test_every_field_comes_back(values: dict[str, str]) -> None:
    line = " ".join(f"{key}={value}" for key, value in values.items())
    assert fields(line) == {key: "" if value.strip() in ("n/a",) else value.strip() for key, value in values.items()}


@given(st.text())
def test_no_text_is_too_odd_for_a_parser(text: str) -> None:
    fields(text)
    settings(text)
    rows(text, 3)
    seconds(text)
    mpi_types(text)
    expand(text)
    cluster_filesystems(text)


@given(st.text(), st.sampled_from(["nodes", "partitions", "licences", "associations", "config", "qos"]), st.data())
def test_garbled_answers_make_a_system_or_a_sentence(noise: str, which: str, data: st.DataObject) -> None:
    texts = {
        name: captured(f"accounting.{name}")
        for name in ("nodes", "partitions", "licences", "associations", "config", "qos")
    }
    cut = data.draw(st.integers(0, len(texts[which])))
    texts[which] = texts[which][:cut] + noise + texts[which][cut + len(noise) :]
    said = Said(
        config=texts["config"],
        nodes=texts["nodes"],
        partitions=texts["partitions"],
        licences=texts["licences"],
        associations=texts["associations"],
        qos=texts["qos"],
    )
    try:
        draft = drafted([said], Around())
    except UsageError:
        return
    system_yaml(draft.system, draft.remarks)
