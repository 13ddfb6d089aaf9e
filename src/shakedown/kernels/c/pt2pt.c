/* pt2pt: messages between two ranks: latency and bandwidth over size, many pairs at once, and all of it against distance.
 *
 * As the OSU benchmarks do it. latency: half the time of a message there and back between the first and the last rank. bandwidth: a
 * window of messages from the first to the last rank, and a short answer. bidirectional: a window each way at once, and the bytes of both.
 * message-rate: rank i of the first half of the ranks sends windows to rank i of the second half, all pairs at once; what all sent over
 * the time from the first start to the last end. 1 MB = 10^6 bytes. Each rank is pinned to a core of its own.
 *
 * cores and nodes: latency of 8 bytes and bandwidth of `--distance-size` between the first rank and one other at a time: each rank of its
 * node, by how far the numbers of their cores are apart; and the first rank of each other node, by how far the numbers of the nodes
 * are apart, in the order in which the launcher gave them. */
#include "common.h"

#include <limits.h>
#include <math.h>

static size_t smallest = 1, largest = 4194304, distance_size = 1048576;
static long window = 64, round_trips = 1000, windows = 100;
static const char every[] = "latency,bandwidth,bidirectional,message-rate,cores,nodes";
static const char *patterns = every;

static const struct option options[] = {
    {"--patterns", "latency|bandwidth|bidirectional|message-rate|cores|nodes", TEXT, &patterns, 0, "what is measured, joined by commas"},
    {"--smallest", "BYTES", SIZE, &smallest, 1, "the first size; the next are 2, 4, 8 ... times as large"},
    {"--largest", "BYTES", SIZE, &largest, 1, "the last size"},
    {"--distance-size", "BYTES", SIZE, &distance_size, 1, "of the messages whose bandwidth is measured against distance"},
    {"--window", "N", COUNT, &window, 1, "messages under way at once"},
    {"--round-trips", "N", COUNT, &round_trips, 1, "timed messages there and back up to 8192 bytes; a tenth as many above, and as many before that are not timed"},
    {"--windows", "N", COUNT, &windows, 1, "timed windows up to 8192 bytes; a tenth as many above, and as many before that are not timed"},
    {NULL, NULL, FLAG, NULL, 0, NULL}};

static int run(void);
static int self_check(void);

const struct kernel kernel = {
    "pt2pt", "Messages between two ranks: latency, bandwidth, both ways, rate of many pairs; over size, and against the distance of cores and nodes.",
    options, run, self_check};

enum { LARGE = 8192, MOST_WINDOW = 100000, MESSAGE = 1, ANSWER, READY, SHORT_MESSAGE = 8 };

/* Two ranks; this rank may be neither of them. `first` sends where only one does. */
struct pair { int first, second; bool inside, leads; int other; };

struct pattern {
    const char *name;
    bool windowed;
    double (*act)(struct pair pair, size_t size, long repeats);     /* seconds of this rank; for message-rate those of all ranks */
};

static struct { unsigned char *out, *in; MPI_Request *requests; } buffers;
static bool crowded;
static long points;
static int core;

static void make_buffers(size_t bytes);
static void check_times(void);
static void check_use(void);
static long planned(void);
static void measure_curve(const char *name, long *left);
static void measure_distances(bool nodes, long *left);
static void write_result(void);

static int run(void)
{
    static const char *const curves[] = {"latency", "bandwidth", "bidirectional", "message-rate"};
    check_use();
    core = take_one_core();
    tell_crowd(1, "they take turns, and no number here is that of a link");
    crowded = all_max(job.crowded) > 0;
    make_buffers(largest > distance_size ? largest : distance_size);
    if (job.checking)
        check_times();
    long left = planned();
    for (int c = 0; c < 4; c++)
        if (chosen(patterns, curves[c]))
            measure_curve(curves[c], &left);
    if (chosen(patterns, "cores"))
        measure_distances(false, &left);
    if (chosen(patterns, "nodes"))
        measure_distances(true, &left);
    free(buffers.out);
    free(buffers.in);
    free(buffers.requests);
    if (!points)
        return failed("the budget of %g s ended before anything was timed, or there is no such distance; give more --budget, or other --patterns",
                      job.budget);
    write_result();
    return 0;
}

static void check_use(void)
{
    if (job.ranks < 2)
        misuse("needs at least 2 ranks, this job has 1; start it with mpiexec -n 2");
    if (smallest > largest)
        misuse("the smallest size of %zu bytes is above the largest of %zu bytes", smallest, largest);
    if (largest > INT_MAX || distance_size > INT_MAX || window > MOST_WINDOW)
        misuse("%ld messages of %zu bytes are too many or too long; the most are %d of %d", window, largest > distance_size ? largest : distance_size,
               MOST_WINDOW, INT_MAX);
    need_memory(2 * (double)(largest > distance_size ? largest : distance_size), "the buffers", "give a smaller --largest and --distance-size");
}

/* ---- messages ---------------------------------------------------------------------------------------------------------- */

static unsigned char content(int sender, size_t at)
{
    return (unsigned char)(at % 251 + 31U * (unsigned)sender + 7);
}

static void make_buffers(size_t bytes)
{
    buffers.out = memory(bytes);
    buffers.in = memory(bytes);
    buffers.requests = memory(2 * (size_t)window * sizeof *buffers.requests);
    for (size_t at = 0; at < bytes; at++)
        buffers.out[at] = content(job.rank, at);
    memset(buffers.in, 0, bytes);
}

static void send(int to, const void *bytes, size_t size, int tag)
{
    MPI_Request request;
    if (!crowded) {
        MPI_Send(bytes, (int)size, MPI_BYTE, to, tag, MPI_COMM_WORLD);
        return;
    }
    MPI_Isend(bytes, (int)size, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request);
    settle(&request);
}

static void receive(int from, void *bytes, size_t size, int tag)
{
    MPI_Request request;
    if (!crowded) {
        MPI_Recv(bytes, (int)size, MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    MPI_Irecv(bytes, (int)size, MPI_BYTE, from, tag, MPI_COMM_WORLD, &request);
    settle(&request);
}

/* What the other rank sent last is in the buffer, whole. */
static void verify(struct pair pair, size_t size)
{
    if (job.fault && job.rank == job.ranks - 1)
        buffers.in[size - 1] ^= 1;
    for (size_t at = 0; at < size; at++)
        if (buffers.in[at] != content(pair.other, at))
            fail("a message of %zu bytes from rank %d arrived with wrong content", size, pair.other);
}

static void spoil(size_t size)
{
    memset(buffers.in, 0, size);
    for (size_t at = 0; at < size; at += 512)
        buffers.in[at] = 0xee;
}

/* Both are here: the time of the first repeat holds no waiting for a late rank. */
static void meet(struct pair pair)
{
    char word = 0;
    if (pair.leads) {
        receive(pair.other, &word, 1, READY);
        send(pair.other, &word, 1, READY);
    } else {
        send(pair.other, &word, 1, READY);
        receive(pair.other, &word, 1, READY);
    }
}

/* ---- the patterns ------------------------------------------------------------------------------------------------------ */

static double there_and_back(struct pair pair, size_t size, long repeats)
{
    meet(pair);
    double began = now();
    for (long i = 0; i < repeats; i++)
        if (pair.leads) {
            send(pair.other, buffers.out, size, MESSAGE);
            receive(pair.other, buffers.in, size, MESSAGE);
        } else {
            receive(pair.other, buffers.in, size, MESSAGE);
            send(pair.other, buffers.out, size, MESSAGE);
        }
    return now() - began;
}

/* All messages of a window are the same and go from one buffer into one, as in the OSU benchmarks: it is the link that is measured,
 * not the memory. */
static double one_way(struct pair pair, size_t size, long repeats)
{
    int count = (int)window;
    char answer = 0;
    meet(pair);
    double began = now();
    for (long i = 0; i < repeats; i++)
        if (pair.leads) {
            for (int w = 0; w < count; w++)
                MPI_Isend(buffers.out, (int)size, MPI_BYTE, pair.other, MESSAGE, MPI_COMM_WORLD, &buffers.requests[w]);
            settle_all(buffers.requests, count, crowded);
            receive(pair.other, &answer, 1, ANSWER);
        } else {
            for (int w = 0; w < count; w++)
                MPI_Irecv(buffers.in, (int)size, MPI_BYTE, pair.other, MESSAGE, MPI_COMM_WORLD, &buffers.requests[w]);
            settle_all(buffers.requests, count, crowded);
            send(pair.other, &answer, 1, ANSWER);
        }
    return now() - began;
}

static double both_ways(struct pair pair, size_t size, long repeats)
{
    int count = (int)window;
    char answer = 0;
    meet(pair);
    double began = now();
    for (long i = 0; i < repeats; i++) {
        for (int w = 0; w < count; w++)
            MPI_Irecv(buffers.in, (int)size, MPI_BYTE, pair.other, MESSAGE, MPI_COMM_WORLD, &buffers.requests[w]);
        for (int w = 0; w < count; w++)
            MPI_Isend(buffers.out, (int)size, MPI_BYTE, pair.other, MESSAGE, MPI_COMM_WORLD, &buffers.requests[count + w]);
        settle_all(buffers.requests, 2 * count, crowded);
        if (pair.leads)
            receive(pair.other, &answer, 1, ANSWER);
        else
            send(pair.other, &answer, 1, ANSWER);
    }
    return now() - began;
}

static const struct pattern table[] = {
    {"latency", false, there_and_back}, {"bandwidth", true, one_way}, {"bidirectional", true, both_ways}, {"message-rate", true, one_way}};

static const struct pattern *find_pattern(const char *name)
{
    for (size_t p = 0; p < sizeof table / sizeof *table; p++)
        if (strcmp(table[p].name, name) == 0)
            return &table[p];
    fail("there is no pattern '%s'", name);
}

/* ---- numbers ----------------------------------------------------------------------------------------------------------- */

/* Half of a message there and back. */
static double latency_us(double seconds, long repeats)
{
    return 1e6 * seconds / (double)repeats / 2;
}

/* Messages of so many pairs in so many windows each; both ways there are twice as many. */
static double messages_of(const char *pattern, int pairs, long repeats)
{
    double messages = (double)pairs * (double)window * (double)repeats;
    return strcmp(pattern, "bidirectional") == 0 ? 2 * messages : messages;
}

static double megabytes(double messages, size_t size)
{
    return messages * (double)size / 1e6;
}

/* Repeats that are timed: fewer of large messages. */
static long wanted_of(const struct pattern *pattern, size_t size)
{
    long most = pattern->windowed ? windows : round_trips;
    return size > LARGE && most >= 10 ? most / 10 : most;
}

static long next_size(size_t size)
{
    if (size == 0)
        return (long)smallest;
    return size >= largest ? 0 : (long)(2 * size < largest ? 2 * size : largest);
}

/* ---- measuring --------------------------------------------------------------------------------------------------------- */

static struct pair pair_of(int first, int second)
{
    bool leads = job.rank == first;
    return (struct pair){first, second, leads || job.rank == second, leads, leads ? second : first};
}

/* The pair of this rank where all are at work: rank i of the first half and of the second. */
static struct pair pair_of_all(void)
{
    int half = job.ranks / 2;
    int first = job.rank < half ? job.rank : job.rank - half;
    return pair_of(first, job.rank < 2 * half ? first + half : -1);
}

/* What was timed: repeats, and seconds of the rank that sends first; where all pairs are at work from the first start to the last end. */
struct timed { long repeats; double seconds; };

static struct timed with_batch(struct timed timed, long repeats, double seconds)
{
    return (struct timed){timed.repeats + repeats, timed.seconds + seconds};
}

static struct timed time_it(const struct pattern *pattern, struct pair pair, bool all, size_t size, long wanted, long left)
{
    struct timed timed = {0, 0};
    struct rounds warm_up = share_budget(wanted / 10 + 1, 4 * left);
    while (next_batch(&warm_up))
        if (pair.inside)
            pattern->act(pair, size, warm_up.batch);
    struct rounds rounds = share_budget(wanted, left);
    while (next_batch(&rounds)) {
        double seconds = 0;
        struct span span = {0};
        if (pair.inside)
            spoil(size);
        if (all)
            span = start_together();
        if (pair.inside)
            seconds = pattern->act(pair, size, rounds.batch);
        span.ended = now();
        if (all)
            job_seconds(&span, 1, &seconds);
        if (pair.inside && (pattern->act != one_way || !pair.leads))
            verify(pair, size);
        timed = with_batch(timed, rounds.batch, all || pair.leads ? seconds : 0);
    }
    timed.seconds = all ? timed.seconds : all_max(timed.seconds);
    if (job.checking)
        check(job.stopped || job.shortened || timed.repeats == wanted, "as many repeats are timed as were wanted");
    return timed;
}

static void measure_curve(const char *name, long *left)
{
    const struct pattern *pattern = find_pattern(name);
    bool all = strcmp(name, "message-rate") == 0;
    int pairs = all ? job.ranks / 2 : 1;
    struct pair pair = all ? pair_of_all() : pair_of(0, job.ranks - 1);
    for (size_t size = (size_t)next_size(0); size; size = (size_t)next_size(size), --*left) {
        struct timed timed = time_it(pattern, pair, all, size, wanted_of(pattern, size), *left);
        if (!timed.repeats)
            return;
        double messages = messages_of(name, pairs, timed.repeats);
        open_record("pt2pt");
        put_text("pattern", name);
        put_count("size", (long long)size);
        put_count("pairs", pairs);
        if (!pattern->windowed)
            put_number("us", latency_us(timed.seconds, timed.repeats));
        else {
            put_number("mb_s", megabytes(messages, size) / timed.seconds);
            put_number("messages_s", messages / timed.seconds);
        }
        put_count("repeats", timed.repeats);
        close_record();
        points++;
        if (!job.checking)
            continue;
        check(all_sum(pair.leads) == pairs && (all || pair.second == job.ranks - 1), "all pairs send, or the first and the last rank alone");
        if (!pattern->windowed)
            check(told("us", 500000 * timed.seconds / (double)timed.repeats), "a message takes half of the time there and back");
        else
            check(told("messages_s", messages / timed.seconds) && told("mb_s", messages * (double)size / timed.seconds / 1e6), "messages have their bytes");
        if (pattern->windowed)
            check(messages == (double)(timed.repeats * window * pairs) * (strcmp(name, "bidirectional") == 0 ? 2 : 1), "every message of every window is counted");
        check(timed.seconds > 0, "what was measured took time");
    }
}

/* ---- distance ---------------------------------------------------------------------------------------------------------- */

/* What rank 0 knows of each rank, and tells the others. */
struct who { int *node, *core; };

static struct who find_everyone(void)
{
    size_t bytes = (size_t)job.ranks * sizeof(int);
    struct who who = {memory(bytes), memory(bytes)};
    MPI_Request requests[2];
    MPI_Iallgather(&job.node, 1, MPI_INT, who.node, 1, MPI_INT, MPI_COMM_WORLD, &requests[0]);
    MPI_Iallgather(&core, 1, MPI_INT, who.core, 1, MPI_INT, MPI_COMM_WORLD, &requests[1]);
    settle(&requests[0]);
    settle(&requests[1]);
    return who;
}

/* Whether the distance to a rank is measured: that of each rank on the first rank's node, or that of the first rank of each other node. */
static bool is_target(struct who who, bool nodes, int rank)
{
    if (rank == 0 || (who.node[rank] == who.node[0]) == nodes)
        return false;
    for (int before = 1; nodes && before < rank; before++)
        if (who.node[before] == who.node[rank])
            return false;
    return true;
}

static long count_targets(struct who who, bool nodes)
{
    long count = 0;
    for (int rank = 1; rank < job.ranks; rank++)
        count += is_target(who, nodes, rank);
    return count;
}

static void write_distance(struct who who, bool nodes, int rank, double us, double mb_s)
{
    int apart = nodes ? who.node[rank] - who.node[0] : who.core[rank] - who.core[0];
    open_record("distance");
    put_text("of", nodes ? "nodes" : "cores");
    put_count("distance", apart < 0 ? -apart : apart);
    put_count("rank", rank);
    if (job.rank == 0)
        put_text("host", job.node_names + (size_t)job.node_of[rank] * NAME_BYTES);
    put_count("core", who.core[rank]);
    put_number("us", us);
    put_number("mb_s", mb_s);
    close_record();
}

static void measure_distances(bool nodes, long *left)
{
    struct who who = find_everyone();
    const struct pattern *latency = find_pattern("latency"), *bandwidth = find_pattern("bandwidth");
    for (int rank = 1; rank < job.ranks; rank++) {
        if (!is_target(who, nodes, rank))
            continue;
        struct pair pair = pair_of(0, rank);
        struct timed small = time_it(latency, pair, false, SHORT_MESSAGE < distance_size ? SHORT_MESSAGE : distance_size, wanted_of(latency, SHORT_MESSAGE), *left);
        --*left;
        struct timed large = time_it(bandwidth, pair, false, distance_size, wanted_of(bandwidth, distance_size), *left);
        --*left;
        if (!small.repeats || !large.repeats)
            break;
        double mb = megabytes(messages_of("bandwidth", 1, large.repeats), distance_size);
        write_distance(who, nodes, rank, latency_us(small.seconds, small.repeats), mb / large.seconds);
        points++;
        if (job.checking)
            check(told("us", 500000 * small.seconds / (double)small.repeats) &&
                      told("mb_s", (double)distance_size * (double)window * (double)large.repeats / large.seconds / 1e6),
                  "each distance has the latency of short messages and the bandwidth of long ones");
    }
    free(who.node);
    free(who.core);
}

/* How many measurements there will be. */
static long planned(void)
{
    long sizes = 0, curves = 0;
    struct who who = find_everyone();
    for (size_t size = (size_t)next_size(0); size; size = (size_t)next_size(size))
        sizes++;
    for (size_t p = 0; p < sizeof table / sizeof *table; p++)
        curves += chosen(patterns, table[p].name);
    long distances = (chosen(patterns, "cores") ? count_targets(who, false) : 0) + (chosen(patterns, "nodes") ? count_targets(who, true) : 0);
    free(who.node);
    free(who.core);
    return curves * sizes + 2 * distances;
}

static void write_result(void)
{
    open_record("result");
    put_count("points", points);
    end_result();
}

/* ---- the self-check ---------------------------------------------------------------------------------------------------- */

static void check_counts(void)
{
    window = 64;
    check(latency_us(0.002, 100) == 10, "100 messages there and back in 2 ms are 10 us each way");
    check(messages_of("bandwidth", 1, 10) == 640 && messages_of("bidirectional", 1, 10) == 1280, "10 windows of 64 are 640 messages, and twice as many both ways");
    check(messages_of("message-rate", 3, 10) == 1920, "of three pairs they are three times as many");
    struct timed two = with_batch(with_batch((struct timed){0, 0}, 3, 0.5), 4, 2);
    check(two.repeats == 7 && two.seconds == 2.5, "batches add up");
    int half = job.ranks / 2;
    struct pair own = pair_of_all();
    check(job.rank >= 2 * half || own.other == (job.rank + half) % (2 * half), "each rank of the first half has one of the second half");
    check(megabytes(640, 1000000) == 640, "a message of a million bytes is a megabyte");
    smallest = 1;
    largest = 6;
    check(next_size(0) == 1 && next_size(1) == 2 && next_size(4) == 6 && next_size(6) == 0, "1, 2, 4 and 6 bytes follow each other");
    round_trips = 1000;
    windows = 100;
    check(wanted_of(find_pattern("latency"), 8192) == 1000 && wanted_of(find_pattern("message-rate"), 8193) == 10, "a tenth of the repeats is for large messages");
    int nodes[] = {0, 0, 1, 1, 2}, cores[] = {0, 1, 0, 1, 0}, kept = job.ranks;
    struct who who = {nodes, cores};
    job.ranks = 5;
    check(count_targets(who, false) == 1 && count_targets(who, true) == 2, "of three nodes two are away, and one rank is beside the first");
    check(is_target(who, true, 2) && !is_target(who, true, 3) && is_target(who, true, 4), "one rank of each other node is measured");
    job.ranks = kept;
}

/* Another clock around each pattern: nearly all of its time is that of the messages, at least once in several tries, since a rank may lose its
 * core while the two meet. */
static void check_times(void)
{
    enum { TRIES = 10, REPEATS = 50 };
    struct pair pair = pair_of(0, job.ranks - 1);
    for (size_t p = 0; p < sizeof table / sizeof *table; p++) {
        double most = 0;
        for (int i = 0; pair.inside && i < TRIES; i++) {
            double began = now(), seconds = table[p].act(pair, 1, REPEATS);
            most = fmax(most, seconds / (now() - began));
        }
        check(!pair.inside || (most > 0.75 && most <= 1), "the time of messages is what a clock around them shows");
        sync_ranks();
    }
}

static int self_check(void)
{
    check_counts();
    if (job.ranks < 2)
        return 0;
    window = 3;
    round_trips = 3;
    windows = 2;
    distance_size = 600;
    patterns = every;
    struct who who = find_everyone();
    long wanted = 4 * 4 + count_targets(who, false) + count_targets(who, true);
    free(who.node);
    free(who.core);
    int status = run();
    check(job.stopped || points == wanted, "every size and every distance is measured");
    return status;
}
