"""The frozen document as canonical JSON: one way to write it, so that the same plan always has the same digest."""

from __future__ import annotations

import hashlib

import msgspec

from shakedown.model.errors import RecordError
from shakedown.model.nouns import SCHEMA, Document


def freeze(document: Document) -> bytes:
    """Purpose: the document as canonical JSON, keys sorted, one line, UTF-8."""
    return msgspec.json.encode(document, order="deterministic")


def thaw(data: bytes) -> Document:
    """Purpose: read a frozen document back. Raises RecordError where it is damaged or of a later schema."""
    try:
        document = msgspec.json.decode(data, type=Document)
    except msgspec.MsgspecError as error:
        raise RecordError(f"the frozen plan cannot be read: {error}") from error
    if document.schema > SCHEMA:
        raise RecordError(
            f"the frozen plan has schema {document.schema}; this version reads up to {SCHEMA}",
            hint="use the version of Shakedown that wrote it, or a later one",
        )
    return document


def digest(data: bytes) -> str:
    """The sha256 of frozen bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()
