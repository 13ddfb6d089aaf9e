"""A party's key changes after a seal: who signed that seal for whom stays as it was."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
PLAN = """plan: p
system: here
parties: {site: ["ADA"], vendor: ["BO"]}
components:
  - functionality: {tests: [ok]}
"""


@pytest.fixture
def keyed(tmp_path: Path) -> Path:
    """A site whose plan gives both parties keys: ``ada``, ``bo`` and, for later, ``new`` lie beside it."""
    site = tmp_path / "site"
    for folder in ("tests", "plans", "systems", "campaigns"):
        (site / folder).mkdir(parents=True)
    for name in ("ada", "bo", "new"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name.title(), "-f", str(site / name)]
        subprocess.run(words, check=True, capture_output=True, stdin=subprocess.DEVNULL)
    (site / "site.yaml").write_text("site: s\n")
    (site / "tests/ok.yaml").write_text('test: ok\nrun: {command: "echo fine"}\ncheck: [output contains "fine"]\n')
    vendor_has(site, "bo")
    return site


def vendor_has(site: Path, key: str) -> None:
    """At once: a key's letters may be those of a word that stands for another key."""
    public = {word: (site / f"{name}.pub").read_text().strip() for word, name in (("ADA", "ada"), ("BO", key))}
    (site / "plans/p.yaml").write_text(re.sub("|".join(public), lambda found: public[found[0]], PLAN))


def test_a_key_that_is_changed_later_signed_what_it_signed(keyed: Path, people: Run, drive: Run) -> None:
    assert drive(keyed, "run", "p", "-q").returncode == 0
    assert people(keyed, "seal", "--by", "Ada", "--sign", "ada").returncode == 0
    digest = next((keyed / "campaigns/p-1/seals").glob("*.json")).stem
    assert people(keyed, "seal", "--by", "Bo", "--sign", "bo", "--digest", digest).returncode == 0
    every = f"seal {digest[:8]}: signed for site by Ada, for vendor by Bo: counter-sealed by every party"
    assert every in people(keyed, "verify").stdout

    vendor_has(keyed, "new")
    because = ("--because", "a new key")
    done = people(keyed, "amend", "p", "--by", "Ada", *because)
    number = done.stdout.partition("event ")[2].split()[0]
    for name in ("ada", "bo"):
        done = people(keyed, "agree", number, "--by", name.title(), "--sign", name, *because)
        assert done.returncode == 0, done.stderr
    told = people(keyed, "verify").stdout
    assert every in told
    assert "accepted, sealed by Ada on " in told, "a name alone speaks for no party that has keys"

    done = people(keyed, "seal", "--by", "New", "--sign", "new", "--digest", digest)
    assert every in done.stdout, "the new key signs for nobody what was sealed before it came"
    page = (keyed / "campaigns/p-1/signature.html").read_text()
    assert "Bo for vendor, " in page and "New for vendor" not in page
    assert people(keyed, "verify", "--page", "campaigns/p-1/signature.html").returncode == 0
    assert people(keyed, "report", "--no-pdf").returncode == 4, "the amendment opened it again"
    report = (keyed / "campaigns/p-1/report.html").read_text()
    assert "Bo for vendor, " in report and "New for vendor" not in report


def test_a_key_that_is_none_of_a_party_signs_no_seal_in_its_name_and_a_witness_stands_behind_the_parties(
    keyed: Path, people: Run, drive: Run
) -> None:
    assert drive(keyed, "run", "p", "-q").returncode == 0
    refused = people(keyed, "seal", "--by", "Bo", "--sign", "new")
    assert refused.returncode == 2
    assert "Bo speaks for vendor, and the key SHA256:" in refused.stderr
    assert "is none that the plan gives to vendor: nothing was signed" in refused.stderr
    digest = next((keyed / "campaigns/p-1/seals").glob("*.json")).stem
    assert f"sign it with: shakedown seal --digest {digest[:16]}" in " ".join(refused.stderr.split())
    assert not list((keyed / "campaigns/p-1/seals").glob("*.signed")), "no signature is kept"
    for name, by in (("new", "Eve"), ("ada", "Ada"), ("bo", "Bo")):
        assert people(keyed, "seal", "--by", by, "--sign", name, "--digest", digest).returncode == 0
    page = (keyed / "campaigns/p-1/signature.html").read_text()
    assert 0 < page.index("Ada for site") < page.index("Bo for vendor") < page.index("Eve, ")
