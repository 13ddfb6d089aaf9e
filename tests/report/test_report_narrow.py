"""On a telephone (390 px wide) no word of a table is broken: tables are as wide as their words and are pushed sideways.

The style sheet and a report's HTML are read without a browser: of every element in a cell the rule on ``overflow-wrap`` that wins
at that width. With ``anywhere`` a cell may become as narrow as a letter, so its words are broken; with the other values its words
keep their room.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

import pytest

SHEET = (Path(__file__).parents[2] / "src/shakedown/report/templates/report.css").read_text()
NARROW_REM = 390 / 16
VOID = frozenset({"area", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"})
ALWAYS = re.compile(r":(?:not|nth-child|last-child|first-child)\b(?:\((?:[^()]|\([^()]*\))*\))?")


class Element(NamedTuple):
    tag: str
    classes: frozenset[str]


class Rule(NamedTuple):
    """``parts``: the compounds of its selector, outermost first. ``weight``: specificity and place; the heaviest wins."""

    parts: tuple[Element, ...]
    value: str
    weight: tuple[int, int, int]


def rules(sheet: str, name: str) -> list[Rule]:
    """The rules on a property that hold on a screen of 390 px."""
    found, place = [], 0
    for query, body in blocks(re.sub(r"/\*.*?\*/", "", sheet, flags=re.DOTALL)):
        if not holds(query):
            continue
        for selectors, declarations in re.findall(r"([^{}]+)\{([^{}]*)\}", body):
            said = dict(part.split(":", 1) for part in declarations.split(";") if ":" in part)
            values = {key.strip(): value.strip() for key, value in said.items()}
            place += 1
            for selector in selectors.split(",") if name in values else ():
                plain = [
                    Element(tag, frozenset(rest.split(".")[1:])) for tag, rest in compounds(ALWAYS.sub("", selector))
                ]
                strength = sum(len(part.classes) for part in plain) + len(ALWAYS.findall(selector))
                tags = sum(bool(part.tag) for part in plain)
                found.append(Rule(tuple(plain), values[name], (strength, tags, place)))
    return found


def blocks(sheet: str) -> Iterator[tuple[str, str]]:
    """(media query, rules): "" for what is in none. Other at-rules are left out."""
    at = 0
    for found in re.finditer(r"@(media|page)([^{]*)\{", sheet):
        if found.start() < at:
            continue
        yield "", sheet[at : found.start()]
        depth, end = 1, found.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(sheet[end], 0)
            end += 1
        if found[1] == "media":
            yield found[2].strip(), sheet[found.end() : end - 1]
        at = end
    yield "", sheet[at:]


def holds(query: str) -> bool:
    most = re.search(r"max-width: *([\d.]+)rem", query)
    return not query or (most is not None and "print" not in query and float(most[1]) >= NARROW_REM)


def compounds(selector: str) -> list[tuple[str, str]]:
    words = re.split(r"[\s>+~]+", selector.strip())
    pairs = [re.fullmatch(r"([a-z0-9]*|\*)((?:\.[\w-]+)*)(?:::?[\w-]+)*", word) for word in words]
    assert all(pairs), f"'{selector}' is a selector that this test cannot read"
    return [(pair[1].replace("*", ""), pair[2]) for pair in pairs if pair]


def fits(part: Element, element: Element) -> bool:
    return part.tag in ("", element.tag) and part.classes <= element.classes


def wrap_of(path: tuple[Element, ...], sheet: list[Rule]) -> str:
    """``overflow-wrap`` of the last element: of its own rules the heaviest, else its parent's: it is inherited."""
    for end in range(len(path), 0, -1):
        mine = [rule for rule in sheet if matches(rule.parts, path[:end])]
        if mine:
            return max(mine, key=lambda rule: rule.weight).value
    return "normal"


def matches(parts: tuple[Element, ...], path: tuple[Element, ...]) -> bool:
    if not fits(parts[-1], path[-1]):
        return False
    above = iter(reversed(path[:-1]))
    return all(any(fits(part, element) for element in above) for part in reversed(parts[:-1]))


class Cells(HTMLParser):
    """The paths of all elements that are a cell of a table, or in one."""

    def __init__(self) -> None:
        super().__init__()
        self.path: list[Element] = []
        self.found: set[tuple[Element, ...]] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in VOID:
            return
        self.path.append(Element(tag, frozenset((dict(attrs).get("class") or "").split())))
        if any(one.tag in ("td", "th") for one in self.path):
            self.found.add(tuple(self.path))

    def handle_endtag(self, tag: str) -> None:
        while self.path and self.path.pop().tag != tag:
            pass


def broken(page: str, sheet: str) -> set[str]:
    cells, wraps = Cells(), rules(sheet, "overflow-wrap")
    cells.feed(page)
    assert cells.found
    return {
        " ".join(".".join([one.tag, *sorted(one.classes)]) for one in path[-3:])
        for path in cells.found
        if wrap_of(path, wraps) == "anywhere"
    }


def test_no_word_of_a_table_is_broken(acceptance: Path) -> None:
    page = (acceptance / "report.html").read_text()
    assert broken(page, SHEET) == set()
    assert 'class="part"' in page, "names in their parts are among what is looked at"


def test_a_table_is_pushed_sideways_and_its_words_stay_whole() -> None:
    table = (Element("table", frozenset()),)
    for name, value in (("display", "block"), ("overflow-x", "auto")):
        found = [rule for rule in rules(SHEET, name) if matches(rule.parts, table)]
        assert max(found, key=lambda rule: rule.weight).value == value
    heading = (*table, Element("tr", frozenset()), Element("th", frozenset()))
    found = [rule for rule in rules(SHEET, "white-space") if matches(rule.parts, heading)]
    assert max(found, key=lambda rule: rule.weight).value == "nowrap"


@pytest.mark.parametrize(
    ("gone", "what"),
    [
        ("th, td, .sides td.n { overflow-wrap: normal; }", "td"),
        ("td code { overflow-wrap: normal; }", "code"),
        (".part { max-width: 16rem; overflow-wrap: break-word; }", "span.part"),
    ],
)
def test_a_sheet_without_one_of_its_rules_is_found(gone: str, what: str) -> None:
    assert gone in SHEET
    page = '<table class="sides"><tr><td>a <code>b</code><span class="part">c</span></td></tr></table>'
    assert broken(page, SHEET) == set()
    assert any(path.endswith(what) for path in broken(page, SHEET.replace(gone, "")))
