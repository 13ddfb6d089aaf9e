"""The contracts of a plan: read, matched to the plan's cases, and frozen with them.

Rows that contradict or tie with each other are reported with both places.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace
from yaml.nodes import MappingNode

from shakedown.model.contracts import specificity
from shakedown.model.judging import Contract
from shakedown.model.nouns import Case, Source
from shakedown.model.scores import Score
from shakedown.plans.context import Context
from shakedown.plans.contracts.contract_rows import Matching, match_rows
from shakedown.plans.contracts.contracts import ContractRead, Known, read_contract
from shakedown.plans.contracts.score_names import scores_written, tell_unknown_scores
from shakedown.plans.contracts.score_rows import with_scores
from shakedown.plans.finding import Here
from shakedown.plans.schema.problems import Problems
from shakedown.plans.schema.scalars import near_or_all
from shakedown.plans.schema.source_positions import place
from shakedown.plans.systems import Machine

if TYPE_CHECKING:
    from shakedown.plans.site import Site


@dataclass(frozen=True, slots=True)
class Frozen:
    """The plan's cases with the rows in force for them, its contracts, and the files they were read from."""

    cases: tuple[Case, ...]
    contracts: tuple[Contract, ...] = ()
    sources: tuple[Source, ...] = ()


def freeze_contracts(
    root: MappingNode,
    written: str | Sequence[str],
    reading: Site,
    context: Context,
    here: Here,
    cases: Sequence[Case],
    scores: Sequence[Score] = (),
) -> Frozen | None:
    """Purpose: the contracts that a plan names, frozen; None where the context's problems have grown. ``scores``: of the plan."""
    if not written:
        return Frozen(tuple(cases))
    problems = context.problems
    before = len(problems)
    names = [written] if isinstance(written, str) else list(written)
    reads = _read(root, names, reading, Known(context, others(reading, context, here)))
    if len(problems) > before:
        return None
    system = context.machine.system.name
    matching = match_rows([read.contract for read in reads], cases, system)
    tell_ties(matching, reads, problems)
    for read in reads:
        tell_unknown_scores(read.contract, read.written, reading, scores_written(root))
    contracts = tuple(with_scores(read.contract, scores, read.written, problems) for read in reads)
    if len(problems) > before:
        return None
    return Frozen(
        tuple(replace(case, rows=matching.in_force[case.id], sides=matching.sides.get(case.id, ())) for case in cases),
        contracts,
        tuple(Source(read.file, read.sha256) for read in reads),
    )


def _read(root: MappingNode, names: list[str], reading: Site, known: Known) -> list[ContractRead]:
    problems, reads = known.context.problems, []
    for number, name in enumerate(names):
        at = place(root, "contract", number) if len(names) > 1 else place(root, "contract")
        if name not in reading.contracts:
            hint = near_or_all(name, reading.contracts)
            problems.at(at, f"there is no contract '{name}'", hint, f"contract {name}")
        elif names.index(name) < number:
            problems.at(at, f"contract '{name}' is named twice", "once is enough")
        else:
            read = read_contract(reading.contracts[name], known)
            if read is not None:
                reads.append(read)
    return reads


def others(reading: Site, context: Context, here: Here) -> Callable[[], Iterable[Context]]:
    """The contexts of the site's other systems and of this machine, made when they are first asked for."""
    made: list[Context] = []

    def contexts() -> Iterable[Context]:
        if not made:
            own = context.machine.system.name
            machines = [machine for name, machine in reading.machines.items() if name != own]
            machines += [Machine(here())] if own != "here" else []
            made.extend(reading.context(machine, around=context.around) for machine in machines)
        return made

    return contexts


def tell_ties(matching: Matching, reads: Iterable[ContractRead], problems: Problems) -> None:
    """Purpose: report rows that tie or contradict, each pair once and at the later row."""
    rows = {row.name: row for read in reads for row in read.contract.rows}
    written = {name: place for read in reads for name, place in read.written.items()}
    for (first, second), case in matching.ties.items():
        message = f"rows {first} and {second} both bound {rows[first].figure} of {case}, and neither is more specific"
        hint = f"the other is in {rows[first].place}; name more in the 'where' of one, or keep one"
        at = written[second]
        problems.file(at.path, message, hint, at.line, at.column, f"rows {first} and {second} tie")
    for (first, second), case in matching.contradictions.items():
        if (first, second) in matching.ties:
            continue  # told already: one of them is to go, or to name more
        both = f"'{rows[first].must}' ({first}) and '{rows[second].must}' ({second})"
        message = f"nothing can meet {both} for {rows[first].figure} of {case}"
        at = written[second]
        hint = f"the other is in {rows[first].place}"
        if specificity(rows[first]) != specificity(rows[second]):
            hint += "; the more specific row replaces only the bounds that it names: let it name both"
        problems.file(at.path, message, hint, at.line, at.column, f"rows {first} and {second} contradict")
