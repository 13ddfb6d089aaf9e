"""Modes, gates and attestation on this machine, with the commands that people use."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from stories import SHAKEDOWN, MakeSite, Shakedown

from shakedown.events.reader import read_events

SLEEP = 'run: {command: "date +began=%s.%N; sleep 0.3; date +over=%s.%N"}\nfigures:\n' + "".join(
    f"  {name}: {{regex: '{name}=(?P<value>[0-9.]+)', unit: s}}\n" for name in ("began", "over")
)
PLAN = """\
plan: p
system: here
components:
  - vendor:
      procedures: [{name: cables, about: every cable is labelled, who: vendor, evidence: 1}]
  - performance:
      tests: [nap]
      after: [vendor]
      gate: met
      modes: {isolated: {repeats: 2, warm_up: 1}, fill: {repeats: 1, copies: 2}}
"""


def until(holds: Any) -> Any:
    """Wait for a condition, for as long as a loaded machine may need."""
    limit = time.monotonic() + 100
    while time.monotonic() < limit:
        found = holds()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError("it never came to that")


def test_a_gate_waits_for_an_attestation_then_modes_run(
    make_site: MakeSite, shakedown: Shakedown, tmp_path: Path
) -> None:
    site = make_site({"nap": SLEEP})
    (site / "plans/p.yaml").write_text(PLAN)
    photo = tmp_path / "photo of the rack.jpg"
    photo.write_bytes(b"\xff\xd8 a rack")
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    driver = subprocess.Popen(
        [*SHAKEDOWN, "run", "p"], cwd=site, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:

        def waiting() -> Any:
            if not (site / "campaigns/p-1/log").is_dir():
                return []
            done = shakedown("status", "p-1", "--json", cwd=site)
            return done.returncode == 0 and json.loads(done.stdout)["waiting"]

        (group,) = until(waiting)
        assert group["reason"] == "component vendor comes first; not attested yet: cables (shakedown attest)"
        words = ("vendor", "cables", "--by", "Ada", "--because", "walked the rows")

        bare = shakedown("attest", "p-1", *words, "--met", cwd=site)
        assert bare.returncode == 2
        assert bare.stderr == "error: cables asks for 1 evidence file, and 0 are named\nhint: --evidence FILE\n"
        copy, empty = tmp_path / "copy.jpg", tmp_path / "empty.log"
        copy.write_bytes(photo.read_bytes())
        empty.touch()
        for files, said in (
            ((photo, copy), f"error: {photo} and {copy} hold the same\nhint: name one of them: it counts once\n"),
            ((photo, empty), f"error: {empty} is empty\nhint: evidence shows something\n"),
        ):
            named = [word for file in files for word in ("--evidence", str(file))]
            poor = shakedown("attest", "p-1", *words, "--met", *named, cwd=site)
            assert (poor.returncode, poor.stderr) == (2, said)
        done = shakedown("attest", "p-1", *words, "--met", "--evidence", str(photo), cwd=site)
        assert done.returncode == 0, done.stderr
        _, said = driver.communicate(timeout=120)
    finally:
        driver.kill()
    assert "nothing goes on before people act: component vendor is over but not attested: cables" in said

    events = list(read_events(site / "campaigns/p-1/log"))
    (attested,) = [event for event in events if event.event == "attested"]
    digest = hashlib.sha256(photo.read_bytes()).hexdigest()
    assert attested.value["evidence"] == [{"name": "photo of the rack.jpg", "sha256": digest, "bytes": 9}]
    assert (attested.value["by"], attested.reason) == ("Ada", "walked the rows")
    assert (site / "campaigns/p-1/evidence" / digest).read_bytes() == photo.read_bytes()
    runs = [(e.value.get("of", "") + e.value["mode"], e.value["figures"]) for e in events if e.event == "verdict"]
    assert sorted(mode for mode, _ in runs) == ["fill", "fill", "isolated", "isolated", "isolatedwarm-up"]
    times = sorted((figures["began"], figures["over"], mode) for mode, figures in runs)
    for earlier, later in itertools.pairwise(times):
        assert earlier[1] <= later[0] or (earlier[2], later[2]) == ("fill", "fill")


def test_what_is_attested_after_the_end_is_recorded_at_once(make_site: MakeSite, shakedown: Shakedown) -> None:
    site = make_site({"hello": "run: {command: echo hello}\n"}, "procedures: [{name: cables}]")
    run = shakedown("run", "p", cwd=site)
    assert run.returncode == 4, run.stdout + run.stderr

    assert "functionality: not attested yet: cables" in shakedown("status", cwd=site).stdout
    wrong = shakedown("attest", "functionality", "cabels", "--met", "--by", "Ada", "--because", "seen", cwd=site)
    assert wrong.returncode == 2
    assert "component functionality has no procedure 'cabels'\nhint: did you mean 'cables'?" in wrong.stderr
    silent = shakedown("attest", "functionality", "cables", "--by", "Ada", "--because", "seen", cwd=site)
    way_out = "error: neither --met nor --not-met is given\nhint: give one of them: --met or --not-met\n"
    assert (silent.returncode, silent.stderr) == (2, way_out)
    done = shakedown("attest", "functionality", "cables", "--met", "--by", "Ada", "--because", "seen", cwd=site)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Ada attests cables of component functionality as met; recorded in p-1: event ")
    again = shakedown("resume", cwd=site)
    assert again.returncode == 0, again.stdout + again.stderr

    names = [event.event for event in read_events(site / "campaigns/p-1/log")]
    assert names.count("attested") == 1
    assert names.index("campaign_end") < names.index("attested")


def test_evidence_that_is_no_file_is_refused(make_site: MakeSite, shakedown: Shakedown) -> None:
    site = make_site({"hello": "run: {command: echo hello}\n"}, "procedures: [{name: cables}]")
    shakedown("run", "p", cwd=site)
    words = ("attest", "functionality", "cables", "--met", "--by", "Ada", "--because", "seen", "--evidence")

    missing = shakedown(*words, "photo.jpg", cwd=site)
    folder = shakedown(*words, "plans", cwd=site)

    for done, name in ((missing, "photo.jpg"), (folder, "plans")):
        assert done.returncode == 2
        hint = "hint: evidence is one file, such as a log, a protocol or an archive"
        assert done.stderr == f"error: {name} is no file\n{hint}\n"


@pytest.mark.parametrize("how", ["changed", "removed"])
def test_evidence_stays_evidence_after_a_later_attestation(
    make_site: MakeSite, shakedown: Shakedown, tmp_path: Path, how: str
) -> None:
    """The other party attests the contrary: what the first one brought is not its to change."""
    site = make_site({"ok": "run: {command: 'true'}\n"})
    (site / "plans/p.yaml").write_text(
        "plan: p\nsystem: here\ncomponents:\n  - functionality: {tests: [ok], procedures: [{name: power, evidence: 1}]}\n"
    )
    shakedown("run", "p", "-q", cwd=site)
    seen = tmp_path / "seen.txt"
    seen.write_text("seen\n")
    said = ("functionality", "power", "--because", "x")
    brought = shakedown("attest", *said, "--met", "--evidence", str(seen), "--by", "Bo", cwd=site)
    denied = shakedown("attest", *said, "--not-met", "--by", "Ada", cwd=site)
    assert (brought.returncode, denied.returncode) == (0, 0), brought.stderr + denied.stderr
    assert shakedown("verify", cwd=site).returncode == 0
    (kept,) = (site / "campaigns/p-1/evidence").iterdir()
    kept.chmod(0o644)
    if how == "changed":
        kept.write_text("seen by nobody\n")
    else:
        kept.unlink()
    found = shakedown("verify", cwd=site)
    assert (found.returncode, f"evidence/{kept.name}" in found.stdout) == (1, True)
    assert shakedown("seal", "--by", "Ada", "--open", cwd=site).returncode != 0
