"""Signatures under a seal: several signers, each with a key of their own; good, unknown, bad and expired are told apart."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import warm_commands

Run = Callable[..., subprocess.CompletedProcess[str]]

pytestmark = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="there is no ssh-keygen")


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two key pairs: ``ada`` and ``bo``."""
    folder = tmp_path_factory.mktemp("keys")
    for name in ("ada", "bo"):
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(folder / name)], check=True
        )
    return folder


@pytest.fixture(scope="session")
def signed_once(finished: Path, keys: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The finished campaign, sealed, and signed by Ada and Bo."""
    site = Path(shutil.copytree(finished, tmp_path_factory.mktemp("signed") / "site", symlinks=True))
    for name, by in (("ada", "Ada Example"), ("bo", "Bo <b>Iron</b>")):
        done = command(site, "seal", "--by", by, "--sign", str(keys / name), "--json")
        assert done.returncode == 0, done.stderr
    return site


@pytest.fixture
def signed(signed_once: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(signed_once, tmp_path / "site", symlinks=True))


def command(site: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:

    return warm_commands.run(words, cwd=site, env=os.environ | environment, capture_output=True, text=True, check=False)


def fingerprint(key: Path) -> str:
    said = subprocess.run(["ssh-keygen", "-lf", f"{key}.pub"], capture_output=True, text=True, check=True).stdout
    return said.split()[1]


def allow(folder: Path, *lines: tuple[str, Path]) -> Path:
    """A file of allowed signers: words before each key, and the key."""
    file = folder / "allowed_signers"
    file.write_text("".join(f"{words} {key.with_name(key.name + '.pub').read_text()}" for words, key in lines))
    return file


def verified(site: Path, *words: str) -> tuple[int, dict[str, Any]]:
    done = command(site, "verify", *words, "--json")
    assert done.stderr == "", done.stderr
    return done.returncode, json.loads(done.stdout)


def statuses(found: dict[str, Any]) -> dict[str, str]:
    return {one["by"]: one["status"] for one in found["signatures"]}


def test_two_people_sign_the_same_digest_and_the_record_does_not_change(
    finished: Path, keys: Path, tmp_path: Path
) -> None:
    site = Path(shutil.copytree(finished, tmp_path / "site", symlinks=True))
    first = json.loads(command(site, "seal", "--by", "Ada", "--sign", str(keys / "ada"), "--json").stdout)
    campaign = site / "campaigns/p-1"
    before = {
        path: path.read_bytes() for path in campaign.rglob("*") if path.is_file() and path.name != "signature.html"
    }
    digest = first["digest"]
    second = json.loads(
        command(site, "seal", "--by", "Bo", "--sign", str(keys / "bo"), "--digest", digest[:12], "--json").stdout
    )
    assert second["digest"] == digest
    assert [one["fingerprint"] for one in second["signatures"]] == [fingerprint(keys / "ada"), fingerprint(keys / "bo")]
    assert all(path.read_bytes() == content for path, content in before.items()), "nothing that was there is another"
    again = json.loads(command(site, "seal", "--by", "Ada", "--sign", str(keys / "ada"), "--json").stdout)
    assert again["signatures"] == second["signatures"], "a key signs a seal once"
    other = command(site, "seal", "--by", "Bo", "--sign", str(keys / "ada"))
    assert (other.returncode, other.stdout) == (2, "")
    assert f"this key signed the seal {digest[:16]} already, as Ada; nothing was signed for Bo" in other.stderr


def test_who_signs_an_older_seal_is_told_of_the_newer_one_and_of_what_came_after(
    finished: Path, keys: Path, tmp_path: Path
) -> None:
    site = Path(shutil.copytree(finished, tmp_path / "site", symlinks=True))
    first = json.loads(command(site, "seal", "--by", "Ada", "--sign", str(keys / "ada"), "--json").stdout)
    counter = ("seal", "--by", "Bo", "--sign", str(keys / "bo"), "--digest", first["digest"])
    assert json.loads(command(site, *counter, "--json").stdout)["newer"] == ""
    assert command(site, "rule", "r000001", "--as", "site", "--by", "Ada", "--because", "a disk").returncode == 0
    newest = json.loads(command(site, "seal", "--by", "Ada", "--json").stdout)
    told = command(site, *counter).stdout
    assert f"a newer seal stands: outcome {newest['outcome']}, sealed by Ada" in told and newest["digest"][:16] in told
    assert "Ada ruled r000001 as site" in told
    pages = {
        name: site / "campaigns/p-1" / name for name in ("signature.html", f"signature-{first['digest'][:16]}.html")
    }
    shown = [
        digest["digest"][:8] in path.read_text() for digest, path in zip((newest, first), pages.values(), strict=True)
    ]
    assert shown == [True, True], "each page is of its own seal"
    assert str(pages[f"signature-{first['digest'][:16]}.html"]) in told.replace("\n", "")


@pytest.mark.parametrize(("seconds", "expected"), [(1, "good"), (-1, "expired")])
def test_a_key_that_ended_after_it_signed_holds_and_its_end_is_told(
    signed: Path, keys: Path, tmp_path: Path, seconds: int, expected: str
) -> None:
    _, found = verified(signed, "--allowed-signers", str(allow(tmp_path, ("ada@site", keys / "ada"))))
    at = datetime.fromisoformat(next(one["at"] for one in found["signatures"] if one["by"] == "Ada Example"))
    end = at.replace(microsecond=0).astimezone() + timedelta(seconds=seconds)
    while datetime.now().astimezone() <= end + timedelta(seconds=1):
        time.sleep(0.1)  # ssh-keygen has the clock of the machine
    late = (f'ada@site valid-before="{end:%Y%m%d%H%M%S}"', keys / "ada")
    status, found = verified(signed, "--allowed-signers", str(allow(tmp_path, late, ("bo@iron", keys / "bo"))))
    assert (status, statuses(found)["Ada Example"]) == (0 if expected == "good" else 1, expected)
    (why,) = [one["why"] for one in found["signatures"] if one["by"] == "Ada Example"]
    assert ("has ended since" in why) == (expected == "good")


def certify(folder: Path, key: Path, *words: str) -> tuple[Path, Path]:
    """The key of an authority, and a certificate that it made of a copy of a key."""
    authority = folder / "authority"
    if not authority.exists():
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(authority)], check=True)
    copy = Path(shutil.copy(key, folder / "certified"))
    shutil.copy(f"{key}.pub", f"{copy}.pub")
    subprocess.run(["ssh-keygen", "-q", "-s", str(authority), "-I", "x", *words, f"{copy}.pub"], check=True)
    return authority, copy.with_name("certified-cert.pub")


def test_a_certificate_that_ended_after_it_signed_holds_and_its_end_is_told(
    finished: Path, keys: Path, tmp_path: Path
) -> None:
    site = Path(shutil.copytree(finished, tmp_path / "site", symlinks=True))
    assert (
        command(site, "seal", "--by", "Bo").returncode == 0
    )  # so that little comes between the certificate and its signature
    end = datetime.now().astimezone().replace(microsecond=0) + timedelta(seconds=4)
    period = f"20200101:{end:%Y%m%d%H%M%S}"
    authority, certificate = certify(tmp_path, keys / "ada", "-n", "ada@site", "-V", period)
    assert command(site, "seal", "--by", "Ada", "--sign", str(certificate)).returncode == 0
    while datetime.now().astimezone() <= end + timedelta(seconds=1):
        time.sleep(0.1)  # ssh-keygen has the clock of the machine
    allowed = allow(tmp_path, ("ada@site cert-authority", authority))
    status, found = verified(site, "--allowed-signers", str(allowed))
    assert (status, statuses(found)) == (0, {"Ada": "good"})
    assert [one["why"] for one in found["signatures"]] == [
        "the certificate was valid when the signature says that it was made, and has ended since"
    ]


@pytest.mark.parametrize(
    ("words", "expected", "why"),
    [
        (("-n", "ada@site"), "good", ""),
        (("-n", "ada@site", "-V", "20200101:20200102"), "expired", "the certificate was not valid at the time"),
        (("-n", "eve@site"), "unknown key", "has its authority with a name that the certificate is for"),
        (("-n", "eve@site", "-V", "20200101:20200102"), "unknown key", "has its authority with a name"),
    ],
)
def test_what_is_wrong_with_a_certificate_is_told(
    finished: Path, keys: Path, tmp_path: Path, words: tuple[str, ...], expected: str, why: str
) -> None:
    site = Path(shutil.copytree(finished, tmp_path / "site", symlinks=True))
    authority, certificate = certify(tmp_path, keys / "ada", *words)
    assert command(site, "seal", "--by", "Ada", "--sign", str(certificate)).returncode == 0
    status, found = verified(site, "--allowed-signers", str(allow(tmp_path, ("ada@site cert-authority", authority))))
    assert (status, statuses(found)) == (0 if expected == "good" else 1, {"Ada": expected})
    assert why in found["signatures"][0]["why"]


def test_good_unknown_and_expired_are_told_apart(signed: Path, keys: Path, tmp_path: Path) -> None:
    both = allow(tmp_path, ("ada@site", keys / "ada"), ("bo@iron", keys / "bo"))
    status, found = verified(signed, "--allowed-signers", str(both))
    assert (status, statuses(found)) == (0, {"Ada Example": "good", "Bo <b>Iron</b>": "good"})
    assert [one["principal"] for one in found["signatures"]] == ["ada@site", "bo@iron"]

    status, found = verified(signed, "--allowed-signers", str(allow(tmp_path, ("ada@site", keys / "ada"))))
    assert (status, statuses(found)) == (1, {"Ada Example": "good", "Bo <b>Iron</b>": "unknown key"})

    late = allow(tmp_path, ('ada@site valid-before="20200101"', keys / "ada"), ("bo@iron", keys / "bo"))
    status, found = verified(signed, "--allowed-signers", str(late))
    assert (status, statuses(found)) == (1, {"Ada Example": "expired", "Bo <b>Iron</b>": "good"})

    other = allow(tmp_path, ('ada@site namespaces="git"', keys / "ada"), ("bo@iron", keys / "bo"))
    status, found = verified(signed, "--allowed-signers", str(other))
    assert (status, statuses(found)["Ada Example"]) == (1, "unknown key")


def test_without_a_file_of_signers_a_sound_signature_is_by_an_unknown_key(signed: Path) -> None:
    status, found = verified(signed)
    assert (status, set(statuses(found).values())) == (0, {"unknown key"})
    assert any("--allowed-signers" in line for line in found["unchecked"])


def test_the_site_names_its_allowed_signers(signed: Path, keys: Path) -> None:
    allow(signed, ("ada@site", keys / "ada"))
    (signed / "site.yaml").write_text("site: story\nallowed_signers: allowed_signers\n")
    status, found = verified(signed)
    assert (status, statuses(found)) == (0, {"Ada Example": "good", "Bo <b>Iron</b>": "unknown key"})


@pytest.mark.parametrize(
    ("ending", "old", "new"),
    [
        (".signed", b"Ada", b"Eve"),
        (".signed", b"digest: ", b"digest: 0"),
        (".signed", b"shakedown seal", b"something else"),
        (".signed.sig", b"-----BEGIN", b"-----begin"),
        (".signed.sig", b"U1NIU0lH", b"U1NIU0lI"),
    ],
)
def test_a_changed_signature_is_bad_whoever_is_asked(
    signed: Path, keys: Path, ending: str, old: bytes, new: bytes
) -> None:
    changed = 0
    for path in (signed / "campaigns/p-1/seals").glob(f"*{ending}"):
        if b"Ada" in path.with_name(path.name.removesuffix(".sig")).read_bytes():
            path.write_bytes(path.read_bytes().replace(old, new, 1))
            changed += 1
    assert changed == 1
    status, found = verified(signed)
    assert status == 1
    assert sorted(one["status"] for one in found["signatures"]) == ["bad", "unknown key"]
    page = command(signed, "seal", "--by", "Bo", "--json")
    assert page.returncode == 0
    assert "NO VALID SIGNATURE" in (signed / "campaigns/p-1/signature.html").read_text()


def test_a_signature_of_another_campaign_or_seal_is_bad(signed: Path) -> None:
    seals = signed / "campaigns/p-1/seals"
    path = min(seals.glob("*.signed"))
    digest, key, _ = path.name.split(".")
    (old,) = seals.glob(f"{digest}.json")
    assert command(signed, "rule", "r000002", "--as", "site", "--by", "A", "--because", "b").returncode == 0
    assert command(signed, "seal", "--by", "Ada").returncode == 0
    (new,) = (other for other in seals.glob("*.json") if other != old)
    shutil.copy(path, seals / f"{new.stem}.{key}.signed")
    shutil.copy(f"{path}.sig", seals / f"{new.stem}.{key}.signed.sig")
    status, found = verified(signed)
    assert status == 1
    assert [one["status"] for one in found["signatures"] if one["digest"] == new.stem] == ["bad"]


def test_asking_for_known_signers_where_nobody_signed_is_not_met(site: Path, keys: Path, tmp_path: Path) -> None:
    assert command(site, "seal", "--by", "Ada").returncode == 0
    status, found = verified(site)
    assert (status, found["signatures"]) == (0, [])
    status, _ = verified(site, "--allowed-signers", str(allow(tmp_path, ("ada@site", keys / "ada"))))
    assert status == 1


def test_the_pages_show_who_signed_with_which_key(signed: Path, keys: Path) -> None:
    assert command(signed, "report", "--no-pdf").returncode in (0, 1)
    for name in ("signature.html", "report.html"):
        page = (signed / "campaigns/p-1" / name).read_text()
        assert fingerprint(keys / "ada") in page and fingerprint(keys / "bo") in page, name
        assert "Ada Example" in page and "Bo &lt;b&gt;Iron&lt;/b&gt;" in page and "<b>Iron" not in page
    said = command(signed, "verify").stdout
    assert f"ssh-ed25519 key {fingerprint(keys / 'ada')}" in said


def test_what_was_signed_can_be_checked_with_ssh_keygen_alone(signed: Path, keys: Path, tmp_path: Path) -> None:
    for path in (signed / "campaigns/p-1/seals").glob("*.signed"):
        words = ["-n", "shakedown-seal", "-s", f"{path}.sig"]
        done = subprocess.run(["ssh-keygen", "-Y", "check-novalidate", *words], input=path.read_bytes(), check=False)
        assert done.returncode == 0
        assert f"digest: {path.name.partition('.')[0]}\n" in path.read_text()


def test_nobody_signs_a_damaged_record(signed: Path, keys: Path) -> None:
    digest = next((signed / "campaigns/p-1/seals").glob("*.json")).stem
    log = signed / "campaigns/p-1/log/000001.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"passed"', b'"Passed"', 1))
    done = command(signed, "seal", "--by", "Ada", "--sign", str(keys / "ada"), "--digest", digest)
    assert done.returncode == 3 and "the record of p-1 is damaged: log/000001.jsonl, line " in done.stderr


def test_what_cannot_sign_is_said_before_anything_is_sealed(site: Path, keys: Path, tmp_path: Path) -> None:
    log = site / "campaigns/p-1/log"
    before = sorted(path.name for path in log.glob("*.jsonl"))
    done = command(site, "seal", "--by", "Ada", "--sign", "no/such/key")
    assert done.returncode == 2 and done.stderr.startswith("error: the key no/such/key cannot be read: ")
    done = command(site, "seal", "--by", "Ada", "--sign", str(keys / "ada"), PATH=str(tmp_path))
    assert done.returncode == 2 and done.stderr.startswith("error: there is no ssh-keygen here")
    done = command(site, "verify", "--allowed-signers", str(keys / "ada.pub"), PATH=str(tmp_path))
    assert done.returncode == 2 and done.stderr.startswith("error: there is no ssh-keygen here")
    done = command(site, "seal", "--by", "Ada", "--digest", "0123456789")
    assert done.returncode == 2 and "--sign KEY" in done.stderr
    assert sorted(path.name for path in log.glob("*.jsonl")) == before
    done = command(site, "seal", "--by", "Ada", "--sign", str(site / "site.yaml"))
    assert done.returncode == 2 and "ssh-keygen did not sign with" in done.stderr and "the seal" in done.stderr
    assert command(site, "verify").returncode == 0
    done = command(site, "verify", "--allowed-signers", "no/such/file")
    assert done.returncode == 2 and "cannot be read" in done.stderr


def test_without_ssh_keygen_signatures_are_listed_and_not_checked(signed: Path, tmp_path: Path) -> None:
    done = command(signed, "verify", "--json", PATH=str(tmp_path))
    assert (done.returncode, set(statuses(json.loads(done.stdout)).values())) == (0, {"not checked"})
