/* Seconds that rank 0 of a traced program needs to take in and write what many ranks send it, without the messages themselves:
 * each rank has made forty kinds of calls and sent to as many others as the tracer lists. collect RANKS FILE */
#include "trace.c"

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int ranks = argc > 1 ? atoi(argv[1]) : 1024;
    struct words words = {NULL, 0, 0};
    self.counting = false;
    for (int i = 0; i < 40; i++)
        counters[i] = (struct counter){1000 + i, 123456789 + i, 987654321 + i, 0};
    for (int i = 0; i < self.listed; i++)
        *add_peer(0, 7 * i % ranks, 7 * i % ranks) = (struct peer){0, 7 * i % ranks, 7 * i % ranks, true, 1000 + i, 10000000 + i};
    pack(&words, ranks, now());
    snprintf(path, sizeof path, "%s", argc > 2 ? argv[2] : "collected.jsonl");
    uint64_t began = now();
    if (!open_file())
        return 1;
    begin_file(ranks);
    for (int rank = 0; rank < ranks; rank++)
        absorb(words.at, rank);
    end_file();
    printf("%.4f\n", seconds((int64_t)(now() - began)));
    return MPI_Finalize();
}
