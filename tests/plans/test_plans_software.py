"""Software that tests and toolchains ask for: loaded in order, or the reason said; what was loaded is written down."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from module_systems import ModuleSystem, module_system, unpacked, write_module

from shakedown.model.errors import FileProblems
from shakedown.model.nouns import Case, Spack, Toolchain
from shakedown.plans import read_site
from shakedown.plans.cases.software import LOADED, loading

LOCAL = """\
system: here2
clusters: {local: {scheduler: local, partitions: {local: {nodes: localhost, type: t}}}}
node_types: {t: {cores: 8}}
toolchains:
  plain: {cc: sh}
  gnu: {modules: [app/1.0], cc: sh}
"""
# what `spack` does, as far as its callers see: load prints words for the shell, install remembers
SPACK = """\
#!/bin/sh
here=$(dirname "$0")
echo "$@" >>"$here/calls"
[ "$1" = -e ] && { environment=$2; shift 2; }
case $1 in
    install) shift; [ "$1" = --add ] && shift; [ "$1" = broken ] && { echo "==> Error: no such package" >&2; exit 1; }
        echo "$1" >>"$here/installed" ;;
    load) grep -qx -e "$3" "$here/installed" || { echo "==> Error: No package matches: $3" >&2; exit 1; }
        echo "export SPACK_LOADED_HASHES=abc; export SPEC_LOADED='$3 $environment';" ;;
    find) echo "spack $(tail -n 1 "$here/installed")@1.0/abcdef1" ;;
esac
"""


@pytest.fixture(scope="module", params=["lmod", "environment-modules"])
def real(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleSystem]:
    """Each of the two systems for modules, with two versions of a program."""
    if not unpacked():
        pytest.skip("Lmod and Environment Modules are not unpacked here (scripts/slurm-packages, as root on Debian)")
    place = tmp_path_factory.mktemp("modules")
    for version in ("1.0", "2.0"):
        program = write_module(place / "modulefiles", "app", version, place) / "app"
        program.write_text(f"#!/bin/sh\necho this is app {version}\n")
        program.chmod(0o755)
    yield module_system(request.param, place, place / "modulefiles")


@pytest.fixture
def spack(tmp_path: Path) -> Path:
    """The root of a Spack that knows hdf5."""
    (tmp_path / "spack" / "bin").mkdir(parents=True)
    program = tmp_path / "spack" / "bin" / "spack"
    program.write_text(SPACK)
    program.chmod(0o755)
    (program.parent / "installed").write_text("hdf5\n")
    return program.parent.parent


def ran(script: str, folder: Path, **environment: str) -> tuple[int, str, str]:
    """What a shell that is no login shell makes of it: status, output, errors."""
    folder.mkdir(exist_ok=True)
    known = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "LMOD_PKG": "/none",
        "MODULESHOME": "/none",
        **environment,
    }
    done = subprocess.run(
        ["/bin/sh", "-c", script], cwd=folder, env=known, capture_output=True, text=True, check=False, timeout=60
    )
    return done.returncode, done.stdout, done.stderr


# ---- modules, for real -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["app", "app/1.0"])
def test_a_module_is_loaded_and_its_version_is_written_down(real: ModuleSystem, tmp_path: Path, name: str) -> None:
    version = "1.0" if "/" in name else "2.0"
    script = loading(Toolchain("", (name,)), "app")
    assert ran(script, tmp_path / "run", **real.environment) == (0, f"this is app {version}\n", "")
    assert (tmp_path / "run" / LOADED).read_text() == f"module app/{version}\n"


def test_a_module_that_is_not_there_ends_the_script(real: ModuleSystem, tmp_path: Path) -> None:
    status, output, errors = ran(loading(Toolchain("", ("app", "nap/3")), "app"), tmp_path / "run", **real.environment)
    assert (status, output) == (1, "")
    assert "error: module nap/3 cannot be loaded" in errors.splitlines()


def test_a_module_that_the_conductor_has_loaded_counts_as_loaded(real: ModuleSystem, tmp_path: Path) -> None:
    once, twice = (loading(Toolchain("", ("app/1.0",)), more) for more in ("", "app"))
    assert ran(once + twice, tmp_path / "run", **real.environment) == (0, "this is app 1.0\n", "")


def test_a_test_loads_its_modules_after_those_of_the_toolchain(real: ModuleSystem, site: Any, tmp_path: Path) -> None:
    site.write("systems/here2.yaml", LOCAL)
    site.test(
        'test: a\nparameters: {toolchain: [gnu, plain], v: ["2.0"]}\nsoftware: {modules: ["app/{v}"]}\n'
        "needs: {programs: [app]}\nbuild: {run: app >built}\nrun: {command: app}\n"
    )
    document = site.listing("here2")
    assert [case.unavailable for case in document.cases] == ["", ""]
    for case, first in zip(document.cases, (["app/1.0"], []), strict=True):
        loaded = "in app/1.0 app/2.0;" if first else "in app/2.0;"
        build = next(one for one in document.builds if one.key == case.build)
        assert loaded in case.script and loaded in build.script
        if real.name == "lmod" or not first:  # Environment Modules refuses a second version beside the first
            assert ran(case.script, tmp_path / f"run-{case.toolchain}", **real.environment)[:2] == (
                0,
                "this is app 2.0\n",
            )


# ---- shell files, by bash --------------------------------------------------------------------------------------------------


def test_bash_reads_the_files_and_goes_on_with_the_script(tmp_path: Path) -> None:
    init = tmp_path / 'it\'s a "site" $HOME.sh'
    init.write_text('words=(one two)\nexport SITE="${words[1]}"\n[[ $SITE == none ]]\n')
    own = 'echo "$SITE $$"; /bin/sh -c "[ ! -e /proc/self/fd/3 ]" && cat <<EOF\nEND_OF_BASH\nEOF\nexit 7'
    status, output, errors = ran(f"echo $$\n{loading(Toolchain('', initialise=(str(init),)), own)}", tmp_path / "run")
    before, after, last = output.splitlines()
    assert (status, after, last, errors) == (7, f"two {before}", "END_OF_BASH", "")
    assert (tmp_path / "run" / LOADED).read_text() == f"file {init}\n"


def test_a_file_that_cannot_be_read_is_named_with_the_node(tmp_path: Path) -> None:
    status, output, errors = ran(loading(Toolchain("", initialise=("/none/init.sh",)), "echo on"), tmp_path / "run")
    assert (status, output) == (1, "")
    assert errors == f"error: /none/init.sh, which initialises software, cannot be read on {os.uname().nodename}\n"


def test_the_directories_of_the_campaign_are_filled_in(site: Any, tmp_path: Path) -> None:
    from shakedown.schedulers.local_host.script import fill

    init = tmp_path / "init.sh"
    init.write_text("export SITE=here\n")
    site.test(
        f"test: a\nsoftware: {{initialise: [{init}]}}\nbuild: {{run: make}}\nrun: {{command: 'ls {{build}} \"{{build}}\"'}}\n"
    )
    case = site.case()
    place = tmp_path / "it's $a place"
    place.mkdir()
    (place / "made").touch()
    status, output, errors = ran(fill(case.script, "{build}", str(place)), tmp_path / "run")
    assert (status, output.count("made"), errors) == (0, 2, "")


# ---- Spack -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["root", "SPACK_ROOT", "PATH"])
def test_spack_is_found_and_loads(spack: Path, tmp_path: Path, how: str) -> None:
    root = str(spack) if how == "root" else ""
    known = {"SPACK_ROOT": str(spack)} if how == "SPACK_ROOT" else {}
    known |= {"PATH": f"{spack}/bin:{os.environ['PATH']}"} if how == "PATH" else {}
    script = loading(Toolchain("", spack=Spack(("hdf5",), root=root)), 'echo "$SPEC_LOADED"')
    assert ran(script, tmp_path / "run", **known) == (0, "hdf5 \n", "")
    assert (tmp_path / "run" / LOADED).read_text() == "spack hdf5@1.0/abcdef1\n"


def test_what_spack_cannot_load_ends_the_script(spack: Path, tmp_path: Path) -> None:
    script = loading(Toolchain("", spack=Spack(("hdf5", "fftw"), "env", str(spack))), "echo on")
    status, output, errors = ran(script, tmp_path / "run")
    assert (status, output) == (1, "")
    assert errors == "==> Error: No package matches: fftw\nerror: Spack cannot load fftw\n"
    assert (spack / "bin/calls").read_text().splitlines() == ["-e env load --sh hdf5", "-e env load --sh fftw"]


def test_a_node_without_spack_says_so(tmp_path: Path) -> None:
    status, _, errors = ran(loading(Toolchain("", spack=Spack(("hdf5",), root="/none")), "echo on"), tmp_path / "run")
    assert (status, errors) == (
        1,
        f"error: Spack cannot load software: /none/bin/spack is not on {os.uname().nodename} "
        "(set SPACK_ROOT, or write 'root' under spack)\n",
    )


def spack_cases(site: Any, *tests: str) -> Any:
    site.write("systems/here2.yaml", LOCAL)
    for text in tests:
        site.test(text)
    return site.listing("here2")


def test_an_installation_is_a_build_that_cases_share(site: Any, spack: Path, tmp_path: Path) -> None:
    software = "{spack: {specs: [fftw], root: ROOT, install: yes}}"
    test = f"test: a\nparameters: {{n: [1, 2]}}\nsoftware: {software}\nrun: {{command: 'echo {{n}}'}}\n"
    document = spack_cases(site, test.replace("ROOT", str(spack)))
    (build,) = document.builds
    assert [case.build for case in document.cases] == [build.key] * 2
    assert (build.name, build.source, build.where) == ("spack-install", "", "login")
    assert ran(document.cases[0].script, tmp_path / "early", PATH=os.environ["PATH"])[0] == 1  # runs install nothing
    assert ran(build.script, tmp_path / "build")[0] == 0
    assert (spack / "bin/installed").read_text() == "hdf5\nfftw\n"
    assert ran(document.cases[0].script, tmp_path / "run")[:2] == (0, "1\n")


def test_a_build_of_its_own_installs_first(site: Any, spack: Path, tmp_path: Path) -> None:
    test = (
        "test: a\nsoftware: {spack: {specs: [fftw], environment: e, root: ROOT, install: yes}}\n"
        "build: {run: 'echo $SPEC_LOADED'}\nrun: {command: echo}\n"
    )
    (build,) = spack_cases(site, test.replace("ROOT", str(spack))).builds
    assert ran(build.script, tmp_path / "build") == (0, "fftw e\n", "")
    assert (spack / "bin/calls").read_text().splitlines()[:2] == ["-e e install --add fftw", "-e e load --sh fftw"]


def test_an_installation_that_fails_is_told(site: Any, spack: Path, tmp_path: Path) -> None:
    test = "test: a\nsoftware: {spack: {specs: [broken], root: ROOT, install: yes}}\nrun: {command: echo}\n"
    (build,) = spack_cases(site, test.replace("ROOT", str(spack))).builds
    status, _, errors = ran(build.script, tmp_path / "build")
    assert (status, errors) == (1, "==> Error: no such package\nerror: Spack cannot install broken\n")


# ---- what is written -------------------------------------------------------------------------------------------------------


def test_a_case_of_software_says_nothing_of_programs_on_this_machine(site: Any) -> None:
    text = "test: a\nneeds: {programs: [no-such-program]}\nSOFTWARErun: {command: '{launch} no-such-program'}\n"
    site.test(text.replace("SOFTWARE", ""))
    assert "no-such-program" in site.case().unavailable
    site.test(text.replace("SOFTWARE", "software: {modules: [app]}\n"))
    case: Case = site.case()
    assert (case.unavailable, case.toolchain) == ("", "")


WRONG = [
    ("software: {initialise: [init.sh]}", "software.initialise: 'init.sh' is no absolute path"),
    ("software: {modules: ['a b']}", "software.modules: 'a b' is not a module"),
    ("software: {spack: 'hdf5; rm -rf /'}", "software.spack: 'hdf5; rm -rf /' is no spec of Spack's"),
    ("software: {spack: [--help]}", "software.spack: '--help' is no spec of Spack's"),
    ("software: {spack: {root: /opt/spack}}", "'specs' is missing in software.spack"),
    ("software: {moduls: [a]}", "unknown key 'moduls' in software"),
]


@pytest.mark.parametrize(("line", "words"), WRONG)
def test_what_cannot_be_loaded_is_said_by_check(site: Any, line: str, words: str) -> None:
    site.test(f"test: a\n{line}\nrun: {{command: echo}}\n")
    (problem,) = read_site(site.path).found_problems()
    assert words in str(problem)


IN_CASES = [
    ("modules: ['app/{v}']", "a.yaml:3:22: software.modules: 'app/1; reboot' is not a module"),
    ("spack: {specs: [a], root: '{v}'}", "a.yaml:3:38: software.spack.root: '1; reboot' is no absolute path"),
    ("spack: ['h@{v}']", "a.yaml:3:20: software.spack: 'h@1; reboot' is no spec of Spack's"),
    ("modules: ['{versin}']", "a.yaml:3:22: software.modules: unknown name 'versin'"),
]


@pytest.mark.parametrize(("line", "words"), IN_CASES)
def test_what_parameters_make_of_it_is_held_against_the_same_rules(site: Any, line: str, words: str) -> None:
    site.test(f"test: a\nparameters: {{v: ['1; reboot']}}\nsoftware: {{{line}}}\nrun: {{command: echo}}\n")
    with pytest.raises(FileProblems) as caught:
        site.cases()
    assert words in str(caught.value)
