"""One campaign on this machine from its plan to its report, as a person would do it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from stories import MakeSite, Shakedown

from shakedown.events.reader import read_events

GREETING = 'run: {command: "echo hello; echo rate = 42.5"}\ncheck:\n  - output contains "hello"\n' + (
    "figures:\n  rate: {regex: 'rate = (?P<value>[0-9.]+)', unit: MB/s, better: higher}\n"
)


def test_plan_run_judge_report(make_site: MakeSite, shakedown: Shakedown) -> None:
    site = make_site(
        {"greeting": GREETING}, 'repeats: 3, criteria: {rate: {measure: value, of: rate, must: ">= 40 MB/s"}}'
    )

    run = shakedown("run", "p", cwd=site)
    assert run.returncode == 0, run.stderr
    assert "accepted" in run.stdout
    assert "3 of 3 results" in run.stderr or "r000003" in run.stderr

    campaign = site / "campaigns/p-1"
    verdicts = [event for event in read_events(campaign / "log") if event.event == "verdict"]
    assert [event.value["verdict"] for event in verdicts] == ["passed"] * 3
    assert {event.value["figures"]["rate"] for event in verdicts} == {42.5}

    report = shakedown("report", "p-1", cwd=site)
    assert report.returncode == 0, report.stderr
    assert (campaign / "report.html").read_text().startswith("<!DOCTYPE html>")


def test_every_command_speaks_json(make_site: MakeSite, shakedown: Shakedown) -> None:
    site = make_site({"greeting": GREETING})
    outputs = {
        words: shakedown(*words, "--json", cwd=site)
        for words in [
            ("check",),
            ("list", "cases"),
            ("show", "test", "greeting"),
            ("show", "case", "greeting"),
            ("show", "script", "greeting"),
            ("run", "p", "--quiet"),
            ("status",),
            ("runs",),
            ("why", "r000001"),
            ("report", "--no-pdf"),
            ("kernels", "list"),
        ]
    }
    for words, done in outputs.items():
        assert done.returncode == 0, (words, done.stderr)
        json.loads(done.stdout)
    lines = shakedown("log", "--json", cwd=site).stdout.splitlines()
    assert [json.loads(line)["seq"] for line in lines] == list(range(1, len(lines) + 1))


def test_a_failed_criterion_is_exit_status_1_and_says_which(make_site: MakeSite, shakedown: Shakedown) -> None:
    site = make_site({"bad": 'run: {command: "echo no"}\ncheck:\n  - output contains "yes"\n'})

    run = shakedown("run", "p", cwd=site)

    assert run.returncode == 1
    assert "not met" in run.stdout
    why = shakedown("why", "r000001", cwd=site)
    assert 'output contains "yes"' in why.stdout
    assert "incorrect" in why.stdout


def test_a_failed_build_judges_every_case_and_points_at_one_log(make_site: MakeSite, shakedown: Shakedown) -> None:
    text = "parameters: {n: [1, 2, 3]}\nbuild: {run: 'echo compiling; echo no such header >&2; exit 3'}\n"
    site = make_site({"broken": text + 'run: {command: "{build}/x {n}"}\n'})

    run = shakedown("run", "p", cwd=site)

    assert run.returncode in (1, 4)
    campaign = site / "campaigns/p-1"
    events = list(read_events(campaign / "log"))
    verdicts = [event for event in events if event.event == "verdict"]
    assert [event.value["verdict"] for event in verdicts] == ["build_failed"] * 3
    assert "no such header" in verdicts[0].reason
    assert len([event for event in events if event.event == "build_order"]) == 1
    log = next(event for event in events if event.event == "build_end").value["log"]
    assert "no such header" in (campaign / log).read_text()


def test_a_missing_program_is_unavailable_everywhere(make_site: MakeSite, shakedown: Shakedown) -> None:
    text = "needs: {programs: [no-such-program-xyz], get: apt-get install xyz}\nrun: {command: no-such-program-xyz}\n"
    site = make_site({"absent": text, "greeting": GREETING})

    refused = shakedown("run", "p", cwd=site)
    assert refused.returncode == 2
    assert "absent: no-such-program-xyz is not installed here; get it with: apt-get install xyz" in refused.stderr
    assert "--unavailable restrict" in refused.stderr
    assert not list((site / "campaigns").iterdir())  # before anything starts
    rehearsed = shakedown("rehearse", "p", "--quiet", cwd=site)
    assert "warning: 'shakedown run' refuses this plan: 1 of its 2 cases cannot run\n  absent: " in rehearsed.stderr

    run = shakedown("run", "p", "--report", "--unavailable", "restrict", cwd=site)

    assert run.returncode == 0
    report = (site / "campaigns/p-2/report.html").read_text()  # p-1 is the rehearsal
    card = json.loads(shakedown("report", "p-2", "--json", "--no-pdf", cwd=site).stdout)
    assert "accepted with restrictions" in report
    assert "accepted with restrictions" in json.dumps(card)
    assert shakedown("amend", "p", "--by", "a", "--because", "b", cwd=site).returncode == 2
    listed = shakedown("list", "cases", "--plan", "p", cwd=site).stdout
    status = shakedown("status", cwd=site).stdout
    for place in (run.stdout + run.stderr, report, listed):
        assert "absent" in place
        assert "apt-get install xyz" in place
    assert "unavailable" in status


def test_a_moved_campaign_gives_the_same_report_to_the_byte(
    make_site: MakeSite, shakedown: Shakedown, tmp_path: Path
) -> None:
    """Without site directory or index, in another place, time zone and hash seed."""
    site = make_site({"greeting": GREETING, "bad": "run: {command: exit 3}\n"}, "repeats: 2")
    shakedown("run", "p", "--report", cwd=site)
    before = (site / "campaigns/p-1/report.html").read_bytes()

    elsewhere = tmp_path / "elsewhere"
    shutil.move(site / "campaigns/p-1", elsewhere)
    shutil.rmtree(site)
    shutil.rmtree(elsewhere / "report", ignore_errors=True)
    (elsewhere / "report.html").unlink()
    done = shakedown(
        "report", str(elsewhere), "--no-pdf", cwd=tmp_path, env={"TZ": "Asia/Tokyo", "PYTHONHASHSEED": "5"}
    )

    assert done.returncode == 1
    assert (elsewhere / "report.html").read_bytes() == before


def test_an_expected_failure_stays_visible(make_site: MakeSite, shakedown: Shakedown) -> None:
    text = "build: {run: exit 1}\nrun: {command: ./x}\nexpect: [{verdict: build_failed, because: newer standards}]\n"
    site = make_site({"old": text})

    shakedown("run", "p", "--report", cwd=site)

    assert "newer standards" in (site / "campaigns/p-1/report.html").read_text()
