"""Agreements that are signed with keys: what counts, what is forged, and how keys change."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from acts_story import CASES, Acted, plan
from msgspec.structs import replace

from shakedown.conductor.commands.agreeing import why_not_agree
from shakedown.conductor.record.settling import signatures_under
from shakedown.conductor.record.signing import counter_seals, sides_of, signed_for
from shakedown.events.agreements import agreed_text, sign_agreement
from shakedown.events.signatures import Signature, fingerprint_of
from shakedown.metrics.judging.consent import Signed
from shakedown.metrics.judging.people import acts_of
from shakedown.metrics.judging.scorecard import Scorecard
from shakedown.model.nouns import Party
from shakedown.plans.parties import Speaker
from shakedown.plans.schema.scalars import InvalidValue
from shakedown.report.page.signature import signature_words

NOW = "2026-11-23T10:00:00.000Z"


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Keys ada, bo, new and mallory."""
    folder = tmp_path_factory.mktemp("keys")
    for name in ("ada", "bo", "new", "mallory"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(folder / name)]
        subprocess.run(words, check=True, capture_output=True, stdin=subprocess.DEVNULL)
    return folder


def public(keys: Path, name: str) -> str:
    return " ".join((keys / f"{name}.pub").read_text().split()[:2])


def parties(keys: Path, site: str = "ada", vendor: str = "bo") -> tuple[Party, ...]:
    return (Party("site", ("Ada",), (public(keys, site),)), Party("vendor", ("Bo",), (public(keys, vendor),)))


def campaign(keys: Path) -> Acted:
    """One run failed and the criterion is waived: event 5."""
    told = Acted(plan(parties(keys)))
    for place in range(6):
        told.run("speed", CASES[place % 3], "failed" if place == 5 else "passed", place // 3 + 1)
    said = {"what": "criterion", "component": "speed", "name": "done", "restriction": "less", "by": "Ada"}
    told.say("waived", said, "firmware")
    return told


def sign(told: Acted, key: Path, number: int, by: str, **other: str) -> int:
    """An agreement to an act, signed; ``other``: what the event says instead of what was signed."""
    act = next(act for act in acts_of(told.record) if act.number == number)
    text = agreed_text(told.record.identity, [(number, act.digest)], by, "so be it", NOW)
    value = {"signed_at": NOW, "signature": sign_agreement(text, key)} | other
    return told.agree(number, by, **value)


def card(told: Acted) -> Scorecard:
    return told.card(signatures=signatures_under(told.record))


def standing(told: Acted) -> tuple[str, tuple[str, ...]]:
    act = next(act for act in card(told).acts if act.kind == "waive")
    return act.standing, act.missing


def test_each_party_with_keys_signs_and_the_page_names_the_keys(keys: Path) -> None:
    told = campaign(keys)
    number = told.record.waivers[0].seq
    sign(told, keys / "bo", number, "Bo")
    assert standing(told) == ("one-sided", ("site",))
    sign(told, keys / "ada", number, "Ada")
    assert standing(told) == ("agreed", ())
    act = next(act for act in card(told).acts if act.kind == "waive")
    line = subprocess.run(
        ["ssh-keygen", "-lf", str(keys / "bo.pub")], capture_output=True, text=True, check=True
    ).stdout
    assert act.agreed[0].startswith("vendor: Bo, ") and act.agreed[0].endswith(f"with the key {line.split()[1]}")


def test_a_name_is_not_enough_where_the_plan_gives_keys(keys: Path) -> None:
    told = campaign(keys)
    number = told.record.waivers[0].seq
    told.agree(number, "Bo")
    assert standing(told) == ("one-sided", ("site", "vendor"))
    assert card(told).told == (
        f"event {number + 1}: the agreement by Bo counts for nothing: it is not signed, and the plan gives vendor keys",
    )


def test_a_key_of_one_party_under_a_name_of_the_other_counts_for_nothing(keys: Path) -> None:
    """It would read as if Ada, of the site, were the vendor. A name that the plan gives to nobody is that of the key's holder."""
    told = campaign(keys)
    number = told.record.waivers[0].seq
    sign(told, keys / "bo", number, "Ada")
    assert standing(told) == ("one-sided", ("site", "vendor"))
    why = "its key is of vendor, and Ada speaks for site"
    assert card(told).told == (f"event {number + 1}: the agreement by Ada counts for nothing: {why}",)
    act = next(act for act in acts_of(told.record) if act.number == number)
    bo = Signed(public(keys, "bo"), "SHA256:bo")
    refused = why_not_agree(parties(keys), told.record, [(number, act.digest)], "Ada", bo)
    assert refused.startswith(why) and "--by the name of who holds the key SHA256:bo" in refused
    sign(told, keys / "bo", number, "B. Iron")
    assert standing(told) == ("one-sided", ("site",))


def test_a_seal_signed_with_a_key_of_one_party_under_a_name_of_the_other_says_so(keys: Path) -> None:
    both, digest = parties(keys), "ab" * 32
    by = {name: fingerprint for fingerprint, name in sides_of(both).items()}
    signature = Signature(digest, "Ada", NOW, "ssh-ed25519", by["vendor"], "f", "good")
    named = "vendor (its key is of vendor, and Ada speaks for site)"
    assert counter_seals({digest: both}, [signature]) == [
        f"seal abababab: signed not for site, for {named} by Ada: not by every party"
    ]
    assert signed_for(both, [signature]) == {"f": named}
    assert signature_words(signature, named).startswith(f"Ada for {named}, ")
    assert signed_for(both, [replace(signature, by="Bo")]) == {"f": "vendor"}


def test_a_key_of_neither_party_counts_for_nothing(keys: Path) -> None:
    told = campaign(keys)
    sign(told, keys / "mallory", told.record.waivers[0].seq, "Bo")
    assert standing(told)[0] == "one-sided"
    assert card(told).told[0].endswith("its key is of neither party")


@pytest.mark.parametrize("name, said", [("by", "Somebody Else"), ("signed_at", "2027-01-01T00:00:00.000Z")])
def test_a_signature_of_another_text_counts_for_nothing(keys: Path, name: str, said: str) -> None:
    told = campaign(keys)
    number = told.record.waivers[0].seq
    act = next(act for act in acts_of(told.record) if act.number == number)
    text = agreed_text(told.record.identity, [(number, act.digest)], "Bo", "so be it", NOW)
    value = {
        "acts": [[number, act.digest]],
        "by": "Bo",
        "signed_at": NOW,
        "signature": sign_agreement(text, keys / "bo"),
    }
    told.say("agreed", value | {name: said}, "so be it")
    assert standing(told)[1] == ("site", "vendor")
    assert card(told).told[0].endswith("counts for nothing: the key did not sign these words")


def test_a_signature_for_another_act_counts_for_nothing(keys: Path) -> None:
    """Its numbers are put in place of those that were signed."""
    told = campaign(keys)
    first = told.record.waivers[0].seq
    other = told.say("changed", {"by": "Ada"}, "new firmware")
    sign(told, keys / "bo", other, "Bo")
    signature = told.events[-1].value["signature"]
    act = next(act for act in acts_of(told.record) if act.number == first)
    forged = {"acts": [[first, act.digest]], "by": "Bo", "signed_at": NOW, "signature": signature}
    told.say("agreed", forged, "so be it")
    assert standing(told)[1] == ("site", "vendor")
    assert card(told).told[0].endswith("the key did not sign these words")


def test_a_signature_for_another_campaign_counts_for_nothing(keys: Path) -> None:
    """The same plan, the same acts at the same places: the event that began the campaign is another."""
    first, second = campaign(keys), campaign(keys)
    first.events[0] = replace(first.events[0], value=first.events[0].value | {"campaign": "p-0"})
    number = first.record.waivers[0].seq
    sign(first, keys / "bo", number, "Bo")
    assert standing(first)[1] == ("site",)
    second.say("agreed", first.events[-1].value, "so be it")
    assert standing(second)[1] == ("site", "vendor")
    assert card(second).told[0].endswith("the key did not sign these words")


def test_what_is_said_of_an_act_afterwards_breaks_the_agreement(keys: Path) -> None:
    told = campaign(keys)
    number = told.record.waivers[0].seq
    sign(told, keys / "bo", number, "Bo")
    event = told.events[number - 1]
    told.events[number - 1] = replace(event, value=event.value | {"restriction": "none at all"})
    assert standing(told)[1] == ("site", "vendor")
    assert "is not what event" in card(told).told[0]


def test_what_is_no_signature_at_all_is_told(keys: Path) -> None:
    told = campaign(keys)
    told.agree(told.record.waivers[0].seq, "Bo", signed_at=NOW, signature="nonsense \u2028 \x00")
    assert card(told).told[0].endswith("it is no SSH signature")


def test_without_ssh_keygen_a_signature_counts_for_nothing_and_that_is_told(
    keys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = campaign(keys)
    sign(told, keys / "bo", told.record.waivers[0].seq, "Bo")
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert standing(told)[1] == ("site", "vendor")
    assert card(told).told[0].endswith("there is no ssh-keygen here to check its signature")


@pytest.mark.parametrize("whole", [True, False], ids=["both", "one of them"])
def test_a_seal_closes_once_the_keys_of_both_parties_signed_that_they_agree_to_it(keys: Path, whole: bool) -> None:
    """Who made it did so by name, which is not enough where the plan gives keys; a key of nobody closes nothing."""
    told = campaign(keys)
    told.end()
    digest = "e" * 64
    seal = told.say("sealed", {"digest": digest, "through": len(told.events), "outcome": "rejected", "by": "Ada"})

    def agreed(key: str, by: str, text_of: str = digest) -> str:
        text = agreed_text(told.record.identity, [(seal, text_of)], by, "so be it", NOW)
        value = {"acts": [[seal, digest]], "by": by, "signed_at": NOW, "signature": sign_agreement(text, keys / key)}
        told.say("agreed", value, "so be it")
        return "".join(card(told).told[-1:])

    assert agreed("bo", "Bo") == ""
    assert agreed("mallory", "Ada").endswith("its key is of neither party")
    assert agreed("ada", "Ada", text_of="f" * 64).endswith("the key did not sign these words")
    if whole:
        agreed("ada", "Ada")
    late = told.say("ruled", {"as": "site", "by": "Bo"}, "a disk", run="r000006")
    standing_of = {act.number: act.standing for act in card(told).acts}
    assert standing_of[late] == ("no effect" if whole else "one-sided")


def test_a_seal_after_which_somebody_acted_is_agreed_to_no_more(keys: Path) -> None:
    told = campaign(keys)
    seal = told.say("sealed", {"digest": "e" * 64, "through": 9, "outcome": "accepted", "by": "Ada"})
    bo = Signed(public(keys, "bo"), "SHA256:bo")
    assert why_not_agree(parties(keys), told.record, [(seal, "e" * 64)], "Bo", bo) == ""
    act = told.say("changed", {"by": "Ada"}, "new firmware")
    refused = why_not_agree(parties(keys), told.record, [(seal, "e" * 64)], "Bo", bo)
    assert f"event {act} came after the seal of event {seal}" in refused
    open_seal = told.say("sealed", {"digest": "d" * 64, "through": 10, "outcome": "disputed", "by": "Ada"})
    refused = why_not_agree(parties(keys), told.record, [(open_seal, "d" * 64)], "Bo", bo)
    assert "has the outcome disputed, which closes nothing" in refused


def _amended(told: Acted, keys: Path, **names: str) -> int:
    return told.say("amended", {"document": told.keep(plan(parties(keys, **names))), "by": "Ada"}, "a new key")


def test_a_key_changes_with_the_old_one_only(keys: Path) -> None:
    told = campaign(keys)
    number = told.record.waivers[0].seq
    amendment = _amended(told, keys, vendor="new")
    sign(told, keys / "new", number, "Bo")
    assert standing(told)[1] == ("site", "vendor")
    sign(told, keys / "new", amendment, "Bo")  # the new key cannot put itself into force
    sign(told, keys / "ada", amendment, "Ada")  # nor can the other party
    sign(told, keys / "new", number, "Bo")
    assert standing(told)[1] == ("site", "vendor")
    assert any("those that were named before have not agreed" in text for text in card(told).told)
    sign(told, keys / "bo", amendment, "Bo")
    sign(told, keys / "new", number, "Bo")
    assert standing(told)[1] == ("site",)
    assert not any("those that were named before" in text for text in card(told).told)


def test_parties_that_an_amendment_takes_out_still_count(keys: Path) -> None:
    told = campaign(keys)
    told.say("amended", {"document": told.keep(plan(())), "by": "Ada"}, "no parties")
    assert standing(told) == ("one-sided", ("site", "vendor"))


def test_consent_that_one_party_alone_adds_is_not_asked_for(keys: Path) -> None:
    """Else either of them could leave what the other one says later without effect, or an outcome disputed."""
    told = Acted(plan(parties(keys)))
    told.run("speed", CASES[0], "failed")
    amendment = told.say("amended", {"document": told.keep(plan(parties(keys), ("waive",))), "by": "Bo"}, "more")
    said = {"what": "criterion", "component": "speed", "name": "done", "restriction": "less", "by": "Ada"}
    told.say("waived", said, "firmware")
    assert standing(told)[0] == "one-sided"
    why = "asks for consent to other kinds of acts, and not every party has agreed to it: what was asked for before counts"
    assert card(told).told == (f"event {amendment}: the amendment {why}",)
    sign(told, keys / "bo", amendment, "Bo")
    sign(told, keys / "ada", amendment, "Ada")
    told.say("waived", said, "firmware, again")
    assert card(told).acts[-1].standing == "no effect" and card(told).told == ()


def test_consent_that_an_amendment_takes_out_is_still_asked_for(keys: Path) -> None:
    told = Acted(plan(parties(keys), ("waive",)))
    told.run("speed", CASES[0], "failed")
    amendment = told.say("amended", {"document": told.keep(plan(parties(keys))), "by": "Ada"}, "less")
    said = {"what": "criterion", "component": "speed", "name": "done", "restriction": "less", "by": "Ada"}
    told.say("waived", said, "firmware")
    assert standing(told)[0] == "no effect"
    sign(told, keys / "bo", amendment, "Bo")
    assert standing(told)[0] == "no effect"
    sign(told, keys / "ada", amendment, "Ada")
    told.say("waived", said, "firmware, again")
    assert card(told).acts[-1].standing == "one-sided"


def test_seals_are_counter_sealed_by_keys_of_both_parties(keys: Path) -> None:
    both, digest = parties(keys), "ab" * 32
    prints = sides_of(both)
    assert sorted(prints.values()) == ["site", "vendor"]
    by = {name: fingerprint for fingerprint, name in prints.items()}

    def signed(side: str, status: str = "unknown key") -> Signature:
        return Signature(digest, side.title(), NOW, "ssh-ed25519", by[side], "f", status)

    assert counter_seals({digest: both}, [signed("site")]) == [
        "seal abababab: signed for site by Site, not for vendor: not by every party"
    ]
    assert counter_seals({digest: both}, [signed("site"), signed("vendor", "bad")])[0].endswith("not by every party")
    assert counter_seals({digest: both}, [signed("site"), signed("vendor")])[0].endswith(
        "counter-sealed by every party"
    )
    strange = replace(signed("vendor"), status="unknown key")
    (line,) = counter_seals({digest: both}, [signed("site", "good"), strange], checked=True)
    assert line.count("(with the key of the plan, which the file of allowed signers does not know)") == 1
    same = (both[0], Party("vendor", (), both[0].keys))
    assert sides_of(same) == {} and counter_seals({digest: (Party("site", ("Ada",)),)}, [signed("site")]) == []
    assert fingerprint_of(b"x").startswith("SHA256:")


def test_a_certificate_is_no_key_of_a_party(keys: Path) -> None:
    """It has an end that nobody checks: a key that was certified for last year would sign for ever."""
    words = [
        "ssh-keygen",
        "-q",
        "-s",
        str(keys / "mallory"),
        "-I",
        "bo",
        "-V",
        "20200101:20200201",
        str(keys / "bo.pub"),
    ]
    subprocess.run(words, check=True, capture_output=True, stdin=subprocess.DEVNULL)
    certificate = keys / "bo-cert.pub"
    with pytest.raises(InvalidValue, match="this is a certificate"):
        Speaker().convert(certificate.read_text().strip())

    told = campaign(keys)
    older = Party("vendor", ("Bo",), (public(keys, "bo-cert"),))  # as a plan of an older version may have it
    told = Acted(plan((parties(keys)[0], older)))
    told.run("speed", CASES[0], "failed")
    number = told.say("changed", {"by": "Ada"}, "firmware")
    sign(told, certificate, number, "Bo")
    act = next(one for one in card(told).acts if one.kind == "change")
    assert "vendor" in act.missing
    assert any("made with a certificate" in text for text in card(told).told)
