/* gemm: each rank multiplies two square matrices of its own, C = A B, and all ranks at once.
 *
 * A loop in blocks that fit caches, with a small tile of C in registers: plain C, which a compiler vectorizes. It is no vendor's library:
 * it compares cores and nodes with each other, and shows what a compiler makes of arithmetic. The numbers in A and B are small and
 * whole, so that each element of C is known exactly, and checked. 2 n*n*n operations a multiplication. 1 GFLOP = 10^9 operations. */
#include "common.h"
#include "products.h"

static long n = 480, repeats = 10;

static const struct option options[] = {
    {"--n", "N", COUNT, &n, 8, "rows and columns of the matrices; a multiple of 8"},
    {"--repeats", "N", COUNT, &repeats, 1, "multiplications that count; one before them does not"},
    {NULL, NULL, FLAG, NULL, 0, NULL}};

static int run(void);
static int self_check(void);

const struct kernel kernel = {
    "gemm", "Multiplication of matrices on every rank at once: GFLOP/s of all ranks together, of the slowest and the median rank.", options, run,
    self_check};

enum { ROWS = 2, COLUMNS = 8, DEPTH = 240 };

struct matrices { double *a, *b, *c; };

static struct matrices make_matrices(int rank);
static void multiply(const void *matrices);
static void verify(struct matrices m, int rank, long done);
static void report(struct products timed);

static int run(void)
{
    if (n % COLUMNS != 0)
        misuse("option '--n': %ld is no multiple of %d", n, COLUMNS);
    if (n > 20000)
        misuse("option '--n': %ld is too many; the most is 20000", n);
    need_memory(3 * (double)n * (double)n * sizeof(double), "the matrices", "give a smaller --n");
    tell_crowd(1, "they share the cores that are measured");
    struct matrices m = make_matrices(job.rank);
    struct products timed = time_products(multiply, &m, repeats);
    verify(m, job.rank, timed.done);
    if (timed.done > 1)
        report(timed);
    free(m.a);
    free(m.b);
    free(m.c);
    return free_products(timed);
}

/* ---- the matrices -------------------------------------------------------------------------------------------------------- */

static struct matrices make_matrices(int rank)
{
    size_t bytes = (size_t)n * (size_t)n * sizeof(double);
    struct matrices m = {memory(bytes), memory(bytes), memory(bytes)};
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++) {
            m.a[i * n + j] = in_a(rank, i, j);
            m.b[i * n + j] = in_b(rank, i, j);
            m.c[i * n + j] = 0;
        }
    return m;
}

/* Tiles of C that stay in registers, over a block of the inner dimension that stays in the cache. */
static ONE_COPY void add_tile(const double *a, const double *b, double *c, long depth, long stride)
{
    double tile[ROWS][COLUMNS] = {{0}};
    for (long k = 0; k < depth; k++)
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLUMNS; j++)
                tile[i][j] += a[i * stride + k] * b[k * stride + j];
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            c[i * stride + j] += tile[i][j];
}

/* C += A B. C grows by the product each time, so that no multiplication can be left out. */
static void multiply(const void *matrices)
{
    const struct matrices *m = matrices;
    for (long k = 0; k < n; k += DEPTH)
        for (long j = 0; j < n; j += COLUMNS)
            for (long i = 0; i < n; i += ROWS)
                add_tile(m->a + i * n + k, m->b + k * n + j, m->c + i * n + j, n - k < DEPTH ? n - k : DEPTH, n);
}

static void verify(struct matrices m, int rank, long done)
{
    double table[VALUES_A][VALUES_B];
    for (long i = 0; i < VALUES_A; i++)
        for (long j = 0; j < VALUES_B; j++)
            table[i][j] = (double)done * known(rank, i, j, n);
    if (job.fault && rank == job.ranks - 1)
        m.c[n * n - 1] += 1;
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++)
            if (m.c[i * n + j] != table[i % VALUES_A][j % VALUES_B])
                fail("after %ld multiplications element %ld,%ld is %.17g, and must be %.17g", done, i, j, m.c[i * n + j],
                     table[i % VALUES_A][j % VALUES_B]);
}

/* ---- the report ---------------------------------------------------------------------------------------------------------- */

static void report(struct products timed)
{
    struct spread ranks = rates_of_ranks(gflop_s(flops_of(n), best_of(timed.own, timed.done)));
    open_record("result");
    put_rates(flops_of(n), timed, ranks);
    end_result();
}

static int self_check(void)
{
    check_products();
    n = DEPTH + 8;      /* a whole block and a part of one */
    repeats = 2;
    return run();
}
