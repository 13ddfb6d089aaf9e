"""Events under the names of OLCF's test harness: its measurements ``events``, ``metrics`` and ``node_health``.

``OlcfNames.points_of`` is the main function. OLCF's application is our test, its test is our case, and its test id is our run. Some
mistakes of the harness are corrected here: times of one run differ, numbers are numbers, and names are escaped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from types import MappingProxyType

from shakedown.events.reader import read_events
from shakedown.live.feeds.points import LONGEST, Field, Point
from shakedown.metrics.failures import failure_of
from shakedown.metrics.rows.facts import number
from shakedown.model.events import Event
from shakedown.model.layout import Layout
from shakedown.model.shared_nodes import names_in

EVENTS, METRICS, HEALTH = "events", "metrics", "node_health"
NOTHING = "[NO_VALUE]"
# The harness's events in its order; a file of each is called so there.
FILES = {
    "build_start": 120, "build_end": 130, "submit_start": 140, "submit_end": 150, "job_queued": 160,
    "binary_execute_start": 170, "binary_execute_end": 180, "check_start": 190, "check_end": 200,
}  # fmt: skip
STATUS = {  # the harness's status of a check: 21, 23 and 9 are those that it gives to jobs that never came to one
    "passed": 0, "failed": 1, "incorrect": 2, "performance": 5, "timeout": 23, "node_fail": 9, "interrupted": 21,
    "cancelled": 21, "lost": 21,
}  # fmt: skip
HEALTHS = {"passed": "SUCCESS", "failed": "FAILED", "incorrect": "HW-FAIL", "performance": "PERF-FAIL"}
_TEXTS = (
    "build_directory", "event_filename", "event_name", "event_subtype", "event_time", "event_type", "event_value", "check_alias",
    "hostname", "job_account_id", "job_id", "path_to_rgt_package", "rgt_path_to_sspace", "rgt_system_log_tag", "run_archive",
    "user", "workdir", "comment", "output_txt",
)  # fmt: skip


class OlcfNames:
    """One campaign. ``tests``: case -> test. The points of an event depend only on that event and on earlier ones."""

    def __init__(self, layout: Layout, machine: str, tests: Mapping[str, str]) -> None:
        self.campaign, self.machine, self.tests = layout.root.name, machine, tests
        self._cases: dict[str, str] = {}  # run -> case
        self._builds: dict[str, str] = {}  # build -> what is built, for people
        self._running: set[str] = set()  # runs that were told to run before they were judged
        self._orders: dict[str, list[str]] = {}  # job -> its runs
        self._accepted: dict[str, float] = {}  # job -> when its submission was known to be accepted
        for event in read_events(layout.log):
            self.learn(event)

    def learn(self, event: Event) -> None:
        """Purpose: remember what later events need from this one."""
        if event.event == "submit_order":
            self._cases[event.run] = event.case
            if event.run not in (runs := self._orders.setdefault(event.job, [])):
                runs.append(event.run)
        elif event.event == "submit_accepted":
            self._accepted[event.job] = event.time
        elif event.event == "build_order":
            self._builds[event.build] = str(event.value.get("name") or event.build)
        elif event.event == "job_report" and event.value.get("state") == "running":
            self._running.add(self._run(event))

    def points_of(self, event: Event) -> Iterator[Point]:
        """Purpose: the points of an event; most events have none. The same event always gives the same points."""
        self.learn(event)
        value, run = event.value, self._run(event)
        if event.event in ("build_start", "build_end"):
            yield from self._of_build(event)
        elif event.event == "submit_order":
            yield self._event(event, run, "submit_start", str(value.get("attempt", 1)))
        elif event.event == "submit_accepted":
            for one in self._orders.get(event.job, ()):
                yield self._event(event, one, "submit_end", "0")
                yield self._event(event, one, "job_queued", str(value.get("id") or event.job))
        elif event.event == "submit_refused":
            yield self._event(event, run, "submit_end", "1", texts={"comment": event.reason})
        elif event.event == "job_report" and value.get("state") == "running" and run:
            yield self._event(event, run, "binary_execute_start", at=self._begun(event, number(value.get("began"))))
        elif event.event == "verdict" and run:
            yield from self._of_verdict(event, run)

    def _begun(self, event: Event, at: float | None) -> float | None:
        """When a run began, in the order of the harness: not before its submission was accepted, although a job
        may begin earlier.
        """
        return None if at is None else max(at, self._accepted.get(event.job, at))

    def _run(self, event: Event) -> str:
        """The run of an event; "" for an event of a job with several runs that names none of them."""
        runs = self._orders.get(event.job, [])
        return event.run or (runs[0] if len(runs) == 1 else "")

    def _of_build(self, event: Event) -> Iterator[Point]:
        name = self._builds.get(event.build, event.build)
        tags = self._whole({"app": name, "test": "build", "test_id": f"{self.campaign}.{event.build[:16]}"})
        status = "" if event.event == "build_start" else "0" if event.value.get("state") == "done" else "1"
        yield self._point(tags, event, event.event, status, {"comment": event.reason}, None)

    def _of_verdict(self, event: Event, run: str) -> Iterator[Point]:
        value, verdict = event.value, str(event.value.get("verdict", ""))
        started, ended, took = (number(value.get(name)) for name in ("started", "ended", "elapsed_s"))
        if ended is None and started is not None and took is not None:
            ended = started + took
        if not value.get("supersedes"):
            if started is not None and run not in self._running:
                yield self._event(event, run, "binary_execute_start", at=self._begun(event, started))
            if ended is not None:
                yield self._event(event, run, "binary_execute_end", at=self._begun(event, ended))
        if verdict not in STATUS:
            return
        failure = failure_of(event)
        words = str(value.get("excerpt") or event.reason)
        yield self._event(event, run, "check_start")
        alias = failure.name if failure else ""
        told = {"output_txt": words, "comment": event.reason, "check_alias": alias}
        yield self._event(event, run, "check_end", str(STATUS[verdict]), texts=told)
        yield from self._metrics(event, run)
        yield from self._health(event, run, verdict)

    def _metrics(self, event: Event, run: str) -> Iterator[Point]:
        """The figures of a verdict and its run time, as fields APPLICATION-TEST-NAME of one point."""
        figures = event.value.get("figures")
        found = {str(name): number(said) for name, said in figures.items()} if isinstance(figures, dict) else {}
        found["execution_time"] = number(event.value.get("elapsed_s"))
        tags = self._tags(run)
        begin = f"{tags['app']}-{tags['test']}-"
        fields: dict[str, Field] = {
            (begin + name).replace(" ", "_"): amount for name, amount in found.items() if amount is not None
        }
        if fields:
            yield Point(METRICS, tags, fields, _moment(event.time, event.seq, FILES["check_start"]))

    def _health(self, event: Event, run: str, verdict: str) -> Iterator[Point]:
        """The health of nodes, from runs that used one node only and from the scheduler: with several nodes, any one may be
        innocent.
        """
        tags = self._tags(run)
        nodes = names_in(str(event.value.get("nodes") or ""))
        found = {nodes[0]: HEALTHS[verdict]} if len(nodes) == 1 and verdict in HEALTHS else {}
        bad = event.value.get("failed_nodes")
        found |= dict.fromkeys(map(str, bad), "FAILED") if isinstance(bad, list) else {}
        for node, status in found.items():
            about = {"test": tags["test"], "machine": self.machine, "node": node}
            fields: dict[str, Field] = {"test_id": tags["test_id"], "status": status, "message": event.reason[:LONGEST]}
            yield Point(HEALTH, about, fields, _moment(event.time, event.seq, FILES["check_end"]))

    # ---- parts

    def _tags(self, run: str) -> dict[str, str]:
        case = self._cases.get(run, "")
        app = self.tests.get(case, case.partition("/")[0])
        return self._whole({"app": app, "test": case, "test_id": f"{self.campaign}.{run}"})

    def _whole(self, tags: Mapping[str, str]) -> dict[str, str]:
        return {**tags, "runtag": self.campaign, "machine": self.machine}

    def _event(
        self,
        event: Event,
        run: str,
        name: str,
        value: str = "",
        at: float | None = None,
        texts: Mapping[str, str] = MappingProxyType({}),
    ) -> Point:
        return self._point(self._tags(run), event, name, value, {**texts, "job_id": event.job}, at)

    def _point(
        self, tags: Mapping[str, str], event: Event, name: str, value: str, texts: Mapping[str, str], at: float | None
    ) -> Point:
        time = event.time if at is None else at
        kind, _, end = name.rpartition("_")
        told = dict(texts) | {
            "event_name": name,
            "event_type": kind,
            "event_subtype": end,
            "event_value": value,
            "event_time": datetime.fromtimestamp(time, UTC).isoformat(),
            "event_filename": f"Event_{FILES[name]}_{name}.txt",
        }
        fields: dict[str, Field] = {key: (told.get(key) or NOTHING)[:LONGEST] for key in _TEXTS}
        return Point(EVENTS, tags, fields, _moment(time, event.seq, FILES[name]))


def _moment(time: float, seq: int, file: int) -> int:
    """A time in nanoseconds. Events of one run at the same time differ in the last three digits: event of the harness, number in
    the log.
    """
    return int(time * 1_000_000) * 1000 + (file // 10 - 12) * 100 + seq % 100
