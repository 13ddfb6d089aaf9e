"""The guide to a first plan on a cluster, followed word for word."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from slurm_cluster import Cluster

from shakedown.events.reader import read_events
from shakedown.model.layout import Layout

pytestmark = pytest.mark.slurm
GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "slurm.md"
BLOCKS = re.findall(r"```yaml\n# (\S+\.yaml)\n(.*?)```", GUIDE.read_text(), flags=re.DOTALL)


def shakedown(site: Path, *words: str) -> str:
    command = [str(Path(sys.executable).with_name("shakedown")), *words]
    done = subprocess.run(
        command, cwd=site, capture_output=True, text=True, timeout=600, env=os.environ | {"COLUMNS": "80"}
    )
    assert done.returncode == 0, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def test_the_guide_leads_from_init_to_the_report(accounting_cluster: Cluster, tmp_path: Path) -> None:
    said = shakedown(tmp_path, "init", "mysite")
    assert f"found cluster {accounting_cluster.name}: 16 nodes of 1 type" in said
    site = tmp_path / "mysite"
    assert {name for name, _ in BLOCKS} == {"tests/hello-wide.yaml", "tests/pairs-wide.yaml", "plans/acceptance.yaml"}
    for name, text in BLOCKS:
        (site / name).write_text(text.replace("system: emu", f"system: {accounting_cluster.name}"))
    assert "nothing is wrong" in shakedown(site, "check")
    assert "hello-wide@batch" in shakedown(site, "list", "cases", "--system", accounting_cluster.name)
    assert "accepted: all 3 criteria are met" in shakedown(site, "run", "acceptance")
    assert "hello-wide@batch: passed" in shakedown(site, "why", "r000005")
    assert "report.html" in shakedown(site, "report")
    shakedown(site, "export", "r000005", "somewhere")
    assert '"ranks":4' in (site / "somewhere" / "output").read_text()
    _what_jobs_wrote_is_held(site)


def _what_jobs_wrote_is_held(site: Path) -> None:
    """Each output and mark has a sum since its run was judged, so a change is found, with its file."""
    (campaign,) = (site / "campaigns").iterdir()
    judged = [event for event in read_events(campaign / "log") if event.event == "verdict"]
    outputs = [event.value["output"] for event in judged]
    assert all(len(output["marks"]) == 2 and ("crc" in output or not output["bytes"]) for output in outputs), outputs
    assert "without a sum" not in shakedown(site, "verify")
    job = judged[-1].job
    for path in (campaign / outputs[-1]["file"], Layout(campaign).job(job) / "marks.0"):
        content = path.read_bytes()
        path.write_bytes(content.replace(content[:1], b"#", 1))
        with pytest.raises(AssertionError, match=re.escape(str(path.relative_to(campaign)))):
            shakedown(site, "verify")
        path.write_bytes(content)
    assert "without a sum" not in shakedown(site, "verify")
