"""Signatures on a seal, made with people's own SSH keys by ``ssh-keygen -Y``.

``seals/DIGEST.KEY.signed`` is the signed text: the seal's digest, the name of the signer, and the time that the signer gives.
``seals/DIGEST.KEY.signed.sig`` is the signature. KEY is the beginning of the sum of the public key, so each key signs a seal once.
A seal covers none of these files: a later signer adds files and changes none.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import itertools
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec import Struct

from shakedown.events.plain_files import open_plain, read_plain
from shakedown.events.seals import read_seal, seals_of
from shakedown.events.segment_file import sync_directory, unwritable
from shakedown.model.errors import ShakedownError, UsageError
from shakedown.model.layout import Layout
from shakedown.model.ssh_keys import CERTIFICATE, read_key

NAMESPACE = "shakedown-seal"
PROGRAM = "ssh-keygen"
GOOD, UNKNOWN, BAD, EXPIRED, UNCHECKED = "good", "unknown key", "bad", "expired", "not checked"
_FIRST_LINE = "shakedown seal"
_LONGEST_FILE = 64 * 1024  # bytes; a signature has some hundreds
_PATIENCE_S = 30.0
_BEGIN, _END = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"
_OUT_OF_TIME = ("has expired", "not yet valid")


class Signature(Struct, frozen=True):
    """A signature on a seal. ``by`` and ``at`` are what the signer wrote and signed.

    ``status``: good (by a known key, while it is valid), unknown key, bad, expired, or not checked; ``principal``: the owner of the
    key according to the file of allowed signers; ``why``: what is wrong, or what was not checked.
    """

    digest: str
    by: str
    at: str
    key_type: str
    fingerprint: str
    file: str
    status: str = UNCHECKED
    principal: str = ""
    why: str = ""

    @property
    def holds(self) -> bool:
        """Whether the key really signed this seal, even if its owner is not known."""
        return self.status in (GOOD, UNKNOWN, EXPIRED)

    def __str__(self) -> str:
        key = f"{self.key_type} key {self.fingerprint}" if self.fingerprint else f"file {self.file}"
        whose = f" of {self.principal}" if self.principal else ""
        return f"{self.status}: {self.by or 'somebody'}, {self.at or 'at no time'}, {key}{whose}" + (
            f" ({self.why})" if self.why else ""
        )


# ---- signing -------------------------------------------------------------------------------------------------------------


def need_program() -> None:
    """Raise UsageError where ssh-keygen is not installed."""
    if shutil.which(PROGRAM) is None:
        raise UsageError(
            f"there is no {PROGRAM} here, which makes and checks signatures",
            hint="install OpenSSH's client (Debian: openssh-client); without it the digest can be signed on paper",
        )


def check_key(key: Path) -> None:
    """Raise UsageError where a key cannot sign. Used before anything is sealed."""
    need_program()
    try:
        with key.open("rb") as file:
            file.read(1)
    except OSError as error:
        raise UsageError(
            f"the key {key} cannot be read: {error.strerror}",
            hint="--sign takes a private SSH key, or the public one (.pub) of a key that your ssh-agent holds",
        ) from error


def moment() -> str:
    """Purpose: the current time in UTC, precise enough to order signatures."""
    now = datetime.now(UTC)
    return f"{now:%Y-%m-%dT%H:%M:%S}.{now.microsecond // 1000:03d}Z"


def sign_words(text: str, key: Path, namespace: str, hint: str = "") -> bytes:
    """Purpose: ssh-keygen's signature on a text. Errors: UsageError, with ``hint``, where the key cannot sign."""
    check_key(key)
    with tempfile.TemporaryDirectory(prefix="shakedown-") as folder:
        message = Path(folder) / "text"
        message.write_text(text, encoding="utf-8")
        done = _run(["-Y", "sign", "-f", str(key), "-n", namespace, str(message)], asks=True)
        try:
            armour = (Path(folder) / "text.sig").read_bytes() if done.returncode == 0 else b""
        except OSError:
            armour = b""
    if not armour:
        why = _last_line(done.stderr) or f"exit status {done.returncode}"
        raise UsageError(f"{PROGRAM} did not sign with {key}: {why}", hint=hint or None)
    return armour


def check_words(text: str, armour: str, namespace: str) -> tuple[str, str, str]:
    """Purpose: the key (type and key, as in a .pub file) that signed a text, its fingerprint, and what is wrong with the signature.

    The key is "" where the signature is not valid, or cannot be checked here.
    """
    try:
        blob = _public_key(armour.encode("ascii", "replace"))
    except ValueError as error:
        return "", "", str(error)
    if shutil.which(PROGRAM) is None:
        return "", fingerprint_of(blob), f"there is no {PROGRAM} here to check its signature"
    with tempfile.TemporaryDirectory(prefix="shakedown-") as folder:
        file = Path(folder) / "text.sig"
        file.write_text(armour, encoding="ascii", errors="replace")
        done = _run(["-Y", "check-novalidate", "-n", namespace, "-s", str(file)], text.encode())
    if done.returncode != 0:
        return "", fingerprint_of(blob), "the key did not sign these words"
    if CERTIFICATE in _key_type(blob):
        return "", fingerprint_of(blob), "it was made with a certificate, which has an end: sign with the key itself"
    return _as_written(blob), fingerprint_of(blob), ""


def _as_written(blob: bytes) -> str:
    """A public key in the format of a .pub file, without the comment."""
    return f"{_key_type(blob)} {base64.b64encode(blob).decode()}"


def fingerprint_of(blob: bytes) -> str:
    """The fingerprint of a public key, as ssh-keygen prints it."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")


def sign(
    layout: Layout, digest: str, key: Path, by: str, refused: Callable[[str, str], str] = lambda key, fingerprint: ""
) -> Signature:
    """Purpose: sign a seal with a person's own key; ssh-keygen asks for the pass phrase itself.

    A key whose valid signature exists already is not used again. ``refused``: gets a public key (type and key) and its fingerprint,
    and returns why a signature with that key is not accepted, or "". Errors: UsageError where the key cannot sign or is refused;
    RecordError where the signature cannot be written.
    """
    at = moment()
    text = f"{_FIRST_LINE}\ndigest: {digest}\nby: {' '.join(by.split())[:100]}\nat: {at}\n"
    again = f"the seal {digest[:16]} stands; sign it with: shakedown seal --digest {digest[:16]} --sign KEY --by WHO"
    armour = sign_words(text, key, NAMESPACE, again)
    blob = _public_key(armour)
    if why := refused(_as_written(blob), fingerprint_of(blob)):
        raise UsageError(why, hint=again)
    path = seals_of(layout) / f"{digest}.{hashlib.sha256(blob).hexdigest()[:32]}.signed"
    if path.exists():
        already = _check(_read(path), path, None)
        if already.holds:
            return already
    try:
        for target, content in ((path, text.encode()), (path.with_name(f"{path.name}.sig"), armour)):
            draft = target.with_name(f".{target.name}.{os.getpid()}")
            draft.write_bytes(content)
            draft.replace(target)
        sync_directory(path.parent)
    except OSError as error:
        raise unwritable(path, error) from error
    return _check(_read(path), path, None)


# ---- checking ------------------------------------------------------------------------------------------------------------


def signatures_of(layout: Layout, digests: Sequence[str], allowed: Path | None = None) -> list[Signature]:
    """Purpose: every signature on these seals, checked. ``allowed``: a file of allowed signers, as ssh-keygen(1) describes it.

    Without ssh-keygen they are listed as not checked. Raises UsageError where ``allowed`` cannot be read.
    """
    if allowed is not None:
        _check_allowed(allowed)
    found = []
    for digest in digests:
        names = {path.name.removesuffix(".sig") for path in seals_of(layout).glob(f"{digest}.*.signed*")}
        paths = [seals_of(layout) / name for name in names if name.endswith(".signed")]
        found += [_check(_read(path), path, allowed) for path in paths]
    return sorted(found, key=lambda one: (digests.index(one.digest), one.at, one.fingerprint))


def _check_allowed(allowed: Path) -> None:
    try:
        with allowed.open("rb") as file:
            file.read(1)
    except OSError as error:
        raise UsageError(
            f"the file of allowed signers {allowed} cannot be read: {error.strerror}",
            hint="each line of it is: NAME KEY-TYPE KEY, such as 'ada@site ssh-ed25519 AAAA...' (ssh-keygen(1), ALLOWED SIGNERS)",
        ) from error


def _read(path: Path) -> Signature:
    """A signature as its files say, not checked."""
    digest, file = path.name.partition(".")[0], f"seals/{path.name}.sig"
    try:
        words = _words(path)
        armour = read_plain(path.with_name(f"{path.name}.sig"), _LONGEST_FILE)
        key = _public_key(armour)
    except OSError as error:
        return Signature(digest, "", "", "", "", file, BAD, why=f"it cannot be read: {error.strerror}")
    except ValueError as error:
        return Signature(digest, "", "", "", "", file, BAD, why=str(error))
    by, at = words.get("by", ""), words.get("at", "")
    fingerprint = fingerprint_of(key)
    read = Signature(digest, by, at, _key_type(key), fingerprint, file)
    if words.get("digest") != digest:
        return _as(read, BAD, "it is a signature under another digest")
    return read


def _check(read: Signature, path: Path, allowed: Path | None) -> Signature:
    """The signature after ssh-keygen has checked it."""
    if read.status == BAD:
        return read
    if shutil.which(PROGRAM) is None:
        return _as(read, UNCHECKED, f"there is no {PROGRAM} here")
    message = read_plain(path)
    words = ["-n", NAMESPACE, "-s", str(path.with_name(f"{path.name}.sig"))]
    plain = _run(["-Y", "check-novalidate", *words], message)
    if plain.returncode != 0:
        return _as(read, BAD, "the key did not sign these words")
    if allowed is None:
        return _as(read, UNKNOWN, "no file of allowed signers says whose it is")
    why = ""
    certified = CERTIFICATE in read.key_type  # of a certificate ssh-keygen does not say here that it is out of its time
    complaint, principal = _allows(allowed, words, message, None)
    if not principal and (certified or _is_out_of_time(complaint)):
        _, principal = _allows(allowed, words, message, _signed_at(read, path))
        what = "certificate" if certified else "key"
        why = f"the {what} was valid when the signature says that it was made, and has ended since"
    if not principal and certified:
        times = _times_of_certificate(_public_key(read_plain(path.with_name(f"{path.name}.sig"), _LONGEST_FILE)))
        inside = any(_allows(allowed, words, message, one)[1] for one in times)
        return _certificate_not_allowed(read, complaint, inside)
    if not principal:
        return _not_allowed(read, complaint)
    return Signature(
        read.digest, read.by, read.at, read.key_type, read.fingerprint, read.file, GOOD, _printable(principal), why
    )


def _signed_at(read: Signature, path: Path) -> float:
    """When a signature was made, as its text says, and no earlier than its seal; now where it says the future, or no time."""
    now = time.time()
    try:
        sealed = msgspec.json.decode(read_seal(path.with_name(f"{read.digest}.json")).closing.event)["time"]
        at = max(datetime.fromisoformat(read.at).timestamp(), float(sealed))
    except (ShakedownError, OSError, ValueError, TypeError, KeyError, msgspec.DecodeError):
        return now
    return min(at, now)


def _is_out_of_time(complaint: bytes) -> bool:
    text = complaint.decode("utf-8", "replace")
    return any(words in text for words in _OUT_OF_TIME)


def _allows(allowed: Path, words: list[str], message: bytes, when: float | None) -> tuple[bytes, str]:
    """What ssh-keygen complains of, and whose the key is at a moment (now without one); "" where the file does not allow it."""
    time_of = time.strftime("%Y%m%d%H%M%S", time.localtime(when)) if when is not None else ""
    moment_words = ["-O", f"verify-time={time_of}"] if time_of else []  # local time, as that of the file is
    who = _run(["-Y", "find-principals", "-f", str(allowed), *words[2:], *moment_words])
    if who.returncode != 0 or not who.stdout.strip():
        return who.stderr, ""
    principal = who.stdout.decode("utf-8", "replace").splitlines()[0].strip()
    known = _run(["-Y", "verify", "-f", str(allowed), "-I", principal, *words, *moment_words], message)
    return (known.stderr, principal if known.returncode == 0 else "")


def _times_of_certificate(blob: bytes) -> list[float]:
    """The first second and the last one in which a certificate is valid, where it has such; [] where ssh-keygen cannot read it."""
    shown = _run(["-L", "-f", "-"], _as_written(blob).encode()).stdout.decode("utf-8", "replace")
    valid = next((line.split() for line in shown.splitlines() if line.strip().startswith("Valid:")), [])
    times = list[float]()
    for before, word in itertools.pairwise(valid):
        with contextlib.suppress(ValueError):
            times.append(datetime.fromisoformat(word).timestamp() - (before in ("to", "before")))
    return times


def _certificate_not_allowed(read: Signature, complaint: bytes, inside: bool) -> Signature:
    """A signature by a certificate that nothing allows; ``inside``: some line would while the certificate is valid."""
    if inside:
        return _as(read, EXPIRED, "the certificate was not valid at the time that the signature says")
    other = _not_allowed(read, complaint)
    if other.status == EXPIRED:
        return other
    return _as(
        read,
        UNKNOWN,
        "no line of the file of allowed signers has its authority with a name that the certificate is for",
    )


def _not_allowed(read: Signature, complaint: bytes) -> Signature:
    text = complaint.decode("utf-8", "replace")
    line = next((line for line in text.splitlines() if any(words in line for words in _OUT_OF_TIME)), "")
    if line:
        return _as(read, EXPIRED, "the file of allowed signers: " + _printable(line.split(": ", 1)[-1]))
    if "not permitted for use" in text:
        return _as(read, UNKNOWN, f"the file of allowed signers does not permit it for {NAMESPACE}")
    return _as(read, UNKNOWN, "it is not in the file of allowed signers")


def _as(read: Signature, status: str, why: str) -> Signature:
    return Signature(read.digest, read.by, read.at, read.key_type, read.fingerprint, read.file, status, why=why)


def _words(path: Path) -> dict[str, str]:
    """The fields of a signed text. Raises ValueError where the text is not in our format."""
    with open_plain(path) as file:
        text = file.read(_LONGEST_FILE).decode("utf-8", "replace")
    first, *lines = text.splitlines() or [""]
    if first != _FIRST_LINE:
        raise ValueError("what was signed is no seal")
    pairs = (line.partition(": ") for line in lines)
    return {name: _printable(value) for name, _, value in pairs}


def _public_key(armour: bytes) -> bytes:
    """The public key inside a signature (PROTOCOL.sshsig of OpenSSH). Raises ValueError."""
    text = armour.decode("ascii", "replace")
    if _BEGIN not in text or _END not in text:
        raise ValueError("it is no SSH signature")
    body = text.split(_BEGIN, 1)[1].split(_END, 1)[0]
    try:
        blob = base64.b64decode("".join(body.split()), validate=True)
    except binascii.Error as error:
        raise ValueError("it is no SSH signature: its text is damaged") from error
    length = int.from_bytes(blob[10:14], "big")
    if blob[:6] != b"SSHSIG" or not 0 < length <= len(blob) - 14:
        raise ValueError("it is no SSH signature: it holds no key")
    key = blob[14 : 14 + length]
    if CERTIFICATE not in _key_type(key) and read_key(key) is None:
        raise ValueError("its key is not written as OpenSSH writes one")  # else one key could pass as two
    return key


def _key_type(key: bytes) -> str:
    length = int.from_bytes(key[:4], "big")
    return _printable(key[4 : 4 + min(length, 100)].decode("ascii", "replace"))


def _run(words: list[str], message: bytes | None = None, asks: bool = False) -> subprocess.CompletedProcess[bytes]:
    """Run ssh-keygen. ``asks``: it may ask a person for a pass phrase or for a touch of a token, so there is no time limit."""
    try:
        return subprocess.run(
            [PROGRAM, *words],
            input=None if asks else message or b"",
            capture_output=True,
            timeout=None if asks else _PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SignaturesFailed(f"{PROGRAM} gave no answer: {error}") from error


class SignaturesFailed(ShakedownError):
    """ssh-keygen is installed but cannot be run."""


def _last_line(text: bytes) -> str:
    lines = [line for line in text.decode("utf-8", "replace").splitlines() if line.strip()]
    return _printable(lines[-1].strip()) if lines else ""


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in text)[:200]
