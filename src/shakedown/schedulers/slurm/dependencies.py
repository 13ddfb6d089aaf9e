"""Jobs that may start only when another job of ours is over: the number of that job at Slurm, and whether it is over."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from shakedown.model.nouns import Cluster
from shakedown.model.ports import JobOrder
from shakedown.schedulers.claims import CannotStart
from shakedown.schedulers.cluster.job_places import JobPlaces, job_label
from shakedown.schedulers.cluster.marks import read_marks
from shakedown.schedulers.slurm.parsing import QueueRow


@dataclass(slots=True)
class Chains:
    """``rows``: the jobs that wait or run on a cluster; None where it does not answer. ``given``: number -> the job that last got
    it.

    A job that is over, or that Slurm has forgotten, delays nobody: Slurm accepts its number and starts the successor.
    """

    token: str
    places: JobPlaces
    rows: Callable[[Cluster], list[QueueRow] | None]
    given: Mapping[str, str] = field(default_factory=dict)

    def number(self, order: JobOrder, cluster: Cluster) -> str:
        """Purpose: the number of the job that must be over first, "" where there is none. Raises CannotStart."""
        name, known = order.after
        if not name:
            return ""
        number, _, home = known.partition(";")
        if home and home != cluster.name:
            raise CannotStart(
                f"run {order.run} cannot be started on {cluster.name} after job {name}, which is on {home}: "
                "Slurm knows no order between clusters"
            )
        if number:  # a number that another job of ours was given since is no longer that of the first: Slurm forgot it
            return number if self.given.get(known, name) == name else ""
        ids = [row.id for row in self.rows(cluster) or () if row.name == job_label(self.token, name)]
        if not ids:
            raise CannotStart(
                f"run {order.run} is to start after job {name}, which Slurm on {cluster.name} does not know now",
                transient=True,
            )
        return ids[0]

    def is_over(self, order: JobOrder, cluster: Cluster, number: str) -> bool:
        """Purpose: whether that job is known to be over: by its own end mark, or because it is in no queue."""
        try:
            marks = read_marks(self.places, order.after[0])
            if marks is not None and marks.elapsed_s is not None:
                return True
        except OSError:
            pass
        rows = self.rows(cluster)
        return rows is not None and all(row.id != number for row in rows)
