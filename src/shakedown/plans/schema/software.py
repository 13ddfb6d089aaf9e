"""Keys for the software to load before builds and runs: by shell files, by modules, by Spack."""

from __future__ import annotations

import re

from shakedown.plans.schema.records import Either, Key, ListOf, Record
from shakedown.plans.schema.scalars import InvalidValue, Name, Parsed, Word, YesNo

_SPEC = re.compile(r"[A-Za-z0-9@/][^\x00-\x1f\x7f;&|<>`$'\"\\]{0,500}")


def shell_file(text: str) -> str:
    """The absolute path of a shell file. Raises InvalidValue."""
    if not text.startswith("/") or re.search(r"[\x00-\x1f\x7f]", text):
        raise InvalidValue(
            f"'{text}' is no absolute path", "such as /cvmfs/software.eessi.io/versions/2023.06/init/bash"
        )
    return text


def spack_spec(text: str) -> str:
    """A Spack spec to install and load. Raises InvalidValue."""
    if _SPEC.fullmatch(text) is None:
        raise InvalidValue(f"'{text}' is no spec of Spack's", "such as hdf5+mpi or 'fftw@3.3 %gcc@13'")
    return text


_MODULE = Word("a module", r"[^\s;&|<>`$]+", "a name without blanks")


def module_name(text: str) -> str:
    """A name for ``module load``. Raises InvalidValue."""
    return _MODULE.convert(text)


def software_keys(templated: bool) -> dict[str, Key]:
    """Purpose: the keys for software to load. ``templated``: in a test, where values may contain parameters."""
    specs = Parsed("a spec such as hdf5+mpi", spack_spec, templated=templated)
    several = ListOf(specs, "a list of specs", 1)
    directory = Parsed("the absolute path of a directory", shell_file, templated=templated)
    places = Record(
        "a map that says what Spack loads",
        {
            "specs": Key(several, "what is loaded, in order", True),
            "environment": Key(Name("an environment", templated=templated), "the Spack environment that has them"),
            "root": Key(
                directory, "the directory of Spack itself; without it $SPACK_ROOT, else the spack that is found"
            ),
            "install": Key(YesNo(), "a build installs them first; without it false"),
        },
    )
    files = Parsed("a shell file such as /opt/site/init.sh", shell_file, templated=templated)
    modules = Word("a module", r"[^\s;&|<>`$]+", "a name without blanks", templated=templated)
    return {
        "initialise": Key(
            ListOf(files, "a list of shell files", 1), "shell files that bash reads first, such as EESSI's init/bash"
        ),
        "modules": Key(ListOf(modules, "a list of modules"), "modules to load, in order"),
        "spack": Key(
            Either(scalar=specs, items=several, keys=places),
            "what Spack loads after the modules: a spec, a list of them, or a map",
        ),
    }


SOFTWARE = Key(
    Record("a map with initialise, modules or spack", software_keys(templated=True)),
    "software that is loaded before its builds and runs, after what the toolchain loads",
)
