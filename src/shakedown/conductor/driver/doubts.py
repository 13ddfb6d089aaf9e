"""Findings on marks or payloads of a job that somebody else wrote, whatever the verdict on the run."""

from __future__ import annotations

from shakedown.conductor.driver.conductor import Conductor
from shakedown.model.ports import JobReport
from shakedown.model.void_starts import PAYLOAD_CHANGED, TOKEN_CHANGED


def say_doubt(conductor: Conductor, report: JobReport) -> None:
    """Purpose: record a finding ``marks_doubted`` with why the marks of a job are not believed, and one for each such run of it. A
    run that was reported with its doubt has its finding already.
    """
    job = conductor.state.jobs.get(report.job)
    run = report.run or (job.run if job is not None and not job.bundle else "")
    case = job.case if job is not None and not job.bundle else ""
    conductor.log("finding", job=report.job, run=run, case=case, value={"kind": "marks_doubted"}, reason=report.doubt)
    for name, why in report.doubted.items():
        known = conductor.state.runs.get(name)
        of = known.case if known is not None else ""
        conductor.log("finding", job=report.job, run=name, case=of, value={"kind": "marks_doubted"}, reason=why)


def say_payload(conductor: Conductor, report: JobReport) -> None:
    """Purpose: record a finding ``payload_changed``, where a job's script refused to run a payload that somebody else wrote.
    Preparing the next job of the case writes the payload anew.
    """
    if report.state != "refused" or report.message != PAYLOAD_CHANGED:
        return
    job = conductor.state.jobs.get(report.job)
    run = report.run or (job.run if job is not None and not job.bundle else "")
    known = conductor.state.runs.get(run)
    why = (
        f"{PAYLOAD_CHANGED}; it is written anew for the next job that wants it. Runs of this campaign may write there:"
        " see which of them ran just before"
    )
    case = known.case if known is not None else ""
    conductor.log("finding", job=report.job, run=run, case=case, value={"kind": "payload_changed"}, reason=why)


def say_token(conductor: Conductor, report: JobReport) -> None:
    """Purpose: record a finding ``token_changed``, where a job did not begin because the file of the campaign's token had another
    content.
    """
    if report.state != "refused" or not report.message.startswith(TOKEN_CHANGED):
        return
    why = (
        f"{TOKEN_CHANGED}; {report.job} did not begin because of it, and no node is at fault. Leave that file alone: jobs know by"
        " it whose they are"
    )
    conductor.log("finding", job=report.job, value={"kind": "token_changed"}, reason=why)
