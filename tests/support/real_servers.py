"""Real servers of Debian that feeds, dashboards and the index are tested on, each started for one test."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

needs_influx = pytest.mark.skipif(shutil.which("influxd") is None, reason="scripts/slurm-packages installs influxdb")
needs_victoria = pytest.mark.skipif(
    shutil.which("victoria-metrics") is None, reason="scripts/slurm-packages installs victoria-metrics"
)


class Server:
    """A real server on a port of its own. ``command``: what starts it."""

    def __init__(self, command: list[str], port: int, ready: str) -> None:
        self.command, self.address, self.ready = command, f"http://127.0.0.1:{port}", ready
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        environment = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
        self.process = subprocess.Popen(
            self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
        )
        for _ in range(600):
            assert self.process.poll() is None, "the server ended"
            with contextlib.suppress(OSError):
                self.ask(self.ready)
                return
            time.sleep(0.1)
        raise AssertionError("the server does not answer")

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def ask(self, path: str, data: bytes | None = None) -> bytes:
        with urllib.request.urlopen(self.address + path, data, timeout=20) as answer:
            found: bytes = answer.read()
            return found


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


@pytest.fixture
def influx(tmp_path: Path) -> Iterator[Server]:
    home, port, other = tmp_path / "influx", free_port(), free_port()
    home.mkdir()
    (home / "influx.conf").write_text(
        f'reporting-disabled = true\nbind-address = "127.0.0.1:{other}"\n'
        f'[meta]\ndir = "{home}/meta"\n[data]\ndir = "{home}/data"\nwal-dir = "{home}/wal"\n'
        f'[http]\nbind-address = "127.0.0.1:{port}"\nlog-enabled = false\n'
    )
    server = Server(["influxd", "-config", str(home / "influx.conf")], port, "/ping")
    server.start()
    server.ask("/query", urllib.parse.urlencode({"q": "CREATE DATABASE acceptance"}).encode())
    yield server
    server.kill()


@pytest.fixture
def victoria(tmp_path: Path) -> Iterator[Server]:
    port = free_port()
    words = [f"-storageDataPath={tmp_path}/victoria", f"-httpListenAddr=127.0.0.1:{port}", "-retentionPeriod=100y"]
    server = Server(["victoria-metrics", *words], port, "/health")
    server.start()
    yield server
    server.kill()


POSTGRES = Path("/usr/lib/postgresql/15/bin")
needs_prometheus = pytest.mark.skipif(
    shutil.which("prometheus") is None, reason="scripts/slurm-packages installs prometheus"
)
needs_postgres = pytest.mark.skipif(
    not (POSTGRES / "initdb").exists(), reason="scripts/slurm-packages installs postgresql-15"
)


def prometheus_of(address: str, place: Path) -> Server:
    """A Prometheus that looks at the ``/metrics`` of a page every second."""
    port, page = free_port(), urllib.parse.urlsplit(address)
    place.mkdir()
    (place / "prometheus.yml").write_text(
        "global: {scrape_interval: 1s}\n"
        f"scrape_configs: [{{job_name: shakedown, static_configs: [{{targets: ['{page.netloc}']}}]}}]\n"
    )
    words = [f"--config.file={place}/prometheus.yml", f"--storage.tsdb.path={place}/data"]
    return Server(["prometheus", *words, f"--web.listen-address=127.0.0.1:{port}"], port, "/-/ready")


@pytest.fixture
def postgres() -> Iterator[str]:
    """The address of an empty database, for SQLAlchemy. The server listens on a socket of its own alone, and never as root."""
    place = Path(
        tempfile.mkdtemp(prefix="pg-", dir="/tmp")
    )  # a socket's path is short, and nobody else's folder is in the way
    as_nobody = ["runuser", "-u", "nobody", "--"] if os.getuid() == 0 else []
    if as_nobody:
        shutil.chown(place, "nobody")
    made = [*as_nobody, str(POSTGRES / "initdb"), "-D", str(place / "data"), "-A", "trust", "-U", "tester", "-N"]
    subprocess.run(made, check=True, capture_output=True, cwd="/")
    words = [str(POSTGRES / "postgres"), "-D", str(place / "data"), "-k", str(place), "-F", "-c", "listen_addresses="]
    server = subprocess.Popen([*as_nobody, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")
    try:
        ask = ["-h", str(place), "-U", "tester", "-d", "template1", "-tAc"]
        for _ in range(600):
            assert server.poll() is None, "the server ended"
            done = subprocess.run(
                [POSTGRES / "psql", *ask, "CREATE DATABASE acceptance"], capture_output=True, check=False
            )
            if done.returncode == 0:
                break
            time.sleep(0.1)
        yield f"postgresql+psycopg://tester@/acceptance?host={place}"
    finally:
        server.send_signal(signal.SIGINT if not as_nobody else signal.SIGTERM)
        server.wait(60)
        shutil.rmtree(place, ignore_errors=True)


needs_mariadb = pytest.mark.skipif(
    shutil.which("mariadbd") is None or shutil.which("mariadb-install-db") is None,
    reason="scripts/slurm-packages installs mariadb-server-core",
)


@pytest.fixture
def mariadb() -> Iterator[str]:
    """The address of an empty database, for SQLAlchemy. The server listens on a socket of its own alone."""
    place = Path(tempfile.mkdtemp(prefix="my-", dir="/tmp"))
    user = ["--user=root"] if os.getuid() == 0 else []
    told = ["--no-defaults", *user, f"--datadir={place}/data", f"--tmpdir={place}", "--innodb-log-file-size=16M"]
    made = ["mariadb-install-db", *told, "--skip-test-db", "--auth-root-authentication-method=normal"]
    subprocess.run(made, check=True, capture_output=True)
    words = [
        f"--socket={place}/socket",
        "--skip-networking",
        f"--pid-file={place}/pid",
        "--innodb-flush-log-at-trx-commit=0",
    ]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    server = subprocess.Popen(["mariadbd", *told, *words], **quiet)  # type: ignore[call-overload]
    try:
        ask = ["mariadb", "--no-defaults", f"--socket={place}/socket", "-uroot", "-e", "CREATE DATABASE acceptance"]
        for _ in range(600):
            assert server.poll() is None, "the server ended"
            if subprocess.run(ask, capture_output=True, check=False).returncode == 0:
                break
            time.sleep(0.1)
        yield f"mariadb+pymysql://root@localhost/acceptance?unix_socket={place}/socket&charset=utf8mb4"
    finally:
        server.terminate()
        server.wait(60)
        shutil.rmtree(place, ignore_errors=True)
