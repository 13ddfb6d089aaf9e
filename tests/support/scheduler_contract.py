"""What must hold of every scheduler port, as one suite: ``CONTRACT`` names each clause and the function that tries it on a bench.

A clause that needs what a dialect cannot do (``needs``) is left out for it. A port that passes all others may drive campaigns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import msgspec
from scheduler_bench import LIMIT_S, Bench, View

from shakedown.model.dialects import DIALECTS
from shakedown.model.entry_points import function
from shakedown.model.nouns import Case, Shape
from shakedown.model.ports import ENDED, Wanted
from shakedown.schedulers.output_archive import read_output

NOT_YET = {"queued", "held", "running"}


class Clause(NamedTuple):
    """``needs``: names of what a bench must be able to do."""

    tried: Callable[[Bench], None]
    needs: tuple[str, ...] = ()

    def fits(self, bench: type[Bench]) -> bool:
        return all(getattr(bench, need) for need in self.needs)


CONTRACT: dict[str, Clause] = {}


def clause(*needs: str) -> Callable[[Callable[[Bench], None]], Callable[[Bench], None]]:
    def add(tried: Callable[[Bench], None]) -> Callable[[Bench], None]:
        CONTRACT[tried.__name__] = Clause(tried, needs)
        return tried

    return add


# ---- submitting ----------------------------------------------------------------------------------------------------------


@clause()
def every_order_is_answered_in_its_place(bench: Bench) -> None:
    orders = [bench.order(number) for number in (1, 2, 3)]
    bench.open()
    assert bench.port.submit([]) in ([], ())
    answers = bench.submit(*orders)
    assert [answer.job for answer in answers] == [order.job for order in orders]
    assert {answer.outcome for answer in answers} == {"accepted"}
    if bench.outlives:
        assert len({answer.scheduler_id for answer in answers} - {""}) == 3
    bench.until(lambda: not bench.jobs, "all are over")
    assert [r.state for r in bench.story if r.state in ENDED] == ["completed"] * 3
    assert [bench.starts(number) for number in (1, 2, 3)] == [1, 1, 1]


@clause()
def an_order_that_cannot_be_prepared_is_refused_alone(bench: Bench) -> None:
    bad = bench.order(1)
    bad = msgspec.structs.replace(
        bad, case=msgspec.structs.replace(bad.case, files=(("in", str(bench.root / "missing")),))
    )
    bench.open()
    answers = bench.submit(bad, bench.order(2))
    if answers[0].outcome == "refused":
        assert bad.run in answers[0].message and "missing" in answers[0].message, answers[0]
    else:  # said when it was to be started
        assert "missing" in bench.wait_state(1, "refused").message
    assert answers[1].outcome == "accepted"
    bench.wait_state(2, "completed")
    assert bench.starts(1) == 0


@clause("outlives")
def an_answer_that_was_lost_is_unknown_and_the_job_is_found_by_its_name(bench: Bench) -> None:
    bench.open()
    bench.lose_answers(True)
    (answer,) = bench.submit(bench.order(1, bench.waits(1)))
    assert answer.outcome == "unknown", answer
    bench.lose_answers(False)
    report = bench.wait_state(1, "running")
    assert report.scheduler_id
    bench.go(1)
    bench.wait_state(1, "completed")
    assert bench.starts(1) == 1


@clause("outlives")
def the_same_order_twice_begins_once(bench: Bench) -> None:
    """A conductor that died before it could record an answer submits again."""
    bench.open()
    order = bench.order(1)
    bench.submit(order)
    bench.port.submit([order])
    bench.wait_state(1, "completed")
    bench.submit(bench.order(2), bench.order(3))
    bench.until(lambda: not bench.jobs, "all are over")
    assert bench.starts(1) == 1


# ---- what is said of jobs ------------------------------------------------------------------------------------------------


@clause()
def a_run_is_measured_and_its_output_is_kept(bench: Bench) -> None:
    case = Case(
        "case-1", "t", "c:batch", script='echo "$WORD"; pwd; sleep 0.2', environment=(("WORD", "two  words"),),
        shape=Shape(time_limit_s=600.0),
    )  # fmt: skip
    bench.open()
    bench.submit(bench.order(1, case=case))
    report = bench.wait_state(1, "completed")
    assert report.exit_status == 0
    assert report.elapsed_s is not None and 0.2 <= report.elapsed_s < 100
    assert report.output, "its output is not kept"
    said = read_output(bench.layout, report.output).decode().splitlines()
    assert said[0] == "two  words" and said[1].startswith(str(bench.layout.work))


@clause()
def the_exit_status_is_the_payloads(bench: Bench) -> None:
    bench.open()
    bench.submit(bench.order(1, "exit 3"), bench.order(2, "kill -9 $$"), bench.order(3, "exit 97"))
    bench.until(lambda: not bench.jobs, "all are over")
    ends = {report.job: report for report in bench.story if report.state in ENDED}
    of_a_script = ends.pop("j000002") if ends["j000002"].state == "interrupted" else None
    assert {report.state for report in ends.values()} == {"failed"}
    assert ends["j000001"].exit_status == 3
    if of_a_script is None:
        assert ends["j000002"].exit_status in (-9, 137)
    else:  # the payload's shell is the script's own: nobody can tell its own kill from somebody's
        assert (of_a_script.exit_status, of_a_script.cause) == (-9, "killed")
    assert ends["j000003"].exit_status == 97


@clause()
def jobs_share_the_nodes_and_each_state_is_told(bench: Bench) -> None:
    bench.open()
    bench.submit(*(bench.order(number, bench.waits(number)) for number in (1, 2, 3, 4)))
    bench.until(lambda: sum(bench.starts(number) for number in (1, 2, 3, 4)) == bench.nodes, "the nodes are busy")
    running = [number for number in (1, 2, 3, 4) if bench.starts(number)]
    waiting = [number for number in (1, 2, 3, 4) if not bench.starts(number)]
    bench.until(lambda: len(_said_to_run(bench)) >= bench.nodes, "both are running")
    assert _said_to_run(bench) == {f"j{number:06}" for number in running}
    assert all(r.state in NOT_YET for r in bench.story), bench.story
    assert not any(r.job == f"j{n:06}" and r.state == "running" for n in waiting for r in bench.story)
    for number in (1, 2, 3, 4):
        bench.go(number)
    bench.until(lambda: not bench.jobs, "all are over")
    assert sorted(r.job for r in bench.story if r.state == "completed") == [f"j{n:06}" for n in (1, 2, 3, 4)]


@clause("quick_limits")
def a_job_ends_at_its_time_limit(bench: Bench) -> None:
    bench.open()
    bench.submit(bench.order(1, bench.waits(1), limit_s=1.0))
    assert bench.wait_state(1, *ENDED).state == "timeout"


@clause("outlives")
def a_job_that_nobody_knows_is_absent(bench: Bench) -> None:
    bench.open()
    bench.jobs["j000009"] = View("j000009", "r000009")
    assert bench.wait(lambda r: r.job == "j000009", "what is known of it").state == "absent"


@clause("outlives")
def a_word_that_nobody_knows_is_told_as_unknown(bench: Bench) -> None:
    bench.open()
    bench.submit(bench.order(1, bench.waits(1)))
    bench.wait_state(1, "running")
    bench.call_it(1, "marinating")
    report = bench.wait(lambda r: r.state not in NOT_YET, "a new state")
    assert report.state == "unknown" and "marinating" in report.message.lower(), report
    bench.call_it(1, "running")
    bench.go(1)
    bench.wait_state(1, "completed")


@clause("outlives")
def a_scheduler_that_is_away_has_said_nothing_of_any_job(bench: Bench) -> None:
    bench.open()
    bench.submit(bench.order(1, bench.waits(1)))
    bench.wait_state(1, "running")
    bench.go_away(True)
    bench.story.clear()
    bench.wait(lambda r: r.state == "no_answer", "there is no answer")
    assert all(r.state in {"no_answer", "running"} for r in bench.story), bench.story
    (answer,) = bench.port.submit([bench.order(2)])
    assert answer.outcome == "unknown" or (answer.outcome == "refused" and answer.transient), answer
    assert list(bench.port.cancel([bench.view(1)])) == []
    bench.go_away(False)
    bench.go(1)
    bench.wait_state(1, "completed")
    assert (bench.starts(1), bench.starts(2)) == (1, 0)


@clause("forgets")
def a_job_that_the_scheduler_forgot_is_judged_by_its_own_marks(bench: Bench) -> None:
    """There is no accounting, or it is years behind."""
    bench.open()
    bench.submit(bench.order(1, "echo done; exit 4"))
    bench.until(lambda: "ended=" in _marks(bench, 1), "it wrote its end mark")
    bench.forget(1)
    bench.kill()
    bench.open()
    bench.jobs["j000001"] = View("j000001", "r000001")
    report = bench.wait(lambda r: r.state not in NOT_YET, "it is over")
    assert (report.state, report.exit_status) == ("failed", 4)


# ---- orders about jobs that are there ------------------------------------------------------------------------------------


@clause()
def a_running_job_is_cancelled_and_a_waiting_one_never_begins(bench: Bench) -> None:
    bench.open()
    bench.submit(*(bench.order(number, bench.waits(number)) for number in range(1, bench.nodes + 2)))
    bench.until(lambda: any(r.state == "running" for r in bench.story), "one is running")
    running = next(int(r.job[1:]) for r in bench.story if r.state == "running")
    bench.until(lambda: sum(map(bench.starts, range(1, bench.nodes + 2))) == bench.nodes, "the nodes are busy")
    waiting = next(number for number in range(1, bench.nodes + 2) if not bench.starts(number))
    taken = bench.port.cancel([bench.view(waiting), bench.view(running), View("j000099", "r000099", "99")])
    assert {f"j{waiting:06}", f"j{running:06}"} <= set(taken)
    if bench.outlives:
        assert "j000099" not in taken
    bench.until(lambda: not {f"j{waiting:06}", f"j{running:06}"} & bench.jobs.keys(), "both are over")
    states = {r.job: r.state for r in bench.story}
    assert states[f"j{running:06}"] == states[f"j{waiting:06}"] == "cancelled"
    for number in range(1, bench.nodes + 2):
        bench.go(number)
    bench.until(lambda: not bench.jobs, "all are over")
    assert bench.starts(waiting) == 0 and bench.starts(running) == 1


@clause("holds")
def a_job_that_is_submitted_held_begins_when_it_is_released(bench: Bench) -> None:
    bench.open()
    bench.submit(bench.order(1, held=True), bench.order(2))
    bench.wait_state(2, "completed")
    bench.wait(lambda r: r.job == "j000001", "what is known of the held job")
    assert bench.starts(1) == 0
    assert list(bench.port.release([bench.released(1)])) == ["j000001"]
    bench.wait_state(1, "completed")


@clause("holds")
def a_waiting_job_is_held_and_released(bench: Bench) -> None:
    bench.open()
    busy = range(1, bench.nodes + 1)
    bench.submit(*(bench.order(number, bench.waits(number)) for number in busy))
    bench.until(lambda: all(map(bench.starts, busy)), "the nodes are busy")
    bench.submit(bench.order(8), bench.order(9))
    assert list(bench.port.hold([bench.view(8)])) == ["j000008"]
    for number in busy:
        bench.go(number)
    bench.wait_state(9, "completed")
    assert bench.starts(8) == 0 and "j000008" in bench.jobs
    assert list(bench.port.release([bench.released(8)])) == ["j000008"]
    bench.wait_state(8, "completed")


@clause()
def a_port_that_holds_nothing_says_so(bench: Bench) -> None:
    if bench.holds:
        return
    bench.open()
    bench.submit(bench.order(1, bench.waits(1)))
    assert list(bench.port.hold([bench.view(1)])) == []
    assert list(bench.port.release([bench.released(1)])) == ["j000001"]
    bench.go(1)
    bench.wait_state(1, "completed")


@clause()
def a_claim_is_taken_once_and_a_job_without_it_never_begins(bench: Bench) -> None:
    bench.open()
    bench.submit(*(bench.order(number, bench.waits(number)) for number in range(1, bench.nodes + 2)))
    bench.until(lambda: sum(map(bench.starts, range(1, bench.nodes + 2))) == bench.nodes, "the nodes are busy")
    waiting = next(number for number in range(1, bench.nodes + 2) if not bench.starts(number))
    running = next(number for number in range(1, bench.nodes + 2) if bench.starts(number))
    assert bench.port.take_claim(bench.view(running)) is False, "it is running"
    assert bench.port.take_claim(bench.view(waiting)) is True
    assert bench.port.take_claim(bench.view(waiting)) is True, "a conductor that died before it could say so took it"
    del bench.jobs[f"j{waiting:06}"]
    for number in range(1, bench.nodes + 2):
        bench.go(number)
    bench.until(lambda: not bench.jobs, "the others are over")
    later = [bench.order(number) for number in (21, 22, 23)]
    bench.submit(*later)
    bench.until(lambda: not bench.jobs, "later ones are over")
    assert bench.starts(waiting) == 0


@clause("outlives")
def a_job_after_another_begins_when_that_one_is_over(bench: Bench) -> None:
    bench.open()
    (first,) = bench.submit(bench.order(1, bench.waits(1)))
    bench.wait_state(1, "running")
    watch = f"[ -e {bench.signs}/over ] || exit 5"
    bench.submit(bench.order(2, watch, after=("j000001", first.scheduler_id)), bench.order(3))
    bench.wait_state(3, "completed")
    assert bench.starts(2) == 0
    (bench.signs / "over").touch()
    bench.go(1)
    assert bench.wait_state(2, *ENDED).state == "completed"


@clause("outlives")
def a_job_runs_on_the_node_that_it_was_told(bench: Bench) -> None:
    """A sweep sees every node; an excluded node is given nothing."""
    bench.open()
    bench.submit(bench.order(1, node=2), bench.order(2, exclude=("n1",)), bench.order(3, node=1))
    bench.until(lambda: not bench.jobs, "all are over")
    on = {r.job: r.nodes for r in bench.story if r.state == "completed"}
    assert on == {"j000001": "n2", "j000002": "n2", "j000003": "n1"}, on


@clause("licences")
def loads_are_charged_as_licences(bench: Bench) -> None:
    order = bench.order(1)
    order = msgspec.structs.replace(
        order, case=msgspec.structs.replace(order.case, loads=(("mds", 2.5), ("stranger", 1.0)))
    )
    bench.open()
    bench.submit(order)
    bench.wait_state(1, "completed")
    assert bench.taken_licences() == ["mds:3"]


# ---- conductors and administrators come and go -----------------------------------------------------------------------------


@clause("outlives")
def a_job_is_adopted_by_its_name_after_a_crash(bench: Bench) -> None:
    """The conductor was killed after it submitted, before it recorded the number."""
    bench.open()
    bench.submit(bench.order(1, bench.waits(1)))
    bench.until(lambda: bench.starts(1), "it began")
    bench.kill()
    bench.open()
    bench.jobs = {"j000001": View("j000001", "r000001")}
    report = bench.wait_state(1, "running")
    assert report.scheduler_id
    bench.go(1)
    assert bench.wait_state(1, *ENDED).state == "completed"
    assert bench.starts(1) == 1


@clause("outlives")
def a_job_that_ended_while_nobody_was_there_is_told(bench: Bench) -> None:
    bench.open()
    bench.submit(bench.order(1, bench.waits(1)), bench.order(2, bench.waits(2) + "; exit 7"))
    bench.until(lambda: bench.starts(1) and bench.starts(2), "they began")
    bench.kill()
    for number in (1, 2):
        bench.go(number)
    _wait_for(bench, lambda: all("ended=" in _marks(bench, number) for number in (1, 2)))
    bench.open()
    bench.until(lambda: not bench.jobs, "both are over")
    ends = {r.job: (r.state, r.exit_status) for r in bench.story if r.state in ENDED}
    assert ends == {"j000001": ("completed", 0), "j000002": ("failed", 7)}


@clause()
def an_input_directory_is_of_each_run_its_own(bench: Bench) -> None:
    """What one run writes there, another one does not find, nor does the place that it came from."""
    source = bench.root / "inputs" / "case"
    (source / "100").mkdir(parents=True)
    (source / "100/U").write_text("initial\n")
    script = (
        "find case -type f; cat case/100/U; echo out >case/out; echo out >case/100/U.new; mv case/100/U.new case/100/U"
    )
    orders = [
        bench.order(number, case=Case("case-1", "t", "c:batch", script=script, files=(("case", str(source)),)))
        for number in (1, 2)
    ]
    bench.open()
    for number, order in enumerate(orders, 1):
        bench.submit(order)
        report = bench.wait_state(number, *ENDED)
        assert report.state == "completed" and report.output
        assert read_output(bench.layout, report.output).decode() == "initial\n", "it found what another one wrote"
    assert sorted(path.name for path in source.rglob("*")) == ["100", "U"]
    assert (source / "100/U").read_text() == "initial\n"
    assert [path.read_text() for path in bench.layout.work.rglob("case/100/U")] == ["out\n"] * 2


@clause()
def a_copied_input_may_be_written_in_place(bench: Bench) -> None:
    """Where the files of a test are copied, a program that appends to its input changes the copy of its run alone."""
    source = bench.root / "inputs" / "case"
    source.mkdir(parents=True)
    (source / "a").write_text("initial\n")
    files = (("case", str(source)), ("named", str(source / "a")))
    script = "cat case/a named; echo more >>case/a; echo more >>named"
    bench.open()
    for number in (1, 2):
        case = Case("case-1", "t", "c:batch", script=script, files=files, stage="copy")
        bench.submit(bench.order(number, case=case))
        report = bench.wait_state(number, *ENDED)
        assert report.state == "completed" and report.output
        assert read_output(bench.layout, report.output).decode() == "initial\ninitial\n", (
            "it found what another one wrote"
        )
    assert (source / "a").read_text() == "initial\n"


@clause("requeues")
def a_job_that_is_put_back_into_the_queue_is_told_and_begins_again(bench: Bench) -> None:
    bench.open()
    bench.submit(bench.order(1, bench.waits(1)))
    bench.wait_state(1, "running")
    bench.until(lambda: bench.starts(1), "its payload began")
    bench.requeue(1)
    assert bench.wait(lambda r: r.state not in NOT_YET, "it was requeued").state == "requeued"
    assert bench.view(1).restart == 1
    bench.until(lambda: bench.starts(1) == 2, "it begins again")
    bench.go(1)
    report = bench.wait_state(1, *ENDED)
    assert (report.state, report.restart, bench.starts(1)) == ("completed", 1, 2)


# ---- what a dialect says of itself -------------------------------------------------------------------------------------------


@clause()
def the_declaration_can_be_used(bench: Bench) -> None:
    dialect = bench.dialect
    assert dialect.name == bench.scheduler_name and dialect.about
    assert "7" in dialect.launch.format(ranks=7), "the launch line names the number of ranks"
    for path in filter(None, (dialect.open, dialect.probe, dialect.nodes_out, dialect.left_jobs)):
        assert callable(function(path))
    assert bench.outlives or dialect in DIALECTS, "only the embedded scheduler may end with its driver"
    assert bench.open().poll_s >= 0


@clause()
def a_port_with_nothing_to_do_says_nothing(bench: Bench) -> None:
    port = bench.open()
    assert list(port.poll({})) == [] and list(port.cancel([])) == [] and list(port.release([])) == []
    assert port.survey(Wanted()) is None
    assert all(count >= 0 for count in port.calls().values())


def _said_to_run(bench: Bench) -> set[str]:
    return {report.job for report in bench.story if report.state == "running"}


def _marks(bench: Bench, number: int) -> str:
    path = bench.layout.job(f"j{number:06}") / "marks.0"
    return path.read_text() if path.exists() else ""


def _wait_for(bench: Bench, holds: Callable[[], bool]) -> None:
    """Wait without asking the port: there is no conductor."""
    end = bench.reactor.now() + LIMIT_S
    while not holds():
        assert bench.reactor.now() < end
        bench.reactor.wait(bench.reactor.now() + 0.05)
