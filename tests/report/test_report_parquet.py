"""Tables as Parquet: every value of the CSV, with its type; the extra is named where PyArrow is missing."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet
import pytest

from shakedown.model.errors import UsageError
from shakedown.report.evidence import evidence_of
from shakedown.report.reading import read_campaign
from shakedown.report.tables.csv_files import Cell, Table, to_csv
from shakedown.report.tables.parquet_files import to_parquet
from shakedown.report.tables.tables import make_tables
from shakedown.report.writing import make_report

if TYPE_CHECKING:
    from tests.report.conftest import CampaignBuilder


def begun(small: CampaignBuilder) -> Path:
    small.run("hello", "main")
    small.run("hello", "main", "failed")
    small.end()
    campaign: Path = small.save()
    return campaign


def test_every_table_is_there_with_the_values_of_its_csv(small: CampaignBuilder) -> None:
    campaign = begun(small)
    make_report(campaign, parquet=True)
    folder = campaign / "report/tables"
    names = sorted(path.stem for path in folder.glob("*.csv"))
    assert sorted(path.stem for path in folder.glob("*.parquet")) == names and len(names) > 30
    assert "runs.parquet" in (campaign / "report/SHA256SUMS").read_text()
    for name in names:
        table = pyarrow.parquet.read_table(folder / f"{name}.parquet")
        with (folder / f"{name}.csv").open(newline="") as stream:
            headings, *rows = csv.reader(stream)
        assert table.column_names == headings and table.num_rows == len(rows)
        for place, heading in enumerate(headings):
            for value, row in zip(table[heading].to_pylist(), rows, strict=True):
                assert _same(value, row[place]), (name, heading)


def _same(value: object, cell: str) -> bool:
    if value is None or isinstance(value, bool):
        return cell == {None: "", True: "yes", False: "no"}[value]
    return float(cell) == value if isinstance(value, int | float) else cell.removeprefix("'") == value


def test_columns_have_types_and_the_same_table_gives_the_same_bytes() -> None:
    rows: list[tuple[Cell, ...]] = [
        ("=a", 1, 1, True, None, "x", 2**70),
        ("b", 2, 0.5, False, None, 3, 1),
        (None,) * 7,
    ]
    table = to_csv(("text", "whole", "number", "flag", "nothing", "mixed", "huge"), rows)
    data = to_parquet(table)
    found = pyarrow.parquet.read_table(io.BytesIO(data))
    assert [str(kind) for kind in found.schema.types] == [
        "string",
        "int64",
        "double",
        "bool",
        "string",
        "string",
        "double",
    ]
    assert found["text"].to_pylist() == ["=a", "b", None], "a spreadsheet's apostrophe is for CSV"
    assert found["mixed"].to_pylist() == ["x", "3", None]
    assert data == to_parquet(table)


def test_a_column_has_the_same_type_with_values_and_without(told: Path, large: Path, small: CampaignBuilder) -> None:
    """So that the tables of several campaigns go into one. Those with values say that the types are right, too."""
    one, two, bare = (types_of(campaign) for campaign in (told, large, begun(small)))
    assert one == two == bare
    assert one["runs"]["elapsed_s"] == "double" and one["waivers"]["time"] == "double"
    assert one["runs"]["event"] == "int64" and one["runs"]["counted"] == "bool" and one["issues"]["opened"] == "double"


def types_of(campaign: Path) -> dict[str, dict[str, str]]:
    tables = make_tables(evidence_of(read_campaign(campaign)), [])
    return {
        name.removesuffix(".csv"): _types(table, name.removesuffix(".csv"))
        for name, table in tables.items()
        if isinstance(table, Table)
    }


def _types(table: Table, name: str) -> dict[str, str]:
    schema = pyarrow.parquet.read_schema(io.BytesIO(to_parquet(table, name)))
    return {field.name: str(field.type) for field in schema}


def test_without_pyarrow_the_extra_is_named_and_nothing_is_written(
    small: CampaignBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = begun(small)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError) as caught:
        make_report(campaign, parquet=True)
    assert "shakedown[parquet]" in str(caught.value)
    assert not (campaign / "report.html").exists()
    make_report(campaign)
    assert not list((campaign / "report/tables").glob("*.parquet"))


def test_a_report_without_them_takes_the_old_ones_away(small: CampaignBuilder) -> None:
    campaign = begun(small)
    make_report(campaign, parquet=True)
    make_report(campaign)
    assert not list((campaign / "report/tables").glob("*.parquet"))
