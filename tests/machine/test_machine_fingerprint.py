"""Fingerprints: one script on any node, nodes grouped by equality, differences told, a node that is silent is said."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from module_systems import ModuleSystem, module_system, unpacked

from shakedown.machine.fingerprint import (
    differences,
    digest_of,
    group_nodes,
    machine_digest,
    probe_script,
    read_facts,
)
from shakedown.machine.fingerprint_facts import (
    changes,
    describe_machine,
    digest_of_content,
    event_value,
    in_words,
    read_content,
)
from shakedown.machine.fingerprint_here import Answers, LocalProbe
from shakedown.model.events import VALUE_LIMIT, machine_changed
from shakedown.processes.reactor import Reactor

OLD = {"kernel": "Linux 5.14", "library./lib/libm.so.6": "1234 900"}
NEW = OLD | {"library./lib/libm.so.6": "4321 901"}


def printed(facts: dict[str, str]) -> str:
    """What the script prints on a node with these facts."""
    return "".join(f"{key}\t{value}\n" for key, value in facts.items()) + "fingerprint\tcomplete\n"


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_the_script_runs_on_this_machine(shell: str) -> None:
    commands = {"bios": "echo one; printf 'two\\tthree'", "absent": "no-such-program-here", "quiet": "true"}
    done = subprocess.run(
        [shell, "-c", probe_script(commands)], capture_output=True, text=True, timeout=120, check=True
    )
    facts = read_facts(done.stdout)
    assert facts["kernel"] == " ".join(os.uname()[i] for i in (0, 2, 4))
    assert facts["site.bios"] == "one two three"
    assert "not found" in facts["site.absent"]
    assert "site.quiet" not in facts
    assert any(key.startswith("library.") for key in facts)


def test_two_probes_of_one_machine_are_equal() -> None:
    texts = [
        subprocess.run(["sh", "-c", probe_script()], capture_output=True, text=True, timeout=120, check=True).stdout
        for _ in range(2)
    ]
    first, second = map(read_facts, texts)
    assert differences(first, second) == []


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_settings_are_read_whole_whatever_the_shell(shell: str) -> None:
    """Shells read byte by byte, and the kernel gives one byte of a number that is asked for so."""
    done = subprocess.run([shell, "-c", probe_script()], capture_output=True, text=True, timeout=120, check=True)
    facts = read_facts(done.stdout)
    assert facts["memory.swappiness"] == Path("/proc/sys/vm/swappiness").read_text().strip()
    assert facts["memory.overcommit"] == Path("/proc/sys/vm/overcommit_memory").read_text().strip()


def memory(**sizes: str) -> dict[str, str]:
    return {node: printed(OLD | {"memory.gib": size}) for node, size in sizes.items()}


def test_memory_near_half_a_gib_makes_no_node_different_and_no_change() -> None:
    """The kernel keeps a little more or less of it for itself at each start."""
    first = describe_machine(memory(n1="503", n2="502", n3="503"), {})
    assert first.between_nodes == () and first.groups[0].facts["memory.gib"] == "503"
    known = dict.fromkeys(("n1", "n2", "n3"), first.groups[0].facts)
    again = describe_machine(memory(n1="502", n2="502", n3="503"), {}, known)
    assert (again.since_last, again.between_nodes, again.digest) == ((), (), first.digest)
    lost = describe_machine(memory(n1="503", n2="501", n3="503"), {}, known)  # no creeping: held against what was kept
    assert lost.since_last == ("n2: memory.gib: 503 -> 501",) and len(lost.between_nodes) == 1
    small = describe_machine(memory(n1="4", n2="3"), {})
    assert len(small.groups) == 2


def test_what_comes_and_goes_with_the_work_of_a_node_is_no_fact(tmp_path: Path) -> None:
    """Huge pages that a job takes beyond those that are set, and file systems that are mounted when somebody looks at them."""
    meminfo, mounts = tmp_path / "meminfo", tmp_path / "mounts"

    def found(total: int, surplus: int, *more: str) -> dict[str, str]:
        meminfo.write_text(f"MemTotal: 16777216 kB\nHugePages_Total: {total}\nHugePages_Surp: {surplus}\n")
        fixed = (
            "auto.home /home autofs rw 0 0",
            "srv:/sw /homes/sw nfs4 rw,vers=4.2 0 0",
            "systemd-1 /arch autofs rw 0 0",
        )
        mounts.write_text("\n".join([*fixed, *more, ""]))
        script = probe_script().replace("/proc/meminfo", str(meminfo)).replace("/proc/mounts", str(mounts))
        script = script.replace("ldconfig -p", "true")
        return read_facts(subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True).stdout)

    idle = found(8, 0)
    assert (idle["memory.hugepages"], idle["mount./homes/sw"]) == ("8", "nfs4 srv:/sw rw,vers=4.2,")
    assert found(40, 32, "srv:/home/ada /home/ada nfs4 rw 0 0", "a@tcp:/arch /arch lustre rw 0 0") == idle
    assert differences(idle, found(9, 0, "a@tcp:/s /s lustre rw 0 0")) == [
        "memory.hugepages: 8 -> 9",
        "mount./s is new: lustre a@tcp:/s rw,",
    ]


def test_an_output_without_its_end_is_no_fingerprint() -> None:
    with pytest.raises(ValueError, match="its output is cut off before its end"):
        read_facts("kernel\tLinux 5.14\n")


def test_a_changed_library_on_one_node_is_told_between_the_nodes_and_since_the_last_time() -> None:
    before = dict.fromkeys(("n1", "n2", "n3", "n4"), OLD)
    texts = {node: printed(NEW if node == "n3" else OLD) for node in before}
    found = describe_machine(texts, {}, before)
    assert [(group.nodes, len(group.facts)) for group in found.groups] == [(("n1", "n2", "n4"), 2), (("n3",), 2)]
    assert found.between_nodes == (
        "n3: library./lib/libm.so.6 differs from 3 other nodes: 4321 901, there it is 1234 900",
    )
    assert found.since_last == ("n3: library./lib/libm.so.6: 1234 900 -> 4321 901",)
    assert found.digest != describe_machine({node: printed(OLD) for node in before}, {}).digest
    words = in_words(found, before=True)
    assert words == (
        "3 of 4 nodes are alike; n3 differs in 1 fact; "
        "1 change since the last time: n3: library./lib/libm.so.6: 1234 900 -> 4321 901"
    )


def test_a_silent_node_is_said_and_taken_as_it_was() -> None:
    before = {"n1": OLD, "n2": OLD}
    known = describe_machine({"n1": printed(OLD)}, {"n2": "no answer within 60 s"}, before)
    assert known.unanswered == ("n2: no answer within 60 s; taken as it was the last time",)
    assert known.digest == describe_machine({node: printed(OLD) for node in before}, {}).digest
    unknown = describe_machine({"n1": printed(OLD), "n3": "kernel\tcut"}, {}, before)
    assert "n3: its output is cut off before its end; nothing is known of it" in unknown.unanswered
    assert unknown.since_last == ("n2 is gone",)
    nobody = describe_machine({}, {"n1": "off"}, before)
    assert nobody.nothing


def test_a_first_answer_is_told_and_is_no_change_unless_something_else_changed() -> None:
    before = {"n1": OLD, "n2": OLD}
    last = describe_machine({node: printed(OLD) for node in before}, {}).digest
    texts = {node: printed(OLD) for node in ("n1", "n2", "n3")} | {"n4": printed(NEW)}
    found = describe_machine(texts, {}, before)
    assert (found.first_seen, found.since_last) == (("n3", "n4"), ())
    assert found.digest != last
    assert event_value(found)["first_seen"] == "n[3-4]"
    assert not machine_changed(event_value(found), last)
    assert found.between_nodes == (
        "n4: library./lib/libm.so.6 differs from 3 other nodes: 4321 901, there it is 1234 900",
    )
    assert in_words(found, before=True) == (
        "3 of 4 nodes are alike; n4 differs in 1 fact; as it was the last time; n[3-4] answered for the first time"
    )
    changed = describe_machine(texts | {"n2": printed(NEW)}, {}, before)
    assert machine_changed(event_value(changed), last)
    assert machine_changed({"digest": "other"}, last) and not machine_changed({"digest": "other"}, "")


def test_nodes_that_are_silent_for_one_reason_share_a_line() -> None:
    silent = {f"n{number}": "busy" for number in range(1, 6)} | {"n6": "down"}
    found = describe_machine({"n7": printed(OLD)}, silent, {"n1": OLD, "n2": OLD, "n7": OLD})
    assert found.unanswered == (
        "n[1-2]: busy; taken as they were the last time",
        "n[3-5]: busy; nothing is known of them",
        "n6: down; nothing is known of it",
    )
    assert in_words(found, before=True) == "3 nodes are alike; as it was the last time; 6 nodes did not answer"


def test_a_change_of_the_node_list_is_a_change() -> None:
    assert changes({"n1": OLD, "n2": OLD}, {"n2": OLD, "n3": OLD, "n4": OLD}) == ["n1 is gone", "n[3-4] is new"]


NODES = st.dictionaries(
    st.from_regex(r"n[1-9][0-9]{0,2}", fullmatch=True),
    st.dictionaries(st.text("abc.", min_size=1, max_size=4), st.text("xyz 0123", min_size=1, max_size=6), max_size=4),
    min_size=1,
    max_size=30,
)


@given(NODES)
def test_groups_are_a_partition_by_equality_and_the_file_vouches_for_itself(nodes: dict[str, dict[str, str]]) -> None:
    found = describe_machine({node: printed(facts) for node, facts in nodes.items()}, {})
    assert sorted(node for group in found.groups for node in group.nodes) == sorted(nodes)
    for group in found.groups:
        assert {digest_of(read_facts(printed(nodes[node]))) for node in group.nodes} == {group.digest}
    assert len({group.digest for group in found.groups}) == len(found.groups)
    assert digest_of_content(found.content) == found.digest == machine_digest(group_nodes(read_content(found.content)))


@given(NODES, st.data())
def test_any_changed_byte_of_the_file_of_facts_shows(nodes: dict[str, dict[str, str]], data: st.DataObject) -> None:
    found = describe_machine({node: printed(facts) for node, facts in nodes.items()}, {})
    place = data.draw(st.integers(0, len(found.content) - 1))
    bits = data.draw(st.integers(1, 255))
    broken = found.content[:place] + bytes([found.content[place] ^ bits]) + found.content[place + 1 :]
    with contextlib.suppress(ValueError):
        assert digest_of_content(broken) != found.digest


def test_the_events_value_stays_small_whatever_differs() -> None:
    facts = [{"kernel": f"Linux {number}", "long" * 20: "x" * 400, "other" * 19: str(number)} for number in range(200)]
    before = {f"node{number:05d}": {"kernel": "none"} for number in range(200)}
    found = describe_machine(
        {f"node{number:05d}": printed(item) for number, item in enumerate(facts)},
        {f"silent{number}": "no answer " * 50 for number in range(50)},
        before,
    )
    value = event_value(found)
    assert len(msgspec.json.encode(value)) < VALUE_LIMIT - 400  # room for who asked
    assert str(value["groups"][-1]["nodes"]).endswith("more, in the file of facts")


# ---- default modules ---------------------------------------------------------------------------------------------------------

MODULES = {
    "modules": "2 defaults, sum 12 34",
    "module.gcc": "11.2, sum 1 2",
    "module.hdf5": "1.14, sum 3 4",
}


def facts_with(modules: ModuleSystem | None, commands: str = "", **more: float) -> dict[str, str]:
    """What a node says whose shell has this system of modules; without one, what ``commands`` tell it."""
    own = {"PATH": os.environ["PATH"], **(modules.environment if modules else {"LMOD_PKG": "/none"})}
    script = commands + probe_script(None, **more)
    done = subprocess.run(["sh", "-c", script], env=own, capture_output=True, text=True, timeout=120, check=True)
    return {key: value for key, value in read_facts(done.stdout).items() if key.startswith("module")}


def module_files(root: Path) -> Path:
    """Modules whose default is said by a file, by a symbolic link, by nobody, and one without versions."""
    places = [
        "gcc/9.1",
        "gcc/11.2",
        "gcc/12.3",
        "openmpi/4.1",
        "openmpi/5.0",
        "site/hdf5/1.14",
        "linked/1",
        "linked/2",
        "flat",
    ]
    for place in places:
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        (root / place).write_text(f"#%Module1.0\nsetenv HERE {place}\n")
    (root / "gcc/.version").write_text('#%Module1.0\nset ModulesVersion "11.2"\n')
    (root / "linked/default").symlink_to("1")
    return root


def versions(facts: dict[str, str]) -> dict[str, str]:
    return {key.removeprefix("module."): value.partition(", sum ")[0] for key, value in facts.items()}


@pytest.mark.skipif(not unpacked(), reason="scripts/slurm-packages has not unpacked Lmod and Environment Modules")
@pytest.mark.parametrize("name", ["lmod", "environment-modules"])
def test_the_defaults_of_modules_are_facts(name: str, tmp_path: Path) -> None:
    files = module_files(tmp_path / "files")
    modules = module_system(name, tmp_path, files)
    first = facts_with(modules)
    assert first == facts_with(modules)
    assert versions(first) == {
        "modules": "5 defaults",
        "gcc": "11.2",
        "openmpi": "5.0",
        "site/hdf5": "1.14",
        "linked": "1",
        "flat": "no version",
    }

    (files / "gcc/.version").write_text('#%Module1.0\nset ModulesVersion "12.3"\n')
    (files / "linked/default").unlink()
    (files / "linked/default").symlink_to("2")
    (files / "openmpi/5.0").write_text("#%Module1.0\nsetenv HERE elsewhere\n")
    (files / "openmpi/4.2").write_text("#%Module1.0\n")  # no default: no change
    second = facts_with(modules)
    changed = {key for key in first if first[key] != second[key]} - {"modules"}
    assert changed == {"module.gcc", "module.linked", "module.openmpi"}
    assert versions(second) | {"modules": ""} == versions(first) | {"modules": "", "gcc": "12.3", "linked": "2"}


@pytest.mark.skipif(not unpacked(), reason="scripts/slurm-packages has not unpacked Lmod and Environment Modules")
@pytest.mark.parametrize("name", ["lmod", "environment-modules"])
def test_what_a_person_has_loaded_changes_no_default(name: str, tmp_path: Path) -> None:
    files = module_files(tmp_path / "files")
    (tmp_path / "more/extra").mkdir(parents=True)
    (tmp_path / "more/extra/1.0").write_text("#%Module1.0\n")
    (files / "flat").write_text(f"#%Module1.0\nmodule use {tmp_path}/more\n")
    modules = module_system(name, tmp_path, files)
    init = "LMOD_PKG" if name == "lmod" else "MODULESHOME"
    load = f'. "${init}/init/sh"\nmodule load flat\ncase $MODULEPATH in *more*) ;; *) exit 9 ;; esac\n'
    assert facts_with(modules, load) == facts_with(modules)


def test_many_modules_are_cut_and_all_of_them_count(tmp_path: Path) -> None:
    def said(last: str) -> dict[str, str]:
        names = "\n".join([*(f"m{number}/1" for number in range(700)), last])
        (tmp_path / "list").write_text(f"{tmp_path}:\n{names}\nLmod has detected the following error: x\nhalf/\n")
        init = tmp_path / "init/sh"
        init.parent.mkdir(exist_ok=True)
        init.write_text(f"module() {{ cat {tmp_path}/list >&2; }}\nMODULEPATH={tmp_path}\n")
        system = ModuleSystem("fake", {"LMOD_PKG": "/none", "MODULESHOME": str(tmp_path)})
        return facts_with(system)

    first, second = said("last/1"), said("last/2")
    assert len(first) == 501
    assert first["modules"].startswith("701 defaults, sum ")
    assert [key for key in first if first[key] != second[key]] == ["modules"]


def test_modules_that_take_too_long_leave_all_else_as_it_is(tmp_path: Path) -> None:
    init = tmp_path / "init/sh"
    init.parent.mkdir()
    init.write_text("module() { sleep 600; }\nMODULEPATH=/none\n")
    slow = ModuleSystem("slow", {"LMOD_PKG": "/none", "MODULESHOME": str(tmp_path)})
    assert facts_with(slow, modules_s=0.2) == {}
    before = {"n1": OLD | MODULES}
    found = describe_machine({"n1": printed(OLD)}, {}, before)
    assert (found.since_last, found.first_modules) == ((), ())
    assert found.digest == describe_machine({"n1": printed(OLD | MODULES)}, {}).digest


def test_a_changed_default_is_a_change_and_a_first_word_on_modules_is_none() -> None:
    before = {"n1": OLD | MODULES, "n2": OLD | MODULES}
    last = describe_machine({node: printed(facts) for node, facts in before.items()}, {}).digest
    moved = OLD | MODULES | {"module.gcc": "12.3, sum 5 6"}
    found = describe_machine(dict.fromkeys(before, printed(moved)), {}, before)
    assert found.since_last == ("n[1-2]: module.gcc: 11.2, sum 1 2 -> 12.3, sum 5 6",)
    assert machine_changed(event_value(found), last)

    silent = {"n1": OLD, "n2": OLD}  # of a version that asked for none, or without time for them
    last = describe_machine({node: printed(facts) for node, facts in silent.items()}, {}).digest
    first = describe_machine({"n1": printed(moved), "n2": printed(OLD)}, {}, silent)
    assert (first.since_last, first.first_modules) == ((), ("n1",))
    assert first.digest != last and not machine_changed(event_value(first), last)
    assert in_words(first, before=True).endswith(
        "as it was the last time; n1 said the default modules for the first time"
    )
    both = describe_machine({"n1": printed(NEW | MODULES), "n2": printed(OLD)}, {}, silent)
    assert machine_changed(event_value(both), last)
    gone = describe_machine(dict.fromkeys(before, printed(OLD | {"modules": "none"})), {}, before)
    assert "n[1-2]: module.gcc is gone: it was 11.2, sum 1 2" in gone.since_last


# ---- the probe of this machine -----------------------------------------------------------------------------------------------


def probed(script: str, limit_s: float = 60.0) -> Answers:
    answers: list[Answers] = []
    reactor = Reactor()
    probe = LocalProbe(reactor, limit_s)
    try:
        probe.start(script, answers.append)
        end = time.monotonic() + 120
        while not answers and time.monotonic() < end:
            reactor.wait(reactor.now() + 1)
    finally:
        probe.close()
        reactor.close()
    (answer,) = answers
    return answer


def test_the_local_probe_answers_for_one_node() -> None:
    answer = probed("printf 'kernel\\tx\\n'; echo noise >&2")
    assert list(answer.texts.values()) == ["kernel\tx\n"]
    assert answer.silent == {}


def test_a_command_that_hangs_is_ended_and_said(tmp_path: Path) -> None:
    answer = probed(f"touch {tmp_path}/begun; sleep 600", limit_s=1.0)
    assert list(answer.silent.values()) == ["the script did not end within 1 s"]
    assert (tmp_path / "begun").exists()


def test_a_probe_that_is_closed_tells_nobody() -> None:
    answers: list[Answers] = []
    reactor = Reactor()
    probe = LocalProbe(reactor)
    probe.start("sleep 600", answers.append)
    probe.close()
    reactor.wait(reactor.now() + 0.2)
    reactor.close()
    assert answers == []
