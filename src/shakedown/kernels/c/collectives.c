/* collectives: the time of collective operations over size and ranks, and the memory that they take on a node.
 *
 * As the OSU benchmarks do it: each repeat is timed on each rank by itself, from its call to its return, and ends in a barrier that
 * is not timed. `us` is the mean over the ranks of each rank's mean, `fastest_us` and `slowest_us` are its ranks at the ends. `size`
 * is one rank's block in bytes: what a rank sends to each other one in alltoall, what it gives in allgather, what it keeps of
 * reduce_scatter (the whole vector is `size` times the ranks), and the whole message of bcast and allreduce. reduce_scatter is
 * measured beside what replaces it where a library spoils it: a reduce of the whole vector to the first rank, and a scatter.
 *
 * `memory_mb` is by how much the resident memory of a node's ranks grew together at its highest, since before the first call of the
 * operation in this group of ranks; the operation's own buffers were there and touched before. The node with the most counts. Pages
 * that ranks of a node share count for each of them. */
#include "common.h"

#include <limits.h>
#include <math.h>

static size_t smallest = 4, largest = 1048576, most_buffers = 536870912;
static long iterations = 1000, large_iterations = 100;
static const char every[] = "barrier,bcast,allreduce,allgather,alltoall,reduce_scatter,reduce+scatter";
static const char *operations = every;
static bool groups;

static const struct option options[] = {
    {"--operations", "barrier|bcast|allreduce|allgather|alltoall|reduce_scatter|reduce+scatter", TEXT, &operations, 0, "which of them, joined by commas"},
    {"--smallest", "BYTES", SIZE, &smallest, 4, "the first size; the next are 2, 4, 8 ... times as large"},
    {"--largest", "BYTES", SIZE, &largest, 4, "the last size"},
    {"--groups", "", FLAG, &groups, 0, "measure the largest size also in groups of 2, 4, 8 ... of the first ranks"},
    {"--iterations", "N", COUNT, &iterations, 1, "timed repeats up to 8192 bytes, after a fifth as many that are not"},
    {"--large-iterations", "N", COUNT, &large_iterations, 1, "timed repeats above 8192 bytes, after a tenth as many that are not"},
    {"--most-buffers", "BYTES", SIZE, &most_buffers, 1, "sizes whose buffers take more on a rank are left out"},
    {NULL, NULL, FLAG, NULL, 0, NULL}};

static int run(void);
static int self_check(void);

const struct kernel kernel = {
    "collectives", "Collective operations of MPI: time over size and over groups of ranks, and by how much the memory of a node grows.", options, run,
    self_check};

enum { LARGE = 8192 };

/* The ranks that take part, of which this rank may be none. */
struct group { MPI_Comm comm; int ranks, nodes; bool inside; };

/* `counts`: how many numbers each rank keeps of reduce_scatter. */
struct call { const struct group *group; unsigned char *out, *in; int *counts; size_t size; };

struct operation {
    const char *name;
    bool sized;                                         /* it moves something */
    void (*blocking)(struct call call);
    void (*yielding)(struct call call);                 /* the same, and waits so that ranks on the same core can go on */
    size_t (*out_bytes)(const struct group *group, size_t size);
    size_t (*in_bytes)(const struct group *group, size_t size);
    void (*fill)(struct call call, int rank);           /* what the rank of the group sends, and spoiled memory to receive into */
    bool (*right)(struct call call, int rank);          /* whether it received what it must */
};

static const struct operation *find_operation(const char *name);
static void measure(const struct operation *operation, const struct group *group, long *left);
static long planned(void);
static double largest_buffers(void);
static struct group first_ranks(int ranks);
static void leave_group(struct group *group);

static long measured;       /* points */
static bool crowded;        /* on any host: then all ranks wait without keeping their core */
static const char *const order[] = {"barrier", "bcast", "allreduce", "allgather", "alltoall", "reduce_scatter", "reduce+scatter", NULL};

static int run(void)
{
    if (smallest % sizeof(float))
        misuse("option '--smallest': %zu bytes are no whole number of floats; give a multiple of %zu", smallest, sizeof(float));
    if (smallest > largest)
        misuse("the smallest size of %zu bytes is above the largest of %zu bytes", smallest, largest);
    need_memory(largest_buffers(), "the buffers", "give a smaller --largest or --most-buffers");
    tell_crowd(1, "they take turns, and no time here is that of a network");
    crowded = all_max(job.crowded) > 0;
    long left = planned();
    for (int ranks = groups ? 2 : job.ranks; ; ranks = 2 * ranks < job.ranks ? 2 * ranks : job.ranks) {
        struct group group = first_ranks(ranks < job.ranks ? ranks : job.ranks);
        for (int o = 0; order[o]; o++)
            if (chosen(operations, order[o]))
                measure(find_operation(order[o]), &group, &left);
        leave_group(&group);
        if (ranks >= job.ranks)
            break;
    }
    if (!measured)
        return failed("the budget of %g s ended before anything was timed, or no size fits; give more --budget, or a smaller --smallest", job.budget);
    open_record("result");
    put_count("points", measured);
    put_flag("complete", all_measured());
    close_record();
    return 0;
}

/* ---- groups and sizes -------------------------------------------------------------------------------------------------- */

static struct group first_ranks(int ranks)
{
    struct group group = {.ranks = ranks, .inside = job.rank < ranks};
    int node_rank;
    MPI_Comm_split(MPI_COMM_WORLD, group.inside ? 0 : MPI_UNDEFINED, job.rank, &group.comm);
    MPI_Comm_rank(job.node_comm, &node_rank);
    int first = group.inside ? job.rank : INT_MAX, lowest;
    MPI_Allreduce(&first, &lowest, 1, MPI_INT, MPI_MIN, job.node_comm);
    group.nodes = (int)all_sum(group.inside && lowest == job.rank);
    return group;
}

static void leave_group(struct group *group)
{
    if (group->inside)
        MPI_Comm_free(&group->comm);
}

/* The sizes of an operation in a group, one after another: from `size` 0 on, 0 after the last. */
static size_t next_size(const struct operation *operation, bool whole_curve, size_t size)
{
    if (!operation->sized)
        return size ? 0 : smallest;
    if (!whole_curve)
        return size ? 0 : largest;
    if (size == 0)
        return smallest;
    return size >= largest ? 0 : 2 * size < largest ? 2 * size : largest;
}

static bool fits(const struct operation *operation, const struct group *group, size_t size)
{
    double floats = (double)size / sizeof(float) * group->ranks;
    return (double)operation->out_bytes(group, size) + (double)operation->in_bytes(group, size) <= (double)most_buffers && floats < INT_MAX
           && size < INT_MAX;
}

/* Bytes of this rank for the operation that needs most. */
static double largest_buffers(void)
{
    const struct group world = {.ranks = job.ranks, .inside = true};
    double most = 0;
    for (int o = 0; order[o]; o++) {
        const struct operation *operation = find_operation(order[o]);
        double bytes = (double)operation->out_bytes(&world, largest) + (double)operation->in_bytes(&world, largest);
        most = chosen(operations, order[o]) && bytes > most ? bytes : most;
    }
    return most < (double)most_buffers ? most : (double)most_buffers;
}

/* How many points will be measured. */
static long planned(void)
{
    long points = 0, below = 0;
    for (int ranks = 2; groups && ranks < job.ranks; ranks *= 2)
        below++;
    for (int o = 0; order[o]; o++) {
        if (!chosen(operations, order[o]))
            continue;
        const struct operation *operation = find_operation(order[o]);
        for (size_t size = next_size(operation, true, 0); size; size = next_size(operation, true, size))
            points++;
        points += below;        /* one size in each smaller group */
    }
    return points;
}

/* ---- one point --------------------------------------------------------------------------------------------------------- */

/* What one rank found of one point, to be gathered over the group. */
struct point { double seconds; long repeats; double grown; };

static double mean_us(double seconds, long repeats)
{
    return 1e6 * seconds / (double)repeats;
}

static long unmeasured(long repeats, size_t size)
{
    long some = size > LARGE ? repeats / 10 : repeats / 5;
    return some ? some : 1;
}

static void synchronise(const struct group *group)
{
    MPI_Request request;
    if (!crowded) {
        MPI_Barrier(group->comm);
        return;
    }
    MPI_Ibarrier(group->comm, &request);
    settle(&request);
}

/* Seconds of this rank in so many repeats. */
static double repeat(const struct operation *operation, struct call call, long repeats)
{
    void (*act)(struct call) = crowded ? operation->yielding : operation->blocking;
    double seconds = 0;
    for (long i = 0; i < repeats; i++) {
        double began = now();
        act(call);
        seconds += now() - began;
        synchronise(call.group);
    }
    return seconds;
}

static void verify(const struct operation *operation, struct call call, int rank)
{
    if (job.fault && rank == call.group->ranks - 1 && operation->sized)
        call.in[call.size - 1] ^= 1;
    if (!operation->right(call, rank))
        fail("%s of %zu bytes among %d ranks gave a wrong result", operation->name, call.size, call.group->ranks);
}

/* Repeats that are not timed and then those that are, in batches whose last result is verified; the ranks outside of the group only
 * keep count. */
static struct point time_it(const struct operation *operation, struct call call, int rank, long left)
{
    long wanted = operation->sized && call.size > LARGE ? large_iterations : iterations;
    struct rounds warm_up = share_budget(unmeasured(wanted, call.size), 4 * left);
    while (next_batch(&warm_up))
        if (call.group->inside)
            repeat(operation, call, warm_up.batch);
    struct rounds rounds = share_budget(wanted, left);
    struct point point = {0};
    while (next_batch(&rounds)) {
        if (!call.group->inside)
            continue;
        operation->fill(call, rank);
        synchronise(call.group);
        point.seconds += repeat(operation, call, rounds.batch);
        point.repeats += rounds.batch;
        verify(operation, call, rank);
    }
    return point;
}

static void write_point(const struct operation *operation, const struct group *group, size_t size, struct point point)
{
    bool inside = point.repeats > 0;
    double own = inside ? mean_us(point.seconds, point.repeats) : 0;
    double ends[] = {inside ? -own : -INFINITY, own, (double)point.repeats};
    double mean = all_sum(own) / group->ranks;
    struct on_nodes grown = on_nodes(point.grown);
    all_largest(ends, 3);
    double fastest = -ends[0], slowest = ends[1];
    long repeats = (long)ends[2];
    if (!repeats)
        return;
    open_record("collective");
    put_text("operation", operation->name);
    put_count("size", operation->sized ? (long long)size : 0);
    put_count("ranks", group->ranks);
    put_count("nodes", group->nodes);
    put_number("us", mean);
    put_number("fastest_us", fastest);
    put_number("slowest_us", slowest);
    put_number("memory_mb", 1e-6 * grown.max);
    put_count("repeats", repeats);
    close_record();
    if (job.checking)
        check(repeats > 0 && fastest <= mean * 1.000001 && mean <= slowest * 1.000001, "the mean lies between the fastest and the slowest rank");
    measured++;
}

static void measure(const struct operation *operation, const struct group *group, long *left)
{
    size_t top = 0;
    int rank = 0;
    bool whole_curve = group->ranks == job.ranks;
    for (size_t size = next_size(operation, whole_curve, 0); size; size = next_size(operation, whole_curve, size))
        if (fits(operation, group, size))
            top = size;
        else
            warn("%s of %zu bytes among %d ranks is left out: its buffers take more than --most-buffers %zu, or more than MPI can count",
                 operation->name, size, group->ranks, most_buffers);
    if (group->inside)
        MPI_Comm_rank(group->comm, &rank);
    struct call call = {group, NULL, NULL, NULL, top};
    if (group->inside && top) {
        call.out = memory(operation->out_bytes(group, top));
        call.in = memory(operation->in_bytes(group, top));
        call.counts = memory((size_t)group->ranks * sizeof *call.counts);
        operation->fill(call, rank);        /* touches all of them */
    }
    double before = read_footprint().resident;
    for (size_t size = next_size(operation, whole_curve, 0); size; size = next_size(operation, whole_curve, size), --*left) {
        if (!fits(operation, group, size) || job.stopped)
            continue;
        call.size = size;
        bool restarted = restart_peak();
        struct point point = time_it(operation, call, rank, *left);
        struct footprint after = read_footprint();
        double most = restarted ? after.peak : after.resident;
        point.grown = group->inside && most < before ? 0 : group->inside ? most - before : 0;
        write_point(operation, group, size, point);
    }
    free(call.out);
    free(call.in);
    free(call.counts);
}

/* ---- contents ---------------------------------------------------------------------------------------------------------- */

/* Bytes that tell their sender, receiver and place; 251 is prime, so that no block of a power of two repeats itself. */
static unsigned char content(int sender, int receiver, size_t at)
{
    return (unsigned char)((at % 251) + 31U * (unsigned)sender + 17U * (unsigned)receiver);
}

/* What a rank adds at a place of a vector. All sums are whole numbers that a float holds exactly. */
static float addend(int rank, size_t at)
{
    return (float)(rank % 7 + 1 + (int)(at % 13));
}

static float sum_at(int ranks, size_t at)
{
    double sum = (double)ranks * (double)(at % 13) + 28.0 * (ranks / 7);
    for (int left = ranks % 7; left > 0; left--)
        sum += left;
    return (float)sum;
}

static void spoil(unsigned char *in, size_t bytes) { memset(in, 0xee, bytes); }

static void fill_blocks(unsigned char *out, size_t size, int blocks, int sender, bool each)
{
    for (int b = 0; b < blocks; b++)
        for (size_t at = 0; at < size; at++)
            out[(size_t)b * size + at] = content(sender, each ? b : 0, at);
}

static bool block_right(const unsigned char *block, size_t size, int sender, int receiver)
{
    bool right = true;
    for (size_t at = 0; at < size; at++)
        right &= block[at] == content(sender, receiver, at);
    return right;
}

static void fill_vector(unsigned char *out, size_t bytes, int rank)
{
    for (size_t at = 0; at < bytes / sizeof(float); at++)
        ((float *)(void *)out)[at] = addend(rank, at);
}

/* `from`: the place in the whole vector of the first number. */
static bool sums_right(const unsigned char *in, size_t bytes, int ranks, size_t from)
{
    bool right = true;
    for (size_t at = 0; at < bytes / sizeof(float); at++)
        right &= ((const float *)(const void *)in)[at] == sum_at(ranks, from + at);
    return right;
}

static int floats(size_t size) { return (int)(size / sizeof(float)); }

/* ---- the operations ---------------------------------------------------------------------------------------------------- */

/* One block, all blocks of the group, nothing. */
static size_t one(const struct group *group, size_t size) { (void)group; return size; }
static size_t all(const struct group *group, size_t size) { return size * (size_t)group->ranks; }
static size_t none(const struct group *group, size_t size) { (void)group; (void)size; return 0; }

static void barrier(struct call call) { MPI_Barrier(call.group->comm); }

static void barrier_yielding(struct call call)
{
    MPI_Request request;
    MPI_Ibarrier(call.group->comm, &request);
    settle(&request);
}

static void barrier_fill(struct call call, int rank) { (void)call; (void)rank; }
static bool barrier_right(struct call call, int rank) { (void)call; (void)rank; return true; }

/* The message of bcast lies in `in`: the first rank has it, the others get it. */
static void bcast(struct call call) { MPI_Bcast(call.in, (int)call.size, MPI_BYTE, 0, call.group->comm); }

static void bcast_yielding(struct call call)
{
    MPI_Request request;
    MPI_Ibcast(call.in, (int)call.size, MPI_BYTE, 0, call.group->comm, &request);
    settle(&request);
}

static void bcast_fill(struct call call, int rank)
{
    spoil(call.in, call.size);
    if (rank == 0)
        fill_blocks(call.in, call.size, 1, 5, false);
}

static bool bcast_right(struct call call, int rank) { (void)rank; return block_right(call.in, call.size, 5, 0); }

static void allreduce(struct call call) { MPI_Allreduce(call.out, call.in, floats(call.size), MPI_FLOAT, MPI_SUM, call.group->comm); }

static void allreduce_yielding(struct call call)
{
    MPI_Request request;
    MPI_Iallreduce(call.out, call.in, floats(call.size), MPI_FLOAT, MPI_SUM, call.group->comm, &request);
    settle(&request);
}

static void allreduce_fill(struct call call, int rank)
{
    spoil(call.in, call.size);
    fill_vector(call.out, call.size, rank);
}

static bool allreduce_right(struct call call, int rank) { (void)rank; return sums_right(call.in, call.size, call.group->ranks, 0); }

static void allgather(struct call call)
{
    MPI_Allgather(call.out, (int)call.size, MPI_BYTE, call.in, (int)call.size, MPI_BYTE, call.group->comm);
}

static void allgather_yielding(struct call call)
{
    MPI_Request request;
    MPI_Iallgather(call.out, (int)call.size, MPI_BYTE, call.in, (int)call.size, MPI_BYTE, call.group->comm, &request);
    settle(&request);
}

static void allgather_fill(struct call call, int rank)
{
    spoil(call.in, all(call.group, call.size));
    fill_blocks(call.out, call.size, 1, rank, false);
}

static bool allgather_right(struct call call, int rank)
{
    bool right = true;
    (void)rank;
    for (int sender = 0; sender < call.group->ranks; sender++)
        right &= block_right(call.in + (size_t)sender * call.size, call.size, sender, 0);
    return right;
}

static void alltoall(struct call call)
{
    MPI_Alltoall(call.out, (int)call.size, MPI_BYTE, call.in, (int)call.size, MPI_BYTE, call.group->comm);
}

static void alltoall_yielding(struct call call)
{
    MPI_Request request;
    MPI_Ialltoall(call.out, (int)call.size, MPI_BYTE, call.in, (int)call.size, MPI_BYTE, call.group->comm, &request);
    settle(&request);
}

static void alltoall_fill(struct call call, int rank)
{
    spoil(call.in, all(call.group, call.size));
    fill_blocks(call.out, call.size, call.group->ranks, rank, true);
}

static bool alltoall_right(struct call call, int rank)
{
    bool right = true;
    for (int sender = 0; sender < call.group->ranks; sender++)
        right &= block_right(call.in + (size_t)sender * call.size, call.size, sender, rank);
    return right;
}

static void reduce_scatter(struct call call)
{
    MPI_Reduce_scatter(call.out, call.in, call.counts, MPI_FLOAT, MPI_SUM, call.group->comm);
}

static void reduce_scatter_yielding(struct call call)
{
    MPI_Request request;
    MPI_Ireduce_scatter(call.out, call.in, call.counts, MPI_FLOAT, MPI_SUM, call.group->comm, &request);
    settle(&request);
}

static void reduce_scatter_fill(struct call call, int rank)
{
    spoil(call.in, call.size);
    fill_vector(call.out, all(call.group, call.size), rank);
    for (int r = 0; r < call.group->ranks; r++)
        call.counts[r] = floats(call.size);
}

static bool reduce_scatter_right(struct call call, int rank)
{
    return sums_right(call.in, call.size, call.group->ranks, (size_t)rank * (call.size / sizeof(float)));
}

/* The sums of the whole vector lie behind the block of the rank in `in`; only the first rank of the group has them. */
static size_t block_and_sums(const struct group *group, size_t size) { return size + all(group, size); }

static void reduce_and_scatter(struct call call)
{
    int block = floats(call.size);
    unsigned char *sums = call.in + call.size;
    MPI_Reduce(call.out, sums, block * call.group->ranks, MPI_FLOAT, MPI_SUM, 0, call.group->comm);
    MPI_Scatter(sums, block, MPI_FLOAT, call.in, block, MPI_FLOAT, 0, call.group->comm);
}

static void reduce_and_scatter_yielding(struct call call)
{
    int block = floats(call.size);
    unsigned char *sums = call.in + call.size;
    MPI_Request request;
    MPI_Ireduce(call.out, sums, block * call.group->ranks, MPI_FLOAT, MPI_SUM, 0, call.group->comm, &request);
    settle(&request);
    MPI_Iscatter(sums, block, MPI_FLOAT, call.in, block, MPI_FLOAT, 0, call.group->comm, &request);
    settle(&request);
}

static void reduce_and_scatter_fill(struct call call, int rank)
{
    reduce_scatter_fill(call, rank);
    spoil(call.in + call.size, all(call.group, call.size));
}

static const struct operation table[] = {
    {"barrier", false, barrier, barrier_yielding, none, none, barrier_fill, barrier_right},
    {"bcast", true, bcast, bcast_yielding, none, one, bcast_fill, bcast_right},
    {"allreduce", true, allreduce, allreduce_yielding, one, one, allreduce_fill, allreduce_right},
    {"allgather", true, allgather, allgather_yielding, one, all, allgather_fill, allgather_right},
    {"alltoall", true, alltoall, alltoall_yielding, all, all, alltoall_fill, alltoall_right},
    {"reduce_scatter", true, reduce_scatter, reduce_scatter_yielding, all, one, reduce_scatter_fill, reduce_scatter_right},
    {"reduce+scatter", true, reduce_and_scatter, reduce_and_scatter_yielding, all, block_and_sums, reduce_and_scatter_fill,
     reduce_scatter_right}};

static const struct operation *find_operation(const char *name)
{
    for (size_t o = 0; o < sizeof table / sizeof *table; o++)
        if (strcmp(table[o].name, name) == 0)
            return &table[o];
    fail("there is no operation '%s'", name);
}

/* ---- the self-check ---------------------------------------------------------------------------------------------------- */

static void check_contents(void)
{
    unsigned char vector[64], block[64];
    const struct group four = {.ranks = 4, .inside = true};
    check(sum_at(4, 2) == 1 + 2 + 3 + 4 + 4 * 2 && sum_at(8, 0) == 28 + 1, "four ranks that add 1 to 4, and 2 each for the place, have 18");
    float sum = 0;
    for (int rank = 0; rank < 23; rank++)
        sum += addend(rank, 29);
    check(sum == sum_at(23, 29), "the sum over 23 ranks is what they add one by one");
    for (size_t at = 0; at < 16; at++)
        ((float *)(void *)vector)[at] = sum_at(4, 16 + at);
    check(sums_right(vector, 64, 4, 16) && !sums_right(vector, 64, 4, 0) && !sums_right(vector, 64, 3, 16), "sums of other places or ranks are refused");
    fill_blocks(block, 32, 2, 3, true);
    check(block_right(block + 32, 32, 3, 1) && !block_right(block, 32, 3, 1) && !block_right(block, 32, 2, 0), "blocks of other ranks are refused");
    check(all(&four, 8) == 32 && block_and_sums(&four, 8) == 40, "four blocks of 8 bytes are 32 bytes");
}

static int self_check(void)
{
    check_contents();
    check(mean_us(0.002, 4) == 500, "4 repeats in 2 ms are 500 us each");
    check(unmeasured(1000, 8192) == 200 && unmeasured(100, 16384) == 10 && unmeasured(3, 4) == 1, "a fifth and a tenth are not timed, and at least one");
    const struct operation *sized = find_operation("bcast"), *plain = find_operation("barrier");
    smallest = 4;
    largest = 24;
    check(next_size(sized, true, 4) == 8 && next_size(sized, true, 16) == 24 && next_size(sized, true, 24) == 0, "4, 8, 16 and 24 bytes follow each other");
    check(next_size(sized, false, 0) == 24 && next_size(plain, true, 4) == 0, "a group has the largest size alone, and a barrier no size");
    operations = every;
    groups = true;
    iterations = large_iterations = 2;
    largest = 8;
    long before = measured, wanted = planned();
    int status = run();
    check(job.stopped || measured - before == wanted, "every point that was planned is measured");
    check(job.shortened || job.stopped || job.ranks > 1 || wanted == 13, "6 operations of 2 sizes and a barrier are 13 points");
    return status;
}
