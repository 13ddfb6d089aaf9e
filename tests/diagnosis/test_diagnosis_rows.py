"""What counts for a node and what does not; the table; how much data it takes; damaged rows."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
from msgspec.structs import replace
from nodes_as_rows import Load, Machine, campaign, name_of

from shakedown.diagnosis.node_report import examine_nodes, examine_rows, excluded_nodes, least_failures, setting_of
from shakedown.diagnosis.trials import Setting, failure_trials, timed_trials
from shakedown.metrics.rows.rows import NoteRow, RunRow
from shakedown.metrics.rows.table import Record
from shakedown.model.events import VERDICTS
from shakedown.model.nouns import Case, Cluster, Document, NodeType, Partition, System

PLAIN = Setting({}, {})


def row(number: int, verdict: str = "passed", nodes: str = "n1", **more: Any) -> RunRow:
    start = 60.0 * number
    usual: dict[str, Any] = {
        "run": f"r{number:06d}", "case": "t/x", "component": "main", "repeat": number, "attempt": 1, "reason": "",
        "seq": number, "time": start + 40.0, "result": number, "job": f"j{number}", "started": start, "ended": start + 36.0,
        "elapsed_s": 36.0,
    }  # fmt: skip
    return RunRow(verdict=verdict, nodes=nodes, **(usual | more))


def failures(rows: list[RunRow], setting: Setting = PLAIN) -> list[str]:
    trials = failure_trials(rows, setting)
    return [one.run for one, value in zip(trials.rows, trials.value, strict=True) if value]


@pytest.mark.parametrize("verdict", list(VERDICTS))
def test_only_verdicts_that_a_node_can_cause_count(verdict: str) -> None:
    counted = {"passed", "failed", "incorrect", "performance", "timeout", "node_fail"}
    trials = failure_trials([row(1, verdict)], PLAIN)
    assert len(trials.rows) == (verdict in counted)
    assert (failures([row(1, verdict)]) != []) == (verdict in counted - {"passed"})


@pytest.mark.parametrize(
    ("party", "counts"), [("application", 0), ("harness", 0), ("excused", 0), ("vendor", 1), ("site", 1)]
)
def test_a_ruling_says_that_it_was_not_the_node(party: str, counts: int) -> None:
    assert len(failures([row(1, "failed", ruling=party)])) == counts


def test_what_ended_as_its_case_expects_is_no_failure() -> None:
    assert failures([row(1, "timeout")], Setting({"t/x": "timeout"}, {})) == []


def test_a_run_without_nodes_or_with_names_that_cannot_be_read_is_no_trial_and_is_said() -> None:
    rows = [row(1, nodes=""), row(2, nodes="n[1-"), row(3), row(4, nodes="n2")]
    examined = examine_rows(rows, PLAIN)
    assert [one.run for one in failure_trials(rows, PLAIN).rows] == ["r000003", "r000004"]
    assert examined.unplaced == 1


@pytest.mark.parametrize("rows", [[], [row(1, nodes="")], [row(1)]])
def test_hours_are_a_number_of_the_same_kind_with_runs_and_without(rows: list[RunRow]) -> None:
    """A fold that is kept and read again says 0.0 of a node without runs; so does the log."""
    (node,) = [one for one in examine_rows(rows, Setting({}, {}, nodes=("n1",))).nodes if one.node == "n1"]
    assert isinstance(node.hours, float)


def test_a_job_that_ends_counts_once_however_many_runs_it_held() -> None:
    """A pack of forty cases of one test is killed; a sweep of five tests loses its node."""
    pack = [row(n, "failed", case=f"mini/size={n}", job="j1", started=1.0) for n in range(40)]
    sweep = [row(n, "node_fail", "n2", case=f"t{n}/x", job="j2") for n in range(50, 55)]
    assert failures([*pack, *sweep]) == ["r000000", "r000050"]


def test_of_different_tests_in_one_job_each_counts_unless_nothing_else_ran_in_between() -> None:
    rows = [row(2 * n, "failed", "n2", case=f"t{n}/x", job="j2") for n in range(3)]
    between = [row(2 * n + 1, "passed", f"n{7 + n}") for n in range(3)]
    assert failures(rows + between) == ["r000000", "r000002", "r000004"]
    assert failures(rows) == ["r000000"]


def test_a_job_s_runs_of_one_case_are_one_trial_of_time() -> None:
    rows = [row(2 * n, elapsed_s=36.0 + n, job="j1") for n in range(5)] + [row(2 * n + 1, nodes="n2") for n in range(5)]
    assert [one.run for one in timed_trials(rows, PLAIN).rows] == [f"r{n:06d}" for n in (0, 1, 3, 5, 7, 9)]


def test_runs_right_after_each_other_on_the_same_nodes_are_one_trial_of_time() -> None:
    rows = [row(n, nodes="n1" if n < 5 else "n2") for n in range(8)] + [row(9)]
    assert [one.run for one in timed_trials(rows, PLAIN).rows] == ["r000000", "r000005", "r000009"]


def test_time_is_compared_inside_a_case_a_mode_and_an_epoch() -> None:
    apart = [("t/x", "", 1), ("t/x", "fill", 1), ("t/x", "", 2), ("t/y", "", 1)]
    rows = [
        row(n, case=case, mode=mode, epoch=epoch, elapsed_s=10.0 * n) for n, (case, mode, epoch) in enumerate(apart, 1)
    ]
    assert timed_trials(rows, PLAIN).value.tolist() == [0.0] * 4


def test_no_time_or_none_that_can_be_is_left_out() -> None:
    rows = [row(1, elapsed_s=None), row(2, elapsed_s=0.0), row(3, "failed"), row(4, "incorrect")]
    assert [one.run for one in timed_trials(rows, PLAIN).rows] == ["r000004"]


def test_a_figure_tells_what_the_time_does_not() -> None:
    """Memory of n5 is slow: the test takes as long as it is told to, and says fewer GB/s; where lower is better, the inverse."""
    dice = random.Random(3)
    nodes = [f"n{node}" for node in range(20) for _ in range(10)]
    dice.shuffle(nodes)
    rows = [
        row(n, nodes=node, figures={"triad": dice.gauss(100, 1) * (0.8 if node == "n5" else 1.0)})
        for n, node in enumerate(nodes)
    ]
    setting = Setting({}, {}, figures={"t/x": {"triad": True}})
    (found,) = examine_rows(rows, setting).findings
    assert (found.kind, found.figure, found.nodes) == ("node-slow", "triad", "n5")
    assert found.ratio == pytest.approx(1.25, abs=0.02)
    assert found.sentence.startswith("n5: triad of its runs is 1.2")
    assert "times worse than is usual for their cases (median); 10 of 10 are in the worst t" in found.sentence
    upside_down = [replace(one, figures={"latency": 1.0 / one.figures["triad"]}) for one in rows]
    (other,) = examine_rows(upside_down, Setting({}, {}, figures={"t/x": {"latency": False}})).findings
    assert (other.figure, other.nodes, other.evidence) == ("latency", "n5", found.evidence)
    assert examine_rows(rows, PLAIN).findings == ()


def test_a_node_whose_time_tells_it_is_not_told_again_by_a_figure_of_the_same_runs() -> None:
    rows = campaign(Machine(40, slow={5: 1.5}), [Load("a/x")], 600, 3)
    both = [replace(one, figures={"rate": 1.0 / (one.elapsed_s or 1.0)}) for one in rows]
    found = examine_rows(both, Setting({}, {}, figures={"a/x": {"rate": True}})).findings
    assert [(one.figure, one.nodes) for one in found] == [("elapsed", name_of(5))]


# ---- the table -------------------------------------------------------------------------------------------------------


def test_a_line_for_each_node() -> None:
    rows = [
        row(1),
        row(2, "failed"),
        row(3, "node_fail", "n[1-2]"),
        row(4, "failed", ruling="application"),
        row(5, "cancelled"),
    ]
    examined = examine_rows(rows, Setting({}, {}, ("n1", "n2", "n3", "n4")), frozenset({"n2"}))
    first, second, third, _ = examined.nodes
    assert (first.node, first.runs, first.counted, first.failed, first.node_fail) == ("n1", 5, 3, 2, 1)
    assert first.hours == pytest.approx(0.05)
    assert first.failure_rate == pytest.approx(2 / 3)
    assert (second.node, second.runs, second.excluded, second.note) == ("n2", 1, True, "excluded")
    assert (third.runs, third.failure_rate, third.slowness, third.hours) == (0, None, None, 0.0)
    assert examined.unused == "n[3-4]"


def test_exclusions_are_read_from_the_record_the_last_word_on_each_node() -> None:
    record = Record()
    record.notes = [
        NoteRow("excluded", 1.0, "", {"nodes": ["n[1-3]", "n7"]}, 1),
        NoteRow("excluded", 2.0, "", {"nodes": "n9"}, 2),
        NoteRow("excluded", 2.0, "", {"nodes": 5}, 2),
        NoteRow("included", 3.0, "", {"nodes": ["n2"]}, 3),
    ]
    assert excluded_nodes(record) == {"n1", "n3", "n7", "n9"}


def two_clusters() -> Document:
    clusters = tuple(Cluster(name, "slurm", (Partition("batch", name, "n[1-4]", 4, "rome"),)) for name in ("c3", "c4"))
    cases = tuple(
        Case(f"t/{name}", "t", f"{name}:batch", expect="failed" if name == "c4" else "") for name in ("c3", "c4")
    )
    return Document("p", System("s", clusters, (NodeType("rome"),)), (), cases, ())


def test_nodes_of_the_same_name_on_two_clusters_are_two() -> None:
    setting = setting_of(two_clusters())
    assert setting.nodes == tuple(f"{cluster}:n{n}" for cluster in ("c3", "c4") for n in (1, 2, 3, 4))
    assert setting.expected == {"t/c4": "failed"}
    record = Record()
    record.runs = [row(1, case="t/c3"), row(2, "failed", case="t/c4")]
    nodes = {one.node: (one.runs, one.failed) for one in examine_nodes(two_clusters(), record).nodes if one.runs}
    assert nodes == {"c3:n1": (1, 0), "c4:n1": (1, 0)}


# ---- how it is said --------------------------------------------------------------------------------------------------


def test_the_sentence_says_who_how_often_against_what_how_sure_and_which_runs() -> None:
    found = examine_rows(campaign(Machine(200, bad={7: 0.5}), [Load("a/x"), Load("b/x", 4)], 2000, 1), PLAIN).findings
    assert len(found) == 1
    wanted = r"n00007: \d+ of its \d+ runs failed, elsewhere \d+ of \d+ of the same cases; corrected p = [\d.]+e-\d\d; "
    wanted += r"(r\d{6}, ){5}r\d{6} and \d+ more"
    assert re.fullmatch(wanted, found[0].sentence)
    assert len(found[0].evidence) == found[0].on_it.hits
    assert found[0].p < 1e-6
    assert found[0].advice


def test_failures_within_the_hour_are_told_with_a_word_of_caution() -> None:
    rows = [row(n, nodes=f"n{n % 40 + 2}", started=100.0 * n, ended=100.0 * n + 90) for n in range(400)]
    quick = [row(500 + n, "failed", "n1", started=20001.0 + 100 * n, ended=20002.0 + 100 * n) for n in range(8)]
    (finding,) = examine_rows(rows + quick, PLAIN).findings
    assert "; all within 12 minutes: look for what else happened then; " in finding.sentence


def test_how_much_data_it_takes() -> None:
    clean = examine_rows(campaign(Machine(40), [Load("a/x")], 400, 3), PLAIN)
    assert clean.findings == ()
    first, second = clean.enough[:2]
    assert re.fullmatch(r"\d+ failures? counted in \d+ runs on 40 nodes \(.*%\)", first)
    assert re.fullmatch(
        r"a node is found from about \d runs on, if all of them fail; of the usual 10 runs about \d must fail", second
    )
    assert examine_rows([row(1), row(2, "failed")], PLAIN).enough == (
        "runs on one node, or on none, have nothing to be compared with",
    )
    apart = [row(n, case=f"t/{n}", nodes=f"n{n}") for n in range(50)]
    assert (
        examine_rows(apart, PLAIN).enough[1]
        == "that is too few runs of each case: no node could be found, whatever failed on it"
    )


def test_the_least_number_of_failures_is_the_binomial_s() -> None:
    from scipy import stats

    for chance, nodes, runs in ((0.02, 200, 20), (0.2, 16, 40), (0.03, 20000, 5), (0.05, 100, 3000)):
        least = least_failures(chance, nodes, runs)
        assert least is not None
        assert stats.binom.sf(least - 1, runs, chance) <= 0.005 / nodes < stats.binom.sf(least - 2, runs, chance)
    assert least_failures(0.5, 2000, 5) is None


def test_two_thousand_nodes_and_thousands_of_wide_runs_are_examined_whole() -> None:
    rows = campaign(Machine(2000, bad={9: 0.5}), [Load("a/x", 96), Load("b/x"), Load("c/x", 16)], 4000, 1)
    examined = examine_rows(rows, Setting({}, {}, tuple(map(name_of, range(2000)))))
    assert [finding.nodes for finding in examined.findings] == [name_of(9)]
    assert len(examined.nodes) == 2000
    assert replace(examined.nodes[9], hours=0.0).findings == ("node-failures",)
