/* A plain windowed ping-pong between two ranks: both post a window of receives and a window of sends at once and wait for all.
 * usage: mpiexec -n 2 window BYTES WINDOW ITERATIONS; prints MB/s (10^6 bytes) per direction, mean over the windows. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 4 || ranks != 2)
        return MPI_Abort(MPI_COMM_WORLD, 2);
    int bytes = atoi(argv[1]), window = atoi(argv[2]), iterations = atoi(argv[3]), other = 1 - rank;
    size_t total = (size_t)bytes * (size_t)window;
    char *out = malloc(total), *in = malloc(total);
    MPI_Request *requests = malloc(2 * (size_t)window * sizeof *requests);
    if (!out || !in || !requests)
        return MPI_Abort(MPI_COMM_WORLD, 1);
    memset(out, 1, total);
    memset(in, 0, total);
    double seconds = 0;
    for (int i = 0; i <= iterations; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double began = MPI_Wtime();
        for (int w = 0; w < window; w++)
            MPI_Irecv(in + (size_t)w * (size_t)bytes, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, &requests[w]);
        for (int w = 0; w < window; w++)
            MPI_Isend(out + (size_t)w * (size_t)bytes, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, &requests[window + w]);
        MPI_Waitall(2 * window, requests, MPI_STATUSES_IGNORE);
        if (i > 0)
            seconds += MPI_Wtime() - began;
    }
    double mine = (double)total * iterations / seconds / 1e6, theirs;
    MPI_Sendrecv(&mine, 1, MPI_DOUBLE, other, 1, &theirs, 1, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0)
        printf("%.3f\n", 2 / (1 / mine + 1 / theirs));
    MPI_Finalize();
    return 0;
}
