"""slurmctld and slurmdbd die, stop, come back, and come back with a wrong memory, while a campaign submits and runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from slurm_campaigns import Payload
from slurm_cluster import Cluster
from slurm_disturbed import Disturbed, is_saved, wait_until

pytestmark = pytest.mark.slurm
PASSED = ("passed", "")


@pytest.mark.parametrize("verb", ["kill-slurmctld", "stop-slurmctld"])
def test_controller_gone_while_jobs_run_and_while_we_submit(any_cluster: Cluster, tmp_path: Path, verb: str) -> None:
    """What runs ends without it and is judged by its marks; what is to be submitted waits and spends no attempt."""
    naps = [Payload("nap", "batch", "sleep 4")]
    with Disturbed(any_cluster, tmp_path / "site", naps, repeats=10, limits="queued: 4") as campaign:
        campaign.start()
        campaign.wait_until(lambda: len(campaign.executed()) >= 4, "four runs began")
        known = [what.split()[0].removeprefix("job=") for _, what in campaign.executed()]
        wait_until(lambda: verb.startswith("stop") or is_saved(any_cluster, campaign.label("nap")), "they are saved")
        any_cluster.fault(verb)
        campaign.wait_until(lambda: campaign.events("submit_deferred"), "a submission is put off")
        assert len(campaign.events("verdict")) >= 1, known
        any_cluster.fault("start-slurmctld")
        campaign.end()
        assert "ontroller" in campaign.events("submit_deferred")[0].reason
        campaign.assert_all_passed_once(10)
