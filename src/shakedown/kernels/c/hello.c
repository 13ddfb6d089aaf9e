/* hello: who runs where. Each rank's host and cores, and whether the ranks found each other at all. */
#include "common.h"

static long expected;

static const struct option options[] = {
    {"--expect", "N", COUNT, &expected, 1, "fail unless the job has N ranks; finds ranks that were started as separate jobs of one"},
    {NULL, NULL, FLAG, NULL, 0, NULL}};

struct place {
    char cores[CORES_TEXT_BYTES];
    int count, sharers, running_on;
};

static int run(void);
static int self_check(void);

const struct kernel kernel = {
    "hello", "Which rank runs on which host and which cores, and whether the ranks can talk to each other.", options, run, self_check};

static bool enough_ranks(void);
static struct place own_place(void);
static bool everyone_heard(void);
static void write_places(const struct place *places);

static int run(void)
{
    if (!enough_ranks())
        return 1;
    struct place mine = own_place();
    struct place *places = job.rank == 0 ? memory((size_t)job.ranks * sizeof *places) : NULL;
    MPI_Request request;
    MPI_Igather(&mine, sizeof mine, MPI_BYTE, places, sizeof mine, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    settle(&request);
    if (!everyone_heard())
        fail("a message that went round all %d ranks came back wrong", job.ranks);
    if (places)
        write_places(places);
    free(places);
    return 0;
}

static bool enough_ranks(void)
{
    if (!expected || expected == job.ranks)
        return true;
    if (job.ranks == 1)
        failed("%ld ranks were expected, and this job has 1: each process was started alone. The launcher does not belong to the "
               "MPI library that the kernel was compiled with: use the mpiexec beside its mpicc, or srun --mpi=pmi2 or pmix",
               expected);
    else
        failed("%ld ranks were expected, and this job has %d", expected, job.ranks);
    return false;
}

static struct place own_place(void)
{
    static struct cores cores;
    struct place place;
    memset(&place, 0, sizeof place);
    read_cores(&cores);
    cores_text(&cores, place.cores);
    place.count = cores.count;
    place.sharers = cores.sharers;
    place.running_on = sched_getcpu();
    return place;
}

/* A number that every rank adds its own to, passed round the ring: a rank that cannot be reached, or lies, is found. */
static bool everyone_heard(void)
{
    long heard = 0, told, wanted = (long)job.ranks * (job.ranks + 1L) / 2;
    int next = (job.rank + 1) % job.ranks, previous = (job.rank + job.ranks - 1) % job.ranks;
    MPI_Request receive, send;
    MPI_Irecv(&heard, 1, MPI_LONG, previous, 0, MPI_COMM_WORLD, &receive);
    if (job.rank > 0)
        settle(&receive);
    told = (job.rank > 0 ? heard : 0) + job.rank + 1 + (job.fault && job.rank == job.ranks - 1);
    MPI_Isend(&told, 1, MPI_LONG, next, 0, MPI_COMM_WORLD, &send);
    settle(&send);
    if (job.rank == 0)
        settle(&receive);
    return job.rank != 0 || heard == wanted;
}

static void write_places(const struct place *places)
{
    int fewest = places[0].count, most = places[0].count, sharing = 0;
    for (int r = 0; r < job.ranks; r++) {
        open_record("rank");
        put_count("rank", r);
        put_text("host", job.node_names + (size_t)job.node_of[r] * NAME_BYTES);
        put_text("cores", places[r].cores);
        put_count("core_count", places[r].count);
        put_count("running_on", places[r].running_on);
        put_count("ranks_on_these_cores", places[r].sharers);
        close_record();
        fewest = places[r].count < fewest ? places[r].count : fewest;
        most = places[r].count > most ? places[r].count : most;
        sharing += places[r].sharers > 1;
    }
    open_record("result");
    put_count("ranks", job.ranks);
    put_count("nodes", job.nodes);
    open_object("cores_per_rank");
    put_count("min", fewest);
    put_count("max", most);
    close_object();
    put_count("ranks_sharing_cores", sharing);
    close_record();
}

static int self_check(void)
{
    static struct cores cores;
    char text[CORES_TEXT_BYTES];
    memset(&cores, 0, sizeof cores);
    cores.allowed[0] = cores.allowed[1] = cores.allowed[2] = cores.allowed[9] = 1;
    cores_text(&cores, text);
    check(strcmp(text, "0-2,9") == 0, "the cores 0, 1, 2 and 9 are written 0-2,9");
    check(nth_core(&cores, 3) == 9 && nth_core(&cores, 4) == -1, "the fourth core of 0-2,9 is 9");
    return run();
}
