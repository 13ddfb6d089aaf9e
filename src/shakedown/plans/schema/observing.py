"""Every key of an observed number that narrows a budget."""

from __future__ import annotations

import math

from shakedown.model.observing import HOLD, IGNORE, MEANS
from shakedown.plans.schema.records import Key, MapOf, Record
from shakedown.plans.schema.scalars import Choice, Duration, InvalidValue, Name, Parsed, Text
from shakedown.plans.schema.test import BUDGET_NAME

_DURATION = Duration()
_WAYS = ("mean", "median", "most")
_TOKEN_FILE = Key(
    Text("a path"), "a file with the token for it, which is sent as Authorization; from the site's directory on"
)
_URL = Key(Text("an address"), "the server's address, such as http://monitor.example.org:9090", True)


def _full(text: str) -> float:
    """A number above zero; a percent sign is ignored. Raises InvalidValue."""
    try:
        number = float(text.strip().removesuffix("%"))
    except ValueError:
        raise InvalidValue(f"'{text}' is no number", "in the unit of what is observed, such as 100") from None
    if not (math.isfinite(number) and 0 < number < 1e30):
        raise InvalidValue(f"'{text}' cannot be the full amount", "write a number above zero, such as 100")
    return number


def _smooth(text: str) -> tuple[str, float]:
    """The smoothing '2min', 'mean 2min', 'median 5min' or 'most 10min', as (method, seconds). Raises InvalidValue."""
    first, _, rest = text.strip().partition(" ")
    try:
        return (first, _DURATION.convert(rest)) if first in _WAYS else ("mean", _DURATION.convert(text))
    except ValueError:
        ways = f"{', '.join(_WAYS[:-1])} or {_WAYS[-1]}"
        raise InvalidValue(
            f"'{text}' is not a duration", f"write one such as 2min, or {ways} of one, such as 'median 5min'"
        ) from None


def _interval(text: str) -> float:
    seconds = _DURATION.convert(text)
    if seconds < 1:
        raise InvalidValue(f"'{text}' is too short an interval", "write 1s or more")
    return seconds


_SERVER = {
    "url": _URL,
    "query": Key(Text("a query"), "the query; its answer is one number", True),
    "token_file": _TOKEN_FILE,
}

OBSERVE = Record(
    "a map with command, promql or influxql",
    {
        "command": Key(
            Text("a command"),
            "a command of the site, run by a shell in its directory; it prints one number. {target} stands for the target",
        ),
        "promql": Key(Record("a map with url and query", _SERVER), "a query to Prometheus, or what answers as it does"),
        "influxql": Key(
            Record(
                "a map with url, database and query",
                {
                    "url": _URL,
                    "database": Key(
                        Name("a database's name", r"[^\x00-\x1f]+", "printable letters"),
                        "the database that is asked",
                        True,
                    ),
                    **{name: _SERVER[name] for name in ("query", "token_file")},
                },
            ),
            "a query to InfluxDB, in InfluxQL",
        ),
        "means": Key(
            Choice(MEANS),
            "what the number is: used (by all, our runs too), others (what others use) or free; without it used",
        ),
        "full": Key(
            Parsed("a number, such as 100", _full),
            "the number that stands for all there is; without it the budget's amount, in its own unit",
        ),
        "every": Key(Parsed("a duration, such as 30s", _interval), "how often it is asked for; without it 30s"),
        "within": Key(Parsed("a duration, such as 10s", _interval), "how long an answer may take; without it 10s"),
        "smooth": Key(
            Parsed("a duration, such as 2min or 'median 5min'", _smooth),
            "the mean, median or most of so much time counts; without it the newest number",
        ),
        "oldest": Key(_DURATION, "an older number counts as none; without it 5min"),
        "when_silent": Key(
            Choice((HOLD, IGNORE)),
            "without a number: nothing more that loads the budget starts, or the plan's amount holds; without it hold",
        ),
    },
)

OBSERVED = Key(
    MapOf(BUDGET_NAME, OBSERVE, "numbers by budget", "BUDGET"),
    "numbers that are observed and narrow budgets by what others take of them",
)
