"""The benchmark kernels: C11 + MPI programs in ``c/``, and the hand that finds a compiler, builds and starts them.

``c/`` is package data: a site compiles the kernels with its own ``mpicc``. A copy of that directory is all a build needs:
``make stream`` with ``mpicc`` on PATH leaves the program in the directory itself.
"""

from __future__ import annotations

from shakedown.kernels.build import build_kernels, build_tracer, built_kernel, cache_directory
from shakedown.kernels.compilers import find_mpicc, find_mpiexec
from shakedown.kernels.sources import Kernel, Option, describe_kernels, kernel_directory, kernel_names, shared_options

__all__ = [
    "Kernel",
    "Option",
    "build_kernels",
    "build_tracer",
    "built_kernel",
    "cache_directory",
    "describe_kernels",
    "find_mpicc",
    "find_mpiexec",
    "kernel_directory",
    "kernel_names",
    "shared_options",
]
