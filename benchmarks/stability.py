"""A stability campaign on a real Slurm of 16 emulated nodes, beside the twin's for the same plan: full, fair, within budgets.

Six tests of 1, 1, 1, 1, 2 and 1 nodes, exclusive, sleep 30 to 45 s in the proportions of paper 004's Table IV, on four metadata
targets with capacity, caps and stagger. The bars, from the end of the ramp to the start of the drain: at least 95 % of the
node-seconds that the twin gets for the same plan; never more load on a target than allowed, by the log and by the payloads' own
words; shares within 5 points. It takes the campaign's time and a little more, so it is no part of ``all.py``.

With ``--faults``: two node deaths, a hung node, a slurmctld restart, the conductor killed three times and once away for three
minutes, accounting away for a minute, a work file system that hangs, a full disk (root only: file systems of its own are
mounted). Then every run is accounted for, nothing is executed twice, and a place that falls free is given away within two polls.

Exit status: 0 met, 1 not met.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))

from fill_measures import Span, full, longest_hole, node_seconds, off_shares, spans_of_log, spans_of_truth, within
from full_machine import ENDS, begins, executed_twice, followed_twice, jobs_of, loads, most_at_once, told_by_payloads
from slurm_cluster import Cluster
from stability_plan import MDTS, TABLE_4, play, shares

from shakedown.events.reader import read_events
from shakedown.model.events import Event
from shakedown.model.frozen import thaw
from shakedown.model.nouns import Document
from stability_faults import Driver, FaultPlan, Small

NODES = dict(zip(TABLE_4, (1, 1, 1, 1, 2, 1), strict=True))
CAPS = {"cm4": 8, "shield": 8}
FULL_LIMIT, SHARE_LIMIT, POLL_S = 0.95, 0.05, 5.0
LONGEST_S = 45.0
SLEEP = "sleep $((30 + $(od -An -N2 -tu2 /dev/urandom) % 16))"
TEST = """\
test: {name}
loads: {{f2/mdt: 1}}
run:
  nodes: {nodes}
  time_limit: 2min
  command: |
    {begins}
    {sleep}; {ends}; echo done
check: [output contains "done"]
"""
PLAN = """\
plan: stability
system: bench
components:
  - stability:
      duration: {minutes}min
      tests: [{tests}]
      mix: {{{mix}}}
      fill: {{target: 100%, ramp: 60s, {ahead}: 200s}}
      limits: {{copies: {{{caps}}}, stagger: 1s}}
      retry: {{failed: 1}}
      criteria: {{all: {{measure: correct / completed, must: "= 100%"}}}}
"""
TARGETS = """
filesystems: {{f2: {{kind: lustre, targets: {{mdt: [{names}]}}, path: "{path}/{{mdt}}/acceptance"}}}}
budgets: {{f2/mdt: {amount} per target}}
"""


def main() -> int:
    options = _options()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="shakedown-stability-", dir="/tmp")))
        places = stack.enter_context(Small(folder)) if options.faults else None
        words = ("--ports", options.ports, "--slurmd-timeout", "10")
        cluster = Cluster(folder / "emulation", "bench", 16, "accounting", words)
        stack.callback(cluster.fault, "down", "--all")
        cluster.up()
        os.environ["SLURM_CONF"] = str(cluster.slurm_conf)
        site = make_site(folder, options)
        driver = Driver(site)
        faults = FaultPlan(cluster, driver, places, options.minutes * 60.0) if places is not None else None
        driver.run(options.minutes * 60.0, faults)
        root = site / "campaigns/stability-1"
        if options.keep:
            subprocess.run(["cp", "-r", str(site), options.keep], check=True)
        return judge(root, faults, options.per_target)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=int, default=20)
    parser.add_argument("--ports", default="28000")
    parser.add_argument("--faults", action="store_true", help="with all that may go wrong")
    parser.add_argument(
        "--hold", action="store_true", help="queue held jobs ahead, and release them; else followers in chains"
    )
    parser.add_argument("--per-target", type=int, default=6, help="what each metadata target bears")
    parser.add_argument("--keep", default="", metavar="DIRECTORY", help="copy the site there at the end")
    return parser.parse_args()


def make_site(folder: Path, options: argparse.Namespace) -> Path:
    """A site for the cluster that answers, with its six tests and four targets."""
    site = folder / "site"
    subprocess.run([Driver.SHAKEDOWN, "init", str(site), "--name", "bench"], check=True, capture_output=True)
    with (site / "systems/bench.yaml").open("a") as system:
        system.write(TARGETS.format(names=", ".join(MDTS), path=folder / "lustre", amount=options.per_target))
    for target in MDTS:
        (folder / "lustre" / target).mkdir(parents=True, exist_ok=True)
    for name, nodes in NODES.items():
        (site / f"tests/{name}.yaml").write_text(
            TEST.format(name=name, nodes=nodes, begins=begins(name), sleep=SLEEP, ends=ENDS)
        )
    mix = ", ".join(f"{name}: {share:.1%}" for name, share in rounded(shares()).items())
    caps = ", ".join(f"{name}: {count}" for name, count in CAPS.items())
    (site / "plans/stability.yaml").write_text(
        PLAN.format(
            minutes=options.minutes,
            ahead="queue_ahead" if options.hold else "survive",
            tests=", ".join(NODES),
            mix=mix,
            caps=caps,
        )
    )
    return site


def rounded(mix: tuple[tuple[str, float], ...]) -> dict[str, float]:
    """Tenths of a percent that are 100 % together."""
    tenths = {name: round(share * 1000) for name, share in mix}
    largest = max(tenths, key=lambda name: tenths[name])
    tenths[largest] += 1000 - sum(tenths.values())
    return {name: count / 1000 for name, count in tenths.items()}


# ---- judged ------------------------------------------------------------------------------------------------------------


def judge(root: Path, faults: FaultPlan | None, most: int) -> int:
    """Every bar with its number; 0 when all are met."""
    events = list(read_events(root / "log"))
    document = thaw((root / f"documents/{events[0].value['document']}.json").read_bytes())
    since, until = steady(document, events)
    rows = within_budgets(events, root, most) + accounted(events, root)
    ours = spans_of_log(document, events)
    rows += fair(document, ours, since, until) + as_the_twin(document, ours, since, until, faults)
    if faults is not None:
        print("\n".join(faults.done))
    rows += releases(events, faults, most)
    for name, seen, bar, met in rows:
        print(f"{name:<58} {seen:>22}  {bar:<18} {'met' if met else 'NOT MET'}")
    return 0 if all(row[3] for row in rows) else 1


Row = tuple[str, str, str, bool]


def steady(document: Document, events: list[Event]) -> tuple[float, float]:
    """From the end of the ramp, and a run after it, to the start of the drain."""
    (component,) = document.components
    began = next(event.time for event in events if event.event == "submit_order")
    return began + component.fill.ramp_s + LONGEST_S, began + component.duration_s - LONGEST_S


def as_the_twin(
    document: Document, ours: list[Span], since: float, until: float, faults: FaultPlan | None
) -> list[Row]:
    times = dict.fromkeys(NODES, (37.5, 7.5))
    twin = play(document, times=times, watched=False, seed=1)
    low, high = steady(document, twin.events())
    theirs = sum(node_seconds(within(spans_of_truth(twin), low, high)).values()) / (high - low)
    had = sum(node_seconds(within(ours, since, until)).values()) / (until - since)
    seen = f"{had:.2f} / {theirs:.2f} = {had / theirs:.1%}"
    print(f"of 16 nodes: {full(ours, 16, since, until):.1%} in use for {until - since:.0f} s")
    bar = f">= {FULL_LIMIT:.0%}" if faults is None else "with faults: shown"
    return [("nodes in use, of the twin's", seen, bar, faults is not None or had / theirs >= FULL_LIMIT)]


def fair(document: Document, ours: list[Span], since: float, until: float) -> list[Row]:
    (component,) = document.components
    off = off_shares(ours, component.mix, since, until)
    test = max(off, key=lambda name: abs(off[name]))
    rows = [
        (
            "furthest off its share",
            f"{test} {100 * off[test]:+.2f} points",
            "within 5 points",
            abs(off[test]) < SHARE_LIMIT,
        )
    ]
    holes = {name: longest_hole(ours, name, since, until) for name in NODES}
    worst = max(holes, key=lambda name: holes[name])
    return [*rows, ("longest time without a test", f"{worst} {holes[worst]:.0f} s", "shown", True)]


def within_budgets(events: list[Event], root: Path, most: int) -> list[Row]:
    jobs = list(jobs_of(events).values())
    by_log, by_test = loads(jobs, lambda job: job.target), loads(jobs, lambda job: job.test)
    spans = [
        (target_of(one.place), one.run, one.begin, one.end)
        for one in told_by_payloads(root.parent.parent / "executed")
        if one.end - one.begin < 10 * LONGEST_S
    ]
    really = most_at_once(spans)
    copies = {test: by_test.get(test, 0) for test in CAPS}
    kept = all(copies[test] <= cap for test, cap in CAPS.items())
    allowed, twice = f"<= {most}", followed_twice(events)
    return [
        ("most on a target, by the log", str(sorted(by_log.values())), allowed, max(by_log.values()) <= most),
        (
            "most on a target, by the payloads",
            str(sorted(really.values())),
            allowed,
            max(really.values()) <= most,
        ),
        ("targets that were used", str(len(really)), f"= {len(MDTS)}", set(really) == set(MDTS)),
        ("copies at once", str(copies), str(CAPS), kept),
        ("places that two were to take", str(len(twice)), "none", not twice),
    ]


def target_of(place: str) -> str:
    """The target in a run's directory, as the payload saw it."""
    return next((part for part in Path(place).parts if part in MDTS), place)


def accounted(events: list[Event], root: Path) -> list[Row]:
    """Every run has one verdict, and none was executed twice."""
    verdicts = Counter(e.run for e in events if e.event == "verdict" and "supersedes" not in e.value)
    back = {e.run for e in events if e.event in ("submit_deferred", "claim_taken")}
    ordered = {e.run for e in events if e.event in ("submit_order", "requeued")}
    open_runs = ordered - set(verdicts) - back
    twice = executed_twice(told_by_payloads(root.parent.parent / "executed"))
    said = Counter(e.value["verdict"] for e in events if e.event == "verdict" and "supersedes" not in e.value)
    print(f"{len(ordered)} runs: {dict(said)}")
    return [
        ("runs without a verdict", str(len(open_runs)), "none", not open_runs),
        ("judged more than once", str(sum(n > 1 for n in verdicts.values())), "none", set(verdicts.values()) == {1}),
        ("executed more than once", str(len(twice)), "none", not twice),
        ("the campaign ended", events[-1].event, "campaign_end", any(e.event == "campaign_end" for e in events)),
    ]


def releases(events: list[Event], faults: FaultPlan | None, most: int) -> list[Row]:
    """For how long somebody was held although a place was free for it, at most: two polls are allowed."""
    waits = held_in_vain(events, most)
    if faults is not None:
        waits = [w for w in waits if not any(low < w[0] + w[1] and w[0] < high for low, high in faults.blind)]
    longest = max((lasted for _, lasted in waits), default=0.0)
    print(
        f"{sum(event.event == 'release_order' for event in events)} releases, {len(waits)} times a place was free for one"
    )
    return [
        ("a free place given away after at most", f"{longest:.2f} s", f"<= {2 * POLL_S:g} s", longest <= 2 * POLL_S)
    ]


def held_in_vain(events: list[Event], most: int) -> list[tuple[float, float]]:
    """(since when, how long) each time in which a job was held although its cap and some target had room for it.

    Only from the end of the ramp on, and until the time is up.
    """
    jobs = jobs_of(events)
    began = next(event.time for event in events if event.event == "submit_order")
    up = next((e.time for e in events if e.event == "finding" and e.value.get("kind") == "time_is_up"), events[-1].time)
    moments = sorted(
        {
            at
            for job in jobs.values()
            for at in (job.ordered, job.may_start, job.over)
            if began + 60 + LONGEST_S < at < up
        }
    )
    found, since = [], None
    for now in moments:
        live = [job for job in jobs.values() if job.may_start <= now < job.over]
        on = {target: len({job.chain for job in live if job.target == target}) for target in MDTS}
        tests = {test: len({job.chain for job in live if job.test == test}) for test in NODES}
        held = {job.test for job in jobs.values() if job.ordered <= now < min(job.may_start, job.over)}
        room = min(on.values()) < most and any(tests[test] < CAPS.get(test, most * len(MDTS)) for test in held)
        if room and since is None:
            since = now
        elif since is not None and (not room or any(job.may_start == now for job in jobs.values())):
            found.append((since, now - since))
            since = now if room else None
    return found


if __name__ == "__main__":
    sys.exit(main())
