"""``shakedown export RUN DIRECTORY``: one run as files: script, environment, output, events; and dashboards for Grafana."""

from __future__ import annotations

from pathlib import Path

import click

from shakedown.cli.naming import campaign_option
from shakedown.cli.output import emit, json_option, site_option
from shakedown.model.errors import UsageError

GRAFANA = "grafana"  # no run is called so


@click.command()
@click.argument("run")
@click.argument("directory", type=click.Path(path_type=Path))
@campaign_option
@site_option
@json_option
def command(run: str, directory: Path, campaign: str | None, site: str | None, as_json: bool) -> int:
    """Write a RUN as files into a new DIRECTORY: job.sh, environment, output, events.jsonl.

    'shakedown export grafana DIRECTORY' writes dashboards that Grafana imports instead: one for InfluxDB, one for Prometheus, one
    for an index in PostgreSQL.
    """
    if run == GRAFANA:
        return _dashboards(directory, as_json)
    from shakedown.cli.record import find_campaign
    from shakedown.model.layout import Layout
    from shakedown.queries.run_view import export_run

    files = export_run(Layout(find_campaign(Path(site) if site else None, campaign)), run, directory)
    emit([str(file) for file in files], as_json, lambda: "\n".join(map(str, files)))
    return 0


def _dashboards(directory: Path, as_json: bool) -> int:
    """Write a file for each kind of server into a new directory."""
    try:
        from shakedown.live.grafana.dashboards import SOURCES, dashboard
    except ImportError as error:
        message = f"'shakedown export grafana' needs packages that are not installed: {error.name}"
        raise UsageError(message, hint="pip install 'shakedown[grafana]'") from error
    try:
        directory.mkdir(parents=True)
    except FileExistsError as error:
        raise UsageError(f"{directory} exists already", hint="export into a new directory") from error
    files = {directory / f"shakedown-{name}.json": dashboard(source) for name, source in SOURCES.items()}
    for file, text in files.items():
        file.write_text(text, encoding="utf-8")
    emit([str(file) for file in files], as_json, lambda: "\n".join(map(str, files)))
    return 0
