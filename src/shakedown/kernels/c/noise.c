/* noise: how much the operating system, interrupts and a hypervisor take from programs, by fixed-work quanta.
 *
 * Every rank is pinned to a core and repeats one fixed piece of work; a sample is the time one took. noise % is
 * 100 * (mean - min) / min. All ranks do the same work, calibrated on the median rank, so that a slow core shows as a higher
 * minimum. The work is a chain of multiplications whose result is known in advance: a core that computes wrongly is found.
 * Rates of ranks are not added here: each rank's samples are its own, and percent is the mean over the ranks. */
#include "common.h"

#include <math.h>
#include <time.h>

static double quantum = 1000;
static long samples = 3000, work_count, bins = 40;

static const struct option options[] = {
    {"--quantum", "US", NUMBER, &quantum, 1, "microseconds that the work takes on an undisturbed core"},
    {"--samples", "N", COUNT, &samples, 2, "samples per rank; 30000 and more for an acceptance"},
    {"--count", "N", COUNT, &work_count, 1, "steps of the work, instead of a quantum; without it calibrated to the quantum"},
    {"--bins", "N", COUNT, &bins, 1, "bins of the histograms"},
    {NULL, NULL, FLAG, NULL, 0, NULL}};

static int run(void);
static int self_check(void);

const struct kernel kernel = {
    "noise", "Operating system noise: times of a fixed piece of work on each core; noise %, percentiles, a histogram per rank.", options,
    run, self_check};

enum { PERCENTILES = 3 };
enum { FEWEST_STEPS = 10, FINE_STEPS = 1000 };      /* of the clock in a quantum: what is refused below, and what needs no note */
static const double shares[PERCENTILES] = {0.5, 0.99, 0.999};

/* What is known of one rank; all numbers, to be gathered as such. */
enum { CORE, DONE, LEAST, MEAN, P50, P99, P99_9, MOST, FACTS };

static long calibrate(void);
static double duration(long count);
static double clock_step(void);
static void tell_resolution(double step);
static long measure(double *us, long count);
static void describe(double *us, long done, double *facts);
static void pooled_percentiles(const double *sorted, long done, double *pooled);
static void report(const double *us, long done, const double *facts, const double *pooled);

static int run(void)
{
    if (bins > 10000)
        misuse("option '--bins': %ld is too many; the most is 10000", bins);
    if (quantum > 1e6 * job.budget)
        misuse("a quantum of %g us does not fit into the budget of %g s", quantum, job.budget);
    tell_crowd(1, "they measure each other");
    double facts[FACTS] = {take_one_core()}, pooled[PERCENTILES];
    need_memory((double)samples * sizeof(double), "the samples", "give fewer --samples");
    double *us = memory((size_t)samples * sizeof *us);
    long count = work_count ? work_count : calibrate();
    double step = all_max(clock_step());
    if (work_count)
        quantum = duration(count);
    tell_resolution(step);
    long done = measure(us, count);
    if (all_min((double)done) < 1)
        return failed("the budget of %g s ended before a sample was taken; give more --budget, or a shorter --quantum", job.budget);
    describe(us, done, facts);
    pooled_percentiles(us, done, pooled);
    open_record("setup");
    put_count("count", count);
    put_number("quantum_us", quantum);
    put_number("clock_step_us", step);
    close_record();
    report(us, done, facts, pooled);
    free(us);
    return 0;
}

/* ---- the work ---------------------------------------------------------------------------------------------------------- */

static const uint64_t factor = 6364136223846793005U, increment = 1442695040888963407U, seed = 1;

/* A chain of dependent multiplications, the same number of cycles each time. It must stay ONE function: a copy inlined into
 * the calibration can run at another speed than a copy inlined into the measurement. The empty assembly is a step that a compiler
 * cannot see through: without it Clang takes the result of one call for the next one too, and eight steps for one. */
static ONE_COPY uint64_t work(long count)
{
    uint64_t x = seed;
    for (long i = 0; i < count; i++) {
        x = factor * x + increment;
        __asm__ volatile("" : "+r"(x));
    }
    return x;
}

/* What `work` must return, in log(count) steps: applying x -> f x + c twice is x -> f*f x + (f + 1) c. */
static uint64_t known_result(long count)
{
    uint64_t f = factor, c = increment, x = seed;
    for (; count > 0; count >>= 1) {
        if (count & 1)
            x = f * x + c;
        c = (f + 1) * c;
        f = f * f;
    }
    return x;
}

static double time_us(long count)
{
    struct timespec began, ended;
    clock_gettime(CLOCK_MONOTONIC, &began);
    uint64_t result = work(count);
    clock_gettime(CLOCK_MONOTONIC, &ended);
    if (result + (job.fault && job.rank == job.ranks - 1) != known_result(count))
        fail("core %d computed a wrong result: multiplications that must give one number gave another", sched_getcpu());
    return 1e6 * (double)(ended.tv_sec - began.tv_sec) + 1e-3 * (double)(ended.tv_nsec - began.tv_nsec);
}

/* ---- calibration ------------------------------------------------------------------------------------------------------- */

static double least_of(int trials, long count)
{
    double least = INFINITY;
    for (int i = 0; i < trials; i++)
        least = fmin(least, time_us(count));
    return least;
}

static double median_of_ranks(double mine)
{
    double *all = job.rank == 0 ? memory((size_t)job.ranks * sizeof *all) : NULL, agreed = 0;
    gather_numbers(&mine, 1, all);
    if (all)
        agreed = spread_of(all, job.ranks).median;
    free(all);
    return all_sum(agreed);         /* the other ranks add nothing */
}

/* Steps that take the quantum on the median rank. The least of a few trials is what an undisturbed core needs. */
static long calibrate(void)
{
    long count = 1000;
    while (least_of(3, count) < fmin(quantum, 2000) && count < 1L << 40)
        count *= 2;
    double agreed = median_of_ranks((double)count * quantum / least_of(5, count));
    return agreed > 1 ? (long)agreed : 1;
}

/* Microseconds that so many steps take on the median rank, undisturbed. */
static double duration(long count)
{
    return median_of_ranks(least_of(3, count));
}

/* ---- the clock --------------------------------------------------------------------------------------------------------- */

/* The shortest time in us that the clock can tell from none, reading it included. */
static double clock_step(void)
{
    double least = INFINITY;
    for (int i = 0; i < 1000; i++) {
        double began = now(), ended = began;
        for (int reads = 0; ended == began && reads < 1000000; reads++)
            ended = now();
        if (ended > began)
            least = fmin(least, 1e6 * (ended - began));
    }
    return least;
}

/* What one step of the clock is of a quantum, in %: noise below it is not there to be seen. */
static double step_percent(double step, double of)
{
    return 100 * step / of;
}

/* Collective. */
static void tell_resolution(double step)
{
    if (!(quantum >= FEWEST_STEPS * step))
        misuse("the work takes %.3g us, and the clock goes in steps of %.3g us: the times would be the clock's; %s", quantum, step,
               work_count ? "give a larger --count, or a --quantum instead" : "give a longer --quantum");
    if (quantum < FINE_STEPS * step)
        warn("a quantum of %.3g us is only %.0f steps of the clock (%.3g us): noise below %.2g %% may be the clock's; %s", quantum,
             quantum / step, step, step_percent(step, quantum), work_count ? "give a larger --count" : "give a longer --quantum");
}

/* ---- samples ----------------------------------------------------------------------------------------------------------- */

/* In batches of about 0.1 s: after each the ranks ask each other for the budget. Talking disturbs, so the first quantum after
 * it is not a sample. Returns the number of samples, the same on every rank. */
static long measure(double *us, long count)
{
    long batch = quantum < 1e5 ? (long)ceil(1e5 / quantum) : 1, done = 0;
    while (done < samples && !budget_over()) {
        time_us(count);
        for (long last = done + batch; done < last && done < samples; done++)
            us[done] = time_us(count);
    }
    return done;
}

static void describe(double *us, long done, double *facts)
{
    struct spread spread = spread_of(us, done);     /* sorts */
    facts[DONE] = (double)done;
    facts[LEAST] = spread.min;
    facts[MEAN] = spread.mean;
    for (int p = 0; p < PERCENTILES; p++)
        facts[P50 + p] = percentile(us, done, shares[p]);
    facts[MOST] = spread.max;
}

static double percent(const double *facts)
{
    return 100 * (facts[MEAN] - facts[LEAST]) / facts[LEAST];
}

/* How many of the sorted values are at most `bound`. */
static long count_up_to(const double *sorted, long count, double bound)
{
    long low = 0, high = count;
    while (low < high) {
        long middle = low + (high - low) / 2;
        if (sorted[middle] <= bound)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Percentiles of the samples of all ranks together, by halving an interval: no rank needs to hold them all. */
static void pooled_percentiles(const double *sorted, long done, double *pooled)
{
    double total = all_sum((double)done), least = all_min(sorted[0]), most = all_max(sorted[done - 1]);
    for (int p = 0; p < PERCENTILES; p++) {
        double low = least - 1, high = most;        /* low is below the percentile, high is not */
        for (int step = 0; step < 60 && high - low > 1e-4; step++) {
            double middle = (low + high) / 2;
            if (all_sum((double)count_up_to(sorted, done, middle)) + 1e-9 < shares[p] * total)
                low = middle;
            else
                high = middle;
        }
        long next = count_up_to(sorted, done, low);
        pooled[p] = all_min(next < done ? sorted[next] : INFINITY);
    }
}

/* ---- the report -------------------------------------------------------------------------------------------------------- */

/* Edges that grow from a thousandth of the least sample to the largest: noise is rare and far away. */
static void make_edges(double least, double most, double *edges)
{
    double first = least * 0.001, reach = fmax(most - least, 2 * first);
    edges[0] = least;
    for (long b = 1; b <= bins; b++)
        edges[b] = least + (bins > 1 ? first * pow(reach / first, (double)(b - 1) / (double)(bins - 1)) : reach);
    edges[bins] = fmax(edges[bins], most);
}

static void write_histogram(int rank, const double *facts, const double *edges, const double *counts)
{
    open_record("histogram");
    put_text("name", "noise");
    put_text("unit", "us");
    put_count("rank", rank);
    put_text("host", job.node_names + (size_t)job.node_of[rank] * NAME_BYTES);
    put_count("core", (long long)facts[CORE]);
    put_number("percent", percent(facts));
    put_number("min_us", facts[LEAST]);
    put_number("mean_us", facts[MEAN]);
    put_number("p50_us", facts[P50]);
    put_number("p99_us", facts[P99]);
    put_number("p99_9_us", facts[P99_9]);
    put_number("max_us", facts[MOST]);
    open_list("edges");
    for (long b = 0; b <= bins; b++)
        put_number(NULL, edges[b]);
    close_list();
    open_list("counts");
    for (long b = 0; b < bins; b++)
        put_count(NULL, (long long)counts[b]);
    close_list();
    close_record();
}

static void write_result(const double *facts, const double *pooled)
{
    double *minima = memory((size_t)job.ranks * sizeof *minima), worst = 0, sum = 0, most = 0, total = 0;
    int noisiest = 0, slowest = 0;
    for (int r = 0; r < job.ranks; r++) {
        const double *of = facts + (size_t)r * FACTS;
        minima[r] = of[LEAST];
        noisiest = percent(of) > worst ? r : noisiest;
        worst = fmax(worst, percent(of));
        slowest = of[LEAST] > facts[(size_t)slowest * FACTS + LEAST] ? r : slowest;
        most = fmax(most, of[MOST]);
        sum += percent(of);
        total += of[DONE];
    }
    struct spread spread = spread_of(minima, job.ranks);
    open_record("result");
    open_object("noise");
    put_number("percent", sum / job.ranks);
    put_number("worst_percent", worst);
    put_count("worst_rank", noisiest);
    put_number("min_us", spread.min);
    put_number("p50_us", pooled[0]);
    put_number("p99_us", pooled[1]);
    put_number("p99_9_us", pooled[2]);
    put_number("max_us", most);
    put_number("slowest_core_ratio", spread.max / spread.median);   /* of least times; 1 where all cores are equal */
    put_count("slowest_rank", slowest);
    put_count("samples", (long long)total);
    close_object();
    put_flag("complete", !job.stopped);
    close_record();
    free(minima);
}

static void report(const double *us, long done, const double *facts, const double *pooled)
{
    size_t ranks = job.rank == 0 ? (size_t)job.ranks : 0, width = (size_t)bins;
    double *edges = memory((width + 1) * sizeof *edges), *counts = memory(width * sizeof *counts);
    double *all_facts = memory(ranks * FACTS * sizeof *facts), *all_counts = memory(ranks * width * sizeof *counts);
    make_edges(all_min(us[0]), all_max(us[done - 1]), edges);
    for (long b = 0, before = 0; b < bins; b++) {
        long up_to = b == bins - 1 ? done : count_up_to(us, done, edges[b + 1]);
        counts[b] = (double)(up_to - before);
        before = up_to;
    }
    gather_numbers(facts, FACTS, all_facts);
    gather_numbers(counts, (int)bins, all_counts);
    for (size_t r = 0; r < ranks; r++)
        write_histogram((int)r, all_facts + r * FACTS, edges, all_counts + r * width);
    if (ranks)
        write_result(all_facts, pooled);
    free(edges);
    free(counts);
    free(all_facts);
    free(all_counts);
}

static int self_check(void)
{
    double sorted[] = {1, 2, 2, 3}, edges[4], pooled[PERCENTILES];
    double facts[FACTS] = {[LEAST] = 100, [MEAN] = 103};
    check(known_result(1) == factor + increment, "one step of the work is known");
    check(known_result(12345) == work(12345), "12345 steps of the work are known");
    check(count_up_to(sorted, 4, 2) == 3 && count_up_to(sorted, 4, 0) == 0, "samples up to a bound are counted");
    check(fabs(percent(facts) - 3) < 1e-12, "a mean of 103 us over a least of 100 us is 3 % noise");
    check(step_percent(0.02, 10) == 0.2, "a clock that goes in steps of 20 ns can be wrong by 0.2 % of 10 us");
    pooled_percentiles(sorted, 4, pooled);
    check(pooled[0] == 2 && pooled[2] == 3, "the percentiles of all ranks together are those of one when all are equal");
    bins = 3;
    make_edges(1000, 2000, edges);
    check(edges[0] == 1000 && fabs(edges[1] - 1001) < 1e-9 && fabs(edges[3] - 2000) < 1e-9, "the edges reach from least to most");
    quantum = 100;
    samples = 100;
    bins = 10;
    return run();
}
