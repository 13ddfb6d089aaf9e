"""Public SSH keys as they are compared: by what they are, and never by how they are written."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence

from msgspec import Struct

CERTIFICATE = "-cert-v"  # in the type of an SSH key that an authority has certified for a time
_POINTS = {"nistp256": 65, "nistp384": 97, "nistp521": 133}  # bytes of a point that is not compressed


class PublicKey(Struct, frozen=True):
    """``kind``: its type; ``blob``: its bytes, of which there is one form only. ``holder``: what two keys of the same secret have
    in common, such as one that is written as a plain key and as that of a token.
    """

    kind: str
    blob: bytes
    holder: tuple[str, bytes]

    @property
    def text(self) -> str:
        """Type and key, as in a .pub file."""
        return f"{self.kind} {base64.b64encode(self.blob).decode()}"


def read_key(blob: bytes) -> PublicKey | None:
    """Purpose: a key from its bytes; None for anything else, and for a form that OpenSSH does not write, which would be
    another one of the same key.
    """
    fields = _fields(blob)
    if not fields:
        return None
    kind, *parts = fields
    try:
        name = kind.decode("ascii")
    except UnicodeDecodeError:
        return None
    holder = _holder(name.removeprefix("sk-").removesuffix("@openssh.com"), parts, token=name.startswith("sk-"))
    return PublicKey(name, blob, holder) if holder is not None else None


def key_of_text(text: str) -> PublicKey | None:
    """Purpose: the key in "TYPE KEY", as a plan or a .pub file has it, whatever the unused bits of its last letter; None for
    anything else, also where the type is another one than the key's.
    """
    kind, *rest = text.split(None, 2) or [""]
    try:
        blob = base64.b64decode(rest[0], validate=True) if rest else b""
    except (binascii.Error, ValueError):
        return None
    key = read_key(blob)
    return key if key is not None and key.kind == kind else None


def _fields(blob: bytes) -> list[bytes]:
    """The strings that a key is made of; [] where they do not fill it."""
    found, place = list[bytes](), 0
    while place < len(blob):
        length = int.from_bytes(blob[place : place + 4], "big")
        if place + 4 + length > len(blob) or not length:
            return []
        found.append(blob[place + 4 : place + 4 + length])
        place += 4 + length
    return found


def _holder(kind: str, parts: Sequence[bytes], token: bool) -> tuple[str, bytes] | None:
    if token:  # the last part is the application that the token asks about
        parts = parts[:-1]
    if kind == "ssh-ed25519":
        return (kind, parts[0]) if len(parts) == 1 and len(parts[0]) == 32 else None
    if kind.startswith("ecdsa-sha2-"):
        curve = kind.removeprefix("ecdsa-sha2-")
        right = (
            len(parts) == 2 and parts[0] == curve.encode() and parts[1][0] == 4 and len(parts[1]) == _POINTS.get(curve)
        )
        return (kind, parts[1]) if right else None
    if not parts or token:
        return None
    if kind in ("ssh-rsa", "ssh-dss") and not all(map(_is_plain_number, parts)):
        return None
    if kind == "ssh-rsa":
        return (kind, parts[1]) if len(parts) == 2 else None
    return kind, b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def _is_plain_number(part: bytes) -> bool:
    """A positive number without bytes that could be left out."""
    return part[0] < 0x80 and (part[0] > 0 or (len(part) > 1 and part[1] >= 0x80))
