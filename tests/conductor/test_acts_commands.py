"""What people do in a campaign that was really run: commands, page, tables and seal, beside what an independent program says."""

from __future__ import annotations

import base64
import csv
import html
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import recompute_acts as script
import warm_commands
from recompute import read_documents
from recompute_log import read_log

PLAN = """plan: p
system: here
parties:
  site: [Ada]
  vendor: [{key}]
consent: [clock]
components:
  - functionality:
      tests: [ok, bad]
      repeats: 2
      criteria:
        passed: {{measure: passed / wanted, must: "= 100%"}}
        most: {{measure: passed / attempts, must: ">= 100%", leave_out: [ruled site]}}
  - vendor:
      procedures: [{{name: diag, about: every node, evidence: 1}}]
"""


def run(site: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return warm_commands.run(
        words,
        cwd=site,
        env=os.environ | {"COLUMNS": "80"},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )


def said(site: Path, *words: str) -> Any:
    done = run(site, *words, "--json")
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def _ecdsa() -> str:
    parts = (b"ecdsa-sha2-nistp256", b"nistp256", b"\4" + bytes(64))
    blob = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    return f"ecdsa-sha2-nistp256 {base64.b64encode(blob).decode()}".rstrip("=")


ECDSA = _ecdsa()  # a public key without its last letter, which is for padding


@pytest.fixture(scope="module")
def acted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``p-1``: an attestation, a ruling on two runs and a waiver, agreed to by the vendor's key; then the site's name."""
    site = tmp_path_factory.mktemp("acts") / "site"
    for folder in ("tests", "plans", "systems", "campaigns"):
        (site / folder).mkdir(parents=True)
    key = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "Bo Iron", "-f", str(site / "bo")]
    subprocess.run(key, check=True, capture_output=True, stdin=subprocess.DEVNULL)
    (site / "site.yaml").write_text("site: acts\n")
    (site / "tests/ok.yaml").write_text('test: ok\nrun: {command: "echo fine"}\n')
    (site / "tests/bad.yaml").write_text('test: bad\nrun: {command: "echo no; exit 3"}\n')
    (site / "plans/p.yaml").write_text(PLAN.format(key=json.dumps((site / "bo.pub").read_text().strip())))
    (site / "log.txt").write_text("all nodes\n")
    assert run(site, "run", "p", "-q").returncode == 1
    words = ["--by", "Bo Iron", "--because", "all nodes", "--evidence", "log.txt"]
    assert run(site, "attest", "vendor", "diag", "--met", *words).returncode == 0
    assert run(site, "resume", "-q").returncode == 1
    assert (
        run(site, "rule", "r000002", "r000004", "--as", "site", "--by", "Ada", "--because", "<b>outage</b>").returncode
        == 0
    )
    waiver = ["--restriction", "no bad", "--by", "Ada", "--because", "later"]
    assert run(site, "waive", "functionality", "passed", *waiver).returncode == 0
    return site


@pytest.fixture
def site(acted: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(acted, tmp_path / "site", symlinks=True))


def numbers(site: Path) -> dict[str, str]:
    return {act["kind"]: str(act["event"]) for act in said(site, "acts")["acts"]}


def test_a_campaign_is_disputed_until_both_sides_agreed_and_the_seal_says_so(site: Path) -> None:
    done = run(site, "acts", "p-1")
    assert done.returncode == 4
    assert done.stdout.startswith("disputed: accepted with restrictions if the attestation by Bo Iron (event ")
    assert max(map(len, done.stdout.splitlines())) <= 80
    acts = list(numbers(site).values())
    refused = run(site, "agree", *acts, "--by", "Bo Iron", "--because", "fair")
    assert (refused.returncode, refused.stderr) == (
        2,
        "error: Bo Iron speaks for vendor, and the plan gives vendor keys: sign it with --sign KEY\n",
    )
    signed = run(site, "agree", "p-1", *acts, "--by", "Bo Iron", "--because", "fair", "--sign", "bo")
    assert signed.stdout.startswith(f"Bo Iron agrees to events {', '.join(acts)}; recorded in p-1: event ")
    assert run(site, "agree", acts[0], "--by", "Ada", "--because", "I saw it").returncode == 0
    found = said(site, "acts")
    assert found["outcome"] == "accepted with restrictions"
    assert {act["standing"] for act in found["acts"]} == {"agreed", ""}
    report = run(site, "report", "--no-pdf")
    assert report.returncode == 0 and "acts of people: 5 (shakedown acts lists them)" in report.stdout
    sealed = run(site, "seal", "--by", "Bo Iron", "--sign", "bo")
    assert "signed not for site, for vendor by Bo Iron: not by every party" in sealed.stdout
    page = (site / "campaigns/p-1/signature.html").read_text()
    assert "What people did" in page and "Bo Iron for vendor" in page and "Without all of these acts: rejected." in page
    verified = run(site, "verify", "p-1")
    assert "signed not for site, for vendor by Bo Iron: not by every party" in verified.stdout


def test_keys_of_an_amendment_that_nobody_agreed_to_seal_for_nobody(site: Path) -> None:
    """The vendor puts a key of its own in the place of the site's people."""
    key = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "Ada", "-f", str(site / "eve")]
    subprocess.run(key, check=True, capture_output=True, stdin=subprocess.DEVNULL)
    plan = site / "plans/p.yaml"
    forged = json.dumps((site / "eve.pub").read_text().strip())
    text = plan.read_text()
    assert "site: [Ada]" in text
    plan.write_text(text.replace("site: [Ada]", f"site: [Ada, {forged}]"))
    amended = run(site, "amend", "p", "--by", "Bo Iron", "--because", "keys")
    assert amended.returncode == 0, amended.stderr
    run(site, "resume", "-q")
    run(site, "seal", "--by", "Bo Iron", "--sign", "bo", "--open")
    sealed = run(site, "seal", "--by", "Ada", "--sign", "eve", "--open")
    for done in (sealed, run(site, "verify", "p-1")):
        assert "counter-sealed by every party" not in done.stdout, done.stdout
        assert "signed not for site" in done.stdout, done.stdout
    assert "Ada for site" not in (site / "campaigns/p-1/signature.html").read_text()


def test_the_page_and_the_tables_say_what_an_independent_program_says(site: Path) -> None:
    """Before and after agreements and a withdrawal, by one side of what nobody else had agreed to."""
    _compare(site)
    found = numbers(site)
    assert run(site, "withdraw", found["waive"], "--by", "Ada", "--because", "a mistake").returncode == 0
    card = _compare(site)
    assert card["outcome"] == "rejected"
    page = (site / "campaigns/p-1/report.html").read_text()
    assert "withdrawn by event" in page and "&lt;b&gt;outage&lt;/b&gt;" in page and "<b>outage</b>" not in page


def _compare(site: Path) -> Any:
    campaign = site / "campaigns/p-1"
    card = said(site, "report", "--no-pdf")
    again = script.settle(read_log(campaign / "log"), read_documents(campaign / "documents"))
    rows = list(csv.DictReader((campaign / "report/tables/acts.csv").open(newline="")))
    assert {row["event"] for row in rows} == {str(act["event"]) for act in card["acts"]}  # one name for one thing
    live = [row for row in rows if row["standing"] not in ("withdrawn", "no effect") and row["kind"] != "agree"]
    assert {row["event"]: row["without"] for row in live} == again["without"]
    assert (card["outcome"], card["without_acts"]) == (again["outcome"], again["without_acts"])
    page = (campaign / "report.html").read_text()
    table = page[page.index('<table class="acts">') : page.index("</table>", page.index('<table class="acts">'))]
    shown = {}
    for row in re.findall(r"<tr><td.*?</tr>", table, flags=re.DOTALL):
        number, *_, without = re.findall(r"<td[^>]*>(.*?)</td>", row, flags=re.DOTALL)
        word = re.search(r"<b[^>]*>(.*?)</b>", without)
        shown[number] = html.unescape(word[1]) if word else ""
    assert {number: word for number, word in shown.items() if number in again["without"]} == again["without"]
    assert f'Without all of these acts the outcome is <b class="bad">{again["without_acts"]}</b>' in page
    return card


def test_what_names_no_act_is_refused(site: Path) -> None:
    acts, ada = numbers(site), ("--by", "Ada", "--because", "x")
    cases = {
        ("agree", "9999", *ada): "error: event 9999 of p-1 is no act of a person\nhint: acts of p-1 are: ",
        ("agree", "p-1", *ada): "error: no act is named\n",
        ("agree", "p-1", "one", *ada): "error: 'one' is not the number of an event\n",
        ("agree", "5", "--by", " ", "--because", "x"): "error: --by is empty\n",
        (
            "agree",
            acts["waive"],
            "--by",
            "Cy",
            "--because",
            "x",
        ): "error: Cy speaks for no party of the plan (site: Ada; ",
        ("agree", acts["waive"], *ada, "--sign", "none"): "error: the key none cannot be read: ",
        (
            "agree",
            acts["waive"],
            "--by",
            "A\u0501a",
            "--because",
            "x",
        ): "error: --by: 'A\u0501a' has letters of two alphabets",
        **{
            (
                *command,
                "--by",
                "\u0410\u0501\u0430",
                "--because",
                "x",
            ): "error: --by: '\u0410\u0501\u0430' looks like Ada"
            for command in (
                ("agree", acts["waive"]),
                ("withdraw", acts["waive"]),
                ("change",),
                ("cap", "ok", "1"),
                ("cancel", "--all"),
                ("fingerprint", "p-1"),
            )
        },
        ("agree", acts["waive"], "--by", "Ada", "--because", "\u200b"): "error: --because has no visible character\n",
        (
            "waive",
            "functionality",
            "passed",
            "--restriction",
            "None",
            *ada,
        ): "error: --restriction has no visible character, or says",
        ("withdraw", acts["attest"], *ada): "cannot be withdrawn\nhint: what can be is: waive, rule\n",
        ("withdraw", "nowhere", "3", *ada): "error: there is no campaign 'nowhere'",
    }
    for words, text in cases.items():
        done = run(site, *words)
        assert (done.returncode, text in done.stderr) == (2, True), (words, done.stderr)
    withdraw = ("withdraw", acts["waive"], "--by", "Ada", "--because", "a mistake")
    assert run(site, *withdraw).returncode == 0
    assert "is withdrawn already, by event" in run(site, *withdraw).stderr


def test_a_plan_whose_person_is_both_parties_is_refused(site: Path) -> None:
    plan = (site / "plans/p.yaml").read_text()
    key = json.dumps((site / "bo.pub").read_text().strip())
    faults = {
        "site: [Ada, ada]\n  vendor: [ADA]": "'ada' is in site and in vendor",
        "site: [Bo Iron]\n  vendor: [Bo lron]": "'Bo lron' in vendor looks like 'Bo Iron' in site",
        "site: [Eve]\n  vendor: [A\u200cda]": "it has an invisible character (U+200C) where no script has one",
        f"site: [{key}]\n  vendor: [{key}]": "is in site and in vendor",
        f"site: ['{ECDSA}= Ada']\n  vendor: ['{ECDSA[:-1]}B= Bo']": "is in site and in vendor",  # unused bits of a last letter
        f"site: ['no-pty {ECDSA}= Ada']\n  vendor: [Bo]": "there is a key in this name",
        "site: [Ada]": "there is one party",
        'site: [Ada]\n  vendor: ["ssh-ed25519 AAAA Bo"]': "this is no public SSH key",
        "site: [Ada]\n  vendor: []": "parties.vendor is empty",
    }
    for words, text in faults.items():
        (site / "plans/p.yaml").write_text(
            re.sub(r"parties:.*?\nconsent", f"parties:\n  {words}\nconsent", plan, flags=re.DOTALL)
        )
        done = run(site, "check")
        assert (done.returncode, text in done.stdout + done.stderr) == (2, True), (words, done.stdout + done.stderr)
    (site / "plans/p.yaml").write_text(plan.replace("consent: [clock]", "consent: [agree]"))
    assert "'agree' is not one of" in run(site, "check").stdout + run(site, "check").stderr


def test_a_party_that_an_amendment_renames_agrees_by_its_name_of_before(site: Path) -> None:
    plan = site / "plans/p.yaml"
    plan.write_text(plan.read_text().replace("site: [Ada]", "site: [Eve]"))
    done = run(site, "amend", "p", "--by", "Bo Iron", "--because", "another person")
    assert done.returncode == 0, done.stderr
    amendment, waiver = numbers(site)["amend"], numbers(site)["waive"]
    refused = run(site, "agree", waiver, "--by", "Eve", "--because", "fair")
    assert "error: Eve speaks for no party of the plan (site: Ada; vendor: Bo Iron)" in refused.stderr
    assert run(site, "agree", amendment, "--by", "Ada", "--because", "Eve follows me").returncode == 0
    assert run(site, "agree", waiver, "--by", "Eve", "--because", "fair").returncode == 0
    assert "Ada speaks for no party" in run(site, "agree", waiver, "--by", "Ada", "--because", "late").stderr
    act = next(act for act in said(site, "acts")["acts"] if act["kind"] == "waive")
    assert act["agreed"][0].startswith("site: Eve, ") and act["missing"] == ["vendor"]
