"""What else was different between two campaigns, and what is a model or not over: it stands beside the numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from compared_campaigns import HERE, PLAN, TEST, campaign
from msgspec.structs import replace

from shakedown.cli.comparison_words import render
from shakedown.conductor.commands.fingerprints import keep_facts
from shakedown.machine.fingerprint_facts import Found, describe_machine
from shakedown.model.events import Event
from shakedown.model.layout import Layout
from shakedown.model.nouns import Document, Toolchain
from shakedown.plans import read_plan
from shakedown.queries.comparisons import Asked, Compared, compare_campaigns
from shakedown.report.figures.comparison import draw_comparison


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "site"
    for name, text in {"site.yaml": "site: s\n", "tests/a.yaml": TEST, "plans/p.yaml": PLAN}.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)
    return path


@pytest.fixture
def document(site: Path) -> Document:
    return read_plan(site, "p", lambda: HERE)


def compared(site: Path, *names: str, by: str = "campaign") -> Compared:
    return compare_campaigns([Asked(site / "campaigns" / name, name) for name in names], by, None, 0.02)


def driver(version: str) -> Event:
    return Event("driver_start", value={"epoch": 1, "driver": {"host": "h", "version": version, "python": "3.11.7"}})


def machine(bios: str, node: str = "n1") -> tuple[Event, Found]:
    found = describe_machine({node: f"kernel\tLinux 6\nfirmware.bios_version\t{bios}\nfingerprint\tcomplete\n"}, {})
    return Event("fingerprint", value={"digest": found.digest}), found


def test_versions_and_toolchains(site: Path, document: Document) -> None:
    old, new = (
        replace(document, system=replace(document.system, toolchains=chains))
        for chains in (
            (Toolchain("gnu", modules=("gcc/12",)), Toolchain("old")),
            (Toolchain("gnu", modules=("gcc/13",)), Toolchain("clang")),
        )
    )
    campaign(site, old, "p-1", began=[driver("0.6.0")])
    campaign(site, new, "p-2", began=[driver("0.7.0")])
    (conditions,) = compared(site, "p-1", "p-2").conditions
    assert conditions.versions == ("Shakedown 0.6.0 -> 0.7.0",)
    assert conditions.toolchains == ("gnu: modules gcc/12 -> gcc/13", "old is gone", "clang is new")
    assert conditions.plan == ("the system is changed: toolchains",)


def test_conditions_that_are_alike_say_what_was_compared(site: Path, document: Document) -> None:
    for name in ("p-1", "p-2"):
        campaign(site, document, name, began=[machine("1.0")[0]])
    found = compared(site, "p-1", "p-2")
    alike = replace(found.conditions[0], epochs=(), plan=(), machine=(), toolchains=(), versions=())
    found = replace(found, conditions=(alike,))
    said = " ".join(render(found, False).split())
    assert "machine, toolchains, versions of p-2 are as those of p-1" in said
    assert "what commands read besides, such as variables of the environment, is not compared" in said


@pytest.mark.parametrize(("node", "said"), [("n1", "n1: firmware.bios_version"), ("m1", "firmware.bios_version")])
def test_machines_by_their_fingerprints(site: Path, document: Document, node: str, said: str) -> None:
    """Of the same nodes each change with its nodes; of two systems what most nodes have."""
    for name, bios, where in (("p-1", "1.0", "n1"), ("p-2", "2.0", node)):
        event, found = machine(bios, where)
        campaign(site, document, name, began=[event])
        keep_facts(Layout(site / "campaigns" / name), found)
    (conditions,) = compared(site, "p-1", "p-2").conditions
    assert conditions.machine == (f"{said}: 1.0 -> 2.0",)
    (site / f"campaigns/p-2/fingerprints/{machine('2.0', node)[1].digest}.json").write_text("{}")
    (conditions,) = compared(site, "p-1", "p-2").conditions
    assert conditions.machine == ("p-2: its file of facts is gone or changed, so the machines cannot be compared",)


def test_a_rehearsal_is_told_and_its_figure_is_marked(site: Path, document: Document) -> None:
    campaign(site, document, "p-1", over=False)
    campaign(site, document, "p-2", rehearsal={"seed": 3, "scenario": "quiet"})
    found = compared(site, "p-1", "p-2")
    assert found.notes == (
        "p-1 is not over: what it says may still change",
        "p-2: rehearsed on a model, no measurement (scenario quiet, seed 3)",
    )
    assert found.rehearsed and found.conditions[0].machine == ()
    drawings: list[Any] = [draw_comparison(found.comparison, rehearsed) for rehearsed in (False, True)]
    assert drawings[0].caption.endswith(f"the smallest change that matters, {100 * found.comparison.least:g} %.")
    assert drawings[0].svg != drawings[1].svg


def test_groups_within_campaigns_have_no_conditions(site: Path, document: Document) -> None:
    campaign(site, document, "p-1")
    assert compared(site, "p-1", by="n").conditions == ()
