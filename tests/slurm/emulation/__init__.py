"""Parts of `tests/slurm/cluster`: a real Slurm whose compute nodes are process trees on one machine."""
