"""Read variables of netCDF and HDF5 files from their bytes. The libraries are optional and imported when a check needs them."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
from collections.abc import Iterator
from typing import Any

from shakedown.model.number_rows import UnreadableNumbers

_LIBRARIES = {"netcdf": "netCDF4", "hdf5": "h5py"}
_THREADS = "OPENBLAS_NUM_THREADS"


class LibraryMissing(Exception):
    """A library that is not installed where Shakedown runs: that says nothing about the run."""


def read_variables(data: bytes, form: str, subject: str) -> dict[str, Any]:
    """Purpose: name -> array of every variable that holds numbers; those in groups are called GROUP/NAME.

    ``form``: netcdf or hdf5. Packed netCDF variables are unpacked; fill values stay the numbers that they are.
    Raises UnreadableNumbers, LibraryMissing.
    """
    library = _library(form)
    try:
        found = _of_netcdf(library, data) if form == "netcdf" else _of_hdf5(library, data)
        return {name: _in_parts(array) for name, array in found if array.dtype.kind in "biufc"}
    except (OSError, ValueError, RuntimeError, KeyError, TypeError) as error:
        kind = "netCDF" if form == "netcdf" else "HDF5"
        raise UnreadableNumbers(f"{subject} cannot be read as {kind}: {str(error) or type(error).__name__}") from error


def _library(form: str) -> Any:
    try:
        with _one_thread():
            return importlib.import_module(_LIBRARIES[form])
    except ImportError as error:
        raise LibraryMissing(
            f"Python's {_LIBRARIES[form]} is not installed where Shakedown runs: pip install 'shakedown[{form}]'"
        ) from error


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """OpenBLAS, which comes with the libraries, reads how many threads it begins when it is loaded: each would take from the memory
    that a worker may have. What is started later inherits the environment, so it stays as it was, also where a library sets
    something for itself (netCDF4: ``HDF5_PLUGIN_PATH``), which it has read by then.
    """
    before = dict(os.environ)
    os.environ.setdefault(_THREADS, "1")
    try:
        yield
    finally:
        for name in os.environ.keys() - before.keys():
            del os.environ[name]
        os.environ.update(before)


def _of_netcdf(library: Any, data: bytes) -> Iterator[tuple[str, Any]]:
    with library.Dataset("of-a-run", memory=data) as file:
        file.set_auto_mask(False)
        groups = [("", file)]
        while groups:
            prefix, group = groups.pop()
            for name, variable in group.variables.items():
                yield f"{prefix}{name}", _array(variable[...])
            groups += [(f"{prefix}{name}/", below) for name, below in group.groups.items()]


def _of_hdf5(library: Any, data: bytes) -> Iterator[tuple[str, Any]]:
    with library.File(io.BytesIO(data), "r") as file:
        names: list[str] = []
        file.visititems(lambda name, item: names.append(name) if isinstance(item, library.Dataset) else None)
        for name in names:
            variable = file[name]
            if variable.is_virtual or variable.external:
                raise ValueError(f"{name} keeps its numbers in another file, which is not read")
            if variable.shape is not None:
                yield name, _array(variable[...])


def _array(value: Any) -> Any:
    import numpy

    return numpy.asarray(value)


def _in_parts(array: Any) -> Any:
    """A complex array as a real one with one more dimension, for the real and the imaginary part."""
    import numpy

    return numpy.stack([array.real, array.imag], -1) if array.dtype.kind == "c" else array
