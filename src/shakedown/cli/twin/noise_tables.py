"""What ``shakedown twin noise`` prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shakedown.cli.output import table
from shakedown.metrics.words import show_number, show_share, so_many

if TYPE_CHECKING:
    from shakedown.twin.models.asci_q import AsciQ
    from shakedown.twin.models.noise_sources import Source
    from shakedown.twin.models.noise_study import NoiseStudy


def study_text(study: NoiseStudy, assumed: bool) -> str:
    """The sources, a line for each size, and what each source costs at the largest."""
    whose = "assumed: no --source was given" if assumed else "as given"
    steps = so_many(study.steps, "step") if study.steps else "steps until 1 % is known"
    work = f"{show_time(study.granularity_s)} of work a step, {steps}, nodes of {study.cores} cores"
    parts = [f"Noise, a model. Sources {whose}.", "", sources_table(study.sources), "", work, "", _points(study)]
    if study.sources:
        parts += ["", *_shares(study)]
    return "\n".join(parts)


def asci_q_text(rehearsal: AsciQ) -> str:
    """The cycle by size, the published figures beside the model's, and what each source costs."""
    full = rehearsal.full
    shortest, longer = min(rehearsal.cycles_s), full.before_s / full.model_s - 1
    after = full.after_s / full.model_s - 1
    compared = [
        ("full scale, longer than the model", f"{longer:z.0%}", "about 70%"),
        ("shortest of 1,000 cycles", f"{shortest:.2f} s", "0.75 s"),
        ("cycle without noise", f"{full.model_s:.2f} s", "0.70 s"),
        ("after the clean-up, longer than the model", f"{after:z.1%}", "on the model"),
    ]
    return "\n".join(
        [
            "ASCI Q, a cycle that weak-scales: a model, fitted to paper 003.",
            "Its sources of noise are assumed: the paper does not print them.",
            "",
            sources_table(rehearsal.sources),
            "",
            "seconds of a cycle; columns 1 to 4: processes a node, before the clean-up",
            "",
            _cycles(rehearsal),
            "",
            table(("", "model", "paper 003"), compared, (1, 2)),
            "",
            f"{so_many(full.processes, 'process', 'processes')}; what would be left without one source:",
            "",
            table(
                ("source", "of a cycle", "slowdown without it"),
                [(s.source, show_time(s.takes_s * 10), f"{s.without:.2f}") for s in rehearsal.shares],
                (1, 2),
            ),
        ]
    )


def sources_table(sources: Sequence[Source]) -> str:
    """What each source is."""
    if not sources:
        return "no sources"
    rows = [
        (
            source.name[:24],
            source.on,
            _nodes(source),
            show_time(source.duration_s),
            _how_often(source),
            show_share(source.duty),
        )
        for source in sources
    ]
    return table(("source", "on", "of nodes", "takes", "every", "duty"), rows, (3, 5))


def show_time(seconds: float) -> str:
    """10 us, 2.5 ms, 1.2 s."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= 0.9995 * size or unit == "us":
            return f"{show_number(seconds / size, 3)} {unit}"
    raise AssertionError("unreachable")


def _points(study: NoiseStudy) -> str:
    rows = [
        (
            f"{point.processes:,}",
            str(point.per_node),
            str(study.cores - point.per_node),
            show_time(point.quiet_s),
            show_time(point.step_s),
            *show_known(point.slowdown, point.standard_error),
        )
        for point in study.points
    ]
    heads = ("processes", "per node", "idle cores", "without noise", "with noise", "slowdown", "+/-")
    said = table(heads, rows, (0, 1, 2, 3, 4, 5, 6))
    note = "+/-: the standard error of the slowdown; two thirds of all seeds are within it"
    poor = [p for p in study.points if p.standard_error is None or p.standard_error > 0.05 * p.slowdown]
    if not poor:
        return f"{said}\n\n{note}"
    way = "give more --steps" if study.steps else "events are rare: give --steps, a million if need be"
    return f"{said}\n\n{note}\n{len(poor)} of {len(rows)} are not known to 5 %; {way}"


def show_known(value: float, error: float | None) -> tuple[str, str]:
    """A number with as many decimals as its standard error leaves, and that error; '?' where it is not known."""
    from shakedown.twin.models.noise_estimate import known_decimals

    decimals = known_decimals(error)
    return f"{value:.{decimals}f}", "?" if error is None else f"{error:.{decimals}f}" if error >= 0.0005 else "0"


def _shares(study: NoiseStudy) -> list[str]:
    point = study.of_shares
    slowdown, error = show_known(point.slowdown, point.standard_error)
    where = (
        f"{so_many(point.processes, 'process', 'processes')}, {point.per_node} a node: slowdown {slowdown} +/- {error}"
    )
    most = max(study.shares, key=lambda share: share.takes_s)
    rows = [
        (share.source[:24], show_time(share.takes_s), *show_known(share.without, share.standard_error))
        for share in study.shares
    ]
    said = f"{where}; {most.source} costs most" if most.takes_s > 0 else where
    return [said, "", table(("source", "of a step", "slowdown without it", "+/-"), rows, (1, 2, 3))]


def _cycles(rehearsal: AsciQ) -> str:
    columns = [rehearsal.at(per_node) for per_node in (1, 2, 3, 4)]
    rows = [
        (f"{full.nodes:,}", f"{full.model_s:.2f}", *(f"{point.before_s:.2f}" for point in row), f"{full.after_s:.2f}")
        for *row, full in ((*rest, full, full) for *rest, full in zip(*columns, strict=True))
    ]
    return table(("nodes", "model", "1", "2", "3", "4", "4, after"), rows, tuple(range(7)))


def _nodes(source: Source) -> str:
    return "all" if source.every == 1 else f"{source.at + 1} of {source.every}"


def _how_often(source: Source) -> str:
    random = ", random" if source.pattern == "random" else ""
    return show_time(source.period_s) + random + (", at once" if source.synchronised else "")
