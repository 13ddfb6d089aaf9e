"""Inputs, programs and settings that somebody changes under a campaign: seen, told, and a restriction of the acceptance."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import warm_commands
from stage import small_document

from shakedown.conductor.driver.conditions import Conditions, is_setting
from shakedown.conductor.driver.known_files import files_changed
from shakedown.conductor.driver.script_words import (
    files_of_variables,
    filled_in,
    programs_in,
    run_by_others,
    variables_in,
)
from shakedown.conductor.record.environments import select
from shakedown.events.reader import read_events
from shakedown.model.events import Event
from shakedown.model.layout import Layout
from shakedown.model.waived import conditions_digest

SHAKEDOWN = [sys.executable, "-m", "shakedown"]
TEST = """test: t
run:
  files: [deck, solver]
  environment: {OMP_PLACES: cores}
  command: "./solver; touch $SHAKEDOWN_CAMPAIGN/../../began; while ! [ -e $SHAKEDOWN_CAMPAIGN/../../go ]; do sleep 0.02; done"
"""
PLAN = """plan: p
system: here
components:
  - functionality:
      tests: [t]
      repeats: 2
      criteria:
        correct: {measure: passed / wanted, must: "= 100%"}
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    for place in ("tests", "plans", "systems", "campaigns"):
        (tmp_path / place).mkdir()
    (tmp_path / "site.yaml").write_text("site: s\n")
    (tmp_path / "tests/t.yaml").write_text(TEST)
    (tmp_path / "plans/p.yaml").write_text(PLAN)
    (tmp_path / "tests/deck").write_text("n = 1\n")
    (tmp_path / "tests/solver").write_text("#!/bin/sh\ncat deck\n")
    (tmp_path / "tests/solver").chmod(0o755)
    return tmp_path


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("OMP_NUM_THREADS", "OMP_PLACES")}
    return kept | more


def interrupt_and_go_on(site: Path, how: str) -> None:
    """A campaign whose conductor is ended while its first runs wait; ``how``: what is changed until the next one comes."""
    began = subprocess.Popen(
        [*SHAKEDOWN, "run", "p", "-q"], cwd=site, env=environment(OMP_NUM_THREADS="1", OMP_PLACES="a")
    )
    end = time.monotonic() + 120
    while not (site / "began").exists():
        assert time.monotonic() < end and began.poll() is None
        time.sleep(0.02)
    began.terminate()
    assert began.wait(120) == 4
    deck = site / "tests/deck"
    if how == "an input":
        deck.write_text("n = 2\n")
    elif how == "touched":
        os.utime(deck, (1, 1))
    elif how == "gone":
        (site / "tests/solver").rename(site / "tests/solver.old")
    (site / "go").touch()
    threads = "4" if how == "a setting" else "1"
    places = "b" if how == "one that every case sets" else "a"
    warm_commands.run(
        ["resume", "p-1", "-q"],
        cwd=site,
        env=environment(OMP_NUM_THREADS=threads, OMP_PLACES=places, LANG="xx"),
        timeout=120,
        check=False,
    )


def findings(site: Path) -> list[Event]:
    events = list(read_events(site / "campaigns/p-1/log"))
    return [event for event in events if event.event == "finding" and event.value["kind"] == "conditions_changed"]


@pytest.mark.parametrize(
    ("how", "line"),
    [("an input", "tests/deck was changed"), ("a setting", "OMP_NUM_THREADS is '4', and was '1'")],
)
def test_what_was_changed_between_two_starts_is_told_opens_an_epoch_and_restricts(
    site: Path, how: str, line: str
) -> None:
    interrupt_and_go_on(site, how)

    (found,) = findings(site)
    assert len(found.value["difference"]) == 1 and found.value["difference"][0].endswith(line)
    done = warm_commands.run(["report", "--json", "--no-pdf"], cwd=site, capture_output=True, timeout=120)
    scorecard = json.loads(done.stdout)["scorecard"] if b'"scorecard"' in done.stdout else json.loads(done.stdout)
    assert scorecard["outcome"] == "accepted with restrictions"
    assert any(one.endswith(line) for one in scorecard["restrictions"]), scorecard["restrictions"]
    assert scorecard["epoch"] == 2
    rows = json.loads(warm_commands.run(["runs", "--json"], cwd=site, capture_output=True).stdout)["judged"]
    assert {row["epoch"] for row in rows if row["verdict"] == "passed"} == {2}
    if how == "an input":
        a_person_accepts_it_and_takes_that_back(site, found)


def a_person_accepts_it_and_takes_that_back(site: Path, found: Event) -> None:
    """It names the finding; the acceptance is not restricted any more, both are on the page, and it can be withdrawn."""

    def said(*words: str) -> subprocess.CompletedProcess[str]:
        return warm_commands.run(words, cwd=site, capture_output=True, text=True, timeout=120)

    def scorecard() -> dict[str, Any]:
        data = json.loads(said("report", "--json", "--no-pdf").stdout)
        return dict(data.get("scorecard", data))

    by = ("--by", "Ada Example", "--because", "it is a comment in the deck")
    wrong = said("waive", "--conditions", "1", *by)
    assert wrong.returncode == 2 and f"there are: {found.seq}" in wrong.stderr
    assert said("waive", "p-1", "--conditions", str(found.seq), *by).returncode == 0
    after = scorecard()
    assert (after["outcome"], after["restrictions"]) == ("accepted", [])
    told = [line for line in after["remarks"] if line.startswith(f"event {found.seq}: ")]
    assert len(told) == 1 and told[0].endswith("accepted as it is by Ada Example, because it is a comment in the deck")
    (waived,) = [event for event in read_events(site / "campaigns/p-1/log") if event.event == "waived"]
    assert waived.value["digest"] == conditions_digest(found.value)
    acts = said("acts").stdout
    assert f"accepted the change of conditions in event {found.seq}" in " ".join(acts.split())
    assert said("withdraw", str(waived.seq), "--by", "Ada Example", "--because", "it was none").returncode == 0
    assert scorecard()["outcome"] == "accepted with restrictions"
    limited = said("waive", "--conditions", str(found.seq), "--restriction", "not for long runs", *by)
    assert limited.returncode == 0
    assert any("not for long runs" in one for one in scorecard()["restrictions"]), "a restriction is one"


@pytest.mark.parametrize("how", ["touched", "one that every case sets"])
def test_what_comes_to_the_same_is_no_change(site: Path, how: str) -> None:
    interrupt_and_go_on(site, how)
    assert findings(site) == []
    stops = [event for event in read_events(site / "campaigns/p-1/log") if event.event == "stop_request"]
    (said,) = [event.value for event in stops]
    assert said.keys() == {"signal", "ended"} and said["signal"] == "SIGTERM", "it is nobody's word on the contract"


def test_what_is_changed_by_the_last_run_restricts_and_begins_no_epoch(site: Path) -> None:
    (site / "tests/solver").write_text("#!/bin/sh\necho 'n = 3' >deck\n")
    (site / "go").touch()
    done = warm_commands.run(
        ["run", "p", "-q", "--json"], cwd=site, env=environment(), capture_output=True, timeout=120
    )
    scorecard = json.loads(done.stdout)
    (found,) = findings(site)
    assert found.value["late"] and found.value["difference"][0].endswith("tests/deck was changed")
    assert scorecard["epoch"] == 1 and scorecard["outcome"] == "accepted with restrictions"


def test_programs_are_found_where_they_are_plain_to_see() -> None:
    script = 'export X=1\nOMP_NUM_THREADS=4 mpiexec -n 2 /opt/app/bin/solver --in deck && "$HOME/x" | tee out; exec ./run\n# a b'
    assert programs_in(script) == ["export", "mpiexec", "/opt/app/bin/solver", "tee", "./run"]


def test_what_a_script_plainly_writes_is_no_condition_of_its_runs() -> None:
    script = (
        "/opt/solver -i /data/deck -o /scratch/out 2>/scratch/err >>/scratch/log | tee -a /scratch/copy; cp /data/a /scratch/b\n"
        "rm /scratch/old; dd if=/data/in of=/scratch/raw; touch /scratch/done; date &> /scratch/when; cmp /data/x /data/y"
    )
    paths = [name for name in programs_in(script) if name.startswith("/")]
    assert paths == ["/opt/solver", "/data/deck", "/data/a", "/data/in", "/data/x", "/data/y"]


def test_a_file_that_a_script_appends_to_and_reads_again_is_its_own_and_a_program_that_it_starts_is_not() -> None:
    """Each run would change it, and restrict the acceptance by it. What is run is looked at, whoever writes it."""
    script = "echo begun >>/shared/log; tail -1 /shared/log; solver /data/deck > /shared/out && grep ok < /shared/out"
    assert [name for name in programs_in(script) if name.startswith("/")] == ["/data/deck"]
    assert "/opt/solver" in programs_in("cp /tmp/new /opt/solver; /opt/solver")


@pytest.mark.parametrize(
    "script",
    [
        "bash /abs/tool.sh",
        'sh -c "bash /abs/tool.sh"',
        "sh -lc 'cd x && bash /abs/tool.sh >/abs/out'",
        "bash $TOOL",
        'bash "${TOOL}"',
        "bash ~/tool.sh",
        "bash $HOME/tool.sh",
        "D=/abs; bash $D/tool.sh",
        'export D="/abs"\nE=$D/tool.sh\n. $E',
        "D=/abs bash -c 'bash $D/tool.sh'",
        "bash < /abs/tool.sh",
        "solve --deck=/abs/tool.sh",
        "cat `ls /abs/tool.sh`",
        "FILES=$(cat /abs/tool.sh); echo $FILES",
    ],
)
def test_a_file_that_a_script_names_is_seen_however_it_is_written(script: str) -> None:
    variables = {"HOME": "/abs", "TOOL": "/abs/tool.sh", "D": "/elsewhere"}
    assert "/abs/tool.sh" in programs_in(filled_in(script, variables))


def test_a_file_in_a_variable_of_a_test_is_seen_but_for_outputs() -> None:
    pairs = [("TOOL", "/abs/a"), ("LIBS", "/abs/b:/abs/c"), ("OUT", "/abs/d"), ("KEPT", "/abs/e"), ("COUNT", "3")]
    assert list(files_of_variables(pairs, "tool >> /abs/e")) == ["/abs/a", "/abs/b", "/abs/c"]
    assert programs_in("cat /proc/meminfo") == ["cat"]
    assert "/proc/self/status" not in programs_in("grep -E 'Sig(Ign|Blk)' /proc/self/status"), (
        "a word of a pattern ends before it"
    )
    assert programs_in("(/sys/kernel/x; /dev/shm/y)") == []
    assert programs_in(filled_in("a --output=/abs/x --log=/abs/y of=/abs/z", {})) == ["a"]


def test_what_has_other_programs_run_code_is_kept_and_compared() -> None:
    names = ("BASH_ENV", "ENV", "LD_AUDIT", "PERL5OPT", "RUBYOPT", "NODE_OPTIONS", "JAVA_TOOL_OPTIONS", "PYTHONSTARTUP")
    function = "BASH_FUNC_exit%%"
    kept = select({**dict.fromkeys(names, "/x"), function: "() {  builtin exit 0; }", "MINE": "1"})
    assert set(kept.variables) == {*names, function} and kept.left_out == ("MINE",)
    assert all(is_setting(name) for name in kept.variables)
    assert list(run_by_others({"BASH_ENV": "$HOME/be.sh", "LD_PRELOAD": "/a.so:/b.so", "HOME": "/h"})) == [
        "/h/be.sh",
        "/a.so",
        "/b.so",
    ]


def test_programs_that_are_swapped_between_two_conductors_are_told(site: Path, tmp_path: Path) -> None:
    """One in a quoted script, one below the campaign's directory, one in a variable of the test, and what a shell reads first."""
    kept = {name: tmp_path / name for name in ("quoted", "above", "named", "first")}
    for path in kept.values():
        path.write_text("true\n")
    loop = TEST.split("./solver; ")[1].rstrip('"\n').replace("$SHAKEDOWN_CAMPAIGN", "{campaign}")
    (site / "tests/t.yaml").write_text(
        f"test: t\nrun:\n  environment: {{NAMED: {kept['named']}}}\n  command: |\n"
        f'    sh -c "sh {kept["quoted"]}"; sh {{campaign}}/../../above; sh $NAMED; {loop}\n'
    )
    began = subprocess.Popen([*SHAKEDOWN, "run", "p", "-q"], cwd=site, env=environment())
    end = time.monotonic() + 120
    while not (site / "began").exists():
        assert time.monotonic() < end and began.poll() is None
        time.sleep(0.02)
    began.terminate()
    assert began.wait(120) == 4
    for name in ("quoted", "above", "named"):
        kept[name].write_text(": another\n")
    (site / "go").touch()
    more = environment(BASH_ENV=str(kept["first"]))
    warm_commands.run(["resume", "p-1", "-q"], cwd=site, env=more, timeout=120, check=False)

    (found,) = findings(site)
    lines = found.value["difference"]
    assert sorted(line.removeprefix("program ").split()[0] for line in lines) == sorted(
        ["BASH_ENV", *(str(kept[name]) for name in ("quoted", "above", "named"))]
    )


def test_a_variable_that_a_command_or_a_script_reads_is_told_where_another_value_is_inherited(
    site: Path, tmp_path: Path
) -> None:
    """One in the command, one in a script that it names, one that is unset; and three that are none: the test sets one, the command
    another, and of a credential nobody is told what it was. No value is in the record.
    """
    script = tmp_path / "inner.sh"
    script.write_text('#!/bin/sh\necho "${SD_INNER:-none}"\n')
    loop = TEST.split("./solver; ")[1].rstrip('"\n').replace("$SHAKEDOWN_CAMPAIGN", "{campaign}")
    (site / "tests/t.yaml").write_text(
        "test: t\nrun:\n  environment: {SD_SET: one}\n  command: |\n    SD_OWN=1\n"
        f"    sh {script}; echo $SD_SIZE $SD_GONE $SD_SET $SD_OWN $SD_TOKEN; {loop}\n"
    )
    names = ("SD_SIZE", "SD_INNER", "SD_SET", "SD_OWN", "SD_TOKEN")
    more = {name: f"slow-{name.lower()}" for name in names} | {"SD_GONE": "it is there"}
    began = subprocess.Popen([*SHAKEDOWN, "run", "p", "-q"], cwd=site, env=environment(**more))
    end = time.monotonic() + 120
    while not (site / "began").exists():
        assert time.monotonic() < end and began.poll() is None
        time.sleep(0.02)
    began.terminate()
    assert began.wait(120) == 4
    (site / "go").touch()
    more = {name: f"quick-{name.lower()}" for name in names}
    warm_commands.run(["resume", "p-1", "-q"], cwd=site, env=environment(**more), timeout=120, check=False)

    (found,) = findings(site)
    assert found.value["difference"] == [
        "variable SD_GONE is not set now, and was set",
        "variable SD_INNER was changed",
        "variable SD_SIZE was changed",
    ]
    kept = b"".join(path.read_bytes() for path in (site / "campaigns/p-1/environments").glob("*.json"))
    assert b"SD_SIZE" in kept and b"slow-" not in kept and b"quick-" not in kept


@pytest.mark.parametrize(
    ("script", "names"),
    [
        ('run $SIZE ${B:-3} "${C}"', ["SIZE", "B", "C"]),
        ("SIZE=${SIZE:-4}; echo $SIZE", ["SIZE"]),
        ("SIZE=1\necho $SIZE", []),
        ("SIZE=1 run $SIZE; echo $SIZE", ["SIZE"]),
        ("cd /a && SIZE=3 && echo $SIZE", []),
        ("for i in 1 2; do echo $i; done; while read a b; do echo $a $b; done", []),
        ("export SIZE=$OTHER\necho $SIZE $1 $@ # $N", ["OTHER"]),
        ("""python3 -c 'import os; os.environ["A"]; os.getenv("B")'""", ["A", "B"]),
        ("#!/bin/sh\nif [ -n $SIZE ]; then SIZE=2; fi", ["SIZE"]),
    ],
)
def test_the_variables_that_a_script_inherits(script: str, names: list[str]) -> None:
    assert variables_in(script) == names


def test_what_nobody_asked_for_before_was_not_changed() -> None:
    assert files_changed({"a": "1@1#x", "b": "1@1#x"}, {"b": "1@1#y", "c": "1@1#x"}) == ["b was changed"]
    assert files_changed({"a": "1@1#x", "b": "9@1#", "c": "9@1#x"}, {"a": "1@2#x", "b": "9@1#", "c": "9@1#"}) == []
    assert files_changed({"a": "9@1#", "b": "9@1#x"}, {"a": "9@2#", "b": "9@2#"}) == ["a was changed", "b was changed"]
    assert files_changed({"program cc": "/usr/bin/cc 1@1#x"}, {"program cc": "/opt/cc 1@1#x"}) == [
        "program cc is /opt/cc, and was /usr/bin/cc"
    ]
    assert is_setting("OMP_NUM_THREADS") and is_setting("LD_LIBRARY_PATH") and not is_setting("SLURM_JOB_ID")


def test_what_came_to_an_input_directory_and_what_went_is_told_of_those_that_were_seen_whole() -> None:
    before = {"directory /in": "", "/in/a": "1@1#x", "/in/d/b": "1@1#x", "/out/c": "1@1#x"}
    after = {"directory /in": "", "/in/a": "1@1#x", "/in/d/n": "1@1#x", "/inner/n": "1@1#x", "/out/n": "1@1#x"}
    assert files_changed(before, after) == ["/in/d/b was removed", "/in/d/n was added"]
    assert files_changed(before, {name: was for name, was in after.items() if name != "directory /in"}) == []
    away = {"directory /in": "cannot be read: Stale file handle"}
    assert files_changed(before, away) == ["directory /in cannot be read: Stale file handle"]
    assert files_changed(away, after) == ["directory /in can be read now"]
    passing = ("__pycache__/m.cpython-311.pyc", ".a.swp", "a~", ".nfs0001", ".git/index.lock")
    assert files_changed(before, before | {f"/in/{name}": "1@1#x" for name in passing}) == []


def test_directories_that_are_away_or_hold_the_campaign_are_not_taken_for_emptied(tmp_path: Path) -> None:
    root = tmp_path / "site/campaigns/p-1"
    root.mkdir(parents=True)
    (tmp_path / "in/d").mkdir(parents=True)
    (tmp_path / "in/d/a").touch()
    conditions = Conditions(Layout(root), small_document())

    def look(place: Path) -> dict[str, str]:
        found: dict[str, str] = {}
        return {str(path): "" for path in conditions._inputs_in(place, found)} | found

    assert look(tmp_path / "in") == {f"{tmp_path}/in/d/a": "", f"directory {tmp_path}/in": ""}
    assert look(tmp_path / "in/d/a") == {f"{tmp_path}/in/d/a": ""}
    assert not any(name.startswith("directory ") for name in look(tmp_path / "site"))
    (tmp_path / "in").rename(tmp_path / "away")
    assert look(tmp_path / "in")[f"directory {tmp_path}/in"] == "cannot be read: No such file or directory"


WRITES = """test: t
run: {files: [in/d], command: "COMMAND"}
"""


@pytest.mark.parametrize(
    ("command", "lines", "said"),
    [
        ("echo out >>d/b; mkdir d/100; echo out >>d/100/c; sed -i s/1/2/ d/a; cat d/b", [], "accepted"),
        (
            "echo 2 >>d/a; cd WHERE/in/d; echo out >>b; rm -f c",
            ["tests/in/d/a was changed", "tests/in/d/b was added", "tests/in/d/c was removed"],
            "accepted with restrictions",
        ),
    ],
)
def test_what_runs_write_into_an_input_directory_is_their_own_and_what_they_write_into_the_site_s_is_told(
    site: Path, command: str, lines: list[str], said: str
) -> None:
    (site / "tests/in/d").mkdir(parents=True)
    for name in ("a", "c"):
        (site / "tests/in/d" / name).write_text("n = 1\n")
    command = command.replace("WHERE", str(site / "tests"))
    (site / "tests/t.yaml").write_text(WRITES.replace("COMMAND", command))
    done = warm_commands.run(
        ["run", "p", "-q", "--json"], cwd=site, env=environment(), capture_output=True, timeout=120
    )
    assert json.loads(done.stdout)["outcome"] == said
    told = [line.rpartition("/site/")[2] for event in findings(site) for line in event.value["difference"]]
    assert [line.removeprefix(f"{site}/") for line in told] == lines
    if not lines:
        assert sorted(path.name for path in (site / "tests/in/d").iterdir()) == ["a", "c"]
        written = sorted((site / "campaigns/p-1/work").glob("**/d/b"))
        assert [path.read_text() for path in written] == ["out\n"] * 2, "each run found none of the other's"
