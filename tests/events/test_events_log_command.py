"""``shakedown log``: what people see of the record, and what programs get."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import msgspec
import pytest
from click.testing import CliRunner, Result

from shakedown.cli import log as log_command
from shakedown.cli.log import describe
from shakedown.events.campaigns import create_campaign
from shakedown.events.opening import open_log
from shakedown.events.writer import LogWriter
from shakedown.model.errors import RecordError, UsageError
from shakedown.model.events import Event

Log = Callable[..., Result]


class Lease:
    epoch = 1

    def check(self) -> None: ...


STORY = [
    Event("campaign_start", seq=1, time=1700000000.0, value={"campaign": "laptop-1", "plan": "laptop"}),
    Event("build_order", seq=2, time=1700000001.0, build="0123456789abcdef", value={"name": "stream"}),
    Event("submit_order", seq=3, time=1700000002.0, run="r000001", job="j000001", case="stream/threads=2"),
    Event("job_report", seq=4, time=1700000003.0, run="r000001", job="j000001", value={"state": "failed", "exit": 1}),
    Event(
        "verdict",
        seq=5,
        time=1700000004.0,
        run="r000001",
        job="j000001",
        case="stream/threads=2",
        value={"verdict": "failed"},
        reason="exit status 1: \x1b[31mno memory\x1b[0m\nat all, which is said in a sentence that is rather long",
    ),
    Event("unavailable", seq=6, time=1700000005.0, case="hpcc", reason="hpcc is not installed"),
]


@pytest.fixture
def elsewhere() -> Iterator[None]:
    """The machine's own time is another one; times are shown in UTC all the same, and say so."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "America/Denver")
        time.tzset()
        yield
    time.tzset()


@pytest.fixture
def writer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, elsewhere: None) -> LogWriter:
    """A site with a campaign, to stand in; the writer that goes on with it."""
    (tmp_path / "site.yaml").write_text("site: here\n")
    monkeypatch.chdir(tmp_path)
    layout = create_campaign(tmp_path / "campaigns", "laptop-1", b"{}")
    opened, _ = open_log(layout.log, Lease(), segment_bytes=600)
    opened.append(STORY)
    opened.commit()
    return opened


@pytest.fixture
def log(writer: LogWriter) -> Log:
    def run(*arguments: str) -> Result:
        return CliRunner().invoke(log_command.command, list(arguments), standalone_mode=False)

    return run


def test_events_are_shown_one_a_line(log: Log) -> None:
    assert log().stdout.splitlines() == [
        "     1 11-14 22:13:20 UTC campaign_start  laptop-1 laptop",
        "     2 11-14 22:13:21 UTC build_order     0123456789ab  stream",
        "     3 11-14 22:13:22 UTC submit_order    r000001 j000001 stream/threads=2",
        "     4 11-14 22:13:23 UTC job_report      r000001 j000001  failed 1",
        "     5 11-14 22:13:24 UTC verdict         r000001 j000001 stream/threads=2  failed: exit status 1: "
        "\\x1b[31mno memory\\x1b[0m at all, which is said in a sentence that is rather long",
        "     6 11-14 22:13:25 UTC unavailable     hpcc  hpcc is not installed",
    ]


def test_on_a_terminal_long_reasons_go_on_below(elsewhere: None) -> None:
    lines = describe(STORY[4], 80).splitlines()
    assert lines == [
        "     5 11-14 22:13:24 UTC verdict         r000001 j000001 stream/threads=2",
        "                          failed: exit status 1: \\x1b[31mno memory\\x1b[0m at",
        "                          all, which is said in a sentence that is rather long",
    ]
    finding = Event("finding", seq=7, time=1700000006.0, value={"kind": "disk_full"}, reason="no room " * 8)
    assert describe(finding, 80).splitlines() == [
        "     7 11-14 22:13:26 UTC finding         disk_full: no room no room no room no",
        "                          room no room no room no room no room",
    ]
    assert all(len(line) <= 80 for event in STORY for line in describe(event, 80).splitlines())


@pytest.mark.parametrize(
    ("options", "seqs"),
    [
        (["--event", "verdict"], [5]),
        (["--event", "verdict", "--event", "job_report"], [4, 5]),
        (["--run", "r000001"], [3, 4, 5]),
        (["--case", "hpcc"], [6]),
        (["--case", "stream/threads=2", "--event", "submit_order"], [3]),
        (["--last", "2"], [5, 6]),
        (["--last", "1", "--run", "r000001"], [5]),
        (["--last", "0"], []),
    ],
)
def test_filters(log: Log, options: list[str], seqs: list[int]) -> None:
    lines = log("--json", *options).stdout.splitlines()
    assert [msgspec.json.decode(line)["seq"] for line in lines] == seqs


def test_json_is_the_record_byte_for_byte(log: Log, tmp_path: Path) -> None:
    paths = sorted((tmp_path / "campaigns" / "laptop-1" / "log").glob("*.jsonl"))
    assert len(paths) > 1
    recorded = b"".join(b"".join(path.read_bytes().splitlines(keepends=True)[1:]) for path in paths)
    assert log("laptop-1", "--json").stdout_bytes == recorded
    assert log(str(tmp_path / "campaigns" / "laptop-1"), "--json").stdout_bytes == recorded


def test_nothing_to_show_is_said(log: Log) -> None:
    result = log("--run", "r999999")
    assert (result.stdout, result.stderr) == ("", "no event matches\n")


def test_misspelt_names_have_a_way_out(log: Log) -> None:
    result = log("--event", "verdct")
    assert isinstance(result.exception, UsageError)
    assert str(result.exception) == "there is no event 'verdct'\nhint: did you mean 'verdict'?"
    assert str(log("latpop-1").exception).endswith("hint: did you mean 'laptop-1'?")
    assert isinstance(log("--last", "-1").exception, click.UsageError)


# ---- verify ----------------------------------------------------------------------------------------------------------


def test_a_whole_record_is_said_to_be_whole(log: Log, writer: LogWriter) -> None:
    writer.close()
    lines = log("--verify").stdout.splitlines()
    assert lines[0].startswith("the record is whole: 4 segments, 6 events, ")
    assert lines[1].startswith("sha256 of the last segment, which seals all others: ")
    data = msgspec.json.decode(log("--verify", "--json").stdout)
    assert (data["whole"], data["events"], data["problem"]) == (True, 6, "")


def test_a_damaged_record_is_located_and_ends_the_command_with_an_error(log: Log, tmp_path: Path) -> None:
    path = tmp_path / "campaigns" / "laptop-1" / "log" / "000001.jsonl"
    content = path.read_bytes()
    path.write_bytes(content.replace(b'"seq":2', b'"seq":7'))
    result = log("--verify", "--json")
    assert isinstance(result.exception, RecordError)
    assert result.exception.message == f"{path}: line 3: event 7 is where event 2 should be"
    data = msgspec.json.decode(result.stdout)
    assert (data["whole"], data["segment"], data["line"], data["events"]) == (False, 1, 3, 1)
    assert isinstance(log().exception, RecordError)


def test_torn_and_late_bytes_are_said(log: Log, tmp_path: Path) -> None:
    directory = tmp_path / "campaigns" / "laptop-1" / "log"
    with (directory / "000001.jsonl").open("ab") as late:
        late.write(b"late\n")
    with sorted(directory.glob("*.jsonl"))[-1].open("ab") as torn:
        torn.write(b'{"v')
    text = log("--verify").stdout
    assert "3 bytes at the end are no whole line: still being written, or torn by a crash" in text
    assert "5 bytes lie behind a seal: a driver that had lost the lease wrote them; not counted" in text


# ---- follow ----------------------------------------------------------------------------------------------------------


def test_following_shows_what_was_and_what_comes_until_the_end(
    log: Log, writer: LogWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_command, "LOOK_S", 0.01)

    def go_on() -> None:
        for seq, name in ((7, "finding"), (8, "waiting"), (9, "campaign_end")):
            writer.append([Event(name, seq=seq, time=1700000010.0)])
            writer.flush()
            time.sleep(0.03)

    thread = threading.Thread(target=go_on)
    thread.start()
    lines = log("--follow", "--json", "--last", "2").stdout.splitlines()
    thread.join()
    assert [msgspec.json.decode(line)["seq"] for line in lines][-3:] == [7, 8, 9]


def test_following_a_campaign_that_is_over_ends_at_once(log: Log, writer: LogWriter) -> None:
    writer.append([Event("campaign_end", seq=7, time=1700000010.0)])
    writer.close()
    assert log("--follow", "--event", "campaign_end").stdout.count("\n") == 1


def test_the_command_as_people_call_it(writer: LogWriter, tmp_path: Path) -> None:
    shakedown = [sys.executable, "-c", "from shakedown.cli.main import main; main()", "log"]
    environment = {**os.environ, "TZ": "UTC"}
    done = subprocess.run([*shakedown, "--last", "1"], capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "     6 11-14 22:13:25 UTC unavailable     hpcc  hpcc is not installed\n"
    wrong = subprocess.run([*shakedown, "nosuch"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert wrong.stderr == (f"error: there is no campaign 'nosuch' in {tmp_path}/campaigns\nhint: there are laptop-1\n")
