/* stream: sustained memory bandwidth of copy, scale, add and triad over arrays that no cache holds.
 *
 * Bytes are counted as the STREAM benchmark counts them: 2 arrays for copy and scale, 3 for add and triad; the reads that a
 * write-allocating cache adds are not counted. The first repeat is not counted either. 1 GB = 10^9 bytes. With several ranks
 * one repeat lasts from the first rank's start to the last rank's end (spans.c). All four are plain loops with ordinary stores (the Makefile keeps the compiler
 * from making copy a memcpy), so copy and scale move the same bytes in the same way and read alike. */
#include "common.h"

#include <limits.h>
#include <math.h>
#include <omp.h>

enum { OPERATIONS = 4 };
static const char *const names[OPERATIONS] = {"copy", "scale", "add", "triad"};
enum { COPY, SCALE, ADD, TRIAD };

static long threads, elements, repeats = 10;
static bool numa;

static const struct option options[] = {
    {"--elements", "N", COUNT, &elements, 1000, "doubles per array and rank; without it 4 times the last-level caches, at most 256 MiB a core and 3 arrays in 1/8 of the memory"},
    {"--threads", "N", COUNT, &threads, 1, "threads per rank; without it OMP_NUM_THREADS, else this rank's share of the cores"},
    {"--repeats", "N", COUNT, &repeats, 2, "how often each operation runs; the first is not counted"},
    {"--numa", "", FLAG, &numa, 0, "bind each rank to one NUMA domain of its host, in turn; start one rank per domain"},
    {NULL, NULL, FLAG, NULL, 0, NULL}};

static int run(void);
static int self_check(void);

const struct kernel kernel = {
    "stream", "Memory bandwidth in GB/s: copy c=a, scale b=q*c, add c=a+b, triad a=b+q*c; all ranks' bytes over the time from the first rank's start to the last rank's end, best of the repeats.",
    options, run, self_check};

/* 2q + q*q = 1: one round of the four operations leaves a as it was, so any number of repeats stays in range. */
static const double q = 0.41421356237309504880;

struct arrays { double *a, *b, *c; long n; };

static struct arrays prepare(void);
static long measure(struct arrays arrays, struct span **spans);
static void validate(struct arrays arrays, long done);
static void report(const struct span *spans, long done, long n);

static int run(void)
{
    struct arrays arrays = prepare();
    struct span *spans = NULL;
    long done = measure(arrays, &spans);
    validate(arrays, done);
    if (done < 2)
        return failed("the budget of %g s ended before a repeat was counted; give more --budget, or fewer --elements", job.budget);
    report(spans, done, arrays.n);
    free(spans);
    free(arrays.a);
    free(arrays.b);
    free(arrays.c);
    return 0;
}

/* ---- sizes and threads ------------------------------------------------------------------------------------------------- */

enum { THREADS_PER_CORE = 16 };     /* more than any processor runs at once; far below what a host can start */

/* What OMP_NUM_THREADS says: a number, or a list of numbers for nested regions, whose first is ours. 0: it says no number. */
static long threads_told(const char *text)
{
    char *rest;
    long first = strtol(text, &rest, 10);
    bool number = rest != text;
    rest += strspn(rest, " \t");
    return number && first > 0 && first < INT_MAX && (!*rest || *rest == ',') ? first : 0;
}

static int place_threads(void)
{
    static struct cores cores;
    int domains = numa_domains();
    read_cores(&cores);
    if (numa) {
        if (!keep_numa_domain(&cores, job.host_rank % domains))
            fail("NUMA domain %d has no core that this rank may use; leave --numa out, or do not bind ranks in the launcher",
                 job.host_rank % domains);
        bind_to(&cores);
        read_cores(&cores);
    }
    int share = cores.count / cores.sharers;
    const char *variable = getenv("OMP_NUM_THREADS");
    bool told = variable && *variable && !threads;
    if (told)
        threads = threads_told(variable);
    misuse_where(told && !threads, "OMP_NUM_THREADS is '%.100s', which is no number of threads; set it to 1 or more, or give --threads", variable);
    if (!threads)
        threads = share > 1 ? share : 1;
    long most = THREADS_PER_CORE * host_cores();
    misuse_where(threads > most, "%ld threads are too many for a rank: this host has %d cores, and the most is %ld; give fewer --threads or "
                 "set OMP_NUM_THREADS", threads, host_cores(), most);
    omp_set_dynamic(0);
    omp_set_num_threads((int)threads);
    int started = 0;
#pragma omp parallel
#pragma omp single
    started = omp_get_num_threads();
    misuse_where(started != threads, "OpenMP starts %d of %ld threads; raise OMP_THREAD_LIMIT, or give fewer --threads", started, threads);
    return domains;
}

/* Doubles per array and rank: 4 times the caches of the host, shared by its ranks, but no more than 256 MiB a core and an
 * eighth of the memory for all three arrays. */
static long default_elements(size_t caches)
{
    static struct cores cores;
    read_cores(&cores);
    double bytes = 4 * (double)(caches ? caches : 64 << 20);
    double by_cores = 268435456.0 * cores.count, by_memory = (double)host_memory_bytes() / 24;
    bytes = bytes > by_cores ? by_cores : bytes;
    bytes = by_memory > 0 && bytes > by_memory ? by_memory : bytes;
    long n = (long)(bytes / (double)sizeof(double) / job.host_ranks);
    return n > 1000000 ? n : 1000000;
}

/* Doubles per array and rank for arrays of 4 times the caches, or 0 where the host has no memory for them. */
static long elements_by_rule(size_t caches, double memory_bytes, int ranks)
{
    double n = ceil(4 * (double)caches / (double)sizeof(double) / ranks);
    return 3 * n * (double)sizeof(double) * ranks < 0.9 * memory_bytes ? (long)n : 0;
}

static void tell_small_arrays(double times, size_t caches)
{
    long n = elements_by_rule(caches, (double)host_memory_bytes(), job.host_ranks);
    if (n)
        warn("an array is %.2g times the last-level caches, and 4 is the rule: some of this may be cache bandwidth; give --elements %ld",
             times, n);
    else
        warn("an array is %.2g times the last-level caches, and 4 is the rule: some of this may be cache bandwidth; the memory of this "
             "host does not hold arrays by the rule", times);
}

static struct arrays prepare(void)
{
    size_t caches = last_level_cache_bytes();
    long n = (long)all_max((double)(elements ? elements : default_elements(caches)));   /* the same on every rank */
    int domains = place_threads();
    size_t bytes = (size_t)n * sizeof(double);
    char what[64];
    snprintf(what, sizeof what, "3 arrays of %ld doubles", n);
    need_memory(3 * (double)bytes, what, "give fewer --elements");
    tell_crowd(threads, "they take turns; a rate is all bytes over the time from the first start to the last end");
    struct arrays arrays = {memory(bytes), memory(bytes), memory(bytes), n};
    double *restrict a = arrays.a, *restrict b = arrays.b, *restrict c = arrays.c;
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; i++) {      /* by the threads that will use them: pages land in their NUMA domain */
        a[i] = 1;
        b[i] = 2;
        c[i] = 0;
    }
    double times = caches ? (double)bytes * job.host_ranks / (double)caches : NAN;
    open_record("setup");
    put_count("elements", n);
    put_count("array_bytes", (long long)bytes);
    put_count("threads", threads);
    put_count("numa_domains", domains);
    put_count("cache_bytes", (long long)caches);
    put_number("array_per_cache", times);
    put_text("timed", what_is_timed());
    close_record();
    if (times < 4 && !job.checking)
        tell_small_arrays(times, caches);
    return arrays;
}

/* ---- the operations ---------------------------------------------------------------------------------------------------- */

static void copy(struct arrays arrays)
{
    double *restrict a = arrays.a, *restrict c = arrays.c;
    long n = arrays.n;
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; i++)
        c[i] = a[i];
}

static void scale(struct arrays arrays)
{
    double *restrict b = arrays.b, *restrict c = arrays.c;
    long n = arrays.n;
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; i++)
        b[i] = q * c[i];
}

static void add(struct arrays arrays)
{
    double *restrict a = arrays.a, *restrict b = arrays.b, *restrict c = arrays.c;
    long n = arrays.n;
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; i++)
        c[i] = a[i] + b[i];
}

static void triad(struct arrays arrays)
{
    double *restrict a = arrays.a, *restrict b = arrays.b, *restrict c = arrays.c;
    long n = arrays.n;
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; i++)
        a[i] = b[i] + q * c[i];
}

/* Makes spans[repeat * OPERATIONS + operation] of this rank; returns how many repeats were done. */
static long measure(struct arrays arrays, struct span **spans)
{
    void (*const operations[OPERATIONS])(struct arrays) = {copy, scale, add, triad};
    long done = 0, room = 0;
    while (done < repeats && !budget_over()) {
        if (done == room) {
            room = room ? 2 * room : 64;
            *spans = realloc(*spans, (size_t)(room * OPERATIONS) * sizeof **spans);
            if (!*spans)
                fail("no memory for the times of %ld repeats; give fewer --repeats", room);
        }
        for (int o = 0; o < OPERATIONS; o++) {
            struct span span = start_together();
            operations[o](arrays);
            span.ended = now();
            (*spans)[done * OPERATIONS + o] = span;
        }
        done++;
    }
    return done;
}

/* Replays the recurrence on single numbers and compares the mean relative error of each array. */
static void validate(struct arrays arrays, long done)
{
    double wanted[3] = {1, 2, 0}, *const got[3] = {arrays.a, arrays.b, arrays.c};
    for (long k = 0; k < done; k++) {
        wanted[2] = wanted[0];
        wanted[1] = q * wanted[2];
        wanted[2] = wanted[0] + wanted[1];
        wanted[0] = wanted[1] + q * wanted[2];
    }
    if (job.fault && job.rank == job.ranks - 1)
        arrays.b[arrays.n / 2] += 0.5;
    for (int x = 0; x < 3; x++) {
        const double *array = got[x], value = wanted[x];
        double error = 0;
#pragma omp parallel for schedule(static) reduction(+ : error)
        for (long i = 0; i < arrays.n; i++)
            error += fabs(array[i] - value);
        error /= (double)arrays.n * (value > 0 ? value : 1);
        if (!(error < 1e-13))
            fail("the results are wrong: array %c differs from what it must be by %.3g on average, relative", "abc"[x], error);
    }
}

/* ---- the report -------------------------------------------------------------------------------------------------------- */

/* Arrays that one operation reads and writes. */
static int arrays_moved(int operation)
{
    return operation == COPY || operation == SCALE ? 2 : 3;
}

/* Bytes that one operation moves in arrays of n doubles. */
static double bytes_moved(int operation, long n)
{
    return (double)arrays_moved(operation) * (double)sizeof(double) * (double)n;
}

/* 1 GB = 10^9 bytes. */
static double gb_s(double bytes, double seconds)
{
    return bytes / seconds / 1e9;
}

static double best_of(const double *seconds, long done, int operation)
{
    double best = INFINITY;
    for (long k = 1; k < done; k++)
        best = fmin(best, seconds[k * OPERATIONS + operation]);
    return best;
}

struct rates { double best, average, least; };

/* Rates of the counted repeats of one operation that moves `bytes` each time. */
static struct rates rates_of(const double *whole, long done, int operation, double bytes)
{
    double sum = 0, most = 0, best = best_of(whole, done, operation);
    for (long k = 1; k < done; k++) {
        sum += whole[k * OPERATIONS + operation];
        most = fmax(most, whole[k * OPERATIONS + operation]);
    }
    return (struct rates){gb_s(bytes, best), gb_s(bytes * (double)(done - 1), sum), gb_s(bytes, most)};
}

static void report_operation(struct rates rates, long done, int operation, double *nodes)
{
    open_record("result");
    open_object(names[operation]);
    put_number("gb_s", rates.best);
    put_number("avg_gb_s", rates.average);
    put_number("min_gb_s", rates.least);
    put_count("counted", done - 1);
    struct spread spread = spread_of(nodes, job.nodes);
    put_number("slowest_node_gb_s", spread.min);
    put_number("median_node_gb_s", spread.median);
    put_number("fastest_node_gb_s", spread.max);
    close_object();
    put_flag("complete", !job.stopped);
    close_record();
}

static void write_nodes(int operation, const double *nodes)
{
    open_record("nodes");
    put_text("name", names[operation]);
    put_text("unit", "GB/s");
    open_list("labels");
    for (int n = 0; n < job.nodes; n++)
        put_text(NULL, job.node_names + (size_t)n * NAME_BYTES);
    close_list();
    open_list("values");
    for (int n = 0; n < job.nodes; n++)
        put_number(NULL, nodes[n]);
    close_list();
    close_record();
}

/* In a self-check: the rates again from what the STREAM benchmark counts, by other steps than those that made them. */
static void check_rates(struct rates rates, const double *whole, long done, int operation, long n)
{
    static const char *const moves[OPERATIONS] = {"a c", "c b", "a b c", "b c a"};
    double shortest = whole[OPERATIONS + operation], gigabytes = 0;
    for (const char *array = moves[operation]; *array; array++)
        gigabytes += *array == ' ' ? 0 : 8e-9 * (double)n * job.ranks;
    for (long k = 2; k < done; k++)
        shortest = whole[k * OPERATIONS + operation] < shortest ? whole[k * OPERATIONS + operation] : shortest;
    check(fabs(rates.best * shortest / gigabytes - 1) < 1e-9, "the best rate times its time is what the operation moves, in units of 10^9 bytes");
    check(rates.least <= rates.average * (1 + 1e-12) && rates.average <= rates.best * (1 + 1e-12),
          "the mean rate is not above the best and not below the least");
}

static void report(const struct span *spans, long done, long n)
{
    int node_ranks;
    MPI_Comm_size(job.node_comm, &node_ranks);
    double *whole = memory((size_t)(done * OPERATIONS) * sizeof *whole), *here = memory((size_t)(done * OPERATIONS) * sizeof *here);
    job_seconds(spans, done * OPERATIONS, whole);
    node_seconds(spans, done * OPERATIONS, here);
    double *gathered = job.rank == 0 ? memory((size_t)job.ranks * sizeof *gathered) : NULL;
    double *nodes = job.rank == 0 ? memory((size_t)job.nodes * sizeof *nodes) : NULL;
    for (int o = 0; o < OPERATIONS; o++) {
        double bytes = bytes_moved(o, n), rate = gb_s(bytes * node_ranks, best_of(here, done, o));
        gather_numbers(&rate, 1, gathered);
        if (job.rank != 0)
            continue;
        for (int r = 0; r < job.ranks; r++)
            nodes[job.node_of[r]] = gathered[r];
        write_nodes(o, nodes);
        struct rates rates = rates_of(whole, done, o, bytes * job.ranks);
        if (job.checking)
            check_rates(rates, whole, done, o, n);
        report_operation(rates, done, o, nodes);
    }
    free(whole);
    free(here);
    free(gathered);
    free(nodes);
}

static int self_check(void)
{
    double seconds[] = {9, 9, 9, 0.5, 9, 9, 9, 4, 9, 9, 9, 2};
    check(best_of(seconds, 3, 3) == 2, "the first repeat is not counted");
    struct rates rates = rates_of(seconds, 3, TRIAD, 24e9);
    check(rates.best == 12 && rates.average == 8 && rates.least == 6, "24 GB in 2 s and in 4 s are 12 GB/s at best, 8 on average, 6 at least");
    check(bytes_moved(COPY, 1000) == 16000 && bytes_moved(SCALE, 1000) == 16000, "copy and scale of 1000 doubles move 16000 bytes");
    check(bytes_moved(ADD, 1000) == 24000 && bytes_moved(TRIAD, 1000) == 24000, "add and triad of 1000 doubles move 24000 bytes");
    check(threads_told("4") == 4 && threads_told(" 3 ,2") == 3, "OMP_NUM_THREADS is a number, or the first one of a list");
    check(!threads_told("abc") && !threads_told("0") && !threads_told("-3") && !threads_told("4x"), "what is no number of threads is found");
    check(elements_by_rule(1 << 20, 1e9, 2) == 262144, "4 MiB in two ranks are 262144 doubles in each");
    check(elements_by_rule(1 << 20, 1e7, 2) == 0, "3 arrays of 4 MiB are more than 10 MB");
    check(fabs(2 * q + q * q - 1) < 1e-15, "the factor keeps the arrays in range");
    elements = 100003;      /* not a multiple of any vector or thread count */
    repeats = 5;
    return run();
}
