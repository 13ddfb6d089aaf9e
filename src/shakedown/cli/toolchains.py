"""``shakedown toolchains``: builds, runs, bits and figures of tests that have several toolchains, in one matrix."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from shakedown.cli.naming import campaign_argument
from shakedown.cli.output import emit, json_option, printable, say, site_option, table
from shakedown.cli.twin.modelling import csv_option

if TYPE_CHECKING:
    from shakedown.metrics.toolchains import Built, Matrix


@click.command()
@campaign_argument
@csv_option
@site_option
@json_option
def command(campaign: str | None, csv_file: Path | None, site: str | None, as_json: bool) -> int:
    """One test with several toolchains: which builds failed, whether runs left the same bits, and how fast each is.

    Without a name: of the newest campaign. Equal letters are equal bits, with whatever toolchain.
    """
    from shakedown.cli.compare import asked_for
    from shakedown.queries.toolchains import look_at_toolchains

    named = (campaign,) if campaign else ()
    (asked,) = asked_for(named, None, Path(site) if site else None, lasting=csv_file is not None)
    found = look_at_toolchains(asked)
    emit({"toolchains": found}, as_json, lambda: printable("\n\n".join(map(_render, found))))
    if csv_file is not None:
        from shakedown.report.tables.csv_files import to_csv
        from shakedown.report.tables.toolchains import TOOLCHAINS, toolchain_rows

        csv_file.write_bytes(to_csv(TOOLCHAINS, toolchain_rows(found)))
        say(f"table: {csv_file}")
    return 0


def _render(one: Matrix) -> str:
    rows = [_row(column) for column in one.columns]
    lines = [
        f"{one.name}; component {one.component}",
        table(("TOOLCHAIN", "BUILD", "PASSED", "BITS", "RUN TIME"), rows),
    ]
    for pattern, same in one.identical:
        lines.append(f"{pattern}: {'the same bits in all runs' if same else 'NOT the same bits in all runs'}")
    lines += [f"{column.toolchain}: {column.why}" for column in one.columns if column.why]
    return "\n".join(lines)


def _row(column: Built) -> tuple[str, ...]:
    from shakedown.metrics.words import show_number, show_value

    build = column.build or "none" if column.available else "unavailable"
    speed = next((one for one in column.speeds if one.figure == "elapsed"), None)
    times = show_number(speed.times, 3) if speed else ""
    fast = "as fast" if times == "1" else f"{times} times as fast"
    time = show_value(speed.median, "s") + (f" ({fast})" if speed.times else "") if speed else ""
    bits = "; ".join(f"{one.pattern}: {one.words}" for one in column.bits)
    expected = f", {column.expected} is expected" if column.expected else ""
    return column.toolchain, build + expected, f"{column.passed} of {column.runs}", bits, time
