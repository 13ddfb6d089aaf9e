"""Names of files and directories that are no text, as a payload or an old archive leaves them: no command fails for one."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
import record_damages
from record_damages import Source, Told, tell

STRANGE = os.fsdecode(b"\xff\xfe")
SHOWN = "\\udcff\\udcfe"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Source:
    return record_damages.make_records(tmp_path_factory.mktemp("records"), ("finished",))[0]


@pytest.fixture
def source(finished: Source, tmp_path: Path) -> Source:
    """A copy of a finished record, whose site has such a name itself."""
    site = shutil.copytree(finished.site, tmp_path / f"site-{STRANGE}", symlinks=True)
    return Source("finished", site, finished.campaign)


def say(source: Source, *words: str) -> Told:
    told = tell(source.site, *words)
    assert "fault of Shakedown" not in told.err and "Traceback" not in told.err, told
    return told


@pytest.mark.parametrize("words", [("check", "--json"), ("check",)])
def test_check_names_such_a_file_of_the_site(source: Source, words: tuple[str, ...]) -> None:
    (source.site / f"tests/{STRANGE}.yaml").write_text("no test")
    told = say(source, *words)
    assert told.status == 2
    text = told.out if "--json" in words else told.err
    assert f"tests/{SHOWN}.yaml" in (json.dumps(json.loads(text)).replace("\\\\", "\\") if "--json" in words else text)


@pytest.mark.parametrize(
    "words",
    [("rehearse", "p", "-q", "--no-try"), ("export", "r000001", "out"), ("status", "--json"), ("run", "p", "-q")],
)
def test_a_site_may_lie_in_such_a_directory(source: Source, words: tuple[str, ...]) -> None:
    assert say(source, *words).status in (0, 1, 4)
    if words[0] == "export":
        assert os.fsencode(STRANGE) in b"".join(path.read_bytes() for path in (source.site / "out").iterdir())


def test_a_file_of_such_a_name_is_sealed_and_missed(source: Source) -> None:
    """The seal has its name with escapes, and finds it by them."""
    brought = source.root / "evidence" / f"node {STRANGE}.log"
    brought.parent.mkdir()
    brought.write_text("4711")
    assert say(source, "seal", "--by", "A").status == 0
    (seal,) = (source.root / "seals").glob("*.json")
    assert f"evidence/node {SHOWN}.log" in [item["path"] for item in json.loads(seal.read_bytes())["files"]]
    assert json.loads(say(source, "verify", "--json").out)["whole"]
    brought.write_text("4712")
    found = json.loads(say(source, "verify", "--json").out)
    assert not found["whole"] and found["damage"]["path"] == f"evidence/node {SHOWN}.log"
    brought.unlink()
    found = json.loads(say(source, "verify", "--json").out)
    assert found["damage"]["why"] == "it was sealed and is gone"


# ---- a user without name and home ------------------------------------------------------------------------------------------

NOBODY_KNOWN = 3_999_999


def without_home() -> None:
    """As in a container that was started with the number of a user alone."""
    for name in ("HOME", "USER", "LOGNAME", "LNAME", "USERNAME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        os.environ.pop(name, None)
    if os.geteuid() == 0:
        os.setresuid(NOBODY_KNOWN, 0, 0)  # may still read a clone that is for its owner alone


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be a user that no password file knows")
@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("status",), 0),
        (("runs",), 0),
        (("list", "tests"), 0),
        (("report", "--no-pdf"), 0),
        (("seal", "--by", "A"), 0),
        (("feed", "influx", "http://127.0.0.1:1", "--once"), 2),
        (("alert", "mail", "ada@example.org", "--once"), 2),
    ],
)
def test_a_user_without_home_keeps_nothing_and_is_told_where_that_matters(
    finished: Source, tmp_path: Path, words: tuple[str, ...], status: int
) -> None:
    site = shutil.copytree(finished.site, tmp_path / "site", symlinks=True)
    told = tell(site, *words, first=without_home)
    assert not (site / "~").exists()
    assert "fault of Shakedown" not in told.err and told.status == status, told
    if status == 2:
        assert (
            "this user has no home directory" in told.err and "set HOME, or XDG_STATE_HOME to a directory" in told.err
        )
