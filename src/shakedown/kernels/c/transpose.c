/* transpose: a Fourier transform in three dimensions over all ranks, there and back: two all-to-all exchanges of the whole cube.
 *
 * The cube of n*n*n complex numbers lies in slabs: each rank has some of the planes along z. It transforms them along x and y, the ranks
 * exchange blocks so that each has all z of some y, and transform along z; then back. The cube begins as one wave whose transform is known:
 * one number n*n*n, and zeros. Both this and the way back are checked. A transform is counted, as is usual, as 5 n*n*n log2(n*n*n)
 * operations, there and back as two. Bytes are those that leave a rank. 1 MB = 10^6 bytes. */
#include "common.h"

#include <limits.h>
#include <math.h>

static long n = 64, repeats = 10;

static const struct option options[] = {
    {"--n", "N", COUNT, &n, 4, "numbers along each side of the cube; a power of two, at least the number of ranks"},
    {"--repeats", "N", COUNT, &repeats, 1, "transforms there and back that count; one before them does not"},
    {NULL, NULL, FLAG, NULL, 0, NULL}};

static int run(void);
static int self_check(void);

const struct kernel kernel = {
    "transpose", "A 3-D Fourier transform there and back: time, operations of all ranks, and the rate of its two all-to-all exchanges.", options, run,
    self_check};

struct number { double re, im; };
struct slabs { struct number *a, *b, *line, *turn; long *swap; int *counts, *places; };
enum { WAVE_X = 1, WAVE_Y = 2, WAVE_Z = 3, WAYS = 2, BYTES = sizeof(struct number) };

static bool yielding;       /* ranks of some host share cores */

static struct slabs make_slabs(void);
static void free_slabs(struct slabs *s);
static double there(struct slabs *s);
static double back(struct slabs *s);
static void verify_there(struct slabs *s);
static void verify_back(struct slabs *s);
static void report(long done, double seconds, double exchange);

static int run(void)
{
    if ((n & (n - 1)) != 0 || n > 8192)
        misuse("option '--n': %ld is no power of two up to 8192", n);
    if (n < job.ranks)
        misuse("a cube of %ld along each side has no plane for each of %d ranks; give a larger --n", n, job.ranks);
    double bytes = 2.0 * BYTES * (double)n * (double)n * (double)((n + job.ranks - 1) / job.ranks);
    if (bytes / 2 > INT_MAX)
        misuse("the slabs of %g bytes are too long; the most is %d: give a smaller --n, or more ranks", bytes / 2, INT_MAX);
    need_memory(bytes, "the slabs", "give a smaller --n");
    struct slabs s = make_slabs();
    yielding = all_max(job.crowded) > 0;
    double seconds = 0, exchange = 0;
    long done = 0, timed = 0;
    if (!budget_over()) {
        there(&s);
        verify_there(&s);
        back(&s);
        done = 1;
    }
    struct rounds rounds = share_budget(repeats, 1);
    while (done && next_batch(&rounds))
        for (long i = 0; i < rounds.batch; i++, timed++) {
            struct span span = start_together();
            double took;
            exchange += there(&s) + back(&s);
            span.ended = now();
            job_seconds(&span, 1, &took);
            seconds += took;
        }
    if (done)
        verify_back(&s);
    if (timed)
        report(timed, seconds, all_max(exchange));
    free_slabs(&s);
    return timed ? 0 : failed("the budget of %g s ended before a transform was timed; give more --budget, or a smaller --n", job.budget);
}

/* ---- who has what ---------------------------------------------------------------------------------------------------------- */

/* The first plane of a rank; that of rank `ranks` is n. */
static long first_of(int rank, int ranks, long size)
{
    return size * rank / ranks;
}

static long planes_of(int rank, int ranks, long size)
{
    return first_of(rank + 1, ranks, size) - first_of(rank, ranks, size);
}

static struct number wave(long x, long y, long z)
{
    double angle = 2 * 3.14159265358979323846 * (double)((WAVE_X * x + WAVE_Y * y + WAVE_Z * z) % n) / (double)n;
    return (struct number){cos(angle), sin(angle)};
}

static long reversed(long i, long size)
{
    long turned = 0;
    for (long bit = 1; bit < size; bit <<= 1, i >>= 1)
        turned = 2 * turned + (i & 1);
    return turned;
}

static struct slabs make_slabs(void)
{
    size_t most = (size_t)(n * n * ((n + job.ranks - 1) / job.ranks)) * BYTES, table = (size_t)job.ranks * sizeof(int);
    struct slabs s = {memory(most), memory(most), memory((size_t)n * BYTES), memory((size_t)n * BYTES), memory((size_t)n * sizeof(long)),
                      memory(table), memory(table)};
    long mine = planes_of(job.rank, job.ranks, n), from = first_of(job.rank, job.ranks, n);
    for (long i = 0; i < n; i++) {
        double angle = -2 * 3.14159265358979323846 * (double)i / (double)n;
        s.turn[i] = (struct number){cos(angle), sin(angle)};
        s.swap[i] = reversed(i, n);
    }
    for (int r = 0; r < job.ranks; r++) {       /* what goes to r are its y of my z, of each x */
        s.counts[r] = (int)(BYTES * n * mine * planes_of(r, job.ranks, n));
        s.places[r] = (int)(BYTES * n * mine * first_of(r, job.ranks, n));
    }
    for (long z = 0; z < mine; z++)
        for (long y = 0; y < n; y++)
            for (long x = 0; x < n; x++)
                s.a[(z * n + y) * n + x] = wave(x, y, from + z);
    return s;
}

static void free_slabs(struct slabs *s)
{
    void *all[] = {s->a, s->b, s->line, s->turn, s->swap, s->counts, s->places};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

/* ---- one line -------------------------------------------------------------------------------------------------------------- */

/* In place; `sign` 1 there, -1 back. */
static void transform(struct slabs *s, struct number *line, double sign)
{
    for (long i = 0; i < n; i++)
        if (i < s->swap[i]) {
            struct number kept = line[i];
            line[i] = line[s->swap[i]];
            line[s->swap[i]] = kept;
        }
    for (long half = 1; half < n; half *= 2)
        for (long begin = 0; begin < n; begin += 2 * half)
            for (long i = 0; i < half; i++) {
                struct number turn = s->turn[i * (n / (2 * half))], *low = &line[begin + i], *high = low + half;
                double im = sign * turn.im, re = high->re * turn.re - high->im * im, other = high->re * im + high->im * turn.re;
                *high = (struct number){low->re - re, low->im - other};
                *low = (struct number){low->re + re, low->im + other};
            }
}

/* Each line of `n` numbers that lie `apart`, the first ones at begin + 0, step, 2 step ... */
static void transform_lines(struct slabs *s, struct number *begin, long lines, long step, long apart, double sign)
{
    for (long l = 0; l < lines; l++) {
        struct number *first = begin + l * step;
        if (apart == 1) {
            transform(s, first, sign);
            continue;
        }
        for (long i = 0; i < n; i++)
            s->line[i] = first[i * apart];
        transform(s, s->line, sign);
        for (long i = 0; i < n; i++)
            first[i * apart] = s->line[i];
    }
}

/* ---- the exchange ------------------------------------------------------------------------------------------------------------ */

/* Seconds; the blocks of `out` go to the ranks in order, and come in the same way: block counts are the same both ways, since the
 * planes along z and along y are shared out alike. */
static double exchange_blocks(struct slabs *s, struct number *out, struct number *in)
{
    double began = now();
    if (yielding) {
        MPI_Request request;
        MPI_Ialltoallv(out, s->counts, s->places, MPI_BYTE, in, s->counts, s->places, MPI_BYTE, MPI_COMM_WORLD, &request);
        settle(&request);
    } else
        MPI_Alltoallv(out, s->counts, s->places, MPI_BYTE, in, s->counts, s->places, MPI_BYTE, MPI_COMM_WORLD);
    return now() - began;
}

/* The slab [own][n][n] as blocks for each rank, [rank][its planes][own][n]. */
static void pack(const struct number *slab, struct number *blocks)
{
    long own = planes_of(job.rank, job.ranks, n), at = 0;
    for (int r = 0; r < job.ranks; r++) {
        long from = first_of(r, job.ranks, n), planes = planes_of(r, job.ranks, n);
        for (long p = 0; p < planes; p++)
            for (long o = 0; o < own; o++, at += n)
                memcpy(blocks + at, slab + (o * n + from + p) * n, (size_t)n * BYTES);
    }
}

/* What arrives from rank r is [my planes][its planes][n]; as a slab it is [my plane][its first + its plane][n]. */
static void gather(const struct number *blocks, struct number *slab)
{
    long own = planes_of(job.rank, job.ranks, n), at = 0;
    for (int r = 0; r < job.ranks; r++) {
        long from = first_of(r, job.ranks, n), planes = planes_of(r, job.ranks, n);
        for (long o = 0; o < own; o++)
            for (long p = 0; p < planes; p++, at += n)
                memcpy(slab + (o * n + from + p) * n, blocks + at, (size_t)n * BYTES);
    }
}

/* A slab of planes along one axis becomes one along the other. Seconds of the exchange. */
static double turn_slab(struct slabs *s)
{
    struct number *slab = s->a;
    pack(s->a, s->b);
    double seconds = exchange_blocks(s, s->b, s->a);
    gather(s->a, s->b);
    s->a = s->b;
    s->b = slab;
    return seconds;
}

static double there(struct slabs *s)
{
    long own = planes_of(job.rank, job.ranks, n);
    transform_lines(s, s->a, own * n, n, 1, 1);
    for (long z = 0; z < own; z++)
        transform_lines(s, s->a + z * n * n, n, 1, n, 1);
    double seconds = turn_slab(s);
    for (long y = 0; y < own; y++)
        transform_lines(s, s->a + y * n * n, n, 1, n, 1);
    return seconds;
}

static double back(struct slabs *s)
{
    long own = planes_of(job.rank, job.ranks, n);
    for (long y = 0; y < own; y++)
        transform_lines(s, s->a + y * n * n, n, 1, n, -1);
    double seconds = turn_slab(s);
    for (long z = 0; z < own; z++)
        transform_lines(s, s->a + z * n * n, n, 1, n, -1);
    transform_lines(s, s->a, own * n, n, 1, -1);
    double all = (double)n * (double)n * (double)n;
    for (long i = 0; i < n * n * own; i++)
        s->a[i] = (struct number){s->a[i].re / all, s->a[i].im / all};
    return seconds;
}

/* ---- what must come out ------------------------------------------------------------------------------------------------------ */

static void compare(struct number got, struct number wanted, double tolerance, const char *when)
{
    if (!(fabs(got.re - wanted.re) < tolerance && fabs(got.im - wanted.im) < tolerance))
        fail("%s a number is %.12g%+.12gi, and must be %.12g%+.12gi", when, got.re, got.im, wanted.re, wanted.im);
}

/* [my y][z][x]: one number at the wave, else zeros. */
static void verify_there(struct slabs *s)
{
    long own = planes_of(job.rank, job.ranks, n), from = first_of(job.rank, job.ranks, n);
    double all = (double)n * (double)n * (double)n;
    for (long y = 0; y < own; y++)
        for (long z = 0; z < n; z++)
            for (long x = 0; x < n; x++) {
                bool here = x == WAVE_X && from + y == WAVE_Y && z == WAVE_Z;
                compare(s->a[(y * n + z) * n + x], (struct number){here ? all : 0, 0}, 1e-10 * all, "after the transform");
            }
}

static void verify_back(struct slabs *s)
{
    long own = planes_of(job.rank, job.ranks, n), from = first_of(job.rank, job.ranks, n);
    if (job.fault && job.rank == job.ranks - 1)
        s->a[n * n * own - 1].im += 1;
    for (long z = 0; z < own; z++)
        for (long y = 0; y < n; y++)
            for (long x = 0; x < n; x++)
                compare(s->a[(z * n + y) * n + x], wave(x, y, from + z), 1e-9, "after the way back");
}

/* ---- the report -------------------------------------------------------------------------------------------------------------- */

static double flops_of(long size)
{
    double all = (double)size * (double)size * (double)size;
    return WAYS * 5 * all * log2(all);
}

/* That leave a rank, of all ranks, there and back. */
static double bytes_of(long size, int ranks)
{
    double all = 0;
    for (int r = 0; r < ranks; r++)
        all += (double)planes_of(r, ranks, size) * (double)(size - planes_of(r, ranks, size)) * (double)size;
    return WAYS * (double)BYTES * all;
}

static double megabytes_s(double bytes, double seconds)
{
    return bytes / seconds / 1e6;
}

static void report(long done, double seconds, double exchange)
{
    double flops = flops_of(n) * (double)done;
    open_record("result");
    open_object("transpose");
    put_number("ms", 1e3 * seconds / (double)done);
    put_number("gflop_s", flops / seconds / 1e9);
    put_number("exchange_mb_s", job.ranks > 1 ? megabytes_s(bytes_of(n, job.ranks) * (double)done, exchange) : NAN);
    put_number("exchange_share", exchange / seconds);
    close_object();
    put_work(flops, seconds, done);
    end_result();
}

static int self_check(void)
{
    check(flops_of(4) == 3840, "64 numbers there and back are 2 * 5 * 64 * 6 operations");
    check(bytes_of(4, 2) == 1024, "half of 64 numbers of 16 bytes leave their rank, there and back");
    check(megabytes_s(6e6, 2) == 3, "6 million bytes in 2 s are 3 MB/s");
    check(reversed(1, 8) == 4 && reversed(6, 8) == 3, "001 turned round is 100, and 110 is 011");
    check(planes_of(0, 3, 8) + planes_of(1, 3, 8) + planes_of(2, 3, 8) == 8 && first_of(3, 3, 8) == 8, "three ranks share 8 planes");
    n = job.ranks > 8 ? 64 : 8;
    repeats = 2;
    return run();
}
