"""Every key of a criterion, and the measures that each key applies to."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from shakedown.model.baselines import own_epoch
from shakedown.model.events import PARTIES
from shakedown.model.measures import measures, names
from shakedown.plans.schema.other_words import STATISTICS_ELSEWHERE
from shakedown.plans.schema.records import Either, Key, ListOf, Record
from shakedown.plans.schema.scalars import Choice, InvalidValue, Name, Parsed, Text, Whole, near_or_all

_ALL = tuple(measure for measure in measures().values() if measure.in_plans)
MEASURES = names(_ALL)
OF_RUNS = names(measure for measure in _ALL if measure.share_of_runs)
OF_FIGURES = names(measure for measure in _ALL if measure.on_a_figure)
STATISTICS = ("mean", "median", "min", "max", "sd", "p5", "p10", "p25", "p75", "p90", "p95", "p99")
OUTLIERS = "outliers"
GOES_WITH = {  # key -> the measures that it has a meaning for
    key: names(measure for measure in _ALL if key in measure.keys)
    for key in (
        "of",
        "statistic",
        "basis",
        "mode",
        "test",
        "per",
        "leave_out",
        "epochs",
        "files",
        "across",
        "at",
        "since",
    )
}
PER = {word: names(measure for measure in _ALL if word in measure.per) for word in ("case", "test")}


@dataclass(frozen=True, slots=True)
class Must:
    """A bound as written: the comparison, and the text of the amount."""

    comparison: str
    amount: str
    text: str


def read_must(text: str) -> Must:
    """Purpose: a comparison and an amount. Raises InvalidValue."""
    if text.strip() == "all":
        return Must("=", "100%", "all")
    match = re.fullmatch(r"\s*(<=|>=|==|=|<|>|≤|≥)\s*([^<>=\s].*?)\s*", text)
    if match is None:
        raise InvalidValue(
            f"'{text}' is not a bound", "write a comparison and an amount, such as '>= 95%' or '<= 20 s'"
        )
    if re.search(r"[<>=≤≥]", match.group(2)):
        raise InvalidValue(f"'{text}' has two bounds", "a criterion has one: write a second criterion for the other")
    sign = {"==": "=", "≤": "<=", "≥": ">="}.get(match.group(1), match.group(1))
    return Must(sign, match.group(2), text.strip())


def _leave_out(text: str) -> str:
    """What a criterion leaves out: 'ruled site', 'outliers'. Raises InvalidValue for anything else."""
    words = text.split()
    if words == [OUTLIERS]:
        return OUTLIERS
    if len(words) != 2 or words[0] != "ruled":
        raise InvalidValue(
            f"'{text}' is not a kind of run that a criterion can leave out",
            f"write {OUTLIERS}, or 'ruled PARTY', such as 'ruled site'",
        )
    if words[1] not in PARTIES:
        raise InvalidValue(f"'{words[1]}' is no party of a ruling", near_or_all(words[1], PARTIES))
    return " ".join(words)


def _epochs(text: str) -> str:
    word = text.strip()
    if word in ("all", "last") or (re.fullmatch(r"[0-9]{1,6}", word) and int(word) > 0):
        return word if word in ("all", "last") else str(int(word))
    raise InvalidValue(f"'{text}' names no epochs", "write all, last, or the number of the first that counts, from 1")


def _size(text: str) -> float:
    try:
        size = float(text)
    except ValueError:
        size = 0.0
    if not 0 < size < math.inf:
        raise InvalidValue(f"'{text}' is no size", "write a number above 0, such as 64")
    return size


def _baseline_name(text: str) -> str:
    """A baseline's name, or ``epoch N``."""
    words = text.split()
    if len(words) == 1 or (len(words) == 2 and own_epoch(" ".join(words))):
        return " ".join(words)
    raise InvalidValue(f"'{text}' names no baseline", "write the name of a baseline of the plan, or epoch 1")


BOUND = Parsed("a bound, such as '>= 95%'", read_must)
_LEFT_OUT = Parsed("what is left out, such as 'ruled site'", _leave_out)

CRITERION = Record(
    "a map with measure and must",
    {
        "measure": Key(Choice(MEASURES), "what is measured: " + ", ".join(MEASURES), True),
        "must": Key(BOUND, "what it must be: a comparison and an amount, or all", True),
        "of": Key(Text("a figure's name"), f"the figure, for {', '.join(OF_FIGURES)}; elapsed is always there"),
        "test": Key(Name("a test's name"), "only this test's runs; without it all of the component's"),
        "statistic": Key(
            Choice(STATISTICS, other_words=STATISTICS_ELSEWHERE),
            "of the figure's values; p95 is the 95 % quantile; without it median",
        ),
        "per": Key(Choice(("case", "test")), "case or test: each of them on its own, the worst counts"),
        "enough": Key(Whole(1), "the fewest results to judge by; without it 1"),
        "mode": Key(Choice(("isolated", "fill")), "only runs in this mode; without it all but warm-up"),
        "basis": Key(
            Choice(("contract", "vendor", "site", "history")), "for rows met: rows of this basis; without it contract"
        ),
        "leave_out": Key(
            Either(scalar=_LEFT_OUT, items=ListOf(_LEFT_OUT, "a list of what is left out", 1)),
            "runs that are not counted: outliers, ruled PARTY; the number with everything counted is shown beside",
        ),
        "epochs": Key(
            Parsed("all, last or a number", _epochs), "all, last, or the first epoch that counts; without it all"
        ),
        "files": Key(
            Text("a pattern of files"),
            "for identical: the pattern of a check 'file PATTERN recorded', as the test writes it",
        ),
        "across": Key(
            Either(scalar=Name("a parameter"), items=ListOf(Name("a parameter"), "a list of parameters", 1)),
            "for identical: parameters, such as toolchain, or partition, that the compared cases may differ in; without it none",
        ),
        "at": Key(
            Parsed("a size such as 64", _size), "for efficiency: the size that it is asked at; without it the largest"
        ),
        "since": Key(
            Parsed("a baseline, or epoch N", _baseline_name),
            "for change since and failures since: a baseline of the plan, or an earlier epoch of the campaign, such as epoch 1",
        ),
        "clause": Key(Text(), "the clause that asks for it"),
    },
)
