"""What {launch} stands for on a cluster: the words of srun and of the MPIs' own launchers, and how an MPI is found out."""

from __future__ import annotations

import errno
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shakedown.plans.cases import environment as surroundings
from shakedown.plans.checking import check_site

SYSTEM = """\
system: c5
clusters: {{c5: {{scheduler: slurm, partitions: {{batch: {{nodes: "n[001-016]", type: t}}}}}}}}
node_types: {{t: {{cores: 64, threads_per_core: {threads}}}}}
toolchains: {{gcc: {toolchain}}}
"""
# as srun 22.05 says it, and as older ones did
OFFERS = (
    "MPI plugin types are...\n\tpmix\n\tnone\n\tcray_shasta\n\tpmi2\nspecific pmix plugin versions available: pmix_v4"
)
OLD_OFFERS = "srun: MPI types are...\nsrun: none\nsrun: openmpi\nsrun: pmi2"
LDD = {
    "hpcc": "\tlibmpi.so.40 => /lib/x86_64-linux-gnu/libmpi.so.40 (0x00007fdf0f3a9000)\n\tlibc.so.6 => /lib/libc.so.6",
    "vasp": "\tlibmpi.so.12 => /opt/mpich/lib/libmpi.so.12 (0x00007fdf0f3a9000)",
    "tar": "\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f1)",
}
HYDRA = "HYDRA build details:\n    Version:                                 5.0.2"
OPEN = "mpiexec (OpenRTE) 4.1.4\n\nReport bugs to http://www.open-mpi.org/community/help/"
SHAPE = "nodes: 4, tasks_per_node: 8, cpus_per_task: 2"


class LoginNode:
    """A machine with some programs, that belongs to a Slurm cluster or to none."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        folder.mkdir()
        for tool in ("sh", "cat"):
            (folder / tool).symlink_to(f"/bin/{tool}")
        monkeypatch.setenv("PATH", str(folder))
        monkeypatch.setattr("sys.executable", str(folder / "python"))
        monkeypatch.setenv("SLURM_CONF", str(folder / "slurm.conf"))
        monkeypatch.setattr("shakedown.plans.mpi._CONFIGURATIONS", ())

    def of(self, cluster: str = "c5", offers: str = OFFERS) -> LoginNode:
        (self.folder / "slurm.conf").write_text(f"# made by hand\nclustername={cluster}\nSlurmctldHost=head\n")
        return self.program("srun", offers)

    def program(self, name: str, says: str = "") -> LoginNode:
        path = self.folder / name
        path.write_text(f"#!/bin/sh\ncat <<'EOT'\n{says}\nEOT\n")
        path.chmod(0o755)
        return self

    def linked(self, name: str) -> LoginNode:
        cases = "\n".join(f"*/{program}) echo '{text}' ;;" for program, text in LDD.items())
        (self.folder / "ldd").write_text(
            f'#!/bin/sh\ncase $1 in\n{cases}\n*) echo "not a dynamic executable"; exit 1 ;;\nesac\n'
        )
        (self.folder / "ldd").chmod(0o755)
        return self.program(name)


@pytest.fixture
def login(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LoginNode:
    return LoginNode(tmp_path / "programs", monkeypatch)


@pytest.fixture
def made(site: Any) -> Callable[..., Any]:
    """The case of a test on c5: what its run says beside its shape, its toolchain, and more keys."""

    def make(run: str = "", toolchain: str = "{}", more: str = "", shape: str = SHAPE, threads: int = 1) -> Any:
        site.write("systems/c5.yaml", SYSTEM.format(toolchain=toolchain, threads=threads))
        site.test(f'test: a\nrun: {{{shape}, {run + ", " if run else ""}command: "{{launch}} ./a"}}\n{more}')
        return site.case("c5")

    return make


BUILD = "build: {run: make}\n"
COUNTS = "--nodes=4 --ntasks=32 --ntasks-per-node=8 --cpus-per-task=2"


# ---- the words -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("run", "script"),
    [
        ("launch: {mpi: mpich}", f"srun --mpi=pmi2 {COUNTS} ./a"),
        ("launch: {mpi: openmpi}", f"srun --mpi=pmix {COUNTS} ./a"),
        ("launch: {mpi: cray, binding: numa}", f"srun --mpi=cray_shasta {COUNTS} --cpu-bind=ldoms ./a"),
        ("launch: {mpi: none, binding: none}", f"srun --mpi=none {COUNTS} --cpu-bind=none ./a"),
        ("launch: {mpi: pmix_v4}", f"srun --mpi=pmix_v4 {COUNTS} ./a"),
        ("launch: {with: srun, mpi: intel, binding: cores}", f"srun --mpi=pmi2 {COUNTS} --cpu-bind=cores ./a"),
        (
            "launch: {mpi: mpich, options: ['--mem={ranks}G', '--label it']}",
            f"srun --mpi=pmi2 {COUNTS} --mem=32G '--label it' ./a",
        ),
        ("launch: {with: mpiexec, mpi: mpich}", "mpiexec -n 32 -ppn 8 ./a"),
        ("launch: mpiexec.hydra", "mpiexec.hydra -n 32 -ppn 8 ./a"),
        ("launch: {with: mpiexec, mpi: mpich, binding: sockets}", "mpiexec -n 32 -ppn 8 --bind-to socket ./a"),
        ("launch: mpirun.openmpi", "mpirun.openmpi -n 32 --map-by ppr:8:node:PE=2 ./a"),
        (
            "launch: {with: mpirun, mpi: openmpi, binding: cores, options: [-x, A]}",
            "mpirun -n 32 --map-by ppr:8:node:PE=2 --bind-to core -x A ./a",
        ),
    ],
)
def test_the_words_of_each_launcher(made: Any, login: LoginNode, run: str, script: str) -> None:
    login.of()
    for name in ("mpiexec", "mpiexec.hydra", "mpirun", "mpirun.openmpi"):
        login.program(name)
    case = made(run)
    assert (case.script, case.unavailable) == (script, "")


def test_hardware_threads_are_no_cores(made: Any, login: LoginNode) -> None:
    login.of()
    assert made("launch: {mpi: mpich}", threads=2).script == f"srun --mpi=pmi2 {COUNTS} --threads-per-core=1 ./a"


def test_each_rank_has_its_own_threads_unless_the_test_says_otherwise(made: Any, login: LoginNode) -> None:
    login.of()
    assert made("launch: {mpi: none}").environment == (("OMP_NUM_THREADS", "2"),)
    own = 'launch: {mpi: none}, environment: {OMP_NUM_THREADS: "7", B: c}'
    assert made(own).environment == (("OMP_NUM_THREADS", "7"), ("B", "c"))
    toolchain = "{environment: {OMP_NUM_THREADS: 5, LD_LIBRARY_PATH: /opt}}"
    assert made("launch: {mpi: none}", toolchain, "parameters: {toolchain: gcc}").environment == (
        ("OMP_NUM_THREADS", "5"),
        ("LD_LIBRARY_PATH", "/opt"),
    )


def test_requeue_is_part_of_the_shape(made: Any, login: LoginNode) -> None:
    login.of()
    assert made("launch: {mpi: none}, requeue: yes").shape.requeue
    assert not made("launch: {mpi: none}").shape.requeue


def test_a_parameter_can_choose_the_mpi(site: Any, login: LoginNode) -> None:
    login.of()
    site.write("systems/c5.yaml", SYSTEM.format(toolchain="{}", threads=1))
    site.test(
        'test: a\nparameters: {mpi: [mpich, openmpi]}\nrun: {tasks_per_node: 2, launch: {mpi: "{mpi}"}, command: "{launch} a"}'
    )
    assert [case.script.split()[1] for case in site.cases("c5")] == ["--mpi=pmi2", "--mpi=pmix"]


# ---- on this machine -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("launch", "script"),
    [
        ("launch: srun, ", "mpiexec -n 2 ./a"),
        ("launch: mpirun, ", "mpirun -n 2 ./a"),
        ("launch: {mpi: mpich}, ", "mpiexec -n 2 ./a"),
        ("launch: {mpi: openmpi}, ", "mpirun --oversubscribe -n 2 ./a"),
        ("", "mpiexec -n 2 ./a"),
    ],
)
def test_a_local_machine_has_no_srun(site: Any, login: LoginNode, launch: str, script: str) -> None:
    login.program("mpiexec").program("mpirun")
    site.test(f'test: a\nrun: {{tasks_per_node: 2, {launch}command: "{{launch}} ./a"}}')
    case = site.case()
    assert (case.script, case.unavailable, case.environment) == (script, "", ())


def test_debian_names_the_launcher_of_open_mpi_after_it(site: Any, login: LoginNode) -> None:
    login.program("mpiexec").program("mpirun").program("mpirun.openmpi")
    site.test('test: a\nrun: {launch: {mpi: openmpi}, command: "{launch} ./a"}')
    assert site.case().script == "mpirun.openmpi --oversubscribe -n 1 ./a"


@pytest.mark.parametrize(
    ("program", "build", "script"),
    [
        ("hpcc", "", "mpirun.openmpi --oversubscribe -n 2 ./a"),
        ("vasp", "", "mpiexec -n 2 ./a"),
        ("tar", "", "mpiexec -n 2 ./a"),
        ("gone", "", "mpiexec -n 2 ./a"),
        ("hpcc", BUILD, "mpiexec -n 2 ./a"),
    ],
)
def test_a_program_that_is_linked_to_open_mpi_is_started_by_it(
    site: Any, login: LoginNode, program: str, build: str, script: str
) -> None:
    login.program("mpiexec").program("mpirun.openmpi").linked(program if program != "gone" else "tar")
    site.test(
        f'test: a\n{build}needs: {{programs: [{program}]}}\nrun: {{tasks_per_node: 2, command: "{{launch}} ./a"}}'
    )
    assert site.case().script == script


# ---- whose MPI -------------------------------------------------------------------------------------------------------


def test_the_toolchain_says_whose_mpi_it_has(made: Any, login: LoginNode) -> None:
    login.of().program("mpicc").program("mpiexec", HYDRA)
    assert made(toolchain="{mpi: openmpi, cc: sh}", more=BUILD).script.split()[1] == "--mpi=pmix"
    assert made("launch: {mpi: cray}", "{mpi: openmpi}", BUILD).script.split()[1] == "--mpi=cray_shasta"


@pytest.mark.parametrize(
    ("compiler", "launcher", "says", "kind"),
    [
        ("mpicc", "mpiexec", HYDRA, "pmi2"),
        ("mpicc", "mpiexec", OPEN, "pmix"),
        ("mpicc", "mpiexec", "Intel(R) MPI Library for Linux* OS, Version 2021.9 Build 20230306", "pmi2"),
        ("mpicc.openmpi", "mpiexec.openmpi", OPEN, "pmix"),
    ],
)
def test_the_launcher_beside_the_compiler_tells(
    made: Any, login: LoginNode, compiler: str, launcher: str, says: str, kind: str
) -> None:
    login.of().program(compiler).program(launcher, says)
    case = made(toolchain=f"{{cc: {compiler}}}", more=BUILD)
    assert case.script.split()[1] == f"--mpi={kind}"


def test_without_a_launcher_the_compiler_itself_tells(made: Any, login: LoginNode) -> None:
    login.of().program("mpicc", "gcc -I/usr/include/x86_64-linux-gnu/mpich -L/usr/lib -lmpich")
    assert made(toolchain="{cc: sh}", more=BUILD).script.split()[1] == "--mpi=pmi2"


@pytest.mark.parametrize(("program", "kind"), [("hpcc", "pmix"), ("vasp", "pmi2")])
def test_a_program_that_is_not_built_tells_by_its_libraries(
    made: Any, login: LoginNode, program: str, kind: str
) -> None:
    login.of().linked(program)
    assert made(more=f"needs: {{programs: [{program}]}}").script.split()[1] == f"--mpi={kind}"


def test_a_script_has_the_mpi_beside_it(made: Any, login: LoginNode) -> None:
    login.of().linked("lmp").program("mpiexec", HYDRA)
    assert made(more="needs: {programs: [lmp]}").script.split()[1] == "--mpi=pmi2"


def test_an_older_srun_lists_its_types_another_way(made: Any, login: LoginNode) -> None:
    login.of(offers=OLD_OFFERS)
    assert made("launch: {mpi: mpich}").unavailable == ""
    assert made("launch: {mpi: openmpi}").unavailable == (
        "srun here has no --mpi=pmix, which Open MPI needs; it has none, openmpi, pmi2: have Slurm's plugin for it installed, "
        "or write 'launch: mpiexec' in run"
    )


def test_what_is_not_known_is_said_with_the_keys_that_tell(made: Any, login: LoginNode) -> None:
    login.of()
    ways = "(or openmpi, intel, cray; none for programs without MPI)"
    assert made().unavailable == (
        f"it is not known whose MPI its ranks use: add 'launch: {{mpi: mpich}}' to run of the test {ways}"
    )
    # modules may bring any compiler, whatever is found without them
    login.program("mpicc").program("mpiexec", HYDRA)
    assert made(toolchain="{modules: [gcc/13]}", more=BUILD).unavailable == (
        "it is not known whose MPI its ranks use: add 'mpi: mpich' to toolchain gcc of system c5, "
        f"or 'launch: {{mpi: mpich}}' to run of the test {ways}"
    )
    assert made(toolchain="{modules: [gcc/13]}", more=BUILD, shape="nodes: 1").unavailable == ""


def test_of_another_machine_nothing_is_looked_up(made: Any, login: LoginNode) -> None:
    """This one has an srun, but it speaks to another cluster: neither its types nor its programs count."""
    login.of("other", OLD_OFFERS).program("mpicc").program("mpiexec", HYDRA)
    assert made(more="needs: {programs: [no-such]}").script == f"srun {COUNTS} ./a"
    assert made(toolchain="{mpi: openmpi}", more=BUILD).script == f"srun --mpi=pmix {COUNTS} ./a"
    assert made("launch: {mpi: openmpi}").unavailable == ""


def test_on_the_login_node_programs_that_are_missing_are_told(made: Any, login: LoginNode) -> None:
    login.of()
    needs = "needs: {programs: [no-such], get: ask}"
    assert made("launch: {mpi: none}", more=needs).unavailable == "no-such is not installed here; get it with: ask"
    modules = "parameters: {toolchain: gcc}\n" + needs
    assert made("launch: {mpi: none}", "{modules: [no-such]}", modules).unavailable == ""


def test_what_commands_said_is_asked_again_after_a_while(
    site: Any, made: Any, login: LoginNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    login.of(offers=OLD_OFFERS)
    assert made("launch: {mpi: openmpi}").unavailable
    around = surroundings.Surroundings()
    assert "pmi2" in around.said(around.place("srun"), "--mpi=list")
    assert surroundings.still_so(around.seen)
    until = around.seen.believed_until
    monkeypatch.setattr("time.time", lambda: until + 1)
    assert not surroundings.still_so(around.seen)


SLOW = subprocess.TimeoutExpired("srun", 5.0)
NO_ROOM = OSError(errno.EAGAIN, "Resource temporarily unavailable")


@pytest.mark.parametrize(("trouble", "times"), [(SLOW, 1), (SLOW, 2), (NO_ROOM, 1), (NO_ROOM, 2)])
def test_a_command_that_is_not_heard_on_a_busy_machine_is_asked_again_and_what_it_did_not_say_is_not_kept(
    site: Any, login: LoginNode, monkeypatch: pytest.MonkeyPatch, trouble: Exception, times: int
) -> None:
    login.of(offers=OLD_OFFERS)
    really, calls = subprocess.run, list[float]()

    def busy(*words: Any, **options: Any) -> Any:
        calls.append(options["timeout"])
        if len(calls) <= times:
            raise trouble
        return really(*words, **options)

    monkeypatch.setattr(subprocess, "run", busy)
    around = surroundings.Surroundings()
    heard = around.said(around.place("srun"), "--mpi=list")
    assert len(calls) == 2 and calls[0] < calls[1]
    assert ("pmi2" in heard) is (times == 1)
    assert surroundings.still_so(around.seen) is (times == 1), "else the next command asks again"


# ---- wrong use -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("launch", "words"),
    [
        ("aprun", "run.launch: 'aprun' is not a launcher"),
        ("{with: jsrun}", "run.launch.with: 'jsrun' is not a launcher"),
        ("{mpi: MPICH2}", "run.launch.mpi: 'MPICH2' is no MPI"),
        ("{binding: core}", "run.launch.binding: 'core' is not one of cores, sockets, numa, none"),
        ("{mip: mpich}", "unknown key 'mip' in run.launch"),
    ],
)
def test_wrong_words_are_told(site: Any, launch: str, words: str) -> None:
    site.test(f'test: a\nrun: {{launch: {launch}, command: "{{launch}} a"}}')
    with pytest.raises(Exception) as caught:
        site.cases()
    assert words in str(getattr(caught.value, "problems", caught.value))


# ---- a Slurm that binds nothing ----


@pytest.mark.parametrize(
    ("plugin", "binding", "told"),
    [
        ("task/none", "cores", True),
        ("(null)", "cores", True),
        ("task/cgroup", "numa", True),
        ("task/affinity,task/cgroup", "cores", False),
        ("task/none", "none", False),
        ("", "cores", False),  # nothing is known
    ],
)
def test_a_binding_that_slurm_takes_and_does_not_heed_is_told(
    made: Any, site: Any, here: Any, login: LoginNode, plugin: str, binding: str, told: bool
) -> None:
    said = f"SlurmUser = slurm\nTaskPlugin              = {plugin}\nTaskPluginParam = (null)"
    login.of().program("scontrol", said if plugin else "")
    made(f"launch: {{mpi: mpich, binding: {binding}}}")
    checked = check_site(Path(site.path), lambda: here)
    warnings = [f"{one.path}:{one.line}: {one.message}" for one in checked.warnings]
    has = "its TaskPlugin is task/cgroup" if plugin == "task/cgroup" else "it has no TaskPlugin"
    message = f"run.launch.binding: Slurm binds no rank here: {has}, and srun starts them all the same"
    assert [text for text in warnings if "binding" in text] == ([f"site/tests/a.yaml:2: {message}"] if told else [])
