"""The figures: what they take, what they leave out, and that strangers' values cannot break them."""

from __future__ import annotations

import itertools
import math
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest
from matplotlib.colors import to_hex

from shakedown.metrics.cases import FigureSummary
from shakedown.metrics.rows.rows import EpochRow, RunRow
from shakedown.metrics.statistics import describe
from shakedown.model.events import VERDICTS
from shakedown.model.judging import ContractRow
from shakedown.model.nouns import FigureSpec
from shakedown.report.case_names import folded, telling_names
from shakedown.report.figures.io import draw_io
from shakedown.report.figures.line import _time_line
from shakedown.report.figures.nodes_measured import draw_measured_nodes, has_several, slow_nodes
from shakedown.report.figures.noise import draw_noise
from shakedown.report.figures.outputs_read import CasePictures
from shakedown.report.figures.pairs import _bitmap, draw_matrix, node_medians
from shakedown.report.figures.records import Histogram, IoRate, Matrix, NodeValues, find_pictures
from shakedown.report.figures.style import MARKS, Drawing, capital, inline_svg, label, short_number, style
from shakedown.report.figures.times import Group, Series, _draw
from shakedown.report.figures.vendor_comparison import draw_sides
from shakedown.report.page.filters import name, percent, signed, strip
from shakedown.report.sides import Side


def matrix(size: int, slow: int = -1, unit: str = "MB/s") -> Matrix:
    """Every pair reaches 100, pairs of the slow node 10; the diagonal says 999 and must not count."""
    rows = tuple(
        tuple(999.0 if i == j else 10.0 if slow in (i, j) else 100.0 + (i + j) % 3 for j in range(size))
        for i in range(size)
    )
    return Matrix("bandwidth", unit, tuple(f"n{i}" for i in range(size)), rows)


def test_the_slow_node_is_an_outlier_and_its_partners_are_not() -> None:
    nodes = node_medians([CasePictures("pairs", "r000001", (matrix(12, slow=5),))])
    assert [node.node for node in nodes if node.outlier] == ["n5"]
    assert nodes[5].value == 10.0 and all(100 <= node.value <= 102 for node in nodes if node.node != "n5")


def test_of_two_nodes_none_is_called_slow() -> None:
    nodes = node_medians([CasePictures("pairs", "r000001", (matrix(2),))])
    assert not any(node.outlier or node.many for node in nodes)


def test_a_node_that_measured_nothing_has_no_median() -> None:
    rows = ((math.nan, math.nan), (math.nan, math.nan))
    assert node_medians([CasePictures("c", "r", (Matrix("m", "", ("a", "b"), rows),))]) == []


@pytest.mark.parametrize(("unit", "kept"), [("MB/s", 10.0), ("us", 102.0)])
def test_a_thinned_bitmap_keeps_the_slowest_pair_of_each_block(unit: str, kept: float) -> None:
    bitmap = _bitmap(matrix(9, slow=4, unit=unit), 2)
    assert bitmap.shape == (5, 5)
    assert float(bitmap[2, 0]) == kept
    assert float(bitmap.max()) < 999, "the diagonal does not count"


@pytest.mark.parametrize("size", [1, 2, 9])
def test_matrices_of_any_size_are_drawn(size: int) -> None:
    with style():
        drawing = draw_matrix(1, CasePictures("pairs", "r000001"), matrix(size))
    assert drawing.svg.startswith(b"<?xml") and drawing.pdf.startswith(b"%PDF")
    assert drawing.wide == (size > 8)


def test_a_matrix_of_nothing_and_a_histogram_of_nothing_are_drawn() -> None:
    nothing = Matrix("m", "", ("a", "b"), ((math.nan,) * 2,) * 2)
    empty = Histogram("noise", "us", "core 0", (-1.0, 0.0, 5.0), (0.0, 0.0))
    with style():
        draw_matrix(1, CasePictures("pairs", "r000001"), nothing)
        draw_noise(1, CasePictures("noise", "r000001", histograms=(empty,)), "noise")


def test_of_many_cores_the_quietest_the_middle_and_the_noisiest_are_shown() -> None:
    cores = tuple(
        Histogram("noise", "us", f"n1 core {i}", (1.0, 2.0, 40.0), (100.0, float(i)))
        for i in (5, 0, 9, 3, 7, 1, 2, 4, 8)
    )
    with style():
        drawing = draw_noise(1, CasePictures("noise", "r000001", histograms=cores), "noise")
    assert "9 cores" in drawing.caption and "quietest core, the middle one and the noisiest" in drawing.caption
    text = drawing.svg.decode()
    assert all(f"n1 core {core} " in text for core in (0, 4, 9)) and "n1 core 5 " not in text


def test_histograms_of_no_core_are_told_apart_by_what_the_kernel_calls_them() -> None:
    lines = b"".join(
        b'{"record":"histogram","name":"latency","unit":"us","host":"%s","edges":[1,2,4],"counts":[3,1]}\n' % phase
        for phase in (b"isolated", b"congested")
    )
    found = find_pictures(lines, {"histogram"})
    assert [one.who for one in found.histograms] == ["isolated", "congested"]
    with style():
        drawing = draw_noise(1, CasePictures("congestion", "r000001", histograms=tuple(found.histograms)), "latency")
    assert drawing.caption == "From run r000001. How often each value was measured."
    assert "isolated" in drawing.svg.decode()


def of_nodes(unit: str, *values: float) -> NodeValues:
    return NodeValues("memory", unit, tuple(f"n{place}" for place in range(len(values))), values)


def test_a_node_is_slow_where_it_is_worse_than_the_median_by_more_than_ten_per_cent() -> None:
    assert slow_nodes(of_nodes("GB/s", 100.0, 89.0, 91.0, 100.0, 50.0, 130.0, 100.0)) == ["n4", "n1"]
    assert slow_nodes(of_nodes("us", 1.0, 0.5, 1.2, 1.0, 1.05)) == ["n2"], "of a time more is worse"
    assert slow_nodes(of_nodes("GB/s", math.nan, 1.0, 1.0)) == slow_nodes(of_nodes("GB/s", 0.0, 0.0)) == []


def test_slow_nodes_are_named_in_the_figure_and_below_it() -> None:
    quantities = (of_nodes("GB/s", 100.0, 80.0, 100.0), of_nodes("us", 1.0, 1.0, 2.0), of_nodes("GB/s", 5.0))
    case = CasePictures("nodecheck", "r000001", nodes=quantities)
    with style():
        drawing = draw_measured_nodes(1, case)
    assert drawing.caption.endswith(
        "3 nodes, each from the worst to the best. Worse than the median by more than 10 %: n1, n2."
    )
    text = drawing.svg.decode()
    assert "n1" in text and "n2" in text and text.count("% better than the median") == 1
    even = CasePictures("nodecheck", "r000001", nodes=(of_nodes("GB/s", 1.0, 1.0),))
    assert draw_measured_nodes(1, even).caption.endswith("None is worse than the median by more than 10 %.")
    assert has_several(case) and not has_several(CasePictures("stream", "r000001", nodes=(of_nodes("GB/s", 1.0),)))


def test_rates_beyond_what_fits_are_said() -> None:
    rates = tuple(IoRate(f"op{i}", "", 0, f"unit{i % 9}", 1.0) for i in range(90))
    with style():
        drawing = draw_io(1, CasePictures("io", "r000001", rates=rates, rate_runs=1))
    assert (
        drawing.caption
        == "Medians of 1 run; the thin line goes from the least to the most. 50 more rates are not drawn."
    )


def test_the_size_of_a_transfer_is_said_once_where_there_is_one() -> None:
    def drawn(*sizes: int) -> tuple[list[str], str]:
        rates = tuple(IoRate("write", "file-per-process", size, "MB/s", 1.0) for size in sizes)
        with style():
            drawing = draw_io(1, CasePictures("io", "r000001", rates=rates, rate_runs=1))
            return [text.get_text() for text in drawing._figure.axes[0].get_yticklabels()], drawing.caption

    names, caption = drawn(65536, 65536)
    assert names == ["write file-per-process"] and caption.endswith(" Transfers of 64.0 KiB.")
    names, caption = drawn(65536, 1024)
    assert len(names) == 2 and names[1].endswith("1.0 KiB") and "Transfers" not in caption


def test_ids_of_inline_figures_are_their_own() -> None:
    svg = (
        '<?xml?><svg width="1pt" height="2pt"><metadata>who</metadata><!-- x --><g id="a"/><use xlink:href="#a"/></svg>'
    )
    text = inline_svg(svg, "fig-1")
    assert 'id="fig-1-a"' in text and 'href="#fig-1-a"' in text
    assert "who" not in text and "<!--" not in text and "width" not in text


def test_every_verdict_has_a_mark_of_its_own_shape() -> None:
    assert set(MARKS) == set(VERDICTS)
    assert len({shape for shape, _ in MARKS.values()}) == len(MARKS), "colour is never the only carrier"


def test_matplotlib_is_left_as_it_was_found() -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    with style():
        assert matplotlib.rcParams["text.parse_math"] is False
    assert dict(matplotlib.rcParams) == before


def test_labels_and_numbers() -> None:
    assert label("_hidden").strip("\u2009") == "_hidden" and len(label("x" * 99)) == 48
    assert capital("bandwidth") == "Bandwidth" and capital("") == ""
    assert [short_number(value) for value in (0, 0.5, 200, 8034, 10_000, 1_892_864, 3e9)] == [
        "0", "0.5", "200", "8034", "10 k", "1.89 M", "3 G",
    ]  # fmt: skip


LONG = "esm4-small/pe=intel-classic,f2=quiet,shrink=24"


def run_row(number: int, verdict: str = "passed") -> RunRow:
    at = 10.0 * number
    told = RunRow(f"r{number:06d}", "case", "performance", 1, 1, verdict, "", number + 1, at, 1)
    return msgspec.structs.replace(told, started=at, ended=at + 5, elapsed_s=5.0 + number / 10)


def run_times(names: list[str], verdicts: tuple[str, ...] = ("passed",)) -> Drawing:
    """The figure of a test whose cases have these names, each with a run of every verdict."""
    rows = [[run_row(10 * i + j, verdict) for j, verdict in enumerate(verdicts)] for i in range(len(names))]
    return _draw(
        1, Group("performance", "esm4-small", [Series(*one) for one in zip(names, rows, strict=True)]), [], 0.0
    )


@pytest.mark.parametrize(
    "names",
    [
        [LONG],
        [f"{LONG}, isolated", f"{LONG}, fill"],
        [f"esm4-small/pe=a-compiler-of-a-very-long-name-{i},library=of-which-the-name-is-no-shorter-{i}" for i in "ab"],
        [f"esm4-small/{'W' * 90}-{i}" for i in range(6)],
    ],
)
@pytest.mark.parametrize("verdicts", [("passed",), tuple(MARKS)])
def test_axes_keep_their_size_whatever_the_legend(names: list[str], verdicts: tuple[str, ...]) -> None:
    with style():
        plain, figure = run_times(["a"])._figure, run_times(names, verdicts)._figure
        axes, width, height = figure.axes[0], figure.get_figwidth(), figure.get_figheight()
        assert axes.get_position().width >= 0.6
        assert axes.get_position().height * height >= 0.9 * plain.axes[0].get_position().height * plain.get_figheight()
        for part in (*figure.legends, axes.xaxis.label):
            box = part.get_window_extent().transformed(figure.dpi_scale_trans.inverted())
            assert box.x0 >= -0.01 and box.x1 <= width + 0.01 and box.y0 >= -0.01 and box.y1 <= height + 0.01, part


def test_a_legend_names_what_tells_cases_apart_and_the_caption_the_rest() -> None:
    with style():
        drawing = run_times([f"{LONG}, isolated", f"{LONG}, fill"])
        assert [text.get_text() for text in drawing._figure.legends[0].get_texts()] == ["isolated", "fill"]
    assert drawing.caption.endswith(f" All are of {LONG}.")


@pytest.mark.parametrize("cases", [2, 6, 7, 8, 18])
def test_each_case_has_a_look_of_its_own_and_a_place_in_the_legend(cases: int) -> None:
    names = [f"esm4-small/n={number}" for number in range(cases)]
    with style():
        figure = run_times(names)._figure
        (legend,) = figure.legends
        looks = {(line.get_color(), line.get_marker()) for line in legend.get_lines()}
        dots = {
            (to_hex(one.get_facecolor()[0]), len(one.get_paths()[0].vertices), one.get_paths()[0].vertices[0][0])
            for one in figure.axes[0].collections
        }
    assert [text.get_text() for text in legend.get_texts()] == [f"n={number}" for number in range(cases)]
    assert len(looks) == len(dots) == cases
    assert not {shape for _, shape in looks} & {shape for name, (shape, _) in MARKS.items() if name != "passed"}


def test_more_cases_than_there_are_looks_are_told() -> None:
    with style():
        drawing = run_times([f"esm4-small/n={number}" for number in range(19)])
    assert (
        "Its 19 cases are too many to tell apart here; tables/runs.csv names the case of each run." in drawing.caption
    )


def test_what_the_title_says_is_not_said_again() -> None:
    with style():
        drawing = run_times(["esm4-small/n=1", "esm4-small/n=2"])
    assert drawing.title.startswith("esm4-small in ") and "All are of" not in drawing.caption


def test_places_on_the_axis_do_not_run_into_each_other() -> None:
    """Runs within 20 ms, 50 s after the start: seven digits tell them apart."""
    rows = [
        msgspec.structs.replace(run_row(i), started=50.3875 + 0.002 * i, elapsed_s=0.008, ended=50.4) for i in range(10)
    ]
    with style():
        figure = _draw(1, Group("stability", "primes", [Series("primes", rows)]), [], 0.0)._figure
        low, high = figure.axes[0].get_xlim()
        shown = [tick for tick in figure.axes[0].xaxis.get_major_ticks() if low <= tick.get_loc() <= high]
        boxes = [tick.label1.get_window_extent() for tick in shown]
        assert len(boxes) >= 2
        assert all(left.x1 < right.x0 for left, right in itertools.pairwise(boxes))


def test_the_name_of_an_axis_is_not_cut_off() -> None:
    """Where the legend has taken its room the numbers of an axis may be others, and wider."""
    cut = []
    for high in (1.0 + 0.03 * step for step in range(30)):
        good = [msgspec.structs.replace(run_row(i), elapsed_s=high) for i in range(3)]
        rows = [*good, msgspec.structs.replace(run_row(4, "failed"), elapsed_s=0.5 * high)]
        with style():
            figure = _draw(1, Group("stability", "spear", [Series("spear", rows)]), [], 0.0)._figure
            box = figure.axes[0].yaxis.label.get_window_extent()
        cut += [high] if box.x0 < figure.bbox.x0 else []
    assert cut == []


def test_the_name_of_an_axis_is_not_cut_off_where_each_layout_has_other_numbers() -> None:
    """Before the legend has its room the axis has 0, 5 and 10, after it 0.0, 2.5 and so on, and so with every layout."""
    rows = [msgspec.structs.replace(run_row(i), elapsed_s=11.47, started=346.0 + 15 * i) for i in range(20)]
    rows.append(msgspec.structs.replace(run_row(21, "failed"), elapsed_s=5.7, started=420.0))
    with style():
        figure = _draw(1, Group("stability", "esm4-large", [Series("case", rows, 11.47)]), [], 0.0)._figure
        figure.axes[0].yaxis.get_tightbbox()  # the name moves to where it is drawn
        assert figure.axes[0].yaxis.label.get_window_extent().x0 >= figure.bbox.x0


def test_bars_of_cases_with_long_names_keep_their_width() -> None:
    spec = FigureSpec("rate", unit="GB/s", better="higher")
    summary = FigureSummary(spec, (1.0, 2.0, 3.0), describe([1.0, 2.0, 3.0]), None, (), 0)
    sides = [Side("performance", f"{test}/{LONG[11:]}", spec, (("", summary),), (), None) for test in ("cm4", "ufs")]
    with style():
        (drawing,), _ = draw_sides(sides)
        axes = drawing._figure.axes[0]
        assert axes.get_position().width >= 0.6
        assert [text.get_text() for text in axes.get_yticklabels()] == ["cm4", "ufs"]
    assert drawing.caption.endswith(" All are of pe=intel-classic,f2=quiet,shrink=24.")


@pytest.mark.parametrize(
    ("names", "short", "common"),
    [
        (["cm4/pe=a,f2=q", "cm4/pe=b,f2=q"], ["pe=a", "pe=b"], "cm4/f2=q"),
        (["cm4/f2=q", "ufs/f2=q"], ["cm4", "ufs"], "f2=q"),
        (["cm4/f2=q,n=1", "ufs/f2=q,n=2"], ["cm4/n=1", "ufs/n=2"], "f2=q"),
        (["cm4", "ufs"], ["cm4", "ufs"], ""),
        ([LONG], [LONG], ""),
        ([LONG, LONG], [LONG, LONG], ""),
        (["cm4/a=1,b=2", "cm4/b=2,a=1"], ["cm4/a=1,b=2", "cm4/b=2,a=1"], ""),
        (["cm4/a=1", "cm4/a=1,b=2"], ["cm4/a=1", "cm4/a=1,b=2"], ""),
    ],
)
def test_what_all_cases_share_is_said_once(names: list[str], short: list[str], common: str) -> None:
    assert telling_names(names) == (short, common)


def test_long_names_break_where_a_part_ends() -> None:
    assert folded(LONG, 30) == "esm4-small/pe=intel-classic,\nf2=quiet,shrink=24"
    assert folded("x" * 99, 30) == "x" * 29 + "\u2026"
    assert folded("a" * 20 + "," + "b" * 20 + "," + "c" * 20, 22, lines=2) == "a" * 20 + ",\n" + "b" * 20 + ",\u2026"
    assert name('cm4/<b>,"x"') == (
        '<span class="part">cm4/</span><span class="part">&lt;b&gt;,</span><span class="part">&#34;x&#34;</span>'
    )


# ---- epochs, the vendor's number, strips ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("times", "lines", "said"),
    [
        ((4.0, 500.0), 0, "the mean of correct runs."),  # before the first of these runs, after the last
        ((4.0, 25.0), 1, "Vertical lines: an epoch begins."),
        (tuple(20.0 + i / 2 for i in range(14)), 12, "an epoch begins; the first 12 of 14."),
    ],
)
def test_epochs_that_began_while_these_runs_were_started_are_lines(
    times: tuple[float, ...], lines: int, said: str
) -> None:
    epochs = [EpochRow(1, "campaign_start")]
    epochs += [EpochRow(number, "changed", time=time) for number, time in enumerate(times, 2)]
    series = [Series(f"case-{i}", [run_row(10 * i + j) for j in range(1, 4)]) for i in range(2)]
    with style():
        drawing = _draw(1, Group("stability", "case", series), epochs, 0.0)
        axes = drawing._figure.axes[0]
        words = [text for text in axes.texts if "epoch" in text.get_text()]
        assert len(words) == lines
        low, high = axes.get_xlim()
        assert all(low <= text.xy[0] <= high for text in words), "a label beside the axes squeezes them"
    assert drawing.caption.endswith(said)


def a_row(must: str, **fields: Any) -> ContractRow:
    return ContractRow(f"c:{must}", "c", "t", "time", must, fields.pop("basis", "vendor"), unit="s", **fields)


@pytest.mark.parametrize(
    ("rows", "isolated", "fill"),
    [
        ([a_row("100 s +5%", high=105.0, value=100.0)], 100.0, 100.0),  # not the bound: the vendor measured 100
        ([a_row("<= 105 s", high=105.0)], 105.0, 105.0),
        ([a_row("90..100 s", low=90.0, high=100.0)], 95.0, 95.0),
        ([a_row("90 s +10% -5%", low=85.5, high=99.0, value=90.0)], 90.0, 90.0),
        ([a_row("100 s", value=100.0, mode="isolated"), a_row("110 s", value=110.0, mode="fill")], 100.0, 110.0),
        ([a_row("100 s", value=100.0, mode="isolated")], 100.0, 100.0),  # figure 1 of the paper: both beside one number
        ([a_row("110 s", value=110.0, mode="fill"), a_row("100 s", value=100.0)], 100.0, 110.0),
        ([a_row("<= 3 s", high=3.0, statistic="sd"), a_row("<= 9 s", high=9.0, basis="contract")], None, None),
    ],
)
def test_the_vendors_number_is_the_value_that_is_named(
    rows: list[ContractRow], isolated: float | None, fill: float | None
) -> None:
    spec = FigureSpec("time", "s", "lower")
    summary = FigureSummary(spec, (99.0,), describe([99.0]), None, (), 0)
    modes = tuple((mode, summary) for mode in ("isolated", "fill"))
    side = Side("performance", "t", spec, modes, tuple(rows), None)

    assert (side.vendor("isolated"), side.vendor("fill")) == (isolated, fill)
    assert side.better("fill") == (None if fill is None else pytest.approx(1 - 99 / fill))


def test_no_difference_has_no_sign() -> None:
    assert [signed(value) for value in (-0.04, 0.0, 0.04, -0.06, 12.34)] == ["0.0", "0.0", "0.0", "-0.1", "+12.3"]
    assert [percent(value) for value in (-0.0003, 0.12, None)] == ["0.0%", "+12.0%", "–"]


def test_a_strip_needs_no_style_sheet() -> None:
    """The writer of the PDF gives a drawing inside the page none: circles would be filled with black."""
    values = [1.0, 1.1, 1.2, 1.0, 1.1, 9.0]
    figure = FigureSummary(FigureSpec("time", "s"), tuple(values), describe(values), None, (), 0)

    picture = ElementTree.fromstring(strip(figure))
    painted = {shape: group for group in picture for shape in (group, *group) if shape.tag != "g"}

    assert len(painted) == 2 + len(values) + 1
    assert all({"fill", "stroke"} & {*shape.attrib, *group.attrib} for shape, group in painted.items())
    (far,) = [group for shape, group in painted.items() if shape.get("class") == "far"]
    assert far.get("fill") == "none"


def test_a_run_that_was_ended_at_its_walltime_stands_at_it() -> None:
    """It had no time to say how long it took; Figure 8 of paper 004 shows such runs at the top. A lost one stands on the axis."""
    rows = [
        run_row(1),
        *(msgspec.structs.replace(run_row(i, v), elapsed_s=None) for i, v in ((2, "timeout"), (3, "lost"))),
    ]
    with style():
        drawing = _draw(1, Group("stability", "spear", [Series("spear", rows, limit_s=14_500.0)]), [], 0.0)
        axes = drawing._figure.axes[0]
        marks = {
            points.get_offset_transform() is axes.get_xaxis_transform(): {float(y) for _, y in points.get_offsets()}
            for points in axes.collections
            if not {float(y) for _, y in points.get_offsets()} <= {5.1}
        }
        assert axes.get_ylim()[1] > 14_500
    assert {14_500.0} in marks.values() and {0.0} in marks.values()
    assert drawing.caption.startswith("1 run;")
    assert "1 that were ended at their walltime stand at it. 1 without a run time stand on the axis." in drawing.caption


def test_the_time_line_of_many_runs_is_a_picture_however_they_lie_in_tests() -> None:
    """1600 runs of four tests are as many shapes as 1600 of one: a PDF takes as long for them."""
    rows = [
        RunRow(
            f"r{number}", "a", "c", number, 1, "passed", "", number, 0.0, number, started=float(number), elapsed_s=1.0
        )
        for number in range(1600)
    ]
    few = _time_line(dict.fromkeys("abcd", rows[:100]), 0.0)
    many = _time_line({test: rows[place::4] for place, test in enumerate("abcd")}, 0.0)
    assert b"<image" not in few.svg
    assert many.svg.count(b"<image") >= 1 and many.svg.count(b"<path") < few.svg.count(b"<path")
