"""Cases: which there are, what each takes, and why some cannot run here."""

from __future__ import annotations

from typing import Any

import pytest

from shakedown.model.errors import FileProblems
from shakedown.model.nouns import Shape
from shakedown.plans import read_plan
from shakedown.plans.checking import check_site


def minimal(more: str = "", run: str = "") -> str:
    return f'test: a\nrun: {{command: "true"{run}}}\n{more}'


def ids(site: Any, system: str = "here") -> list[str]:
    return [case.id for case in site.cases(system)]


def test_a_test_without_parameters_is_one_case(site: Any) -> None:
    assert ids(site.test(minimal())) == ["a"]


def test_parameters_multiply_in_the_order_written(site: Any) -> None:
    site.test(minimal("parameters: {b: [1, 2], a: [x, y]}\n"))
    assert ids(site) == ["a/b=1,a=x", "a/b=1,a=y", "a/b=2,a=x", "a/b=2,a=y"]


def test_values_stay_as_they_are_written(site: Any) -> None:
    site.test(minimal("parameters: {v: [12.10, no, 12:30, 1e3, 0x10, 007, ~]}\n"))
    assert [dict(case.parameters)["v"] for case in site.cases()] == ["12.10", "no", "12:30", "1e3", "0x10", "007", "~"]


def test_values_from_the_node_that_come_out_alike_count_once(site: Any) -> None:
    site.test(minimal('parameters: {n: [1, "{node.cores}", 4, "{node.cores // 2}"]}\n'))
    assert ids(site) == ["a/n=1", "a/n=4", "a/n=2"]


def test_combinations_are_left_out(site: Any) -> None:
    site.test(minimal('parameters: {b: [1, 4], a: [x, y]}\nexclude: [{b: "{node.cores}", a: x}, {b: 1, a: y}]\n'))
    assert ids(site) == ["a/b=1,a=x", "a/b=4,a=y"]


def test_partitions_are_named_where_there_are_several(site: Any, cluster: str) -> None:
    batch = '      batch: {nodes: "c5n[0001-1920]", type: rome'
    assert batch in cluster
    both = cluster.replace(batch, f'      debug: {{nodes: "c5n[1,3],login1", type: rome}}\n{batch}')
    site.write("systems/c5.yaml", both)
    site.test(minimal("parameters: {n: [1]}\n"))
    assert ids(site, "c5") == ["a/n=1@debug", "a/n=1@batch"]
    site.test(minimal("where: {partitions: [debug]}\n", run=", nodes: 4"))
    case = site.case("c5")
    assert (case.id, case.partition) == ("a@debug", "c5:debug")
    assert case.unavailable == "it takes 4 nodes and partition debug has 3 nodes"


def test_a_shape_comes_from_the_node(site: Any) -> None:
    shape = ', tasks_per_node: "{node.cores // cpus_per_task}", cpus_per_task: 2, time_limit: 1h30m'
    assert site.test(minimal(run=shape)).case().shape == Shape(1, 2, 2, units=4, time_limit_s=5400.0)


def test_units_are_cores_here_and_nodes_on_a_cluster(site: Any, cluster: str) -> None:
    site.write("systems/c5.yaml", cluster)
    site.test(minimal(run=", nodes: {default: 1, c5: 64}, tasks_per_node: 2, exclusive: yes"))
    assert site.case().shape == Shape(1, 2, 1, units=4, exclusive=True)
    assert site.case("c5").shape == Shape(64, 2, 1, units=64, exclusive=True)


def test_a_parameter_can_be_the_shape(site: Any) -> None:
    site.test(minimal("parameters: {tasks_per_node: [1, 2]}\n", run=', cpus_per_task: "{tasks_per_node}"'))
    assert [(case.shape.tasks_per_node, case.shape.cpus_per_task) for case in site.cases()] == [(1, 1), (2, 2)]


def test_expressions_know_the_shape_the_system_and_the_launcher(site: Any) -> None:
    command = "{launch} x {ranks} {cores} {nodes} {system} {partition} {node.memory} {node.threads_per_core} {campaign}"
    site.test(f'test: a\nrun: {{command: "{command}", tasks_per_node: 2, cpus_per_task: 2}}\n')
    assert site.case().script == "mpiexec -n 2 x 2 4 1 here all 17179869184 2 {campaign}"


def test_time_limits_and_loads_may_be_computed(site: Any, cluster: str) -> None:
    site.write("systems/c5.yaml", cluster)
    site.test(
        minimal(
            'parameters: {n: [2]}\nloads: {f2/bandwidth: "{nodes} GB/s"}\n',
            run=', nodes: "{n}", time_limit: "{n * 10}min"',
        )
    )
    case = site.case("c5")
    assert (case.loads, case.shape.time_limit_s) == ((("f2/bandwidth", 2e9),), 1200.0)


# ---- what cannot run here --------------------------------------------------------------------------------------------


def test_a_missing_program_makes_it_unavailable_with_the_way_to_get_it(site: Any) -> None:
    site.test(minimal("needs: {programs: [sh, no-such-program], get: apt-get install it}\n"))
    assert site.case().unavailable == "no-such-program is not installed here; get it with: apt-get install it"


def test_a_program_that_is_there_makes_no_difference(site: Any) -> None:
    assert site.test(minimal("needs: {programs: [sh]}\n")).case().unavailable == ""


def test_more_cores_than_a_node_has(site: Any) -> None:
    unavailable = site.test(minimal(run=", tasks_per_node: 5")).case().unavailable
    assert unavailable == "it takes 5 cores of a node and one of partition all has 4"


def test_a_node_too_small_for_an_expression(site: Any) -> None:
    unavailable = site.test(minimal(run=', tasks_per_node: "{node.cores // 8}"')).case().unavailable
    assert unavailable == "tasks_per_node comes out as 0 on a node of this partition"


def test_a_toolchain_that_only_another_system_has(site: Any, cluster: str) -> None:
    site.write("systems/c5.yaml", cluster)
    site.test(minimal("parameters: {toolchain: [gcc, intel-classic]}\n"))
    assert [(case.toolchain, case.unavailable) for case in site.cases()] == [
        ("gcc", ""),
        ("intel-classic", "system here has no toolchain intel-classic"),
    ]


def test_a_partition_that_only_another_system_has(site: Any, cluster: str) -> None:
    site.write("systems/c5.yaml", cluster)
    site.test(minimal("where: {partitions: [batch]}\n"))
    assert site.case().unavailable == "system here has no partition batch"
    assert site.case("c5").unavailable == ""


def test_budgets_of_other_systems_do_not_bind(site: Any, cluster: str) -> None:
    site.write("systems/c5.yaml", cluster)
    site.test(minimal("loads: {f2/mdt: 1}\n"))
    assert site.case().loads == ()
    assert site.case("c5").loads == (("f2/mdt", 1.0),)


def test_a_compiler_that_is_not_here(site: Any) -> None:
    site.test(minimal('build: {run: "{toolchain.fc} x.f90"}\n'))
    assert site.case().unavailable == "no-such-fortran is not installed here"
    assert site.case().build == ""


def test_a_compiler_nobody_asks_for_need_not_be_here(site: Any) -> None:
    assert site.test(minimal('build: {run: "{toolchain.cc} x.c"}\n')).case().unavailable == ""


def test_a_launcher_that_is_not_here(site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from shakedown.plans.cases import environment as surroundings

    monkeypatch.setattr(surroundings, "_runnable", lambda name: name != "mpiexec")
    site.test('test: a\nrun: {command: "{launch} x"}\n')
    assert site.case().unavailable == "mpiexec is not installed here; get it with: pip install mpich"


def test_nothing_is_asked_of_this_machine_for_a_cluster(site: Any, cluster: str) -> None:
    site.write("systems/c5.yaml", cluster)
    site.test(minimal("needs: {programs: [no-such-program]}\n"))
    assert site.case("c5").unavailable == ""


def test_a_file_of_the_machine_may_be_absent_and_one_of_the_site_not(site: Any) -> None:
    site.test(minimal(run=", files: [/no/such/file]"))
    assert site.case().unavailable == "/no/such/file is not on this machine"
    site.test(minimal(run=", files: [nothing]"))
    with pytest.raises(FileProblems, match="there is no file nothing"):
        site.cases()


# ---- expectations ----------------------------------------------------------------------------------------------------


def test_the_first_expectation_that_fits_counts(site: Any) -> None:
    site.test(
        minimal(
            "parameters: {n: [1, 2, 3]}\n"
            "expect:\n"
            "  - {where: {n: 2, system: elsewhere}, verdict: timeout, because: not here}\n"
            "  - {where: {n: 2}, verdict: failed, because: two is known to fail}\n"
            "  - {where: {system: here, partition: all}, verdict: incorrect, because: all others}\n"
        )
    )
    assert [case.expect for case in site.cases()] == ["incorrect", "failed", "incorrect"]


@pytest.mark.parametrize(
    ("run", "has"),
    [
        ("nodes: 1", "nodes=1"),
        ("nodes: {default: 1, here: 2}", "nodes=2"),
        ('nodes: "{nodes}", tasks_per_node: 2', "tasks_per_node=2"),
        ('nodes: "{nodes}", cpus_per_task: 1', "cpus_per_task=1"),
        ('nodes: "{nodes}", gpus_per_task: 0', "gpus_per_task=0"),
        ('nodes: "{nodes}", gpus_per_node: "{2 * nodes}"', "gpus_per_node=2"),
    ],
)
def test_a_parameter_has_the_value_that_its_run_takes(site: Any, here: Any, run: str, has: str) -> None:
    name = has.partition("=")[0]
    parameters = "nodes: [1, 4]" + ("" if name == "nodes" else f", {name}: 4")
    text = f'test: a\nparameters: {{{parameters}}}\nrun: {{{run}, command: "x {{nodes}} {{{name}}}"}}\n'
    site.test(text).write("plans/p.yaml", "plan: p\nsystem: here\ncomponents: [{performance: {tests: [a]}}]\n")
    checked = check_site(site.path, lambda: here)
    (problem,) = checked.problems
    assert f"{name}=" in problem.message.split(" in its name")[0]
    assert problem.message.endswith(f"its run has {has}")
    assert problem.hint == f'write run: {{{name}: "{{{name}}}"}} for every system, or give the parameter another name'
    with pytest.raises(FileProblems, match="in its name"):
        read_plan(site.path, "p", lambda: here)


def test_a_parameter_of_the_shape_is_held_against_every_system(site: Any, here: Any) -> None:
    partition = "clusters: {two: {scheduler: slurm, partitions: {far: {nodes: 'n[1-8]', type: t}}}}"
    site.write("systems/big.yaml", f"system: big\n{partition}\nnode_types: {{t: {{cores: 2}}}}\n")
    test = 'test: a\nparameters: {nodes: [1, 2]}\nrun: {nodes: {default: "{nodes}", big: 2}, command: x}\n'
    (problem,) = check_site(site.test(test).path, lambda: here).problems
    assert problem.message.endswith("case a/nodes=1 has nodes=1 in its name, and on system big its run has nodes=2")
    assert check_site(site.test(test.replace("big: 2", 'big: "{nodes}"')).path, lambda: here).problems == ()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("check: [exit is 256]", "no program ends with 256"),
        ("check: [exit is 1000]", "no program ends with 1000"),
        ("check: ['output contains \"a\"', 'output lacks \"a\"']", "no run passes both"),
        ("check: ['output lacks \"rr\"', 'output contains \"error\"']", "no run passes both"),
        ("figures: {f: {regex: 'x = (?P<value>)'}}", "the group named 'value' is empty"),
        ("check: ['output contains \"a\"', 'file x lacks \"a\"', exit is 255]", ""),
        ("check: ['output contains \"a\"', 'output lacks \"ab\"', exit is -9]", ""),
    ],
)
def test_what_no_run_can_pass_is_refused(site: Any, here: Any, more: str, said: str) -> None:
    problems = check_site(site.test(minimal(more)).path, lambda: here).problems
    assert [said in problem.message for problem in problems] == [True] * bool(said)


def test_a_list_without_brackets_is_told_at_its_own_line_and_once(site: Any, here: Any) -> None:
    text = 'test: a\nparameters:\n  n: 1, 4\nrun: {cpus_per_task: "{n}", command: "x {n}"}\n'
    (problem,) = check_site(site.test(text).path, lambda: here).problems
    assert (problem.line, problem.message) == (3, "parameters.n: '1, 4' is one value")
    assert problem.hint == "write [1, 4] for a list; one text is put in quotes: '1, 4'"
    for value in ("'1, 4'", "1,4", "a, b"):
        site.test(f'test: a\nparameters:\n  n: {value}\nrun: {{command: "x {{n}}"}}\n')
        assert check_site(site.path, lambda: here).problems == ()


@pytest.mark.parametrize(
    ("opened", "sign", "place"),
    [("tags: [own", "[", (2, 7)), ("parameters: {n: [1, 2]", "{", (2, 13)), ("parameters: {n: [1, 2}", "", (0, 0))],
)
def test_a_bracket_that_is_not_closed_is_told_where_it_is_opened(
    site: Any, here: Any, opened: str, sign: str, place: tuple[int, int]
) -> None:
    """The quote further down is closed; the parser that looks for the end of the list takes it for what is wrong."""
    text = f'test: a\n{opened}\nabout: one\nrun:\n  command: "x | y"\n  environment: {{A: "b"}}\n'
    (problem,) = check_site(site.test(text).path, lambda: here).problems
    if sign:
        assert problem.message == f"the '{sign}' that is opened here is not closed before line 3"
        assert (problem.line, problem.column) == place
    closed = text.replace(opened, "tags:\n  [\n    own,\n    more\n  ]\nparameters: {n: [1,\n  2]}").replace(
        '"x |', '"x {n} |'
    )
    assert check_site(site.test(closed).path, lambda: here).problems == ()


def test_rows_that_contradict_are_told_once_on_all_systems(site: Any, here: Any) -> None:
    """Two systems have cases of other names; it is one mistake."""
    cluster = "clusters: {two: {scheduler: slurm, partitions: {far: {nodes: n1, type: t}, near: {nodes: n2, type: t}}}}"
    site.write("systems/big.yaml", f"system: big\n{cluster}\nnode_types: {{t: {{cores: 2}}}}\n")
    site.test("test: a\nrun: {command: x}\nfigures: {f: {regex: '(?P<value>[0-9]+)', unit: GB/s, better: higher}}\n")
    head = "contract: c\nparties: {vendor: V, site: S}\ncolumns: [test, figure, must, basis, clause]\nrows:\n"
    rows = "  - [a, f, '>= 10 GB/s', contract, A 1]\n  - [a, f, '<= 5 GB/s', contract, A 2]\n"
    site.write("contracts/c.yaml", head + rows)
    (problem,) = check_site(site.path, lambda: here).problems
    assert "nothing can meet" in problem.message and "also in" not in problem.message
