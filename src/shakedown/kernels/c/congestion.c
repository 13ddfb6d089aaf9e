/* congestion: what a load on the network does to others, by the idea of GPCNeT.
 *
 * The nodes are split at random: four fifths of them load the network, the rest measure; first while the others keep still, then under
 * the load. Only ranks with the same number within their nodes talk to each other, so no message stays inside a node.
 *
 * What is measured: rings in random order, in which each rank exchanges with both neighbours (latency of 8 bytes, half the time of an
 * exchange; bandwidth of windows of messages, with a barrier inside of the time), and an allreduce of 8 bytes. What loads: an
 * all-to-all, an incast of messages and one of MPI_Put to one rank, and MPI_Get of all from one rank; each by its own nodes.
 *
 * `isolated` and `congested` are means: over a ring's repeats on each rank, then over rings and ranks. `_p99` is over single repeats
 * of all ranks: 99 of 100 are at least this good. An impact of 1 is none; 2 is twice the time, or half the bandwidth. MiB = 2^20 bytes,
 * as GPCNeT has it. */
#include "common.h"

#include <limits.h>
#include <math.h>

static double load_share = 0.8;
static long seed = 1, rings = 30, latency_repeats = 200, bandwidth_repeats = 8, allreduce_repeats = 200, window = 8;
static size_t size = 131072, load_size = 4096;
static const char every[] = "all-to-all,incast,put-incast,get";
static const char *congestors = every;

static const struct option options[] = {
    {"--congestors", "all-to-all|incast|put-incast|get", TEXT, &congestors, 0, "what loads the network, joined by commas"},
    {"--share", "X", NUMBER, &load_share, 0, "of the nodes that load the network; at least two measure"},
    {"--seed", "N", COUNT, &seed, 0, "of the split of the nodes and of the rings"},
    {"--rings", "N", COUNT, &rings, 1, "random rings for each measurement, and as many series of allreduces"},
    {"--latency-repeats", "N", COUNT, &latency_repeats, 1, "exchanges of 8 bytes in each ring"},
    {"--bandwidth-repeats", "N", COUNT, &bandwidth_repeats, 1, "windows in each ring"},
    {"--allreduce-repeats", "N", COUNT, &allreduce_repeats, 1, "allreduces in each series"},
    {"--size", "BYTES", SIZE, &size, 8, "of a message of the bandwidth"},
    {"--window", "N", COUNT, &window, 1, "messages under way to each neighbour"},
    {"--load-size", "BYTES", SIZE, &load_size, 8, "of a message of the load"},
    {NULL, NULL, FLAG, NULL, 0, NULL}};

static int run(void);
static int self_check(void);

const struct kernel kernel = {
    "congestion", "What a load on the network does to latency, bandwidth and allreduce of others: isolated and congested means and 99th percentiles.",
    options, run, self_check};

enum { FEWEST_NODES = 4, MOST_WINDOW = 10000, BINS = 48 };
enum { ALL_TO_ALL, INCAST, PUT_INCAST, GET, KINDS };
enum { LATENCY, BANDWIDTH, ALLREDUCE, TESTS };
enum { ISOLATED, CONGESTED, PHASES };
enum { TO_RIGHT = 1, TO_LEFT, LOAD };       /* tags */

static const char *const kind_names[KINDS] = {"all-to-all", "incast", "put-incast", "get"};
static const char *const test_names[TESTS] = {"latency", "bandwidth", "allreduce"};
static const char *const units[TESTS] = {"us", "MiB/s/rank", "us"};

/* Where a rank stands: its node among all, in an order that is drawn by lot, and its number within the node. */
struct place { int node, nodes, local; };

/* The kinds that load, and which nodes: the first `testers` of the drawn order measure. */
struct split { int testers, kinds, kind[KINDS]; };

/* The ranks with the same number within their nodes that do the same thing. */
struct slice { MPI_Comm comm; int rank, ranks; };

/* What one rank measured of one test in one phase. */
struct tally { double *seconds; long count; double values; long rings; };

static struct place find_place_in(bool each_rank_a_node, int *drawn);
static struct split split_nodes(int nodes);
static void measure(struct slice slice, MPI_Comm testers, int phase, struct tally *tallies);
static void load_network(int kind, struct slice slice, double *facts);
static void keep_still(void);
static void report(struct tally tallies[PHASES][TESTS], struct split split, const int *drawn, struct place place, const double *load);

static bool crowded, each_rank_a_node;
static double reported[TESTS];      /* impacts */

/* What a congestor did: messages, bytes, seconds, 1 for the rank itself. */
enum { MESSAGES, BYTES, SECONDS, RANKS, LOAD_FACTS };

static long repeats_of(int test)
{
    return test == LATENCY ? latency_repeats : test == BANDWIDTH ? bandwidth_repeats : allreduce_repeats;
}

static int run(void)
{
    int nodes = each_rank_a_node ? job.ranks : job.nodes;
    if (nodes < FEWEST_NODES)
        misuse("needs at least %d nodes, two that measure and two that load the network, and this job has %d; ask for more, or pretend them with "
               "--fake-nodes", FEWEST_NODES, nodes);
    if (load_share > 1)
        misuse("option '--share': %g is more than all nodes; the most is 1", load_share);
    if (size > INT_MAX || load_size > INT_MAX || window > MOST_WINDOW)
        misuse("%ld messages of %zu bytes are too many or too long; the most are %d of %d", window, size > load_size ? size : load_size, MOST_WINDOW, INT_MAX);
    double kept = (double)rings * (double)(latency_repeats + bandwidth_repeats + allreduce_repeats) * PHASES * sizeof(double);
    need_memory(4 * (double)size * (double)window + kept, "messages and times", "give a smaller --size or --window, or fewer --rings");
    tell_crowd(1, "they take turns, and no number here is that of a network");
    crowded = all_max(job.crowded) > 0;
    int *drawn = memory((size_t)nodes * sizeof *drawn);
    struct place place = find_place_in(each_rank_a_node, drawn);
    struct split split = split_nodes(nodes);
    int kind = place.node < split.testers ? -1 : split.kind[(place.node - split.testers) % split.kinds];
    struct slice slice;
    MPI_Comm testers;
    MPI_Comm_split(MPI_COMM_WORLD, place.local * (KINDS + 1) + kind + 1, place.node, &slice.comm);
    MPI_Comm_rank(slice.comm, &slice.rank);
    MPI_Comm_size(slice.comm, &slice.ranks);
    MPI_Comm_split(MPI_COMM_WORLD, kind < 0 ? 0 : MPI_UNDEFINED, job.rank, &testers);
    struct tally tallies[PHASES][TESTS] = {0};
    double load[KINDS * LOAD_FACTS] = {0};
    for (int phase = 0; phase < PHASES && !budget_over(); phase++)
        if (kind < 0) {
            for (int t = 0; t < TESTS; t++)
                tallies[phase][t].seconds = memory((size_t)(rings * repeats_of(t)) * sizeof(double));
            sync_ranks();
            measure(slice, testers, phase, tallies[phase]);
            keep_still();
        } else if (phase == ISOLATED) {
            sync_ranks();
            keep_still();
        } else
            load_network(kind, slice, load + kind * LOAD_FACTS);
    job.shortened = all_max(job.shortened) > 0;
    bool measured = tallies[CONGESTED][ALLREDUCE].rings > 0 && tallies[CONGESTED][LATENCY].rings > 0 && tallies[CONGESTED][BANDWIDTH].rings > 0;
    measured = first_rank_with(measured) < job.ranks;
    if (measured)
        report(tallies, split, drawn, place, load);
    for (int phase = 0; phase < PHASES; phase++)
        for (int t = 0; t < TESTS; t++)
            free(tallies[phase][t].seconds);
    if (kind < 0)
        MPI_Comm_free(&testers);
    MPI_Comm_free(&slice.comm);
    free(drawn);
    if (!measured)
        return failed("the budget of %g s ended before every test was measured under the load; give more --budget, or fewer --rings", job.budget);
    return 0;
}

/* ---- the lot ----------------------------------------------------------------------------------------------------------- */

static uint64_t next_number(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

/* 0 .. count-1 in an order that depends on the seeds alone. */
static void draw_order(int *order, int count, uint64_t first, uint64_t second)
{
    uint64_t state = first * 0x2545f4914f6cdd1dU + second;
    for (int i = 0; i < count; i++)
        order[i] = i;
    for (int i = count - 1; i > 0; i--) {
        int j = (int)(next_number(&state) % (uint64_t)(i + 1)), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
}

/* `drawn`: of each place in the drawn order, the node. */
static struct place find_place_in(bool ranks_for_nodes, int *drawn)
{
    struct place place = {ranks_for_nodes ? job.rank : job.node, ranks_for_nodes ? job.ranks : job.nodes, 0};
    if (!ranks_for_nodes)
        MPI_Comm_rank(job.node_comm, &place.local);
    draw_order(drawn, place.nodes, (uint64_t)seed, 1);
    for (int i = 0; i < place.nodes; i++)
        if (drawn[i] == place.node) {
            place.node = i;
            break;
        }
    return place;
}

static int count_testers(int nodes)
{
    int loading = (int)(load_share * nodes + 1e-9);
    loading = loading > nodes - 2 ? nodes - 2 : loading;
    return nodes - (loading < 2 ? 2 : loading);
}

/* Each kind needs two nodes: where nodes are few, the first kinds that were asked for have them. */
static struct split split_nodes(int nodes)
{
    struct split split = {.testers = count_testers(nodes)};
    for (int k = 0; k < KINDS; k++) {
        if (!chosen(congestors, kind_names[k]))
            continue;
        if (2 * (split.kinds + 1) <= nodes - split.testers)
            split.kind[split.kinds++] = k;
        else
            warn("%s is left out: of %d nodes %d load the network, and each kind needs 2", kind_names[k], nodes, nodes - split.testers);
    }
    return split;
}

/* ---- what is measured -------------------------------------------------------------------------------------------------- */

static void synchronise(MPI_Comm comm)
{
    MPI_Request request;
    MPI_Ibarrier(comm, &request);
    settle(&request);
}

/* The value of a test for so many seconds: us, or MiB a second of one rank, which sends a window to each of two neighbours. */
static double value_of(int test, double seconds)
{
    if (test == BANDWIDTH)
        return 2 * (double)window * (double)size / seconds / 1048576;
    return test == LATENCY ? 1e6 * seconds / 2 : 1e6 * seconds;
}

struct neighbours { int left, right; };

static struct neighbours ring_of(struct slice slice, long ring, int *order)
{
    draw_order(order, slice.ranks, (uint64_t)seed, (uint64_t)ring + 2);
    int at = 0;
    while (order[at] != slice.rank)
        at++;
    return (struct neighbours){order[(at + slice.ranks - 1) % slice.ranks], order[(at + 1) % slice.ranks]};
}

/* What a rank sends to its right, and the negative of it to its left. */
static double word(int rank, long ring, long i)
{
    return 1 + rank + 1e6 * (double)(ring + 1) + 1e12 * (double)(i + 1);
}

static unsigned char content(int rank, int direction, long slot, size_t at)
{
    return (unsigned char)(at % 251 + 31U * (unsigned)rank + 101U * (unsigned)direction + 17U * (unsigned long)slot);
}

struct buffers { unsigned char *out, *in; MPI_Request *requests; };

/* Windows to the right, and behind them those to the left. */
static struct buffers make_buffers(int rank)
{
    size_t block = size * (size_t)window;
    struct buffers buffers = {memory(2 * block), memory(2 * block), memory(4 * (size_t)window * sizeof(MPI_Request))};
    for (int direction = 0; direction < 2; direction++)
        for (long w = 0; w < window; w++)
            for (size_t at = 0; at < size; at++)
                buffers.out[(size_t)direction * block + (size_t)w * size + at] = content(rank, direction, w, at);
    return buffers;
}

static void verify_window(struct buffers buffers, struct neighbours near)
{
    size_t block = size * (size_t)window;
    for (int direction = 0; direction < 2; direction++)
        for (long w = 0; w < window; w++)
            for (size_t at = 0; at < size; at++)
                if (buffers.in[(size_t)direction * block + (size_t)w * size + at] != content(direction ? near.right : near.left, direction, w, at))
                    fail("message %ld of a window of the bandwidth arrived with wrong content", w);
}

/* One exchange of 8 bytes with both neighbours; seconds. */
static double exchange_words(struct slice slice, struct neighbours near, long ring, long i)
{
    MPI_Request requests[4];
    double out[2] = {word(slice.rank, ring, i), -word(slice.rank, ring, i)}, in[2] = {0, 0};
    double began = now();
    MPI_Irecv(&in[0], 1, MPI_DOUBLE, near.left, TO_RIGHT, slice.comm, &requests[0]);
    MPI_Irecv(&in[1], 1, MPI_DOUBLE, near.right, TO_LEFT, slice.comm, &requests[1]);
    MPI_Isend(&out[0], 1, MPI_DOUBLE, near.right, TO_RIGHT, slice.comm, &requests[2]);
    MPI_Isend(&out[1], 1, MPI_DOUBLE, near.left, TO_LEFT, slice.comm, &requests[3]);
    settle_all(requests, 4, crowded);
    double seconds = now() - began;
    in[0] += job.fault && slice.rank == 0;
    if (in[0] != word(near.left, ring, i) || in[1] != -word(near.right, ring, i))
        fail("a message of the latency from a neighbour arrived with wrong content");
    return seconds;
}

/* A window to and from each neighbour, and a barrier; seconds. */
static double exchange_windows(struct slice slice, struct neighbours near, struct buffers buffers)
{
    int count = (int)window;
    size_t block = size * (size_t)window;
    double began = now();
    for (int w = 0; w < count; w++) {
        MPI_Irecv(buffers.in + (size_t)w * size, (int)size, MPI_BYTE, near.left, TO_RIGHT, slice.comm, &buffers.requests[w]);
        MPI_Irecv(buffers.in + block + (size_t)w * size, (int)size, MPI_BYTE, near.right, TO_LEFT, slice.comm, &buffers.requests[count + w]);
    }
    for (int w = 0; w < count; w++) {
        MPI_Isend(buffers.out + (size_t)w * size, (int)size, MPI_BYTE, near.right, TO_RIGHT, slice.comm, &buffers.requests[2 * count + w]);
        MPI_Isend(buffers.out + block + (size_t)w * size, (int)size, MPI_BYTE, near.left, TO_LEFT, slice.comm, &buffers.requests[3 * count + w]);
    }
    settle_all(buffers.requests, 4 * count, crowded);
    if (crowded)
        synchronise(slice.comm);
    else
        MPI_Barrier(slice.comm);
    return now() - began;
}

static double reduce_words(struct slice slice, long ring, long i)
{
    double turn = (double)((ring + i) % 1000), own = slice.rank + 1 + turn, sum = 0;     /* whole numbers: their sum is exact */
    double began = now();
    if (crowded) {
        MPI_Request request;
        MPI_Iallreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, slice.comm, &request);
        settle(&request);
    } else
        MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, slice.comm);
    double seconds = now() - began;
    if (sum != slice.ranks * ((slice.ranks + 1) / 2.0 + turn))
        fail("an allreduce among %d ranks gave a wrong sum", slice.ranks);
    return seconds;
}

/* One ring, or one series of allreduces: its repeats into the tally, and what is not timed before them. */
static void measure_ring(int test, struct slice slice, long ring, struct buffers buffers, int *order, struct tally *tally)
{
    struct neighbours near = ring_of(slice, ring, order);
    long repeats = repeats_of(test), before = test == LATENCY && !crowded ? repeats : 1;
    double whole = 0;
    if (test == BANDWIDTH)
        memset(buffers.in, 0xee, 2 * size * (size_t)window);
    for (long i = -before; i < repeats; i++) {
        double seconds = test == LATENCY   ? exchange_words(slice, near, ring, i)
                         : test == BANDWIDTH ? exchange_windows(slice, near, buffers)
                                             : reduce_words(slice, ring, i);
        if (i < 0)
            continue;
        tally->seconds[tally->count++] = seconds;
        whole += seconds;
    }
    if (test == BANDWIDTH)
        verify_window(buffers, near);
    tally->values += value_of(test, whole / (double)repeats);
    tally->rings++;
}

/* Whether the time is over on any rank that measures. */
static bool any_over(double until, MPI_Comm testers)
{
    double over = now() > until || budget_left() <= 0, any = 0;
    MPI_Request request;
    MPI_Iallreduce(&over, &any, 1, MPI_DOUBLE, MPI_MAX, testers, &request);
    settle(&request);
    return any > 0;
}

/* All tests, one after another; each has an equal share of the time that is left, and so has the report. */
static void measure(struct slice slice, MPI_Comm testers, int phase, struct tally *tallies)
{
    struct buffers buffers = make_buffers(slice.rank);
    int *order = memory((size_t)slice.ranks * sizeof *order);
    for (int t = 0; t < TESTS; t++) {
        double until = now() + budget_left() / (TESTS * (PHASES - phase) - t + 1);
        long ring = 0;
        for (; ring < rings && (ring == 0 || !any_over(until, testers)); ring++)
            if (slice.ranks > 1)
                measure_ring(t, slice, ring, buffers, order, &tallies[t]);
        job.shortened |= ring < rings;
    }
    free(order);
    free(buffers.out);
    free(buffers.in);
    free(buffers.requests);
}

/* ---- the load ---------------------------------------------------------------------------------------------------------- */

/* Until every rank that measures is done, without a message. */
static void keep_still(void)
{
    sync_ranks();
}

struct load { struct slice slice; unsigned char *out, *in, *exposed; MPI_Win window; MPI_Request *requests; };

static unsigned char load_content(int sender, size_t at)
{
    return (unsigned char)(at % 253 + 37U * (unsigned)sender);
}

static bool block_is_of(const unsigned char *block, int sender)
{
    bool right = true;
    for (size_t at = 0; at < load_size; at++)
        right &= block[at] == load_content(sender, at);
    return right;
}

/* Messages that this rank sent or fetched in one repeat of the load. */
static long all_to_all_once(struct load load)
{
    struct slice slice = load.slice;
    for (int step = 1; step < slice.ranks; step++) {
        int to = (slice.rank + step) % slice.ranks, from = (slice.rank + slice.ranks - step) % slice.ranks;
        MPI_Irecv(load.in + (size_t)from * load_size, (int)load_size, MPI_BYTE, from, LOAD, slice.comm, &load.requests[0]);
        MPI_Isend(load.out, (int)load_size, MPI_BYTE, to, LOAD, slice.comm, &load.requests[1]);
        settle_all(load.requests, 2, crowded);
    }
    return slice.ranks - 1;
}

static long incast_once(struct load load)
{
    struct slice slice = load.slice;
    if (slice.rank > 0) {
        MPI_Isend(load.out, (int)load_size, MPI_BYTE, 0, LOAD, slice.comm, &load.requests[0]);
        settle_all(load.requests, 1, crowded);
        return 1;
    }
    for (int from = 1; from < slice.ranks; from++)
        MPI_Irecv(load.in + (size_t)from * load_size, (int)load_size, MPI_BYTE, from, LOAD, slice.comm, &load.requests[from - 1]);
    settle_all(load.requests, slice.ranks - 1, crowded);
    return 0;
}

static long put_once(struct load load)
{
    if (load.slice.rank == 0)
        return 0;
    MPI_Put(load.out, (int)load_size, MPI_BYTE, 0, (MPI_Aint)load.slice.rank * (MPI_Aint)load_size, (int)load_size, MPI_BYTE, load.window);
    MPI_Win_flush(0, load.window);
    return 1;
}

static long get_once(struct load load)
{
    if (load.slice.rank == 0)
        return 0;
    MPI_Get(load.in, (int)load_size, MPI_BYTE, 0, 0, (int)load_size, MPI_BYTE, load.window);
    MPI_Win_flush(0, load.window);
    return 1;
}

static long (*const once[KINDS])(struct load) = {all_to_all_once, incast_once, put_once, get_once};

/* What arrived in the last pass is what was sent, and is spoiled, so that the next pass has to bring it again. */
static void verify_load(int kind, struct load load)
{
    struct slice slice = load.slice;
    bool receives = kind == ALL_TO_ALL || (slice.rank == 0) == (kind != GET);
    if (!receives)
        return;
    unsigned char *blocks = kind == PUT_INCAST ? load.exposed : load.in;
    for (int sender = 0; sender < slice.ranks; sender++) {
        if (sender == (kind == GET ? -1 : slice.rank) || (kind == GET && sender > 0))
            continue;
        unsigned char *block = blocks + (size_t)sender * load_size;
        if (!block_is_of(block, sender))
            fail("%s brought wrong content from rank %d of its load", kind_names[kind], sender);
        memset(block, 0xee, load_size);
    }
}

static struct load begin_load(int kind, struct slice slice)
{
    size_t blocks = (size_t)slice.ranks * load_size;
    struct load load = {slice, memory(load_size), memory(blocks), NULL, MPI_WIN_NULL, memory((size_t)(slice.ranks + 1) * sizeof(MPI_Request))};
    for (size_t at = 0; at < load_size; at++)
        load.out[at] = load_content(slice.rank, at);
    memset(load.in, 0xee, blocks);
    if (kind != PUT_INCAST && kind != GET)
        return load;
    MPI_Win_allocate(slice.rank == 0 ? (MPI_Aint)blocks : 0, 1, MPI_INFO_NULL, slice.comm, &load.exposed, &load.window);
    for (size_t at = 0; slice.rank == 0 && at < blocks; at++)
        load.exposed[at] = kind == GET && at < load_size ? load_content(0, at) : 0xee;
    synchronise(slice.comm);
    MPI_Win_lock_all(0, load.window);
    return load;
}

static void end_load(struct load load)
{
    if (load.window != MPI_WIN_NULL) {
        MPI_Win_unlock_all(load.window);
        MPI_Win_free(&load.window);
    }
    free(load.out);
    free(load.in);
    free(load.requests);
}

/* Messages of this rank in a pass; at its end all of the slice have done theirs, and what arrived is verified. */
static long pass_of(int kind, struct load load)
{
    enum { MESSAGES_IN_A_PASS = 8192, FEWEST = 8, MOST = 512, WHERE_CROWDED = 2 };
    long messages = 0, repeats = MESSAGES_IN_A_PASS / load.slice.ranks;
    repeats = crowded ? WHERE_CROWDED : repeats < FEWEST ? FEWEST : repeats > MOST ? MOST : repeats;
    for (long i = 0; i < repeats; i++)
        messages += once[kind](load);
    synchronise(load.slice.comm);
    if (load.window != MPI_WIN_NULL)
        MPI_Win_sync(load.window);
    verify_load(kind, load);
    if (load.window != MPI_WIN_NULL)
        MPI_Win_sync(load.window);
    return messages;
}

/* Loads the network from before the first measurement until the last. The first rank of a slice sees that all who measure are done, and
 * tells the others, so that they end after the same pass. */
static void load_network(int kind, struct slice slice, double *facts)
{
    struct load load = begin_load(kind, slice);
    MPI_Request done, told;
    int stop = 0;
    if (slice.ranks > 1)
        pass_of(kind, load);
    sync_ranks();
    double began = now();
    MPI_Ibarrier(MPI_COMM_WORLD, &done);
    while (!stop && slice.ranks > 1) {
        facts[MESSAGES] += (double)pass_of(kind, load);
        if (slice.rank == 0)
            MPI_Test(&done, &stop, MPI_STATUS_IGNORE);
        MPI_Ibcast(&stop, 1, MPI_INT, 0, slice.comm, &told);
        settle(&told);
    }
    facts[SECONDS] = now() - began;
    settle(&done);
    facts[BYTES] = facts[MESSAGES] * (double)load_size;
    facts[RANKS] = 1;
    end_load(load);
}

/* ---- numbers over all ranks -------------------------------------------------------------------------------------------- */

/* How many of the sorted numbers are at most `most`. */
static long count_up_to(const double *sorted, long count, double most)
{
    long low = 0, high = count;
    while (low < high) {
        long middle = low + (high - low) / 2;
        if (sorted[middle] <= most)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The smallest number of all ranks that a share of all numbers is not above, without gathering them: the range that holds it is
 * halved until a single number is left. Collective; `sorted` may be empty on some ranks. */
static double percentile_of_all(const double *sorted, long count, double share)
{
    double all = all_sum((double)count), wanted = ceil(share * all - 1e-9);
    double ends[2] = {count ? -sorted[0] : -INFINITY, count ? sorted[count - 1] : -INFINITY};
    all_largest(ends, 2);
    double low = -ends[0], high = ends[1];
    if (all < 1)
        return NAN;
    if (all_sum((double)count_up_to(sorted, count, low)) >= wanted)
        return low;
    while (low < high) {        /* at most `low` are too few, at most `high` enough */
        double middle = low + (high - low) / 2;
        long here = count_up_to(sorted, count, middle);
        double enough = all_sum((double)here);
        double inner[2] = {here < count ? -sorted[here] : -INFINITY, here ? sorted[here - 1] : -INFINITY};
        all_largest(inner, 2);
        if (enough >= wanted)
            high = inner[1];                /* the largest number that is not above the middle */
        else if (-inner[0] >= high)
            return high;                    /* none lies between */
        else
            low = middle;
        if (enough >= wanted && all_sum((double)count_up_to(sorted, count, nextafter(high, -INFINITY))) < wanted)
            return high;
    }
    return high;
}

static double impact_of(int test, double isolated, double congested)
{
    return test == BANDWIDTH ? isolated / congested : congested / isolated;
}

/* ---- the report -------------------------------------------------------------------------------------------------------- */

/* Counts of all ranks between edges that grow by the same factor. */
static void write_histogram(int test, const char *phase, struct tally tally, double low, double high)
{
    double counts[BINS] = {0}, all[BINS], grow = pow(high / low, 1.0 / BINS);
    MPI_Request request;
    for (long i = 0; i < tally.count; i++) {
        int bin = (int)(log(value_of(test, tally.seconds[i]) / low) / log(grow));
        counts[bin < 0 ? 0 : bin >= BINS ? BINS - 1 : bin]++;
    }
    MPI_Iallreduce(counts, all, BINS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    settle(&request);
    open_record("histogram");
    put_text("name", test_names[test]);
    put_text("unit", units[test]);
    put_text("host", phase);
    open_list("edges");
    for (int b = 0; b <= BINS; b++)
        put_number(NULL, low * pow(grow, b));
    close_list();
    open_list("counts");
    for (int b = 0; b < BINS; b++)
        put_number(NULL, all[b]);
    close_list();
    close_record();
}

static void write_histograms(int test, struct tally isolated, struct tally congested)
{
    double ends[2] = {-INFINITY, -INFINITY};
    const struct tally both[PHASES] = {isolated, congested};
    for (int phase = 0; phase < PHASES; phase++)
        for (long i = 0; i < both[phase].count; i++) {
            double value = value_of(test, both[phase].seconds[i]);
            ends[0] = fmax(ends[0], -value);
            ends[1] = fmax(ends[1], value);
        }
    all_largest(ends, 2);
    double low = -ends[0] / 1.0001, high = ends[1] * 1.0001;
    write_histogram(test, "isolated", isolated, low, high);
    write_histogram(test, "congested", congested, low, high);
}

static void write_test(int test, struct tally isolated, struct tally congested)
{
    struct tally both[PHASES] = {isolated, congested};
    double mean[PHASES], p99[PHASES];
    for (int phase = 0; phase < PHASES; phase++) {
        sort_numbers(both[phase].seconds, both[phase].count);
        mean[phase] = all_sum(both[phase].values) / all_sum((double)both[phase].rings);
        p99[phase] = value_of(test, percentile_of_all(both[phase].seconds, both[phase].count, 0.99));
    }
    double samples = all_sum((double)congested.count);
    reported[test] = impact_of(test, mean[ISOLATED], mean[CONGESTED]);
    open_record("congestion");
    put_text("test", test_names[test]);
    put_text("unit", units[test]);
    put_number("isolated", mean[ISOLATED]);
    put_number("congested", mean[CONGESTED]);
    put_number("impact", reported[test]);
    put_number("isolated_p99", p99[ISOLATED]);
    put_number("congested_p99", p99[CONGESTED]);
    put_number("impact_p99", impact_of(test, p99[ISOLATED], p99[CONGESTED]));
    put_number("samples", samples);
    close_record();
    if (job.checking) {
        check(samples > 0 && (job.shortened || fmod(samples, (double)(rings * repeats_of(test))) == 0), "every repeat of every ring is counted");
        check(reported[test] * (test == BANDWIDTH ? mean[CONGESTED] : mean[ISOLATED]) > 0, "every mean is above zero");
    }
}

static void write_load(struct split split, double *load)
{
    double all[KINDS * LOAD_FACTS], longest[KINDS];
    MPI_Request request;
    for (int k = 0; k < KINDS; k++)
        longest[k] = load[k * LOAD_FACTS + SECONDS];
    MPI_Iallreduce(load, all, KINDS * LOAD_FACTS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    settle(&request);
    all_largest(longest, KINDS);
    for (int i = 0; i < split.kinds; i++) {
        int k = split.kind[i];
        double *facts = all + k * LOAD_FACTS;
        open_record("congestor");
        put_text("kind", kind_names[k]);
        put_number("ranks", facts[RANKS]);
        put_number("messages", facts[MESSAGES]);
        put_number("mb_s", facts[BYTES] / longest[k] / 1e6);
        close_record();
        if (job.checking)
            check(facts[MESSAGES] > 0 && facts[BYTES] == facts[MESSAGES] * (double)load_size, "each kind of load moves messages while others measure");
    }
}

static void write_roles(struct split split, const int *drawn, int nodes)
{
    for (int i = 0; i < nodes; i++) {
        open_record("role");
        if (job.rank == 0 && !each_rank_a_node)
            put_text("host", job.node_names + (size_t)drawn[i] * NAME_BYTES);
        put_text("role", i < split.testers ? "measures" : kind_names[split.kind[(i - split.testers) % split.kinds]]);
        close_record();
    }
}

static void report(struct tally tallies[PHASES][TESTS], struct split split, const int *drawn, struct place place, const double *load)
{
    double own[KINDS * LOAD_FACTS];
    memcpy(own, load, sizeof own);
    write_roles(split, drawn, place.nodes);
    write_load(split, own);
    for (int t = 0; t < TESTS; t++) {
        write_histograms(t, tallies[ISOLATED][t], tallies[CONGESTED][t]);
        write_test(t, tallies[ISOLATED][t], tallies[CONGESTED][t]);
    }
    open_record("result");
    put_count("nodes_that_measure", split.testers);
    put_count("nodes_that_load", place.nodes - split.testers);
    open_object("impact");
    for (int t = 0; t < TESTS; t++)
        put_number(test_names[t], reported[t]);
    close_object();
    put_flag("complete", all_measured());
    close_record();
}

/* ---- the self-check ---------------------------------------------------------------------------------------------------- */

static void check_lot(void)
{
    int order[50], seen[50] = {0}, moved = 0;
    draw_order(order, 50, 1, 2);
    for (int i = 0; i < 50; i++) {
        seen[order[i]]++;
        moved += order[i] != i;
    }
    for (int i = 0; i < 50; i++)
        check(seen[i] == 1, "each node is drawn once");
    check(moved > 30, "the order of the nodes is drawn by lot");
    load_share = 0.8;
    check(count_testers(1900) == 380 && count_testers(4) == 2 && count_testers(10) == 2, "of 1900 nodes 380 measure, and at least 2");
    congestors = every;
    struct split ten = split_nodes(10);
    check(ten.kinds == 4 && ten.kind[3] == GET && ten.testers == 2, "of ten nodes two measure, and two are for each of four kinds of load");
    int ring[5];
    const struct slice slice = {.rank = 3, .ranks = 5};
    struct neighbours near = ring_of(slice, 7, ring);
    check(near.left != near.right && near.left != 3 && near.right != 3, "in a ring of five a rank has two neighbours");
}

static void check_percentiles(void)
{
    double mine[100];
    for (int i = 0; i < 100; i++)
        mine[i] = 1 + i * job.ranks + job.rank;     /* 1 .. 100 ranks, dealt out */
    int all = 100 * job.ranks;
    check(percentile_of_all(mine, 100, 0.99) == 99 * job.ranks, "of 1 to 100 on each of the ranks 99 of 100 are at most 99 times the ranks");
    check(percentile_of_all(mine, 100, 0.5) == all / 2 && percentile_of_all(mine, 100, 1) == all, "half of them, and all of them");
    check(percentile_of_all(mine, 100, 1e-6) == 1 && isnan(percentile_of_all(mine, 0, 0.5)), "the least, and nothing of nothing");
    const double same[] = {2, 2, 2, 2};
    check(percentile_of_all(same, 4, 0.99) == 2, "of numbers that are the same each is the percentile");
}

static int self_check(void)
{
    check_lot();
    check_percentiles();
    size_t kept_size = size;
    size = 131072;
    window = 8;
    check(value_of(LATENCY, 4e-6) == 2 && value_of(ALLREDUCE, 4e-6) == 4, "an exchange with two neighbours in 4 us is 2 us for each, an allreduce 4 us");
    check(value_of(BANDWIDTH, 0.002) == 1000, "8 messages of 128 KiB to each of two neighbours in 2 ms are 1000 MiB/s");
    check(impact_of(LATENCY, 2, 3) == 1.5 && impact_of(BANDWIDTH, 3, 2) == 1.5, "half as much time again, and two thirds of a bandwidth, are an impact of 1.5");
    size = kept_size;
    if (job.ranks < FEWEST_NODES)
        return 0;
    each_rank_a_node = true;
    size = 1024;
    window = 2;
    rings = 2;
    latency_repeats = 3;
    bandwidth_repeats = 2;
    allreduce_repeats = 4;
    for (int k = 0; k < KINDS; k++) {
        if (job.ranks < 4 * KINDS)
            congestors = kind_names[k];     /* one after another where ranks are few */
        int status = run();
        if (status || job.ranks >= 4 * KINDS)
            return status;
    }
    return 0;
}
