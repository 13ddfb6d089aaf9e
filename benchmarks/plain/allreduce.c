/* A plain loop of allreduces of floats: each is timed on each rank, and ends in a barrier that is not timed.
 * usage: mpiexec -n RANKS allreduce BYTES REPEATS; prints us, the mean over repeats and ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 3)
        return MPI_Abort(MPI_COMM_WORLD, 2);
    int floats = atoi(argv[1]) / (int)sizeof(float), repeats = atoi(argv[2]);
    float *out = malloc((size_t)floats * sizeof *out), *in = malloc((size_t)floats * sizeof *in);
    if (!out || !in)
        return MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < floats; i++)
        out[i] = in[i] = 1;
    double seconds = 0, sum = 0;
    for (int i = -repeats / 5; i < repeats; i++) {
        double began = MPI_Wtime();
        MPI_Allreduce(out, in, floats, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        double ended = MPI_Wtime();
        MPI_Barrier(MPI_COMM_WORLD);
        if (i >= 0)
            seconds += ended - began;
    }
    MPI_Reduce(&seconds, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.6f\n", 1e6 * sum / repeats / ranks);
    MPI_Finalize();
    return 0;
}
