"""Numbers against a reference: the rule of numpy.allclose, the worst place, other shapes, curves within a band."""

from __future__ import annotations

import importlib
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shakedown.checks.comparing import curve, equal_within
from shakedown.checks.text import Missing, decode
from shakedown.checks.tolerance import Tolerance
from shakedown.checks.variables import LibraryMissing
from shakedown.model.figures import Table
from shakedown.model.nouns import Check
from shakedown.model.ports import CheckResult
from shakedown.model.references import Curve, Numbers

NUMBERS = st.floats(width=64) | st.sampled_from(
    [0.0, -0.0, 1.0, 1.0 + 1e-9, math.inf, -math.inf, math.nan, 1e308, -1e308]
)
TOLERANCES = st.floats(0, 1)  # a tolerance that is itself infinite makes numpy call infinity equal to any number


def text(content: str) -> Any:
    return decode("out.dat", content.encode())


def compared(mine: Any, theirs: Any, **asked: Any) -> CheckResult:
    check = Check("equal-within", "out.dat", msgspec.json.encode(Numbers("ref.dat", **asked)).decode(), "equal")
    pair = tuple(text(one) if isinstance(one, str) else one for one in (mine, theirs))
    return equal_within(check, pair)


def said(mine: Any, theirs: Any, **asked: Any) -> tuple[bool | None, str]:
    result = compared(mine, theirs, **asked)
    return result.held, result.detail


@given(NUMBERS, NUMBERS, TOLERANCES, TOLERANCES, st.booleans())
def test_two_numbers_are_equal_as_numpy_has_it(a: float, b: float, absolute: float, relative: float, nan: bool) -> None:
    with numpy.errstate(all="ignore"):
        wanted = bool(numpy.allclose(a, b, rtol=relative, atol=absolute, equal_nan=nan))
    assert Tolerance(absolute, relative, nan).holds(a, b) is wanted


@given(
    st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=6),
    st.sampled_from([0.0, 1e-9, 1.0]),
    st.sampled_from([0.0, 1e-6, 0.5]),
    st.booleans(),
)
def test_files_are_equal_as_numpy_has_it(
    pairs: list[tuple[float, float]], absolute: float, relative: float, nan: bool
) -> None:
    mine, theirs = ("\n".join(repr(pair[side]) for pair in pairs) for side in (0, 1))
    with numpy.errstate(all="ignore"):
        wanted = bool(
            numpy.allclose([a for a, _ in pairs], [b for _, b in pairs], rtol=relative, atol=absolute, equal_nan=nan)
        )
    result = compared(mine, theirs, absolute=absolute, relative=relative, nan="equal" if nan else "differs")
    assert result.held is wanted
    assert bool(result.detail) is not wanted


def test_the_tolerance_is_relative_to_the_reference() -> None:
    assert compared("110\n", "100\n", relative=0.1).held is True
    assert compared("100\n", "110.5\n", relative=0.1).held is True
    assert compared("110.5\n", "100\n", relative=0.1).held is False


def test_the_worst_place_is_shown() -> None:
    mine, theirs = "# step rate\n1 2.0\n\n2 3.5\n3 9\n", "# step rate\n1 2.001\n2 3\n3 9\n"
    assert said(mine, theirs, absolute=1e-6, relative=1e-4) == (
        False,
        "line 4, column rate: 3.5, where the reference has 3: they differ by 0.5, and 0.000301 is allowed; "
        "the worst of 2 that are outside, of 6 numbers",
    )
    assert said("1D+00 nan\n", "1.0 nan\n", absolute=1.0) == (
        False,
        "line 1, column 2: NaN, where the reference has NaN; it is the only one outside, of 2 numbers",
    )
    assert said("1D+00 nan\n", "1.0 nan\n", absolute=1.0, nan="equal") == (True, "")


def test_words_must_be_the_same_words() -> None:
    assert said("total 4\n", "total 4.0\n", absolute=0.1) == (True, "")
    assert said("total 4\n", "sum 4\n", absolute=9.0) == (
        False,
        "line 1, column 1: 'total', where the reference has 'sum'",
    )
    assert said("4 x\n", "4 1\n", absolute=9.0) == (False, "line 1, column 2: 'x', where the reference has '1'")


@pytest.mark.parametrize(
    ("mine", "theirs", "told"),
    [
        ("1\n2\n", "1\n", "file out.dat has 2 lines of numbers, and the reference 1"),
        ("1 2\n", "1\n", "line 1 of file out.dat has 2 fields, and the reference 1"),
        ("", "1\n", "file out.dat has 0 lines of numbers, and the reference 1"),
        ("", "", "file out.dat holds no number that could be compared"),
        ("done\n", "done\n", "file out.dat holds no number that could be compared"),
    ],
)
def test_another_shape_is_told(mine: str, theirs: str, told: str) -> None:
    assert said(mine, theirs, absolute=1.0) == (False, told)


def test_columns_of_csv_are_taken_by_name_in_any_order() -> None:
    mine, theirs = 'time,"T, mean",seed\n1,300.2,7\n2,301,8\n', 'seed,time,"T, mean"\n1,1,300\n2,2,301\n'
    assert said(mine, theirs, absolute=0.5, columns=("time", "T, mean"), format="csv") == (True, "")
    assert said(mine, theirs, absolute=0.1, columns=("T, mean",), format="csv") == (
        False,
        "line 2, column T, mean: 300.2, where the reference has 300: they differ by 0.2, and 0.1 is allowed; "
        "it is the only one outside, of 2 numbers",
    )
    assert said(mine, theirs, absolute=0.5, format="csv")[0] is False, "without columns all those of the reference"
    held, told = said("a,b\n1,2\n", "time,b\n1,2\n", absolute=1.0, format="csv")
    assert (held, told) == (False, "file out.dat has no column 'time'; it has 'a', 'b'")
    held, told = said(mine, theirs, absolute=1.0, columns=("p",), format="csv")
    assert (held, told) == (None, "the reference has no column 'p'; it has 'seed', 'time', 'T, mean'")


def test_columns_of_text_are_taken_by_number_and_by_the_names_of_its_first_line() -> None:
    assert said("1 5\n2 6\n", "1 7\n2 8\n", absolute=0.0, columns=("1",))[0] is True
    assert said("# x y\n1 5\n", "# x y\n1 7\n", absolute=0.0, columns=("x",))[0] is True
    assert said("x y\n1 5\n", "x y\n1 7\n", absolute=0.0, columns=("y",))[0] is False
    assert said("1\n", "1 2\n", absolute=9.0, columns=("2",)) == (
        False,
        "line 1, column 2: nothing, where the reference has '2'",
    )


def test_what_is_missing_or_not_read_whole_is_told_without_a_comparison() -> None:
    gone = Missing("out.dat", "there is no file out.dat", held=False)
    assert said(gone, "1\n", absolute=1.0) == (False, "there is no file out.dat")
    changed = Missing("ref.dat", "the reference was changed", trouble=True)
    assert said("1\n", changed, absolute=1.0) == (None, "the reference was changed")
    assert said(decode("out.dat", b"1\n", b"2\n", 10), "1\n", absolute=1.0) == (
        None,
        "file out.dat cannot be compared: its middle was not read",
    )


# ---- variables -------------------------------------------------------------------------------------------------------


def hdf5(**arrays: Any) -> bytes:
    import io

    h5py = pytest.importorskip("h5py")
    file = io.BytesIO()
    with h5py.File(file, "w") as written:
        for name, array in arrays.items():
            written[name.replace("__", "/")] = array
    return file.getvalue()


def netcdf(form: str = "NETCDF4", **arrays: Any) -> bytes:
    library = pytest.importorskip("netCDF4")
    file = library.Dataset("made", "w", memory=4096, format=form)
    for name, array in arrays.items():
        sizes = [f"{name}_{axis}" for axis in range(array.ndim)]
        for size, length in zip(sizes, array.shape, strict=True):
            file.createDimension(size, length)
        file.createVariable(name, array.dtype, sizes)[...] = array
    return bytes(file.close())


@pytest.mark.parametrize("form", ["NETCDF4", "NETCDF3_CLASSIC"])
def test_variables_of_netcdf_are_compared_and_the_worst_index_is_shown(form: str) -> None:
    field = numpy.arange(24.0).reshape(2, 3, 4)
    other = field.copy()
    other[1, 2, 3] += 0.25
    other[0, 1, 1] += 1e-7
    here, there = netcdf(form, t=other, time=numpy.arange(3.0)), netcdf(form, t=field, time=numpy.arange(3.0))
    assert said(here, there, absolute=0.5, format="netcdf") == (True, "")
    assert said(here, there, absolute=1e-9, format="netcdf") == (
        False,
        "variable t[1,2,3]: 23.25, where the reference has 23: they differ by 0.25, and 1e-09 is allowed; "
        "the worst of 2 that are outside, of 27 numbers",
    )
    assert said(here, there, absolute=1e-9, format="netcdf", columns=("time",)) == (True, "")


def test_variables_of_hdf5_in_groups_other_shapes_and_missing_ones() -> None:
    here = hdf5(run__energy=numpy.array([1.0, numpy.nan]), n=numpy.int64(2**53 + 1), note="words")
    there = hdf5(run__energy=numpy.array([1.0, numpy.nan]), n=numpy.int64(2**53), note="other")
    assert said(here, there, absolute=1.0, format="hdf5") == (
        False,
        "variable run/energy[1]: NaN, where the reference has NaN; it is the only one outside, of 3 numbers",
    )
    assert said(here, there, absolute=1.0, nan="equal", format="hdf5") == (True, "")
    assert said(here, there, absolute=0.5, columns=("n",), format="hdf5")[0] is False, "whole numbers to the last digit"
    assert said(hdf5(a=numpy.zeros((2, 3))), hdf5(a=numpy.zeros(6)), absolute=1.0, format="hdf5") == (
        False,
        "variable a has the shape 2 x 3, and in the reference 6",
    )
    assert said(hdf5(b=numpy.zeros(2)), hdf5(a=numpy.zeros(2)), absolute=1.0, format="hdf5") == (
        False,
        "there is no variable a of numbers; the reference has one",
    )
    assert said(here, there, absolute=1.0, format="hdf5", columns=("p",))[0] is None


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=5), st.sampled_from([0.0, 1e-6, 1.0]), st.booleans())
def test_arrays_are_equal_as_numpy_has_it(pairs: list[tuple[float, float]], tolerance: float, nan: bool) -> None:
    mine, theirs = (numpy.array([pair[side] for pair in pairs]) for side in (0, 1))
    with numpy.errstate(all="ignore"):
        wanted = bool(numpy.allclose(mine, theirs, rtol=tolerance, atol=tolerance, equal_nan=nan))
    words: Any = "equal" if nan else "differs"
    held, _ = said(hdf5(a=mine), hdf5(a=theirs), absolute=tolerance, relative=tolerance, nan=words, format="hdf5")
    assert held is wanted


def test_a_file_that_is_none_is_the_runs_fault_and_such_a_reference_is_not() -> None:
    good = hdf5(a=numpy.zeros(2))
    held, told = said(b"not hdf5", good, absolute=1.0, format="hdf5")
    assert held is False
    assert told.startswith("file out.dat cannot be read as HDF5: ")
    held, told = said(good, b"not hdf5", absolute=1.0, format="hdf5")
    assert held is None
    assert told.startswith("the reference cannot be read as HDF5: ")


@pytest.mark.parametrize("before", [None, "7"])
def test_reading_variables_leaves_the_environment_as_it_was(
    monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    """What is started later inherits it: a driver that finds a variable more begins an epoch."""
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    if before is not None:
        monkeypatch.setenv("OPENBLAS_NUM_THREADS", before)
    environment = dict(os.environ)
    while_loaded = []

    def load(name: str) -> Any:
        while_loaded.append(os.environ.get("OPENBLAS_NUM_THREADS"))
        return really(name)

    really = importlib.import_module
    data = hdf5(a=numpy.zeros(2))
    monkeypatch.setattr(importlib, "import_module", load)
    assert said(data, data, absolute=1.0, format="hdf5") == (True, "")
    assert while_loaded and set(while_loaded) == {before or "1"}
    assert dict(os.environ) == environment


def test_what_a_library_sets_for_itself_when_it_is_loaded_is_inherited_by_nobody(tmp_path: Path) -> None:
    """netCDF4 says where its filters are: runs of another HDF5 would look there. It finds them itself all the same."""
    library = pytest.importorskip("netCDF4")
    with library.Dataset(tmp_path / "packed.nc", "w") as file:
        file.createDimension("x", 1000)
        file.createVariable("v", "f8", ("x",), compression="zstd" if file.has_zstd_filter() else None)[...] = 7.0
    program = (
        "import os, pathlib, sys; from shakedown.checks.variables import read_variables as read; before = dict(os.environ)\n"
        "data = pathlib.Path(sys.argv[1]).read_bytes()\n"
        "print(read(data, 'netcdf', 'it')['v'].sum(), dict(os.environ) == before)"
    )
    environment = {name: value for name, value in os.environ.items() if name != "HDF5_PLUGIN_PATH"}
    words = [sys.executable, "-c", program, str(tmp_path / "packed.nc")]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("7000.0 True\n", "")


@pytest.mark.parametrize(("form", "library"), [("netcdf", "netCDF4"), ("hdf5", "h5py")])
def test_a_library_that_is_not_installed_is_named_with_the_way_to_get_it(
    form: Any, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(LibraryMissing) as told:
        compared(b"", b"", absolute=1.0, format=form)
    assert str(told.value) == (
        f"Python's {library} is not installed where Shakedown runs: pip install 'shakedown[{form}]'"
    )


# ---- curves ----------------------------------------------------------------------------------------------------------


REFERENCE = "size,bw\n1,10\n4,40\n2,24\n"


def band(mine: Any, reference: Any = REFERENCE, **asked: Any) -> tuple[bool | None, str]:
    words: dict[str, Any] = {"x": "size", "y": "bw", "within": 0.05, "format": "csv", "reference_format": "csv"} | asked
    check = Check("curve", "out.dat", msgspec.json.encode(Curve("ref.csv", **words)).decode(), "curve")
    pair = tuple(text(one) if isinstance(one, str) else one for one in (mine, reference))
    result = curve(check, pair)
    return result.held, result.detail


def test_a_curve_within_its_band_and_one_outside() -> None:
    assert band("size,bw\n1,10.5\n3,33.5\n4,38\n") == (True, "")
    assert band("size,bw\n1,10\n3,34\n4,41\n") == (
        False,
        "bw at size = 3: 34, where the reference has 32: they differ by 2, and 1.6 is allowed; "
        "it is the only one outside, of 3 numbers",
    )
    assert band("size,bw\n1,10\n3,34\n4,41\n", absolute=0.5) == (True, "")


@given(st.lists(st.integers(0, 1000), min_size=2, max_size=8, unique=True), st.data())
def test_the_reference_is_interpolated_as_numpy_does(xs: list[int], data: Any) -> None:
    ys = data.draw(st.lists(st.integers(1, 100), min_size=len(xs), max_size=len(xs)))
    points = sorted(zip(xs, ys, strict=True))
    here = [points[0][0], data.draw(st.floats(points[0][0], points[-1][0])), points[-1][0]]
    there = numpy.interp(here, [x for x, _ in points], [y for _, y in points])
    reference = "size,bw\n" + "".join(f"{x},{y}\n" for x, y in zip(xs, ys, strict=True))
    for factor, held in ((1.0, True), (1.049, True), (1.051, False)):
        mine = "size,bw\n" + "".join(f"{x!r},{float(y * factor)!r}\n" for x, y in zip(here, there, strict=True))
        assert band(mine, reference)[0] is held


def test_two_columns_without_names_are_x_and_y_and_their_first_line_is_a_point() -> None:
    assert band("1,10\n2,24\n4,40\n", "1,10\n2,24\n4,40\n") == (True, "")
    assert band("size,bw\n1,12\n2,24\n4,40\n", "1,10\n2,24\n4,40\n")[0] is False, "the first point counts"
    assert band("size,bw\n1,10\n4,40\n", "x,y\n1,10\n4,40\n") == (True, "")


def test_the_first_line_of_csv_is_compared_where_it_holds_numbers_alone() -> None:
    assert said("1,2\n3,4\n", "1,2\n3,4\n", absolute=0.0, format="csv") == (True, "")
    assert said("1,3\n3,4\n", "1,2\n3,4\n", absolute=0.0, format="csv")[0] is False


def test_points_where_the_reference_says_nothing_are_told() -> None:
    assert band("size,bw\n1,10\n4,40\n5,50\n8,80\n") == (
        False,
        "size = 5 and 1 more points lie outside of the reference, which goes from 1 to 4",
    )
    assert band("size,bw\n1,10\n2,24\n") == (
        False,
        "the curve goes from size = 1 to 2, and not over the whole reference, which goes from 1 to 4",
    )
    assert band("size,bw\n1,10\n2,24\n", part=True) == (True, "")
    assert band("size,bw\n", part=True) == (False, "the curve has no points")


def test_a_curve_in_a_printed_table() -> None:
    table = Table(after="^OSU", columns=("size", "lat", "bw"), column="bw", where=(("lat", "1"),))
    output = decode("output", b"OSU\n1 1 10\n2 2 0\n4 1 40\n\nend\n")
    assert band(output, table=table) == (True, "")
    held, told = band(decode("output", b"OSU\n1 1 10\n4 1 x\n\n"), table=table)
    assert (held, told) == (False, "the table, column bw: 'x' is no finite number")
    held, told = band(decode("output", b"OSU\n1 1 10\n"), table=Table(header="size", column="bw"))
    assert (held, told) == (False, "the curve has no points")


@pytest.mark.parametrize(
    ("reference", "told"),
    [
        ("size,bw\n1,10\n", "the reference has 1 point; a line needs two"),
        ("size,bw\n1,10\n1,11\n", "the reference has two points at size = 1"),
        ("size,bw,n\n1,x,1\n", "line 2 of the reference, column bw: 'x' is no finite number"),
        ("size,rate,n\n1,2,3\n", "the reference has no column 'bw'; it has 'size', 'rate', 'n'"),
    ],
)
def test_a_reference_that_is_no_curve_decides_nothing(reference: str, told: str) -> None:
    assert band("size,bw\n1,10\n4,40\n", reference) == (None, told)


def test_a_reference_of_two_columns_needs_no_names() -> None:
    assert band("size,bw\n1,10\n4,40\n", "1 10\n4 40\n", reference_format="text") == (True, "")
