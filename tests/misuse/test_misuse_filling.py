"""Wrong budgets, places, fills, windows, sweeps and packs, and the exact words they are answered with."""

# An entry is a line, however long its answer is.
# ruff: noqa: E501

from __future__ import annotations

from typing import Any

import pytest

SYSTEM = """\
system: c5
clusters: {c5: {scheduler: slurm, licences: {f2_mdt0: 8, f2_mdt1: 8}, partitions: {batch: {nodes: "n[1-8]", type: rome, time_limit: 4h}}}}
node_types: {rome: {cores: 8}}
filesystems:
  f2: {path: "/lustre/f2/{mdt}/acceptance", targets: {mdt: [mdt0, mdt1], ost: [o1]}}
  home: {path: /home}
budgets:
  f2/mdt: 8 per target
  f2/bandwidth: 40 GB/s
"""
MDT = "f2/mdt: 8 per target"
SYSTEMS = [
    (MDT, "f2/mtd: 8 per target", "8:3: budgets.f2/mtd: file system f2 has no class of targets 'mtd'\nhint: did you mean 'mdt'?"),
    (MDT, "f3/mdt: 8 per target", "8:3: budgets.f3/mdt: there is no file system 'f3'\nhint: there are: f2, home"),
    (MDT, "disc: 8 per target", "8:3: budgets.disc: 'per target' is for a budget that is named FILESYSTEM/CLASS\nhint: such as f2/mdt: the targets of class mdt of file system f2"),
    (MDT, "home/mdt: 8 per target", "8:3: budgets.home/mdt: file system home has no class of targets 'mdt'\nhint: filesystems: {home: {targets: {mdt: [...]}}}"),
    (MDT, "f2/mdt: 8 per targets", "8:11: budgets.f2/mdt: '8 per targets' is no amount of a budget\nhint: write '8 per target' where each target has so much"),
    (MDT, "f2/mdt: 0 per target", "8:11: budgets.f2/mdt: '0' is no amount\nhint: write an amount above zero"),
    (MDT, "f2/mdt: per target", "8:11: budgets.f2/mdt: '' is not a number with a unit\nhint: write it as 4 GB/s, or 8"),
    (MDT, "f2/mdt: {licence: f2}", "8:11: 'amount' is missing in budgets.f2/mdt\nhint: amount: how much there is, where a licence is named beside it"),
    (MDT, "f2/mdt: {amount: 8 per target, licence: f2}", "8:43: 'f2' is one licence, and each target of f2/mdt needs one of its own\nhint: such as f2_{target}"),
    (MDT, 'f2/mdt: {amount: 8, licence: "f2_{target}"}', "8:32: 'f2_{target}': budget f2/mdt has no targets\nhint: write its amount as 'N per target', or the licence without {target}"),
    (MDT, 'f2/mdt: {amount: 8 per target, licence: "f2_{mdt}"}', "8:43: 'f2_{mdt}': nothing but {target} can stand in braces\nhint: such as f2_{target}"),
    (MDT, 'f2/mdt: {amount: 9 per target, licence: "f2_{target}"}', "8:20: budgets.f2/mdt is 9, and there are only 8 of licence f2_mdt0\nhint: a budget narrows a licence; without it all can be used"),
    (MDT, "f2/mdt: {amount: 8, licence: f2_mdt9}", "8:32: no cluster has a licence 'f2_mdt9'\nhint: did you mean 'f2_mdt1'?"),
    (MDT, "f2/mdt: {amount: 8 GB/s, licence: f2_mdt0}", "8:20: budgets.f2/mdt is in bytes/s, and the licence is a plain number\nhint: rename one"),
    (f"{MDT}\n", "a: {amount: 8, licence: f2_mdt0}\n  b: {amount: 8, licence: f2_mdt0}\n", "9:27: licence f2_mdt0 stands for a already\nhint: a licence stands for one budget"),
    ("[mdt0, mdt1]", "[mdt0, mdt0]", "5:67: target 'mdt0' is written twice\nhint: keep one"),
    ("/home", "home", "6:16: 'home' is no absolute path\nhint: write a path that begins with '/' and has no '..'"),
    ("/home", "/a/../b", "6:16: '/a/../b' is no absolute path\nhint: write a path that begins with '/' and has no '..'"),
    ("/home", '"/a/{b"', "6:16: '/a/{b' has a brace without its partner\nhint: put braces around a class of targets, such as {mdt}"),
    ("home:", "campaign:", "6:3: 'campaign' is no name for a file system\nhint: in a test it means the campaign's directory"),
]  # fmt: skip

TEST = """\
test: a
run: {command: x}
loads: {f2/mdt: 1, f2/bandwidth: 4 GB/s}
"""
RUN = "{command: x}\nloads: {f2/mdt: 1, f2/bandwidth: 4 GB/s}"
TESTS = [
    (RUN, "{command: x, work: f3}", "2:25: run.work: no system has a file system 'f3'\nhint: there are: campaign, f2, home"),
    (RUN, "{command: x, work: f2}", "2:25: run.work: which target? the path of f2 has {mdt}, and the test loads no f2/mdt\nhint: loads: {f2/mdt: 1}, and each run works on the target that it loads"),
    (RUN, "{command: x, work: {default: campaign, c6: f2}}", "2:45: there is no system 'c6'\nhint: there are: c5, default, here"),
    (RUN, "{command: x, work: /lustre}", "2:25: run.work: '/lustre' cannot be a file system's name\nhint: use letters, digits, '_', '-', '.' and '+', a letter or digit first"),
    (RUN, "{command: x, files: [b], stage: per-target}", "2:38: run.stage: its runs work on no target\nhint: link or copy; or loads: and work: of a file system with targets"),
    (RUN, "{command: x, files: [b], stage: move}", "2:38: run.stage: 'move' is not one of link, copy, per-target"),
    (RUN, "{command: x, stage: copy}", "2:19: 'stage' has no meaning without files\nhint: files: what a run finds in its directory"),
]  # fmt: skip

PLAN = """\
plan: p
system: c5
components:
  - stability:
      tests: [a, b]
      duration: 10d
limits: {budgets: {f2/mdt: 4 per target}}
"""
OTHERS = {
    "tests/b.yaml": "test: b\nrun: {command: x, time_limit: 1h}\n",
    "tests/wide.yaml": "test: wide\nrun: {nodes: 4, command: x}\n",
    "tests/again.yaml": "test: again\nrun: {command: x, requeue: yes}\n",
    "tests/full.yaml": "test: full\nrun: {command: x, tasks_per_node: 8, time_limit: 3h30m}\n",
}
DURATION = "duration: 10d"
STABILITY = "stability:\n      tests: [a, b]\n      duration: 10d"
PLANS = [
    ("4 per target", "4", "7:20: limits.budgets.f2/mdt: '4': the budget is per target\nhint: write '4 per target', or a share such as 50%"),
    ("4 per target", "9 per target", "7:20: limits.budgets.f2/mdt: '9 per target' is more than system c5 has\nhint: limits narrow a budget"),
    ("4 per target", "10%", "7:28: limits.budgets.f2/mdt: one run of a takes 1, and this leaves 0.8\nhint: it could never run"),
    ("f2/mdt: 4 per target", "f2/bandwidth: 4 GB/s per target", "7:20: limits.budgets.f2/bandwidth: '4 GB/s per target': the budget has no targets\nhint: write '4 GB/s'"),
    (DURATION, "duration: 10d\n      limits: {copies: {c: 1}}", "7:25: limits.copies: the component runs no test 'c'\nhint: its tests are: a, b"),
    (DURATION, "duration: 10d\n      limits: {budgets: {f2/bandwidth: 5%}}", "7:40: limits.budgets.f2/bandwidth: one run of a takes 4 GB/s, and this leaves 2 GB/s\nhint: it could never run"),
    (DURATION, "duration: 10d\n      limits: {queued: 4}", "7:16: unknown key 'queued' in stability.limits\nhint: known here: copies, budgets, stagger"),
    (DURATION, "duration: 10d\n      filler: b", "7:15: filler: 'b' is one of the tests of the component\nhint: a filler is no work of the contract: name it in one of them"),
    (DURATION, "repeats: 3\n      filler: wide", "7:7: 'filler' has no meaning without duration\nhint: duration: how long runs follow each other"),
    (DURATION, "repeats: 3\n      fill: {target: 98%}", "7:7: 'fill' has no meaning without duration\nhint: duration: how long runs follow each other"),
    (DURATION, "repeats: 3\n      clock: {start: declared}", "7:7: 'clock' has no meaning without duration\nhint: duration: how long runs follow each other"),
    (DURATION, "duration: 10d\n      fill: {target: 198%}", "7:22: stability.fill.target: '198%' is not a share of the nodes\nhint: write a share above 0% and up to 100%"),
    (DURATION, "duration: 10d\n      fill: {ramp: 11d}", "7:20: fill.ramp: 11 d 0 h is all of the duration, 10 d 0 h\nhint: the machine would never be full"),
    (DURATION, "duration: 10d\n      fill: {queue-ahead: 2h}", "7:14: unknown key 'queue-ahead' in stability.fill\nhint: did you mean 'queue_ahead'?"),
    (DURATION, "duration: 10d\n      phases: [{name: x, duration: 4d}, {name: y, duration: 5d}]", "6:17: the phases come to 9 d 0 h, and the duration is 10 d 0 h\nhint: leave the duration out: it is theirs together"),
    (DURATION, "phases: [{name: x, duration: 4d}, {name: x, duration: 5d}]", "6:48: there is a phase 'x' already\nhint: give it a name of its own"),
    (DURATION, "repeats: 2\n      phases: [{name: x, duration: 4d}]", "7:7: 'repeats' and 'phases' both say how often cases run\nhint: keep one of them"),
    (DURATION, "duration: 10d\n      clock: {causes: {vender: restarts}}", "7:24: clock.causes: there is no cause 'vender'\nhint: did you mean 'vendor'?"),
    (DURATION, "duration: 10d\n      clock: {causes: {vendor: resets}}", "7:32: stability.clock.causes.vendor: 'resets' is not one of runs, stops, restarts\nhint: did you mean 'restarts'?"),
    (DURATION, "duration: 10d\n      clock: {ramp: no}", "7:21: stability.clock.ramp: 'no' is not one of counts, does not count"),
    (DURATION, "duration: 10d\n      stop_after: 0", "7:19: stability.stop_after: 0 is less than 1, the least that is possible"),
    ("limits:", "zone: Europe/Berln\nlimits:", "7:7: zone: there is no time zone 'Europe/Berln'\nhint: did you mean 'Europe/Berlin'?"),
]  # fmt: skip
WINDOWS = [
    ('from: "06:00", to: "Mon 18:00", closed: yes', "7:24: windows.from: no day is named\nhint: write it as 'Mon 06:00', or add days: daily"),
    ('from: "Mon 06:00", to: "18:00", closed: yes', "7:41: windows.to: no day is named\nhint: write it as 'Mon 06:00', or add days: daily"),
    ('days: daily, from: "Mon 06:00", to: "18:00", closed: yes', "7:37: windows.from: 'Mon 06:00' names a day beside days\nhint: with days it is a time alone"),
    ('from: "Mun 06:00", to: "Mon 18:00", closed: yes', "7:24: stability.windows.from: 'Mun' is no day of the week\nhint: days are: Mon, Tue, Wed, Thu, Fri, Sat, Sun"),
    ('from: "Mon 6 am", to: "Mon 18:00", closed: yes', "7:24: stability.windows.from: 'Mon 6 am' is no time of a week\nhint: write a day and a time, such as 'Mon 06:00'"),
    ('from: "Mon 06:00", to: "Mon 24:01", closed: yes', "7:41: stability.windows.to: 'Mon 24:01' is no time of a day\nhint: it lies between 00:00 and 24:00"),
    ('from: "Mon 24:00", to: "Tue 18:00", closed: yes', "7:24: windows.from: 24:00 is the end of a day\nhint: a window begins at 00:00 of the next one"),
    ('from: "Mon 06:00", to: "Mon 06:00", closed: yes', "7:41: windows.to: it ends when it begins\nhint: all of a week is 'Mon 00:00' to 'Sun 24:00'"),
    ('days: [Mon, Tues], from: "06:00", to: "18:00", closed: yes', "7:30: stability.windows.days: 'Tues' is no day of the week\nhint: did you mean 'Tuesday'?"),
    ('from: "Mon 06:00", closed: yes', "7:17: 'to' is missing in stability.windows\nhint: to: when it ends; a time of the next day, or week, where it is not later"),
    ('from: "Mon 06:00", to: "Mon 18:00"', "7:17: windows: it changes nothing\nhint: say what is allowed then: budgets, copies, or closed: yes"),
    ('from: "Mon 06:00", to: "Mon 18:00", closed: yes, copies: {a: 0}', "7:67: windows: 'copies' has no meaning where it is closed\nhint: keep one of them"),
    ('from: "Mon 06:00", to: "Mon 18:00", copies: {c: 0}', "7:63: windows.copies: the component runs no test 'c'\nhint: its tests are: a, b"),
    ('from: "Mon 06:00", to: "Mon 18:00", budgets: {f2/mdt: 3}', "7:64: windows.budgets.f2/mdt: '3': the budget is per target\nhint: write '3 per target', or a share such as 50%"),
    ('from: "Mon 06:00", to: "Mon 18:00", closed: yes, zone: Mars/Base', "7:73: stability.windows.zone: there is no time zone 'Mars/Base'\nhint: such as UTC or Europe/Berlin"),
]  # fmt: skip
YIELDS = [
    ("clusters: [c3], when: {pending: 50, until: 50}, closed: yes", "7:61: yield_to.when: it ends at 50 waiting jobs and begins at 50\nhint: until is less than pending"),
    ("clusters: [], when: {pending: 50}, closed: yes", "7:28: stability.yield_to.clusters is empty\nhint: it is a list of clusters"),
    ("clusters: [c3], closed: yes", "7:17: 'when' is missing in stability.yield_to\nhint: when: how many waiting jobs call for it"),
    ("clusters: [c3], when: {pending: 50}", "7:17: yield_to: it changes nothing\nhint: say what is allowed then: budgets, copies, or closed: yes"),
    ("clusters: [c3], when: {pending: 50}, budgets: {f2/bandwith: 1 GB/s}", "7:65: yield_to.budgets.f2/bandwith: system c5 has no such budget\nhint: did you mean 'f2/bandwidth'?"),
]  # fmt: skip
PACKED = [
    ("functionality: {tests: [a, wide], sweep: yes}", "4:39: sweep: wide takes 4 nodes\nhint: a sweep runs tests of one node; give the others a component of their own"),
    ("functionality: {tests: [again], sweep: yes}", "4:37: sweep: again asks for requeue\nhint: what its node has done would be done again; take run.requeue out of the test"),
    ("functionality: {tests: [b, full], sweep: yes}", "4:39: sweep: the time limits of its tests come to 4 h 30 min on a node\nhint: partition batch gives a job 4 h 00 min; sweep fewer tests at a time"),
    ("functionality: {tests: [a], sweep: yes, repeats: 2}", "4:45: 'repeats' has no meaning beside sweep\nhint: each node is seen with all tests, in rounds"),
    ("stability: {tests: [a], sweep: yes, duration: 1d, mix: {a: 100%}}", "4:55: 'mix' has no meaning beside sweep\nhint: each node is seen with all tests, in rounds"),
    ("stability: {tests: [a], sweep: {rounds: 2}, duration: 1d}", "4:37: 'rounds' has no meaning with duration\nhint: it goes round until that is over"),
    ("functionality: {tests: [a], sweep: yes, pack: yes}", "4:45: 'pack' has no meaning beside sweep\nhint: each node is seen with all tests, in rounds"),
    ("vendor: {tests: [a], sweep: yes}", "4:26: 'sweep' has no meaning in a component of kind vendor\nhint: it goes with functionality, performance, stability and site"),
    ("functionality: {tests: [a], sweep: maybe}", "4:40: functionality.sweep: 'maybe' is neither true nor false"),
    ("functionality: {tests: [a], sweep: {queued: 0}}", "4:49: functionality.sweep.queued: 0 is less than 1, the least that is possible"),
    ("performance: {tests: [a], pack: yes, modes: {isolated: {}}}", "4:42: 'modes' has no meaning beside pack\nhint: a pack holds runs that repeats asks for"),
    ("stability: {tests: [a], pack: yes, duration: 1d}", "4:40: 'duration' has no meaning beside pack\nhint: a pack holds runs that repeats asks for"),
    ("functionality: {tests: [again], pack: yes}", "4:37: pack: again asks for requeue\nhint: what the others of its allocation have done would be done again; take run.requeue out of the test"),
    ("functionality: {tests: [wide], pack: {at_once: 2}}", "4:52: pack.at_once: wide takes 4 nodes\nhint: only tests of one node run side by side; leave at_once out, or pack them apart"),
    ("functionality: {tests: [full], pack: {at_once: 2}}", "4:52: pack.at_once: 2 of full take 16 cores\nhint: a node of partition batch has 8"),
    ("vendor: {procedures: [{name: walk}], windows: [{from: Mon 06:00, to: Tue 06:00, closed: yes}]}", "4:42: 'windows' has no meaning without tests"),
]  # fmt: skip
FLOORS = [
    ("measure: runs, must: '>= 95%'", "7:43: criteria.f.must: '95%' is not a number of runs\nhint: write a plain number, such as '>= 500'"),
    ("measure: node-hours, must: '>= 3 h'", "7:49: criteria.f.must: '3 h' is not a number of node-hours\nhint: write a plain number, such as '>= 500'"),
    ("measure: hours per node, must: '>= 150'", "7:53: criteria.f.must: '150' is not a duration\nhint: write it with its units, such as 90s, 2h or 1h30m"),
    ("measure: hours per node, must: '>= 150h', per: test", "7:69: criteria.f: 'per' has no meaning for measure 'hours per node'\nhint: it goes with passed / attempts, passed / wanted, correct / completed, value, sd / mean, fill / isolated, rows met, runs, node-hours and longest hole"),
    ("measure: passed / attempts, must: '>= 95%', per: test", "7:71: criteria.f: 'passed / attempts' cannot be told per test\nhint: per: test goes with runs, node-hours and longest hole"),
    ("measure: longest hole, must: '<= 6h', per: case", "7:65: criteria.f: 'longest hole' cannot be told per case\nhint: per: case goes with passed / attempts, passed / wanted, correct / completed, value, sd / mean, fill / isolated, rows met, runs and node-hours"),
    ("measure: late, must: '<= 0 d'", "7:31: criteria.f: the component has no deadline\nhint: deadline: when it is to be over, such as 2026-12-01T18:00Z"),
    ("measure: mean time to interrupt, must: '>= 50%'", "7:61: criteria.f.must: '50%' is not a duration\nhint: write it with its units, such as 90s, 2h or 1h30m"),
    ("measure: delivered node-hours / available node-hours, must: '>= 100'", "7:82: criteria.f.must: '100' needs a unit, such as '100 %'"),
]  # fmt: skip


def site(**changed: str) -> dict[str, str | bytes]:
    files = {"plans/p.yaml": PLAN, "systems/c5.yaml": SYSTEM, "tests/a.yaml": TEST, **OTHERS}
    return {**files, **{f"{name.replace('_', '/')}.yaml": text for name, text in changed.items()}}


def test_the_files_that_these_are_made_from_are_right(told: Any) -> None:
    assert told(site()) == ""


@pytest.mark.parametrize(("right", "wrong", "answer"), SYSTEMS)
def test_a_wrong_system(told: Any, right: str, wrong: str, answer: str) -> None:
    assert right in SYSTEM
    files = {"systems/c5.yaml": SYSTEM.replace(right, wrong, 1)}
    assert told(files) == f"error: systems/c5.yaml:{answer}"


@pytest.mark.parametrize(("right", "wrong", "answer"), TESTS)
def test_a_wrong_place_of_work(told: Any, right: str, wrong: str, answer: str) -> None:
    files = {"systems/c5.yaml": SYSTEM, "tests/a.yaml": TEST.replace(right, wrong, 1), "tests/b": "x"}
    assert told(files) == f"error: tests/a.yaml:{answer}"


@pytest.mark.parametrize(("right", "wrong", "answer"), PLANS)
def test_a_wrong_fill(told: Any, right: str, wrong: str, answer: str) -> None:
    assert right in PLAN
    assert told(site(plans_p=PLAN.replace(right, wrong, 1))) == f"error: plans/p.yaml:{answer}"


@pytest.mark.parametrize(("window", "answer"), WINDOWS)
def test_a_wrong_window(told: Any, window: str, answer: str) -> None:
    plan = PLAN.replace(DURATION, f"{DURATION}\n      windows: [{{{window}}}]")
    assert told(site(plans_p=plan)) == f"error: plans/p.yaml:{answer}"


@pytest.mark.parametrize(("room", "answer"), YIELDS)
def test_wrong_room_for_others(told: Any, room: str, answer: str) -> None:
    plan = PLAN.replace(DURATION, f"{DURATION}\n      yield_to: {{{room}}}")
    assert told(site(plans_p=plan)) == f"error: plans/p.yaml:{answer}"


@pytest.mark.parametrize(("component", "answer"), PACKED)
def test_a_wrong_sweep_or_pack(told: Any, component: str, answer: str) -> None:
    plan = PLAN.replace(f"  - {STABILITY}\n", f"  - {component}\n")
    assert told(site(plans_p=plan.partition("limits:")[0])) == f"error: plans/p.yaml:{answer}"


@pytest.mark.parametrize(("criterion", "answer"), FLOORS)
def test_a_wrong_floor(told: Any, criterion: str, answer: str) -> None:
    plan = PLAN.replace(DURATION, f"{DURATION}\n      criteria: {{f: {{{criterion}}}}}")
    assert told(site(plans_p=plan)) == f"error: plans/p.yaml:{answer}"
