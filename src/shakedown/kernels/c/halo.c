/* halo: a 3-D stencil of 7 points over a grid of ranks: faces to up to six neighbours, then the update of every cell.
 *
 * Each rank has a cube of cells. A step sends the six faces, receives those of the neighbours, and sets u to
 * u + (sum of the 6 neighbours - 6 u) / 2. The field begins as x*x + y*y + z*z over the whole grid, of which a step makes 3 more in each
 * cell, exactly: so every cell is known after any number of steps, and a face that is old, lost or another's is found. What lies beyond
 * the grid is set to what it must be. Operations are counted as written: 9 a cell and step. 1 MB = 10^6 bytes. */
#include "common.h"

#include <math.h>

static long cells = 64, steps = 200;

static const struct option options[] = {
    {"--cells", "N", COUNT, &cells, 2, "of a rank along each side of its cube"},
    {"--steps", "N", COUNT, &steps, 1, "that are timed; one before them is not"},
    {NULL, NULL, FLAG, NULL, 0, NULL}};

static int run(void);
static int self_check(void);

const struct kernel kernel = {
    "halo", "A 3-D stencil: time of a step, the operations of all ranks, and the share of the exchange of faces with up to six neighbours.", options,
    run, self_check};

enum { AXES = 3, SIDES = 6, FACE = 1, FLOPS = 9, GROWTH = 3 };

struct grid { int dims[AXES], at[AXES], neighbours[SIDES]; };      /* sides: low x, high x, low y, ... */
struct field { double *now, *next, *out[SIDES], *in[SIDES]; long n; };

static struct grid make_grid(int rank, int ranks);
static struct field make_field(struct grid grid);
static double advance(struct grid grid, struct field *field, long step);
static void verify(struct grid grid, struct field field, long done);
static void report(struct grid grid, long done, double seconds, double exchange);

static int run(void)
{
    double each = 2 * pow((double)cells + 2, 3) * sizeof(double) + 12 * (double)cells * (double)cells * sizeof(double);
    if (cells > 4096)
        misuse("option '--cells': %ld is too many; the most is 4096", cells);
    need_memory(each, "the cells", "give fewer --cells");
    struct grid grid = make_grid(job.rank, job.ranks);
    struct field field = make_field(grid);
    double seconds = 0, exchange = 0;
    long done = 0, timed = 0;
    if (!budget_over())
        advance(grid, &field, done++);
    struct rounds rounds = share_budget(steps, 1);
    while (done && next_batch(&rounds)) {
        struct span span = start_together();
        double batch = 0;
        for (long i = 0; i < rounds.batch; i++)
            exchange += advance(grid, &field, done++);
        span.ended = now();
        job_seconds(&span, 1, &batch);
        seconds += batch;
        timed += rounds.batch;
    }
    verify(grid, field, done);
    if (timed)
        report(grid, timed, seconds, all_max(exchange));
    free(field.now);
    free(field.next);
    for (int side = 0; side < SIDES; side++) {
        free(field.out[side]);
        free(field.in[side]);
    }
    return timed ? 0 : failed("the budget of %g s ended before a step was timed; give more --budget, or fewer --cells", job.budget);
}

/* ---- the grid ---------------------------------------------------------------------------------------------------------- */

static int rank_at(const struct grid *grid, const int *at)
{
    return (at[2] * grid->dims[1] + at[1]) * grid->dims[0] + at[0];
}

static struct grid make_grid(int rank, int ranks)
{
    struct grid grid = {{0, 0, 0}, {0, 0, 0}, {0}};
    MPI_Dims_create(ranks, AXES, grid.dims);
    grid.at[0] = rank % grid.dims[0];
    grid.at[1] = rank / grid.dims[0] % grid.dims[1];
    grid.at[2] = rank / grid.dims[0] / grid.dims[1];
    for (int side = 0; side < SIDES; side++) {
        int at[AXES] = {grid.at[0], grid.at[1], grid.at[2]}, axis = side / 2;
        at[axis] += side % 2 ? 1 : -1;
        grid.neighbours[side] = at[axis] < 0 || at[axis] >= grid.dims[axis] ? MPI_PROC_NULL : rank_at(&grid, at);
    }
    return grid;
}

/* Faces that all ranks send in a step. */
static double faces_of(const int *dims)
{
    double all = 0;
    for (int axis = 0; axis < AXES; axis++)
        all += 2.0 * (dims[axis] - 1) * dims[(axis + 1) % AXES] * dims[(axis + 2) % AXES];
    return all;
}

static size_t place(long n, long x, long y, long z)
{
    return ((size_t)z * (size_t)(n + 2) + (size_t)y) * (size_t)(n + 2) + (size_t)x;
}

/* What a cell holds after some steps; x, y and z count within the rank's cube from 1, and its halo is 0 and n + 1. */
static double known(struct grid grid, long n, long x, long y, long z, long step)
{
    double a = (double)(grid.at[0] * n + x), b = (double)(grid.at[1] * n + y), c = (double)(grid.at[2] * n + z);
    return a * a + b * b + c * c + (double)GROWTH * (double)step;
}

static struct field make_field(struct grid grid)
{
    size_t all = (size_t)(cells + 2) * (size_t)(cells + 2) * (size_t)(cells + 2), face = (size_t)(cells * cells);
    struct field field = {memory(all * sizeof(double)), memory(all * sizeof(double)), {NULL}, {NULL}, cells};
    for (size_t i = 0; i < all; i++)
        field.now[i] = field.next[i] = -1;
    for (int side = 0; side < SIDES; side++) {
        field.out[side] = memory(face * sizeof(double));
        field.in[side] = memory(face * sizeof(double));
    }
    for (long z = 1; z <= cells; z++)
        for (long y = 1; y <= cells; y++)
            for (long x = 1; x <= cells; x++)
                field.now[place(cells, x, y, z)] = known(grid, cells, x, y, z, 0);
    return field;
}

/* The place of a cell (i, j) of the layer that lies `depth` along the axis of a side. */
static size_t on_side(long n, int side, long depth, long i, long j)
{
    return side / 2 == 0 ? place(n, depth, i, j) : side / 2 == 1 ? place(n, i, depth, j) : place(n, i, j, depth);
}

/* ---- a step ------------------------------------------------------------------------------------------------------------ */

static void pack(struct field field, int side)
{
    long depth = side % 2 ? field.n : 1, k = 0;
    for (long j = 1; j <= field.n; j++)
        for (long i = 1; i <= field.n; i++)
            field.out[side][k++] = field.now[on_side(field.n, side, depth, i, j)];
}

/* The halo of a side: what its neighbour sent, or what lies beyond the grid. */
static void fill_halo(struct grid grid, struct field field, int side, long step)
{
    long depth = side % 2 ? field.n + 1 : 0, k = 0;
    bool beyond = grid.neighbours[side] == MPI_PROC_NULL;
    for (long j = 1; j <= field.n; j++)
        for (long i = 1; i <= field.n; i++, k++) {
            long x = side / 2 == 0 ? depth : i, y = side / 2 == 1 ? depth : side / 2 == 0 ? i : j, z = side / 2 == 2 ? depth : j;
            field.now[place(field.n, x, y, z)] = beyond ? known(grid, field.n, x, y, z, step) : field.in[side][k];
        }
}

static void exchange_faces(struct grid grid, struct field field)
{
    MPI_Request requests[2 * SIDES];
    int count = (int)(field.n * field.n);
    for (int side = 0; side < SIDES; side++)
        MPI_Irecv(field.in[side], count, MPI_DOUBLE, grid.neighbours[side], FACE + (side ^ 1), MPI_COMM_WORLD, &requests[side]);
    for (int side = 0; side < SIDES; side++) {
        pack(field, side);
        MPI_Isend(field.out[side], count, MPI_DOUBLE, grid.neighbours[side], FACE + side, MPI_COMM_WORLD, &requests[SIDES + side]);
    }
    settle_all(requests, 2 * SIDES, job.crowded);
}

static ONE_COPY void update(const double *now, double *next, long n)
{
    long row = n + 2, layer = row * row;
    for (long z = 1; z <= n; z++)
        for (long y = 1; y <= n; y++) {
            const double *u = now + place(n, 0, y, z);
            double *v = next + place(n, 0, y, z);
            for (long x = 1; x <= n; x++)
                v[x] = u[x] + 0.5 * (u[x - 1] + u[x + 1] + u[x - row] + u[x + row] + u[x - layer] + u[x + layer] - 6 * u[x]);
        }
}

/* Seconds of its exchange. */
static double advance(struct grid grid, struct field *field, long step)
{
    double began = now();
    exchange_faces(grid, *field);
    for (int side = 0; side < SIDES; side++)
        if (grid.neighbours[side] != MPI_PROC_NULL)
            fill_halo(grid, *field, side, step);
    double exchanged = now() - began, *old = field->now;
    for (int side = 0; side < SIDES; side++)
        if (grid.neighbours[side] == MPI_PROC_NULL)
            fill_halo(grid, *field, side, step);
    update(field->now, field->next, field->n);
    field->now = field->next;
    field->next = old;
    return exchanged;
}

static void verify(struct grid grid, struct field field, long done)
{
    if (job.fault && job.rank == job.ranks - 1)
        field.now[place(field.n, field.n, 1, 1)] += 1;
    for (long z = 1; z <= field.n; z++)
        for (long y = 1; y <= field.n; y++)
            for (long x = 1; x <= field.n; x++) {
                double got = field.now[place(field.n, x, y, z)], wanted = known(grid, field.n, x, y, z, done);
                if (got != wanted)
                    fail("after %ld steps cell %ld,%ld,%ld holds %.17g, and must hold %.17g", done, x, y, z, got, wanted);
            }
}

/* ---- the report -------------------------------------------------------------------------------------------------------- */

/* Of all ranks in so many steps. */
static double flops_of(int ranks, long n, long done)
{
    return (double)FLOPS * ranks * (double)n * (double)n * (double)n * (double)done;
}

static double bytes_of(const int *dims, long n, long done)
{
    return faces_of(dims) * (double)sizeof(double) * (double)n * (double)n * (double)done;
}

/* 1 MB = 10^6 bytes. */
static double megabytes_s(double bytes, double seconds)
{
    return bytes / seconds / 1e6;
}

static void report(struct grid grid, long done, double seconds, double exchange)
{
    double flops = flops_of(job.ranks, cells, done);
    open_record("result");
    open_object("halo");
    put_number("step_us", 1e6 * seconds / (double)done);
    put_number("gflop_s", flops / seconds / 1e9);
    put_number("faces_mb_s", megabytes_s(bytes_of(grid.dims, cells, done), seconds));
    put_number("exchange_share", exchange / seconds);
    close_object();
    put_number("flops", flops);
    put_number("seconds", seconds);
    put_count("steps", done);
    end_result();
}

static int self_check(void)
{
    const int dims[AXES] = {3, 2, 1};
    check(faces_of(dims) == 14, "6 ranks in 3 x 2 x 1 send 14 faces");
    check(bytes_of(dims, 10, 2) == 22400, "14 faces of 100 cells in 2 steps are 22400 bytes");
    check(flops_of(2, 10, 3) == 54000, "2 ranks with 1000 cells need 54000 operations for 3 steps");
    check(megabytes_s(6e6, 2) == 3, "6 million bytes in 2 s are 3 MB/s");
    struct grid grid = make_grid(job.rank, job.ranks);
    double mine = 0;
    for (int side = 0; side < SIDES; side++)
        mine += grid.neighbours[side] != MPI_PROC_NULL;
    check(all_sum(mine) == faces_of(grid.dims), "the ranks send as many faces as the grid has");
    check(rank_at(&grid, grid.at) == job.rank, "the rank at my place in the grid is me");
    cells = 6;
    steps = 5;
    return run();
}
