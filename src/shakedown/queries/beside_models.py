"""Compare a campaign's measurements with a model: noise of each core, rates of checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from shakedown.metrics.comparing.beside_model import Beside, beside
from shakedown.metrics.judging.populations import CaseRuns, populations
from shakedown.model.errors import UsageError, did_you_mean
from shakedown.model.nouns import Case, Document
from shakedown.model.units import Quantity
from shakedown.queries.comparisons import Asked, read_sources
from shakedown.twin.models.noise_quantum import quantum_noise
from shakedown.twin.models.noise_sources import Placement
from shakedown.twin.models.noise_sources import Source as NoiseSource

Model = Callable[[Case, Document], Mapping[str, float]]  # figure -> what the model says of it in this case


class Measured(Struct, frozen=True):
    """What to read from a campaign: figures in these units; from one ``test``, or from all tests that have the first unit."""

    campaign: Asked
    test: str
    units: Mapping[str, str]


def noise_beside(asked: Measured, sources: Sequence[NoiseSource], granularity_s: float) -> list[Beside]:
    """Purpose: each case's noise and that of its worst core, beside the model of these noise sources. Errors: UsageError,
    RecordError.
    """

    def model(case: Case, document: Document) -> Mapping[str, float]:
        cores = max(cores_of(case, document), case.shape.tasks_per_node)
        placement = Placement(case.shape.ranks, case.shape.tasks_per_node, cores)
        return dict(zip(asked.units, quantum_noise(sources, placement, granularity_s), strict=True))

    return rows_beside(asked, model)


def rows_beside(asked: Measured, model: Model) -> list[Beside]:
    """Purpose: a row for each case and figure that has a value. Errors: UsageError where there is none; RecordError."""
    (source,) = read_sources([asked.campaign])
    people = populations(source.document, source.record, everything=bool(source.epoch))
    tests = _tests(asked, source.document)
    cases = [case for one in people.values() for case in one.cases if case.case.test in tests]
    found = [row for case in cases for row in _rows(asked, case, source.document, model)]
    if not found:
        raise UsageError(f"{', '.join(tests)}: {asked.campaign.label} has no value of {' or '.join(asked.units)} yet")
    return found


def cores_of(case: Case, document: Document) -> int:
    """The number of cores in a node that a case runs on; 0 where it is not known."""
    cores = {kind.name: kind.cores for kind in document.system.node_types}
    for cluster in document.system.clusters:
        for part in cluster.partitions:
            if f"{cluster.name}:{part.name}" == case.partition:
                return cores.get(part.type, 0)
    return 0


def _tests(asked: Measured, document: Document) -> list[str]:
    first, unit = next(iter(asked.units.items()))
    every = [
        test.name
        for test in document.tests
        if any(spec.name == first and _converted(1.0, spec.unit, unit) is not None for spec in test.figures)
    ]
    if asked.test and asked.test not in every:
        hint = did_you_mean(asked.test, every) or (f"there are: {', '.join(every)}" if every else "")
        raise UsageError(f"no test '{asked.test}' of {asked.campaign.label} measures {first} in {unit}", hint)
    if not every:
        raise UsageError(f"no test of {asked.campaign.label} measures {first} in {unit}")
    return [asked.test] if asked.test else every


def _rows(asked: Measured, case: CaseRuns, document: Document, model: Model) -> Iterator[Beside]:
    test = next(test for test in document.tests if test.name == case.case.test)
    units = {spec.name: spec.unit for spec in test.figures}
    told = model(case.case, document)
    for figure, unit in asked.units.items():
        values = [_converted(value, units.get(figure, ""), unit) for _, value in case.values(figure)]
        known = [value for value in values if value is not None]
        if known:
            yield beside(case.case.id, figure, unit, known, told[figure])


def _converted(value: float, its: str, unit: str) -> float | None:
    try:
        return value if its == unit else Quantity(value, its).to(unit)
    except ValueError:
        return None
