"""The configuration files of an emulated cluster."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

import slurm_releases as releases

from .site import Cluster, Settings

CORES = 16  # of each node, whatever the machine has
MEMORY_MB = 32000
LEAF = 8  # nodes on each leaf switch
REQUEUE_DELAY_S = 15  # the credentials' lifetime: Slurm starts a requeued job no earlier than that
UNKILLABLE_S = 50  # a newer Slurm wants five times MessageTimeout
DATABASE_PASSWORD = "slurm"


def write_all(cluster: Cluster, settings: Settings) -> None:
    """slurm.conf, topology.conf, the nodes' hosts file and reboot program."""
    directory = cluster.directory
    for part in ("state", "spool", "log", "nodes"):
        (directory / part).mkdir(parents=True, exist_ok=True)
    cluster.slurm_conf.write_text(slurm_conf(cluster, settings))
    (directory / "topology.conf").write_text(topology(settings.nodes))
    (directory / "hosts").write_text(hosts(settings))
    if settings.slurm:  # nodes freeze and slow down by groups of ours; those of the machine are not Slurm's to make
        (directory / "cgroup.conf").write_text("CgroupPlugin=disabled\n")
    if settings.gpus:
        write_gpus(directory, settings.gpus)
    (directory / "openmpi.conf").write_text("btl_tcp_if_include = lo\noob_tcp_if_include = lo\n")
    reboot = directory / "reboot-node"
    reboot.write_text(f'#!/bin/sh\necho 4 >"{directory}/nodes/$(hostname).reboot"\nkill -TERM 1\n')
    reboot.chmod(0o755)
    cluster.save(settings)


def write_gpus(directory: Path, count: int) -> None:
    """gres.conf and the devices that it names: slurmd counts no GPU without one. They are twins of /dev/null."""
    files = [directory / f"gpu{number}" for number in range(count)]
    for file in files:
        file.unlink(missing_ok=True)
        os.mknod(file, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    lines = [f"Name=gpu Type=a100 File={file}\n" for file in files]
    (directory / "gres.conf").write_text("".join(lines))


def slurm_conf(cluster: Cluster, settings: Settings) -> str:
    parts = (
        daemons(cluster, settings) + releases.plugins(settings.slurm),
        accounting(cluster, settings),
        SCHEDULING,
        timeouts(settings),
    )
    return "\n".join((*parts, nodes(settings), partitions(settings), ""))


def daemons(cluster: Cluster, settings: Settings) -> str:
    """Every slurmd has files of its own (%n), and believes the file's cores and memory, not the machine's."""
    directory = cluster.directory
    return f"""\
ClusterName={cluster.name}
SlurmctldHost={socket.gethostname().split(".")[0]}(127.0.0.1)
SlurmctldPort={settings.ports}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={cluster.site.munge_socket},cred_expire={REQUEUE_DELAY_S}
CredType=cred/munge
StateSaveLocation={directory}/state
SlurmdSpoolDir={directory}/spool/%n
SlurmctldPidFile={cluster.controller_pid}
SlurmdPidFile={directory}/nodes/%n.slurmd.pid
SlurmctldLogFile={directory}/log/slurmctld.log
SlurmdLogFile={directory}/log/%n.log
SlurmctldDebug=info
SlurmdDebug=info
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
# The PMIx plugin keeps a directory here, which several nodes must not share: each node has a /dev/shm of its own.
TmpFS=/dev/shm
MpiDefault=none
RebootProgram={directory}/reboot-node
SlurmdParameters=config_overrides
DebugFlags=NO_CONF_HASH
"""


def accounting(cluster: Cluster, settings: Settings) -> str:
    """With slurmdbd or without; a line for each finished job in a text file in any case."""
    common = f"""\
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=5
JobCompType=jobcomp/filetxt
JobCompLoc={cluster.directory}/jobcomp.log
"""
    if not settings.accounting:
        return common + "AccountingStorageType=accounting_storage/none\n"
    flags = {"accounting": "job_comment,job_script,job_env", "forgetful": "job_script"}[settings.configuration]
    enforce = "AccountingStorageEnforce=associations,limits\n" if settings.max_submit else ""
    # The password of slurmdbd's clients is the socket of their munge: they ignore AuthInfo.
    return f"""\
{common}AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={slurmdbd_port(cluster, settings)}
AccountingStoragePass={cluster.site.munge_socket}
AccountingStoreFlags={flags}
{enforce}"""


SCHEDULING = """\
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=5,bf_window=1440,sched_interval=10,batch_sched_delay=0,nohold_on_prolog_fail
PriorityType=priority/basic
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
MaxJobCount=20000
MaxArraySize=10001
JobRequeue=1
TopologyPlugin=topology/tree
Licenses=scratch:4,mds:8
"""


def timeouts(settings: Settings) -> str:
    """Short waits everywhere but for the nodes: a busy machine loses nodes that are given 10 s to answer.

    24.11 asks no node anew before it has given up those that are silent, which takes it up to three times MessageTimeout.
    """
    message = 10 if settings.slurmd_timeout >= 30 else 3 if settings.slurm else 5
    return f"""\
SlurmdTimeout={settings.slurmd_timeout}
SlurmctldTimeout=10
MessageTimeout={message}
TCPTimeout=2
BatchStartTimeout={5 if settings.slurmd_timeout < 30 else 10}
InactiveLimit=0
KillWait=3
OverTimeLimit=0
MinJobAge={2 if settings.configuration == "forgetful" else 600}
CompleteWait=0
WaitTime=10
UnkillableStepTimeout={UNKILLABLE_S}
ReturnToService=2
ResumeTimeout=30
"""


def nodes(settings: Settings) -> str:
    names = settings.node_names()
    ports = f"{settings.ports + 1}-{settings.ports + settings.nodes}"
    types, gpus = ("GresTypes=gpu\n", f" Gres=gpu:a100:{settings.gpus}") if settings.gpus else ("", "")
    hardware = f"Sockets=2 CoresPerSocket={CORES // 2} ThreadsPerCore=1 RealMemory={MEMORY_MB}"
    return f"""\
{types}NodeName=DEFAULT {hardware} Feature=emulated{gpus} State=UNKNOWN
NodeName=n[{names[0][1:]}-{names[-1][1:]}] NodeHostname=localhost NodeAddr=127.0.0.1 Port=[{ports}]
"""


def partitions(settings: Settings) -> str:
    """batch for everything; urgent takes nodes away from batch and low, whose jobs are queued again; a small debug."""
    return f"""\
PartitionName=DEFAULT Nodes=ALL MaxTime=INFINITE DefaultTime=00:10:00 State=UP
PartitionName=batch Default=YES PriorityTier=10
PartitionName=low PriorityTier=1
PartitionName=urgent PriorityTier=20 PreemptMode=off
PartitionName=debug Nodes={",".join(settings.node_names()[:2])} MaxNodes=2 MaxTime=00:30:00 PriorityTier=10
"""


def topology(count: int) -> str:
    """Leaf switches under one spine, as a fat tree has them."""
    starts = range(1, count + 1, LEAF)
    lines = [
        f"SwitchName=leaf{number} Nodes=n[{start:03d}-{min(start + LEAF - 1, count):03d}]"
        for number, start in enumerate(starts)
    ]
    leaves = ",".join(f"leaf{number}" for number in range(len(starts)))
    return "\n".join((*lines, f"SwitchName=spine Switches={leaves}", ""))


def hosts(settings: Settings) -> str:
    names = "".join(f"127.0.0.1 {name}\n" for name in settings.node_names())
    return f"127.0.0.1 localhost {socket.gethostname().split('.')[0]}\n{names}"


def slurmdbd_port(cluster: Cluster, settings: Settings) -> int:
    """The site's one slurmdbd answers below the ports of the cluster that was started first."""
    return _site_port(cluster, settings) - 1


def database_port(cluster: Cluster, settings: Settings) -> int:
    return _site_port(cluster, settings) - 2


def _site_port(cluster: Cluster, settings: Settings) -> int:
    port = cluster.site.directory / "slurmdbd" / "ports"
    if not port.exists():
        port.parent.mkdir(parents=True, exist_ok=True)
        port.write_text(str(settings.ports))
    return int(port.read_text())


def write_slurmdbd(cluster: Cluster, settings: Settings) -> Path:
    """slurmdbd's own files; it also wants a slurm.conf beside them. Returns that one's path."""
    directory = cluster.site.directory / "slurmdbd"
    directory.mkdir(parents=True, exist_ok=True)
    own = directory / "slurmdbd.conf"
    own.touch(mode=0o600)
    own.write_text(f"""\
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort={slurmdbd_port(cluster, settings)}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={cluster.site.munge_socket},cred_expire={REQUEUE_DELAY_S}
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={database_port(cluster, settings)}
StorageUser=slurm
StoragePass={DATABASE_PASSWORD}
StorageLoc=slurm_acct_db
LogFile={directory}/slurmdbd.log
PidFile={directory}/slurmdbd.pid
DebugLevel=info
CommitDelay=1
{releases.plugins(settings.slurm)}""")
    conf = directory / "slurm.conf"
    conf.write_text(cluster.slurm_conf.read_text())
    return conf
