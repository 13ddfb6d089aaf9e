#!/bin/sh
# What must hold on a node before any other job runs there. Each line of output is one look:
#
#     ok WHAT: what was found
#     BAD WHAT: what was found, and what was wanted
#
# The last line counts them. What is wanted comes from variables HEALTH_*; without its variable a look is left out. Facts that
# nobody has a wish for (kernel, firmware, libraries) go to health-facts.txt, so that nodes can be held against each other.
# The status is 0 when all looks were made, whatever they found: the output is what is judged.

wishes="PROCESSORS MEMORY MEMORY_SHARE FREE_MEMORY SWAPPED GPUS LOAD MEMORY_ERRORS MOUNTS WRITABLE SPACE LINKS FABRIC PROCESSES \
    CLOCK KERNEL FIRMWARE GOVERNOR PATIENCE"
patience=${HEALTH_PATIENCE:-10} # seconds that a file system has to answer
looks=0
bad=0

main() {
    for wish in $(env | sed -n 's/^HEALTH_\([A-Za-z0-9_]*\)=.*/\1/p' | sort); do known "$wish"; done
    at_least "$(grep -c '^processor' /proc/cpuinfo)" "${HEALTH_PROCESSORS-}" processors
    at_least "$(meminfo MemTotal)" "$(share "${HEALTH_MEMORY-}" "${HEALTH_MEMORY_SHARE:-90}")" 'memory in MiB'
    at_least "$(meminfo MemAvailable)" "$(share "$(meminfo MemTotal)" "${HEALTH_FREE_MEMORY-}")" 'free memory in MiB'
    at_most "$(swapped)" "${HEALTH_SWAPPED-}" 'swapped memory in MiB'
    at_least "$(gpus)" "${HEALTH_GPUS-}" GPUs
    at_most "$(cut -d ' ' -f 1 /proc/loadavg)" "${HEALTH_LOAD-}" 'load of the last minute'
    at_most "$(memory_errors)" "${HEALTH_MEMORY_ERRORS-}" 'uncorrected memory errors'
    for place in ${HEALTH_MOUNTS-}; do mounted "$place"; done
    for place in ${HEALTH_WRITABLE-}; do writable "$place"; done
    for place in ${HEALTH_SPACE-}; do space "${place%=*}" "${place##*=}"; done
    for link in ${HEALTH_LINKS-}; do link_up "${link%=*}" "$link"; done
    for port in ${HEALTH_FABRIC-}; do port_active "${port%=*}" "$port"; done
    for process in ${HEALTH_PROCESSES-}; do running "$process"; done
    [ -z "${HEALTH_CLOCK-}" ] || clock
    like "$(uname -r)" "${HEALTH_KERNEL-}" kernel
    like "$(firmware)" "${HEALTH_FIRMWARE-}" firmware
    like "$(governor)" "${HEALTH_GOVERNOR-}" 'frequency governor'
    facts >health-facts.txt
    echo "free memory: $(meminfo MemAvailable) MiB"
    echo "looks: $looks, bad: $bad, on $(uname -n)"
}

# ---- saying what was found ----

ok() {
    looks=$((looks + 1))
    echo "ok $1"
}

bad() {
    looks=$((looks + 1)) bad=$((bad + 1))
    echo "BAD $1"
}

# known WISH: one that is misspelt must not be a look that is left out
known() {
    for wish in $wishes; do [ "$1" != "$wish" ] || return 0; done
    bad "wish HEALTH_$1: there is no such wish; there are HEALTH_ and one of $(echo $wishes)"
}

# at_least FOUND WANTED WHAT, at_most: numbers, with fractions; no wish, no look
at_least() { compare "$1" '>=' "$2" "$3" 'at least'; }
at_most() { compare "$1" '<=' "$2" "$3" 'at most'; }

compare() {
    [ -n "$3" ] || return 0
    if [ -z "$1" ]; then
        bad "$4: it cannot be told, and $5 $3 is wanted"
    elif awk "BEGIN { exit !($1 $2 $3) }" 2>/dev/null; then
        ok "$4: $1"
    else
        bad "$4: $1, and $5 $3 is wanted"
    fi
}

# like FOUND PATTERN WHAT: a pattern of the shell's
like() {
    [ -n "$2" ] || return 0
    # shellcheck disable=SC2254 # it is a pattern
    case $1 in
        $2) ok "$3: $1" ;;
        *) bad "$3: ${1:-it cannot be told}, and $2 is wanted" ;;
    esac
}

# answers COMMAND...: whether it succeeds in time. One that hangs in a dead file system cannot be killed, so it is left behind.
answers() {
    "$@" >/dev/null 2>&1 </dev/null &
    asked=$!
    waited=0
    while kill -0 "$asked" 2>/dev/null; do
        [ "$waited" -lt $((patience * 10)) ] || {
            kill -9 "$asked" 2>/dev/null
            return 2
        }
        waited=$((waited + 1))
        sleep 0.1
    done
    wait "$asked"
}

# ---- what is looked at ----

meminfo() { awk -v name="$1:" '$1 == name { print int($2 / 1024) }' /proc/meminfo; }

swapped() { awk '$1 == "SwapTotal:" { all = $2 } $1 == "SwapFree:" { free = $2 } END { print int((all - free) / 1024) }' /proc/meminfo; }

# share WHOLE PERCENT: of a number; nothing where either is not said
share() { [ -z "$1" ] || [ "$1" = 0 ] || [ -z "$2" ] || awk "BEGIN { print int($1 * $2 / 100) }"; }

gpus() {
    if command -v nvidia-smi >/dev/null 2>&1; then
        nvidia-smi -L 2>/dev/null | grep -c '^GPU'
    elif [ -d /sys/class/kfd/kfd/topology/nodes ]; then # AMD's: each node with SIMD units is a GPU
        cat /sys/class/kfd/kfd/topology/nodes/*/properties 2>/dev/null | awk '$1 == "simd_count" && $2 > 0 { n++ } END { print n + 0 }'
    else
        echo 0
    fi
}

memory_errors() { cat /sys/devices/system/edac/mc/mc*/ue_count 2>/dev/null | awk '{ n += $1 } END { if (NR) print n }'; }

governor() { cat /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor 2>/dev/null | sort -u | paste -s -d , -; }

firmware() { cat /sys/class/dmi/id/bios_version 2>/dev/null; }

mounted() {
    if ! awk -v place="$1" '$2 == place { found = 1 } END { exit !found }' /proc/mounts; then
        bad "mount $1: nothing is mounted there"
        return
    fi
    answers ls "$1"
    case $? in
        0) ok "mount $1: $(awk -v place="$1" '$2 == place { kind = $3 } END { print kind }' /proc/mounts)" ;;
        2) bad "mount $1: it does not answer within $patience s" ;;
        *) bad "mount $1: it cannot be listed" ;;
    esac
}

writable() {
    answers sh -c 'file=$(mktemp "$1/.node-health.XXXXXX") && echo x >"$file" && rm "$file"' sh "$1"
    case $? in
        0) ok "writable $1: a file was written and removed" ;;
        2) bad "writable $1: it does not answer within $patience s" ;;
        *) bad "writable $1: no file can be written there" ;;
    esac
}

space() {
    if answers df -P "$1"; then
        at_least "$(df -P "$1" | awk 'NR == 2 { print 100 - int($5) }')" "$2" "space free on $1 in %"
    else
        bad "space free on $1: it does not answer, or is not there"
    fi
}

# link_up NAME NAME=MEGABITS
link_up() {
    state=$(cat "/sys/class/net/$1/operstate" 2>/dev/null)
    if [ "$state" != up ]; then
        bad "link $1: ${state:-there is no such interface}, and up is wanted"
    elif [ "$2" != "$1" ]; then
        at_least "$(cat "/sys/class/net/$1/speed" 2>/dev/null)" "${2##*=}" "link $1 in Mb/s"
    else
        ok "link $1: up"
    fi
}

# port_active DEVICE:PORT DEVICE:PORT=GIGABITS
port_active() {
    place=/sys/class/infiniband/${1%:*}/ports/${1##*:}
    state=$(cat "$place/state" 2>/dev/null)
    case $state in
        *ACTIVE*) [ "$2" != "$1" ] || ok "fabric $1: active" ;;
        *)
            bad "fabric $1: ${state:-there is no such port}, and ACTIVE is wanted"
            return
            ;;
    esac
    [ "$2" = "$1" ] || at_least "$(awk '{ print $1 }' "$place/rate" 2>/dev/null)" "${2##*=}" "fabric $1 in Gb/s"
}

running() {
    for command in /proc/[0-9]*/comm; do
        read -r name 2>/dev/null <"$command" || continue
        [ "$name" != "$1" ] || {
            ok "process $1: it runs"
            return
        }
    done
    bad "process $1: it does not run"
}

# by how many milliseconds the clock is off, as the service that sets it says
clock() {
    if command -v chronyc >/dev/null 2>&1; then
        offset=$(chronyc -n tracking 2>/dev/null | awk '/^System time/ { print $4 * 1000 }')
    elif command -v ntpq >/dev/null 2>&1; then
        offset=$(ntpq -c 'rv 0 offset' 2>/dev/null | sed -n 's/.*offset=-*\([0-9.]*\).*/\1/p')
    else
        offset=
    fi
    at_most "$offset" "$HEALTH_CLOCK" 'offset of the clock in ms'
}

facts() {
    echo "kernel $(uname -sr)"
    echo "system $(sed -n 's/^PRETTY_NAME="\{0,1\}\([^"]*\)"\{0,1\}$/\1/p' /etc/os-release 2>/dev/null)"
    echo "processor $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | sort -u | paste -s -d , -)"
    echo "processors $(grep -c '^processor' /proc/cpuinfo)"
    echo "microcode $(sed -n 's/^microcode[^:]*: //p' /proc/cpuinfo | sort -u | paste -s -d , -)"
    echo "firmware $(firmware)"
    echo "governor $(governor)"
    echo "huge pages $(sed -n 's/.*\[\(.*\)\].*/\1/p' /sys/kernel/mm/transparent_hugepage/enabled 2>/dev/null)"
    echo "C library $(getconf GNU_LIBC_VERSION 2>/dev/null)"
}

main
