"""Make lines equal that differ only in places, times and numbers. ``likeness`` is the entry point."""

from __future__ import annotations

import re

LONGEST = 160  # characters

_STAMP = re.compile(
    r"\b(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? +)?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* +\d{1,2}"
    r"(?:,? +\d{4})?(?: +\d{1,2}:\d\d:\d\d)?(?: +\d{4})?\b"
    r"|\b\d{4}[-/]\d\d?[-/]\d\d?(?:[t ,_]+\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?(?:z|[+-]\d\d:?\d\d)?)?"
    r"|\b\d{1,2}:\d\d:\d\d(?:[.,]\d+)?",
    re.IGNORECASE,
)
_LEADING = re.compile(
    r"^(?:\s*(?:\[[^\]\[]{1,60}\]|\(?\d+(?:[:)|>]|\s*:)|<[^<>]{1,40}>|rank\s*\d+\s*[:|-]|:))+\s*", re.IGNORECASE
)
_PATH = re.compile(r"(?<![\w.])(?:[\w.~-]{0,40}/)+[\w.+~#=@%-]*(?::\d+)*")
_HEX = re.compile(r"\b0x[0-9a-f]+\b|\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,}\b", re.IGNORECASE)
_NODE = re.compile(r"\b(?:[a-z]+[a-z_-]{0,12}\d+(?:[a-z_-]{1,6}\d+)*)(?:\.[a-z][\w.-]*)?\b", re.IGNORECASE)
_NODE_SET = re.compile(r"\b[a-z][a-z_-]*\[[\d,-]+\]", re.IGNORECASE)
_ADDRESS = re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b")
_NUMBER = re.compile(
    r"(?P<kept>\b(?:signal|code|errno|status|xid|severe|exit value|value)[\s:=(#]{1,4}-?\d+)|[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?",
    re.IGNORECASE,
)  # the number of a signal or an error says what happened; all other numbers say where or when
_BLANKS = re.compile(r"\s+")


def without_prefix(line: str) -> str:
    """A line without the prefix of launchers and loggers: ranks, times, names in brackets."""
    rest = line[:400]
    for _ in range(3):
        shorter = _LEADING.sub("", _STAMP.sub("", rest, count=1) if _STAMP.match(rest.lstrip("[( ")) else rest).lstrip(
            "]) "
        )
        if shorter == rest or not shorter:
            break
        rest = shorter
    return rest + line[400:]


def likeness(line: str) -> str:
    """Purpose: the key of similar lines: a line with placeholders for numbers, times, paths, addresses, nodes and ranks."""
    text = without_prefix(line[: 3 * LONGEST])
    text = _STAMP.sub("<time>", text)
    text = _ADDRESS.sub("<address>", text)
    text = _PATH.sub(_path, text)
    text = _HEX.sub("<hex>", text)
    text = _NODE_SET.sub("<node>", text)
    text = _NODE.sub("<node>", text)
    text = _NUMBER.sub(lambda match: match["kept"] or "#", text)
    return _BLANKS.sub(" ", text).strip()[:LONGEST]


def _path(match: re.Match[str]) -> str:
    """The placeholder for a match that looks like a path (two slashes, or one at the beginning); other text, as 'and/or', stays."""
    text = match[0]
    return "<path>" if text.count("/") > 1 or text.startswith(("/", "./", "~")) else text
