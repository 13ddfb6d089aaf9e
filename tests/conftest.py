"""What holds for all tests, whoever runs them."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Generator

import pytest
from hypothesis import settings

pytest_plugins = ["left_processes", "warm_commands"]

# pytest rewrites the assertions of a test file, and keeps the byte code. Where PYTHONDONTWRITEBYTECODE is set, each worker would
# rewrite every file in every run: as long as a hundred tests.
sys.dont_write_bytecode = False

# How long an example takes says nothing of what it tests: other tests share the machine.
settings.register_profile("shakedown", deadline=None)
settings.load_profile("shakedown")

# Under nohup, and in some CI systems, hang-ups are ignored by us and by everything that we start; the programs under test respect
# that, and tests of hang-ups would wait for ever.
signal.signal(signal.SIGHUP, signal.SIG_DFL)


# How many more objects there may be before the garbage collector looks: at 700, which is Python's own number, it takes a twelfth of
# the tests' processor time. A number bounds the memory also of a test that makes garbage without end.
OBJECTS = 200_000


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays to the end: the garbage collector looks through it neither now nor during the tests.

    Without this it would look through millions of objects again and again, in each worker.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(OBJECTS)
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, object, object]:
    """Between two files of tests the garbage is collected: what one left is not kept during the next. A command that runs in this
    process sets a number of its own.
    """
    try:
        return (yield)
    finally:
        gc.set_threshold(OBJECTS)
        if nextitem is None or nextitem.path != item.path:
            gc.collect()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, object, object]:
    """The environment is again as it was before a test: libraries that it imports set variables (netCDF4: HDF5_PLUGIN_PATH), and
    commands of later tests in the same worker would inherit them, which a campaign of another worker had not.
    """
    before = dict(os.environ)
    try:
        return (yield)
    finally:
        for name in os.environ.keys() - before.keys():
            del os.environ[name]
        os.environ.update(before)
