"""``shakedown init``: what it writes, that it never overwrites, and what it says of wrong use."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from shakedown.cli.main import main
from shakedown.machine import this_system
from shakedown.machine.site import default_name, site_files, site_name, write_site
from shakedown.machine.writing import scalar
from shakedown.model.errors import UsageError

FILES = ["site.yaml", "systems/lab.yaml", "tests/hello-world.yaml", "plans/first.yaml", ".gitignore"]


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def shakedown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command line as a person would where no Slurm is; gives its status, standard output and standard error."""
    from shakedown.machine import slurm

    monkeypatch.setattr(slurm, "run_here", lambda words: slurm.Reply(failure=f"there is no command '{words[0]}' here"))

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["shakedown", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, captured.out, captured.err

    return run


def test_a_new_site_directory_with_the_next_command(shakedown: Run, tmp_path: Path) -> None:
    site = tmp_path / "new" / "acme"
    status, out, err = shakedown("init", str(site), "--name", "lab")
    assert (status, err) == (0, "")
    assert out.splitlines() == [
        *(f"wrote {site}/{name}" for name in FILES),
        f"next: shakedown run first --site {site}",
    ]
    assert sorted(str(p.relative_to(site)) for p in site.rglob("*") if p.is_file()) == sorted(FILES)
    assert (site / ".gitignore").read_text().splitlines()[-3:] == ["campaigns/", "rehearsed/", "register.jsonl"]


def test_a_site_inside_of_a_site_is_told(shakedown: Run, tmp_path: Path) -> None:
    shakedown("init", str(tmp_path / "outer"), "--name", "lab")
    inner = tmp_path / "outer/inner"
    status, out, err = shakedown("init", str(inner), "--name", "lab")
    assert status == 0 and f"wrote {inner}/site.yaml" in out
    assert err == (
        f"warning: commands in {inner} see nothing of the site {tmp_path}/outer around it; "
        "if that is not wanted, move it elsewhere\n"
    )


def test_the_system_that_is_written_is_this_machine(shakedown: Run, tmp_path: Path) -> None:
    shakedown("init", str(tmp_path), "--name", "lab")
    written = yaml.safe_load((tmp_path / "systems/lab.yaml").read_text())
    (node,) = this_system().node_types
    assert written["system"] == "lab"
    assert written["clusters"]["local"]["partitions"]["all"]["type"] == "host"
    host = written["node_types"]["host"]
    assert (host["sockets"], host["cores"], host["threads_per_core"], host["numa"]) == (
        node.sockets,
        node.cores,
        node.threads_per_core,
        node.numa,
    )
    assert written["found"] == dict(this_system().found)


def test_json_says_the_same(shakedown: Run, tmp_path: Path) -> None:
    status, out, _ = shakedown("init", str(tmp_path / "acme"), "--name", "lab", "--json")
    answer = json.loads(out)
    assert status == 0
    assert answer == {
        "site": "acme",
        "system": "lab",
        "scheduler": "local",
        "written": [str(tmp_path / "acme" / name) for name in FILES],
        "found": [],
        "look_at": [],
        "next": ["shakedown", "run", "first", "--site", str(tmp_path / "acme")],
    }


def test_without_a_directory_it_writes_here_and_names_the_system_after_the_host(
    shakedown: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, _ = shakedown("init")
    assert status == 0
    assert out.endswith("next: shakedown run first\n")
    assert (tmp_path / f"systems/{default_name(platform.node())}.yaml").is_file()


def test_a_machine_that_hwloc_described(shakedown: Run, tmp_path: Path, lstopo: Path) -> None:
    status, _, _ = shakedown("init", str(tmp_path), "--name", "lab", "--lstopo", str(lstopo / "epyc.xml"))
    written = yaml.safe_load((tmp_path / "systems/lab.yaml").read_text())
    assert status == 0
    assert written["about"] == "as hwloc described it in epyc.xml"
    assert written["node_types"]["host"]["numa"] == 8
    assert written["node_types"]["host"]["memory"] == "238.4 GiB"
    assert yaml.safe_load((tmp_path / "plans/first.yaml").read_text())["system"] == "here"  # the plan works here anyway


def test_nothing_is_overwritten_and_nothing_else_written(shakedown: Run, tmp_path: Path) -> None:
    (tmp_path / "plans").mkdir()
    (tmp_path / "plans/first.yaml").write_text("mine")
    (tmp_path / "site.yaml").symlink_to("nowhere")
    status, out, err = shakedown("init", str(tmp_path), "--name", "lab")
    assert (status, out) == (2, "")
    assert err == (
        f"error: {tmp_path}: nothing was written, because these are there already: site.yaml, plans/first.yaml\n"
        "hint: name another directory, or move these away\n"
    )
    assert (tmp_path / "plans/first.yaml").read_text() == "mine"
    assert not (tmp_path / "systems").exists()


def test_other_files_may_lie_in_the_directory(shakedown: Run, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/own.yaml").write_text("mine")
    assert shakedown("init", str(tmp_path), "--name", "lab")[0] == 0


def test_a_place_that_is_a_file(shakedown: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    status, _, err = shakedown("init", str(tmp_path / "file"), "--name", "lab")
    assert status == 2
    assert err.startswith(f"error: cannot write {tmp_path / 'file'}")
    assert "Traceback" not in err


def test_a_write_that_fails_half_way_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "plans").write_text("a file where a directory must be")
    with pytest.raises(UsageError, match=r"^cannot write .*plans.*: File exists$"):
        write_site(tmp_path, site_files("acme", this_system()))
    assert sorted(p.name for p in tmp_path.rglob("*") if p.is_file()) == ["plans"]


@pytest.mark.parametrize("name", ["a/b", "", "-x", "a b", "..", "\u00fc", "a\nb"])
def test_a_name_that_cannot_be_a_files(shakedown: Run, tmp_path: Path, name: str) -> None:
    status, _, err = shakedown("init", str(tmp_path), f"--name={name}")
    assert status == 2
    assert err == f"error: {name!r} cannot be a system's name\nhint: use letters, digits, '.', '_' and '-'\n"
    assert list(tmp_path.iterdir()) == []


def test_the_name_that_always_means_this_machine(shakedown: Run, tmp_path: Path) -> None:
    status, _, err = shakedown("init", str(tmp_path), "--name", "here")
    assert status == 2
    assert err == "error: 'here' cannot be a system's name: it always means the machine a command runs on\n"


def test_a_description_that_is_none(shakedown: Run, tmp_path: Path) -> None:
    (tmp_path / "m.xml").write_text("<html/>")
    status, _, err = shakedown("init", str(tmp_path / "acme"), "--lstopo", str(tmp_path / "m.xml"))
    assert status == 2
    assert err == (
        f"error: {tmp_path}/m.xml: is XML of something else: its root is 'html', not 'topology'\n"
        "hint: write the file on that machine with: lstopo --of xml FILE\n"
    )
    assert not (tmp_path / "acme").exists()


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("vm", "vm"),
        ("Login-1.cluster.example.org", "login-1"),
        ("localhost", "machine"),
        ("", "machine"),
        ("here", "machine"),
        ("...", "machine"),
        ("M\u00fcllers Laptop", "m-llers-laptop"),
    ],
)
def test_a_name_from_the_host(host: str, name: str) -> None:
    assert default_name(host) == name


@pytest.mark.parametrize(
    ("directory", "name"), [("/srv/acme", "acme"), ("/srv/My site!", "My-site"), ("/", "site"), ("/srv/...", "site")]
)
def test_a_sites_name_from_its_directory(directory: str, name: str) -> None:
    assert site_name(Path(directory)) == name


@pytest.mark.parametrize(
    "text",
    ["plain", "no", "1.2", "a: b", "x # y", "", "{a}", "it's", 'say "x"', "\x07bell", "\u00fc", "- a", "null", "12:30"],
)
def test_every_text_is_written_so_that_yaml_reads_it_back(text: str) -> None:
    assert yaml.safe_load(f"key: {scalar(text)}") == {"key": text}
    assert yaml.safe_load(f"{{key: {scalar(text)}}}") == {"key": text}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_that_is_read_only(shakedown: Run, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    status, _, err = shakedown("init", str(tmp_path / "acme"), "--name", "lab")
    assert status == 2
    assert err == f"error: cannot write {tmp_path / 'acme'}: Permission denied\n"
