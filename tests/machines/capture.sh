#!/bin/sh
# Prints what Shakedown reads of the machine this runs on, as one file: "=== path" lines, each followed by the file's content.
# A machine that is read wrongly becomes a test: sh capture.sh > NAME.tree. Nothing is read that names people or networks.
cd / || exit 1
for file in etc/os-release proc/cpuinfo proc/meminfo proc/self/cgroup proc/sys/kernel/osrelease \
    proc/device-tree/model .dockerenv run/.containerenv run/systemd/container \
    sys/class/dmi/id/sys_vendor sys/class/dmi/id/product_name sys/hypervisor/type \
    sys/kernel/mm/transparent_hugepage/enabled \
    sys/devices/system/clocksource/clocksource0/current_clocksource \
    sys/devices/system/cpu/online sys/devices/system/cpu/isolated sys/devices/system/cpu/cpufreq/boost \
    sys/devices/system/cpu/cpufreq/policy*/scaling_governor \
    sys/devices/system/cpu/cpu[0-9]*/topology/physical_package_id \
    sys/devices/system/cpu/cpu[0-9]*/topology/core_cpus_list \
    sys/devices/system/cpu/cpu[0-9]*/topology/thread_siblings_list \
    sys/devices/system/cpu/cpu[0-9]*/cache/index[0-9]*/level \
    sys/devices/system/cpu/cpu[0-9]*/cache/index[0-9]*/type \
    sys/devices/system/cpu/cpu[0-9]*/cache/index[0-9]*/size \
    sys/devices/system/cpu/cpu[0-9]*/cache/index[0-9]*/shared_cpu_list \
    sys/devices/system/node/node[0-9]*/cpulist \
    sys/fs/cgroup/cpu.max sys/fs/cgroup/memory.max \
    sys/fs/cgroup/cpu/cpu.cfs_quota_us sys/fs/cgroup/cpu/cpu.cfs_period_us \
    sys/fs/cgroup/memory/memory.limit_in_bytes; do
    [ -r "$file" ] && [ -f "$file" ] || continue
    echo "=== $file"
    case $file in proc/meminfo) head -n 3 "$file" ;; *) cat "$file" ;; esac
done
