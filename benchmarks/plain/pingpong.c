/* A plain ping-pong between two ranks with blocking calls, each rank on a core of its own.
 * usage: mpiexec -n 2 pingpong BYTES REPEATS; prints us, half of the mean time there and back. */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void pin(int rank)
{
    cpu_set_t allowed, own;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    CPU_ZERO(&own);
    for (int core = 0; core < CPU_SETSIZE; core++)
        if (CPU_ISSET(core, &allowed) && rank-- == 0)
            CPU_SET(core, &own);
    if (CPU_COUNT(&own) == 1)
        sched_setaffinity(0, sizeof own, &own);
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 3 || ranks != 2)
        return MPI_Abort(MPI_COMM_WORLD, 2);
    int bytes = atoi(argv[1]), repeats = atoi(argv[2]), other = 1 - rank;
    char *out = malloc((size_t)bytes), *in = malloc((size_t)bytes);
    if (!out || !in)
        return MPI_Abort(MPI_COMM_WORLD, 1);
    memset(out, 1, (size_t)bytes);
    memset(in, 0, (size_t)bytes);
    pin(rank);
    double began = 0;
    for (int i = -repeats / 10; i < repeats; i++) {
        if (i == 0) {
            MPI_Barrier(MPI_COMM_WORLD);
            began = MPI_Wtime();
        }
        if (rank == 0) {
            MPI_Send(out, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD);
            MPI_Recv(in, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(in, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(out, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD);
        }
    }
    if (rank == 0)
        printf("%.6f\n", 1e6 * (MPI_Wtime() - began) / repeats / 2);
    MPI_Finalize();
    return 0;
}
