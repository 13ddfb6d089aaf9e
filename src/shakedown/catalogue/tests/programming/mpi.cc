#include <mpi.h>
#include <cstdio>
#include <cstdlib>
#include <string>

extern "C" double sum_to(int n);

int main(int argc, char **argv) {
    int rank = 0, ranks = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc > 1 && ranks != std::atoi(argv[1])) {
        std::printf("error: single ranks instead of one world: %d of %s; the wrapper that built this is of another MPI than the launcher\n", ranks, argv[1]);
        MPI_Finalize();
        return 1;
    }
    double sum = sum_to(static_cast<int>(1000000LL * (rank + 1) / ranks)) - sum_to(static_cast<int>(1000000LL * rank / ranks));
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    const std::string said = "ranks = " + std::to_string(ranks);
    if (rank == 0)
        std::printf("sum of 1..1000000 = %.0f\n%s\nthreads = 1\n", sum, said.c_str());
    MPI_Finalize();
    return sum == 500000500000.0 ? 0 : 1;
}
