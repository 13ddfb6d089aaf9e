"""``shakedown golden``: the golden sums of files that a run left, in a person's name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from shakedown.cli.naming import campaign_argument
from shakedown.cli.output import emit, json_option, printable, site_option
from shakedown.cli.steer.requests import said_by


@click.command()
@click.argument("target", metavar="RUN|CASE")
@campaign_argument
@click.option(
    "--files",
    default="",
    metavar="PATTERN",
    help="Which files of the run; without it those that its test records, or holds against golden sums.",
)
@click.option("--to", default=None, metavar="FILE", help="The file to write; without it TEST.sha256 beside the test.")
@click.option("--replace", is_flag=True, help="Put it in the place of a file that is there.")
@said_by("Who says that these files are right.", "Why; it stands in the file.")
@site_option
@json_option
def command(
    target: str,
    campaign: str | None,
    files: str,
    to: str | None,
    replace: bool,
    who: str,
    because: str,
    site: str | None,
    as_json: bool,
) -> int:
    """Write the golden sums of the files of RUN, or of the newest run of CASE that passed, as sha256sum does."""
    from shakedown.cli.record import find_campaign
    from shakedown.conductor.commands.golden import golden_sums, write_golden
    from shakedown.model.layout import Layout
    from shakedown.queries.status import look_at_runs

    layout = Layout(find_campaign(Path(site) if site else None, campaign))
    golden = golden_sums(layout, look_at_runs(layout), target, files, who, because)
    place = Path(to) if to else _beside_the_test(layout, golden.test_file, golden.name)
    write_golden(golden, place, replace)
    data = {name: getattr(golden, name) for name in ("run", "case", "pattern", "files")} | {"file": str(place)}
    emit(data, as_json, lambda: _render(data, place.name))
    return 0


def _beside_the_test(layout: Any, test_file: str, name: str) -> Path:
    """Tests of the catalogue are no place for a site's sums: those go to the site's own tests."""
    site = layout.root.resolve().parent.parent
    own = site / test_file
    folder = own.parent if test_file and own.is_file() else site / "tests"
    return Path(folder) / name


def _render(data: dict[str, Any], name: str) -> str:
    count = "1 file" if data["files"] == 1 else f"{data['files']} files"
    check = f"files match golden: {{glob: {data['pattern']!r}, sums: {name}}}"
    return printable(f"{data['file']}: the sums of {count} of {data['run']}\nin the test: - {check}")
