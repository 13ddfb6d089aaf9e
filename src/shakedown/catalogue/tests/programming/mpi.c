/* Each rank sums a part of 1..n; rank 0 has the whole, and says how many ranks and threads there were, and which MPI.
   Its argument is the number of ranks that were started. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double sum_to(int n);
int threads_used(void);

int main(int argc, char **argv) {
    int rank, ranks, length, provided, threads, fewest;
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    double sum;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc > 1 && ranks != atoi(argv[1])) {
        printf("error: single ranks instead of one world: %d of %s; the wrapper that built this is of another MPI than the launcher\n", ranks, argv[1]);
        MPI_Finalize();
        return 1;
    }
    sum = sum_to((int)(1000000LL * (rank + 1) / ranks)) - sum_to((int)(1000000LL * rank / ranks));
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    threads = threads_used();
    MPI_Reduce(&threads, &fewest, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
    MPI_Get_library_version(library, &length);
    library[strcspn(library, "\n,")] = '\0';
    if (rank == 0)
        printf("sum of 1..1000000 = %.0f\nranks = %d\nthreads = %d\nMPI library = %s\n", sum, ranks, fewest, library);
    MPI_Finalize();
    return sum == 500000500000.0 ? 0 : 1;
}
