# Stands in for one run of a scaling study (section VII of the paper): sh study.sh PROGRAM SIZE SERIES [WORK].
# It is one process; the programs themselves would be started with srun.
#
# The paper prints these figures as pictures. So every number here is invented, and what follows is the shape that its text
# tells of: where a curve bends, which curves lie above which, and by how much. The run's id moves each number by 1 % at most.
seed=$(printf '%s %s' "$SHAKEDOWN_RUN" "$*" | cksum | cut -d ' ' -f 1)
echo "$1: a stand-in; nothing is computed"
sleep 0.2
awk -v program="$1" -v size="$2" -v series="$3" -v work="$4" -v seed="$seed" '
    function doublings(n) { return log(n) / log(2) }
    BEGIN {
        noise = 1 + (seed % 2001 - 1000) / 100000
        if (program == "minisweep") {                       # Figure 12: above 512 ranks the performance begins to decrease
            time = 400 * 4 / size + 0.4 * doublings(size)
            if (size > 512) time *= 2.5
        } else if (program == "genasis") {                  # Figure 13: no better beyond four threads, CCE and GNU in front
            base["gcc"] = 100; base["cce"] = 95; base["intel-classic"] = 130; base["intel-oneapi"] = 115
            time = base[series] / (size <= 4 ? size ^ 0.95 : 4 ^ 0.95 * (size / 4) ^ 0.1)
        } else if (program == "lsms") {                     # Figure 21: both alike, fairly well up to four threads
            time = (series == "gcc" ? 800 : 780) / (size <= 4 ? size ^ 0.9 : 4 ^ 0.9 * (size / 4) ^ 0.3)
        } else {
            speed = 100 / work * size ^ -0.12               # Figures 14 to 20: fewer ranks of more threads are slower
            kokkos = series ~ /_kk/
            if (program == "tersoff" && kokkos) {
                if (series !~ /classic/ && (work == 16.3 || size < 64)) speed *= 1.1
                if (work == 16.3 && size > 8) speed *= 0.55 # Figure 15: a sharp drop above 8 threads
                if (size == 128 && work == 32) { print "ERROR: integer overflow in neighbor list"; exit 1 }
            }
            if (program == "reaxff") speed *= kokkos ? 1.3 : 1
            if (series ~ /2021/) speed *= size == 128 ? 1.08 : 0.91
        }
        if (time) printf "execution time = %.3f s\n", time * noise
        else printf "speed = %.4f steps/s\n", speed * noise
    }'
