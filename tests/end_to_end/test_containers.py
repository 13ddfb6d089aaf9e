"""Runs in an image, with a real runtime: what they see, what they leave, who starts their ranks, and what a missing image does."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from container_images import NAME, make_image
from stories import MakeSite, Shakedown

from shakedown.events.reader import read_events
from shakedown.model.events import Event

TEST = """\
parameters: {launcher: [host, image]}
run:
  tasks_per_node: 2
  container:
    image: ../images/tiny
    with: charliecloud
    launcher: "{launcher}"
    mounts: [/usr, "PREFIX"]
    options: [--set-env=MARK=seen]
  files: [in.txt]
  environment: {OUTER: "of the run"}
  command: |
    {container} sh -c 'cat /etc/os-release in.txt; echo "$MARK, $OUTER"; ls /var 2>&1; echo made inside > made.txt'
    cat made.txt
    {launch} sh -c 'echo "rank $PMI_RANK in $(cat /etc/os-release)"'
check: ['output contains "made inside"']
figures: {ranks: {regex: 'rank (?P<value>\\d) in PRETTY_NAME="an image for tests"', pick: max}}
"""
SICK = """\
run: {container: {image: /no/such/image, with: charliecloud}, command: "{container} true"}
"""


@pytest.fixture
def user(monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("ch-run") is None:
        pytest.skip("ch-run is not installed: scripts/slurm-packages")
    monkeypatch.setenv("USER", "root")  # which ch-run asks for, and CI does not always have


@pytest.mark.usefixtures("user")
def test_a_campaign_in_an_image(make_site: MakeSite, shakedown: Shakedown, tmp_path: Path) -> None:
    site = make_site(
        {"inside": TEST.replace("PREFIX", sys.prefix), "sick": SICK},
        plan="unavailable: restrict\n",
        name='a site\'s "place"',
    )
    image = make_image(tmp_path / 'a site\'s "place"/images/tiny', Path(sys.prefix))  # the wheel's MPI lies there
    (site / "tests/in.txt").write_text("input of the run\n")

    run = shakedown("run", "p", "--quiet", cwd=site)

    assert run.returncode == 0, run.stdout + run.stderr
    events = [*read_events(site / "campaigns/p-1/log")]
    verdicts = {event.case: event.value for event in events if event.event == "verdict"}
    assert {case: value["verdict"] for case, value in verdicts.items()} == {
        "inside/launcher=host": "passed",
        "inside/launcher=image": "passed",
    }
    for case in verdicts:
        exported = tmp_path / case.rpartition("=")[2]
        assert shakedown("export", _run_of(events, case), str(exported), cwd=site).returncode == 0
        said = (exported / "output").read_text().splitlines()
        assert f'PRETTY_NAME="{NAME}"' in said
        assert "input of the run" in said, "a linked input file is seen inside"
        assert "seen, of the run" in said, "options reach the runtime, and the environment the program"
        assert any("/var" in line and "No such file" in line for line in said), "the machine's own is not seen"
        assert "made inside" in said, "what is written inside lies in the run's directory"
        assert {line for line in said if line.startswith("rank")} == {
            f'rank {rank} in PRETTY_NAME="{NAME}"' for rank in range(2)
        }
    shown = shakedown("show", "case", "sick", cwd=site).stdout
    assert "the image /no/such/image is not on this machine" in " ".join(shown.split())
    shown = shakedown("show", "case", "inside/launcher=host", cwd=site).stdout
    assert f"{image}, sha256 " in shown
    assert "(charliecloud, launcher of the host)" in shown


def _run_of(events: list[Event], case: str) -> str:
    return next(event.run for event in events if event.event == "verdict" and event.case == case)
