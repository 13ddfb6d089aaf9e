"""A chain of tests on this machine, as the guide writes it: in their order, what is lost is told, and gates stay shut."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
from stories import SHAKEDOWN, MakeSite, Shakedown

from shakedown.events.reader import read_events
from shakedown.model.events import Event

GUIDE = (Path(__file__).parents[2] / "docs/guides/tests-that-need-others.md").read_text()
FILES = dict(re.findall(r"^`([\w./-]+)`:\n\n```\w+\n(.*?)```", GUIDE, flags=re.MULTILINE | re.DOTALL))


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    site = tmp_path / "site"
    for name, text in {"site.yaml": "site: story\n", **FILES}.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text)
    for folder in ("systems", "campaigns"):
        (site / folder).mkdir()
    return site


def events(site: Path, campaign: str) -> list[Event]:
    return list(read_events(site / f"campaigns/{campaign}/log"))


def verdicts(site: Path, campaign: str) -> dict[str, str]:
    return {event.case: event.value["verdict"] for event in events(site, campaign) if event.event == "verdict"}


def test_the_chain_of_the_guide_runs_in_its_order(chain: Path, shakedown: Shakedown) -> None:
    run = shakedown("run", "chain", "--quiet", cwd=chain)
    assert run.returncode == 0, run.stderr
    assert set(verdicts(chain, "chain-1").values()) == {"passed"} and len(verdicts(chain, "chain-1")) == 8
    judged: dict[str, int] = {}
    needs = {"solve": ("make-mesh",), "compare-solvers": ("solve", "make-mesh")}
    for event in events(chain, "chain-1"):
        test, size = event.case.partition("/")[0], re.search(r"size=\d+", event.case)
        if event.event == "submit_order":
            assert size is not None
            for needed in needs.get(test, ()):
                there = [case for case in judged if case.startswith(f"{needed}/{size[0]}")]
                assert len(there) == (2 if needed == "solve" else 1), f"{event.case} began after {sorted(judged)}"
        elif event.event == "verdict":
            judged[event.case] = event.seq


def test_files_are_handed_from_run_to_run(chain: Path, shakedown: Shakedown) -> None:
    """The log says which files of which run each run was given, with their sums; and it had those in its directory."""
    assert shakedown("run", "chain", "--quiet", cwd=chain).returncode == 0
    orders = {e.run: e for e in events(chain, "chain-1") if e.event == "submit_order"}
    cases = {run: event.case for run, event in orders.items()}
    work = chain / "campaigns/chain-1/work/000"
    given = {run: event.value["handed"] for run, event in orders.items() if "handed" in event.value}
    assert len(given) == 6
    for run, handed in given.items():
        assert [one["into"] for one in handed] == (["cg", "gmres"] if "compare" in cases[run] else [""])
        for one in handed:
            size, other = (re.search(r"size=(\d+)", cases[name]) for name in (run, one["run"]))
            assert size is not None and other is not None and size[1] == other[1]
            for path, digest in one["files"].items():
                there = (work / run / one["into"] / path).read_bytes()
                assert hashlib.sha256(there).hexdigest() == digest
                assert there == (work / one["run"] / path).read_bytes()
    run = next(run for run, case in cases.items() if case == "solve/size=8,solver=cg")
    mesh = next(run for run, case in cases.items() if case == "make-mesh/size=8")
    assert f"was given mesh.txt of {mesh} (sha256 " in shakedown("why", run, cwd=chain).stdout


def test_a_library_is_built_once_and_linked_by_others(chain: Path, shakedown: Shakedown) -> None:
    run = shakedown("run", "--test", "area", "--quiet", cwd=chain)
    assert run.returncode == 0, run.stdout + run.stderr
    assert verdicts(chain, "adhoc-area-1") == {"make-shapes/toolchain=gcc": "passed", "area/toolchain=gcc": "passed"}
    (chain / "tests/shapes/shapes.c").write_text("not C\n")
    assert shakedown("run", "--test", "area", "--quiet", cwd=chain).returncode == 1
    assert verdicts(chain, "adhoc-area-2") == {"make-shapes/toolchain=gcc": "failed", "area/toolchain=gcc": "not_run"}


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("true", "did not leave mesh.txt as r000001: there is no such file; to run it after all"),
        (
            "ln -s /etc/hostname mesh.txt",
            "did not leave mesh.txt as r000001: file mesh.txt leads out of the run's directory",
        ),
        ("mkdir mesh.txt", "did not leave mesh.txt as r000001: there is no such file"),
        ("mkfifo mesh.txt", "did not leave mesh.txt as r000001: file mesh.txt is a fifo"),
        ("ln -s {campaign}/entry.json mesh.txt", "leads out of the run's directory"),
    ],
)
def test_what_may_not_be_handed_on_is_told(command: str, why: str, make_site: MakeSite, shakedown: Shakedown) -> None:
    """A file that is missing, or lies outside of what the run left: the run that needs it is not started."""
    tests = {
        "first": f'run: {{command: "{command}"}}\n',
        "second": 'needs: {test: first, files: [mesh.txt]}\nrun: {command: "cat mesh.txt"}\n',
    }
    site = make_site(tests)
    shakedown("run", "p", "--quiet", cwd=site)
    assert verdicts(site, "p-1") == {"first": "passed", "second": "not_run"}
    assert why in next(event.reason for event in events(site, "p-1") if event.run == "r000002")


def test_what_is_lost_is_told_everywhere(chain: Path, shakedown: Shakedown) -> None:
    mesh = chain / "tests/make-mesh.yaml"
    mesh.write_text(mesh.read_text().replace('"seq {size} > mesh.txt"', '"test {size} = 8 && seq {size} > mesh.txt"'))
    run = shakedown("run", "chain", "--quiet", cwd=chain)
    assert run.returncode == 1, run.stderr
    lost = {case for case, verdict in verdicts(chain, "chain-1").items() if verdict == "not_run"}
    assert lost == {"solve/size=16,solver=cg", "solve/size=16,solver=gmres", "compare-solvers/size=16"}
    (shown,) = re.findall(r"```\n\$ shakedown (runs --verdict not_run)\n(.*?)\n```", GUIDE, flags=re.DOTALL)
    listed = shakedown(*shown[0].split(), cwd=chain).stdout
    assert shown[1] in listed and len(listed.splitlines()) == 5
    status = json.loads(shakedown("status", "--json", cwd=chain).stdout)
    assert status["components"][0]["verdicts"] == {"passed": 4, "failed": 1, "not_run": 3}
    why = shakedown("why", "compare-solvers/size=16", cwd=chain).stdout
    assert "comes first, and was not run: r0000" in why and "shakedown again functionality" in why
    assert shakedown("report", "--junit", "out.xml", "--no-pdf", cwd=chain).returncode in (0, 1)
    wrong = {
        case.get("name")
        for case in ElementTree.parse(chain / "out.xml").iter("testcase")
        if case.find("error") is not None
    }
    assert {str(name).partition(" ")[0] for name in wrong} >= lost
    page = (chain / "campaigns/chain-1/report.html").read_text()
    assert "not_run" in page and "was judged failed as r000002" in page


def test_a_retried_predecessor_lets_its_successor_run(make_site: MakeSite, shakedown: Shakedown) -> None:
    """The first test fails once and is attempted again; the other one begins after the attempt that passed."""
    once = 'run: {command: "test -e {campaign}/seen || { touch {campaign}/seen; exit 1; }"}\n'
    once = once.replace("|| {", "|| {{").replace("; }", "; }}")
    tests = {"second": 'needs: first\nrun: {command: "true"}\n', "first": once}
    criteria = 'criteria: {passed: {measure: passed / wanted, must: "= 100%"}}'
    site = make_site(tests, component=f"retry: {{failed: 1}}, {criteria}")
    run = shakedown("run", "p", "--quiet", cwd=site)
    assert run.returncode == 0, run.stderr
    said = [(e.case, e.value["verdict"]) for e in events(site, "p-1") if e.event == "verdict"]
    assert said == [("first", "failed"), ("first", "passed"), ("second", "passed")]


def test_a_gate_stays_shut_and_opens_when_it_was_mended(make_site: MakeSite, shakedown: Shakedown) -> None:
    """Results that were not run are not met; run again after all, in their order, they are."""
    tests = {
        "second": 'needs: first\nrun: {command: "true"}\n',
        "first": 'run: {command: "test -e {campaign}/mended"}\n',
        "third": 'run: {command: "true"}\n',
    }
    site = make_site(tests)
    passed = 'criteria: {passed: {measure: passed / wanted, test: second, must: ">= 50%"}}'
    (site / "plans/p.yaml").write_text(
        "plan: p\nsystem: here\ncomponents:\n"
        f"  - functionality: {{name: suite, tests: [second, first], {passed}}}\n"
        "  - functionality: {name: later, tests: [third], after: suite, gate: met}\n"
    )
    words = [*SHAKEDOWN, "run", "p", "--quiet"]
    run = subprocess.Popen(words, cwd=site, stderr=subprocess.PIPE, text=True)
    try:
        assert run.stderr is not None
        said = ""
        while "nothing goes on before people act" not in said:
            said = run.stderr.readline()
            assert said, "it ended before anybody was asked"
        assert "component suite is not met: passed: 0 passed / 1 wanted" in said
        assert verdicts(site, "p-1") == {"first": "failed", "second": "not_run"}
        (site / "campaigns/p-1/mended").touch()
        again = shakedown("again", "suite", "--by", "Ada", "--because", "mended", cwd=site)
        assert again.returncode == 0, again.stderr
        run.communicate(timeout=60)
    finally:
        run.kill()
        run.wait()
    assert verdicts(site, "p-1") == {"first": "passed", "second": "passed", "third": "passed"}
    assert run.returncode == 0
