# spool_port.py
"""Shakedown's port onto a spool: what Shakedown asks of a scheduler, in the words of this one."""

import os
from pathlib import Path

from spool import Spool

from shakedown.model.dialects import Dialect
from shakedown.model.ports import JobReport, Opened, SubmitAnswer
from shakedown.model.shared_nodes import names_in
from shakedown.schedulers.claims import CannotStart
from shakedown.schedulers.cluster.job_places import JobPlaces, campaign_token, job_label
from shakedown.schedulers.cluster.marks import read_restart

ROOM_S = 30.0  # beyond a test's own limit, so that its script can still write its end mark
# The job script asks for these names, whoever starts it; another scheduler's wrapper gives them its own values.
WRAPPER = """\
export SLURM_JOB_ID=$SPOOL_JOB SLURM_JOB_NAME={name} SLURM_JOB_NODELIST=$SPOOL_NODES
export SLURMD_NODENAME=${{SPOOL_NODES%%,*}} SLURM_RESTART_COUNT=$SPOOL_RESTART
exec /bin/sh "{script}"
"""


def open_spool(layout, document, clusters, reactor):
    """The port of one session. Jobs go on without it, so there is nothing to end when it closes."""
    port = SpoolScheduler(layout, clusters[0], Path(os.environ.get("SPOOL", "/var/spool/jobs")))
    return Opened(port, close=lambda: None)


class SpoolScheduler:
    """The Scheduler port (``shakedown.model.ports``). It never raises and never guesses."""

    poll_s = 0.5  # how often the loop asks

    def __init__(self, layout, cluster, root):
        self.places, self.token = JobPlaces(layout), campaign_token(layout)
        self.cluster, self.spool = cluster, Spool(root)

    # ---- submitting ----

    def submit(self, orders):
        return [self._submit(order) for order in orders]

    def _submit(self, order):
        if order.parts:
            return SubmitAnswer(order.job, "refused", message=f"run {order.run}: a spool runs no packs")
        try:
            script = self.places.prepare(order)
        except CannotStart as error:
            return SubmitAnswer(order.job, "refused", transient=error.transient, message=error.message)
        name, limit_s = job_label(self.token, order.job), order.case.shape.time_limit_s
        try:
            wrapper = script.with_name("spool.sh")
            wrapper.write_text(WRAPPER.format(name=name, script=script))
            number = self.spool.submit(
                name, wrapper, self._nodes(order), order.case.shape.nodes, limit_s + ROOM_S if limit_s else 0.0,
                held=order.held, after=order.after[1],
            )  # fmt: skip
        except TimeoutError as error:  # it may have been accepted all the same
            return SubmitAnswer(order.job, "unknown", message=str(error))
        except OSError as error:  # nothing was attempted: it is tried again later
            return SubmitAnswer(order.job, "refused", transient=True, message=f"run {order.run}: {error}")
        return SubmitAnswer(order.job, "accepted", number)

    def _nodes(self, order):
        """The nodes of its partition that the job may have."""
        where = next(p for p in self.cluster.partitions if order.case.partition == f"{self.cluster.name}:{p.name}")
        names = list(names_in(where.nodes))
        return [names[order.node - 1]] if order.node else [name for name in names if name not in order.exclude]

    # ---- what became of jobs ----

    def poll(self, jobs):
        """One look at the spool answers for every job. Jobs are found by their names: their number may have been lost."""
        try:
            known = {}
            for number, job in self.spool.look().items():
                known.setdefault(job["name"], {})[number] = job
        except OSError as error:
            return [JobReport(job, "no_answer", "queue", message=str(error)) for job in jobs]
        return [self._report(job, known.get(job_label(self.token, name), {})) for name, job in jobs.items()]

    def _report(self, job, known):
        try:
            marks = read_restart(self.places, job.id, job.restart)
        except OSError as error:
            return JobReport(job.id, "no_answer", "marks", message=str(error))
        # An order that was given twice has two jobs of one name: the one that took the claim is the job.
        number = marks.holder if marks.holder in known else next(reversed(known), "")
        found = known.get(number)

        def say(state, source="queue", message="", **more):
            nodes = marks.nodes or (",".join(found["nodes"]) if found else "")
            return JobReport(
                job.id, state, source, number or job.scheduler_id, more.pop("restart", job.restart), nodes=nodes,
                message=message, elapsed_s=marks.elapsed_s, began=marks.claimed_at, **more,
            )  # fmt: skip

        if marks.void:
            return say("void", "marks", marks.void)
        if marks.exit_status is not None:  # its own word counts first, whatever the spool knows or has forgotten
            state = "failed" if marks.exit_status else "completed"
            output = self._output(job) | ({"doubt": marks.doubt} if marks.doubt else {})
            return say(state, "marks", exit_status=marks.exit_status, output=output, doubt=marks.doubt)
        if found is None:
            return say("absent", message="the spool does not know it, and it left no end mark")
        if found["restart"] > job.restart:
            return say("requeued", restart=found["restart"], message="the spool put it back into the queue")
        if found["state"] == "ended" and (not marks.claimed or marks.holder == "conductor"):
            return say("refused", message=f"it ended with exit status {found['status']} before it took its claim")
        states = {
            "held": "queued", "waiting": "queued", "running": "running", "timeout": "timeout", "cancelled": "cancelled",
            "lost": "node_fail", "ended": "failed",
        }  # fmt: skip
        state = states.get(found["state"], "unknown")
        over = state in ("timeout", "cancelled", "node_fail", "failed")
        status = found["status"] if state == "failed" else None
        message = f"the spool calls its state '{found['state']}'" if state == "unknown" else ""
        return say(state, message=message, exit_status=status, output=self._output(job) if over and marks.claimed else {})

    def _output(self, job):
        file, place = self.places.output(job.id, job.restart), self.places.directory(job.id, job.restart)
        root = self.places.layout.root
        if not file.exists():
            return {}
        pointer = {"file": str(file.relative_to(root)), "bytes": file.stat().st_size}
        return {**pointer, "directory": str(place.relative_to(root))}

    # ---- orders about jobs that are there ----

    def cancel(self, jobs):
        return self._tell(jobs, self.spool.cancel)

    def hold(self, jobs):
        return self._tell(jobs, lambda numbers: self.spool.move(numbers, "waiting", "held"))

    def release(self, orders):
        return self._tell(orders, lambda numbers: self.spool.move(numbers, "held", "waiting"))

    def _tell(self, jobs, what):
        """Our ids of those for whom it worked. Only a job that bears our name is touched."""
        try:
            names = {job["name"]: number for number, job in self.spool.look().items()}
            numbers = {names[label]: job.id for job in jobs if (label := job_label(self.token, job.id)) in names}
            return [numbers[number] for number in what(list(numbers))]
        except OSError:
            return []

    def take_claim(self, job):
        try:
            return self.places.take_claim(job.id, job.restart)
        except (CannotStart, OSError):
            return None

    def take_parts(self, job, runs):
        return []

    def survey(self, wanted):
        return None

    def calls(self):
        return {}


SPOOL = Dialect("spool", "a spool directory", "spool_port:open_spool")
