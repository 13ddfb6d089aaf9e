"""A site, a home and a scratch directory whose paths have spaces and letters outside ASCII."""

from __future__ import annotations

from pathlib import Path

from stories import MakeSite, Shakedown

from shakedown.events.reader import read_events

HELLO = "build: {kernel: hello}\nrun: {tasks_per_node: 2, command: '{launch} {build}/hello --expect {ranks}'}\n" + (
    "figures:\n  ranks: {json: ranks, better: higher}\n"
)
FILES = 'run: {command: \'echo "of $(basename "$PWD")" > written; cat written\'}\ncheck:\n  - output contains "of "\n'


def test_a_campaign_builds_runs_reports_and_seals_below_such_paths(
    tmp_path: Path, make_site: MakeSite, shakedown: Shakedown
) -> None:
    site = make_site({"hello": HELLO, "files": FILES}, name="großes Haus, é")
    home, scratch = tmp_path / "ein Heim é", tmp_path / "ein Rest ü"
    home.mkdir()
    scratch.mkdir()
    where = {"HOME": str(home), "TMPDIR": str(scratch), "XDG_CACHE_HOME": str(home / "der Vorrat")}

    run = shakedown("run", "p", "--report", cwd=site, env=where)

    assert run.returncode == 0, run.stdout + run.stderr
    verdicts = [event.value["verdict"] for event in read_events(site / "campaigns/p-1/log") if event.event == "verdict"]
    assert verdicts == ["passed", "passed"]
    assert (site / "campaigns/p-1/report.html").is_file()
    assert shakedown("seal", "--by", "Ada", cwd=site, env=where).returncode == 0
    verified = shakedown("verify", cwd=site, env=where)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert not list(scratch.iterdir()), "nothing is left in the scratch directory"
