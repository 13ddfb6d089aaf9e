"""Every field of a plan is something to a settlement: an amendment of it asks less, eases runs, steers them, or is but words."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
import recompute_plans as script
import recompute_timed as script_timed
from acts_story import Acted, plan
from msgspec import Struct
from msgspec.structs import fields, replace

from shakedown.conductor.record.differences import differences
from shakedown.metrics.judging import fields as roles
from shakedown.metrics.judging.asked_less import asks_less, eased, eases_runs, steers_runs
from shakedown.metrics.judging.fields import RUNS, STEERS
from shakedown.metrics.judging.scorecard import NOT_KNOWN
from shakedown.metrics.judging.timed import timed_otherwise
from shakedown.metrics.requirements import requirements
from shakedown.metrics.rows.table import fold_runs
from shakedown.model import filling, nouns, resources
from shakedown.model.ladders import Ladder
from shakedown.model.nouns import Build, Case, Cluster, Component, Document, Need, Partition, Retry, System
from shakedown.model.observing import Observe
from shakedown.model.resources import Gpus, Resources
from shakedown.model.scaling import Scaling
from shakedown.report.evidence import find_evidence
from shakedown.report.tables.tables import make_tables

_OWN = ("Check", "TargetClass", "FileSystem", "Spack", "Toolchain", "Need", "Party", "Source")  # compared as wholes


def test_every_field_of_a_plan_is_in_a_table() -> None:
    kinds = [
        value
        for module in (nouns, filling, resources)
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Struct) and value.__module__ == module.__name__
    ]
    assert {kind.__name__ for kind in kinds} - {kind.__name__ for kind in roles.ROLES} == set(_OWN)
    for kind, table in roles.ROLES.items():
        named = [name for some in table.values() for name in some]
        assert sorted(named) == sorted(one.name for one in fields(kind)), kind.__name__


def _other(value: Any) -> Any:
    """Another value of the same kind, and a larger one."""
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case "link":
            return "copy"
        case "login":
            return "job"
        case str():
            return "other"
        case nouns.Patience():
            return replace(value, poll_s=9.0)
        case nouns.Limits():
            return replace(value, queued=7)
        case filling.Fill():
            return replace(value, target=0.5)
        case Resources():
            return Resources(constraint="good")
        case Gpus():
            return Gpus(count=2)
        case _:
            return (("other", 1.0),)


def _with(document: Document, kind: type[Struct], name: str) -> Document:
    """The plan with this field of the first noun of its kind changed."""
    system = document.system
    cluster = system.clusters[0]
    (part,), case, component = cluster.partitions, document.cases[0], document.components[0]

    def of(noun: Struct) -> Any:
        return replace(noun, **{name: _VALUES.get((kind, name), _other(getattr(noun, name)))})

    def on(changed: System) -> Document:
        return replace(document, system=changed)

    match kind:
        case nouns.Document:
            return of(document)  # type: ignore[no-any-return]
        case nouns.System:
            return on(of(system))
        case nouns.Cluster:
            return on(replace(system, clusters=(of(cluster), *system.clusters[1:])))
        case nouns.Partition:
            sent = replace(cluster, partitions=(of(part),))
            return on(replace(system, clusters=(sent, *system.clusters[1:])))
        case nouns.NodeType:
            return on(replace(system, node_types=(of(system.node_types[0]), *system.node_types[1:])))
        case nouns.Case:
            return replace(document, cases=(of(case), *document.cases[1:]))
        case nouns.Shape:
            return replace(document, cases=(replace(case, shape=of(case.shape)), *document.cases[1:]))
        case nouns.Build:
            return replace(document, builds=(of(document.builds[0]),))
        case nouns.Retry:
            retry = (of(component.retry[0]),)
            return replace(document, components=(replace(component, retry=retry), *document.components[1:]))
        case nouns.Component:
            return replace(document, components=(of(component), *document.components[1:]))
    raise AssertionError(kind)


_WHOLE = (nouns.Patience, nouns.Limits, filling.Fill, Gpus, Resources, filling.Window, filling.Yield, filling.Phase, filling.Sweep,
          filling.Pack, nouns.Drill, Observe)  # fmt: skip
_VALUES: dict[Any, Any] = {
    (Component, "sweep"): filling.Sweep(),
    (Component, "pack"): filling.Pack(),
    (Component, "ladder"): Ladder("nodes"),
    (Component, "set_up"): ("stream/a",),
    (Component, "clean_up"): ("stream/a",),
    (Component, "drills"): (nouns.Drill("failover", 60.0),),
    (Case, "partition"): "c4:batch",
    (Case, "needs"): (Need("stream/b"),),
    (Partition, "type"): "fat",
    (Partition, "options"): ("--exclude=c3n1",),
    (Cluster, "options"): ("--exclude=c3n1",),
}
_FIELDS = [
    (kind, name, role)
    for kind, table in roles.ROLES.items()
    if kind not in _WHOLE
    for role in (RUNS, STEERS)
    for name in table.get(role, ())
]


def _full() -> Document:
    """A plan with everything in it that a field is of."""
    document = plan()
    part, *rest = document.components
    fat = replace(document.system.node_types[0], name="fat", cores=64)
    system = replace(document.system, node_types=(*document.system.node_types, fat))
    part = replace(part, retry=(Retry("node_fail", 1),))
    return replace(document, system=system, components=(part, *rest), builds=(Build("k", "b", "", "make"),))


@pytest.mark.parametrize(
    ("kind", "name", "role"), _FIELDS, ids=[f"{kind.__name__}.{name}" for kind, name, _ in _FIELDS]
)
def test_a_field_that_runs_come_about_by_is_weighed(kind: type[Struct], name: str, role: str) -> None:
    """By the package and by the program that shares no code with it."""
    before, after = _full(), _with(_full(), kind, name)
    told = Acted(before)
    told.keep(after)
    old, new = told.plans.values()
    if role == RUNS:
        assert eases_runs(before, after) and asks_less(before, after) and eased(before, after)[1]
        assert script.eases(old, new)[1] == set(eased(before, after)[1])
    else:
        assert steers_runs(before, after) and not eases_runs(before, after)
        assert script.steers(old, new) and not any(script.eases(old, new))


def test_an_efficiency_that_is_reckoned_otherwise_and_what_is_watched_are_asked_less() -> None:
    document = plan()
    tests = tuple(replace(test, scaling=Scaling("nodes")) for test in document.tests)
    system = replace(document.system, fingerprint=(("kernel", "uname -r"),))
    before = replace(document, tests=tests, system=system, record_environment=("MINE",))
    weak = tuple(replace(test, scaling=Scaling("nodes", "weak")) for test in document.tests)
    told = Acted(before)
    for after, said in (
        (replace(before, tests=weak), "how stream scales as it was: it is reckoned otherwise now"),
        (replace(before, system=document.system), "what the fingerprint of each node asks: kernel"),
        (replace(before, record_environment=()), "variables that are recorded: MINE"),
    ):
        name = told.keep(after)
        assert said in asks_less(before, after) and asks_less(after, after) == ()
        assert script.asks_less(told.plans[told.record.document], told.plans[name])


def test_an_amendment_that_sends_runs_away_from_a_node_is_disputed_where_consent_is_missing() -> None:
    """By a constraint, a reservation, options of the cluster, or other nodes under the same number."""
    for change in (_constrained, _excluded, _swapped):
        for consent in (("amend",), ()):
            document = plan(consent=consent)
            told = Acted(document)
            told.run("speed", "stream/a")
            number = told.say(
                "amended", {"document": told.keep(change(document)), "by": "Bo", "difference": ["x"]}, "tidy"
            )
            for place, case in enumerate(("stream/b", "linpack/a", "stream/a", "stream/b", "linpack/a")):
                told.run("speed", case, repeat=1 + (place > 1))
            told.run("days", "stream/a")
            told.now += 600.0
            told.say("finding", {"kind": "time_is_up", "component": "days"})
            evidence = [{"name": "log", "sha256": "ab" * 32, "bytes": 3}]
            attested = {"component": "hands", "procedure": "diag", "met": True, "evidence": evidence, "by": "Bo"}
            told.agree(told.say("attested", attested, "seen"), "Ada")
            told.end()
            card = told.card()
            act = next(one for one in card.acts if one.number == number)
            assert act.without == NOT_KNOWN
            if consent or change is _swapped:
                assert card.without_acts.startswith(NOT_KNOWN)
            else:  # without the attestation, whatever the runs would have come to
                assert card.without_acts == "incomplete"
            assert f"the amendment by Bo (event {number})" in card.summary
            assert card.outcome == ("disputed" if consent else "accepted with restrictions"), card.summary
            if consent:
                assert any("but results that count were ordered or judged by it" in text for text in card.remarks)
            else:
                assert act.takes


def test_other_parties_and_clauses_under_the_same_words_are_told() -> None:
    """They restrict nothing, and are a remark with how it was; the difference of the amendment says them too."""
    document = plan()
    (contract,), (speed, *rest) = document.contracts, document.components
    before = replace(document, contracts=(replace(contract, parties=(("vendor", "V"), ("site", "S"))),))
    row, done = replace(contract.rows[0], clause="9.9"), replace(speed.criteria[0], clause="3.3")
    after = replace(
        before,
        contracts=(replace(contract, parties=(("vendor", "S"), ("site", "V")), rows=(row,)),),
        components=(replace(speed, criteria=(done, *speed.criteria[1:])), *rest),
    )
    told = Acted(before)
    told.run("speed", "stream/a")
    lines = differences(before, after)
    told.say("amended", {"document": told.keep(after), "by": "Bo", "difference": lines}, "tidy")
    assert "contract c is changed: vendor V -> S" in lines and "contract c is changed: site S -> V" in lines
    card = told.card()
    assert {
        "contract c names other parties since an amendment: vendor: S, before V; site: V, before S",
        "contract row c:1 (stream: rate >= 80) stands for clause 9.9 since an amendment, before for no clause",
        "criterion done of speed stands for clause 3.3 since an amendment, before for no clause",
    } <= set(card.remarks)
    assert not any(act.takes for act in card.acts)


NINE = "Each node streams nine GB/s at full load, on every node of the machine at once, in three runs of an hour each"
IDLE = "Each node streams nine GB/s at full load, on one idle node that the vendor chooses, in one run of a minute"


def test_other_words_of_a_contract_are_told_with_how_they_were_first_and_who_changed_them() -> None:
    """The bound is as it was: nothing is taken away, and nobody can overlook that the clause reads otherwise."""
    document = plan()
    (contract,) = document.contracts
    row = replace(contract.rows[0], text=NINE, clause="4.2")
    before = replace(document, contracts=(replace(contract, rows=(row,), title="All nodes"),))
    new = replace(contract, rows=(replace(row, text=IDLE, about="one core"),), title="A node")
    after = replace(before, contracts=(new,))
    told = Acted(before)
    told.run("speed", "stream/a")
    lines = differences(before, after)
    told.say("amended", {"document": told.keep(after), "by": "Bo", "difference": lines}, "tidy")
    assert "contract c is changed: title All nodes -> A node" in lines
    (said,) = [line for line in lines if ": text " in line]
    assert "on every node of" in said and "on one idle node" in said and len(said) <= 200
    assert any(": about none -> one core" in line for line in lines)
    card = told.card()
    assert not any(act.takes for act in card.acts)
    assert {
        "contract c is titled 'A node' since an amendment, before 'All nodes'",
        f"contract row c:1 (stream: rate >= 80) reads '{IDLE}' since an amendment, before '{NINE}'",
        "contract row c:1 (stream: rate >= 80) is about 'one core' since an amendment, before nothing",
    } <= set(card.remarks)
    record = fold_runs(told.events)
    record.plans = told.documents
    (asked,) = [one for one in requirements(after, record, card) if one.name == "c:1"]
    assert (asked.text, asked.first_text, asked.changed_by) == (IDLE, NINE, "Bo")
    table = make_tables(find_evidence(after, record, card), [])["requirements.csv"].decode("utf-8-sig")
    (line,) = [one for one in csv.DictReader(io.StringIO(table)) if one["name"] == "c:1"]
    assert (line["text"], line["first_text"], line["changed_by"]) == (IDLE, NINE, "Bo")


def test_a_clause_that_has_another_bound_with_its_other_words_keeps_its_first_ones() -> None:
    """Its bound was tightened, which takes nothing away; then two clauses exchange their words."""
    document = plan()
    (contract,) = document.contracts
    row = replace(contract.rows[0], text=NINE)
    other = replace(row, name="c:2", test="linpack", text="any node")
    before = replace(document, contracts=(replace(contract, rows=(row, other)),))
    tight = replace(row, must=">= 85", low=85.0, text=IDLE)
    second = replace(before, contracts=(replace(contract, rows=(tight, other)),))
    third = replace(
        before, contracts=(replace(contract, rows=(replace(tight, text="any node"), replace(other, text=IDLE))),)
    )
    told = Acted(before)
    for after, by in ((second, "Bo"), (third, "Ada")):
        told.say("amended", {"document": told.keep(after), "by": by, "difference": ["words"]}, "tidy")
    record = fold_runs(told.events)
    record.plans = told.documents
    asked = {one.name: one for one in requirements(third, record, told.card())}
    assert [(asked[name].first_text, asked[name].changed_by) for name in ("c:1", "c:2")] == [
        (NINE, "Ada"),
        ("any node", "Ada"),
    ]


def test_words_that_are_again_as_they_were_are_no_change() -> None:
    document = plan()
    (contract,) = document.contracts
    other = replace(document, contracts=(replace(contract, rows=(replace(contract.rows[0], text=NINE),)),))
    told = Acted(document)
    for changed in (other, document):
        lines = differences(told.documents[told.record.document], changed)
        told.say("amended", {"document": told.keep(changed), "by": "Bo", "difference": lines}, "tidy")
    assert not any("reads" in line for line in told.card().remarks)
    record = fold_runs(told.events)
    record.plans = told.documents
    assert not any(one.first_text for one in requirements(document, record, told.card()))


def _constrained(document: Document) -> Document:
    cases = [
        replace(case, shape=replace(case.shape, resources=Resources(constraint="good", reservation="r")))
        for case in document.cases
    ]
    return replace(document, cases=tuple(cases))


def _excluded(document: Document) -> Document:
    clusters = tuple(replace(cluster, options=("--exclude=c3n4",)) for cluster in document.system.clusters)
    return replace(document, system=replace(document.system, clusters=clusters))


def _swapped(document: Document) -> Document:
    """As many nodes, and others."""
    clusters = tuple(
        replace(cluster, partitions=(replace(cluster.partitions[0], nodes=f"{cluster.name}n[1-3,9]"),))
        for cluster in document.system.clusters
    )
    return replace(document, system=replace(document.system, clusters=clusters))


def test_what_fills_a_component_that_runs_for_a_time_is_weighed() -> None:
    """By the package and by the program that shares no code with it; what only moves its end is not."""
    before = _full()
    parts = tuple(replace(part, duration_s=part.duration_s or 60.0, name=part.name) for part in before.components)
    before = replace(before, components=parts)
    part, case, names = parts[0], before.cases[0], {one.name for one in parts}
    assert case.id in part.cases
    changes = (
        replace(before, components=(replace(part, cases=part.cases[1:]), *parts[1:])),
        replace(before, components=(replace(part, retry=(Retry("node_fail", 2),)), *parts[1:])),
        replace(before, components=(replace(part, duration_s=0.0), *parts[1:])),
        replace(before, cases=(replace(case, unavailable="no such compiler"), *before.cases[1:])),
        replace(before, cases=(replace(case, shape=replace(case.shape, time_limit_s=1e6)), *before.cases[1:])),
    )
    same = replace(before, components=(replace(part, duration_s=part.duration_s + 1.0), *parts[1:]))
    told = Acted(before)
    for after in (*changes, same):
        name = told.keep(after)
        found = timed_otherwise(before, after)
        assert found == script_timed.otherwise(told.plans[told.record.document], told.plans[name])
        assert (part.name in found) == (after is not same) and found <= names
