"""Marks of a job that are not what its script wrote, or do not agree with the scheduler: a finding, whatever the run is judged."""

from __future__ import annotations

from shakedown.conductor.driver.conductor import Conductor
from shakedown.model.ports import JobReport


def say_doubt(conductor: Conductor, report: JobReport) -> None:
    """Purpose: a finding ``marks_doubted`` that says why the marks of a job are not believed, and one for each such run of it.

    A run that was told of with its doubt has its finding already.
    """
    job = conductor.state.jobs.get(report.job)
    run = report.run or (job.run if job is not None and not job.bundle else "")
    case = job.case if job is not None and not job.bundle else ""
    conductor.log("finding", job=report.job, run=run, case=case, value={"kind": "marks_doubted"}, reason=report.doubt)
    for name, why in report.doubted.items():
        known = conductor.state.runs.get(name)
        of = known.case if known is not None else ""
        conductor.log("finding", job=report.job, run=name, case=of, value={"kind": "marks_doubted"}, reason=why)
