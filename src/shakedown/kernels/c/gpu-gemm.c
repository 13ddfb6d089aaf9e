/* gpu-gemm: each rank multiplies two square matrices in the memory of its device, C = A B, by OpenMP target, and all ranks at once.
 *
 * Each thread makes a small tile of C in registers: plain C, which a compiler turns into code for the device. It is no vendor's library and
 * uses no tensor units: it compares devices with each other, and shows what a compiler makes of arithmetic. The numbers in A and B are
 * small and whole, so that each element of C is known exactly, in double and in single precision, and checked. 2 n*n*n operations a
 * multiplication. Where there is no device the cores of the host do it, and the result says so. 1 GFLOP = 10^9 operations. */
#include "common.h"
#include "devices.h"
#include "products.h"

static long n = 4096, repeats = 10;
static const char *precision = "double";

static const struct option options[] = {
    {"--n", "N", COUNT, &n, 4, "rows and columns of the matrices; a multiple of 4"},
    {"--precision", "double|single", TEXT, &precision, 0, "of the numbers; one of them"},
    {"--repeats", "N", COUNT, &repeats, 1, "multiplications that count; one before them does not"},
    {"--gpus", "N", COUNT, &gpus, 0, "of each node; where there are any, a rank whose code runs on the host is a failure"},
    {NULL, NULL, FLAG, NULL, 0, NULL}};

static int run(void);
static int self_check(void);

const struct kernel kernel = {
    "gpu-gemm", "Multiplication of matrices on every GPU at once by OpenMP target: GFLOP/s of all ranks together, of the slowest and the median rank.",
    options, run, self_check};

enum { TILE = 4 };

struct matrices { void *a, *b, *c; bool single; };

static struct matrices make_matrices(void);
static void multiply(const void *matrices);
static void verify(struct matrices m);
static void report(struct products timed);

static size_t bytes_of_matrix(void)
{
    return (size_t)n * (size_t)n * (strcmp(precision, "single") == 0 ? sizeof(float) : sizeof(double));
}

static int run(void)
{
    if (n % TILE != 0)
        misuse("option '--n': %ld is no multiple of %d", n, TILE);
    if (n > 100000)
        misuse("option '--n': %ld is too many; the most is 100000", n);
    if (strchr(precision, ','))
        misuse("option '--precision': '%s' is a list; give one", precision);
    choose_device();
    need_memory(device.host ? 3 * (double)bytes_of_matrix() : 0, "the matrices", "give a smaller --n");
    struct matrices m = make_matrices();
    struct products timed = time_products(multiply, &m, repeats);
    if (timed.done)
        verify(m);
    if (timed.done > 1)
        report(timed);
    free_device(m.a);
    free_device(m.b);
    free_device(m.c);
    return free_products(timed);
}

/* ---- the matrices -------------------------------------------------------------------------------------------------------- */

/* The same loops for both precisions. C is spoiled first and written once a multiplication. */
#define FOR_PRECISION(type) \
    static void fill_##type(type *a, type *b, type *c, long size, int rank) \
    { \
        _Pragma("omp target teams distribute parallel for collapse(2) is_device_ptr(a, b, c) device(device.number)") \
        for (long i = 0; i < size; i++) \
            for (long j = 0; j < size; j++) { \
                a[i * size + j] = (type)in_a(rank, i, j); \
                b[i * size + j] = (type)in_b(rank, i, j); \
                c[i * size + j] = -1; \
            } \
    } \
    static void multiply_##type(const type *a, const type *b, type *c, long size) \
    { \
        _Pragma("omp target teams distribute parallel for collapse(2) is_device_ptr(a, b, c) device(device.number)") \
        for (long i = 0; i < size; i += TILE) \
            for (long j = 0; j < size; j += TILE) { \
                type tile[TILE][TILE] = {{0}}; \
                for (long k = 0; k < size; k++) \
                    for (int y = 0; y < TILE; y++) \
                        for (int x = 0; x < TILE; x++) \
                            tile[y][x] += a[(i + y) * size + k] * b[k * size + j + x]; \
                for (int y = 0; y < TILE; y++) \
                    for (int x = 0; x < TILE; x++) \
                        c[(i + y) * size + j + x] = tile[y][x]; \
            } \
    }
FOR_PRECISION(double)
FOR_PRECISION(float)

static struct matrices make_matrices(void)
{
    size_t bytes = bytes_of_matrix();
    const char *way_out = "give a smaller --n, or fewer ranks for each device";
    struct matrices m = {device_memory(bytes, way_out), device_memory(bytes, way_out), device_memory(bytes, way_out), strcmp(precision, "single") == 0};
    if (m.single)
        fill_float(m.a, m.b, m.c, n, job.rank);
    else
        fill_double(m.a, m.b, m.c, n, job.rank);
    return m;
}

static void multiply(const void *matrices)
{
    const struct matrices *m = matrices;
    if (m->single)
        multiply_float(m->a, m->b, m->c, n);
    else
        multiply_double(m->a, m->b, m->c, n);
}

static void verify(struct matrices m)
{
    double table[VALUES_A][VALUES_B];
    size_t width = m.single ? sizeof(float) : sizeof(double);
    char *row = memory((size_t)n * width);
    for (long i = 0; i < VALUES_A; i++)
        for (long j = 0; j < VALUES_B; j++)
            table[i][j] = known(job.rank, i, j, n);
    for (long i = 0; i < n; i++) {
        from_device(row, (char *)m.c + (size_t)(i * n) * width, (size_t)n * width);
        for (long j = 0; j < n; j++) {
            double found = m.single ? (double)((float *)row)[j] : ((double *)row)[j], wanted = table[i % VALUES_A][j % VALUES_B];
            found += job.fault && job.rank == job.ranks - 1 && i == n - 1 && j == n - 1;
            if (found != wanted)
                fail("after a multiplication element %ld,%ld is %.17g, and must be %.17g", i, j, found, wanted);
        }
    }
    free(row);
}

/* ---- the report ---------------------------------------------------------------------------------------------------------- */

static void report(struct products timed)
{
    double rate = gflop_s(flops_of(n), best_of(timed.own, timed.done));
    struct spread ranks = rates_of_ranks(rate);
    write_by_rank(precision, "GFLOP/s", rate);
    open_record("result");
    put_rates(flops_of(n), timed, ranks);
    put_text("precision", precision);
    put_devices();
    end_result();
}

static int self_check(void)
{
    check_products();
    n = 44;     /* a whole cycle of 35 products and a part of one */
    repeats = 1;
    precision = "single";
    if (run() != 0)
        return 1;
    precision = "double";
    return run();
}
