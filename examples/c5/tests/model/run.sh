# Stands in for one run of a model: sh run.sh NAME MEAN SD, the run time on C5 in seconds.
# It is one process; the model itself would be started with srun.
#
# The run's id is the seed, so that the same run always draws the same. With F2=shared these troubles are invented, because
# the paper prints no numbers of them (only figures 3 to 9, as pictures): 1 run in 12 ends with an MPI error after a part of
# its time, and 1 run of CM4 in 8 takes twice its time and is right (IV.E: "nearly double the expected run time").
# Under Slurm runs take ten times as long: a conductor sees when they begin once a poll, and that must be little beside them.
name=$1 mean=$2 sd=$3
[ -z "$SLURM_JOB_ID" ] || TIME_SCALE=$((TIME_SCALE / 10))
seed=$(printf '%s %s' "$SHAKEDOWN_RUN" "$name" | cksum | cut -d ' ' -f 1)

drawn=$(awk -v seed="$seed" -v mean="$mean" -v sd="$sd" -v scale="$TIME_SCALE" -v f2="$F2" -v name="$name" '
    function uniform() { state = (16807 * state) % 2147483647; return state / 2147483647 }
    BEGIN {
        state = seed % 2147483646 + 1; uniform(); uniform()
        for (i = 0; i < 12; i++) normal += uniform()       # sum of 12 uniforms - 6: nearly normal, within 6
        time = mean + sd * (normal - 6); lot = uniform(); fate = "end"
        if (f2 == "shared" && lot < 1 / 12) { fate = "error"; time *= uniform() }
        else if (f2 == "shared" && name == "cm4" && lot < 1 / 12 + 1 / 8) time *= 1.95
        printf "%.1f %.3f %s\n", time, time / scale, fate
    }')
set -- $drawn
echo "$name: a stand-in; 1 s here is $TIME_SCALE s on C5"
sleep "$2"
if [ "$3" = error ]; then
    echo "MPI error after $1 s on C5 (invented)" >&2
    exit 1
fi
mkdir -p RESTART
printf '%s restart, version 1\n' "$name" > RESTART/coupler.res
echo "run time on C5 = $1 s"
echo "Main exited: normal end"
