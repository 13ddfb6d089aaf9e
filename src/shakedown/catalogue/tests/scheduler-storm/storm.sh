#!/bin/sh
# A storm of small jobs on Slurm: how fast it takes them, how long each waits, whether it still answers, and whether any is lost.
# usage: storm.sh JOBS AT_ONCE
#
# AT_ONCE submitters work side by side. Each job writes when it began. Times are those of the machines' clocks, so the clocks must agree.
# When this is ended early, what is left of the storm is cancelled.

jobs=$1
at_once=$2
patience=${STORM_PATIENCE:-600} # seconds that the last job has after the last submission
name=storm-$$-$(date +%s)
here=$PWD

main() {
    sinfo --noheader >/dev/null 2>&1 || {
        echo "error: there is no Slurm here that answers sinfo: run this test on a cluster"
        exit 1
    }
    mkdir -p began submitted || exit
    trap 'scancel --name="$name" 2>/dev/null; exit 1' HUP INT TERM
    begin=$(now)
    submitter=0
    while [ "$submitter" -lt "$at_once" ]; do
        submit "$submitter" &
        submitter=$((submitter + 1))
    done
    ask &
    asks=$!
    while [ "$(find submitted -name '*.over' | wc -l)" -lt "$at_once" ]; do sleep 0.2; done
    submitted=$(now)
    wait_for_the_last
    over=$(now)
    kill "$asks" 2>/dev/null
    tell
    scancel --name="$name" 2>/dev/null
    wait
}

now() { date +%s.%N; }

# submit NUMBER: every AT_ONCE-th job, beginning with this one
submit() {
    job=$1
    while [ "$job" -lt "$jobs" ]; do
        before=$(now)
        # shellcheck disable=SC2086 # options are words
        if sbatch --quiet --parsable --job-name="$name" --nodes=1 --ntasks=1 --cpus-per-task=1 --time=2 --oversubscribe \
            ${SLURM_JOB_PARTITION:+--partition="$SLURM_JOB_PARTITION"} ${SLURM_JOB_ACCOUNT:+--account="$SLURM_JOB_ACCOUNT"} \
            --output=/dev/null ${STORM_OPTIONS:-} --wrap="date +%s.%N >'$here/began/$job'" >"submitted/$job.id" 2>"submitted/$job.error"; then
            echo "$before $(now)" >"submitted/$job"
        fi
        job=$((job + at_once))
    done
    : >"submitted/$1.over"
}

# how long squeue takes while the storm lasts
ask() {
    while :; do
        before=$(now)
        squeue --noheader --name="$name" >/dev/null 2>&1 && echo "$before $(now)" >>answers
        sleep 0.5
    done
}

wait_for_the_last() {
    taken=$(find submitted -name '*[0-9]' | wc -l)
    end=$(($(date +%s) + patience))
    while [ "$(find began -type f | wc -l)" -lt "$taken" ] && [ "$(date +%s)" -lt "$end" ]; do sleep 0.2; done
}

tell() {
    ran=$(find began -type f | wc -l)
    for file in submitted/*.error; do [ ! -s "$file" ] || { echo "refused: $(head -n 1 "$file")"; break; }; done
    echo "jobs: $jobs, taken: $taken, ran: $ran, refused: $((jobs - taken)), lost: $((taken - ran))"
    awk -v n="$taken" -v from="$begin" -v to="$submitted" 'BEGIN { printf "submission: %.2f jobs/s\n", n / (to - from) }'
    awk -v n="$ran" -v from="$begin" -v to="$over" 'BEGIN { printf "throughput: %.2f jobs/s\n", n / (to - from) }'
    for file in began/*; do
        [ -r "$file" ] || continue
        read -r began <"$file"
        read -r before after <"submitted/${file##*/}" && echo "$(awk "BEGIN { print $after - $before }") $(awk "BEGIN { print $began - $after }")"
    done >times
    spread 1 'sbatch'
    spread 2 'wait'
    [ ! -s answers ] || awk '{ print $2 - $1 }' answers >squeue-times
    [ ! -s squeue-times ] || sort -n squeue-times | awk '{ v[NR] = $1 } END { printf "squeue: median %.3f s, longest %.3f s\n", v[int((NR + 1) / 2)], v[NR] }'
}

# spread COLUMN WHAT: the middle and the end of a column of times; a job may begin before its sbatch has come back
spread() {
    [ -s times ] || return
    awk -v column="$1" '{ print $column < 0 ? 0 : $column }' times | sort -n |
        awk -v what="$2" '{ v[NR] = $1 } END { printf "%s: median %.3f s, longest %.3f s\n", what, v[int((NR + 1) / 2)], v[NR] }'
}

main
