"""``container`` in ``run``: the words that start a program in an image, as each runtime's guide has them, and what cannot be."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from shakedown.schedulers.local_host.script import fill

RUNTIMES = ("apptainer", "singularity", "podman", "podman-hpc", "sarus", "ch-run", "srun", "mpiexec")
LOCAL = """\
system: here2
clusters: {l: {scheduler: local, partitions: {all: {nodes: n1, type: t}}}}
node_types: {t: {cores: 4}}
CONTAINERS
"""
SLURM = """\
system: c5
clusters: {c5: {scheduler: slurm, partitions: {batch: {nodes: "n[001-016]", type: t}}}}
node_types: {t: {cores: 64}}
toolchains: {gcc: {mpi: openmpi}}
CONTAINERS
"""
SRUN = ["srun", "--mpi=pmi2", "--nodes=2", "--ntasks=4", "--ntasks-per-node=2", "--cpus-per-task=1"]


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only programs of the machine: each writes the words that it was called with, a JSON list on a line."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for tool in ("sh", "pwd"):
        (folder / tool).symlink_to(f"/bin/{tool}")
    python = os.path.realpath("/proc/self/exe")
    for name in RUNTIMES:
        (folder / name).write_text(f"#!{python}\nimport json, sys\nprint(json.dumps(['{name}', *sys.argv[1:]]))\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr("sys.executable", str(folder / "python"))
    monkeypatch.setenv("SLURM_CONF", str(folder / "slurm.conf"))
    monkeypatch.setattr("shakedown.plans.mpi._CONFIGURATIONS", ())
    return folder


@pytest.fixture
def made(site: Any, programs: Path) -> Callable[..., Any]:
    """The case of a test with this container, on one machine or on a cluster."""

    def make(
        container: str, command: str = "{launch} ./a 'b c'", run: str = "", slurm: bool = False, at: str = ""
    ) -> Any:
        name, text = ("c5", SLURM) if slurm else ("here2", LOCAL)
        site.write(f"systems/{name}.yaml", text.replace("CONTAINERS", at))
        nodes = "nodes: 2, " if slurm and "nodes" not in run else ""
        keys = f"{nodes}tasks_per_node: 2, container: {container}, {run + ', ' if run else ''}"
        site.test(f'test: a\nrun: {{{keys}command: "{command}"}}\n')
        return site.case(name)

    return make


def called(case: Any, folder: Path) -> list[str]:
    """What a case's script calls, word for word, as the shell has it in this directory."""
    folder.mkdir(exist_ok=True)
    done = subprocess.run(["/bin/sh", "-c", case.script], cwd=folder, capture_output=True, text=True, check=True)
    words: list[str] = json.loads(done.stdout)
    return words


def image_of(site: Any, name: str = "a.sif") -> Path:
    path: Path = site.path / "tests" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"image")
    return path


@pytest.mark.parametrize("runtime", ["apptainer", "singularity"])
def test_apptainer(made: Any, site: Any, tmp_path: Path, runtime: str) -> None:
    image, work = image_of(site), tmp_path / 'it\'s a "$HOME" dir'
    case = made(f"{{image: a.sif, with: {runtime}, mounts: [/scratch, '/my data:/data'], options: [--nv]}}")
    inside = [f"--bind={work}", "--bind=/scratch:/scratch", "--bind=/my data:/data", f"--pwd={work}", "--nv"]
    assert called(case, work) == ["mpiexec", "-n", "2", runtime, "exec", *inside, str(image), "./a", "b c"]
    digest = hashlib.sha256(b"image").hexdigest()
    assert case.container == f"{image}, sha256 {digest} ({runtime}, launcher of the host)"


def test_files_that_another_run_hands_on_are_seen_inside(site: Any, programs: Path, tmp_path: Path) -> None:
    """They are links to the directory of that run, which lies in the campaign."""
    image_of(site)
    site.write("systems/here2.yaml", LOCAL.replace("CONTAINERS", ""))
    site.test("test: mesh\nrun: {command: echo}\n", "tests/mesh.yaml")
    needs = "needs: {test: mesh, files: [mesh.txt]}\n"
    run = "run: {container: {image: a.sif, with: apptainer}, command: '{container} ./a'}\n"
    for given, text in ((True, f"test: a\n{needs}{run}"), (False, f"test: a\n{run}")):
        site.test(text)
        (case,) = (one for one in site.cases("here2") if one.test == "a")
        campaign = tmp_path / 'it\'s a "$HOME" campaign'
        words = called(case_of_a_campaign(case, campaign), tmp_path / "w")
        assert (f"--bind={campaign}:{campaign}" in words) is given


def case_of_a_campaign(case: Any, campaign: Path) -> Any:
    return msgspec.structs.replace(case, script=fill(case.script, "{campaign}", str(campaign)))


@pytest.mark.parametrize("runtime", ["podman", "podman-hpc"])
def test_podman(made: Any, tmp_path: Path, runtime: str) -> None:
    case = made(f"{{image: 'docker.io/site/app:2', with: {runtime}, mounts: [/d:/e]}}", "{container} ./a")
    assert called(case, tmp_path / "w x") == [
        *(runtime, "run", "--rm", "--env-host", "--network=host", "--ipc=host", "--pid=host", "--entrypoint="),
        *(f"--volume={tmp_path}/w x:{tmp_path}/w x", "--volume=/d:/e", f"--workdir={tmp_path}/w x"),
        *("docker.io/site/app:2", "./a"),
    ]


def test_sarus(made: Any, tmp_path: Path) -> None:
    case = made("{image: 'site/app:2', with: sarus, mounts: [/d], options: [--mpi]}", "{container} ./a")
    mounts = [f"--mount=type=bind,source={place},destination={place}" for place in (f"{tmp_path}/w", "/d")]
    assert called(case, tmp_path / "w") == [
        *("sarus", "run", *mounts, f"--workdir={tmp_path}/w", "--mpi", "site/app:2", "./a")
    ]


def test_charliecloud(made: Any, site: Any, tmp_path: Path) -> None:
    (site.path / "tests/image/bin").mkdir(parents=True)
    case = made("{image: image, with: charliecloud, options: [--write]}", "{container} ./a -x")
    assert called(case, tmp_path / "w") == [
        *(
            "ch-run",
            f"--bind={tmp_path}/w",
            f"--cd={tmp_path}/w",
            "--write",
            f"{site.path}/tests/image",
            "--",
            "./a",
            "-x",
        )
    ]


def test_enroot_is_made_by_srun(made: Any, tmp_path: Path) -> None:
    container = "{image: 'registry#site/app:2', with: enroot, mounts: [/d:/e]}"
    options = [
        "--container-image=registry#site/app:2",
        f"--container-mounts={tmp_path}/w:{tmp_path}/w,/d:/e",
        f"--container-workdir={tmp_path}/w",
    ]
    case = made(container, run="launch: {mpi: mpich}", slurm=True)
    assert called(case, tmp_path / "w") == [*SRUN, *options, "./a", "b c"]
    case = made(container, "{container} ./a", slurm=True)
    assert called(case, tmp_path / "w") == ["srun", "--nodes=1", "--ntasks=1", *options, "./a"]


def test_what_the_site_says_goes_first(made: Any, site: Any, tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    (tmp_path / "images/b.sif").write_bytes(b"b")
    at = f"containers: {{with: singularity, images: {tmp_path}/images, mounts: [/scratch], options: [--nv]}}"
    case = made("{image: b.sif, mounts: [/d]}", "{container} ./a", at=at)
    mounts = [f"--bind={tmp_path}/w", "--bind=/scratch:/scratch", "--bind=/d:/d"]
    assert called(case, tmp_path / "w") == [
        *("singularity", "exec", *mounts, f"--pwd={tmp_path}/w", "--nv", f"{tmp_path}/images/b.sif", "./a")
    ]
    case = made("{image: b.sif, with: apptainer}", "{container} ./a", at=at)
    assert called(case, tmp_path / "w")[0] == "apptainer", "a test may say otherwise"
    image_of(site, "b.sif").write_bytes(b"nearer")
    assert made("b.sif", at=at).container.startswith(str(site.path)), "an image beside the test goes first"


def test_input_files_and_the_build_are_seen_inside(made: Any, site: Any, tmp_path: Path) -> None:
    image_of(site)
    far = tmp_path / "far away"
    far.mkdir()
    (far / "in.dat").write_text("x")
    (site.path / "tests/in.dat").symlink_to(far / "in.dat")
    case = made("a.sif", "{container} ./a", "files: [in.dat]")
    bound = [word.removeprefix("--bind=") for word in called(case, tmp_path / "w") if word.startswith("--bind=")]
    assert bound == [f"{tmp_path}/w", f"{site.path}/tests:{site.path}/tests", f"{far}:{far}"]
    copied = called(made("a.sif", "{container} ./a", "files: [in.dat], stage: copy"), tmp_path / "w")
    assert sum(word.startswith("--bind=") for word in copied) == 1, "what is copied lies in the run's directory"


def test_the_build_is_seen_inside(made: Any, site: Any) -> None:
    image_of(site)
    made("a.sif")
    site.write("tests/src/a.c", "")
    site.test(
        "test: a\nbuild: {source: src, run: 'true'}\n"
        'run: {container: {image: a.sif, with: apptainer}, command: "{container} {build}/a"}\n'
    )
    script = site.case("here2").script
    assert '--bind="$PWD" --bind={build}:{build} --pwd' in script, "filled in, and quoted, when the campaign has built"


def test_the_images_own_launcher(made: Any, site: Any, tmp_path: Path) -> None:
    image = image_of(site)
    case = made("{image: a.sif, launcher: image}", run="nodes: 1, launch: {mpi: openmpi, binding: cores}", slurm=True)
    work = tmp_path / "w"
    inside = ["mpiexec", "--oversubscribe", "-n", "2", "--bind-to", "core"]
    # of a cluster that this machine does not belong to nobody knows the runtime: see below
    assert case.unavailable.startswith("it is not known what starts containers there")
    at = "containers: {with: apptainer}"
    case = made(
        "{image: a.sif, launcher: image}", run="nodes: 1, launch: {mpi: openmpi, binding: cores}", slurm=True, at=at
    )
    assert case.unavailable == ""
    words = ["apptainer", "exec", f"--bind={work}", f"--pwd={work}", str(image), *inside, "./a", "b c"]
    assert called(case, work) == words
    case = made("{image: a.sif, launcher: image}", slurm=True, at=at)
    assert (
        case.unavailable == "launcher: image starts all ranks in one container, on one node, and the case takes 2 nodes"
    )


def test_parameters_may_name_all_of_it(site: Any, programs: Path) -> None:
    image_of(site, "gcc.sif")
    image_of(site, "llvm.sif")
    site.write("systems/here2.yaml", LOCAL.replace("CONTAINERS", ""))
    site.test(
        "test: a\nparameters: {tool: [gcc, llvm], how: [apptainer, singularity]}\n"
        'run: {container: {image: "{tool}.sif", with: "{how}", mounts: ["/data/{tool}"]}, command: "{container} ./a"}\n'
    )
    scripts = [case.script.split("--pwd")[0] for case in site.cases("here2")]
    assert len(scripts) == 4
    assert scripts[3] == 'singularity exec --bind="$PWD" --bind=/data/llvm:/data/llvm '


WRONG = {
    "nothing inside": (
        "a.sif",
        "./a",
        "",
        "the command starts nothing in the container",
        "{container} before any other",
    ),
    "no runtime": (
        "{image: a.sif, with: docker}",
        "{launch} ./a",
        "",
        "'docker' is not one of apptainer, singularity",
        "",
    ),
    "no mount": (
        "{image: a.sif, mounts: [data]}",
        "{launch} ./a",
        "",
        "'data' is no mount",
        "an absolute path, or two",
    ),
    "an option as image": ("--nv", "{launch} ./a", "", "'--nv' is no image", "a file such as lammps.sif"),
    "per target": (
        "a.sif",
        "{launch} ./a",
        "stage: per-target, files: [a.sif]",
        "a container cannot see files",
        "stage: copy",
    ),
    "no image": ("{with: podman}", "{launch} ./a", "", "'image' is missing", ""),
}


@pytest.mark.parametrize("name", WRONG)
def test_misuse_is_told_where_it_stands(made: Any, site: Any, name: str) -> None:
    container, command, run, message, hint = WRONG[name]
    image_of(site)
    with pytest.raises(Exception) as caught:
        made(container, command, run)
    said = str(caught.value)
    assert message in said, said
    assert hint in said
    assert "tests/" in said, "the file is named"


def test_what_is_not_here_makes_a_case_unavailable(made: Any, site: Any, programs: Path) -> None:
    image_of(site)
    missing = made("b.sif", "{container} ./a").unavailable
    assert missing == "the image b.sif is not on this machine; it was looked for beside the test"
    assert made("{image: /no/b.sif}").unavailable == "the image /no/b.sif is not on this machine"
    assert "Enroot is used through srun" in made("{image: a.sif, with: enroot}").unavailable
    for runtime in RUNTIMES[:6]:
        (programs / runtime).unlink()
    nothing = made("a.sif").unavailable
    assert nothing.startswith("nothing here starts containers: install one of apptainer, singularity, podman")
    assert made("{image: a.sif, with: podman}").unavailable == "podman is not installed here"


def test_whose_mpi_an_image_has_must_be_said(made: Any, site: Any, programs: Path) -> None:
    """The machine's own compiler and the toolchain say nothing about the programs of an image."""
    image_of(site)
    (programs / "slurm.conf").write_text("clustername=c5\n")
    case = made("{image: a.sif, with: apptainer}", slurm=True)
    assert case.unavailable.startswith("it is not known whose MPI the image has: add 'launch: {mpi: mpich}'")
    assert made("{image: a.sif, with: apptainer}", run="launch: {mpi: none}", slurm=True).unavailable == ""
