"""What a job that waits says of what binds it: Slurm's own word first, then what it means."""

from __future__ import annotations

import pytest

from shakedown.schedulers.slurm.pending import in_words, way_out


@pytest.mark.parametrize(
    ("reason", "wanted"),
    [
        ("PartitionDown", "PartitionDown (its partition is down: an administrator lets nothing start there)"),
        (
            "ReqNodeNotAvail, UnavailableNodes:n007",
            "UnavailableNodes:n007 (nodes that it needs are down, drained or reserved)",
        ),
        (
            "QOSMaxJobsPerUserLimit",
            "(a limit of its quality of service (sacctmgr show qos) binds, on jobs at once of a user)",
        ),
        (
            "AssocGrpCPUMinutesLimit",
            "(a limit of its account or user (sacctmgr show assoc) binds, on minutes used: cores)",
        ),
        ("QOSMaxCpuMinutesPerJobLimit", "binds, on minutes used: cores of a job)"),
        ("AssocGrpNodeRunMinutes", "binds, on minutes promised to running jobs: nodes)"),
        ("MaxNodePerAccount", "binds, on nodes of an account)"),
        ("QOSGrpNodeLimit", "binds, on nodes)"),
    ],
)
def test_a_reason_and_what_it_means(reason: str, wanted: str) -> None:
    assert in_words(reason).startswith(reason.partition(",")[0])
    assert in_words(reason).endswith(wanted)


@pytest.mark.parametrize("reason", ["", "Dependency", "Maximum", "FrontEndDown", "Grp", "MaxMemory"])
def test_a_reason_that_nobody_knows_stays_as_it_is(reason: str) -> None:
    assert in_words(reason) == reason


@pytest.mark.parametrize(
    ("reason", "certain"),
    [
        ("QOSMaxWallDurationPerJobLimit", True),
        ("AssocMaxNodePerJobLimit", True),
        ("QOSMinCpuNotSatisfied", True),
        ("QOSMaxNodePerUserLimit", False),
        ("QOSGrpNodeLimit", False),
        ("AssocGrpCPUMinutesLimit", False),
        ("PartitionTimeLimit", True),
        ("JobHeldAdmin", True),
        ("InvalidQOS", True),
        ("PartitionDown", False),
        ("ReqNodeNotAvail, UnavailableNodes:n007", False),
    ],
)
def test_what_a_person_has_to_do(reason: str, certain: bool) -> None:
    words, sure = way_out(reason)
    assert words and sure is certain


@pytest.mark.parametrize("reason", ["Priority", "Resources", "Dependency", "BeginTime", "Licenses", "", "SomethingNew"])
def test_where_patience_is_all(reason: str) -> None:
    assert way_out(reason) == ("", False)
