"""Checks with a reference: what is frozen of it, a case's own, and what is told of wrong maps."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from shakedown.engine import index_plan
from shakedown.model.errors import ShakedownError
from shakedown.model.figures import Table
from shakedown.model.nouns import Check, Document
from shakedown.model.references import Curve, Numbers, curve_of, numbers_of, references_in

SYSTEM = """\
system: box
clusters: {box: {scheduler: local, partitions: {all: {nodes: n1, type: t}}}}
node_types: {t: {cores: 4}}
"""
TEST = """\
test: m
parameters: {n: [2, 3]}
run: {command: "echo {n}"}
check:
"""
PLAN = "plan: p\nsystem: box\ncomponents: [{functionality: {tests: [m]}}]\n"
EQUAL = "  - files equal within: {file: out.dat, reference: ref/out.nc, relative: 1%, columns: [t, p]}\n"
CURVE = "  - curve within: {table: {header: ^size}, x: size, y: bw, reference: ref/out.csv, within: 5%}\n"


@pytest.fixture
def room(site: Any) -> Any:
    site.write("systems/box.yaml", SYSTEM)
    for name in ("out.nc", "out.csv", "out-2.dat", "out-3.dat"):
        site.write(f"tests/ref/{name}", written(name))
    return site


def document(room: Any, checks: str) -> Document:
    room.test(TEST + checks, "tests/m.yaml")
    found: Document = room.plan(PLAN)
    return found


def written(name: str) -> str:
    return "size,bw\n1,10\n2,20\n" if name.endswith(".csv") else f"{name}\n"


def sum_of(name: str) -> str:
    return hashlib.sha256(written(name).encode()).hexdigest()


def test_a_reference_is_frozen_by_its_path_and_its_digest(room: Any) -> None:
    plan = document(room, EQUAL + CURVE)
    equal, curve, _ = plan.tests[0].checks
    place = numbers_of(equal).reference.rpartition("/")[0]
    assert place.startswith("/")
    assert place.endswith("tests/ref")
    assert numbers_of(equal) == Numbers(
        f"{place}/out.nc", sum_of("out.nc"), relative=0.01, columns=("t", "p"), format="netcdf"
    )
    assert (equal.kind, equal.subject, equal.text) == (
        "equal-within",
        "out.dat",
        "files equal within: out.dat, ref/out.nc, t p, relative 0.01",
    )
    table = Table(header="^size", column="bw")
    assert curve_of(curve) == Curve(
        f"{place}/out.csv", "size", "bw", 0.05, sha256=sum_of("out.csv"), table=table, reference_format="csv"
    )
    assert (curve.subject, curve.text) == ("output", "curve within: bw over size, ref/out.csv, 0.05 of it")
    sources = {source.path: source.sha256 for source in plan.sources}
    assert sources["tests/ref/out.nc"] == sum_of("out.nc"), "verify tells when it is edited later"
    assert references_in(plan, frozenset({"equal-within", "curve"})) == [f"{place}/out.nc", f"{place}/out.csv"]


def test_each_case_has_its_own_file_and_reference(room: Any) -> None:
    check = "  - files equal within: {file: 'out-{n}', reference: 'ref/out-{n}.dat', absolute: 1e-9}\n"
    plan = document(room, check)
    index = index_plan(plan)
    for case in plan.cases:
        n = dict(case.parameters)["n"]
        own: Check = index.test_of(case).checks[0]
        assert (own.subject, numbers_of(own).sha256) == (f"out-{n}", sum_of(f"out-{n}.dat"))
        assert own.text == f"files equal within: out-{n}, ref/out-{n}.dat, absolute 1e-09"
    paths = references_in(plan, frozenset({"equal-within"}))
    assert [path.rpartition("/")[2] for path in paths] == ["out-2.dat", "out-3.dat"]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (", relative: 1%", "", "'files equal within' has no tolerance"),
        ("relative: 1%", "relative: -1", "files equal within.relative: '-1' is no tolerance"),
        ("relative: 1%", "absolute: 1e999", "files equal within.absolute: '1e999' is no tolerance"),
        ("ref/out.nc", "ref/none", "the reference ref/none cannot be read: No such file or directory"),
        ("ref/out.nc", "'ref/{m}'", "unknown name 'm' in an expression"),
        ("ref/out.nc", "'ref/none-{n}'", "the reference ref/none-2 cannot be read: No such file or directory"),
        ("out.dat", "../out.dat", "'../out.dat' is not in the run's directory"),
        ("relative", "relatve", "unknown key 'relatve' in files equal within"),
        ("[t, p]}", "[t], nan: same}", "'same' is not one of differs, equal"),
        ("[t, p]}", "[t], format: xml}", "'xml' is not one of text, csv, netcdf, hdf5"),
        (", y: bw", "", "'y' is missing in curve within"),
        ("y: bw", "y: size", "x and y are the same column"),
        ("table: {header: ^size}, ", "", "'curve within' does not say where in the output the curve is"),
        ("ref/out.csv", "ref/out.nc", "a reference curve is text"),
        ("header: ^size", "header: '('", "'(' is not a regular expression"),
        ("within: 5%", "within: some", "curve within.within: 'some' is no tolerance"),
    ],
)
def test_a_wrong_map_is_told(room: Any, before: str, after: str, said: str) -> None:
    checks = EQUAL + CURVE
    assert before in checks
    with pytest.raises(ShakedownError) as told:
        document(room, checks.replace(before, after, 1))
    assert said in str(told.value)
    assert "tests/m.yaml:" in str(told.value)


def test_a_reference_that_is_too_large_is_told(room: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from shakedown.plans.cases import references

    monkeypatch.setattr(references, "LARGEST", 4)
    with pytest.raises(ShakedownError, match=r"the reference ref/out\.nc has more than 4 B, the most that is compared"):
        document(room, EQUAL)


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("size,GB/s\n1,10\n2,20\n", "the reference ref/out.csv has no column 'bw'; it has 'size', 'GB/s'"),
        ("size,bw\n1,10\n", "the reference ref/out.csv has 1 point; a line needs two"),
        ("1,10\n1,20\n", "the reference ref/out.csv has two points at size = 1"),
        ("size,bw\n1,10\n2,high\n", "line 3 of the reference ref/out.csv, column bw: 'high' is no finite number"),
        ("1,10,3\n2,20,3\n", "the reference ref/out.csv has no column 'size'; no line has names of columns"),
    ],
)
def test_a_reference_that_is_no_such_curve_is_told_before_anything_runs(room: Any, reference: str, said: str) -> None:
    room.write("tests/ref/out.csv", reference)
    with pytest.raises(ShakedownError) as told:
        document(room, CURVE)
    assert said in str(told.value)
    assert "tests/m.yaml:5:" in str(told.value)


@pytest.mark.parametrize("reference", ["1,10\n2,20\n", "x,y\n1,10\n2,20\n", "n,bw,size\n1,10,1\n2,20,2\n"])
def test_a_reference_with_the_names_or_with_two_columns_alone_is_fine(room: Any, reference: str) -> None:
    room.write("tests/ref/out.csv", reference)
    assert document(room, CURVE).tests


def test_a_column_that_the_reference_lacks_is_told_before_anything_runs(room: Any) -> None:
    room.write("tests/ref/out.csv", "a,b\n1,2\n")
    with pytest.raises(ShakedownError, match=r"the reference ref/out\.csv has no column 't'; it has 'a', 'b'"):
        document(room, EQUAL.replace("out.nc", "out.csv"))
