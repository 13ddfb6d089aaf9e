"""What Slurm tells a batch script of its job, for scripts that tests start themselves."""

from __future__ import annotations

from shakedown.model.layout import Layout
from shakedown.schedulers.cluster.job_places import campaign_token, job_label


def batch_environment(layout: Layout, job: str, slurm_id: str = "4711", nodes: str = "n001") -> dict[str, str]:
    """The variables of a job that was submitted under its name; its first node is the one it runs on."""
    if not layout.token.exists():  # a scheduler's port makes it before the first job
        layout.token.write_text("0a1b2c3d\n")
    label = job_label(campaign_token(layout), job)
    first = nodes.replace("[", "").partition(",")[0].partition("-")[0]
    return {
        "SLURM_JOB_ID": slurm_id,
        "SLURM_JOB_NAME": label,
        "SLURM_JOB_NODELIST": nodes,
        "SLURMD_NODENAME": first,
    }
