"""A budget on this machine is narrowed by what a command of the site says: the number comes from a file that the test writes."""

from __future__ import annotations

import csv
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from stories import SHAKEDOWN, MakeSite, Shakedown
from tests.end_to_end.test_killed_and_resumed import wait_until

from shakedown.events.reader import read_events
from shakedown.model.errors import RecordError
from shakedown.model.events import Event

TEST = (
    "parameters: {n: [1, 2, 3, 4, 5, 6]}\nloads: {disk: 1}\n"
    'run: {command: "until test -e $GO; do sleep 0.05; done; echo ok", time_limit: 60s}\n'
    'check:\n  - output contains "ok"\n'
)
SYSTEM = (
    "system: box\nclusters: {box: {scheduler: local, partitions: {all: {nodes: localhost, type: t}}}}\n"
    "node_types: {t: {cores: 2}}\nbudgets: {disk: 4}\n"
)
LIMITS = """\
limits:
  observe:
    disk: {command: cat load, means: others, full: 100, every: 1s, within: 1s, oldest: 4s}
"""


class Driven:
    """A campaign of six runs, two at a time, that a conductor drives; ``say`` writes what the command will say."""

    def __init__(self, site: Path, environment: dict[str, str]) -> None:
        self.site, self.log = site, site / "campaigns/p-1/log"
        self.process = subprocess.Popen([*SHAKEDOWN, "run", "p", "-q"], cwd=site, env=os.environ | environment)

    def say(self, text: str) -> None:
        draft = self.site / "draft"
        draft.write_text(text)
        draft.replace(self.site / "load")

    def events(self, name: str, kind: str = "") -> list[Event]:
        with suppress(RecordError):
            found = [event for event in read_events(self.log) if event.event == name]
            return [event for event in found if kind in ("", event.value.get("kind"))]
        return []


@pytest.fixture
def driven(make_site: MakeSite, tmp_path: Path) -> Iterator[Driven]:
    site = make_site({"t": TEST}, plan=LIMITS)
    (site / "systems/box.yaml").write_text(SYSTEM)
    plan = site / "plans/p.yaml"
    plan.write_text(plan.read_text().replace("system: here", "system: box"))
    (site / "load").write_text("80\n")
    found = Driven(site, {"XDG_CACHE_HOME": str(tmp_path / "cache"), "GO": str(site / "go")})
    yield found
    (site / "go").touch()
    found.process.kill()
    found.process.wait()


def test_a_number_in_a_file_decides_what_starts(driven: Driven, shakedown: Shakedown) -> None:
    """80 of 100 are others': nothing fits. 60: one run does. Then nonsense, which is told; then nothing is taken, and all run."""
    wait_until(lambda: driven.events("observed"))
    wait_until(lambda: driven.events("waiting"))
    assert driven.events("submit_order") == []
    said = " ".join(shakedown("status", "p-1", cwd=driven.site).stdout.split())
    assert re.search(r"disk: 0 of 0\.8 .*taken.*observed 80 of 100 used by others \(as of \d+ s ago\)", said), said
    assert "observed 80 of 100" in " ".join(shakedown("why", "p-1", "t/n=1", cwd=driven.site).stdout.split())
    driven.say("60\n")
    wait_until(lambda: driven.events("submit_order"))
    assert len(driven.events("submit_order")) == 1
    driven.say("full\n")
    wait_until(lambda: driven.events("finding", "observed_silent"))
    (told,) = driven.events("finding", "observed_silent")
    assert "it says 'full', which is no number" in told.reason
    assert len(driven.events("submit_order")) == 1
    driven.say("0\n")
    (driven.site / "go").touch()
    assert driven.process.wait(120) == 0
    assert len(driven.events("verdict")) == 6 and len(driven.events("finding", "observed_silent")) == 1
    assert [event.value["number"] for event in driven.events("observed") if "number" in event.value][-1] == 0.0
    assert shakedown("report", "p-1", "--output", "out", "--no-pdf", cwd=driven.site).returncode == 0
    rows = list(csv.DictReader((driven.site / "out/report/tables/observed.csv").open()))
    assert [(row["number"], row["full"], row["others"], row["limit"]) for row in rows if row["number"]][:1] == [
        ("80.0", "100.0", "3.2", "4.0")
    ]
    assert any("no number" in row["why"] for row in rows if not row["number"])
