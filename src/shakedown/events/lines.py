"""One event, one line: encode events as bytes and decode bytes to events.

Every line starts with its version, so that old versions can always be read and are not taken for damage.
"""

from __future__ import annotations

from typing import Any

import msgspec

from shakedown.events.damage import NOT_JSON, DamagedLine
from shakedown.events.upcast import read_other_version
from shakedown.model.events import LINE_VERSION, Event

_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(Event)
_PREFIX = b'{"v":%d,' % LINE_VERSION


def encode_event(event: Event) -> bytes:
    """Purpose: the event's line, with its new line character.

    Text that UTF-8 cannot hold (bytes of a strange file name) is written as visible escapes, so encoding never fails.
    """
    try:
        body = _ENCODER.encode(event)
    except UnicodeEncodeError:
        body = _ENCODER.encode(without_surrogates(msgspec.to_builtins(event)))
    return _PREFIX + body[1:] + b"\n"


def without_surrogates(data: Any) -> Any:
    """Purpose: the same data, with bytes that UTF-8 cannot hold (of a strange file name) as visible escapes."""
    if isinstance(data, str):
        return data.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(data, dict):
        return {without_surrogates(key): without_surrogates(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [without_surrogates(value) for value in data]
    return data


def shown_json(data: Any) -> bytes:
    """Purpose: any data as indented JSON for programs; bytes that are not text become visible escapes, as in the record."""
    try:
        encoded = msgspec.json.encode(data)
    except UnicodeEncodeError:
        encoded = msgspec.json.encode(without_surrogates(msgspec.to_builtins(data, str_keys=True)))
    return msgspec.json.format(encoded, indent=2)


def decode_block(block: bytes) -> list[Event]:
    """Purpose: the events of whole lines; fast where all lines are in today's format.

    Errors: DamagedLine for the first line that is not an event, or has a newer version.
    """
    try:
        events = _DECODER.decode_lines(block)
    except NOT_JSON:
        return _decode_each(block)
    if len(events) != block.count(b"\n") or [event for event in events if event.v != LINE_VERSION]:
        return _decode_each(block)
    return events


def _decode_each(block: bytes) -> list[Event]:
    events = []
    for index, line in enumerate(block.split(b"\n")[:-1]):
        try:
            events.append(decode_line(line))
        except DamagedLine as error:
            error.index = index
            raise
    return events


def decode_line(line: bytes) -> Event:
    """Purpose: the event of one line, of any known version. Errors as in ``decode_block``."""
    try:
        event = _DECODER.decode(line)
    except NOT_JSON as error:
        return _other_version(line, str(error))
    return event if event.v == LINE_VERSION else _other_version(line, "")


def _other_version(line: bytes, why: str) -> Event:
    try:
        fields = msgspec.json.decode(line)
    except NOT_JSON as error:
        raise DamagedLine(f"it is not JSON: {error}") from error
    if not isinstance(fields, dict) or not isinstance(fields.get("v"), int):
        raise DamagedLine("it has no version")
    if fields["v"] == LINE_VERSION:
        raise DamagedLine(f"it is no event: {why}")
    try:
        return read_other_version(fields)
    except msgspec.ValidationError as error:
        raise DamagedLine(f"it is no event: {error}") from error
