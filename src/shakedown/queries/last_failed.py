"""The cases of a campaign that failed last, for ``run --last-failed``."""

from __future__ import annotations

from pathlib import Path

from shakedown.events.campaigns import read_document, rehearsal_of
from shakedown.events.chain import refuse_damaged
from shakedown.events.recorded_name import campaign_name
from shakedown.metrics.judging.populations import as_expected
from shakedown.metrics.rows.rows import RunRow
from shakedown.model.errors import UsageError
from shakedown.model.events import SPARED
from shakedown.model.frozen import thaw
from shakedown.model.layout import Layout
from shakedown.plans.ad_hoc import Failed
from shakedown.queries.status import look_at_runs


def last_failed(campaign: Path) -> Failed:
    """Purpose: the cases whose last result neither passed nor ended as expected, in the order of the plan in force.

    A case without a result is not among them. Errors: UsageError for a rehearsal and for a campaign that has not started;
    RecordError where the record is damaged.
    """
    layout = Layout(campaign)
    name = campaign_name(layout)
    refuse_damaged(layout)
    if rehearsal_of(layout) is not None:
        raise UsageError(f"{name} is a rehearsal on a model of the machine", "name a campaign after --last-failed")
    record = look_at_runs(layout)
    if not record.document:
        raise UsageError(f"{name} has not started: no result of it failed", "name a campaign after --last-failed")
    document = thaw(read_document(layout, record.document))
    last: dict[str, RunRow] = {}
    for row in record.current():
        if row.case not in last or row.seq > last[row.case].seq:
            last[row.case] = row
    failed = tuple(
        (case.id, case.test)
        for case in document.cases
        if case.id in last and last[case.id].verdict not in ("passed", SPARED) and not as_expected(last[case.id], case)
    )
    return Failed(name, document.system.name, failed)
