/* nodecheck: which nodes are slower than the others, in one table: the slowest core, the slowest NUMA domain, and the network.
 *
 * Start one rank a core. All nodes work at once, so the time does not grow with their number:
 *   compute  every rank, on a core of its own, repeats a fixed count of multiplications and additions; a core's rate is its best
 *            repeat, a node's that of its slowest core.
 *   memory   the ranks of each NUMA domain run a triad together over arrays that no cache holds; a domain's rate is the bytes of its
 *            ranks from the first start to the last end, its best repeat, a node's that of its slowest domain.
 *   network  one rank a node exchanges messages with another node, both ways at once, then with the next: partners rotate, so that a
 *            slow partner spoils one value of many. A node's bandwidth and latency are the medians over its partners.
 * A node is slow in what is worse than the median of all nodes by more than --slow percent. 1 GB = 10^9 bytes. */
#include "common.h"

#include <limits.h>
#include <math.h>

static long repeats = 10, partners = 12, window = 8, round_trips = 50, elements;
static size_t size = 1 << 20;
static double slow = 10;

static const struct option options[] = {
    {"--repeats", "N", COUNT, &repeats, 1, "of the work of each core and of each domain; the best counts"},
    {"--elements", "N", COUNT, &elements, 1000, "doubles per array and rank; without it 4 times the last-level caches, at most 32 MiB a core and 3 arrays in 1/8 of the memory"},
    {"--partners", "N", COUNT, &partners, 1, "nodes that each node exchanges messages with, one after another"},
    {"--size", "BYTES", SIZE, &size, 8, "of a message of the bandwidth"},
    {"--window", "N", COUNT, &window, 1, "messages under way at once, each way"},
    {"--round-trips", "N", COUNT, &round_trips, 1, "of 8 bytes, for the latency"},
    {"--slow", "PERCENT", NUMBER, &slow, 0.1, "worse than the median by more than this is slow"},
    {NULL, NULL, FLAG, NULL, 0, NULL}};

static int run(void);
static int self_check(void);

const struct kernel kernel = {
    "nodecheck", "The slow nodes of a machine: the slowest core, the slowest NUMA domain and the network of each node, beside the median of all nodes.",
    options, run, self_check};

enum { COMPUTE, MEMORY, BANDWIDTH, LATENCY, QUANTITIES };
static const char *const names[QUANTITIES] = {"compute", "memory", "bandwidth", "latency"};
static const char *const units[QUANTITIES] = {"GFLOP/s", "GB/s", "GB/s", "us"};

/* What is known of one rank, to be gathered as numbers; NaN where nothing was measured. */
enum { CORE = QUANTITIES, DOMAIN, FACTS };

static struct { long made, wanted; } network;      /* partners of this node */

static int domain_of(int core);
static double compute(void);
static double memory_rate(int domain);
static void exchange_with_partners(double *facts);
static void report(const double *facts);

static int run(void)
{
    if (size > INT_MAX || window > 10000)
        misuse("%ld messages of %zu bytes are too many or too long; the most are 10000 of %d", window, size, INT_MAX);
    double facts[FACTS] = {NAN, NAN, NAN, NAN};
    tell_crowd(1, "they slow each other down, and what is slow here may be the crowd");
    facts[CORE] = take_one_core();
    facts[DOMAIN] = domain_of((int)facts[CORE]);
    facts[COMPUTE] = compute();
    if (all_max(isnan(facts[COMPUTE])) > 0)
        return failed("the budget of %g s ended before anything was measured; give more --budget", job.budget);
    facts[MEMORY] = memory_rate((int)facts[DOMAIN]);
    exchange_with_partners(facts);
    report(facts);
    return 0;
}

/* ---- where a rank is ------------------------------------------------------------------------------------------------------ */

static int domain_of(int core)
{
    static struct cores cores;
    int domains = numa_domains();
    for (int domain = 0; domain < domains; domain++) {
        memset(&cores, 0, sizeof cores);
        cores.allowed[core] = 1;
        cores.count = 1;
        if (keep_numa_domain(&cores, domain))
            return domain;
    }
    return 0;
}

/* ---- a core ---------------------------------------------------------------------------------------------------------------- */

enum { LANES = 12, STEPS = 2000000, FLOPS = 2 };   /* about 10 ms; each lane multiplies and adds in each step */

/* Each lane counts: x = x * 1 + lane, so that after the steps it holds a number that is known. It is one function, and the compiler
 * does not see the numbers. */
static ONE_COPY void count_up(double *lanes, const double *add, double one, long steps)
{
    double x[LANES];
    memcpy(x, lanes, sizeof x);
    for (long i = 0; i < steps; i++) {
        for (int lane = 0; lane < LANES; lane++)
            x[lane] = x[lane] * one + add[lane];
        __asm__ volatile("" ::: "memory");
    }
    memcpy(lanes, x, sizeof x);
}

static double known_count(int lane, long steps)
{
    return (double)(lane + 1) * (double)steps;
}

static double seconds_of_work(long steps)
{
    double lanes[LANES] = {0}, add[LANES];
    volatile double one = 1;
    for (int lane = 0; lane < LANES; lane++)
        add[lane] = lane + 1;
    double began = now();
    count_up(lanes, add, one, steps);
    double ended = now();
    if (job.fault && job.rank == job.ranks - 1)
        lanes[LANES - 1] += 1;
    for (int lane = 0; lane < LANES; lane++)
        if (lanes[lane] != known_count(lane, steps))
            fail("core %d of %s computed a wrong result: %.17g, and not %.17g", sched_getcpu(), job.node_name, lanes[lane], known_count(lane, steps));
    return ended - began;
}

static double flops_of(long steps)
{
    return (double)FLOPS * LANES * (double)steps;
}

/* 1 GFLOP = 10^9 operations, 1 GB = 10^9 bytes. */
static double billions(double amount, double seconds)
{
    return amount / seconds / 1e9;
}

/* GFLOP/s of this core; the first repeat is not counted where there are more. */
static double compute(void)
{
    double best = INFINITY;
    struct rounds rounds = share_budget(repeats + 1, 3);
    while (next_batch(&rounds))
        for (long i = 0; i < rounds.batch; i++) {
            double seconds = seconds_of_work(STEPS);
            if (rounds.done + i > 0)
                best = fmin(best, seconds);
        }
    return isinf(best) ? NAN : billions(flops_of(STEPS), best);
}

/* ---- the memory of a domain ------------------------------------------------------------------------------------------------ */

/* Doubles per array and rank. */
static long default_elements(size_t caches, double memory_bytes, int cores, int ranks)
{
    double bytes = fmin(4 * (double)(caches ? caches : 64 << 20), 33554432.0 * cores);
    if (memory_bytes > 0)
        bytes = fmin(bytes, memory_bytes / 24);
    double n = bytes / (double)sizeof(double) / ranks;
    return n > 1000 ? (long)n : 1000;
}

static double triad_bytes(long n)
{
    return 3 * (double)sizeof(double) * (double)n;
}

static ONE_COPY void triad(double *a, const double *b, const double *c, double q, long n)
{
    for (long i = 0; i < n; i++)
        a[i] = b[i] + q * c[i];
}

/* From the first start to the last end of the ranks that read one clock. */
static double domain_seconds(MPI_Comm ranks, double began, double ended)
{
    double most[2] = {-began, ended};
    MPI_Request request;
    MPI_Iallreduce(MPI_IN_PLACE, most, 2, MPI_DOUBLE, MPI_MAX, ranks, &request);
    settle(&request);
    return most[1] + most[0];
}

static void check_triad(const double *a, long n, double wanted)
{
    for (long i = 0; i < n; i++)
        if (a[i] != wanted)
            fail("the memory of %s gave a wrong result: %.17g, and not %.17g", job.node_name, a[i], wanted);
}

/* GB/s of the NUMA domain of this rank; NaN where the budget left no time. Pretended nodes of one host have domains of their own. */
static double memory_rate(int domain)
{
    if (budget_over())
        return NAN;
    MPI_Comm ranks;
    MPI_Comm_split(job.node_comm, domain, job.rank, &ranks);
    int sharers;
    MPI_Comm_size(ranks, &sharers);
    long n = elements ? elements : default_elements(last_level_cache_bytes(), (double)host_memory_bytes(), host_cores(), job.host_ranks);
    need_memory(triad_bytes(n), "the arrays", "give fewer --elements");
    double *a = memory((size_t)n * sizeof *a), *b = memory((size_t)n * sizeof *b), *c = memory((size_t)n * sizeof *c), best = INFINITY;
    for (long i = 0; i < n; i++) {
        a[i] = 0;
        b[i] = 1;
        c[i] = 2;
    }
    struct rounds rounds = share_budget(repeats + 1, 2);
    while (next_batch(&rounds))
        for (long i = 0; i < rounds.batch; i++) {
            sync_ranks();
            double began = now();
            triad(a, b, c, 3, n);
            double seconds = domain_seconds(ranks, began, now());
            if (rounds.done + i > 0)
                best = fmin(best, seconds);
        }
    check_triad(a, rounds.done ? n : 0, 7);
    free(a);
    free(b);
    free(c);
    MPI_Comm_free(&ranks);
    return isinf(best) ? NAN : billions(triad_bytes(n) * sharers, best);
}

/* ---- the network ----------------------------------------------------------------------------------------------------------- */

enum { DATA = 1, BALL = 2, LEAST_BYTES = 8 };

/* Rounds of a tournament: in each everybody has one partner, and over all rounds each other one once. With an odd number one rests
 * in each round, and gets itself. */
static int partner_of(int node, int round, int nodes)
{
    int others = nodes - 1 + nodes % 2, partner;     /* the number of rounds */
    if (node == others)
        for (partner = 0; (2 * partner) % others != round % others; partner++)
            ;
    else {
        partner = ((round - node) % others + others) % others;
        partner = partner == node ? others : partner;
    }
    return partner < nodes ? partner : node;
}

static long rounds_of(int nodes)
{
    return nodes < 2 ? 0 : nodes - 1 + nodes % 2;
}

static unsigned char content(int sender, long slot, size_t at)
{
    return (unsigned char)(at % 251 + 31U * (unsigned)sender + 17U * (unsigned long)slot + 3);
}

struct buffers { unsigned char *out, *in; MPI_Request *requests; };

/* Seconds until a window of messages went both ways. */
static double exchange(struct buffers buffers, int to)
{
    int count = (int)window;
    memset(buffers.in, 0xee, size * (size_t)window);
    double began = now();
    for (int w = 0; w < count; w++)
        MPI_Irecv(buffers.in + (size_t)w * size, (int)size, MPI_BYTE, to, DATA, MPI_COMM_WORLD, &buffers.requests[w]);
    for (int w = 0; w < count; w++)
        MPI_Isend(buffers.out + (size_t)w * size, (int)size, MPI_BYTE, to, DATA, MPI_COMM_WORLD, &buffers.requests[count + w]);
    settle_all(buffers.requests, 2 * count, job.crowded);
    double seconds = now() - began;
    for (int w = 0; w < count; w++)
        for (size_t at = 0; at < size; at += at + 1 < size && at + 61 >= size ? size - 1 - at : 61)
            if (buffers.in[(size_t)w * size + at] != content(to, w, at))
                fail("a message from rank %d arrived with wrong content", to);
    return seconds;
}

/* Seconds of a message of 8 bytes there and back, the mean of some. */
static double ping(int to, bool begins, long times)
{
    double began = now();
    for (long i = 0; i < times; i++) {
        long out = i, in = -1;
        MPI_Request request;
        for (int step = 0; step < 2; step++)
            if ((step == 0) == begins)
                MPI_Send(&out, 1, MPI_LONG, to, BALL, MPI_COMM_WORLD);
            else {
                MPI_Irecv(&in, 1, MPI_LONG, to, BALL, MPI_COMM_WORLD, &request);
                settle_all(&request, 1, job.crowded);
                if (in != i)
                    fail("the ball from rank %d came as %ld, and not as %ld", to, in, i);
            }
    }
    return (now() - began) / (double)times;
}

/* Microseconds of a message, of seconds there and back. */
static double one_way_us(double seconds)
{
    return 1e6 * seconds / 2;
}

/* Bytes of a window both ways. */
static double window_bytes(void)
{
    return 2 * (double)size * (double)window;
}

static struct buffers make_buffers(void)
{
    size_t bytes = size * (size_t)window;
    struct buffers buffers = {memory(bytes), memory(bytes), memory(2 * (size_t)window * sizeof(MPI_Request))};
    for (long w = 0; w < window; w++)
        for (size_t at = 0; at < size; at++)
            buffers.out[(size_t)w * size + at] = content(job.rank, w, at);
    return buffers;
}

static double median_of(double *values, long count)
{
    return spread_of(values, count).median;
}

/* The first rank of each node, by node, on every rank. */
static void find_leaders(int *leaders)
{
    for (int node = 0; node < job.nodes; node++)
        leaders[node] = job.ranks;
    leaders[job.node] = job.rank;
    MPI_Request request;
    MPI_Iallreduce(MPI_IN_PLACE, leaders, job.nodes, MPI_INT, MPI_MIN, MPI_COMM_WORLD, &request);
    settle(&request);
}

static void exchange_with_partners(double *facts)
{
    long rounds = rounds_of(job.nodes), wanted = partners < rounds ? partners : rounds, mine = 0;
    int *leaders = memory((size_t)job.nodes * sizeof *leaders);
    double *rates = memory((size_t)partners * sizeof *rates), *times = memory((size_t)partners * sizeof *times);
    find_leaders(leaders);
    bool leads = leaders[job.node] == job.rank;
    need_memory(leads && wanted ? 2 * (double)size * (double)window : 0, "the messages", "give a smaller --size or --window");
    struct buffers buffers = leads && wanted ? make_buffers() : (struct buffers){NULL, NULL, NULL};
    network.wanted = wanted;
    for (network.made = 0; network.made < wanted && !budget_over(); network.made++) {
        int other = partner_of(job.node, (int)(network.made * rounds / wanted), job.nodes);
        sync_ranks();
        if (!leads || other == job.node)
            continue;
        exchange(buffers, leaders[other]);          /* the connection is made */
        rates[mine] = billions(window_bytes(), exchange(buffers, leaders[other]));
        ping(leaders[other], job.node < other, 2);
        times[mine++] = one_way_us(ping(leaders[other], job.node < other, round_trips));
    }
    if (mine) {
        facts[BANDWIDTH] = median_of(rates, mine);
        facts[LATENCY] = median_of(times, mine);
    }
    free(buffers.out);
    free(buffers.in);
    free(buffers.requests);
    free(rates);
    free(times);
    free(leaders);
}

/* ---- the report ------------------------------------------------------------------------------------------------------------ */

struct node { double worst[QUANTITIES]; int core, domain; };

/* Of time more is worse. NaN is worse than nothing. */
static bool is_worse(int quantity, double value, double than)
{
    return isnan(than) ? !isnan(value) : quantity == LATENCY ? value > than : value < than;
}

static bool is_slow(int quantity, double value, double median)
{
    if (isnan(value) || isnan(median))
        return false;
    return quantity == LATENCY ? value > (1 + slow / 100) * median : value < (1 - slow / 100) * median;
}

static void take_in(struct node *node, const double *facts)
{
    for (int q = 0; q < QUANTITIES; q++) {
        if (!is_worse(q, facts[q], node->worst[q]))
            continue;
        node->worst[q] = facts[q];
        if (q == COMPUTE)
            node->core = (int)facts[CORE];
        if (q == MEMORY)
            node->domain = (int)facts[DOMAIN];
    }
}

static double median_over(const struct node *nodes, int quantity, double *values)
{
    long known = 0;
    for (int n = 0; n < job.nodes; n++)
        if (!isnan(nodes[n].worst[quantity]))
            values[known++] = nodes[n].worst[quantity];
    return known ? median_of(values, known) : NAN;
}

static const char *node_name(int node)
{
    return job.node_names + (size_t)node * NAME_BYTES;
}

static void write_node(const struct node *node, int number, const double *medians)
{
    static const char *const keys[QUANTITIES] = {"compute_gflop_s", "memory_gb_s", "bandwidth_gb_s", "latency_us"};
    char text[128] = "";
    for (int q = 0; q < QUANTITIES; q++)
        if (is_slow(q, node->worst[q], medians[q]))
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", *text ? "," : "", names[q]);
    open_record("node");
    put_text("node", node_name(number));
    for (int q = 0; q < QUANTITIES; q++)
        put_number(keys[q], node->worst[q]);
    put_count("slowest_core", node->core);
    put_count("slowest_domain", node->domain);
    put_text("slow", text);
    close_record();
}

static void write_quantity(const struct node *nodes, int quantity)
{
    open_record("nodes");
    put_text("name", names[quantity]);
    put_text("unit", units[quantity]);
    open_list("labels");
    for (int n = 0; n < job.nodes; n++)
        put_text(NULL, node_name(n));
    close_list();
    open_list("values");
    for (int n = 0; n < job.nodes; n++)
        put_number(NULL, nodes[n].worst[quantity]);
    close_list();
    close_record();
}

static void write_result(const struct node *nodes, const double *medians)
{
    long found = 0;
    open_record("result");
    for (int q = 0; q < QUANTITIES; q++) {
        double worst = NAN;
        long many = 0;
        for (int n = 0; n < job.nodes; n++) {
            worst = is_worse(q, nodes[n].worst[q], worst) ? nodes[n].worst[q] : worst;
            many += is_slow(q, nodes[n].worst[q], medians[q]);
        }
        open_object(names[q]);
        put_number("median", medians[q]);
        put_number("worst", worst);
        put_count("slow_nodes", many);
        close_object();
    }
    for (int n = 0; n < job.nodes; n++) {
        bool any = false;
        for (int q = 0; q < QUANTITIES; q++)
            any |= is_slow(q, nodes[n].worst[q], medians[q]);
        found += any;
    }
    put_count("nodes", job.nodes);
    put_count("slow_nodes", found);
    put_count("partners", network.made);
    put_flag("complete", all_measured() && network.made == network.wanted);
    close_record();
}

static void report(const double *facts)
{
    double *all = job.rank == 0 ? memory((size_t)job.ranks * FACTS * sizeof *all) : NULL;
    gather_numbers(facts, FACTS, all);
    if (job.rank != 0)
        return;
    struct node *nodes = memory((size_t)job.nodes * sizeof *nodes);
    double *values = memory((size_t)job.nodes * sizeof *values), medians[QUANTITIES];
    for (int n = 0; n < job.nodes; n++)
        nodes[n] = (struct node){{NAN, NAN, NAN, NAN}, -1, -1};
    for (int r = 0; r < job.ranks; r++)
        take_in(&nodes[job.node_of[r]], all + (size_t)r * FACTS);
    for (int q = 0; q < QUANTITIES; q++) {
        medians[q] = median_over(nodes, q, values);
        write_quantity(nodes, q);
    }
    for (int n = 0; n < job.nodes; n++)
        write_node(&nodes[n], n, medians);
    write_result(nodes, medians);
    free(all);
    free(nodes);
    free(values);
}

/* ---- the self-check -------------------------------------------------------------------------------------------------------- */

static void check_tournament(int nodes)
{
    bool fits = true, all = true;
    for (int node = 0; node < nodes; node++) {
        unsigned char met[64] = {0};
        for (int round = 0; round < rounds_of(nodes); round++) {
            int partner = partner_of(node, round, nodes);
            fits &= partner >= 0 && partner < nodes && partner_of(partner, round, nodes) == node;
            met[partner]++;
        }
        for (int other = 0; other < nodes; other++)
            all &= met[other] == (other != node || nodes % 2);
    }
    check(fits, "the partner of my partner is me, in each round");
    check(all, "over all rounds each meets each other once");
}

static int self_check(void)
{
    check_tournament(2);
    check_tournament(7);
    check_tournament(12);
    check(flops_of(1000) == 24000, "1000 steps of 12 lanes are 24000 operations");
    check(triad_bytes(1000) == 24000, "a triad of 1000 doubles moves 24000 bytes");
    check(billions(6e9, 2) == 3, "6 billion in 2 s are 3 GB/s");
    check(one_way_us(4e-6) == 2, "4 us there and back are 2 us one way");
    check(known_count(2, 5) == 15, "the third lane counts 3, five times");
    check(domain_seconds(MPI_COMM_SELF, 3, 5) == 2, "from 3 to 5 are 2 seconds");
    check(default_elements(1 << 20, 1e9, 2, 2) == 262144, "4 MiB in two ranks are 262144 doubles in each");
    double before = slow, facts[2][FACTS] = {{5, 9, NAN, 3, 11, 1}, {4, 10, NAN, 2, 12, 0}};
    slow = 10;
    check(is_slow(COMPUTE, 8.9, 10) && !is_slow(COMPUTE, 9.1, 10) && !is_slow(COMPUTE, 12, 10), "8.9 is slow where 10 is usual, 9.1 is not");
    check(is_slow(LATENCY, 1.2, 1) && !is_slow(LATENCY, 1.05, 1) && !is_slow(LATENCY, 0.5, 1), "a latency of 1.2 is slow where 1 is usual");
    check(!is_slow(MEMORY, NAN, 1) && !is_slow(MEMORY, 1, NAN), "what was not measured is not slow");
    slow = before;
    struct node node = {{NAN, NAN, NAN, NAN}, -1, -1};
    take_in(&node, facts[0]);
    take_in(&node, facts[1]);
    check(node.worst[COMPUTE] == 4 && node.core == 12, "the slowest core is a node's");
    check(node.worst[MEMORY] == 9 && node.domain == 1, "the slowest domain is a node's");
    check(node.worst[LATENCY] == 3 && isnan(node.worst[BANDWIDTH]), "the longest latency is a node's, and what nobody has is not there");
    size = 1000;
    window = 3;
    check(window_bytes() == 6000, "3 messages of 1000 bytes both ways are 6000 bytes");
    repeats = 2;
    elements = 10007;
    round_trips = 3;
    partners = 3;
    return run();
}
