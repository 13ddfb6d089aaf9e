"""What one side may try to bend a settlement, from the plan to the page to sign: a table, and a campaign for each line of it.

The campaign has three components, two clusters with nodes of two types, criteria of the same name and a contract. Bo of the vendor
tries, Ada of the site agrees to nothing but what she was shown. Each try is refused, or stands on the page to sign with what it
comes to; a program that shares no code with the package comes to the same.
"""

from __future__ import annotations

import base64
import html
import re
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest
import recompute_acts as script
from acts_story import CASES, PARTIES, Acted, plan
from acts_tries import (
    amend,
    amend_out_and_in,
    backdated_restart,
    backdated_stop,
    change_after_bad_runs,
    days,
    done,
    drain_when_it_looks_good,
    loosened_bound,
    over,
    raised_enough,
    rule_on_slow_passes,
    same,
    speed,
    waive,
    waiver_ahead,
)
from msgspec.structs import replace

from shakedown.audit.sealing import signed_words
from shakedown.conductor.record.registering import enter, ready, refuse_used
from shakedown.events.campaigns import create_campaign
from shakedown.events.lines import encode_event
from shakedown.events.segments import first_header
from shakedown.metrics.judging.consent import Signed
from shakedown.metrics.judging.scorecard import NOT_KNOWN, Scorecard
from shakedown.metrics.judging.settled_words import NO_EFFECT
from shakedown.model.errors import UsageError
from shakedown.model.frozen import freeze
from shakedown.model.layout import Layout
from shakedown.model.nouns import Document, NodeType, Retry
from shakedown.report.page.settled_block import parts_of
from shakedown.report.page.signature import render_signature_page
from shakedown.report.writing import make_report

Tell = Callable[[Acted], None]
AWR = "accepted with restrictions"


def two_kinds(consent: tuple[str, ...] = ()) -> Document:
    """The plan of the stories, with a node type of its own on each cluster."""
    document = plan(PARTIES, consent)
    clusters = tuple(
        replace(one, partitions=tuple(replace(part, type=kind) for part in one.partitions))
        for one, kind in zip(document.system.clusters, ("rome", "milan"), strict=True)
    )
    kinds = (NodeType("rome", cores=128), NodeType("milan", cores=96))
    return replace(document, system=replace(document.system, clusters=clusters, node_types=kinds))


# ---- what is like the tries that ``acts_tries`` has ------------------------------------------------------------


def slow_node_out_and_in(told: Acted) -> None:
    speed(told, bad=False)
    told.say("excluded", {"nodes": ["c3n4"], "by": "Bo"}, "it is slow")
    days(told)
    told.say("included", {"nodes": ["c3n4"], "by": "Bo"}, "it is mended")


def note_as_a_ruling(told: Acted) -> None:
    speed(told)
    told.say("noted", {"ticket": "17", "class": "node", "by": "Bo"}, "the site's, not ours", run="r000006")
    days(told)


def pause_over_bad_runs(told: Acted) -> None:
    speed(told, bad=False)
    days(told, bad=True, count=9)
    told.say("paused", {"component": "days", "cause": "maintenance", "from": told.now - 90.0, "by": "Bo"}, "a leak")
    told.say("continued", {"component": "days", "by": "Bo"}, "it is dry")
    days(told)


def cap_that_starves(told: Acted) -> None:
    speed(told, bad=False)
    told.say("capped", {"test": "stream", "copies": 0, "by": "Bo"}, "too loud")
    days(told, count=2)


def again_after_bad_runs(told: Acted) -> None:
    speed(told)
    told.say("again", {"component": "speed", "by": "Bo"}, "new cables")
    speed(told, bad=False, first=3)
    days(told)


def cancel_what_would_miss(told: Acted) -> None:
    for case in (*CASES, *CASES[:2]):
        told.run("speed", case, repeat=1 + (told.runs >= 3))
    told.say("cancel_request", {"cases": [CASES[-1]], "by": "Bo"}, "a wrong input deck")
    run = told.order("speed", CASES[-1], 2)
    told.say(
        "verdict",
        {"component": "speed", "repeat": 2, "attempt": 1, "verdict": "cancelled"},
        "so",
        run=run,
        case=CASES[-1],
    )
    days(told)


def agreed_to_other_words(told: Acted) -> None:
    speed(told)
    number = waive(told)
    told.agree(number, "Ada", digest_of="0" * 64)
    days(told)


def agreed_under_another_name(told: Acted) -> None:
    speed(told)
    number = waive(told)
    told.agree(number, "Ada of the vendor")
    told.agree(number, "Bo")
    days(told)


def cut_off_before_it_is_wrong(told: Acted) -> None:
    """It would have had the wrong answer after twenty seconds, perhaps. Now it has none."""
    shape = replace(told.documents[told.record.document].cases[2].shape, time_limit_s=20.0)
    amend(told, same, lambda new: replace(new, cases=(*new.cases[:2], replace(new.cases[2], shape=shape))))
    amend(told, done(bound=0.8, must=">= 80%"))
    speed(told, bad=False)
    told.events[-1] = replace(told.events[-1], value=told.events[-1].value | {"verdict": "timeout", "figures": {}})
    days(told)


def attempts_there_and_back(told: Acted) -> None:
    amend(told, lambda part: replace(part, retry=(Retry("failed", 1),)))
    amend(told, lambda part: replace(part, retry=()))
    speed(told)
    days(told)


def sealed_by_both(told: Acted, outcome: str) -> None:
    """Ada seals it, and Bo agrees to the seal."""
    value = {"digest": "e" * 64, "through": len(told.events), "outcome": outcome, "by": "Ada"}
    number = told.say("sealed", value)
    told.say("agreed", {"acts": [[number, "e" * 64]], "by": "Bo"}, "as shown")


def ruled_after_both_had_sealed(told: Acted) -> None:
    speed(told)
    days(told)
    sealed_by_both(told, "rejected")
    told.say("ruled", {"as": "site", "by": "Bo"}, "a disk", run="r000006")


def amended_after_both_had_sealed(told: Acted) -> None:
    """The plan wants less, and its case is run again until it passes."""
    speed(told)
    days(told)
    sealed_by_both(told, "rejected")
    amend(told, lambda part: replace(part, cases=part.cases[:2]))
    amend(told, lambda part: replace(part, cases=CASES))
    for repeat in (1, 2):
        told.run("speed", CASES[-1], "passed", repeat)
    told.say("changed", {"by": "Bo"}, "new firmware")


class Way(NamedTuple):
    """``outcome``: of the campaign; ``without``: of each act of Bo's but the attestation; ``said``: on the page to sign."""

    tell: Tell
    outcome: str
    without: tuple[str, ...]
    said: str = ""


WAYS = (
    Way(backdated_restart, "disputed", ("rejected",), "BACKDATED"),
    Way(drain_when_it_looks_good, "incomplete", ("incomplete",), "drained by Bo (it looks good)"),
    Way(amend_out_and_in, "disputed", ("rejected", "incomplete"), "takes away 2 runs of speed"),
    Way(rule_on_slow_passes, "rejected", ("rejected",) * 6),
    Way(change_after_bad_runs, "disputed", ("rejected",), "new firmware"),
    Way(loosened_bound, "disputed", ("rejected",), "the bound >= 90% of criterion done of speed: now >= 50%"),
    Way(backdated_stop, "rejected", ("rejected", "rejected"), "BACKDATED"),
    Way(raised_enough, "disputed", ("rejected",), "rejected if it does not"),
    Way(waiver_ahead, "disputed", ("rejected",), "waived ahead: before any of its 6 results"),
    Way(slow_node_out_and_in, "accepted", (NOT_KNOWN, NOT_KNOWN), "nobody can tell how it would have come out without"),
    Way(note_as_a_ruling, "rejected", ()),
    Way(pause_over_bad_runs, "rejected", ("rejected",), "BACKDATED"),
    Way(cap_that_starves, "accepted", (NOT_KNOWN,), "without the cap by Bo"),
    Way(again_after_bad_runs, "disputed", ("rejected",), "the running again by Bo"),
    Way(cancel_what_would_miss, "disputed", ("incomplete",), "what was still to come of speed"),
    Way(agreed_to_other_words, "disputed", ("rejected",), "vendor"),
    Way(agreed_under_another_name, "disputed", ("rejected",), "vendor"),
    Way(cut_off_before_it_is_wrong, "disputed", (NOT_KNOWN, "rejected"), "what r000006 would have measured"),
    Way(attempts_there_and_back, "rejected", ("rejected", "rejected")),
    Way(ruled_after_both_had_sealed, "rejected", ("rejected",), "1 act of people came after the seal"),
    Way(amended_after_both_had_sealed, "rejected", ("rejected",) * 3, "no effect until site agreed"),
)


@cache
def tried(tell: Tell, consent: tuple[str, ...] = ()) -> tuple[Acted, Scorecard]:
    """A campaign in which somebody tried, told and settled once for all tests here."""
    told = Acted(two_kinds(consent))
    tell(told)
    told.agree(over(told), "Ada")
    return told, told.card()


def page_of(told: Acted, card: Scorecard) -> str:
    document = told.documents[told.record.document]
    signed = signed_words(Layout(Path("campaigns/p-1")), document, card, "Ada", told.now)
    text = render_signature_page("0" * 64, told.record.seq + 1, signed).decode().partition("</head>")[2]
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", text)).split())


@pytest.mark.parametrize("way", WAYS, ids=[way.tell.__name__ for way in WAYS])
def test_it_stands_on_the_page_to_sign_with_what_it_comes_to(way: Way) -> None:
    told, card = tried(way.tell)
    mine = [act for act in card.acts if act.kind not in ("attest", "agree")]
    assert (card.outcome, tuple(act.without for act in mine)) == (way.outcome, way.without), card.summary
    page = page_of(told, card)
    assert way.said in page and card.summary.partition(":")[0].capitalize() in page
    for act in (act for act in mine if act.matters):
        assert f"event {act.number}: Bo" in page and f"one-sided: site has not agreed {act.without}" in page
    assert card.outcome != "accepted" or any(act.without == NOT_KNOWN for act in mine), "nothing is accepted in silence"


@pytest.mark.parametrize("way", WAYS, ids=[way.tell.__name__ for way in WAYS])
def test_a_program_that_shares_no_code_comes_to_the_same(way: Way) -> None:
    told, card = tried(way.tell)
    again = script.settle(told.lines, told.plans)
    asked = [act for act in card.acts if act.kind != "agree" and act.standing != NO_EFFECT]
    assert (card.outcome, card.without_acts) == (again["outcome"], again["without_acts"])
    assert {str(act.number): act.without for act in asked} == again["without"]
    assert [act.number for act in card.acts if act.takes] == again["takes"]


def public_key(number: int) -> str:
    blob = b"\0\0\0\x0bssh-ed25519\0\0\0\x20" + bytes([number]) * 32
    return f"ssh-ed25519 {base64.b64encode(blob).decode()}"


KEYS = {name: public_key(number) for number, name in enumerate(("Ada", "Bo", "nobody"))}


@pytest.mark.parametrize(
    ("signed", "outcome"),
    [
        ((("Bo", "Bo"),), "disputed"),
        ((("Bo", "Bo"), ("Ada", "Ada")), "accepted with restrictions"),
        ((("Bo", "Bo"), ("Ada", "Bo")), "disputed"),
        ((("Bo", "Bo"), ("Ada", "nobody")), "disputed"),
        ((("Bo", "Bo"), ("Ada", "")), "disputed"),
    ],
    ids=["one party", "both parties", "the key of the other party", "a key of nobody", "no key"],
)
def test_where_the_plan_gives_keys_an_agreement_counts_for_whose_key_signed_it(
    signed: tuple[tuple[str, str], ...], outcome: str
) -> None:
    """Of a waiver by Bo; ``signed``: under whose name, and with whose key."""
    parties = tuple(replace(one, keys=(KEYS[one.people[0]],)) for one in PARTIES)
    told = Acted(replace(two_kinds(), parties=parties))
    speed(told)
    number, worth = waive(told), dict[int, Signed]()
    days(told)
    told.now = max(told.now, 3000.0)
    told.say("finding", {"kind": "time_is_up", "component": "days"})
    evidence = [{"name": "log", "sha256": "ab" * 32, "bytes": 3}]
    said = {"component": "hands", "procedure": "diag", "met": True, "by": "Bo", "evidence": evidence}
    seen = told.say("attested", said, "seen")
    told.end()
    for name, key in (*((name, name) for name in ("Ada", "Bo")), *signed):
        about = number if len(worth) > 1 else seen  # what both saw is agreed to first
        event = told.agree(about, name, signature="armour" if key else "")
        worth[event] = Signed(KEYS[key], f"SHA256:{key}") if key else Signed()
    assert told.card(signatures=worth).outcome == outcome


BAD: dict[Tell, tuple[bool, bool, float]] = {
    backdated_restart: (False, True, 100.0),
    rule_on_slow_passes: (False, False, 80.0),
    loosened_bound: (True, False, 100.0),
}


@pytest.mark.parametrize("tell", BAD, ids=[tell.__name__ for tell in BAD])
def test_without_anybody_s_try_it_is_rejected(tell: Tell) -> None:
    """Each try begins with one of these three campaigns, or with one that is accepted."""
    bad_speed, bad_days, rate = BAD[tell]

    def as_it_was(told: Acted) -> None:
        speed(told, bad_speed, rate)
        days(told, bad_days)

    def good(told: Acted) -> None:
        speed(told, bad=False)
        days(told)

    assert tried(as_it_was)[1].outcome == "rejected"
    assert tried(good)[1].outcome == "accepted"


CONSENT: dict[Tell, tuple[str, str]] = {
    slow_node_out_and_in: ("exclude", "disputed: accepted if every party agrees to the exclusion of nodes by Bo"),
    cap_that_starves: ("cap", "disputed: accepted if every party agrees to the cap by Bo"),
    loosened_bound: ("amend", "rejected: 1 criterion of 7 not met (speed: done)"),
    waiver_ahead: ("waive", "rejected: 1 criterion of 7 not met (speed: done)"),
    cancel_what_would_miss: ("cancel", "disputed: rejected if"),
}


@pytest.mark.parametrize("tell", CONSENT, ids=[tell.__name__ for tell in CONSENT])
def test_where_the_plan_asks_for_consent_it_has_no_effect_or_leaves_it_open(tell: Tell) -> None:
    kind, words = CONSENT[tell]
    told, card = tried(tell, (kind,))
    assert card.summary.startswith(words)
    assert script.settle(told.lines, told.plans)["outcome"] == card.outcome


# ---- those that are tried on files -----------------------------------------------------------------------------------


def save(told: Acted, root: Path) -> Layout:
    """The campaign as its conductor would have left it."""
    layout = Layout(root)
    for folder in (layout.log, layout.documents, layout.packs):
        folder.mkdir(parents=True, exist_ok=True)
    for name, document in told.documents.items():
        layout.document(name).write_bytes(freeze(document))
    header = msgspec.json.encode(first_header(1)) + b"\n"
    (layout.log / "000001.jsonl").write_bytes(header + b"".join(map(encode_event, told.events)))
    return layout


def test_deleted_and_run_again(tmp_path: Path) -> None:
    """The name is taken for good, and the next campaign's own first words say what became of the first one."""
    document, site = two_kinds(), tmp_path / "site"
    site.mkdir()
    (site / "site.yaml").write_text("site: here\n")
    ready(site)
    first = create_campaign(site / "campaigns", "p-1", freeze(document))
    enter(first, document)
    shutil.rmtree(first.root)
    with pytest.raises(UsageError) as refused:
        refuse_used(site, "p-1")
    assert "p-1" in str(refused.value)
    second = create_campaign(site / "campaigns", "p-2", freeze(document))
    said = enter(second, document)
    assert "second of two campaigns of this plan" in said["words"] and "1 removed" in said["words"]


@pytest.mark.usefixtures("without_figures")
@pytest.mark.parametrize("template", ["<p>Accepted</p>", "<style>* { display: none }</style>", "<!-- <plaintext>"])
def test_a_template_of_ones_own(tmp_path: Path, template: str) -> None:
    """Whatever the site lays out, what was settled stands before it, in its own words."""
    site = tmp_path / "site"
    (site / "templates").mkdir(parents=True)
    (site / "site.yaml").write_text("site: here\n")
    (site / "templates/report.html").write_text(template)
    told, card = tried(loosened_bound)
    block, face = parts_of(make_report(save(told, site / "campaigns/p-1").root, pdf=False).page.read_text())
    text = " ".join(html.unescape(re.sub("<[^>]*>", " ", block)).split())
    assert template in face and template not in block
    assert "disputed: incomplete if the amendment by Bo (event 14) counts, rejected if it does not" in text.replace(
        "Disputed", "disputed"
    )
    assert card.restrictions[-1][1:100] in text


@pytest.mark.usefixtures("without_figures")
def test_a_seal_of_before_under_what_was_done_after_it(tmp_path: Path) -> None:
    """Bo has Ada's word under a seal, and rules a failure away afterwards: the page says that no seal covers that."""
    told = Acted(two_kinds())
    speed(told)
    days(told)
    over(told)
    told.say("sealed", {"digest": "e" * 64, "through": len(told.events), "outcome": "rejected", "by": "Ada"})
    sealed = len(told.events)
    told.say("ruled", {"as": "site", "by": "Bo"}, "a disk", run="r000006")
    page = make_report(save(told, tmp_path / "p-1").root, pdf=False).page.read_text()
    text = " ".join(html.unescape(re.sub("<[^>]*>", " ", page)).replace("\N{NO-BREAK SPACE}", " ").split())
    assert f"covers events 1 to {sealed}, with the outcome rejected" in text
    assert "The record has grown since: 1 event came after this seal, under none" in text
    assert told.card().outcome == "disputed" and f"the ruling by Bo (event {sealed + 1})" in text
