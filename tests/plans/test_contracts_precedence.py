"""Which rows are in force: against a naive implementation, and whatever the order they are written in."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from shakedown.model.judging import Contract, ContractRow
from shakedown.model.nouns import Case
from shakedown.plans.contracts.contract_rows import Matching, match_rows

PARAMETERS = {"n": ("1", "2", "3"), "m": ("x", "y")}
CASES = [
    Case(f"{test}/n={n},m={m}@{where}", test, f"c5:{where}", parameters=(("n", n), ("m", m)), toolchain=toolchain)
    for test in ("a", "b")
    for n in PARAMETERS["n"]
    for m in PARAMETERS["m"]
    for where, toolchain in (("batch", "gcc"), ("fast", "intel"))
]
WHERE = {**PARAMETERS, "partition": ("batch", "c5:fast"), "toolchain": ("gcc", "intel"), "system": ("c5", "c6")}


@st.composite
def rows(draw: st.DrawFn) -> list[ContractRow]:
    made = []
    for number in range(draw(st.integers(1, 8))):
        keys = draw(st.lists(st.sampled_from(list(WHERE)), unique=True, max_size=3))
        where = tuple((k, tuple(draw(st.lists(st.sampled_from(WHERE[k]), min_size=1, unique=True)))) for k in keys)
        low = draw(st.sampled_from([None, 1.0]))
        made.append(
            ContractRow(
                f"c:{number + 1}",
                "c",
                draw(st.sampled_from(["a", "b"])),
                draw(st.sampled_from(["triad", "elapsed"])),
                "as it is",
                draw(st.sampled_from(["contract", "vendor"])),
                where,
                low=low,
                high=draw(st.sampled_from([2.0, 3.0])) if low is None else draw(st.sampled_from([None, 2.0])),
                mode=draw(st.sampled_from(["", "fill"])),
            )
        )
    return made


def naive(rows: list[ContractRow], case: Case) -> dict[str, set[str]]:
    """The rows in force with the bounds that are, by asking of each bound whether any rival bounds that side more specifically."""

    def asks(row: ContractRow) -> bool:
        facts = dict(case.parameters) | {"toolchain": case.toolchain, "system": "c5"}
        for key, values in row.where:
            if key == "partition":
                if case.partition not in values and case.partition.split(":")[1] not in values:
                    return False
            elif facts[key] not in values:
                return False
        return row.test == case.test

    def rank(row: ContractRow) -> tuple[int, int]:
        return len(row.where), len([key for key, values in row.where if len(values) < 2])

    def rivals(row: ContractRow) -> list[ContractRow]:
        return [r for r in rows if asks(r) and (r.figure, r.basis, r.mode) == (row.figure, row.basis, row.mode)]

    found: dict[str, set[str]] = {}
    for row in filter(asks, rows):
        for side in ("low", "high"):
            others = [rank(r) for r in rivals(row) if getattr(r, side) is not None]
            if getattr(row, side) is not None and all(other <= rank(row) for other in others):
                found.setdefault(row.name, set()).add(side)
    return found


def bounds(matching: Matching, rows: list[ContractRow], case: Case) -> dict[str, set[str]]:
    """What the matching says of a case: row -> the bounds of it that are in force."""
    half = dict(matching.sides.get(case.id, ()))
    both = {row.name: {side for side in ("low", "high") if getattr(row, side) is not None} for row in rows}
    return {name: {half[name]} if name in half else both[name] for name in matching.in_force[case.id]}


@given(rows())
def test_matching_agrees_with_a_naive_implementation(rows: list[ContractRow]) -> None:
    matching = match_rows([Contract("c", tuple(rows))], CASES, "c5")
    assert {case.id: bounds(matching, rows, case) for case in CASES} == {case.id: naive(rows, case) for case in CASES}


@given(rows(), st.randoms(use_true_random=False))
def test_precedence_does_not_depend_on_the_order_of_rows(rows: list[ContractRow], random: object) -> None:
    shuffled = list(rows)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = (match_rows([Contract("c", tuple(order))], CASES, "c5") for order in (rows, shuffled))
    assert {k: set(v) for k, v in one.in_force.items()} == {k: set(v) for k, v in other.in_force.items()}
    assert {frozenset(pair) for pair in one.ties} == {frozenset(pair) for pair in other.ties}
    assert {frozenset(pair) for pair in one.contradictions} == {frozenset(pair) for pair in other.contradictions}
    assert {k: set(v) for k, v in one.lost.items()} == {k: set(v) for k, v in other.lost.items()}


@given(rows())
def test_a_row_that_matches_is_wholly_in_force_or_lost_to_one_that_is(rows: list[ContractRow]) -> None:
    matching = match_rows([Contract("c", tuple(rows))], CASES, "c5")
    for row in rows:
        for case in matching.matched[row.name]:
            beaten = [winner for (loser, winner), cases in matching.lost.items() if loser == row.name and case in cases]
            half = row.name in dict(matching.sides.get(case, ()))
            assert (row.name in matching.in_force[case] and not half) != bool(beaten)
            assert all(winner in matching.in_force[case] for winner in beaten)


@given(rows())
def test_rows_of_two_contracts_never_compete(rows: list[ContractRow]) -> None:
    from msgspec.structs import replace

    other = Contract("d", tuple(replace(row, contract="d", name=f"d:{row.name}") for row in rows))
    alone = match_rows([Contract("c", tuple(rows))], CASES, "c5")
    both = match_rows([Contract("c", tuple(rows)), other], CASES, "c5")
    for case in CASES:
        assert [name for name in both.in_force[case.id] if name.startswith("c:")] == list(alone.in_force[case.id])
        assert len(both.in_force[case.id]) == 2 * len(alone.in_force[case.id])
