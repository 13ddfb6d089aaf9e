"""A site's own classes of failures: read, frozen with the plan, and before those of the package."""

from __future__ import annotations

from typing import Any

from shakedown.checks.classify.catalogue import Classifier
from shakedown.model.frozen import freeze, thaw
from shakedown.plans.failures import shipped_failures


def test_the_frozen_plan_has_the_classes_of_the_site_and_no_others(example: Any) -> None:
    document = example.read()
    assert [one.name for one in document.failures] == ["burst-buffer"]
    [one] = document.failures
    assert (one.family, one.suspect, one.place) == ("file-system-error", "site", "failures/site.yaml:3")
    assert one.lines[0].texts == ("dw_stage ... failed", "burst buffer session ... gone")
    assert one.lines[1].patterns == (r"DW\d+ (?:not|un)available",)
    assert (one.lines[0].source, one.lines[1].source) == ("campaign phase2-1", "the site")
    assert thaw(freeze(document)).failures == document.failures


def test_a_plan_frozen_before_there_were_classes_is_read(example: Any) -> None:
    import msgspec

    old = msgspec.json.decode(freeze(example.read()))
    del old["failures"]
    assert thaw(msgspec.json.encode(old)).failures == ()


def test_a_class_of_the_site_goes_before_those_of_the_package(example: Any) -> None:
    line = "n001: dw_stage /in: failed: No space left on device"
    own = example.read().failures
    found = Classifier(shipped_failures(), own).best(line)
    assert found is not None and found.name == "burst-buffer"
    alone = Classifier(shipped_failures()).best(line)
    assert alone is not None and alone.name == "disk-full"


def test_a_class_of_the_same_name_replaces_that_of_the_package(example: Any) -> None:
    import msgspec

    [own] = example.read().failures
    mine = msgspec.structs.replace(own, name="disk-full")
    known = Classifier(shipped_failures(), (mine,))
    assert known.best("dd: No space left on device") is None
    assert [one.name for one in known.classes].count("disk-full") == 1
