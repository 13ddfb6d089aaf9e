"""The fingerprint of a node: settings, firmware, libraries and default modules, found by one shell script.

The script needs nothing but a POSIX shell and prints ``key<TAB>value`` lines, so that it runs on any node, by whatever starts
commands there. The functions that parse its output, group equal nodes and list differences are pure.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections.abc import Iterable, Mapping

from msgspec import Struct

from shakedown.model.secrets import without_secrets

Facts = Mapping[str, str]

VALUE_LIMIT = 400  # characters of one fact
FACTS_LIMIT = 2000  # facts of one node
MODULES = "modules"  # the fact on all default modules together: it is there wherever a node was asked for them in time
MEMORY = "memory.gib"
SMALL_GIB = 8
_END = "fingerprint"  # the last line's key: without it the output is cut off
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f]")


class Group(Struct, frozen=True):
    """Nodes with equal facts. ``nodes`` in the order given."""

    digest: str
    nodes: tuple[str, ...]
    facts: dict[str, str]


def probe_script(commands: Mapping[str, str] | None = None, modules_s: float = 10.0) -> str:
    """Purpose: the script that prints a node's facts. ``commands``: a site's own, name -> shell command (its output counts).

    ``modules_s``: how long the default modules may take; they lie on file systems that may be slow.
    """
    own = "".join(
        f'say {shlex.quote("site." + name)} "$( ( {command}\n) 2>&1 </dev/null)"\n'
        for name, command in sorted((commands or {}).items())
    )
    modules = _ASK_MODULES.format(seconds=modules_s, script=shlex.quote(_MODULES_SCRIPT))
    return _SCRIPT + modules + own + f"say {_END} complete\n"


def read_facts(text: str) -> dict[str, str]:
    """Purpose: the facts that the script printed, credentials withheld.

    Errors: ValueError if the end of the output is missing, because facts would then be missing too.
    """
    facts: dict[str, str] = {}
    for line in text.split("\n"):
        key, tab, value = line.partition("\t")
        if tab and len(facts) <= FACTS_LIMIT:
            facts[_clean(key)[:100]] = without_secrets(_clean(value))[:VALUE_LIMIT]
    if facts.pop(_END, "") != "complete":
        raise ValueError("its output is cut off before its end")
    return dict(sorted(facts.items()))


def digest_of(facts: Facts) -> str:
    """Purpose: a digest of facts, independent of their order."""
    text = json.dumps(dict(sorted(facts.items())), ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def of_modules(key: str) -> bool:
    """Purpose: whether a fact is one of the default modules."""
    return key == MODULES or key.startswith("module.")


def with_modules_of(facts: Facts, before: Facts) -> dict[str, str]:
    """Purpose: the facts of a node; if its default modules were not read in time, with the earlier ones."""
    if MODULES in facts:
        return dict(facts)
    return dict(sorted((dict(facts) | {key: value for key, value in before.items() if of_modules(key)}).items()))


def with_settled_memory(nodes: Mapping[str, Facts], before: Mapping[str, Facts]) -> dict[str, Facts]:
    """Purpose: the nodes, where a GiB of memory more or less is taken as what the node had before, or as what most nodes have.

    Linux counts what is left when the kernel has taken its part, which differs from start to start and from node to node. Where it
    is near half a GiB, the rounded number is one or the other.
    """
    sizes = [facts[MEMORY] for facts in nodes.values() if MEMORY in facts]
    most = max(sorted(set(sizes)), key=sizes.count, default="")
    settled: dict[str, Facts] = {}
    for node, facts in nodes.items():
        near = [size for size in (before.get(node, {}).get(MEMORY, ""), most) if _is_near(facts.get(MEMORY, ""), size)]
        settled[node] = dict(facts) | ({MEMORY: near[0]} if near else {})
    return settled


def _is_near(size: str, other: str) -> bool:
    """Whether two sizes differ by what rounding may do; on a node of a few GiB one more is a change."""
    if not (size.isdecimal() and other.isdecimal()):
        return False
    return abs(int(size) - int(other)) <= 1 and min(int(size), int(other)) >= SMALL_GIB


def group_nodes(nodes: Mapping[str, Facts]) -> tuple[Group, ...]:
    """Purpose: nodes by equality of their facts, the largest group first, equals by their first node."""
    by_digest: dict[str, list[str]] = {}
    for node in sorted(nodes):
        by_digest.setdefault(digest_of(nodes[node]), []).append(node)
    groups = [Group(digest, tuple(names), dict(sorted(nodes[names[0]].items()))) for digest, names in by_digest.items()]
    return tuple(sorted(groups, key=lambda group: (-len(group.nodes), group.nodes[0])))


def machine_digest(groups: Iterable[Group]) -> str:
    """Purpose: one digest of a whole machine: which node has which facts."""
    lines = sorted(f"{node} {group.digest}" for group in groups for node in group.nodes)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def differences(before: Facts, after: Facts) -> list[str]:
    """Purpose: the differences between two sets of facts, one sentence each, in the order of names."""
    lines = []
    for key in sorted({*before, *after}):
        old, new = before.get(key), after.get(key)
        if old == new:
            continue
        if old is None:
            lines.append(f"{key} is new: {new}")
        elif new is None:
            lines.append(f"{key} is gone: it was {old}")
        else:
            lines.append(f"{key}: {old} -> {new}")
    return lines


def _clean(text: str) -> str:
    return _CONTROL.sub(" ", text.replace("\t", " ")).strip()


# Values that differ from node to node by nature (addresses, serial numbers, uptimes, the memory's last kilobytes) are left out.
# So is what comes and goes with the work of a node: huge pages beyond those that are set, file systems that are mounted on demand.
_SCRIPT = r"""# prints what results may depend on, one fact a line
PATH=$PATH:/usr/sbin:/sbin:/usr/bin:/bin
LC_ALL=C
export PATH LC_ALL
_tab=$(printf '\t')
_line_end='
'
say() {
    [ -n "$2" ] || return 0
    case $2 in
    *"$_tab"* | *"$_line_end"*) printf '%s\t%s\n' "$1" "$(printf '%s' "$2" | tr '\t\n\r' '   ' | cut -c 1-400)" ;;
    *) printf '%s\t%.400s\n' "$1" "$2" ;;
    esac
}
# Read in one piece: a shell reads byte by byte, and after the first byte the kernel says that a number of /proc/sys is over.
first() { [ -r "$1" ] && sed -n '1{p;q;}' "$1" 2>/dev/null; }
file() { say "$1" "$(first "$2")"; }

say kernel "$(uname -srm 2>/dev/null)"
say os "$(sed -n 's/^PRETTY_NAME=//p' /etc/os-release 2>/dev/null | tr -d '"')"
say cpu.model "$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1)"
say cpu.microcode "$(sed -n 's/^microcode[[:space:]]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1)"
file cpu.online /sys/devices/system/cpu/online
file cpu.smt /sys/devices/system/cpu/smt/control
file cpu.governor /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor
file cpu.driver /sys/devices/system/cpu/cpu0/cpufreq/scaling_driver
file cpu.boost /sys/devices/system/cpu/cpufreq/boost
say memory.gib "$(awk '$1 == "MemTotal:" { printf "%.0f", $2 / 1048576 }' /proc/meminfo 2>/dev/null)"
say memory.hugepages "$(awk '$1 == "HugePages_Total:" { n = $2 } $1 == "HugePages_Surp:" { n -= $2 } END { print n }' \
    /proc/meminfo 2>/dev/null)"
file memory.transparent_hugepage /sys/kernel/mm/transparent_hugepage/enabled
file memory.defrag /sys/kernel/mm/transparent_hugepage/defrag
file memory.numa_balancing /proc/sys/kernel/numa_balancing
file memory.overcommit /proc/sys/vm/overcommit_memory
file memory.swappiness /proc/sys/vm/swappiness
file memory.zone_reclaim /proc/sys/vm/zone_reclaim_mode
for _name in bios_vendor bios_version bios_date product_name board_name; do
    file "firmware.$_name" "/sys/class/dmi/id/$_name"
done
_boot=
for _word in $(cat /proc/cmdline 2>/dev/null); do
    case $_word in
    BOOT_IMAGE=* | root=* | initrd=* | ip=* | BOOTIF=* | rd.* | systemd.machine_id=*) ;;
    *) _boot="$_boot $_word" ;;
    esac
done
say kernel.options "${_boot# }"
for _place in /sys/class/infiniband/*; do
    [ -d "$_place" ] || continue
    file "fabric.${_place##*/}.firmware" "$_place/fw_ver"
    file "fabric.${_place##*/}.rate" "$_place/ports/1/rate"
done
for _place in /sys/class/cxi/*; do
    [ -d "$_place" ] && file "fabric.${_place##*/}.firmware" "$_place/device/uc/qspi_blob_version"
done
file gpu.driver /proc/driver/nvidia/version
file gpu.amdgpu /sys/module/amdgpu/version
file lustre.version /sys/fs/lustre/version
for _name in lnet ko2iblnd ksocklnd kkfilnd; do
    for _place in /sys/module/$_name/parameters/*; do
        [ -r "$_place" ] && file "lustre.$_name.${_place##*/}" "$_place"
    done
done
_mounts=$(cat /proc/mounts 2>/dev/null) # in large pieces: lines that come and go meanwhile would hide others
_automatic=$(printf '%s\n' "$_mounts" | awk '$3 == "autofs" { print $2 }')
comes_and_goes() {
    for _place in $_automatic; do
        case $1/ in "$_place"/*) return 0 ;; esac
    done
    return 1
}
printf '%s\n' "$_mounts" | while read -r _what _where _type _options _; do
    comes_and_goes "$_where" && continue
    case $_type in
    lustre | gpfs | nfs | nfs4 | beegfs | ceph | wekafs | panfs)
        _options=$(printf '%s' "$_options" | tr ',' '\n' | sed '/addr=/d' | sort | tr '\n' ',')
        say "mount.$_where" "$_type $_what $_options"
        ;;
    esac
done
_names='libc|libm|libpthread|libstdc[+][+]|libgfortran|libgomp|libmpi|libmpich|libmpicxx|libpmi|libpmi2|libpmix'
_names="$_names|libfabric|libucp|libucs|libibverbs|libpsm2|librdmacm|libcuda|libcudart|libamdhip64|libhdf5|libnetcdf"
_names="$_names|libopenblas|libblas|liblapack|libsci_cray"
ldconfig -p 2>/dev/null | sed -nE "s/^[[:space:]]*($_names)[.]so[^ ]* .*=> //p" | sort -u | while read -r _path; do
    [ -r "$_path" ] && say "library.$_path" "$(cksum <"$_path" 2>/dev/null)"
done
"""

# Which version of each module is loaded where none is said, and the sum of its file. Lmod and Environment Modules tell it in the
# same words, but for a symbolic link called default. What the person has loaded shows other modules, so it is unloaded first.
# Slow file systems hold the modules: what has not come in time is not said at all, and the node is taken as it was.
_MODULES_SHOWN = 500  # a change of any other shows in the sum of all
_ASK_MODULES = r"""_answer=$(timeout -k 1 {seconds:g} sh -c {script} </dev/null)
case $_answer in
*"${{_line_end}}asked") printf '%s\n' "${{_answer%?asked}}" ;;
esac
"""
_MODULES_SCRIPT = (
    r"""for _init in "${LMOD_PKG:-/usr/share/lmod/lmod}/init/sh" "${MODULESHOME:-/usr/share/modules}/init/sh" \
    /etc/profile.d/lmod.sh /etc/profile.d/z00_lmod.sh /etc/profile.d/modules.sh; do
    command -v module >/dev/null 2>&1 && [ -n "${MODULEPATH-}" ] && break
    [ -r "$_init" ] && { . "$_init" || :; } >/dev/null 2>&1
done
command -v module >/dev/null 2>&1 || { [ -r /etc/profile ] && . /etc/profile; } >/dev/null 2>&1
if ! command -v module >/dev/null 2>&1; then
    printf 'modules\tnone\nasked\n'
    exit
fi
[ -z "${LOADEDMODULES-}" ] || module purge >/dev/null 2>&1
_list=$(module -t -d avail 2>&1 | awk '
    /^\/.*:$/ { place = substr($0, 1, length($0) - 1); next }
    { sub(/[ \t]*[(<@].*/, "") }
    /^[A-Za-z0-9][A-Za-z0-9_.+\/-]*$/ && !/\/$/ && !seen[$0]++ { print $0 "\t" place }')
_tab=$(printf '\t')
printf 'modules\t%s defaults, sum %s\n' "$(printf '%s' "$_list" | grep -c .)" "$(printf '%s\n' "$_list" | cut -f 1 | cksum)"
printf '%s\n' "$_list" | head -n """
    + str(_MODULES_SHOWN)
    + r""" | while IFS=$_tab read -r _name _place; do
    [ -n "$_name" ] || continue
    case $_name in
    */default) [ -L "$_place/$_name" ] && _name=${_name%default}$(readlink "$_place/$_name") ;;
    esac
    _sum=
    for _file in "$_place/$_name" "$_place/$_name.lua"; do
        [ -f "$_file" ] && _sum=$(cksum <"$_file") && break
    done
    case $_name in
    */*) _version=${_name##*/} ;;
    *) _version="no version" ;;
    esac
    printf 'module.%s\t%s%s\n' "${_name%/*}" "$_version" "${_sum:+, sum $_sum}"
done
echo asked
"""
)
