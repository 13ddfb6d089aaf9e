"""Planted credentials: runs and builds get them, and not one byte of them is in the campaign or in what is made from it."""

from __future__ import annotations

import hashlib
import json
import shlex
from pathlib import Path

import pytest
from stories import MakeSite, Shakedown

from shakedown.conductor.record.environments import read_environment
from shakedown.events.reader import read_events
from shakedown.model.frozen import digest
from shakedown.model.layout import Layout

PLANTED = {
    # on the list of what is stored, with values that are credentials
    "LD_LIBRARY_PATH": "/usr/lib:https://alice:hunter2zz@mirror.example/lib",
    "SLURM_JWT": "jwtplanted.short",
    "CMAKE_PREFIX_PATH": "Zk3vQ9xTr7LmW2pYh8BdN4sJ",
    "OMPI_MCA_token_secret": "lowplanted",
    "SPACK_USER_KEY": "5f2b7c9d1e3a4f60b8c7d6e5f4a3b2c1",
    # not on the list
    "HTTPS_PROXY": "http://bob:sesame77@proxy.example:3128",
    "MY_HARMLESS_NAME": "plainwordplanted",
    "GITHUB_TOKEN": "ghp_plantedplantedplanted0123",
}
SECRETS = ("hunter2zz", "jwtplanted", "Zk3vQ9xTr7LmW2pYh8BdN4sJ", "lowplanted", "5f2b7c9d1e3a4f60", "sesame77",
           "plainwordplanted", "ghp_planted")  # fmt: skip
# The payload itself says what it was given, by its sum: so its output holds no value.
TELL = "".join(f'printf "%s %s\\n" {name} "$(printf %s "${name}" | sha256sum)"; ' for name in PLANTED)


def sums() -> list[str]:
    return [f"{name} {hashlib.sha256(value.encode()).hexdigest()}  -" for name, value in PLANTED.items()]


def everything_in(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_planted_credentials_reach_the_runs_and_are_stored_nowhere(make_site: MakeSite, shakedown: Shakedown) -> None:
    test = f"build: {{source: ../src, run: {json.dumps(TELL + ': >built')}}}\nrun: {{command: {json.dumps(TELL)}}}\n"
    site = make_site({"tell": test})
    (site / "src").mkdir()
    (site / "src/a.txt").write_text("a\n")
    (site / "site.yaml").write_text("site: story\nrecord_environment: [MY_SITE_*]\n")
    more = {"MY_SITE_PROFILE": "fast", "MY_SITE_URL": "ftp://eve:planted88@x.example/y"}
    run = shakedown("run", "p", "-q", cwd=site, env=PLANTED | more)
    assert run.returncode == 0, run.stderr
    for words in (("report", "--no-pdf"), ("seal", "--by", "Ada"), ("verify",), ("status",), ("log",)):
        done = shakedown(*words, cwd=site, env=PLANTED | more)
        assert done.returncode == 0, done.stderr
        assert not any(secret in done.stdout + done.stderr for secret in (*SECRETS, "planted88")), words

    campaign = site / "campaigns/p-1"
    output = shakedown("show", "run", "r000001", "--json", cwd=site)
    view = json.loads(output.stdout)
    assert view["output"].splitlines() == sums(), "the run had the whole environment"
    assert any("\n".join(sums()).encode() in content for content in everything_in(campaign / "builds").values()), (
        "and so had the build"
    )

    for path, content in everything_in(campaign).items():
        found = [secret for secret in (*SECRETS, "planted88") if secret.encode() in content]
        assert not found, f"{path} holds {found}"

    start = next(event for event in read_events(campaign / "log") if event.event == "driver_start")
    stored = read_environment(Layout(campaign), start.value["environment"])
    assert stored.variables["MY_SITE_PROFILE"] == "fast"
    assert "PATH" in stored.variables
    assert set(stored.credentials) >= {
        "LD_LIBRARY_PATH", "SLURM_JWT", "CMAKE_PREFIX_PATH", "OMPI_MCA_token_secret", "SPACK_USER_KEY", "MY_SITE_URL",
    }  # fmt: skip
    assert set(stored.left_out) >= {"HTTPS_PROXY", "MY_HARMLESS_NAME", "GITHUB_TOKEN"}
    assert start.value["not_stored"] == len(stored.not_stored) == len(view["not_stored"])


@pytest.mark.parametrize(
    ("test", "place"),
    [
        ('run:\n  command: "true"\n  environment: {HF_TOKEN: shortplanted}\n', "tests/tell.yaml:4:27"),
        ('run:\n  command: "curl -u ada:shortplanted https://x"\n', "tests/tell.yaml:3:12"),
        ('run:\n  command: "./x --key 9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c"\n', "tests/tell.yaml:3:12"),
        ('build: {run: "git clone https://ada:shortplanted@x/y"}\nrun: {command: "true"}\n', "tests/tell.yaml:2:14"),
        ('about: "see https://ada:shortplanted@x/y"\nrun: {command: "true"}\n', "tests/tell.yaml:2:8"),
    ],
)
def test_a_plan_with_a_credential_is_refused_and_the_credential_not_repeated(
    make_site: MakeSite, shakedown: Shakedown, test: str, place: str
) -> None:
    site = make_site({"tell": test})
    for words in (("check",), ("run", "p", "-q")):
        done = shakedown(*words, cwd=site)
        assert done.returncode == 2, done.stdout + done.stderr
        said = done.stdout + done.stderr
        assert f"error: {place}: " in said and "looks like a credential" in said
        assert "shortplanted" not in said and "9f8a7b6c" not in said
    assert list((site / "campaigns").iterdir()) == []


@pytest.mark.parametrize(
    ("words", "refused"),
    [("[SEPARATOR01]", False), ("[EPARATOR01]", True), ("[SEPARATOR]", True), ("[OTHER]", True), ("[abc]", True)],
)
def test_a_word_that_only_looks_like_a_credential_can_be_named(
    make_site: MakeSite, shakedown: Shakedown, words: str, refused: bool
) -> None:
    """The whole word, in the file that it stands in; what else is there is looked at as ever."""
    test = f'no_credentials: {words}\nrun:\n  command: "./x --sep-token=SEPARATOR01"\n'
    site = make_site({"tell": test})
    done = shakedown("check", cwd=site)
    said = done.stdout + done.stderr
    assert (done.returncode == 2, "looks like a credential" in said) == (refused, refused), said
    if refused and words != "[abc]":
        assert "no_credentials at the top of this file" in said
    if not refused:
        (site / "tests/tell.yaml").write_text(
            (site / "tests/tell.yaml").read_text().replace('01"', '01 --password=shortplanted"')
        )
        done = shakedown("check", cwd=site)
        assert done.returncode == 2 and "looks like a credential" in done.stdout + done.stderr


def test_a_credential_in_a_system_is_refused(make_site: MakeSite, shakedown: Shakedown) -> None:
    site = make_site({"tell": 'run: {command: "true"}\n'})
    assert shakedown("init", "other", cwd=site.parent).returncode == 0
    file = next((site.parent / "other/systems").glob("*.yaml"))
    file.write_text(f"{file.read_text()}fingerprint:\n  firmware: {shlex.quote('ask --password shortplanted')}\n")
    done = shakedown("check", cwd=site.parent / "other")
    assert done.returncode == 2 and "looks like a credential" in done.stdout + done.stderr


def test_environments_of_older_records_are_read(tmp_path: Path) -> None:
    (tmp_path / "environments").mkdir()
    data = b'{"PATH": "/bin", "variables": "x"}'
    (tmp_path / f"environments/{digest(data)}.json").write_bytes(data)
    assert read_environment(Layout(tmp_path), digest(data)).variables == {"PATH": "/bin", "variables": "x"}
