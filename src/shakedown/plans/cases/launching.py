"""Build ``{launch}``: the command that starts a case's ranks, chosen by the scheduler and by the MPI of the program."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from shakedown.model.nouns import Shape, Toolchain
from shakedown.plans.cases.build_keys import Plan
from shakedown.plans.cases.containers import Container
from shakedown.plans.cases.software import loads_software
from shakedown.plans.context import Context
from shakedown.plans.mpi import (
    NAMES,
    TYPES,
    linked_to_openmpi,
    mpi_of_compiler,
    mpi_of_programs,
    offered_types,
    on_login_node,
)
from shakedown.plans.partition_scopes import Stage

BINDINGS = ("cores", "sockets", "numa", "none")
_SRUN_WORDS = {"cores": "cores", "sockets": "sockets", "numa": "ldoms", "none": "none"}
_MPIEXEC_WORDS = {"cores": "core", "sockets": "socket", "numa": "numa", "none": "none"}


@dataclass(frozen=True, slots=True)
class Wish:
    """The keys of a test's ``launch``, filled in; "" where a key is missing. ``starter``: srun, mpiexec, mpirun.openmpi..."""

    starter: str = ""
    mpi: str = ""
    binding: str = ""
    options: tuple[str, ...] = ()
    gpu_binding: str = ""


@dataclass(frozen=True, slots=True)
class Launch:
    """The launch command, the programs it needs here, and why it cannot start the ranks ("" where it can)."""

    text: str
    tools: tuple[str, ...] = ()
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Launching:
    """Chooses the launch command from all facts that it depends on."""

    stage: Stage
    shape: Shape
    wish: Wish
    toolchain: Toolchain | None
    build: Plan | None
    programs: list[str]  # that the test needs
    context: Context
    container: Container | None = None  # in which each rank runs

    def choose(self) -> Launch:
        """Purpose: the launch that starts the ranks of a case on its partition."""
        if self.container is None:
            return self._started()
        if self.container.launcher == "image":
            return self._by_image(self.container)
        launch = self._started()
        inside = self.container.srun_options() if self.container.in_srun else self.container.words()
        if self.container.in_srun and launch.text.split(maxsplit=1)[0] != "srun":
            return Launch(
                launch.text, launch.tools, "Enroot is used through srun: leave launch.with out, or write srun"
            )
        return Launch(f"{launch.text} {inside}", (*launch.tools, *self.container.tools), launch.fault)

    def _started(self) -> Launch:
        """The launch of ranks without a container in between."""
        if self.stage.local:
            return self._local()
        here = on_login_node(self.context.machine.system, self.context.around)
        mpi = self.wish.mpi or self._known_mpi() or (self._found_mpi() if here else "")
        if self.wish.starter.startswith("mpi"):
            mpi = mpi or _by_suffix(self.wish.starter)
            fault = "" if mpi or not here or self.shape.nodes == 1 else self._unknown()
            if self.wish.gpu_binding == "closest":
                fault = f"{self.wish.starter} cannot give each rank the closest GPU: leave launch.gpu_binding out, or use srun"
            text = _mpiexec(self.wish.starter, mpi, self.shape, self.wish)
            return Launch(text, (self.wish.starter,) if self._from_path() else (), fault)
        kind, fault = self._type(mpi, here)
        return Launch(_srun(kind, self.stage, self.shape, self.wish), ("srun",), fault)

    def _local(self) -> Launch:
        """The launch on the local machine: mpiexec, or mpirun where the test or its program uses Open MPI."""
        starter, around, mpi = self.wish.starter, self.context.around, self.wish.mpi
        if not starter.startswith("mpi"):
            starter = "mpiexec"
            if not mpi and self._own_program() and linked_to_openmpi(self.programs, around):
                mpi = "openmpi"
            if mpi == "openmpi":
                starter = "mpirun.openmpi" if around.place("mpirun.openmpi") else "mpirun"
        words = [starter]
        if "openmpi" in (mpi, _by_suffix(starter)):
            words.append("--oversubscribe")  # it counts places by rules of its own; the cores are ours to share out
        words += ["-n", str(self.shape.ranks), *_bound_by_mpiexec(self.wish.binding), *self.wish.options]
        return Launch(shlex.join(words), (starter,))

    def _by_image(self, container: Container) -> Launch:
        """The launch by the image's own launcher; it starts all ranks in one container, so on one node."""
        nodes, openmpi = self.shape.nodes, self.wish.mpi == "openmpi"
        fault = f"launcher: image starts all ranks in one container, on one node, and the case takes {nodes} nodes"
        words = ["mpiexec", *(["--oversubscribe"] if openmpi else []), "-n", str(self.shape.ranks)]
        words += [*_bound_by_mpiexec(self.wish.binding), *self.wish.options]
        return Launch(f"{container.words()} {shlex.join(words)}", container.tools, fault if nodes > 1 else "")

    def _own_program(self) -> bool:
        """Whether the test runs a program of this machine, neither built by the test nor in a container."""
        return self.build is None and self.container is None

    def _known_mpi(self) -> str:
        """The MPI of the toolchain by the system's file; "" for a program inside an image, whose MPI is not known."""
        inside = self.container is not None and self.build is None
        return self.toolchain.mpi if self.toolchain is not None and not inside else ""

    def _found_mpi(self) -> str:
        if self.container is not None and self.build is None:
            return ""
        around = self.context.around
        found = mpi_of_programs(self.programs, around) if self.build is None else ""
        return found or ("" if self.build is None and self.programs else mpi_of_compiler(self.toolchain, around))

    def _from_path(self) -> bool:
        return not loads_software(self.toolchain)

    def _type(self, mpi: str, here: bool) -> tuple[str, str]:
        """The value of srun's --mpi ("" for the default), and why it cannot be used ("" where it can)."""
        if not mpi:
            return "", self._unknown() if here and self.shape.ranks > 1 else ""
        wanted = TYPES.get(mpi, (mpi,))
        offered = offered_types(self.context.around) if here else []
        kind = next((word for word in wanted if word in offered), "") if offered else wanted[0]
        if kind or mpi == "none":
            return kind or "none", ""
        name = f", which {NAMES[mpi]} needs" if mpi in NAMES else ""
        listed = f"srun here has no --mpi={wanted[0]}{name}; it has {', '.join(offered)}"
        return wanted[0], f"{listed}: have Slurm's plugin for it installed, or write 'launch: mpiexec' in run"

    def _unknown(self) -> str:
        if self.container is not None:
            way = (
                "add 'launch: {mpi: mpich}' to run of the test (or openmpi, intel, cray; none for programs without MPI)"
            )
            return f"it is not known whose MPI the image has: {way}"
        if self._own_program() and self._from_path() and not all(map(self.context.around.program, self.programs)):
            return ""  # a program is missing, which is told; whose MPI it has is seen when it is there
        system = self.context.machine.system.name
        at = f"to toolchain {self.toolchain.name} of system {system}" if self.toolchain else "to a toolchain"
        run = "'launch: {mpi: mpich}' to run of the test"
        first = f"add 'mpi: mpich' {at}, or {run}" if self.toolchain else f"add {run}"
        return (
            f"it is not known whose MPI its ranks use: {first} (or openmpi, intel, cray; none for programs without MPI)"
        )


def wish_from(written: Any, text: Callable[..., str], parsed: Callable[..., Any]) -> Wish:
    """Purpose: a test's ``launch``, written as a word or a map, with its expressions filled in."""
    if not isinstance(written, dict):
        return Wish(starter=_filled(("run", "launch"), written or "", parsed))
    options = [text(("run", "launch", "options", i), option) for i, option in enumerate(written.get("options", ()))]
    keys = ("with", "mpi", "binding", "gpu_binding")
    starter, mpi, binding, gpu_binding = (_filled(("run", "launch", key), written.get(key, ""), parsed) for key in keys)
    return Wish(starter, mpi, binding, tuple(options), gpu_binding)


def _filled(at: tuple[str, ...], text: str, parsed: Callable[..., Any]) -> str:
    return str(parsed(at, text)) if "{" in text else text


def _srun(kind: str, stage: Stage, shape: Shape, wish: Wish) -> str:
    """The srun command. It gives the ranks per node, because Slurm alone would not spread them evenly."""
    words = ["srun", f"--mpi={kind}"] if kind else ["srun"]
    words += [f"--nodes={shape.nodes}", f"--ntasks={shape.ranks}", f"--ntasks-per-node={shape.tasks_per_node}"]
    words.append(f"--cpus-per-task={shape.cpus_per_task}")
    if stage.node.threads_per_core > 1:
        words.append("--threads-per-core=1")  # tests count cores, and Slurm would count their threads
    if wish.binding:
        words.append(f"--cpu-bind={_SRUN_WORDS[wish.binding]}")
    words += _resources(shape, wish)
    return shlex.join([*words, *wish.options])


def _resources(shape: Shape, wish: Wish) -> list[str]:
    """The options for GPUs and memory of a step, because not all Slurm versions pass those of the allocation on."""
    asked = shape.resources
    words = [f"--gpus-per-task={asked.gpus_per_task}"] if asked.gpus_per_task else []
    if asked.gpus_per_node and not asked.gpus_per_task:
        words.append(f"--gres=gpu:{asked.gpus_per_node}")
    if asked.memory_bytes:
        words.append(f"--mem={math.ceil(asked.memory_bytes / 2**20)}M")
    if wish.gpu_binding:
        words.append(f"--gpu-bind={wish.gpu_binding}")
    return words


def _mpiexec(starter: str, mpi: str, shape: Shape, wish: Wish) -> str:
    """The command of an MPI's own launcher inside the allocation, with its own option for ranks per node."""
    words = [starter, "-n", str(shape.ranks)]
    if mpi == "openmpi":
        cores = f":PE={shape.cpus_per_task}" if shape.cpus_per_task > 1 else ""
        words += ["--map-by", f"ppr:{shape.tasks_per_node}:node{cores}"]
    elif mpi:
        words += ["-ppn", str(shape.tasks_per_node)]
    return shlex.join([*words, *_bound_by_mpiexec(wish.binding), *wish.options])


def _bound_by_mpiexec(binding: str) -> list[str]:
    return ["--bind-to", _MPIEXEC_WORDS[binding]] if binding else []


def _by_suffix(starter: str) -> str:
    """The MPI that a launcher's suffix names, as in ``mpirun.openmpi``; "" without one."""
    suffix = starter.partition(".")[2]
    return {"openmpi": "openmpi", "mpich": "mpich", "hydra": "mpich"}.get(suffix, "")
