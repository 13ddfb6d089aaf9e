"""A look at a node's health that finds something: the run is incorrect, and says what was found."""

from __future__ import annotations

from stories import MakeSite, Shakedown

HEALTH = """\
extends: node-health
run: {environment: {HEALTH_MOUNTS: /proc /lustre, HEALTH_PROCESSORS: "1", HEALTH_MEMORY: "1"}}
"""


def test_a_sick_node_is_told_in_the_words_of_the_look(make_site: MakeSite, shakedown: Shakedown) -> None:
    site = make_site({"health": HEALTH})
    assert shakedown("run", "p", "--quiet", cwd=site).returncode == 1
    why = shakedown("why", "r000001", cwd=site).stdout
    assert "the output has the line 'BAD mount /lustre: nothing is mounted there'" in why
    assert "class unhealthy-node: BAD mount /lustre: nothing is mounted there" in why
