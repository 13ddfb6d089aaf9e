"""The record as rows: every verdict once, old ones visible, nothing dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shakedown.metrics.judging.populations import populations
from shakedown.metrics.rows.table import Record, fold_runs
from shakedown.model.events import Event

if TYPE_CHECKING:
    from tests.metrics.conftest import Story


def test_a_run_from_its_order_to_its_verdict(story: Story) -> None:
    story.add(
        "submit_order", run="r000001", job="j000001", case="a", value={"component": "main", "repeat": 2, "attempt": 1}
    )
    story.add("job_report", job="j000001", run="r000001", value={"state": "running", "source": "marks"})
    record = story.record()
    assert record.open["r000001"].state == "running" and not record.runs
    story.add(
        "verdict",
        run="r000001",
        case="a",
        reason="every check held",
        value={
            "verdict": "passed", "component": "main", "repeat": 2, "attempt": 1, "started": 1001.5, "ended": 1003.0,
            "elapsed_s": 1.5, "exit": 0, "figures": {"triad": 3.5}, "checks": [["exit is 0", True, ""]],
            "nodes": "n1", "output": {"pack": "000001.pack", "offset": 0, "bytes": 9}, "excerpt": "done",
        },
    )  # fmt: skip
    (row,) = (record := story.record()).runs
    assert not record.open
    assert (row.run, row.case, row.component, row.repeat, row.attempt, row.job) == (
        "r000001",
        "a",
        "main",
        2,
        1,
        "j000001",
    )
    assert (row.verdict, row.reason, row.started, row.ended, row.elapsed_s, row.exit) == (
        "passed", "every check held", 1001.5, 1003.0, 1.5, 0,
    )  # fmt: skip
    assert row.figures == {"triad": 3.5} and row.checks == (("exit is 0", True, ""),)
    assert row.output == {"pack": "000001.pack", "offset": 0, "bytes": 9} and row.excerpt == "done"


def test_a_superseded_verdict_stays_visible_and_does_not_count(story: Story) -> None:
    run = story.run("a", "incorrect", started=5.0, elapsed_s=2.0, output={"file": "outputs/x", "bytes": 3})
    old = len(story.events)
    new = story.add("verdict", run=run, case="a", value={"verdict": "passed", "supersedes": old}, reason="judged again")
    record = story.record()
    first, second = record.runs
    assert (first.verdict, first.superseded_by, first.seq) == ("incorrect", new, old)
    assert (second.verdict, second.supersedes, second.reason) == ("passed", old, "judged again")
    assert (second.started, second.elapsed_s, second.output) == (5.0, 2.0, {"file": "outputs/x", "bytes": 3})
    assert list(record.current()) == [second]


def test_a_second_verdict_that_supersedes_nothing_is_said_and_the_first_stands(story: Story) -> None:
    run = story.run("a", "passed")
    story.add("verdict", run=run, case="a", value={"verdict": "failed"})
    record = story.record()
    assert [row.verdict for row in record.current()] == ["passed"]
    assert record.irregular == [
        "event 4: a second verdict on r000001 that supersedes nothing; the first, event 3, stands"
    ]
    assert record.irregular[0] in story.card().remarks


def test_unknown_events_are_kept_and_counted_by_name(story: Story) -> None:
    for _ in range(2):
        story.add("teleported", value={"where": "Mars"})
    story.run("a")
    record = story.record()
    assert record.unknown == {"teleported": 2}
    assert record.events == 5 and len(record.runs) == 1
    assert any("2 events named 'teleported'" in remark for remark in story.card().remarks)


def test_one_by_one_or_at_once_is_the_same(story: Story) -> None:
    run = story.run("a", "node_fail")
    story.add("retry", run=run, case="a", value={"component": "main", "repeat": 1, "attempt": 2})
    story.run("a", attempt=2)
    story.end()
    record = Record()
    for event in story.events:
        record.add(event)
    assert record == fold_runs(story.events)


def test_attempts_at_the_same_wanted_result_share_its_number(story: Story) -> None:
    run = story.run("a", "node_fail")
    story.add("retry", run=run, case="a", value={"component": "main", "repeat": 1, "attempt": 2})
    story.run("a", attempt=2)
    story.run("a", repeat=2)
    first, second, third = story.record().runs
    assert first.result == second.result != third.result
    assert first.retried and not second.retried


def test_a_run_whose_claim_was_taken_waits_again_under_its_name(story: Story) -> None:
    ids = {"component": "main", "repeat": 1, "attempt": 1}
    story.case("a")
    story.add("submit_order", run="r000001", job="j000001", case="a", value=ids)
    story.add("claim_taken", job="j000001", run="r000001")
    assert story.record().open["r000001"].state == "waiting again"
    story.add("submit_order", run="r000001", job="j000002", case="a", value=ids)
    story.add("verdict", run="r000001", case="a", value=ids | {"verdict": "passed"})
    (row,) = story.record().runs
    assert row.job == "j000002" and row.result == 1


def test_builds_findings_drivers_and_amendments_have_rows(story: Story) -> None:
    story.add("driver_start", value={"epoch": 1, "driver": {"host": "here"}})
    story.add("build_order", build="abc", value={"now": 1.0, "at": 2})
    story.add("build_start", build="abc", value={"identity": "12"})
    story.add(
        "build_end", build="abc", value={"state": "failed", "log": "builds/abc.log", "elapsed_s": 2.5}, reason="no cc"
    )
    story.add("finding", run="r000001", value={"kind": "late_mark"}, reason="a mark came late")
    story.end()
    story.add("amended", value={"document": "e" * 64, "who": "ann"}, reason="more repeats")
    record = story.record()
    build = record.builds["abc"]
    assert (build.state, build.elapsed_s, build.log, build.reason) == ("failed", 2.5, "builds/abc.log", "no cc")
    assert [note.kind for note in record.of_kind("driver_start", "finding", "amended")] == [
        "driver_start", "finding", "amended",
    ]  # fmt: skip
    assert (record.document, record.epoch, record.ended) == ("e" * 64, 2, None)


def test_values_that_are_no_numbers_are_named_not_believed(story: Story) -> None:
    figures = {"fine": 2, "none": 0, "text": "3", "huge": 1e300, "least": 1e100, "tiny": -5e-324}
    figures |= {"vast": 10**400, "yes": True, "nan": float("nan")}
    story.run("a", figures=figures, elapsed_s="soon", checks=["odd", ["short"]], nodes=None)
    (row,) = story.record().runs
    assert row.figures == {"fine": 2.0, "none": 0.0} and row.elapsed_s is None
    assert row.problems == (
        "figure text: '3' is no number",
        "figure huge: 1e+300 is no measurement: its size is 1e+100 or more",
        "figure least: 1e+100 is no measurement: its size is 1e+100 or more",
        "figure tiny: -4.94066e-324 is no measurement: it is not 0, and its size is below 1e-100",
        "figure vast: a whole number that long is no measurement",
        "figure yes: 'True' is no number",
        "figure nan: nan is no measurement: its size is 1e+100 or more",
    )
    assert row.checks == (("odd", None, ""), ("short", None, ""))


def test_an_empty_log_is_a_record_too() -> None:
    record = fold_runs([])
    assert (record.events, record.runs, record.started, record.ended) == (0, [], None, None)


def test_what_is_unavailable_is_asked_anew_after_an_amendment(story: Story) -> None:
    story.case("a")
    story.add("unavailable", case="a", value={"component": "main"}, reason="no hpcc; apt-get install hpcc")
    assert [row.reason for row in populations(story.document(), story.record())["main"].unavailable] == [
        "no hpcc; apt-get install hpcc"
    ]
    story.add("amended", value={"document": "e" * 64})
    assert populations(story.document(), story.record())["main"].to_come == 1


def test_fields_of_an_event_are_never_altered(story: Story) -> None:
    story.run("a", figures={"triad": 1})
    before = [repr(event) for event in story.events]
    story.card(ended=False)
    assert [repr(event) for event in story.events] == before
    assert isinstance(story.events[0], Event)
