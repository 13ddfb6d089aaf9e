"""Runs whose numbers are held against references beside the test: judged, told, and undetermined where a reference changes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from msgspec.structs import replace
from stories import MakeSite, Shakedown

from shakedown.conductor.commands.golden import golden_sums, write_golden
from shakedown.conductor.record.environments import read_named
from shakedown.events.reader import read_events
from shakedown.model.errors import UsageError
from shakedown.model.layout import Layout
from shakedown.queries.status import look_at_runs

EQUAL = """\
parameters: {off: [0, 1]}
run: {command: "echo 1 20.0{off}000004 > out.dat"}
check:
  - files equal within: {file: out.dat, reference: heat.dat, relative: 1e-6}
"""
CURVE = """\
parameters: {bw: [31, 40]}
run: {command: "echo size bw; echo 1 10; echo 3 {bw}; echo 4 40"}
check:
  - curve within: {table: {header: ^size}, x: size, y: bw, reference: 'bw.csv', within: 5%}
"""


def verdicts(site: Path, campaign: str = "p-1") -> dict[str, tuple[str, str]]:
    """Case -> its last verdict and the reason, from the log."""
    return {
        event.case: (event.value["verdict"], event.reason)
        for event in read_events(site / f"campaigns/{campaign}/log")
        if event.event == "verdict"
    }


def test_runs_are_held_against_their_references(make_site: MakeSite, shakedown: Shakedown) -> None:
    site = make_site({"heat": EQUAL, "band": CURVE})
    (site / "tests/heat.dat").write_text("1 20\n")
    (site / "tests/bw.csv").write_text("size,bw\n1,10\n4,40\n")
    run = shakedown("run", "p", "--quiet", cwd=site)
    assert run.returncode == 1, run.stderr
    found = verdicts(site)
    assert {case: verdict for case, (verdict, _) in found.items()} == {
        "heat/off=0": "passed",
        "heat/off=1": "incorrect",
        "band/bw=31": "passed",
        "band/bw=40": "incorrect",
    }
    assert found["heat/off=1"][1] == (
        "files equal within: out.dat, heat.dat, relative 1e-06: line 1, column 2: 20.01000004, where the reference has 20: "
        "they differ by 0.01, and 2e-05 is allowed; it is the only one outside, of 2 numbers"
    )
    assert found["band/bw=40"][1].startswith(
        "curve within: bw over size, bw.csv, 0.05 of it: bw at size = 3: 40, where the reference has 30: "
        "they differ by 10, and 1.5 is allowed"
    )

    (site / "tests/heat.dat").write_text("1 20.01\n")  # another reference decides nothing of runs of the plan of before
    again = shakedown("rejudge", "--by", "Ann", "--because", "to see it again", cwd=site)
    assert again.returncode == 0, again.stderr
    assert verdicts(site) == found, "trouble is no reason to take a verdict back"
    told = [event.reason for event in read_events(site / "campaigns/p-1/log") if event.event == "finding"]
    said = f"the reference {site}/tests/heat.dat is not the one that was frozen with the plan"
    assert sum(said in reason for reason in told) == 2, told
    verified = shakedown("verify", cwd=site)
    assert "tests/heat.dat was changed since the start" in verified.stdout + verified.stderr
    noted = inputs(site)
    assert {f"{site}/tests/heat.dat", f"{site}/tests/bw.csv"} <= set(noted), (
        "a change would open an epoch, as of inputs"
    )


def inputs(site: Path) -> dict[str, str]:
    """What the driver noted of the files that runs depend on."""
    log = read_events(site / "campaigns/p-1/log")
    [digest] = {event.value["inputs"] for event in log if "inputs" in event.value}
    noted: dict[str, str] = read_named(Layout(site / "campaigns/p-1"), digest)["inputs"]
    return noted


RECORDED = """\
parameters: {who: [a, b]}
run: {command: "mkdir out; echo {who} > out/mine.nc; echo $SHAKEDOWN_REPEAT > out/other.nc; echo same > out/same.nc"}
check: [file out/*.nc recorded, file out/same.nc recorded]
"""
PLAN = """\
repeats: 2, criteria: {
  same: {measure: identical, files: out/same.nc, across: who, must: "= 100%"},
  all: {measure: identical, files: out/*.nc, must: "= 100%"}}
"""


def test_files_are_compared_across_runs_and_become_golden(make_site: MakeSite, shakedown: Shakedown) -> None:
    """No golden file is there at first: runs are held against each other, then a person makes one of them the answer."""
    site = make_site({"m": RECORDED}, PLAN.replace("\n", " "))
    text = (site / "tests/m.yaml").read_text()
    (site / "tests/m.yaml").write_text(text.replace("$SHAKEDOWN_REPEAT", "$SHAKEDOWN_RUN"))
    run = shakedown("run", "p", "--quiet", "--json", cwd=site)
    assert run.returncode == 1, run.stderr
    [component] = json.loads(run.stdout)["components"]
    found = {one["name"]: (one["outcome"], one["measured"], one["arithmetic"]) for one in component["criteria"]}
    assert found["same"] == ("met", 1.0, "4 identical / 4 runs compared = 100%, must = 100%")
    outcome, measured, arithmetic = found["all"]
    assert (outcome, measured) == ("not met", 0.5)
    assert arithmetic.count(" in out/other.nc") == 2

    by = ("--by", "Ada Example", "--because", "held against the published\nanswer")
    made = shakedown("golden", "m/who=a", "--files", "out/same.nc", *by, cwd=site)
    assert made.returncode == 0, made.stderr
    assert "- files match golden: {glob: 'out/same.nc', sums: m.sha256}" in made.stdout
    sums = (site / "tests/m.sha256").read_text().splitlines()
    assert "by Ada Example" in sums[0]
    assert sums[1] == "# because held against the published answer"
    assert sums[2].endswith("of campaign p-1, which passed; they have the sums that its verdict recorded")
    assert sums[3] == f"{hashlib.sha256(b'same' + chr(10).encode()).hexdigest()}  out/same.nc"
    again = shakedown("golden", "m/who=a", "--files", "out/same.nc", *by, cwd=site)
    assert again.returncode == 2
    assert "is there already: golden sums, written" in again.stderr
    assert "hint: --replace puts the new sums in its place" in again.stderr
    it_refuses_what_is_no_answer(site)

    golden = "check: [{files match golden: {glob: out/same.nc, sums: m.sha256}}]\n"
    (site / "tests/m.yaml").write_text((site / "tests/m.yaml").read_text().partition("check:")[0] + golden)
    (site / "plans/p.yaml").write_text("plan: p\nsystem: here\ncomponents: [{functionality: {tests: [m]}}]\n")
    held = shakedown("run", "p", "--quiet", cwd=site)
    assert held.returncode == 0, held.stdout + held.stderr


def it_refuses_what_is_no_answer(site: Path) -> None:
    layout = Layout(site / "campaigns/p-1")
    record = look_at_runs(layout)

    def refused(target: str, files: str = "out/same.nc") -> str:
        with pytest.raises(UsageError) as told:
            golden_sums(layout, record, target, files, "Ada", "it is right")
        return told.value.message

    assert refused("m/who=a", "") == "test m names several files: out/*.nc, out/same.nc"
    assert refused("n") == "this campaign has no judged run or case called 'n'"
    assert refused("r000001", "none*").startswith("r000001 has no file none* in ")
    found = golden_sums(layout, record, "r000001", "out/*.nc", "Ada", "it is right")
    assert (found.files, found.name, found.test_file) == (3, "m.sha256", "tests/m.yaml")
    kept = (site / "tests/m.sha256").read_text()
    write_golden(found, site / "tests/other.sha256", replace=True)
    assert (site / "tests/other.sha256").read_text() == found.text != kept
    [file] = [path for path in layout.work.rglob("same.nc") if "r000001" in str(path)]
    file.write_text("changed\n")
    said = "the files out/same.nc of r000001 are not those that it left: their sums differ from those in its verdict"
    assert refused("r000001") == said
    record.runs[:] = [replace(row, verdict="incorrect", reason="wrong") for row in record.runs]
    assert refused("r000001") == "golden sums can only be taken from a run that passed; r000001 is incorrect: wrong"
