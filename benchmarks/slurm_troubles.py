"""Random troubles of a real Slurm while a campaign runs; what the payloads wrote themselves decides what is true.

    benchmarks/slurm_troubles.py [accounting|plain|forgetful] [SEED] [SECONDS]

An emulated cluster of eight nodes runs a campaign of plain jobs, requeued jobs, wide jobs, packs and a sweep. For SECONDS (120)
nodes lose power, hang or lose slurmd, the controller dies, jobs are cancelled, held and requeued, the conductor is killed or
stopped, the campaign's directory is away. Then all is mended and the campaign is resumed to its end. Each payload writes when it
began and how it ended. Status 1 where a verdict is another than the payload's own end, something ran and has no verdict, ran
twice under one claim, or is left behind; the seed makes the same order of troubles again.
"""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests" / "support"))

from slurm_cluster import Cluster

from shakedown.events.reader import read_events
from shakedown.model.events import Event

SHAKEDOWN = str(Path(sys.executable).parent / "shakedown")
NODES = [f"n{number:03d}" for number in range(1, 9)]
PATIENCE_S = 600.0  # for the end, when everything is mended
SYSTEM = """\
system: emu
clusters:
  emu:
    scheduler: slurm
    patience: {poll: 1s, grace: 3s, lost_after: 40s, no_answer: 10min, dead_after: 5s}
    partitions: {batch: {nodes: "n[001-008]", type: node}}
node_types: {node: {cores: 16}}
budgets: {disk: 6}
"""
# The payload says on its own that it began, and how it means to end, just before it ends so.
COMMAND = """\
    truth=TRUTH/$SHAKEDOWN_RUN
    where="$SHAKEDOWN_RESTART $SLURM_JOB_ID $(hostname)"
    echo "begin $where $(date +%s.%N)" >>$truth
    sleep LENGTH
    echo "end $where $(date +%s.%N) CODE" >>$truth
    exit CODE
"""
TESTS = {  # name: seconds, exit status, keys of run, other keys
    "ok": ("3", 0, "time_limit: 1min", ""),
    "bad": ("2", 3, "time_limit: 1min", ""),
    "again": ("6", 0, "time_limit: 1min, requeue: true", "loads: {disk: 2}"),
    "wide": ("4", 0, "time_limit: 1min, nodes: 3", ""),
    "long": ("100", 0, "time_limit: 12s", ""),
    "small": ("1", 0, "time_limit: 20s", ""),
    "seen": ("2", 0, "time_limit: 30s", ""),
}
_ANY = '{all: {measure: passed / wanted, must: ">= 0%"}}'
PLAN = """\
plan: p
system: emu
components:
  - functionality: {name: plain, tests: [ok, bad, again, wide, long], repeats: 6, criteria: ANY}
  - site: {name: packs, tests: [small], repeats: 40, pack: {runs: 8, at_once: 2}, criteria: ANY}
  - site: {name: sweep, tests: [seen], sweep: {rounds: 2, wait: 1min}, criteria: ANY}
""".replace("ANY", _ANY)


def main() -> int:
    configuration = sys.argv[1] if len(sys.argv) > 1 else "accounting"
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 120.0
    folder = Path(tempfile.mkdtemp(prefix=f"shakedown-troubles-{configuration}-{seed}-"))
    cluster = Cluster(folder / "slurm", configuration=configuration, options=("--slurmd-timeout", "10")).up()
    try:
        trial = Trial(cluster, folder / "site", random.Random(seed))
        trial.trouble(seconds)
        trial.finish()
        wrong = list(trial.wrong())
        for sentence in wrong:
            print(f"seed {seed}, {configuration}: {sentence}", flush=True)
        print(
            f"{configuration}, seed {seed}: {trial.summary()}; {len(wrong)} wrong; {f'kept in {folder}' if wrong else ''}",
            flush=True,
        )
        if not wrong:
            shutil.rmtree(folder / "site")
        return 1 if wrong else 0
    finally:
        subprocess.run(["pkill", "-f", str(folder / "site")], check=False)
        cluster.fault("down")


@dataclass
class Execution:
    """One beginning of a payload: which restart of which job, and how it said that it ends (None: it did not come to it)."""

    restart: int
    job: str
    hosts: set[str]
    begins: int = 1
    code: int | None = None
    ended: float = 0.0


@dataclass
class Trial:
    """A campaign, its conductor, and what is done to both."""

    cluster: Cluster
    site: Path
    chance: random.Random
    conductor: subprocess.Popen[bytes] | None = None
    later: list[tuple[float, Callable[[], None]]] = field(default_factory=list)  # when, and what mends
    done: Counter[str] = field(default_factory=Counter)
    busy: set[str] = field(default_factory=set)  # nodes, and things of which there is one, that a trouble has

    def __post_init__(self) -> None:
        for name in ("systems", "tests", "plans", "truth"):
            (self.site / name).mkdir(parents=True)
        (self.site / "site.yaml").write_text("site: troubles\n")
        (self.site / "systems/emu.yaml").write_text(SYSTEM)
        (self.site / "plans/p.yaml").write_text(PLAN)
        for name, (length, code, run, more) in TESTS.items():
            command = COMMAND.replace("TRUTH", str(self.site / "truth")).replace("LENGTH", length)
            keys = "".join(f"  {key}\n" for key in run.split(", "))
            text = f"test: {name}\nrun:\n{keys}  command: |\n{command.replace('CODE', str(code))}{more}\n"
            (self.site / f"tests/{name}.yaml").write_text(text)
        self.drive("run", "p")
        self.told = (self.site / "troubles").open("w")

    # ---- the conductor -----------------------------------------------------------------------------------------------

    def drive(self, *words: str) -> None:
        with (self.site / "said").open("ab") as said:
            self.conductor = subprocess.Popen(
                [SHAKEDOWN, *words, "--quiet"], cwd=self.site, env=self.cluster.environment, stdout=said, stderr=said
            )

    def ask(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [SHAKEDOWN, *words], cwd=self.site, env=self.cluster.environment, capture_output=True, text=True
        )

    def revive(self) -> None:
        assert self.conductor is not None
        if self.conductor.poll() is not None and (self.site / "campaigns/p-1").exists():
            self.drive("resume")

    # ---- troubles ----------------------------------------------------------------------------------------------------

    def trouble(self, seconds: float) -> None:
        """Troubles at random moments, several at once, each mended after a while."""
        end = time.monotonic() + seconds
        time.sleep(4)
        while time.monotonic() < end:
            kind = self.chance.choice(_TROUBLES)
            with suppress(AssertionError, subprocess.TimeoutExpired):
                kind(self)
            until = time.monotonic() + self.chance.uniform(0.5, 5.0)
            while time.monotonic() < until:
                self._mend_what_is_due()
                time.sleep(0.2)
            self.revive()

    def _mend_what_is_due(self, every: bool = False) -> None:
        for at, mend in sorted(self.later, key=lambda pair: pair[0]):
            if every or time.monotonic() >= at:
                self.later = [pair for pair in self.later if pair[1] is not mend]
                with suppress(AssertionError, subprocess.TimeoutExpired):
                    mend()

    def begin(self, what: str, holds: str, most_s: float, mend: Callable[[], None]) -> bool:
        """Takes note of a trouble; False where one already has this node or thing."""
        if holds and holds in self.busy:
            return False
        if holds:
            self.busy.add(holds)
        self.done[what] += 1
        print(f"{time.time():.3f} {what} {holds}", file=self.told, flush=True)

        def mended() -> None:
            mend()
            self.busy.discard(holds)
            print(f"{time.time():.3f} mended {what} {holds}", file=self.told, flush=True)

        self.later.append((time.monotonic() + self.chance.uniform(1.0, most_s), mended))
        return True

    def job(self) -> str:
        """One of our jobs; empty where there is none."""
        lines = self.cluster.attempt("squeue", "-h", "-o", "%i|%j").stdout.splitlines()
        ours = sorted(line.split("|")[0] for line in lines if line.split("|")[1].startswith("sd-"))
        return self.chance.choice(ours) if ours else ""

    def act_on_job(self, what: str, *command: str, back: tuple[str, ...] = ()) -> None:
        if job := self.job():
            words = [word.replace("JOB", job) for word in command]
            mend = [word.replace("JOB", job) for word in back]
            if self.begin(what, f"job {job}", 6.0, lambda: self._undo(mend)):
                self.cluster.attempt(*words)

    def _undo(self, command: list[str]) -> None:
        if command:
            self.cluster.attempt(*command)

    # ---- the end, and what is true -----------------------------------------------------------------------------------

    def finish(self) -> None:
        """All is mended, and the campaign comes to its end."""
        self._mend_what_is_due(every=True)
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            with suppress(AssertionError):
                self._heal()
            assert self.conductor is not None
            with suppress(subprocess.TimeoutExpired):
                self.conductor.wait(5.0)
            if self.conductor.poll() is not None:
                if json.loads(self.ask("status", "--json").stdout)["phase"] == "ended":
                    return
                self.drive("resume")

    def _heal(self) -> None:
        self.cluster.up()
        for name, node in self.cluster.status()["nodes"].items():
            if node["frozen"]:
                self.cluster.fault("thaw", name)
            if "drain" in node["state"] or "down" in node["state"]:
                self.cluster.attempt("scontrol", "update", f"nodename={name}", "state=resume")
        for line in self.cluster.attempt("squeue", "-h", "-o", "%i|%T|%r").stdout.splitlines():
            job, state, reason = line.split("|")
            if "Held" in reason:
                self.cluster.attempt("scontrol", "release", job)
            if state == "SUSPENDED":
                self.cluster.attempt("scontrol", "resume", job)

    def events(self, name: str) -> list[Event]:
        return [event for event in read_events(self.site / "campaigns/p-1/log") if event.event == name]

    def executions(self) -> dict[str, list[Execution]]:
        """By run, what its payloads wrote. A restart of a job is a run of its own, and its payload knows the first one's name."""
        job_of = {event.run: event.job for event in self.events("submit_order")}
        restarted = {(event.job, event.value["restart"]): event.run for event in self.events("requeued")}
        found: dict[str, list[Execution]] = {}
        for file in sorted((self.site / "truth").iterdir()):
            of_run: dict[tuple[int, str, str], Execution] = {}
            for line in file.read_text().splitlines():
                what, restart, job, host, at, *code = line.split()
                key = int(restart), job, host
                if what == "begin" and key in of_run:
                    of_run[key].begins += 1
                elif what == "begin":
                    of_run[key] = Execution(int(restart), job, {host})
                else:
                    of_run[key].code, of_run[key].ended = int(code[0]), float(at)
            for one in of_run.values():
                run = restarted.get((job_of.get(file.name, ""), one.restart), file.name)
                found.setdefault(run, []).append(one)
        return found

    def wrong(self) -> Iterator[str]:
        """Everything that is not as the payloads say it was."""
        truth = self.executions()
        status = json.loads(self.ask("status", "--json").stdout)
        if status["phase"] != "ended":
            yield f"it is not over after {PATIENCE_S:g} s: {self.ask('status').stdout}"
        verdicts: dict[str, list[Event]] = {}
        for event in self.events("verdict"):
            verdicts.setdefault(event.run, []).append(event)
        for run, executions in truth.items():
            if run not in verdicts:
                yield f"{run} ran and has no verdict: {executions}"
                continue
            for one in executions:
                if one.begins > 1:
                    yield f"{run} ran {one.begins} times under one claim: {one}"
            yield from self._judged(run, verdicts[run][-1], executions)
        for run, events in verdicts.items():
            if events[-1].value["verdict"] in ("passed", "failed", "timeout", "incorrect") and run not in truth:
                yield f"{run} is {events[-1].value['verdict']} and never began: {events[-1].reason}"
            if len(events) > 1 and not all(event.value.get("supersedes") for event in events[1:]):
                yield f"{run} is judged {len(events)} times"
        left = self.cluster.attempt("squeue", "-h", "-o", "%i %j %T").stdout.splitlines()
        yield from (f"left in the queue: {line}" for line in left if "sd-" in line)
        yield from self._counts(status, verdicts)

    def _judged(self, run: str, event: Event, executions: list[Execution]) -> Iterator[str]:
        verdict, codes = event.value["verdict"], {one.code for one in executions}
        said = f"{run} ({event.case}) is {verdict} ({event.reason})"
        if verdict == "passed" and 0 not in codes:
            yield f"{said}, and its payloads ended {codes}"
        if verdict == "failed" and not codes - {0, None}:
            yield f"{said}, and its payloads ended {codes}"
        if verdict == "incorrect":
            yield f"{said}: nothing here can be incorrect"
        # What Slurm gave up may go on for a while, on a node that it does not hear of; the verdict is older than that end.
        if verdict not in ("passed", "failed") and any(
            one.code is not None and one.ended < event.time for one in executions
        ):
            yield f"{said}, although a payload came to its end before that: {executions}"
        if verdict == "timeout" and not event.case.startswith("long"):
            yield f"{said}: its payload takes less than its limit"

    def _struck(self, execution: Execution) -> bool:
        """Whether a trouble came to its node or job in the moment in which it ended."""
        for line in (self.site / "troubles").read_text().splitlines():
            at, _, words = line.partition(" ")
            mine = words.split()[-1:] == [execution.job] or execution.hosts & set(words.split())
            if mine and abs(float(at) - execution.ended) < 1.0:
                return True
        return False

    def _counts(self, status: dict[str, object], verdicts: dict[str, list[Event]]) -> Iterator[str]:
        """Every result is closed, budgets are free, and the counts of the views are those of the log."""
        report = json.loads(self.ask("report", "--json", "--no-pdf").stdout)
        last = [events[-1] for events in verdicts.values()]
        for mine, theirs in zip(status["components"], report["components"], strict=True):  # type: ignore[call-overload]
            name = mine["name"]
            counted = Counter(event.value["verdict"] for event in last if event.value.get("component") == name)
            if mine["wanted"] != mine["closed"] or theirs["to_come"]:
                yield f"{name}: {mine['wanted']} wanted, {mine['closed']} closed, {theirs['to_come']} to come"
            if counted != mine["verdicts"] or counted.total() != theirs["attempts"]:
                yield f"{name}: the log has {counted}, status {mine['verdicts']}, report {theirs['attempts']} attempts"
        for name, budget in status["budgets"].items():  # type: ignore[attr-defined]
            if not str(budget["said"]).startswith("0 "):
                yield f"budget {name}: {budget['said']} taken at the end"
        if not report["finished"]:
            yield "the report says that it is not over"

    def summary(self) -> str:
        verdicts = Counter(event.value["verdict"] for event in self.events("verdict"))
        said = ", ".join(f"{count} {name}" for name, count in self.done.most_common())
        return f"{self.done.total()} troubles ({said}); verdicts {dict(verdicts)}"


# ---- what can go wrong ---------------------------------------------------------------------------------------------------


def _node(what: str, verb: str, back: str, most_s: float) -> Callable[[Trial], None]:
    def strike(trial: Trial) -> None:
        node = trial.chance.choice(NODES)
        if trial.begin(what, node, most_s, lambda: _back(trial, back, node)):
            trial.cluster.fault(verb, node, *(["a trouble"] if verb == "drain" else []))

    return strike


def _back(trial: Trial, verb: str, node: str) -> None:
    trial.cluster.fault(verb, node)
    if "down" in (state := trial.cluster.node_state(node)) or "drain" in state:
        trial.cluster.attempt("scontrol", "update", f"nodename={node}", "state=resume")


def _again(trial: Trial, verb: str) -> None:
    trial.cluster.fault(verb)


def _controller(trial: Trial) -> None:
    if trial.begin("controller killed", "slurmctld", 20.0, lambda: _again(trial, "start-slurmctld")):
        trial.cluster.fault("kill-slurmctld")


def _accounting(trial: Trial) -> None:
    if trial.cluster.configuration == "plain":
        return
    if trial.begin("accounting killed", "slurmdbd", 20.0, lambda: _again(trial, "start-slurmdbd")):
        trial.cluster.fault("kill-slurmdbd")


def _conductor_killed(trial: Trial) -> None:
    if trial.begin("conductor killed", "conductor", 8.0, trial.revive) and trial.conductor is not None:
        trial.conductor.kill()
        trial.conductor.wait()


def _conductor_stopped(trial: Trial) -> None:
    driver = trial.conductor
    if driver is None or driver.poll() is not None:
        return
    if trial.begin("conductor stopped", "conductor", 25.0, lambda: driver.send_signal(signal.SIGCONT)):
        driver.send_signal(signal.SIGSTOP)


def _second_driver(trial: Trial) -> None:
    if trial.begin("second driver", "", 1.0, lambda: None):
        with (trial.site / "said").open("ab") as said:
            subprocess.Popen(
                [SHAKEDOWN, "resume", "--if-needed", "--quiet"],
                cwd=trial.site,
                env=trial.cluster.environment,
                stdout=said,
                stderr=said,
            )


def _directory_away(trial: Trial) -> None:
    place, away = trial.site / "campaigns", trial.site / "elsewhere"
    if place.exists() and not away.exists():

        def back() -> None:
            if place.exists():  # somebody made it anew: nothing of ours may
                print(f"{time.time():.3f} MADE ANEW {sorted(place.rglob('*'))[:5]}", file=trial.told, flush=True)
                place.rename(trial.site / f"anew-{time.time():.0f}")
            away.rename(place)

        if trial.begin("directory away", "campaigns", 10.0, back):
            place.rename(away)


_TROUBLES: tuple[Callable[[Trial], None], ...] = (
    _node("power off", "power-off", "power-on", 25.0),
    _node("power off", "power-off", "power-on", 25.0),
    _node("hangs", "freeze", "thaw", 25.0),
    _node("slurmd killed", "kill-slurmd", "start-slurmd", 25.0),
    _node("drained", "drain", "resume", 20.0),
    _controller,
    _accounting,
    _conductor_killed,
    _conductor_killed,
    _conductor_stopped,
    _second_driver,
    _directory_away,
    lambda trial: trial.act_on_job("job cancelled", "scancel", "JOB"),
    lambda trial: trial.act_on_job("job requeued", "scontrol", "requeue", "JOB"),
    lambda trial: trial.act_on_job("job held", "scontrol", "hold", "JOB", back=("scontrol", "release", "JOB")),
    lambda trial: trial.act_on_job("job suspended", "scontrol", "suspend", "JOB", back=("scontrol", "resume", "JOB")),
    lambda trial: trial.act_on_job("job renamed", "scontrol", "update", "JobId=JOB", "JobName=other"),
)


if __name__ == "__main__":
    sys.exit(main())
