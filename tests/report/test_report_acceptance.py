"""The report of a whole acceptance: what is planted in the story is in it, and each number follows from the tables."""

from __future__ import annotations

import csv
import math
import re
import statistics
from collections import Counter
from pathlib import Path

import pytest

Row = dict[str, str]


def table(campaign: Path, name: str, **where: str) -> list[Row]:
    with (campaign / "report/tables" / name).open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    return [row for row in rows if all(row[key] == value for key, value in where.items())]


def text_of(campaign: Path) -> str:
    """The page's words, without style and figures."""
    page = (campaign / "report.html").read_text(encoding="utf-8")
    page = re.sub(r"<style>.*?</style>|<svg.*?</svg>", " ", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page)).replace("&lt;", "<").replace("&gt;", ">")


@pytest.fixture(scope="module")
def text(acceptance: Path) -> str:
    return text_of(acceptance)


@pytest.mark.parametrize(
    "words",
    [
        "Rejected 2 criteria of 9 not met (performance: fill, stability: correct)",
        "What stands against acceptance not met performance: fill",
        "not met stability: correct (clause SOW 5.1): 354 correct / 357 completed = 99.2%",
        "1 case of 6 undecided, such as ufs: 12 of the 30 that are enough to judge",
        "unjudged 1 contract row that nothing was judged by: c5:19",
        "unjudged 1 figure that no contract row asks about: sypd of cm4",
        "Waived by V. Example : power-off is shown by 31 May",
        "procedures is undecided, waived: power-off is shown by 31 May",
        "For the vendor: The Vendor Company",
        "For the site: The Laboratory",
        "19 rows: 18 met, 0 not met, 0 undecided, 1 unjudged",
        "it matches no case of the plan",
        "VT report p. 5",
        "beside 6 warm-ups",
        "57 of 57 wanted results passed in 57 attempts",
        "94.1% (91.3% to 96.1%) 5 site 95.4% (92.8% to 97.1%)",
        "the file system stood still, ticket 4711",
        "a declared change V. Example: LNet time-outs raised to 120 s",
        "the machine, found changed",
        "c5n0017: libfabric 1.15.2 -> 1.20.1",
        "between nodes: c5n0017: libfabric 1.20.1 instead of 1.15.2",
        "Nobody has attested it; it is for the site to do.",
        "mpigraph.pdf 00ef00ef",
        "ruled: 2 site",
        "delivered 192 nodes x 239.8 h = 46047 calendar",
    ],
)
def test_it_says(text: str, words: str) -> None:
    assert words in text


def test_every_figure_of_the_paper_is_there_in_every_format(acceptance: Path) -> None:
    names = {path.stem for path in (acceptance / "report/figures").iterdir()}
    tests = ("cm4", "esm4-small", "esm4-large", "spear", "shield", "ufs")
    wanted = {"modes-01-performance-elapsed", "runs-by-test-02-stability", "failures-by-test-02-stability"}
    wanted |= {f"run-time-{number:02d}-stability-{test}" for number, test in enumerate(tests, 7)}
    assert wanted <= names
    for name in names:
        found = {path.suffix for path in (acceptance / "report/figures").glob(f"{name}.*")}
        assert found == {".svg", ".pdf", ".png"}, name


def test_every_table_is_told_on_the_page_and_in_the_readme(acceptance: Path, text: str) -> None:
    files = {path.name for path in (acceptance / "report/tables").iterdir()}
    readme = (acceptance / "report/tables/README.txt").read_text()
    for name in files - {"README.txt"}:
        assert name in text and f"{name}\n    " in readme, name
    assert set(re.findall(r"[a-z-]+\.csv", readme)) <= files


def test_a_line_of_each_epoch_and_the_limits_are_in_the_figures_of_run_times(acceptance: Path) -> None:
    page = (acceptance / "report.html").read_text()
    caption = re.search(r"<b>cm4 in stability</b>(.*?)<span", page, re.DOTALL)
    assert caption is not None
    assert caption[1].strip() == (
        "105 runs; the dashed line is the mean of correct runs. Outliers are circled. "
        "Dotted: limits of the contract. Vertical lines: an epoch begins."
    )


# ---- each number again, from the tables alone --------------------------------------------------------------------------


def test_the_criteria_follow_from_the_runs(acceptance: Path) -> None:
    runs = table(acceptance, "runs.csv", component="stability", counted="yes")
    completed = [row for row in runs if row["verdict"] in ("passed", "performance", "incorrect")]
    right = sum(row["verdict"] != "incorrect" for row in completed)
    (correct,) = table(acceptance, "criteria.csv", component="stability", criterion="correct")
    assert float(correct["measured"]) == right / len(completed) == 354 / 357
    assert (correct["outcome"], correct["clause"]) == ("not met", "SOW 5.1")
    kept = [row for row in runs if row["ruling"] != "site"]
    (rate,) = table(acceptance, "criteria.csv", component="stability", criterion="completed")
    assert float(rate["measured"]) == sum(row["good"] == "yes" for row in kept) / len(kept) == 354 / 371
    assert float(rate["measured_before"]) == 354 / 376
    assert rate["left_out"] == "5 ruled site"


def test_table_four_follows_from_the_values(acceptance: Path) -> None:
    lines = table(acceptance, "variation.csv")
    assert len(lines) == 18, "six cases isolated, six in fill, six in the stability test"
    for line in lines:
        keys = {key: line[key] for key in ("component", "case", "mode")}
        rows = table(acceptance, "values.csv", figure="elapsed", counts="yes", **keys)
        for suffix, mine in (("", rows), ("_without", [row for row in rows if row["outlier"] == "no"])):
            values = [float(row["value"]) for row in mine]
            assert int(line[f"n{suffix}"]) == len(values)
            mean, sd = (line["mean_s"], line["sd_s"]) if not suffix else (line["mean_without_s"], line["sd_without_s"])
            assert float(mean) == pytest.approx(statistics.fmean(values), rel=1e-12)
            assert float(sd) == pytest.approx(statistics.stdev(values), rel=1e-9)
    (cm4,) = table(acceptance, "variation.csv", component="stability", case="cm4")
    assert len(cm4["outliers"].split()) == 2
    assert float(cm4["sd_percent"]) > 10 > 1 > float(cm4["sd_percent_without"]), "two doubled runs make the difference"


def test_rates_and_verdicts_follow_from_the_runs(acceptance: Path) -> None:
    for line in table(acceptance, "rates.csv"):
        runs = table(acceptance, "runs.csv", component=line["component"], counted="yes")
        runs = [row for row in runs if line["test"] in ("", row["test"])]
        good = [row for row in runs if row["good"] == "yes"]
        after = [row for row in runs if row["good"] == "yes" or row["ruling"] in ("", "vendor")]
        assert (int(line["attempts"]), int(line["good"]), int(line["attempts_after"])) == (
            len(runs),
            len(good),
            len(after),
        )
        assert float(line["before"]) == len(good) / len(runs)
        assert float(line["after"]) == len(good) / len(after)
        shares = table(acceptance, "verdicts-by-test.csv", component=line["component"], test=line["test"])
        assert Counter(row["verdict"] for row in runs) == {row["verdict"]: int(row["count"]) for row in shares}
        assert math.fsum(float(row["share"]) for row in shares) == pytest.approx(1.0)


def test_isolated_fill_and_vendor_follow_from_the_values(acceptance: Path) -> None:
    lines = table(acceptance, "modes.csv", figure="elapsed")
    assert len(lines) == 6
    for line in lines:
        means = {}
        for mode in ("isolated", "fill"):
            rows = table(acceptance, "values.csv", component="performance", case=line["case"], mode=mode, figure="elapsed",
                         counts="yes")  # fmt: skip
            means[mode] = statistics.fmean(float(row["value"]) for row in rows)
            better = 1 - means[mode] / float(line["vendor"])
            assert float(line[f"{mode}_better_than_vendor"]) == pytest.approx(better)
        assert float(line["worse"]) == pytest.approx(means["fill"] / means["isolated"] - 1)
    (slow,) = [line for line in lines if float(line["worse"]) > 0.05]
    assert slow["case"] == "shield" and float(slow["worse"]) == pytest.approx(0.12, abs=0.01)


def test_utilisation_follows_from_the_runs_and_nodes(acceptance: Path) -> None:
    nodes = {"cm4": 48, "esm4-small": 18, "esm4-large": 26, "spear": 22, "shield": 96, "ufs": 24}
    lines = table(acceptance, "utilisation.csv", component="stability")
    assert [line["name"].split(" ")[0] for line in lines] == ["contractual", "our", "delivered", "delivered"]
    for line in lines:
        share = float(line["node_hours"]) / (float(line["nodes"]) * float(line["hours"]))
        assert float(line["share"]) == pytest.approx(share)
        assert line["definition"]
    runs = table(acceptance, "runs.csv", component="stability", counted="yes", verdict="passed")
    hours = math.fsum(nodes[row["case"]] * float(row["elapsed_s"]) / 3600 for row in runs)
    assert float(lines[0]["node_hours"]) == pytest.approx(hours)


def test_the_recipes_name_tables_and_columns_that_exist(acceptance: Path) -> None:
    for row in table(acceptance, "recipes.csv"):
        (name,) = re.findall(r"^[a-z-]+\.csv", row["computed_from"])
        columns = table(acceptance, name)[0].keys()
        for column in re.findall(r"(\w+) = ", row["computed_from"].split(":")[0]):
            assert column in columns, (name, column)


def test_the_planted_row_and_figure_are_unjudged_in_the_tables(acceptance: Path) -> None:
    (row,) = table(acceptance, "contract-rows.csv", outcome="unjudged")
    assert (row["row"], row["test"], row["basis"], row["reason"]) == (
        "c5:19", "hpl", "vendor", "it matches no case of the plan",
    )  # fmt: skip
    (figure,) = table(acceptance, "unjudged-figures.csv")
    assert (figure["test"], figure["figure"], figure["values"]) == ("cm4", "sypd", "95")
