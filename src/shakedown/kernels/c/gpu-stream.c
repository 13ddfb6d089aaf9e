/* gpu-stream: sustained memory bandwidth of copy, scale, add, triad and dot in the memory of a device, by OpenMP target.
 *
 * Bytes are counted as BabelStream counts them: 2 arrays for copy, scale and dot, 3 for add and triad. The first repeat does not count.
 * Several ranks work at once: one repeat lasts from the first rank's start to the last rank's end, so that the rate of all is of all
 * devices together, and the rate of each rank shows a slow one. Where there is no device the cores of the host do the same loops, and
 * the result says so. 1 GB = 10^9 bytes. */
#include "common.h"
#include "devices.h"

#include <math.h>

enum { COPY, SCALE, ADD, TRIAD, DOT, OPERATIONS };
static const char *const names[OPERATIONS] = {"copy", "scale", "add", "triad", "dot"};
static const int arrays_of[OPERATIONS] = {2, 2, 3, 3, 2};

static long elements = 33554432, repeats = 20;

static const struct option options[] = {
    {"--elements", "N", COUNT, &elements, 1000, "doubles per array and rank; 4 times the caches of the device at least"},
    {"--repeats", "N", COUNT, &repeats, 2, "how often each operation runs; the first is not counted"},
    {"--gpus", "N", COUNT, &gpus, 0, "of each node; where there are any, a rank whose code runs on the host is a failure"},
    {NULL, NULL, FLAG, NULL, 0, NULL}};

static int run(void);
static int self_check(void);

const struct kernel kernel = {
    "gpu-stream", "Memory bandwidth of GPUs in GB/s by OpenMP target: copy c=a, scale b=q*c, add c=a+b, triad a=b+q*c, dot a*b; all ranks at once, best of the repeats.",
    options, run, self_check};

/* 2q + q*q = 1: one round of the first four operations leaves a as it was, so any number of repeats stays in range. */
static const double q = 0.41421356237309504880;
static const double first_a = 0.1, first_b = 0.2, first_c = 0;

struct arrays { double *a, *b, *c; long n; };
struct times { struct span *spans; long done; };     /* of each operation of each repeat */

static struct arrays prepare(void);
static struct times measure(struct arrays arrays, double *sum);
static void validate(struct arrays arrays, double sum);
static void report(struct times times, long n);

static int run(void)
{
    choose_device();
    need_memory(device.host ? 3 * (double)elements * sizeof(double) : 0, "three arrays", "give fewer --elements");
    struct arrays arrays = prepare();
    double sum = 0;
    struct times times = measure(arrays, &sum);
    if (times.done)
        validate(arrays, sum);
    if (times.done > 1)
        report(times, arrays.n);
    free_device(arrays.a);
    free_device(arrays.b);
    free_device(arrays.c);
    free(times.spans);
    return times.done > 1 ? 0 : failed("the budget of %g s ended before a repeat was counted; give more --budget, or fewer --elements", job.budget);
}

/* ---- the loops --------------------------------------------------------------------------------------------------------- */

static struct arrays prepare(void)
{
    size_t bytes = (size_t)elements * sizeof(double);
    const char *way_out = "give fewer --elements, or fewer ranks for each device";
    struct arrays made = {device_memory(bytes, way_out), device_memory(bytes, way_out), device_memory(bytes, way_out), elements};
    double *a = made.a, *b = made.b, *c = made.c;
#pragma omp target teams distribute parallel for is_device_ptr(a, b, c) device(device.number)
    for (long i = 0; i < elements; i++) {
        a[i] = first_a;
        b[i] = first_b;
        c[i] = first_c;
    }
    return made;
}

static double operate(int operation, struct arrays arrays)
{
    double *a = arrays.a, *b = arrays.b, *c = arrays.c, sum = 0;
    const long n = arrays.n;
    switch (operation) {
    case COPY:
#pragma omp target teams distribute parallel for is_device_ptr(a, c) device(device.number)
        for (long i = 0; i < n; i++)
            c[i] = a[i];
        break;
    case SCALE:
#pragma omp target teams distribute parallel for is_device_ptr(b, c) device(device.number)
        for (long i = 0; i < n; i++)
            b[i] = q * c[i];
        break;
    case ADD:
#pragma omp target teams distribute parallel for is_device_ptr(a, b, c) device(device.number)
        for (long i = 0; i < n; i++)
            c[i] = a[i] + b[i];
        break;
    case TRIAD:
#pragma omp target teams distribute parallel for is_device_ptr(a, b, c) device(device.number)
        for (long i = 0; i < n; i++)
            a[i] = b[i] + q * c[i];
        break;
    default:
#pragma omp target teams distribute parallel for is_device_ptr(a, b) device(device.number) map(tofrom: sum) reduction(+: sum)
        for (long i = 0; i < n; i++)
            sum += a[i] * b[i];
    }
    return sum;
}

static struct times measure(struct arrays arrays, double *sum)
{
    struct times times = {memory((size_t)(repeats * OPERATIONS) * sizeof *times.spans), 0};
    struct rounds rounds = share_budget(repeats, 1);
    while (next_batch(&rounds))
        for (long i = 0; i < rounds.batch; i++, times.done++)
            for (int o = 0; o < OPERATIONS; o++) {
                struct span *span = &times.spans[times.done * OPERATIONS + o];
                *span = start_together();
                double result = operate(o, arrays);
                span->ended = now();
                *sum = o == DOT ? result : *sum;
            }
    return times;
}

/* ---- what must have come out ----------------------------------------------------------------------------------------------- */

/* Every round ends where it began: a as at first, b = q a, c = a + q a. The sum of products is over all elements. */
static void expect(double wanted[3], double *product, long n)
{
    wanted[0] = first_a;
    wanted[1] = q * first_a;
    wanted[2] = first_a + q * first_a;
    *product = wanted[0] * wanted[1] * (double)n;
}

static void validate(struct arrays arrays, double sum)
{
    enum { PIECE = 1 << 16 };
    static const char *const array_names[] = {"a", "b", "c"};
    const double *all[] = {arrays.a, arrays.b, arrays.c};
    double wanted[3], product, *piece = memory(PIECE * sizeof *piece);
    expect(wanted, &product, arrays.n);
    for (int k = 0; k < 3; k++)
        for (long from = 0; from < arrays.n; from += PIECE) {
            long count = arrays.n - from < PIECE ? arrays.n - from : PIECE;
            from_device(piece, all[k] + from, (size_t)count * sizeof *piece);
            if (job.fault && job.rank == job.ranks - 1 && k == 1 && !from)
                piece[count - 1] *= 1.001;
            for (long i = 0; i < count; i++)
                if (!(fabs(piece[i] / wanted[k] - 1) < 1e-8))
                    fail("the results are wrong: element %ld of array %s is %.17g, and must be %.17g", from + i, array_names[k], piece[i], wanted[k]);
        }
    if (!(fabs(sum / product - 1) < 1e-8))
        fail("the results are wrong: the sum of products is %.17g, and must be %.17g", sum, product);
    free(piece);
}

/* ---- the report -------------------------------------------------------------------------------------------------------- */

static double gigabytes(int operation, long n)
{
    return arrays_of[operation] * (double)n * sizeof(double) / 1e9;
}

/* Seconds of an operation: the best and the mean; the first repeat does not count. */
static void best_and_mean(const double *seconds, long done, int operation, double *best, double *mean)
{
    *best = INFINITY;
    *mean = 0;
    for (long r = 1; r < done; r++) {
        *best = fmin(*best, seconds[r * OPERATIONS + operation]);
        *mean += seconds[r * OPERATIONS + operation] / (double)(done - 1);
    }
}

static void report(struct times times, long n)
{
    long count = times.done * OPERATIONS;
    double *whole = memory((size_t)count * sizeof *whole), *own = memory((size_t)count * sizeof *own);
    double slowest[OPERATIONS], best, mean;
    job_seconds(times.spans, count, whole);
    for (long k = 0; k < count; k++)
        own[k] = times.spans[k].ended - times.spans[k].began;
    for (int o = 0; o < OPERATIONS; o++) {
        best_and_mean(own, times.done, o, &best, &mean);
        slowest[o] = all_min(gigabytes(o, n) / best);
        if (o == TRIAD)
            write_by_rank("triad", "GB/s", gigabytes(o, n) / best);
    }
    open_record("result");
    for (int o = 0; o < OPERATIONS; o++) {
        best_and_mean(whole, times.done, o, &best, &mean);
        open_object(names[o]);
        put_number("gb_s", job.ranks * gigabytes(o, n) / best);
        put_number("avg_gb_s", job.ranks * gigabytes(o, n) / mean);
        put_number("slowest_rank_gb_s", slowest[o]);
        close_object();
    }
    put_count("elements", n);
    put_count("counted", times.done - 1);
    put_devices();
    end_result();
    free(whole);
    free(own);
}

static int self_check(void)
{
    const double seconds[] = {9, 9, 9, 1, 9, 9, 9, 9, 4, 9, 9, 9, 9, 2, 9};
    double best, mean, wanted[3], product;
    best_and_mean(seconds, 3, TRIAD, &best, &mean);
    check(best == 2 && mean == 3, "of 1, 4 and 2 s the first does not count, the best is 2 s and the mean 3 s");
    check(gigabytes(COPY, 1000000) == 0.016 && gigabytes(TRIAD, 1000000) == 0.024, "copy moves two arrays and triad three");
    check(gigabytes(DOT, 1000000) == 0.016 && gigabytes(SCALE, 1000000) == 0.016 && gigabytes(ADD, 1000000) == 0.024,
          "dot and scale read or write two arrays, add three");
    check(fabs(2 * q + q * q - 1) < 1e-15, "a round of operations leaves a as it was");
    expect(wanted, &product, 1000);
    check(fabs(wanted[1] + q * wanted[2] - wanted[0]) < 1e-15, "triad of what a round leaves is what it began with");
    elements = 5000;
    repeats = 3;
    return run();
}
