#!/bin/sh
# Makes bench.tpr: a cube of water of so many nm, relaxed, for so many steps: sh water.sh EDGE STEPS
edge=$1
steps=$2

prepare() { # INTEGRATOR STEPS COORDINATES RESULT
    sed "s/@integrator@/$1/; s/@steps@/$2/" water.mdp >"$1.mdp" &&
        gmx_mpi grompp -f "$1.mdp" -c "$3" -p system.top -po "$1.out.mdp" -o "$4"
}

cp water.top system.top &&
    gmx_mpi solvate -cs spc216.gro -box "$edge" "$edge" "$edge" -o filled.gro -p system.top &&
    prepare steep 200 filled.gro relax.tpr &&
    gmx_mpi mdrun -s relax.tpr -c relaxed.gro -g relax.log -e relax.edr -o relax.trr &&
    prepare md "$steps" relaxed.gro bench.tpr
