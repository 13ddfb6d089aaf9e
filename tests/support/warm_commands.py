"""Commands of Shakedown from a process that has its modules already: a tenth of the time of an interpreter that starts anew.

``run`` is ``subprocess.run`` for the words of a command. A small server (this file as a script, one or two for each worker of the
tests) imports Shakedown once and forks for each command: every command has a process, a directory, an environment, standard streams
and an exit status of its own, and begins with the ``__main__`` of ``python -m shakedown``. What only a new interpreter shows (an
import that a command lacks, a circle of imports) still fails: the first use of each command in a worker starts one, and so does
whatever asks Python or the loader for something by its environment. Commands that are killed, stopped or looked at while they run
want ``subprocess.Popen([*SHAKEDOWN, ...])``. As a pytest plugin it ends the servers with the session.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import pkgutil
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

COLD = [sys.executable, "-m", "shakedown"]
GROUPS = ("twin", "show", "register", "history", "baseline")  # commands of which the second word says what is done
# Imported for a report alone: numbers and figures take memory that a worker of the conductor may not have.
DRAWING = ("shakedown.report", "shakedown.audit.page_check", "shakedown.twin.models", "shakedown.twin.production")
_OF_PYTHON = (
    "PYTHON",
    "LD_",
    "LC_",
    "LANG",
    "VIRTUAL_ENV",
    "MPL",
    "OPENBLAS_",
    "OMP_",
    "SHAKEDOWN_DEBUG",
    "_SHAKEDOWN",
)
_LONGEST = 1 << 17  # bytes of a request
_begun: set[tuple[str, ...]] = set()  # commands that a new interpreter was started for
_servers: dict[str, tuple[subprocess.Popen[bytes], socket.socket]] = {}


def run(
    words: Sequence[str | os.PathLike[str]],
    *,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    capture_output: bool = False,
    stdout: Any = None,
    stderr: Any = None,
    text: bool = False,
    timeout: float | None = None,
    check: bool = False,
    **more: Any,
) -> subprocess.CompletedProcess[Any]:
    """Purpose: as ``subprocess.run([*COLD, *words], ...)``, with nothing to read. Raises what that raises.

    ``more``: other options of ``subprocess.run``, for which a new interpreter is started.
    """
    said_words, environment = [os.fspath(word) for word in words], dict(os.environ if env is None else env)
    if capture_output:
        stdout = stderr = subprocess.PIPE
    if _must_begin_anew(said_words, environment) or more:
        more = {"stdin": subprocess.DEVNULL} | more if "input" not in more else more
        options = {"stdout": stdout, "stderr": stderr, "text": text, "timeout": timeout, "check": check}
        return subprocess.run([*COLD, *words], cwd=cwd, env=environment, **options, **more)
    request = {"words": said_words, "cwd": str(Path(cwd or ".").absolute()), "environment": environment}
    found = _ask(request, {"out": stdout, "err": stderr}, timeout)
    said = [found[name].decode() if text and name in found else found.get(name) for name in ("out", "err")]
    done = subprocess.CompletedProcess([*COLD, *words], int(found["answer"].split()[1]), *said)
    if check:
        done.check_returncode()
    return done


def _must_begin_anew(words: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Whether a new interpreter is wanted: the first use of a command, or settings that one reads when it starts."""
    names = [name for name in {*environment, *os.environ} if name.startswith(_OF_PYTHON)]
    if any(environment.get(name) != os.environ.get(name) for name in names):
        return True
    key = tuple(words[: 2 if words and words[0] in GROUPS else 1])
    new = key not in _begun
    _begun.add(key)
    return new


def _ask(request: Mapping[str, Any], streams: Mapping[str, Any], timeout: float | None) -> dict[str, bytes]:
    """What a command wrote to the streams that are asked for, and under ``answer`` its process id and status."""
    read, own, sent = {}, [], {}
    for name, wanted in (("answer", subprocess.PIPE), *streams.items()):
        if wanted == subprocess.PIPE:
            ours, sent[name] = os.pipe()
            read[ours] = name
            own.append(sent[name])
        elif wanted == subprocess.DEVNULL:
            sent[name] = os.open(os.devnull, os.O_WRONLY)
            own.append(sent[name])
        elif wanted == subprocess.STDOUT:
            sent[name] = sent["out"]
        elif wanted is None:
            sent[name] = {"out": 1, "err": 2}[name]
        else:
            sent[name] = wanted if isinstance(wanted, int) else wanted.fileno()
    nothing = os.open(os.devnull, os.O_RDONLY)
    data = json.dumps(request).encode()
    assert len(data) < _LONGEST
    server = _server("drawing" if request["words"][:1] == ["report"] else "plain")
    socket.send_fds(server, [data], [nothing, sent["out"], sent["err"], sent["answer"]])
    for descriptor in (nothing, *own):
        os.close(descriptor)
    return _read_all(read, request["words"], timeout)


def _read_all(read: Mapping[int, str], words: Sequence[str], timeout: float | None) -> dict[str, bytes]:
    found = dict.fromkeys(read.values(), b"")
    end = None if timeout is None else time.monotonic() + timeout
    with selectors.DefaultSelector() as selector:
        for descriptor in read:
            selector.register(descriptor, selectors.EVENT_READ)
        try:
            while selector.get_map():
                for key, _ in selector.select(None if end is None else max(0.0, end - time.monotonic())):
                    data = os.read(key.fd, 1 << 16)
                    found[read[key.fd]] += data
                    if not data:
                        selector.unregister(key.fd)
                if end is not None and time.monotonic() >= end and selector.get_map():
                    with contextlib.suppress(ProcessLookupError, IndexError):
                        os.kill(int(found["answer"].split()[0]), signal.SIGKILL)
                    raise subprocess.TimeoutExpired([*COLD, *words], timeout or 0.0, found.get("out"), found.get("err"))
        finally:
            for descriptor in read:
                os.close(descriptor)
    assert len(found["answer"].split()) == 2, f"the server of commands is gone: {words}"
    return found


def _server(kind: str) -> socket.socket:
    """The control socket of a server, which ends with this process."""
    if kind not in _servers:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            words = [sys.executable, __file__, str(theirs.fileno()), kind]
            server = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, pass_fds=[theirs.fileno()]
            )
        _servers[kind] = server, ours
    return _servers[kind][1]


def pytest_unconfigure() -> None:
    """End the servers, before somebody looks for processes that were left behind."""
    while _servers:
        _, (server, control) = _servers.popitem()
        control.close()
        server.wait()


# ---- the server --------------------------------------------------------------------------------------------------------


def _prepare(kind: str) -> None:
    """What commands import; for a report also what it draws with, and its templates as code."""
    import shakedown

    for module in pkgutil.walk_packages(shakedown.__path__, "shakedown."):
        if not module.name.endswith("__main__") and (kind == "drawing" or not module.name.startswith(DRAWING)):
            importlib.import_module(module.name)
    _remember()
    if kind == "drawing":
        from shakedown.report.page.site_templates import OURS, environment

        for name in ("agg", "svg", "pdf"):
            importlib.import_module(f"matplotlib.backends.backend_{name}")
        engine = environment(None)
        for path in OURS.glob("*.html"):
            engine.get_template(f"shakedown/{path.name}")


def _remember() -> None:
    """What each command would work out anew from files of the package, and a process keeps: its tests' patterns, its classes of
    failures. Both take longer than most commands.
    """
    from shakedown.conductor.workers.classifying import shipped_classes
    from shakedown.plans.finding import test_files
    from shakedown.plans.library import read_library
    from shakedown.plans.schema.problems import Problems

    shipped_classes()
    with tempfile.TemporaryDirectory() as empty:
        problems = Problems()
        read_library(test_files(empty, problems), problems)


def serve(number: int, kind: str) -> None:
    """Fork for each request of the control socket ``number``; end when nobody can ask any more."""
    _prepare(kind)
    gc.collect()
    gc.freeze()
    control, selector = socket.socket(fileno=number), selectors.DefaultSelector()
    running: dict[
        int, tuple[int, int]
    ] = {}  # by the descriptor that is watched: process id, where its status is written
    selector.register(number, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.fd != number:
                selector.unregister(key.fd)
                os.close(key.fd)
                pid, answer = running.pop(key.fd)
                os.write(answer, b"%d" % os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
                os.close(answer)
                continue
            data, descriptors, _, _ = socket.recv_fds(control, _LONGEST, 4)
            if not data:
                return
            pid = os.fork()
            if pid == 0:
                _be(json.loads(data), descriptors)
            os.write(descriptors[3], b"%d " % pid)
            for descriptor in descriptors[:3]:
                os.close(descriptor)
            watched = os.pidfd_open(pid)
            running[watched] = pid, descriptors[3]
            selector.register(watched, selectors.EVENT_READ)


def _be(request: Mapping[str, Any], descriptors: Sequence[int]) -> None:
    """Be the command, in a process that was just forked, and end as an interpreter does."""
    status = 1
    try:
        for number in range(3):
            os.dup2(descriptors[number], number)
        os.closerange(3, max(descriptors) + 64)
        os.chdir(request["cwd"])
        os.environ.clear()
        os.environ.update(request["environment"])
        sys.path[0], sys.argv = request["cwd"], ["-m", *request["words"]]
        status = _status_of_main()
        threading._shutdown()  # type: ignore[attr-defined] # threads that are no daemons end first
        atexit._run_exitfuncs()
        with contextlib.suppress(ValueError):  # closed by the command
            sys.stdout.flush()
    except OSError:
        status = 120  # so says Python of standard output that cannot be written to
    except BaseException:  # noqa: BLE001 - as an interpreter that ends
        traceback.print_exc()
    finally:
        os._exit(status & 0xFF)


def _status_of_main() -> int:
    try:
        runpy.run_module("shakedown", run_name="__main__", alter_sys=True)
    except SystemExit as ending:
        if ending.code is None or isinstance(ending.code, int):
            return ending.code or 0
        print(ending.code, file=sys.stderr)
        return 1
    except BaseException:  # noqa: BLE001 - as an interpreter that ends
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    serve(int(sys.argv[1]), sys.argv[2])
