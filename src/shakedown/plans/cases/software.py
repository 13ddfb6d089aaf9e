"""Software that a shell loads before a build or a run: shell files that initialise it, modules, and what Spack has.

Sources: Lmod's and Environment Modules' guides (``module load`` in a shell that is no login shell), Spack's reference (``spack load
--sh`` prints the words that a shell evaluates, and needs no set-up of the shell), EESSI's guide (``source .../init/bash``).
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from shakedown.model.nouns import Spack, Toolchain
from shakedown.plans.cases.combinations import Path
from shakedown.plans.schema.software import module_name, shell_file, spack_spec

LOADED = "loaded-software.txt"  # in the directory of a run or a build: what was loaded

_BASH = """command -v bash >/dev/null 2>&1 || {
    echo "error: software is initialised by bash, which this node does not have" >&2
    exit 1
}
exec bash /dev/fd/3 3<<'END_OF_BASH'
exec 3<&-
"""
_END_OF_BASH = "END_OF_BASH\n"

_INITIALISE = r"""for sd_file in FILES; do
    [ -r "$sd_file" ] || { echo "error: $sd_file, which initialises software, cannot be read on $(uname -n)" >&2; exit 1; }
    . "$sd_file"
done
"""

# ``module`` is a function that only login shells know by themselves; a job's sh has to be told it, from the file of whichever
# system for modules there is. Some of these files leave MODULEPATH to the files of the login shell. Old systems report no
# failure: then the list of what is loaded has not changed.
_MODULES = r"""for sd_init in "${LMOD_PKG:-/usr/share/lmod/lmod}/init/sh" "${MODULESHOME:-/usr/share/modules}/init/sh" \
    /etc/profile.d/lmod.sh /etc/profile.d/z00_lmod.sh /etc/profile.d/modules.sh; do
    command -v module >/dev/null 2>&1 && [ -n "${MODULEPATH-}" ] && break
    [ -r "$sd_init" ] && { . "$sd_init" || :; }
done
command -v module >/dev/null 2>&1 || { [ -r /etc/profile ] && . /etc/profile; } || :
command -v module >/dev/null 2>&1 || {
    echo "error: modules cannot be loaded: this shell knows no 'module' (set LMOD_PKG or MODULESHOME to where they are)" >&2
    exit 1
}
for sd_module in WORDS; do
    sd_before=${LOADEDMODULES-}
    module load "$sd_module" || { echo "error: module $sd_module cannot be loaded" >&2; exit 1; }
    case :${LOADEDMODULES-}: in ":$sd_before:")
        case :$sd_before: in *":$sd_module:"* | *":$sd_module/"*) ;; *)
            echo "error: module $sd_module cannot be loaded: 'module load' changed nothing" >&2
            exit 1 ;;
        esac ;;
    esac
done
"""

_FIND_SPACK = r"""sd_spack=ROOT
[ -n "$sd_spack" ] || sd_spack=${SPACK_ROOT:-}
if [ -n "$sd_spack" ]; then sd_spack=$sd_spack/bin/spack; else sd_spack=spack; fi
command -v "$sd_spack" >/dev/null 2>&1 || {
    echo "error: Spack cannot load software: $sd_spack is not on $(uname -n) (set SPACK_ROOT, or write 'root' under spack)" >&2
    exit 1
}
"""
_INSTALL = r"""for sd_spec in SPECS; do
    "$sd_spack" IN install INTO "$sd_spec" || { echo "error: Spack cannot install $sd_spec" >&2; exit 1; }
done
"""
_LOAD = r"""for sd_spec in SPECS; do
    sd_words=$("$sd_spack" IN load --sh "$sd_spec") || { echo "error: Spack cannot load $sd_spec" >&2; exit 1; }
    eval "$sd_words"
done
"""

_LOADED_MODULES = (
    r"""    [ -z "${LOADEDMODULES-}" ] || printf '%s\n' "$LOADEDMODULES" | tr ':' '\n' | sed 's/^/module /'"""
)
_LOADED_SPECS = """    "$sd_spack" find --loaded --format 'spack {name}{@version}/{hash:7}'"""


def loads_software(toolchain: Toolchain | None) -> bool:
    """Purpose: whether something is loaded before a build or a run, so that nobody knows beforehand which programs there are."""
    return toolchain is not None and bool(toolchain.modules or toolchain.initialise or toolchain.spack.specs)


def with_software(
    toolchain: Toolchain | None, written: dict[str, Any], text: Callable[[Path, str], str]
) -> Toolchain | None:
    """Purpose: the toolchain of a case, with what its test asks for loaded after its own.

    ``written``: the test's key ``software``; ``text`` fills in its expressions. Raises InvalidValue, ExpressionError.
    """
    if not written:
        return toolchain
    base: Path = ("software",)

    def filled(key: str, values: list[str], parse: Callable[[str], str], *under: str) -> tuple[str, ...]:
        return tuple(parse(text((*base, key, *under, number), value)) for number, value in enumerate(values))

    own = toolchain or Toolchain("")
    return replace(
        own,
        initialise=_after(own.initialise, filled("initialise", written.get("initialise", []), shell_file)),
        modules=_after(own.modules, filled("modules", written.get("modules", []), module_name)),
        spack=_spack_after(own.spack, written.get("spack"), text),
    )


def spack_from(written: Any) -> Spack:
    """Purpose: what a key ``spack`` says, as it stands in a file: a spec, a list of specs, or a map."""
    if written is None:
        return Spack()
    if isinstance(written, str):
        return Spack((written,))
    if isinstance(written, list):
        return Spack(tuple(written))
    return Spack(
        tuple(written["specs"]), written.get("environment", ""), written.get("root", ""), written.get("install", False)
    )


def loading(toolchain: Toolchain | None, script: str, install: bool = False) -> str:
    """Purpose: a script that first loads software, or fails with a sentence; the file LOADED says afterwards what is loaded.

    ``install``: Spack installs what is missing before it loads it. Modules go before Spack: they may bring its compiler.
    """
    if toolchain is None or not loads_software(toolchain):
        return script
    spack = toolchain.spack
    lines = _initialise(toolchain)
    if toolchain.modules:
        lines += _MODULES.replace("WORDS;", f"{_words(toolchain.modules)};")
    if spack.specs:
        steps = _INSTALL + _LOAD if install and spack.install else _LOAD
        lines += _find(spack) + _spack_words(steps, spack)
    return _in_bash(toolchain, lines + _record(toolchain) + script)


def _in_bash(toolchain: Toolchain, script: str) -> str:
    """The files that initialise software are bash's own, so bash goes on from there, as the same process."""
    if not toolchain.initialise:
        return script
    ending = _END_OF_BASH.strip()
    while ending in script:
        ending += "_"
    return f"{_BASH.replace(_END_OF_BASH.strip(), ending)}{script.rstrip()}\n{ending}\n"


def _initialise(toolchain: Toolchain) -> str:
    """Such files often end with a status that means nothing; what they do not bring is missed later, by name."""
    return _INITIALISE.replace("FILES", _words(toolchain.initialise)) if toolchain.initialise else ""


def _find(spack: Spack) -> str:
    return _FIND_SPACK.replace("ROOT\n", f"{shlex.quote(spack.root)}\n", 1)


def _spack_words(lines: str, spack: Spack) -> str:
    inside = f"-e {shlex.quote(spack.environment)}" if spack.environment else ""
    into = "--add" if spack.environment else ""
    found = lines.replace("SPECS", _words(spack.specs)).replace(" IN ", f" {inside} " if inside else " ")
    return found.replace(" INTO ", f" {into} " if into else " ")


def _record(toolchain: Toolchain) -> str:
    """What is loaded, with the versions that came of it: a line for each file, module and package."""
    files = f"    printf 'file %s\\n' {_words(toolchain.initialise)}" if toolchain.initialise else ""
    lines = [files, _LOADED_MODULES, _LOADED_SPECS if toolchain.spack.specs else ""]
    return "\n".join(["{", *filter(None, lines), f"}} >{LOADED}", ""])


def _spack_after(before: Spack, written: Any, text: Callable[[Path, str], str]) -> Spack:
    """What the test asks of Spack, after what the toolchain does: the places that it names itself go before."""
    if written is None:
        return before
    own, base = spack_from(written), ("software", "spack")
    if isinstance(written, dict):
        specs = tuple(spack_spec(text((*base, "specs", place), one)) for place, one in enumerate(own.specs))
        environment = text((*base, "environment"), own.environment)
        root = shell_file(text((*base, "root"), own.root)) if own.root else ""
    else:
        listed = isinstance(written, list)
        specs = tuple(spack_spec(text((*base, place) if listed else base, one)) for place, one in enumerate(own.specs))
        environment = root = ""
    return Spack(
        _after(before.specs, specs),
        environment or before.environment,
        root or before.root,
        own.install or before.install,
    )


def _after(first: tuple[str, ...], then: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *then)))


def _words(words: tuple[str, ...]) -> str:
    return " ".join(map(shlex.quote, words))
