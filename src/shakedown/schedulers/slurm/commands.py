"""Argument lists of Slurm's commands. Pure: nothing is run here.

``-M`` is given only where a system has several clusters, since it needs slurmdbd. Our ids of jobs are then ``id;cluster``.
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
    """Purpose: the command that submits one job. The site's own options come first, so that ours override them.

    ``after``: Slurm's id of the job that must be over first, without its cluster. The script gets the job's name as its first
    argument, since somebody may have changed the name of the job by the time it starts.
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
    """The command with a single ``--exclude`` for all lists: of several Slurm uses only the last one, and a part of a mixed
    partition is what its own list leaves.
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
    """Purpose: Slurm's time limit, in whole minutes, for a test's limit: with room for the end mark, and within the partition's
    limit.
    """
    wanted = math.ceil((limit_s + ROOM_S) / 60)
    return max(1, min(wanted, math.floor(most_s / 60))) if most_s > 0 else wanted


def licences(case: Case, cluster: Cluster, targets: Pairs = (), names: Pairs = ()) -> str:
    """Purpose: the licences of the cluster that a run takes, as ``name:count`` joined by commas: for its loads, and those it names
    itself.

    A load on a target takes the target's licence where there is one, else that of the budget.
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
    """A path in which Slurm replaces nothing. If it contains a backslash, Slurm leaves ``%`` alone, and reads each pair of
    backslashes as one.
    """
    return path.replace("\\", r"\\") if "\\" in path else path.replace("%", "%%")


def squeue(cluster: str, user: int, several: bool, everything: bool = True) -> list[str]:
    """Purpose: all jobs of a user in one call; with ``everything`` also those that are over, as long as the controller remembers
    them.
    """
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
    """Purpose: the records of jobs by id, or by name within the last ``days`` days; one for each start."""
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
    """Purpose: the records of the step that ran the script, for some jobs and each of their starts."""
    return sacct_steps(cluster, several, [f"{job}.batch" for job in ids])


def sacct_steps(cluster: str, several: bool, ids: Sequence[str]) -> list[str]:
    """Purpose: the records of all steps of some jobs, for each of their starts."""
    steps = f"--jobs={','.join(ids)}"
    form = [f"--delimiter={SEPARATOR}", f"--format={','.join(ACCOUNT_FIELDS)}"]
    return ["sacct", "--noheader", "--parsable2", "--duplicates", *_where(cluster, several), steps, *form]


def scontrol_config(cluster: str, several: bool) -> list[str]:
    return ["scontrol", *_where(cluster, several), "show", "config"]


def sdiag(cluster: str, several: bool) -> list[str]:
    """Purpose: statistics of the controller; among them how much its database has not taken yet."""
    return ["sdiag", *_where(cluster, several)]


def scancel(cluster: str, several: bool, ids: Iterable[str]) -> list[str]:
    return ["scancel", *_where(cluster, several), *ids]


def scontrol_release(cluster: str, several: bool, ids: Iterable[str]) -> list[str]:
    return ["scontrol", *_where(cluster, several), "release", ",".join(ids)]


def scontrol_exclude(
    cluster: Cluster, partition: Partition, several: bool, job: str, exclude: Sequence[str]
) -> list[str]:
    """Purpose: set which nodes a waiting job must not get: these, and those that the site's own options exclude."""
    words = [word.partition("=")[2] for word in (*cluster.options, *partition.options) if word.startswith(_EXCLUDE)]
    without = folded(exclude, partition.nodes) if exclude else ""
    nodes = ",".join([*words, *([without] if without else [])])
    return ["scontrol", *_where(cluster.name, several), "update", f"JobId={job}", f"ExcNodeList={nodes}"]


def scontrol_hold(cluster: str, several: bool, ids: Iterable[str]) -> list[str]:
    """Purpose: keep jobs from starting in such a way that their owner may release them."""
    return ["scontrol", *_where(cluster, several), "uhold", ",".join(ids)]


def probe_job(
    cluster: Cluster, partition: str, label: str, script: str, most: int, without: Sequence[str], several: bool
) -> list[str]:
    """Purpose: a short job on as many whole nodes as are idle, up to ``most``, and on none of ``without``.

    Nothing is said of its tasks: if their number on a node were given, Slurm would use the fewest nodes instead of the most.
    """
    where = next(p for p in cluster.partitions if p.name == partition)
    most = min(most, where.most_nodes) if where.most_nodes else most
    command = ["sbatch", "--parsable", *_where(cluster.name, several), f"--partition={partition}"]
    command += [*cluster.options, *where.options, f"--job-name={label}", f"--nodes=1-{most}"]
    command += ["--exclusive", "--time=2", "--no-requeue", "--export=ALL", "--output=/dev/null"]
    return [*_one_exclude([*command, *([f"{_EXCLUDE}{','.join(without)}"] if without else [])]), script]


def squeue_named(cluster: str, user: int, several: bool, labels: Sequence[str]) -> list[str]:
    """Purpose: a user's jobs with certain names, also those that are over."""
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
    """Purpose: what the controller knows of some nodes (a folded set), one line each: when they were booted, why they are out of
    work.
    """
    return ["scontrol", "--oneliner", *_where(cluster, several), "show", "node", *([nodes] if nodes else [])]


def sinfo_out(cluster: str, several: bool) -> list[str]:
    """Purpose: the states of a cluster's nodes, since when they have a reason, the reason, and the folded sets of nodes."""
    form = SEPARATOR.join(("%T", "%H", "%E", "%N"))
    return ["sinfo", "--noheader", "--all", *_where(cluster, several), f"--format={form}"]


def scontrol_job(cluster: str, several: bool, job: str) -> list[str]:
    """Purpose: what the controller knows of one job, on one line."""
    return ["scontrol", "--oneliner", *_where(cluster, several), "show", "job", job]


def squeue_waiting(cluster: str, named: bool) -> list[str]:
    """Purpose: the names, shortened, of all jobs that wait on a cluster, with a line for each task of an array."""
    form = "--format=%24j"
    return ["squeue", "--noheader", "--all", "--array", "--states=PENDING", *_where(cluster, named), form]


def _where(cluster: str, several: bool) -> list[str]:
    return [f"--clusters={cluster}"] if several else []
