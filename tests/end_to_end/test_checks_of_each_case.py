"""Cases of one test whose checks and figures hold their own parameters: judged when they run, and again from the record."""

from __future__ import annotations

from pathlib import Path

from stories import MakeSite, Shakedown

from shakedown.events.reader import read_events

TEST = """\
parameters: {size: [1, 2, 3], said: [right, wrong]}
exclude: [{size: 1, said: wrong}, {size: 3, said: wrong}]
run: {command: "s={size}; test {said} = right || s=9; echo size = $s; echo value {size}: 1{size}; echo value 9: 77"}
check: ['output contains "size = {size}"']
figures: {rate: {regex: 'value {size}: (?P<value>[0-9]{1,3})', unit: GB/s}}
"""


def verdicts(site: Path) -> dict[str, tuple[str, float]]:
    """Case -> its last verdict and its rate, from the log."""
    return {
        event.case: (event.value["verdict"], event.value["figures"]["rate"])
        for event in read_events(site / "campaigns/p-1/log")
        if event.event == "verdict"
    }


def test_each_case_is_judged_by_its_own_values(make_site: MakeSite, shakedown: Shakedown) -> None:
    """With the text of another case, or as it is written, no right run would pass."""
    site = make_site({"a": TEST})
    run = shakedown("run", "p", "--quiet", cwd=site)
    assert run.returncode == 1, run.stderr  # the case that says 9 is not correct
    wanted = {
        "a/size=1,said=right": ("passed", 11.0),
        "a/size=2,said=right": ("passed", 12.0),
        "a/size=2,said=wrong": ("incorrect", 12.0),
        "a/size=3,said=right": ("passed", 13.0),
    }
    assert verdicts(site) == wanted

    again = shakedown("rejudge", "--by", "Ann", "--because", "to see it again", cwd=site)
    assert again.returncode == 0, again.stderr
    assert verdicts(site) == wanted
    verified = shakedown("verify", cwd=site)
    assert verified.returncode == 0, verified.stdout + verified.stderr
