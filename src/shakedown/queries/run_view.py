"""One run reconstructed from the record: its script, its environment, its output, although it never had files of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shakedown.conductor.record.documents import Documents
from shakedown.conductor.record.environments import Environment, read_environment, words_for
from shakedown.conductor.workers.run_reader import run_directory
from shakedown.events.plain_files import read_plain
from shakedown.events.reader import read_events
from shakedown.events.recorded_name import campaign_name
from shakedown.model.errors import RecordError, UsageError
from shakedown.model.events import Event
from shakedown.model.layout import Layout
from shakedown.model.near_names import near_run
from shakedown.model.nouns import Case, Document, System
from shakedown.schedulers.cluster.job_places import payload_path
from shakedown.schedulers.cluster.job_script import cluster_script, payload_script
from shakedown.schedulers.local_host.script import case_environment, job_script
from shakedown.schedulers.output_archive import read_output
from shakedown.schedulers.output_sums import output_damage

SHOWN_BYTES = 64 * 1024  # of the output; export writes all of it
COPY_BYTES = 1 << 20


@dataclass(slots=True)
class RunView:
    """Everything that was kept of one run. ``output`` is its end, at most 64 KiB; ``output_at`` points to all of it.

    ``environment``: the variables in the record; ``not_stored``: names of the other variables that the run had.
    """

    run: str
    case: str
    job: str
    script: str
    environment: dict[str, str]
    verdicts: list[dict[str, Any]]
    output: str = ""
    output_at: dict[str, Any] = field(default_factory=dict)
    work: str = ""
    not_stored: tuple[str, ...] = ()


def show_run(layout: Layout, run: str) -> RunView:
    """Purpose: reconstruct a run from the log and the pack files. UsageError where the campaign has no such run."""
    found = _Found(layout, run)
    output = found.output
    size = int(output.get("bytes", 0))
    _refuse_damaged_output(layout, run, output)
    text = read_output(layout, output, max(0, size - SHOWN_BYTES), SHOWN_BYTES) if output else b""
    work = run_directory(layout, run, output)
    return RunView(
        run,
        found.case,
        found.job,
        in_one(found.scripts()),
        found.environment(),
        [event.value | {"reason": event.reason, "seq": event.seq} for event in found.verdicts],
        text.decode("utf-8", "replace"),
        output,
        str(work) if work.is_dir() else "",
        found.stored().not_stored,
    )


def work_of_run(layout: Layout, run: str) -> tuple[Path, bool]:
    """Purpose: the work directory of a run, and whether its ranks were traced. UsageError where the campaign has no such run."""
    found = _Found(layout, run)
    return run_directory(layout, run, found.output), found.is_traced()


def export_run(layout: Layout, run: str, target: Path) -> list[Path]:
    """Purpose: write a run's scripts, environment, events and whole output as files under ``target``, which must be new."""
    found = _Found(layout, run)
    _refuse_damaged_output(layout, run, found.output)
    try:
        target.mkdir(parents=True)
    except FileExistsError as error:
        raise UsageError(f"{target} exists already", hint="export into a new directory") from error
    files = {
        **found.scripts(),
        "environment": _environment_file(found),
        "events.jsonl": "".join(_line(event) for event in found.events),
    }
    for name, text in files.items():
        (target / name).write_text(text, encoding="utf-8", errors="surrogateescape")
    with (target / "output").open("wb") as out:
        for start in range(0, int(found.output.get("bytes", 0)), COPY_BYTES):
            out.write(read_output(layout, found.output, start, COPY_BYTES))
    return [target / name for name in (*files, "output")]


def _environment_file(found: _Found) -> str:
    lines = [f"{name}={value}\n" for name, value in sorted(found.environment().items())]
    missing = words_for(found.stored())
    return "".join(lines) + (f"# {missing}\n" if missing else "")


def _refuse_damaged_output(layout: Layout, run: str, output: dict[str, Any]) -> None:
    why = output_damage(layout.root, output)
    if why:
        raise RecordError(f"{run}: {why}", hint="put that file back from a backup; 'shakedown verify' says more")


def _line(event: Event) -> str:
    import msgspec

    return msgspec.json.encode(event).decode() + "\n"


class _Found:
    """The events of one run in the log."""

    def __init__(self, layout: Layout, run: str) -> None:
        self.layout, self.run = layout, run
        self.events: list[Event] = []
        self.digest = self.drivers_environment = ""
        known: set[str] = set()
        self._ordered: dict[
            str, str
        ] = {}  # job -> the run it was submitted for; a restart may have given it to another
        self._shared: set[str] = set()  # jobs of several runs
        for event in read_events(layout.log):
            if event.event in ("campaign_start", "amended") and not self.events:
                self.digest = event.value["document"]
            if event.event == "driver_start" and not self.events:
                self.drivers_environment = event.value.get("environment", "")
            if event.run:
                known.add(event.run)
            if event.event == "submit_order":
                self._ordered[event.job] = event.run
                if event.value.get("parts", 0) > 1 or event.value.get("part"):
                    self._shared.add(event.job)
            if run in (event.run, event.value.get("previous")) or self._is_of_its_job(event):
                self.events.append(event)
        if not self.events:
            hint = near_run(run, known) or "'shakedown runs' lists them"
            raise UsageError(f"{campaign_name(layout)} has no run '{run}'", hint=hint)

    def _is_of_its_job(self, event: Event) -> bool:
        """Whether an event is about this run's job. An event that names another run is about that run, which had the job later."""
        if not event.job or event.run not in ("", self.run):
            return False
        return event.job in {other.job for other in self.events if other.event in ("submit_order", "requeued")}

    @property
    def verdicts(self) -> list[Event]:
        return [event for event in self.events if event.event == "verdict" and event.run == self.run]

    @property
    def case(self) -> str:
        return next((event.case for event in self.events if event.case), "")

    @property
    def job(self) -> str:
        return next((event.job for event in self.events if event.job), "")

    @property
    def output(self) -> dict[str, Any]:
        reports = [event.value["output"] for event in self.events if event.value.get("output")]
        return dict(reports[-1]) if reports else {}

    def _document(self) -> Document:
        return Documents(self.layout)(self.digest)

    def scripts(self) -> dict[str, str]:
        document = self._document()
        case = next(case for case in document.cases if case.id == self.case)
        if not self.job:
            return {"job.sh": case.script}
        if self.job in self._shared:
            return scripts_of_part(case, self.layout, self.job)
        return scripts_of(document.system, case, self.layout, self._ordered.get(self.job, self.run), self.job)

    def is_traced(self) -> bool:
        return any(case.id == self.case and "SHAKEDOWN_TRACE=" in case.script for case in self._document().cases)

    def stored(self) -> Environment:
        """The stored environment of the conductor at its start."""
        return read_environment(self.layout, self.drivers_environment)

    def environment(self) -> dict[str, str]:
        """The stored environment plus the variables that the case adds."""
        case = next(case for case in self._document().cases if case.id == self.case)
        build = str(self.layout.build(case.build)) if case.build else ""
        return self.stored().variables | case_environment(case, self.layout, build)


# ---- scripts ---------------------------------------------------------------------------------------------------------------


def scripts_of(system: System, case: Case, layout: Layout, run: str, job: str) -> dict[str, str]:
    """Purpose: the scripts of a job, by the names that ``export`` gives them; the first is the one that is started.

    On a cluster that is the job script, which runs the payload; on this machine there is only one script.
    """
    cluster = case.partition.partition(":")[0]
    if any(one.name == cluster and not one.embedded for one in system.clusters):
        payload = payload_script(case, layout)
        path = payload_path(layout, payload)
        return {"job.sh": cluster_script(layout, job, run, case, path), "payload.sh": payload}
    return {"job.sh": job_script(case, layout, run, job, str(layout.build(case.build)) if case.build else "")}


def scripts_of_part(case: Case, layout: Layout, job: str) -> dict[str, str]:
    """Purpose: as ``scripts_of``, for one run of a job with several. The job's script was kept, because it contains all of them."""
    path = layout.job(job) / "job.sh"
    try:
        script = read_plain(path).decode("utf-8", "replace")
    except OSError as error:
        script = f"# the script of job {job} cannot be read: {path}: {error.strerror}\n"
    return {"job.sh": script, "payload.sh": payload_script(case, layout)}


def in_one(scripts: dict[str, str]) -> str:
    """The scripts one after the other, as one text for reading."""
    if len(scripts) == 1:
        return next(iter(scripts.values()))
    return "\n".join(f"# ---- {name}\n{text}" for name, text in scripts.items())
