"""The frozen nouns of judging: what a figure must be by contract, and what a component must satisfy. As in ``nouns.py``."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Pairs = tuple[tuple[str, str], ...]

Comparison = Literal["<=", ">=", "=", "<", ">"]
Basis = Literal["contract", "vendor", "site", "history"]
SEVERITIES = ("major", "minor", "note")  # of issues, the most severe first
Statistic = Literal["each", "mean", "median", "min", "max", "sd"]


class ContractRow(Struct, frozen=True):
    """What a figure must be, where, on what basis, by which clause.

    ``where`` narrows the cases: system, partition, toolchain or a parameter -> the values that match. ``low`` and ``high``
    bound the figure in ``unit``, the figure's own; None = no bound on that side; ``strict``: the bound itself does not do.
    ``value``: what they lie around, 4148 of ``4148 s +2%``; None where only bounds are written.
    ``statistic``: ``each`` run on its own, or one number of all that count. ``mode`` "" = whatever the mode. ``verdict``: a run
    outside is judged ``performance``; only rows on each run can. ``place`` is where it was written (file:line).
    ``inputs``: of a row on a score the digest of what that is computed from: other inputs ask for something else.
    ``text``: the words of the clause, for people.
    """

    name: str  # unique over all contracts: CONTRACT:NUMBER
    contract: str
    test: str
    figure: str
    must: str  # as the person wrote it
    basis: Basis
    where: tuple[tuple[str, tuple[str, ...]], ...] = ()
    low: float | None = None
    high: float | None = None
    strict: bool = False
    value: float | None = None
    unit: str = ""
    statistic: Statistic = "each"
    mode: Literal["", "isolated", "fill"] = ""
    verdict: bool = False
    clause: str = ""
    about: str = ""
    place: str = ""
    inputs: str = ""
    text: str = ""


class Criterion(Struct, frozen=True):
    """What a component must satisfy.

    ``measure``: ``passed / attempts``, ``passed / wanted``, ``correct / completed`` (shares of runs), ``value`` (a figure's
    statistic), ``sd / mean`` (a figure's spread), ``fill / isolated`` (how much worse a figure is on a full machine), ``attested``
    (procedures), ``rows met`` (contract rows), node-hours over node-hours (utilisation), or a floor: ``runs``, ``node-hours``,
    ``hours per node``, ``mean time to interrupt``, ``longest hole``. ``of`` names the figure (``elapsed`` is always there);
    ``test`` narrows the population to one test; ``per`` is "" (whole population), ``case`` or ``test`` (the worst one counts).
    ``bound`` is in ``unit``, the unit of the figure itself; a share is a fraction of one (0.95). ``enough`` is the least
    count per population; below it the outcome is undecided. ``mode`` narrows the population to runs of one mode, ``basis``
    the contract rows that ``rows met`` asks for. ``leave_out``: runs that are not counted: ``ruled PARTY`` (a ruling's word),
    ``outliers``. ``epochs``: ``all``, ``last`` (only what was judged in the epoch in force) or a least epoch as a number.
    ``inputs``: of the measure ``score`` the digest of what the score is computed from: other inputs ask for something else.
    ``files``: of ``identical`` the pattern whose recorded sums are compared; ``across``: parameters in which the cases may differ.
    ``at``: of ``efficiency`` the size that it is asked at, 0 = the largest. ``since``: of ``change since`` and ``failures since``
    the baseline, or ``epoch N``; ``inputs`` is then the digest of that baseline.
    """

    name: str
    measure: str
    comparison: Comparison
    bound: float
    unit: str = ""
    of: str = ""
    test: str = ""
    statistic: Literal["mean", "median", "min", "max", "sd", "p5", "p10", "p25", "p75", "p90", "p95", "p99"] = "median"
    per: Literal["", "case", "test"] = ""
    enough: int = 1
    must: str = ""  # the bound as the person wrote it
    mode: Literal["", "isolated", "fill"] = ""
    basis: str = ""
    leave_out: tuple[str, ...] = ()
    epochs: str = "all"
    clause: str = ""  # of the contract that asks for it
    inputs: str = ""
    files: str = ""
    across: tuple[str, ...] = ()
    at: float = 0.0
    since: str = ""


class Contract(Struct, frozen=True):
    """The rows of one contract file. ``title`` and ``parties`` are for the report's cover and the page to sign."""

    name: str
    rows: tuple[ContractRow, ...]
    about: str = ""
    title: str = ""
    parties: Pairs = ()  # role -> name
