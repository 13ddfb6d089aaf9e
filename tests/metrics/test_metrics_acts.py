"""What people say and what is found of the machine, folded into the record; old logs fold as before."""

from __future__ import annotations

from typing import Any

from shakedown.metrics.rows.table import Record, fold_runs
from shakedown.model.events import Event


def events(*entries: tuple[str, dict[str, Any]]) -> list[Event]:
    """Events in order; ``run``, ``case``, ``job`` and ``reason`` are fields of the event, the rest is its value."""
    found = []
    for seq, (name, facts) in enumerate(entries, 1):
        fields = {key: facts.pop(key) for key in ("run", "case", "job", "reason") if key in facts}
        found.append(Event(name, seq=seq, time=float(seq), value=facts, **fields))
    return found


def order(run: str, **more: Any) -> tuple[str, dict[str, Any]]:
    facts = {"run": run, "job": f"j{run[1:]}", "case": "c", "component": "pt", "repeat": 1, "attempt": 1}
    return "submit_order", facts | more


def verdict(run: str, word: str = "passed", **more: Any) -> tuple[str, dict[str, Any]]:
    return "verdict", {"run": run, "case": "c", "verdict": word, "component": "pt", "repeat": 1, "attempt": 1} | more


START = ("campaign_start", {"document": "d"})


def rows(record: Record) -> dict[str, Any]:
    return {row.run: row for row in record.current()}


def test_modes_keep_wanted_results_apart() -> None:
    entries = [START]
    for number, more in enumerate(
        [
            {},
            {"mode": "isolated"},
            {"mode": "fill"},
            {"mode": "warm-up", "of": "isolated"},
            {"mode": "warm-up", "of": "fill"},
        ],
        1,
    ):
        entries += [order(f"r{number}", **more), verdict(f"r{number}", **more)]
    found = rows(fold_runs(events(*entries)))
    assert [row.mode for row in found.values()] == ["", "isolated", "fill", "warm-up", "warm-up"]
    assert len({row.result for row in found.values()}) == 5


def test_a_retry_in_a_mode_is_an_attempt_at_the_same_result() -> None:
    fill = {"mode": "fill"}
    entries = [
        START,
        order("r1", **fill),
        verdict("r1", "node_fail", **fill),
        order("r2", attempt=2, **fill),
        verdict("r2", attempt=2, **fill),
    ]
    found = rows(fold_runs(events(*entries)))
    assert found["r1"].result == found["r2"].result


def test_a_verdict_without_a_mode_takes_that_of_its_order() -> None:
    assert rows(fold_runs(events(START, order("r1", mode="fill"), verdict("r1"))))["r1"].mode == "fill"


def test_the_last_ruling_counts_and_outlives_a_new_verdict() -> None:
    record = fold_runs(
        events(
            START,
            order("r1"),
            verdict("r1", "failed"),
            ("ruled", {"run": "r1", "as": "site", "by": "A", "reason": "x"}),
            ("ruled", {"run": "r1", "as": "vendor", "by": "B"}),
            verdict("r1", "incorrect", supersedes=3),
        )
    )
    assert (rows(record)["r1"].verdict, rows(record)["r1"].ruling) == ("incorrect", "vendor")
    assert [(row.party, row.by, row.reason) for row in record.rulings] == [("site", "A", "x"), ("vendor", "B", "")]
    assert [note.kind for note in record.of_kind("ruled")] == ["ruled", "ruled"]


def test_a_ruling_on_what_is_not_judged_is_said() -> None:
    record = fold_runs(events(START, order("r1"), ("ruled", {"run": "r1", "as": "site"})))
    assert record.irregular == ["event 3: a ruling on r1, which is not judged"]


def test_epochs_open_by_amendments_changes_and_a_machine_that_differs() -> None:
    record = fold_runs(
        events(
            START,
            ("fingerprint", {"digest": "a"}),
            ("fingerprint", {"digest": "a"}),
            ("changed", {"by": "Bo", "reason": "LNet"}),
            ("fingerprint", {"digest": "b", "since_last": ["n3: libm: 1 -> 2"]}),
            ("amended", {"document": "e", "difference": ["test t is changed"], "by": "C"}),
        )
    )
    assert [(row.number, row.opened_by, row.by, row.difference) for row in record.epochs] == [
        (1, "campaign_start", "", ()),
        (2, "changed", "Bo", ()),
        (3, "fingerprint", "", ("n3: libm: 1 -> 2",)),
        (4, "amended", "C", ("test t is changed",)),
    ]
    assert [(row.digest, row.changed, row.epoch) for row in record.fingerprints] == [
        ("a", False, 1),
        ("a", False, 1),
        ("b", True, 3),
    ]
    assert record.epoch == 4


def test_the_engine_counts_the_same_epochs() -> None:
    from shakedown.engine import State
    from shakedown.engine.fold.campaign import fingerprint, opens_epoch

    state, digests = State(epoch=1), ["a", "a", "b", "b", "a"]
    for number, digest in enumerate(digests, 1):
        fingerprint(state, Event("fingerprint", seq=number, value={"digest": digest}))
    opens_epoch(state, Event("changed", seq=9))
    record = fold_runs(events(START, *(("fingerprint", {"digest": digest}) for digest in digests), ("changed", {})))
    assert state.epoch == record.epoch == 4


def test_what_waits_when_the_machine_changes_belongs_to_the_new_epoch_and_what_runs_does_not() -> None:
    record = fold_runs(
        events(
            START,
            order("r1"),
            order("r2"),
            ("job_report", {"job": "j1", "run": "r1", "state": "running"}),
            ("job_report", {"job": "j2", "run": "r2", "state": "queued"}),
            ("changed", {}),
            ("amended", {"document": "e"}),
            order("r3"),
            verdict("r1"),
            verdict("r2"),
            verdict("r3"),
        )
    )
    assert {row.run: row.epoch for row in record.current()} == {"r1": 1, "r2": 2, "r3": 3}


def test_a_job_of_an_older_plan_is_not_moved_past_the_amendment() -> None:
    record = fold_runs(events(START, order("r1"), ("amended", {"document": "e"}), ("changed", {}), verdict("r1")))
    assert (rows(record)["r1"].epoch, record.epoch) == (1, 3)


def test_waivers_attestations_outcomes_and_seals() -> None:
    record = fold_runs(
        events(
            START,
            ("waived", {"what": "gate", "component": "ft", "restriction": "r", "by": "A"}),
            ("attested", {"component": "vt", "procedure": "p", "met": False, "by": "A"}),
            (
                "attested",
                {"component": "vt", "procedure": "p", "met": True, "evidence": [{"name": "f", "sha256": "0"}]},
            ),
            ("component_outcome", {"component": "ft", "outcome": "not met", "reason": "passed: 1 of 2"}),
            ("sealed", {"digest": "ab", "through": 5, "outcome": "rejected", "by": "A"}),
        )
    )
    assert [(row.what, row.component, row.restriction, row.by) for row in record.waivers] == [("gate", "ft", "r", "A")]
    assert record.attestations["vt", "p"].met is True
    assert record.attestations["vt", "p"].evidence == (("f", "0"),)
    assert (record.outcomes["ft"].outcome, record.outcomes["ft"].reason) == ("not met", "passed: 1 of 2")
    assert [(row.digest, row.through, row.outcome, row.seq) for row in record.seals] == [("ab", 5, "rejected", 6)]


def test_events_that_are_not_well_formed_do_no_harm() -> None:
    strange: dict[str, Any] = {
        "as": 7,
        "groups": [3, None],
        "evidence": "x",
        "difference": 5,
        "through": "y",
        "met": "yes",
    }
    names = ["ruled", "changed", "waived", "attested", "fingerprint", "component_outcome", "sealed"]
    record = fold_runs(events(START, *((name, dict(strange)) for name in names), *((name, {}) for name in names)))
    assert record.attestations["", ""].met is False
    assert record.fingerprints[0].groups == ()
