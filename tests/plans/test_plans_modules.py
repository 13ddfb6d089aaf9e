"""Modules in the shells that run builds and jobs: they are loaded, or it is said that they are not."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from shakedown.model.nouns import Toolchain
from shakedown.plans.cases.software import loading

# what Lmod and Environment Modules do, as far as anyone outside them sees
INIT = """\
module() {
    false  # real ones run commands that fail
    [ "$1" = load ] || return 1
    [ "$2" = broken ] && { echo "Lmod has detected the following error: broken" >&2; return 1; }
    [ "$2" = silent ] && { echo "ERROR:105: Unable to locate a modulefile" >&2; return 0; }
    case :$LOADEDMODULES: in *":$2:"*) return 0 ;; esac
    LOADEDMODULES=${LOADEDMODULES:+$LOADEDMODULES:}$2
    export LOADEDMODULES
    PATH=/opt/$2/bin:$PATH
}
export MODULEPATH=/modulefiles
"""


def run(modules: tuple[str, ...], tmp_path: Path, how: str = "", **environment: str) -> tuple[int, str, str]:
    text = how + loading(Toolchain("t", modules=modules), 'echo "$LOADEDMODULES|${PATH%%:*}"')
    known = {"PATH": os.environ["PATH"], **environment}
    done = subprocess.run(
        ["/bin/sh", "-c", text], env=known, capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path
    )
    return done.returncode, done.stdout.strip(), done.stderr.strip()


@pytest.fixture
def modules(tmp_path: Path) -> dict[str, str]:
    """Where a system for modules keeps what a plain shell needs."""
    (tmp_path / "init").mkdir()
    (tmp_path / "init" / "sh").write_text(INIT)
    return {"MODULESHOME": str(tmp_path), "LMOD_PKG": str(tmp_path / "none")}


@pytest.mark.parametrize("how", ["", "set -e\n"])
def test_they_are_loaded_in_order(modules: dict[str, str], tmp_path: Path, how: str) -> None:
    assert run(("gcc/13", "mpich"), tmp_path, how, **modules) == (0, "gcc/13:mpich|/opt/mpich/bin", "")


def test_lmod_goes_before_the_other(modules: dict[str, str], tmp_path: Path) -> None:
    lmod = tmp_path / "lmod" / "init"
    lmod.mkdir(parents=True)
    (lmod / "sh").write_text(INIT.replace("/opt/", "/lmod/"))
    status, said, _ = run(("gcc/13",), tmp_path, **(modules | {"LMOD_PKG": str(lmod.parent)}))
    assert (status, said) == (0, "gcc/13|/lmod/gcc/13/bin")


def test_what_is_loaded_already_is_no_failure(modules: dict[str, str], tmp_path: Path) -> None:
    assert run(("gcc",), tmp_path, LOADEDMODULES="gcc/13:cuda", **modules)[0] == 0
    assert run(("cuda",), tmp_path, LOADEDMODULES="gcc/13:cuda", **modules)[:2] == (0, f"gcc/13:cuda|{first_folder()}")


@pytest.mark.parametrize("how", ["", "set -e\n"])
@pytest.mark.parametrize(
    ("names", "words"),
    [
        (("broken",), "error: module broken cannot be loaded"),
        (("gcc", "silent"), "error: module silent cannot be loaded: 'module load' changed nothing"),
        (("silent",), "error: module silent cannot be loaded: 'module load' changed nothing"),
    ],
)
def test_a_module_that_cannot_be_loaded_ends_the_script(
    modules: dict[str, str], tmp_path: Path, names: tuple[str, ...], words: str, how: str
) -> None:
    status, said, errors = run(names, tmp_path, how, **modules)
    assert (status, said, errors.splitlines()[-1]) == (1, "", words)


def test_a_shell_without_modules_says_so(tmp_path: Path) -> None:
    if any(Path(place).exists() for place in ("/etc/profile.d/lmod.sh", "/etc/profile.d/modules.sh")):
        pytest.skip("this machine has modules")
    status, said, errors = run(("gcc",), tmp_path, LMOD_PKG="/none", MODULESHOME="/none")
    assert (status, said) == (1, "")
    assert errors.splitlines()[-1] == (
        "error: modules cannot be loaded: this shell knows no 'module' (set LMOD_PKG or MODULESHOME to where they are)"
    )


def first_folder() -> str:
    return os.environ["PATH"].split(":")[0]
