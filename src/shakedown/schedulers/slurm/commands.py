"""Argument lists of Slurm's commands. Pure: nothing is run here.

``-M`` is given only where a system has several clusters: it needs slurmdbd. Then ids at our side read ``id;cluster``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from shakedown.model.nouns import Case, Cluster, Pairs, Partition
from shakedown.model.ports import JobOrder
from shakedown.model.shared_nodes import names_in
from shakedown.schedulers.slurm.nodes import folded
from shakedown.schedulers.slurm.resources import resource_words
from shakedown.schedulers.slurm.versions import ACCOUNT_FIELDS, SEPARATOR, queue_format

ROOM_S = 30.0  # beyond a test's own limit, so that its script can still write its end mark
_EXCLUDE = "--exclude="


def sbatch(
    order: JobOrder,
    cluster: Cluster,
    label: str,
    script: str,
    output: str,
    directory: str,
    several: bool,
    licence_names: Pairs = (),
    after: str = "",
) -> list[str]:
    """Purpose: submit one job. What the site's files ask for comes first, so that ours is what counts in the end.

    ``after``: Slurm's id of the job that has to be over first, without its cluster. The script is told its job's name in its first
    word: what the job is called by the time it starts somebody may have changed.
    """
    case = order.case
    partition = next(p for p in cluster.partitions if case.partition == f"{cluster.name}:{p.name}")
    shape = case.shape
    command = ["sbatch", "--parsable", *_where(cluster.name, several), f"--partition={partition.name}"]
    site = (*cluster.options, *partition.options)  # a part of a mixed partition names Slurm's own one here
    command += [*site, *resource_words(shape.resources, site)]
    command += [f"--job-name={label}", f"--nodes={shape.nodes}"]
    command += [f"--ntasks-per-node={shape.tasks_per_node}", f"--cpus-per-task={shape.cpus_per_task}"]
    command += _optional(order, cluster, partition, licence_names)
    command += [f"--dependency=afterany:{after}"] if after else []
    requeue = shape.requeue and not order.parts  # what parts did once they must not do again
    command += ["--requeue" if requeue else "--no-requeue", "--export=ALL"]
    command += [f"--chdir={directory}", f"--output={literal(output)}", "--open-mode=append"]
    return [*_one_exclude(command), *(["--hold"] if order.held else []), script, label]


def _one_exclude(words: list[str]) -> list[str]:
    """The command with one ``--exclude`` for all that are written: of several Slurm hears the last alone, and a part of a mixed
    partition is what its own one leaves.
    """
    lists = [word.partition("=")[2] for word in words if word.startswith(_EXCLUDE)]
    if len(lists) < 2:
        return words
    return [*(word for word in words if not word.startswith(_EXCLUDE)), f"{_EXCLUDE}{','.join(lists)}"]


def _optional(order: JobOrder, cluster: Cluster, partition: Partition, licence_names: Pairs) -> list[str]:
    shape = order.case.shape
    words = ["--exclusive"] if shape.exclusive else []
    if shape.time_limit_s > 0:
        words.append(f"--time={minutes(shape.time_limit_s, partition.time_limit_s)}")
    if order.node:
        words.append(f"--nodelist={names_in(partition.nodes)[order.node - 1]}")
    if without := folded(order.exclude, partition.nodes) if order.exclude else "":
        words.append(f"{_EXCLUDE}{without}")
    ours = licences(order.case, cluster, order.targets, licence_names)
    return [*words, f"--licenses={ours}"] if ours else words


def minutes(limit_s: float, most_s: float = 0.0) -> int:
    """Purpose: Slurm's time limit in whole minutes for a test's limit, with room for the end mark, within the partition's."""
    wanted = math.ceil((limit_s + ROOM_S) / 60)
    return max(1, min(wanted, math.floor(most_s / 60))) if most_s > 0 else wanted


def licences(case: Case, cluster: Cluster, targets: Pairs = (), names: Pairs = ()) -> str:
    """Purpose: what a run takes of what the cluster itself hands out, as ``name:count`` joined by commas: loads, and licences
    that it asks for by name.

    A load on a target is the target's licence where there is one, else the budget's.
    """
    known, chosen, called = dict(cluster.licences), dict(targets), dict(names)
    counts: dict[str, float] = {}
    for budget, amount in case.loads:
        keys = [f"{budget}@{chosen[budget]}", budget] if budget in chosen else [budget]
        name = next((called.get(key, key) for key in keys if called.get(key, key) in known), "")
        if name and amount > 0:
            counts[name] = counts.get(name, 0.0) + amount
    for name, count in case.shape.resources.licences:
        counts[name] = counts.get(name, 0.0) + count
    return ",".join(f"{name}:{math.ceil(amount)}" for name, amount in counts.items())


def literal(path: str) -> str:
    """A path in which Slurm replaces nothing. A backslash anywhere lets it take ``%`` as it is, and every pair of them as one."""
    return path.replace("\\", r"\\") if "\\" in path else path.replace("%", "%%")


def squeue(cluster: str, user: int, several: bool, everything: bool = True) -> list[str]:
    """Purpose: all jobs of a user in one call; those that are over too, as long as the controller remembers them."""
    states = ["--states=all"] if everything else []
    return [
        "squeue",
        "--noheader",
        "--all",
        f"--user={user}",
        *_where(cluster, several),
        *states,
        f"--Format={queue_format()}",
    ]


def sacct(cluster: str, several: bool, ids: Sequence[str] = (), labels: Sequence[str] = (), days: int = 1) -> list[str]:
    """Purpose: the records of some jobs, by id or by name (of the last days), one for each restart."""
    whom = [f"--jobs={','.join(ids)}"] if ids else [f"--name={','.join(labels)}", f"--starttime=now-{days}days"]
    form = [f"--delimiter={SEPARATOR}", f"--format={','.join(ACCOUNT_FIELDS)}"]
    return [
        "sacct",
        "--noheader",
        "--parsable2",
        "--duplicates",
        "--allocations",
        *_where(cluster, several),
        *whom,
        *form,
    ]


def sacct_scripts(cluster: str, several: bool, ids: Sequence[str]) -> list[str]:
    """Purpose: what accounting has of the scripts of some jobs: the step that ran it, of each start."""
    return sacct_steps(cluster, several, [f"{job}.batch" for job in ids])


def sacct_steps(cluster: str, several: bool, ids: Sequence[str]) -> list[str]:
    """Purpose: what accounting has of all steps of some jobs, of each start."""
    steps = f"--jobs={','.join(ids)}"
    form = [f"--delimiter={SEPARATOR}", f"--format={','.join(ACCOUNT_FIELDS)}"]
    return ["sacct", "--noheader", "--parsable2", "--duplicates", *_where(cluster, several), steps, *form]


def scontrol_config(cluster: str, several: bool) -> list[str]:
    return ["scontrol", *_where(cluster, several), "show", "config"]


def sdiag(cluster: str, several: bool) -> list[str]:
    """Purpose: what the controller says of itself; among it how much its database has not taken yet."""
    return ["sdiag", *_where(cluster, several)]


def scancel(cluster: str, several: bool, ids: Iterable[str]) -> list[str]:
    return ["scancel", *_where(cluster, several), *ids]


def scontrol_release(cluster: str, several: bool, ids: Iterable[str]) -> list[str]:
    return ["scontrol", *_where(cluster, several), "release", ",".join(ids)]


def scontrol_exclude(
    cluster: Cluster, partition: Partition, several: bool, job: str, exclude: Sequence[str]
) -> list[str]:
    """Purpose: say anew which nodes a job that waits must not have: these, and those that the site's own options exclude."""
    words = [word.partition("=")[2] for word in (*cluster.options, *partition.options) if word.startswith(_EXCLUDE)]
    without = folded(exclude, partition.nodes) if exclude else ""
    nodes = ",".join([*words, *([without] if without else [])])
    return ["scontrol", *_where(cluster.name, several), "update", f"JobId={job}", f"ExcNodeList={nodes}"]


def scontrol_hold(cluster: str, several: bool, ids: Iterable[str]) -> list[str]:
    """Purpose: keep jobs from starting, so that their owner may release them, whoever asked."""
    return ["scontrol", *_where(cluster, several), "uhold", ",".join(ids)]


def probe_job(
    cluster: Cluster, partition: str, label: str, script: str, most: int, without: Sequence[str], several: bool
) -> list[str]:
    """Purpose: a short job on as many whole nodes as are idle, up to ``most``, and on none of ``without``.

    Nothing is said of its tasks: told how many there are on a node, Slurm would give it the fewest nodes instead of the most.
    """
    where = next(p for p in cluster.partitions if p.name == partition)
    most = min(most, where.most_nodes) if where.most_nodes else most
    command = ["sbatch", "--parsable", *_where(cluster.name, several), f"--partition={partition}"]
    command += [*cluster.options, *where.options, f"--job-name={label}", f"--nodes=1-{most}"]
    command += ["--exclusive", "--time=2", "--no-requeue", "--export=ALL", "--output=/dev/null"]
    return [*_one_exclude([*command, *([f"{_EXCLUDE}{','.join(without)}"] if without else [])]), script]


def squeue_named(cluster: str, user: int, several: bool, labels: Sequence[str]) -> list[str]:
    """Purpose: a user's jobs of some names, those that are over too."""
    return [*squeue(cluster, user, several), f"--name={','.join(labels)}"]


def sinfo_partition(cluster: str, partition: str, several: bool) -> list[str]:
    """Purpose: the states of all nodes of a partition."""
    form = SEPARATOR.join(("%N", "%T", "%E"))
    return ["sinfo", "--noheader", "--Node", *_where(cluster, several), f"--partition={partition}", f"--format={form}"]


def sinfo(cluster: str, several: bool, nodes: str) -> list[str]:
    """Purpose: the states of some nodes (a folded set), what an administrator or the controller says of them, and since when."""
    form = SEPARATOR.join(("%N", "%T", "%E", "%H"))
    return ["sinfo", "--noheader", "--Node", *_where(cluster, several), f"--nodes={nodes}", f"--format={form}"]


def scontrol_nodes(cluster: str, several: bool, nodes: str) -> list[str]:
    """Purpose: what the controller knows of some nodes (a folded set), a line for each: when they were booted, why they are out."""
    return ["scontrol", "--oneliner", *_where(cluster, several), "show", "node", *([nodes] if nodes else [])]


def sinfo_out(cluster: str, several: bool) -> list[str]:
    """Purpose: the states of a cluster's nodes, since when they have a reason, the reason, and the folded sets of the nodes."""
    form = SEPARATOR.join(("%T", "%H", "%E", "%N"))
    return ["sinfo", "--noheader", "--all", *_where(cluster, several), f"--format={form}"]


def scontrol_job(cluster: str, several: bool, job: str) -> list[str]:
    """Purpose: what the controller knows of one job, on one line."""
    return ["scontrol", "--oneliner", *_where(cluster, several), "show", "job", job]


def squeue_waiting(cluster: str, named: bool) -> list[str]:
    """Purpose: the names, cut short, of all jobs that wait on a cluster, a line for each task of an array."""
    form = "--format=%24j"
    return ["squeue", "--noheader", "--all", "--array", "--states=PENDING", *_where(cluster, named), form]


def _where(cluster: str, several: bool) -> list[str]:
    return [f"--clusters={cluster}"] if several else []
