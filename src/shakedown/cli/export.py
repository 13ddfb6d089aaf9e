"""``shakedown export RUN DIRECTORY``: one run as files: script, environment, output, events."""

from __future__ import annotations

from pathlib import Path

import click

from shakedown.cli.naming import campaign_option
from shakedown.cli.output import emit, json_option, site_option


@click.command()
@click.argument("run")
@click.argument("directory", type=click.Path(path_type=Path))
@campaign_option
@site_option
@json_option
def command(run: str, directory: Path, campaign: str | None, site: str | None, as_json: bool) -> int:
    """Write a RUN as files into a new DIRECTORY: job.sh, environment, output, events.jsonl."""
    from shakedown.cli.record import find_campaign
    from shakedown.model.layout import Layout
    from shakedown.queries.run_view import export_run

    files = export_run(Layout(find_campaign(Path(site) if site else None, campaign)), run, directory)
    emit([str(file) for file in files], as_json, lambda: "\n".join(map(str, files)))
    return 0
