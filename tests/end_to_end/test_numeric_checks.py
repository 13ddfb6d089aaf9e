"""Runs whose numbers are held against references beside the test: judged, told, and undetermined where a reference changes."""

from __future__ import annotations

from pathlib import Path

from stories import MakeSite, Shakedown

from shakedown.conductor.record.environments import read_named
from shakedown.events.reader import read_events
from shakedown.model.layout import Layout

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
        "files equal within: out.dat, heat.dat: line 1, column 2: 20.01000004, where the reference has 20: they differ by "
        "0.01, and 2e-05 is allowed; it is the only one outside, of 2 numbers"
    )
    assert found["band/bw=40"][1].startswith(
        "curve within: bw over size, bw.csv: bw at size = 3: 40, where the reference has 30: they differ by 10, and 1.5 is"
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
