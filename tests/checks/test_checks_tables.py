"""Tables as programs print them: OSU, STREAM, HPL, IOR, mdtest, Intel MPI Benchmarks, CSV and Markdown, read cell by cell."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from shakedown.checks.figures import MOST_CELLS, Figure, take
from shakedown.checks.text import Text, decode
from shakedown.model.figures import FigureSpec, Table

OSU = """\
# OSU MPI Latency Test v7.3
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)
1                       1.53
2                       1.55
1024                    2.75
1048576               105.31
"""

STREAM = """\
Array size = 10000000 (elements), Offset = 0 (elements)
-------------------------------------------------------------
Function    Best Rate MB/s  Avg time     Min time     Max time
Copy:           94231.5     0.001733     0.001698     0.001790
Scale:          81562.7     0.002003     0.001962     0.002051
Add:            90771.2     0.002689     0.002644     0.002733
Triad:          91234.9     0.002675     0.002631     0.002741
-------------------------------------------------------------
Solution Validates: avg error less than 1.000000e-13 on all three arrays
"""

HPL = """\
================================================================================
T/V                N    NB     P     Q               Time                 Gflops
--------------------------------------------------------------------------------
WR11C2R4       29184   192     2     4             123.45             1.3422e+02
HPL_pdgesv() start time Tue Nov  1 10:00:00 2022
================================================================================
T/V                N    NB     P     Q               Time                 Gflops
--------------------------------------------------------------------------------
WR11C2R4       58368   192     2     4             870.10             1.5237e+02
"""

IOR = """\
Results:

access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter
------    ---------  ----       ----------  ---------- ---------  --------   --------   --------   --------   ----
write     2345.67    2346.01    0.003409    1048576    1024.00    0.000703   0.436482   0.000301   0.437012   0
read      5123.45    5124.11    0.001561    1048576    1024.00    0.000212   0.199832   0.000101   0.200112   0

Summary of all tests:
"""

MDTEST = """\
SUMMARY rate: (of 3 iterations)
   Operation                      Max            Min           Mean        Std Dev
   ---------                      ---            ---           ----        -------
   Directory creation     :       2053.123       1940.001       2001.500         45.300
   Directory stat         :     170001.000     160000.500     165000.750       4000.250
   File creation          :       5021.250       4876.125       4950.500         60.125
-- finished at 11/01/2022 10:00:00 --
"""

IMB = """\
#---------------------------------------------------
# Benchmarking PingPong
# #processes = 2
#---------------------------------------------------
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         0.94         0.00
            8         1000         1.02         7.85
#---------------------------------------------------
# Benchmarking Allreduce
# #processes = 4
#---------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            0         1000         0.03         0.05         0.04
            8         1000         2.11         2.31         2.21
"""


def text(content: str) -> Text:
    return decode("output", content.encode())


def values(table: Table, content: str, name: str = "x", pick: str = "last", required: bool = True) -> dict[str, float]:
    spec = FigureSpec(name, table=table, pick=pick, required=required)  # type: ignore[arg-type]
    return {one.name: one.value for one in take(spec, text(content)) if one.value is not None}


def problem(table: Table, content: str) -> str:
    (found,) = take(FigureSpec("x", table=table), text(content))
    assert found.value is None
    return found.problem


def test_each_row_is_a_number_tagged_with_what_it_is() -> None:
    table = Table(after="^# Size", columns=("size", "x"), column="x", by=("size",))
    assert values(table, OSU) == {"x[size=1]": 1.53, "x[size=2]": 1.55, "x[size=1024]": 2.75, "x[size=1048576]": 105.31}


def test_a_header_names_columns_with_blanks_in_them_and_a_colon_is_no_part_of_a_name() -> None:
    table = Table(header="^Function", column="Best Rate MB/s", by=("Function",))
    assert values(table, STREAM) == {
        "x[Function=Copy]": 94231.5,
        "x[Function=Scale]": 81562.7,
        "x[Function=Add]": 90771.2,
        "x[Function=Triad]": 91234.9,
    }
    assert values(Table(header="^Function", column="Min time", where=(("Function", "Triad"),)), STREAM) == {
        "x": 0.002631
    }


def test_a_table_that_is_printed_several_times_is_read_each_time() -> None:
    table = Table(header=r"^T/V", column="Gflops", by=("N", "P", "Q"))
    assert values(table, HPL) == {"x[N=29184,P=2,Q=4]": 134.22, "x[N=58368,P=2,Q=4]": 152.37}
    assert values(Table(header=r"^T/V", column="Gflops"), HPL, pick="max") == {"x": 152.37}
    assert values(Table(header=r"^T/V", column="Gflops"), HPL, pick="first") == {"x": 134.22}


def test_rules_between_header_and_rows_are_passed_over_and_a_blank_line_ends_the_table() -> None:
    table = Table(header="^access", column="bw(MiB/s)", by=("access",))
    assert values(table, IOR) == {"x[access=write]": 2345.67, "x[access=read]": 5123.45}


def test_names_with_single_blanks_are_kept_whole() -> None:
    table = Table(header=r"^\s+Operation", column="Mean", by=("Operation",))
    assert values(table, MDTEST) == {
        "x[Operation=Directory creation]": 2001.5,
        "x[Operation=Directory stat]": 165000.75,
        "x[Operation=File creation]": 4950.5,
    }


def test_after_finds_one_of_several_tables_and_the_header_follows_it() -> None:
    table = Table(after="Benchmarking Allreduce", header="#bytes", column="t_avg[usec]", by=("bytes",))
    assert values(table, IMB) == {"x[bytes=0]": 0.04, "x[bytes=8]": 2.21}
    assert values(Table(header="#bytes.*Mbytes", column="Mbytes/sec", where=(("bytes", "8.0"),)), IMB) == {"x": 7.85}


def test_csv_has_quotes_and_its_first_line_is_the_header() -> None:
    content = 'name,"rate, measured",nodes\n"a, b",12.5,4\nc,13.5,8\n'
    table = Table(separator=",", column="rate, measured", by=("name", "nodes"))
    assert values(table, content) == {"x[name=a, b,nodes=4]": 12.5, "x[name=c,nodes=8]": 13.5}


@pytest.mark.parametrize(
    ("separator", "content"),
    [
        (",", "kernel,GFLOPS\ndgemm,10.5\nkernel,GFLOPS\nlu,7\n"),
        ("|", "| kernel | GFLOPS |\n| dgemm | 10.5 |\n| kernel | GFLOPS |\n| lu | 7 |\n"),
        ("", "kernel GFLOPS\ndgemm 10.5\nkernel GFLOPS\nlu 7\n"),
    ],
)
def test_a_first_line_that_comes_again_is_no_row(separator: str, content: str) -> None:
    """As in several files that are read one after the other."""
    table = Table(separator=separator, column="GFLOPS", by=("kernel",))
    assert values(table, content) == {"x[kernel=dgemm]": 10.5, "x[kernel=lu]": 7.0}


def test_a_table_with_bars_is_read_without_its_edges() -> None:
    content = "| size | bw |\n|------|----|\n| 8 | 1.5 |\n| 16 | 2.5 |\n"
    assert values(Table(separator="|", column="bw", by=("size",)), content) == {"x[size=8]": 1.5, "x[size=16]": 2.5}


def test_until_ends_a_table_and_lets_other_lines_stand_in_it() -> None:
    content = "size time\n8 1.5\nwarning: slow link\n16 2.5\ntotal 99 7\n32 9.5\n"
    table = Table(header="^size", until="^total", column="time", by=("size",))
    assert values(table, content) == {"x[size=8]": 1.5, "x[size=16]": 2.5}
    assert values(Table(header="^size", column="time", by=("size",)), content) == {"x[size=8]": 1.5}


def test_rows_that_are_said_are_read_past_whatever_stands_between_them() -> None:
    content = "size time\n[1.5] 7 UCX WARN\n8 1.5\nWARNING 3\n\n16 2.5\n4 words no row\nsize time\n16 3.5\n"
    table = Table(header="^size", column="time", by=("size",), rows=r"^\d+ \S+$")
    assert values(table, content) == {"x[size=8]": 1.5, "x[size=16]": 3.5}
    open_table = Table(after="^size", columns=("size", "time", "..."), column="time", by=("size",), rows=r"^\d+ \d")
    assert values(open_table, content, pick="first") == {"x[size=8]": 1.5, "x[size=16]": 2.5}


def test_rows_that_are_said_end_before_until_and_where_the_next_table_begins() -> None:
    content = "a b\n1 2\nb a\n3 4\nend\n5 6\n"
    table = Table(header="^[ab] [ab]", column="b", by=("a",), until="^end", rows=r"^\d")
    assert values(table, content) == {"x[a=1]": 2.0, "x[a=4]": 3.0}
    after = Table(after="^[ab] [ab]", columns=("a", "b"), column="b", by=("a",), until="^end", rows=r"^\d")
    assert values(after, content) == {"x[a=1]": 2.0, "x[a=3]": 4.0}


def test_rows_of_one_tag_are_picked_from() -> None:
    content = "n t\n1 4\n1 6\n2 8\n"
    table = Table(header="^n t", column="t", by=("n",))
    assert values(table, content, pick="mean") == {"x[n=1]": 5.0, "x[n=2]": 8.0}


@pytest.mark.parametrize(
    ("table", "content", "said"),
    [
        (
            Table(header="^size", column="bw", by=("size",)),
            "size time\n1 2\n",
            "the table has no column 'bw'; it has 'size', 'time'",
        ),
        (
            Table(after="^a b", columns=("a", "b", "..."), column="b", by=("a",), rows="^[0-9]"),
            "a b\n1 2 3\n2 N/A 4\n",
            "the line '2 N/A 4' has no number in its column 'b'",
        ),
        (
            Table(header="^a b", column="b", by=("a",), rows="^[0-9]"),
            "a b\n1 2\n2 3 4\n",
            "the line '2 3 4' has 3 fields, and the table 2 columns",
        ),
        (
            Table(header="^a b", column="b", by=("a",)),
            "a b\n1 2 3\n",
            "the line '1 2 3' has 3 fields, and the table 2 columns; "
            "'rows' can say which lines are its rows, or 'after' and 'columns' how its columns are called",
        ),
        (
            Table(header="^size", column="time", by=("size",)),
            "nothing of the kind\n",
            "no row of its table is there: it is nowhere in the output, whose last line is 'nothing of the kind'",
        ),
        (
            Table(header="^n t t", column="t", by=("n",)),
            "n t t\n1 2 3\n",
            "the table has 2 columns 't'; say which: 't#1' or 't#2'",
        ),
    ],
)
def test_a_table_that_cannot_be_read_is_a_problem_in_words(table: Table, content: str, said: str) -> None:
    assert problem(table, content) == f"figure x: {said}"


def test_a_cell_that_is_no_number_is_told_with_its_row_and_the_others_stand() -> None:
    found = take(FigureSpec("x", table=Table(header="^n", column="t", by=("n",))), text("n t\n1 nan\n2 3\n"))
    assert found == (
        Figure("x[n=1]", None, "figure x[n=1]: 'nan' is no finite number"),
        Figure("x[n=2]", 3.0),
    )


def test_a_table_without_end_is_refused_with_the_way_out() -> None:
    rows = "".join(f"{n} {n}\n" for n in range(MOST_CELLS + 1))
    assert problem(Table(header="^n t", column="t", by=("n",)), f"n t\n{rows}").endswith("choose with where")


def test_what_a_program_prints_cannot_forge_the_name_of_another_figure() -> None:
    content = "n t\na]=x[b 1\n"
    (found,) = take(FigureSpec("x", table=Table(header="^n", column="t", by=("n",))), text(content))
    assert found.name == "x[n=a)=x(b]"


def test_of_columns_with_one_name_each_can_be_had() -> None:
    content = "# size time busbw time busbw\n8 1 2 3 4\n16 5 6 7 8\n"
    assert values(Table(header="^# size", column="busbw#1", by=("size",)), content) == {
        "x[size=8]": 2.0,
        "x[size=16]": 6.0,
    }
    assert values(Table(header="^# size", column="busbw#2", by=("size",)), content) == {
        "x[size=8]": 4.0,
        "x[size=16]": 8.0,
    }


@pytest.mark.parametrize(
    ("unit", "value"), [("us", 1.5), ("s", None), ("MB/s", 1.5)], ids=["the same", "another", "another kind"]
)
def test_a_column_whose_units_are_others_than_the_figures_has_no_value(unit: str, value: float | None) -> None:
    """It would be a million times slower. Units of another kind are a name, and no contradiction."""
    spec = FigureSpec("x", unit=unit, table=Table(column="time", header="^size"))
    (found,) = take(spec, Text("output", ("size time\n(B) (us)\n8 1.5\n",), ("size time\n(B) (us)\n8 1.5\n",)))
    assert found.value == value
    why = "figure x: '1.5 us' is in us, and the figure is in s; say so with 'unit: us'"
    assert found.problem == ("" if value is not None else why)


NCCL_UNITS = """\
#       size         count      type     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)               (us)  (GB/s)  (GB/s)            (ms)  (GB/s)  (GB/s)
   268435456      67108864     float   1119.8  239.71  419.49      0   1117.4  240.24  420.42      0
"""
SIZES = ("size", "count", "type", "time", "algbw", "busbw", "_", "time2", "algbw2", "busbw2", "_")


@pytest.mark.parametrize(
    ("table", "column", "unit", "value"),
    [
        (Table(header="^# +size"), "busbw#2", "GB/s", 420.42),
        (Table(header="^# +size"), "busbw#2", "MB/s", None),
        (Table(header="^# +size"), "time#1", "us", 1119.8),
        (Table(header="^# +size"), "time#2", "us", None),
        (Table(header="^# +size", rows=r"^ *\d"), "busbw#1", "MB/s", None),  # the line of units is no row by this
        (Table(after="^# +size", columns=(*SIZES[:6], "...")), "busbw", "MB/s", None),
        (Table(after="^# +size", columns=(*SIZES[:6], "...")), "time", "us", 1119.8),
    ],
)
def test_units_belong_to_the_columns_whose_names_lie_above_them(
    table: Table, column: str, unit: str, value: float | None
) -> None:
    (found,) = take(FigureSpec("x", unit=unit, table=replace(table, column=column, by=("size",))), text(NCCL_UNITS))
    assert found.value == value
    assert value is not None or f"and the figure is in {unit}; say so with 'unit: " in found.problem


@pytest.mark.parametrize(
    ("units", "unit", "problem"),
    [
        (
            "     (us)  (GB/s)",
            "MB/s",
            "belongs to the column 'busbw', and the figure is in MB/s; say 'unit: GB/s', or begin",
        ),
        ("     (us)  (GB/s)", "GB/s", ""),
        ("     (us)  (GB/s)", "ms", "does not say whether 'us' belongs to the column 'busbw'"),
        ("    (us) (GB/s)", "MB/s", "does not say whether"),
        ("   us  GB/s", "MB/s", "'20 GB/s' is in GB/s"),
        ("#    (us)  (GB/s)", "MB/s", "does not say whether 'GB/s' belongs to"),
        ("--- us GB/s", "MB/s", "'20 GB/s' is in GB/s"),
        ("(all) us GB/s", "GB/s", ""),
    ],
)
def test_where_units_are_fewer_than_columns_and_lie_below_none_of_them_another_unit_is_refused(
    units: str, unit: str, problem: str
) -> None:
    spec = FigureSpec("x", unit=unit, table=Table(header="^size", column="busbw", by=("size",)))
    (found,) = take(spec, text(f"size t busbw\n{units}\n8 3 20\n"))
    assert (found.value == 20.0) == (problem == "") and problem in found.problem


def test_a_line_of_units_comes_again_with_the_header() -> None:
    table = Table(header="^size", column="rate", by=("size",))
    block = "size  rate\n B    MB/s\n"
    assert values(table, f"{block}8  1.5\n{block}16  2.5\n") == {"x[size=8]": 1.5, "x[size=16]": 2.5}


def test_a_line_of_units_below_the_header_is_no_row_and_a_word_in_its_place_is_one() -> None:
    table = Table(header="^size", column="rate", by=("size",))
    assert values(table, "size  rate\n B    MB/s\n8  1.5\n") == {"x[size=8]": 1.5}
    assert problem(table, "size  rate\nB  FAILED\n") == "figure x[size=B]: 'FAILED' is not a number"


@pytest.mark.parametrize(
    ("last", "said"),
    [
        ("16 4", "its table ends before the line '16 4', which has 2 fields like its rows, and they have 3"),
        ("16 4 5 6", "its table ends before the line '16 4 5 6', which has 4 fields like its rows, and they have 3"),
        ("16", ""),
        ("16 rows", ""),
        ("total 16", ""),
    ],
)
def test_a_last_row_of_another_width_is_not_dropped_without_a_word(last: str, said: str) -> None:
    table = Table(header="^size", column="rate", by=("size",))
    first, *rest = take(FigureSpec("x", table=table), text(f"size time rate\n8 3 20\n{last}\n"))
    assert first == Figure("x[size=8]", 20.0)
    assert [one.problem for one in rest] == ([f"figure x: {said}"] if said else [])


def test_a_header_that_comes_again_is_no_row() -> None:
    content = "step temp\n1 1.5\n2 2.5\nstep temp\n3 3.5\n"
    table = Table(header="^step temp", column="temp", by=("step",))
    assert values(table, content) == {"x[step=1]": 1.5, "x[step=2]": 2.5, "x[step=3]": 3.5}
    within = Table(after="^begin", header="^step", column="temp", by=("step",))
    assert values(within, f"begin\n{content}") == {"x[step=1]": 1.5, "x[step=2]": 2.5, "x[step=3]": 3.5}


def test_signs_for_per_cent_and_times_are_no_part_of_the_number() -> None:
    content = "name share slower\na 95.2% 3.6X\nb 4.8% 1.0x\n"
    assert values(Table(header="^name", column="share", by=("name",)), content) == {"x[name=a]": 95.2, "x[name=b]": 4.8}
    assert values(Table(header="^name", column="slower", by=("name",)), content) == {"x[name=a]": 3.6, "x[name=b]": 1.0}


def test_rows_may_be_longer_than_columns_that_end_open() -> None:
    table = Table(after="^# Size", columns=("size", "x", "..."), column="x", by=("size",))
    assert values(table, OSU) == values(Table(after="^# Size", columns=("size", "x"), column="x", by=("size",)), OSU)
    full = "# Size  Avg  Min  Max  Iterations\n8  1.5  1.0  2.0  1000\n16  nan  1.0  2.0  1000\nall of it is done\n"
    found = take(FigureSpec("x", table=table), text(full))
    assert found == (
        Figure("x[size=8]", 1.5),
        Figure("x[size=16]", None, "figure x[size=16]: 'nan' is no finite number"),
    )


def test_a_run_time_with_a_blank_in_it_is_one_field() -> None:
    table = Table(columns=("name", "cpu", "x"), column="x", by=("name",))
    content = "fft  9m 1.50s 24m 9.90s\nscf  1h 5m 1h10m\nmin  2.5s 3.5s\n"
    spec = FigureSpec("x", unit="s", table=table)
    assert [one.value for one in take(spec, text(content))] == [1449.9, 4200.0, 3.5]


RECORDS = """\
{"record":"start","kernel":"collectives","size":8}
{"record":"collective","operation":"bcast","size":8,"us":1.5,"list":[1]}
a warning of MPI
{"record":"collective","operation":"bcast","size":16,"us":2.5e3}
{"record":"collective","operation":"barrier","size":0,"us":0.5}
{"record":"collective","operation":"reduce","size":8}
"""


def test_json_lines_of_a_kind_are_a_table_whose_columns_are_their_keys() -> None:
    table = Table(records="collective", column="us", by=("size",), where=(("operation", "bcast"),))
    assert values(table, RECORDS) == {"x[size=8]": 1.5, "x[size=16]": 2500.0}
    both = Table(records="collective", column="us", by=("operation", "size"), where=(("size", "8.0"), ("us", "1.5")))
    assert values(both, RECORDS) == {"x[operation=bcast,size=8]": 1.5}
    assert values(Table(records="collective", column="us", where=(("operation", "barrier"),)), RECORDS) == {"x": 0.5}


@pytest.mark.parametrize(
    ("where", "content", "said"),
    [
        ("reduce", RECORDS, """the record '{"record":"collective","operation":"reduce","size":8}' has no key 'us'"""),
        ("bcast", RECORDS + '{"record":"collective","operation":"bcast","si', "is damaged or cut off"),
        ("gather", RECORDS, "no row has operation = 'gather'; there are 'bcast', 'barrier', 'reduce'"),
        ("gather", "nothing", "no row of its table is there"),
        ("gather", '{"record":"collective","us":1}', "no row of its table is there"),
        ("bcast", '{"record":"collective","operation":"bcast","size":8,"us":null}\n', "null"),
    ],
)
def test_a_record_that_cannot_be_read_is_a_problem(where: str, content: str, said: str) -> None:
    assert said in problem(Table(records="collective", column="us", where=(("operation", where),)), content)


def test_a_line_that_only_looks_like_the_header_is_passed_over() -> None:
    content = "T/V    : Wall time / encoded variant.\nN      : The order of A.\n\nT/V  N  Gflops\nWR  8  1.5\n"
    assert values(Table(header="^T/V", column="Gflops", by=("N",)), content) == {"x[N=8]": 1.5}


def test_where_no_line_has_all_columns_the_first_that_looks_like_the_header_is_told() -> None:
    content = "T/V  N  Rate\nWR  8  1.5\nT/V  N\n"
    said = "figure x: the table has no column 'Gflops'; it has 'T/V', 'N', 'Rate'"
    assert problem(Table(header="^T/V", column="Gflops", by=("N",)), content) == said


def test_a_colon_that_a_blank_parts_from_its_name_is_no_part_of_it() -> None:
    content = "Operation        Max\nFile stat   :   2.5\nFile removal :  3.5\n"
    assert values(Table(header="^Op", column="Max", by=("Operation",)), content) == {
        "x[Operation=File stat]": 2.5,
        "x[Operation=File removal]": 3.5,
    }


def test_a_profile_of_a_whole_program_is_read() -> None:
    content = "n t\n" + "".join(f"routine_{n} {n}.5\n" for n in range(600))
    assert len(values(Table(header="^n t", column="t", by=("n",)), content)) == 600


def test_rows_with_long_names_that_begin_alike_stay_apart() -> None:
    long = "STREAM_COPY_double_gpu_0_buffer_4294967296_block"
    content = f"name bw\n{long}_128 1\n{long}_256 2\n{'x' * 200}a 3\n{'x' * 200}b 4\n"
    found = values(Table(header="^name", column="bw", by=("name",)), content)
    assert sorted(found.values()) == [1.0, 2.0, 3.0, 4.0]
    assert found[f"x[name={long}_256]"] == 2.0
    assert max(map(len, found)) <= 110


@pytest.mark.parametrize(
    ("header", "column", "unit", "value"),
    [
        ("Function  Best Rate MB/s", "Best Rate MB/s", "MB/s", 94231.5),
        ("Function  Best Rate MB/s", "Best Rate MB/s", "GB/s", None),
        ("Function  bw(MiB/s)", "bw(MiB/s)", "MB/s", None),
        ("Function  t[usec]", "t[usec]", "us", 94231.5),
        ("Function  Avg Latency (us)", "Avg Latency (us)", "ms", None),
        ("Function  Max(MiB)", "Max(MiB)", "MiB/s", 94231.5),  # of another kind: IOR calls a rate so
        ("Function  Avg time", "Avg time", "ms", 94231.5),
        ("Function  Max(MiB)", "Max(MiB)", "GB/s", None),
        ("Function  Max(MB)", "Max(MB)", "MB/min", 94231.5),
        ("Function  Gflops", "Gflops", "TFLOP/s", None),
        ("Function  GFLOPS", "GFLOPS", "GFLOP/s", 94231.5),
        ("Function  Peak mflops", "Peak mflops", "GFLOP/s", None),
        ("Function  MB", "MB", "GB/s", None),
        ("Function  min", "min", "s", 94231.5),  # the least one, and no minutes
        ("Function  s", "s", "ms", 94231.5),
        ("Function  Rate(TFlops/s)", "Rate(TFlops/s)", "GFLOP/s", None),
        ("Function  TFLOPs", "TFLOPs", "GFLOP/s", None),
        ("Function  GBps", "GBps", "MB/s", None),
        ("Function  gbps", "gbps", "GB/s", None),
        ("Function  mbps", "mbps", "Mbps", 94231.5),
        ("Function  bw_gbs", "bw_gbs", "MB/s", None),
        ("Function  bw(GB/s/node)", "bw(GB/s/node)", "MB/s", None),
        ("Function  Latency(us),avg", "Latency(us),avg", "ms", None),
    ],
)
def test_a_unit_in_the_name_of_a_column_is_held_against_that_of_the_figure(
    header: str, column: str, unit: str, value: float | None
) -> None:
    table = Table(header="^Function", column=column, by=("Function",))
    (found,) = take(FigureSpec("x", table=table, unit=unit), text(f"{header}\nCopy:  94231.5\n"))
    assert found.value == value
    assert (found.problem == "") == (value is not None)


@pytest.mark.parametrize(
    ("content", "table", "unit", "value"),
    [
        ("n,avg,Units\nlat,1.8,usec\n", Table(separator=",", column="avg"), "ms", None),
        ("n,avg,Units\nlat,1.8,usec\n", Table(separator=",", column="avg"), "us", 1.8),
        ("n,Metric Unit,value\nd,msecond,1.8\n", Table(separator=",", column="value"), "us", None),
        ("n,Metric Unit,value\nd,%,1.8\n", Table(separator=",", column="value"), "us", 1.8),
        ("bw 900 MiB/s\n", Table(columns=("n", "v", "u"), column="v"), "GB/s", None),
        ("bw 900 min\n", Table(columns=("n", "v", "u"), column="v"), "s", 900.0),  # a name as often as a unit
        ("|Metric|Sum|\n|bw [MBytes/s]|12001.25|\n", Table(separator="|", column="Sum"), "GB/s", None),
        ("|Metric|Sum|\n|bw [MBytes/s]|12001.25|\n", Table(separator="|", column="Sum"), "MB/s", 12001.25),
        ("|Metric|Sum|\n|copy (256 MB)|12001.25|\n", Table(separator="|", column="Sum"), "GB", 12001.25),
        ("|Metric|Sum|\n|bw (MB/s), (GB/s)|2.5|\n", Table(separator="|", column="Sum"), "GB/s", 2.5),
        ("Latency (ms):\n avg: 0.81\n", Table(after="^Latency", columns=("n", "v"), column="v"), "us", None),
        ("Copy bandwidth GB/s\n a 0.81\n", Table(after="^Copy", columns=("n", "v"), column="v"), "MB/s", None),
        ("Times in ms:\n a 0.81\n", Table(after="^Times", columns=("n", "v"), column="v"), "s", None),
        ("Copy at 3 MB\n a 0.81\n", Table(after="^Copy", columns=("n", "v"), column="v"), "GB", 0.81),
        ("n GB/s\n a 0.81\n", Table(after="^n", columns=("GB/s", "v"), column="v"), "MB/s", 0.81),  # of another column
        ("Latency (ms):\n avg: 0.81\n", Table(after="^Latency", columns=("n", "v"), column="v"), "ms", 0.81),
        ("Latency (ms):\n avg: 0.81\n", Table(after="^Latency", columns=("n", "v (us)"), column="v (us)"), "us", 0.81),
        ("t (s)   v (us)\n 1 0.81\n", Table(after="^t", columns=("t", "v"), column="v"), "us", 0.81),
        ("t (s)   v (us)\n 1 0.81\n", Table(after="^t", columns=("t", "v"), column="v"), "ms", None),
    ],
)
def test_a_unit_in_the_row_or_in_the_line_before_a_table_is_held_against_that_of_the_figure(
    content: str, table: Table, unit: str, value: float | None
) -> None:
    (found,) = take(FigureSpec("x", table=table, unit=unit), text(content))
    assert found.value == value, found.problem
    assert value is not None or f"and the figure is in {unit}; say so with 'unit: " in found.problem


@pytest.mark.parametrize(("unit", "value"), [("GB/s", 2.5), ("TB/s", None), ("Gbit/s", 2.5)])
def test_a_unit_in_the_key_of_a_record_is_held_against_that_of_the_figure(unit: str, value: float | None) -> None:
    table = Table(records="triad", column="gb_s", by=("ranks",))
    (found,) = take(FigureSpec("x", table=table, unit=unit), text('{"record":"triad","ranks":4,"gb_s":2.5}\n'))
    assert found.value == value
    assert value is not None or found.problem == (
        "figure x[ranks=4]: '2.5 gb/s' is in GB/s or Gbit/s, and the figure is in TB/s; "
        "say which with 'unit: GB/s' or 'unit: Gbit/s'"
    )


NCCL = "# size  busbw\n1024 1.5\n2048 2.5\n{}\n4096 3.5\n8192 4.5\n"


@pytest.mark.parametrize("foreign", ["NCCL INFO a thing happened", "x NCCL INFO\nx NCCL WARN"], ids=["one", "two"])
def test_a_table_that_a_foreign_line_cuts_says_so(foreign: str) -> None:
    table = Table(header="^# size", column="busbw", by=("size",))
    *rows, cut = take(FigureSpec("x", table=table), text(NCCL.format(foreign)))
    assert [row.name for row in rows] == ["x[size=1024]", "x[size=2048]"]
    first = foreign.partition("\n")[0]
    assert cut.value is None and cut.problem == (
        f"figure x: its table ends before the line '{first}', and 2 lines like its rows follow;"
        " 'rows' can say which lines are its rows"
    )


@pytest.mark.parametrize(
    ("between", "table"),
    [
        ("", Table(header="^# size", column="busbw", by=("size",))),  # a blank line ends a table
        ("# size  busbw", Table(header="^# size", column="busbw", by=("size",))),  # the header again
        ("NCCL INFO a b", Table(header="^# size", column="busbw", by=("size",), rows=r"^\d")),
        ("NCCL INFO a b", Table(header="^# size", column="busbw", by=("size",), until="^Total")),
        ("in all 4 ranks\n\n", Table(header="^# size", column="busbw", by=("size",))),
    ],
    ids=["blank", "header", "rows", "until", "blank behind"],
)
def test_a_table_that_ends_where_it_should_says_nothing(between: str, table: Table) -> None:
    assert [one.problem for one in take(FigureSpec("x", table=table), text(NCCL.format(between))) if one.problem] == []


def test_a_line_behind_a_table_that_is_no_row_of_it_says_nothing() -> None:
    table = Table(header="^name", column="rate", by=("name",))
    content = "name rate\nCopy 1.5\nAdd 2.5\nall of it is well\nsolution validates\n"
    assert all(not one.problem for one in take(FigureSpec("x", table=table), text(content)))


@pytest.mark.parametrize(
    ("where", "why"),
    [
        ((("Function", "Triade"),), "no row has Function = 'Triade'; there are 'Copy', 'Scale'"),
        ((("Function", "Copy"), ("n", "9")), "no row with Function = 'Copy' has n = '9'; there are '1', '2'"),
    ],
)
def test_a_condition_that_no_row_meets_names_what_there_is(where: tuple[tuple[str, str], ...], why: str) -> None:
    content = "Function n rate\nCopy: 1 94\nCopy: 2 95\nScale: 9 96\n"
    assert problem(Table(header="^Function", column="rate", where=where), content) == f"figure x: {why}"
    optional = FigureSpec("x", table=Table(header="^Function", column="rate", where=where), required=False)
    assert [one.problem for one in take(optional, text(content))] == [""]


def test_a_condition_that_no_record_meets_names_what_there_is() -> None:
    lines = "".join(f'{{"record":"c","operation":"op{number}","us":1}}\n' for number in range(12))
    table = Table(records="c", column="us", where=(("operation", "bcast"),))
    said = problem(table, lines)
    assert said.startswith("figure x: no row has operation = 'bcast'; there are 'op0', 'op1', ")
    assert said.endswith("'op7', ...")


@pytest.mark.parametrize(("label", "wanted"), [("Copy:", "Copy:"), ("Copy:", "Copy"), ("Copy", "Copy:")])
@pytest.mark.parametrize("separator", ["", ","])
def test_the_colon_of_a_label_matches_either_way(label: str, wanted: str, separator: str) -> None:
    table = Table(header="^Function", column="rate", where=(("Function", wanted),), separator=separator)
    between = separator or " "
    assert values(table, f"Function{between}rate\n{label}{between}94\nAdd{between}1\n") == {"x": 94.0}


def test_names_of_columns_with_one_blank_between_two_of_them_are_told_with_both_ways_out() -> None:
    """OSU's benchmarks of collectives that do not block."""
    table = Table(header="^# Size", column="Overall(us)")
    (found,) = take(
        FigureSpec("x", table=table),
        text("# Size   Overall(us)   Compute(us) Pure Comm.(us)   Overlap(%)\n4 8.81 4.02 3.91 0.00\n"),
    )
    assert found.value is None and found.problem.endswith(
        "; 'rows' can say which lines are its rows, or 'after' and 'columns' how its columns are called"
    )


IMB_PING_PONG = """\
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         1.10         0.00
         1024         1000         2.05       499.51
"""


@pytest.mark.parametrize(
    ("by", "tags"),
    [
        (("#bytes",), ("#bytes=0", "#bytes=1024")),
        (("bytes",), ("bytes=0", "bytes=1024")),
        (("#bytes", "#repetitions"), ("#bytes=0,#repetitions=1000", "#bytes=1024,#repetitions=1000")),
    ],
)
def test_the_first_name_of_a_header_is_known_with_its_sign_and_without(
    by: tuple[str, ...], tags: tuple[str, ...]
) -> None:
    """Intel's MPI benchmarks; one blank parts two of the names."""
    table = Table(header="#bytes", column="t[usec]", by=by)
    found = take(FigureSpec("x", table=table, unit="us"), text(IMB_PING_PONG))
    assert {one.name: one.value for one in found} == dict(zip((f"x[{tag}]" for tag in tags), (1.1, 2.05), strict=True))


def test_a_name_that_no_reading_of_a_header_has_is_told_with_the_names_of_the_nearest_one() -> None:
    table = Table(header="#bytes", column="t[usec]", by=("bytes", "repetitions"))
    (found,) = take(FigureSpec("x", table=table, unit="us"), text(IMB_PING_PONG))
    assert found.problem.endswith(
        "has no column 'repetitions'; it has 'bytes', '#repetitions', 't[usec]', 'Mbytes/sec'"
    )
