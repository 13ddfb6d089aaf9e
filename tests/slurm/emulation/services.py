"""The daemons that are no nodes: munged, mariadbd, slurmdbd, slurmctld."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from .configuration import DATABASE_PASSWORD, database_port, write_slurmdbd
from .processes import PATIENCE_S, kill, launch, read_pid, say, tail, wait_until
from .site import Cluster, Settings, Site, Trouble

DATABASE_OPTIONS = (
    "--innodb-buffer-pool-size=64M",
    "--innodb-log-file-size=16M",
    "--innodb-lock-wait-timeout=900",
    "--innodb-flush-log-at-trx-commit=2",
    "--max-allowed-packet=64M",
    "--skip-log-bin",
)


def start_services(cluster: Cluster) -> None:
    """All that the nodes need, from the ground up."""
    settings = cluster.settings()
    start_munge(cluster)
    if settings.accounting:
        start_database(cluster, settings)
        start_slurmdbd(cluster)
        register(cluster, settings)
    start_slurmctld(cluster)


def start_munge(cluster: Cluster) -> None:
    directory = cluster.site.directory / "munge"
    if munge_pid(cluster.site):
        return
    directory.mkdir(parents=True, exist_ok=True)
    key = directory / "key"
    if not key.exists():
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(128))
    words = ["munged", "--force", "--num-threads=4", f"--key-file={key}", f"--socket={directory}/socket"]
    words += [f"--{name}-file={directory}/{name}" for name in ("pid", "log", "seed")]
    launch(words, cluster.environment(), directory / "output").wait()
    test = ["munge", "-S", str(cluster.site.munge_socket), "-n"]
    _await(lambda: say(test, cluster.environment())[0] == 0, "munged", directory / "log")


def munge_pid(site: Site) -> int | None:
    return read_pid(site.directory / "munge" / "pid", "munged")


def start_database(cluster: Cluster, settings: Settings) -> None:
    directory = cluster.site.directory / "database"
    if database_pid(cluster.site):
        return
    data, log = directory / "data", directory / "log"
    # Of its own: a server that starts removes the temporary tables that it finds, those of others that run included.
    temporary = directory / "temporary"
    temporary.mkdir(parents=True, exist_ok=True)
    if not (directory / "installed").exists():
        install_database(cluster, data, temporary, log)
    launch(
        [
            *(
                "mariadbd",
                "--no-defaults",
                "--user=root",
                f"--datadir={data}",
                f"--tmpdir={temporary}",
                f"--socket={cluster.site.database_socket}",
            ),
            *(f"--port={database_port(cluster, settings)}", "--bind-address=127.0.0.1", f"--pid-file={directory}/pid"),
            *DATABASE_OPTIONS,
        ],
        cluster.environment(),
        log,
    )
    _await(lambda: query(cluster, "select 1") == 0, "mariadbd", log)
    users = [f"slurm@'{host}'" for host in ("127.0.0.1", "localhost")]
    query(cluster, "".join(f"CREATE USER IF NOT EXISTS {u} IDENTIFIED BY '{DATABASE_PASSWORD}';" for u in users))
    query(cluster, "".join(f"GRANT ALL ON slurm_acct_db.* TO {user};" for user in users))


def install_database(cluster: Cluster, data: Path, temporary: Path, log: Path) -> None:
    words = ["mariadb-install-db", "--no-defaults", "--user=root", f"--datadir={data}", "--skip-test-db"]
    words += [f"--tmpdir={temporary}", "--auth-root-authentication-method=normal", "--innodb-log-file-size=16M"]
    status, output = say(words, cluster.environment(), 300)
    log.write_text(output)
    if status:
        raise Trouble(f"mariadb-install-db ended {status}:\n{tail(log)}", "see the packages: scripts/slurm-packages")
    (data.parent / "installed").touch()


def database_pid(site: Site) -> int | None:
    return read_pid(site.directory / "database" / "pid", "mariadbd")


def query(cluster: Cluster, statement: str) -> int:
    words = ["mariadb", "--no-defaults", "-uroot", "-S", str(cluster.site.database_socket), "-e", statement]
    return say(words, cluster.environment())[0]


def start_slurmdbd(cluster: Cluster) -> None:
    settings = cluster.settings()
    if not settings.accounting:
        raise Trouble(f"{cluster.name} has no slurmdbd (--config plain)", "start a cluster with --config accounting")
    if slurmdbd_pid(cluster.site):
        return
    conf = write_slurmdbd(cluster, settings)
    log = conf.parent / "slurmdbd.log"
    site_only = {k: v for k, v in cluster.environment().items() if k != "EMULATED_CLUSTER"}
    launch(["slurmdbd"], {**site_only, "SLURM_CONF": str(conf)}, conf.parent / "output").wait()
    _await(lambda: say(["sacctmgr", "-n", "show", "cluster"], cluster.environment())[0] == 0, "slurmdbd", log)


def slurmdbd_pid(site: Site) -> int | None:
    return read_pid(site.directory / "slurmdbd" / "slurmdbd.pid", "slurmdbd")


def register(cluster: Cluster, settings: Settings) -> None:
    """Tell slurmdbd of the cluster, an account and root's place in it; and root's limit."""

    def tell(*words: str) -> str:
        return say(["sacctmgr", "-i", "-Q", *words], cluster.environment())[1]

    name, user = cluster.name, "root"
    if name not in tell("-nP", "show", "cluster", "format=cluster").split():
        tell("add", "cluster", name)
        tell("add", "account", "accept", "Description=acceptance", "Organization=hpc", f"cluster={name}")
        tell("add", "user", user, "account=accept", "DefaultAccount=accept", f"cluster={name}")
    limit = settings.max_submit or -1
    tell("modify", "user", user, "where", f"cluster={name}", "set", f"MaxSubmitJobs={limit}")


def start_slurmctld(cluster: Cluster) -> None:
    if slurmctld_pid(cluster):
        return
    cluster.settings()
    # It looks up the nodes' names, as any controller can: 24.11 waits for ten seconds for a name that nobody knows.
    begin = ["unshare", "--mount", "sh", "-c", 'mount --bind "$1" /etc/hosts && exec slurmctld', "sh"]
    launch(
        [*begin, str(cluster.directory / "hosts")],
        cluster.environment(),
        cluster.directory / "log" / "slurmctld.output",
    ).wait()
    _await(lambda: answers(cluster), "slurmctld", cluster.directory / "log" / "slurmctld.log")


def slurmctld_pid(cluster: Cluster) -> int | None:
    return read_pid(cluster.controller_pid, "slurmctld")


def answers(cluster: Cluster) -> bool:
    return bool(slurmctld_pid(cluster)) and "UP" in say(["scontrol", "ping"], cluster.environment())[1]


def end(pid: int | None, what: str, how: signal.Signals) -> None:
    """Stop a daemon and see it gone. One that did not run is told: a fault that hits nothing is a mistake."""
    if pid is None:
        raise Trouble(f"{what} does not run", f"start it with: tests/slurm/cluster start-{what}")
    kill([pid], how)
    if not wait_until(lambda: not Path(f"/proc/{pid}").exists()):
        raise Trouble(f"{what} (process {pid}) does not end on {how.name}", f"try: tests/slurm/cluster kill-{what}")


def end_quietly(pid: int | None, limit_s: float = 15.0) -> None:
    """Ask a daemon to end; after the limit it is killed."""
    if pid is None:
        return
    kill([pid], signal.SIGTERM)
    if not wait_until(lambda: not Path(f"/proc/{pid}").exists(), limit_s):
        kill([pid])
        time.sleep(0.1)


def _await(condition: Callable[[], bool], daemon: str, log: Path) -> None:
    if not wait_until(condition, PATIENCE_S, 0.05):
        raise Trouble(
            f"{daemon} does not answer after {PATIENCE_S:.0f} s; the end of {log}:\n{tail(log)}",
            "is its port taken? choose others with --ports, or try again after: tests/slurm/cluster down",
        )
