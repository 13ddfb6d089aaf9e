"""``shakedown figures``: list the figures of a campaign's report, or write them alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from shakedown.cli.naming import campaign_argument
from shakedown.cli.output import emit, json_option, site_option, table

if TYPE_CHECKING:
    from shakedown.report.figure_files import FigureFiles


@click.command()
@campaign_argument
@site_option
@click.option(
    "--only", multiple=True, metavar="NAME", help="This figure, or all whose name matches, such as 'run-time-*'."
)
@click.option(
    "--format", "formats", metavar="LIST", default=None, help="Of svg, pdf, png, with commas; all if none is named."
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=None,
    metavar="DIR",
    help="Write them there. Without it, --only and --format the figures are only listed.",
)
@json_option
def command(
    campaign: str | None, site: str | None, only: tuple[str, ...], formats: str | None, out: Path | None, as_json: bool
) -> int:
    """List the figures of a campaign, or write them as files.

    CAMPAIGN is the id of a campaign of the site, or the path of its directory; without it the newest is taken.
    Written without --out they go into report/figures of the campaign, where the report has them too.
    """
    from shakedown.cli.record import find_campaign
    from shakedown.report.figure_files import list_figures, write_figures

    home = find_campaign(Path(site) if site else None, campaign)
    if out is None and not only and formats is None:
        found = list_figures(home)
    else:
        found = write_figures(home, out, only, formats)
    data = [{"name": one.name, "title": one.title, "files": [str(file) for file in one.files]} for one in found]
    emit(data, as_json, lambda: _render(found))
    return 0


def _render(found: list[FigureFiles]) -> str:
    if not found:
        return "nothing was judged yet: there is no figure"
    if not any(one.files for one in found):
        return table(("figure", "what it shows"), [(one.name, one.title) for one in found])
    return "\n".join(str(file) for one in found for file in one.files)
