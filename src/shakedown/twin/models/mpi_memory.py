"""Memory that MPI takes on a node, against ranks and connections, and what Reduce_scatter does past its threshold.

Laws with few constants, fitted to the two tables of paper 001 (Trinity's KNL nodes, Cray MPI, 2016). A node of r ranks in a
job of P ranks holds, before any collective,

    r * (per rank + per known rank * P + per open connection * connections of a rank)

so full connectivity is quadratic in the ranks per node where the nodes are fixed. Reduce_scatter is small until its message
is long; past that it opens all connections. Each law's doc string says which of its constants are fitted to what.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from shakedown.model.errors import UsageError

PATTERNS = ("few", "alltoall", "full")
MOST_RANKS = 10**9
SYSTEM_SHARE = (
    1 / 32
)  # paper 002, section III: 31 of the 32 GB of a Hopper node are for programs; that others are alike is assumed


@dataclass(frozen=True, slots=True)
class ConnectionLaw:
    """What ranks, their tables and their connections take.

    Five constants, least squares of the relative errors over the 16 cells of paper 001's table of connectivity, rounded:
    the worst cell is 5 % off. What each pays for is our reading; the paper prints the sums alone.
    """

    per_rank_bytes: float = 24e6
    per_known_rank_bytes: float = 140.0  # of a rank, for each rank of the job, connected or not
    per_connection_bytes: float = 1740.0
    per_connection_in_blocks_bytes: float = 1620.0  # with MPICH_GNI_MBOXES_PER_BLOCK = number of connections
    alltoall_bytes: float = 10e6  # of a rank: MPI_Alltoall, whatever the number of ranks


@dataclass(frozen=True, slots=True)
class ReduceScatterLaw:
    """What one MPI_Reduce_scatter takes on top, and how long it lasts.

    Past the threshold: 2,670 B for each pair of a local rank and a rank of the job (two points, 0.9 % apart), and of time a
    step for each rank that grows with the connections open by then (three points, within 4 %).

    Before it there are seven short rows that scatter. Memory and time of paper 001 both fall between 8,192 and 16,384 ranks,
    which no law that only grows can follow: we assume that another algorithm begins there. So the small constants describe
    those rows (memory within 8 %, time within 40 %), and foretell little of other machines.
    """

    long_message_bytes: float = 524_288.0  # from here MPICH exchanges pairwise, by its own default
    per_pair_bytes: float = 2670.0
    step_s: float = 1.46e-3
    step_per_connection_s: float = 1.6e-8
    one_node_bytes: float = 0.16e6  # of a rank, where all are on one node
    one_node_s: float = 0.004
    small_bytes: float = 1.14e6  # of a rank, from two nodes on
    small_per_pair_bytes: tuple[float, float] = (148.0, 27.0)  # before and after the assumed change
    small_s: float = 0.02
    small_per_rank_s: tuple[float, float] = (7.3e-6, 2.0e-6)  # the same
    change_ranks: int = 16_384


@dataclass(frozen=True, slots=True)
class Use:
    """Memory on one node and time of one call."""

    memory_bytes: float
    seconds: float
    opens_all: bool = False


@dataclass(frozen=True, slots=True)
class Job:
    """A job, and the nodes that it runs on.

    ``pattern``: "few" (each rank opens ``connections``), "alltoall" (MPI_Alltoall) or "full" (each rank opens all).
    ``mailboxes``: connections are allotted in one block each. ``collective``: "reduce-scatter", "reduce+scatter" or "none".
    ``element_bytes``: what Reduce_scatter leaves each rank. ``cache``: high-bandwidth memory is cache, no memory.
    ``system_share``: of the node's memory, what the operating system and its services hold, so that no program can have it.
    """

    nodes: int = 8192
    ranks_per_node: int = 64
    pattern: str = "few"
    connections: int = 1024
    mailboxes: bool = False
    collective: str = "reduce-scatter"
    element_bytes: float = 4.0
    application_bytes: float = 0.0
    node_memory_bytes: float = 96 * 2.0**30
    high_bandwidth_bytes: float = 16 * 2.0**30
    cache: bool = True
    system_share: float = SYSTEM_SHARE

    @property
    def ranks(self) -> int:
        return self.nodes * self.ranks_per_node

    @property
    def usable_bytes(self) -> float:
        """Memory that programs can have: what the operating system leaves; high-bandwidth memory in cache mode is none."""
        return self.node_memory_bytes * (1 - self.system_share) + (0.0 if self.cache else self.high_bandwidth_bytes)


@dataclass(frozen=True, slots=True)
class NodeMemory:
    """One node of a job. ``collective_s``: of one call. ``fits``: application and MPI are within the node's memory."""

    nodes: int
    ranks_per_node: int
    ranks: int
    connections_bytes: float
    collective_bytes: float
    mpi_bytes: float
    collective_s: float
    opens_all: bool
    application_bytes: float
    usable_bytes: float
    left_bytes: float
    fits: bool


CONNECTIONS, REDUCE_SCATTER = ConnectionLaw(), ReduceScatterLaw()
ALTERNATIVE_PER_PAIR_BYTES = 0.5e9 / (64 * 262_144)  # one point: 0.5 GB and 0.3 s at 262,144 ranks, 64 a node
ALTERNATIVE_PER_RANK_S = 0.3 / 262_144  # that both grow with the ranks is assumed


def node_memory(job: Job) -> NodeMemory:
    """Purpose: what MPI takes on each node of a job, and whether it fits beside the application."""
    check(job)
    connections = connections_bytes(job.ranks_per_node, job.ranks, job.pattern, job.connections, job.mailboxes)
    use = collective_use(job)
    mpi = connections + use.memory_bytes
    if use.opens_all:  # what is open already it does not open again
        idle = connections_bytes(job.ranks_per_node, job.ranks, "few", 0)
        opened = 0.0 if job.pattern == "alltoall" else connections - idle
        mpi -= min(opened, use.memory_bytes)
    left = job.usable_bytes - job.application_bytes - mpi
    return NodeMemory(
        job.nodes, job.ranks_per_node, job.ranks, connections, use.memory_bytes, mpi, use.seconds, use.opens_all,
        job.application_bytes, job.usable_bytes, left, left >= 0,
    )  # fmt: skip


def connections_bytes(
    ranks_per_node: int,
    ranks: int,
    pattern: str,
    connections: int = 1024,
    mailboxes: bool = False,
    law: ConnectionLaw = CONNECTIONS,
) -> float:
    """Bytes on a node for ranks, their tables and connections to ranks of other nodes. See ``Job`` for the patterns."""
    remote = ranks - ranks_per_node
    opened = {"few": min(connections, remote), "alltoall": 0, "full": remote}[pattern]
    each = law.per_connection_in_blocks_bytes if mailboxes else law.per_connection_bytes
    a_rank = law.per_rank_bytes + law.per_known_rank_bytes * ranks + each * opened
    return ranks_per_node * (a_rank + (law.alltoall_bytes if pattern == "alltoall" else 0.0))


def collective_use(job: Job) -> Use:
    """What the job's collective takes on top of its connections."""
    if job.collective == "none":
        return Use(0.0, 0.0)
    if job.collective == "reduce+scatter":
        pairs = job.ranks_per_node * job.ranks
        return Use(ALTERNATIVE_PER_PAIR_BYTES * pairs, ALTERNATIVE_PER_RANK_S * job.ranks)
    return reduce_scatter(job.ranks_per_node, job.ranks, job.element_bytes)


def reduce_scatter(
    ranks_per_node: int, ranks: int, element_bytes: float = 4.0, law: ReduceScatterLaw = REDUCE_SCATTER
) -> Use:
    """Purpose: memory on a node and time of one MPI_Reduce_scatter that leaves each rank ``element_bytes``."""
    pairs = ranks_per_node * ranks
    if ranks >= threshold_ranks(element_bytes, law) and ranks > ranks_per_node:
        return Use(law.per_pair_bytes * pairs, ranks * (law.step_s + law.step_per_connection_s * ranks), True)
    changed = int(ranks >= law.change_ranks)
    if ranks == ranks_per_node:
        return Use(law.one_node_bytes * ranks_per_node, law.one_node_s)
    seconds = law.small_s + law.small_per_rank_s[changed] * ranks
    return Use(law.small_bytes * ranks_per_node + law.small_per_pair_bytes[changed] * pairs, seconds)


def threshold_ranks(element_bytes: float = 4.0, law: ReduceScatterLaw = REDUCE_SCATTER) -> int:
    """From how many ranks Reduce_scatter opens all connections: where ranks * element_bytes is a long message.

    Paper 001 prints 131,072. That this is MPICH's 524,288 bytes at 4 bytes a rank is our inference, not the paper's word.
    """
    return max(1, math.ceil(min(law.long_message_bytes / element_bytes, float(MOST_RANKS) + 1)))


def most_ranks_per_node(job: Job) -> int:
    """The most ranks per node, up to those asked for, with which the job fits on its nodes; 0 where none does.

    The application takes the same on a node however many ranks share it: assumed.
    """
    from dataclasses import replace

    fitting = (r for r in range(job.ranks_per_node, 0, -1) if node_memory(replace(job, ranks_per_node=r)).fits)
    return next(fitting, 0)


def check(job: Job) -> None:
    """Raise UsageError where a job is none."""
    if job.nodes < 1 or job.ranks_per_node < 1 or job.ranks > MOST_RANKS or job.ranks_per_node > 4096:
        raise UsageError(
            f"{job.nodes} nodes with {job.ranks_per_node} ranks per node: no job that the laws know",
            f"both are at least 1, ranks per node at most 4096, ranks in all at most {MOST_RANKS:,}",
        )
    if not 0 <= job.system_share < 1:
        raise UsageError(
            f"{job.system_share:.0%} of the memory for the operating system", "it is a share from 0 to under 100 %"
        )
    if job.connections < 0:
        raise UsageError(f"{job.connections} connections", "a rank opens none or more")
    if not 0 < job.element_bytes < math.inf:
        raise UsageError(
            f"{job.element_bytes:g} bytes for each rank", "Reduce_scatter leaves each rank 4 B or 8 B, say"
        )
