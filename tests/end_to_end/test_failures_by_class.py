"""Runs that fail in different ways on this machine: their classes on the verdict, in the command, in the report, and anew."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from stories import MakeSite, Shakedown

from shakedown.events.reader import read_events

OURS = """\
failures:
  - class: no-sea
    family: program-error
    about: The ocean has no water.
    hint: Look at the bathymetry.
    lines: [{weight: 70, texts: the bathymetry of cell ... is above the sea}]
    examples: "ERROR: the bathymetry of cell 3 is above the sea"
"""
TESTS = {
    "fine": "echo 0 errors",
    "killed": "sh -c 'kill -9 $$'; exit 137",
    "segmented": "sh -c 'kill -SEGV $$'",
    "silent": "exit 139",
    "absent": "./nowhere",
    "library": "LD_PRELOAD=/nowhere/libx.so.1 true; echo ./a.out: error while loading shared libraries: libx.so.1:"
    " cannot open shared object file: No such file or directory >&2; exit 127",
    "full": "echo dd: error writing x: No space left on device; exit 1",
    "sea-1": "echo 'ERROR: the bathymetry of cell (17, 4) is above the sea'; exit 1",
    "sea-2": "echo '[3] ERROR: the bathymetry of cell (9, 812) is above the sea'; exit 1",
    "slow": "sleep 60",
}


def classes(site: Path) -> dict[str, str]:
    """test -> class of its last verdict, from the log."""
    found: dict[str, str] = {}
    for event in read_events(site / "campaigns/p-1/log"):
        if event.event == "verdict":
            found[event.case.split("/")[0].split("@")[0]] = event.value.get("failure", {}).get("class", "")
    return found


def site_with_failures(make_site: MakeSite) -> Path:
    texts = {
        name: f"run: {{time_limit: {'1s' if name == 'slow' else '60s'}, command: {json.dumps(command)}}}\n"
        for name, command in TESTS.items()
    }
    return make_site(texts)


def view(shakedown: Shakedown, site: Path, *words: str) -> dict[str, Any]:
    done = shakedown("failures", *words, "--json", cwd=site)
    assert done.returncode == 0, done.stderr
    shown: dict[str, Any] = json.loads(done.stdout)
    return shown


def test_failures_from_the_run_to_the_report(make_site: MakeSite, shakedown: Shakedown) -> None:
    site = site_with_failures(make_site)
    run = shakedown("run", "p", "--quiet", cwd=site)
    assert run.returncode == 0, run.stderr

    assert classes(site) == {
        "fine": "",
        "killed": "killed",
        "segmented": "segmentation-fault",
        "silent": "segmentation-fault",
        "absent": "command-not-found",
        "library": "missing-library",
        "full": "disk-full",
        "sea-1": "unclassified",
        "sea-2": "unclassified",
        "slow": "",  # nobody looked at its output: the class follows from its verdict
    }
    shown = view(shakedown, site)
    assert shown["judged"] == len(TESTS)
    assert {group["class"]: sorted(group["tests"]) for group in shown["classes"]} == {
        "segmentation-fault": ["segmented", "silent"],
        "killed": ["killed"],
        "command-not-found": ["absent"],
        "missing-library": ["library"],
        "disk-full": ["full"],
        "time-limit": ["slow"],
    }
    assert all(group["hint"] for group in shown["classes"])
    [alike] = shown["unclassified"]
    assert (alike["runs"], alike["likeness"]) == (2, "ERROR: the bathymetry of cell (#, #) is above the sea")

    assert_it_fits_a_terminal(shakedown, site)
    assert_one_class_or_family(shakedown, site)
    assert_the_report_has_it(shakedown, site)
    assert_a_new_class_is_made_of_it(shakedown, site)


def assert_it_fits_a_terminal(shakedown: Shakedown, site: Path) -> None:
    text = shakedown("failures", cwd=site).stdout
    assert "segmentation-fault: 2 runs" in text and "unclassified 1: 2 runs alike" in text
    assert "'shakedown failures --stub 1' prints a class for it" in text
    assert max(map(len, text.splitlines())) <= 80


def assert_one_class_or_family(shakedown: Shakedown, site: Path) -> None:
    assert [group["class"] for group in view(shakedown, site, "--class", "file-system-error")["classes"]] == [
        "disk-full"
    ]
    assert [group["class"] for group in view(shakedown, site, "--class", "killed")["classes"]] == ["killed"]
    assert "classes" not in view(shakedown, site, "--unclassified")
    wrong = shakedown("failures", "--class", "disk-ful", cwd=site)
    assert (wrong.returncode, wrong.stderr) == (
        2,
        "error: there is no class 'disk-ful'\nhint: did you mean 'disk-full'?\n",
    )
    none = shakedown("failures", "--stub", "7", cwd=site)
    assert (none.returncode, none.stderr) == (2, "error: there is no group 7 of unclassified runs\nhint: there are 1\n")


def assert_the_report_has_it(shakedown: Shakedown, site: Path) -> None:
    assert shakedown("report", "--no-pdf", cwd=site).returncode in (0, 1)
    tables = site / "campaigns/p-1/report/tables"
    with (tables / "failures-by-class.csv").open() as file:
        rows = {(row["class"], row["likeness"]): row["runs"] for row in csv.DictReader(file)}
    assert rows[("segmentation-fault", "")] == "2"
    assert rows[("unclassified", "ERROR: the bathymetry of cell (#, #) is above the sea")] == "2"
    with (tables / "runs.csv").open() as file:
        by_test = {row["test"]: row["failure_class"] for row in csv.DictReader(file)}
    assert by_test["slow"] == "time-limit" and by_test["fine"] == ""
    page = (site / "campaigns/p-1/report.html").read_text()
    assert "By class: a hint by what was said" in page and "class: <b>disk-full</b>" in page


def assert_a_new_class_is_made_of_it(shakedown: Shakedown, site: Path) -> None:
    """The stub is a file that can be read and knows the runs it was made of; rejudging puts it on the verdicts."""
    (site / "failures").mkdir()
    stub = shakedown("failures", "--stub", "1", cwd=site).stdout
    (site / "failures/ours.yaml").write_text(stub.replace("a-new-name", "no-sea"))
    assert shakedown("check", cwd=site).returncode == 0
    tried = shakedown("failures", "--catalogue", "--class", "no-sea", cwd=site)
    assert (tried.returncode, tried.stderr) == (0, ""), tried.stdout
    (site / "failures/ours.yaml").write_text(OURS)
    amended = shakedown("amend", "p", "--by", "Ann", "--because", "a class of our own", cwd=site)
    assert "class of failures no-sea is added" in amended.stdout, amended.stderr
    again = shakedown("rejudge", "--plan", "p", "--by", "Ann", "--because", "a class of our own", cwd=site)
    assert again.returncode == 0, again.stderr
    found = classes(site)
    assert (found["sea-1"], found["sea-2"], found["full"]) == ("no-sea", "no-sea", "disk-full")
    verdicts = [event for event in read_events(site / "campaigns/p-1/log") if event.event == "verdict"]
    assert len(verdicts) == len(TESTS) + 2, "only what comes out otherwise is said again"


def test_a_text_is_tried(make_site: MakeSite, shakedown: Shakedown, tmp_path: Path) -> None:
    site = make_site({"fine": "run: {command: 'true'}\n"})
    text = "step 1\nsrun: error: n001: task 0: Out Of Memory\nslurmstepd: error: Detected 1 oom_kill event in StepId=7.0.\n"
    (tmp_path / "out").write_text(text)
    done = shakedown("failures", "--try", str(tmp_path / "out"), cwd=site)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[:2] == [
        "out-of-memory",
        "  line   slurmstepd: error: Detected 1 oom_kill event in StepId=7.0.",
    ]
    assert "line 2: out-of-memory" in done.stdout
    piped = shakedown("failures", "--try", "-", "--json", cwd=tmp_path, input=text)
    assert json.loads(piped.stdout)["failure"]["class"] == "out-of-memory", "it needs no site"
    both = shakedown("failures", "--try", "-", "--catalogue", cwd=site, input="")
    assert (both.returncode, both.stderr) == (
        2,
        "error: --catalogue, --try and --stub cannot be given together\nhint: give one of them\n",
    )


def test_wrong_examples_are_said(make_site: MakeSite, shakedown: Shakedown) -> None:
    site = make_site({"fine": "run: {command: 'true'}\n"})
    (site / "failures").mkdir()
    (site / "failures/ours.yaml").write_text(OURS.replace('is above the sea"', 'is dry"'))
    done = shakedown("failures", "--catalogue", cwd=site)
    assert done.returncode == 1
    assert done.stderr == (
        "error: failures/ours.yaml:2: an example of no-sea is classified as nothing: ERROR: the bathymetry of cell 3 is dry\n"
    )
    assert "no-sea, program-error" in done.stdout and "out-of-memory" in done.stdout


def test_runs_without_a_telling_line_have_a_stub_of_their_last_one_or_none(
    make_site: MakeSite, shakedown: Shakedown
) -> None:
    site = make_site({"mild": "run: {command: 'echo the wind turned; echo 12; exit 1'}\n"})
    assert shakedown("run", "p", "--quiet", cwd=site).returncode == 4
    stub = shakedown("failures", "--stub", "1", cwd=site).stdout
    assert 'texts: ["the wind turned"]  # the last line of its output: no line says why it failed' in stub
    (site / "failures").mkdir()
    (site / "failures/ours.yaml").write_text(stub)
    assert shakedown("check", cwd=site).returncode == 0

    (site / "tests/mild.yaml").write_text("test: mild\nrun: {command: 'echo 12; exit 1'}\n")
    assert shakedown("run", "p", "--quiet", cwd=site).returncode == 4
    none = shakedown("failures", "--stub", "1", cwd=site)
    assert (none.returncode, none.stdout) == (2, "")
    assert none.stderr.startswith("error: the outputs of these ") and "hint: have the program print why" in none.stderr
