/* cg: conjugate gradients on a stencil of 27 points, preconditioned by multigrid with symmetric Gauss-Seidel smoothing.
 *
 * What the HPCG benchmark does in idea. Each rank has a box of the grid; the matrix is stored, row by row, with 26 on the diagonal and -1 for
 * each neighbour. A V-cycle goes over grids of half as many points along each axis: one sweep there and back, the remainder at every second
 * point down, the correction up, one sweep there and back. Values of up to 26 neighbours are exchanged before each product and each smoothing.
 *
 * The solution is known: whole numbers, so that the product of each grid is known exactly, and a value that is old, lost or another's is found.
 * Operator and preconditioner must be symmetric. The error must shrink by what the steps say: in the norm of the matrix, by the sum of
 * alpha (r, z). Operations are counted as HPCG does: 2 a stored number for a product and for each way of a sweep, 2 a point for a scalar
 * product or an update. Two regions: the lower layers of ranks along z may have boxes of another height, for nodes of another speed. */
#include "common.h"

#include <limits.h>
#include <math.h>

static long n = 64, height, lower_layers, lower_height, px, py, pz, levels = 4, iterations = 50, solves = 2;

static const struct option options[] = {
    {"--n", "N", COUNT, &n, 2, "points of a rank along x and y"},
    {"--nz", "N", COUNT, &height, 0, "points of a rank along z; 0: as many as --n"},
    {"--levels", "N", COUNT, &levels, 1, "grids of the preconditioner; each has half of the points along an axis of the one before"},
    {"--iterations", "N", COUNT, &iterations, 1, "of one solve"},
    {"--solves", "N", COUNT, &solves, 1, "that are timed; the checks before them are not"},
    {"--px", "N", COUNT, &px, 0, "ranks along x; 0: chosen"},
    {"--py", "N", COUNT, &py, 0, "ranks along y; 0: chosen"},
    {"--pz", "N", COUNT, &pz, 0, "ranks along z; 0: chosen"},
    {"--lower-layers", "N", COUNT, &lower_layers, 0, "layers of ranks along z that are a region with boxes of --lower-nz; 0: all boxes are alike"},
    {"--lower-nz", "N", COUNT, &lower_height, 0, "points along z of a rank in the lower region"},
    {NULL, NULL, FLAG, NULL, 0, NULL}};

static int run(void);
static int self_check(void);

const struct kernel kernel = {
    "cg", "Conjugate gradients with multigrid on a stencil of 27 points: the operations of all ranks, and where the time goes.", options, run,
    self_check};

enum { AXES = 3, POINTS = 27, CENTRE = 13, DIAGONAL = 26, MOST_LEVELS = 12, FLOPS = 2, DOTS = 3, UPDATES = 3, MATRIX_BYTES = 333 };

struct level {
    long size[AXES], first[AXES], whole[AXES];  /* points of this rank, the first of them, and points of all ranks along each axis */
    long rows, length;                          /* length: of a vector with the neighbours' points behind its own */
    double nonzeros;                            /* of this rank, as they were stored */
    double *value, *x, *b, *product, *out;
    int *column, neighbours[POINTS];
    unsigned char *count;
    long halo[POINTS];                          /* where a neighbour's points begin in a vector */
};
struct solve { double *b, *x, *r, *p, *product, rr, rz, bb, shrunk; long done; };
struct times { double smoother, halo, reduce; };

static struct level grids[MOST_LEVELS];
static int dims[AXES], at[AXES];
static struct times spent;
static double counted;          /* operations of this rank, by the loops that make them */
static double last_residual;    /* of the last solve that was whole, for the self-check */

static void check_use(void);
static void make_level(struct level *l, int number);
static void free_level(struct level *l);
static struct solve make_solve(void);
static void begin(struct solve *s);
static void iterate(struct solve *s);
static void verify_parts(struct solve *s);
static void verify_sweep(const struct level *l, const double *b, double *product);
static void verify_directions(struct solve *s);
static void verify_solve(struct solve *s);
static double flops_of(const long *whole, long grid_count);
static void tell_residual(const struct solve *s);
static void report(const struct solve *s, long done, double seconds, double mine);

/* Iterations up to the end of a solve, at most `most`. Returns how many; adds their time and the operations of this rank. */
static long timed_piece(struct solve *s, long most, bool telling, double *seconds, double *mine)
{
    long piece = iterations - s->done < most ? iterations - s->done : most;
    double before = counted, took = 0;
    struct span span = start_together();
    for (long i = 0; i < piece; i++) {
        iterate(s);
        if (telling)
            tell_residual(s);
    }
    span.ended = now();
    job_seconds(&span, 1, &took);
    *seconds += took;
    *mine += counted - before;
    return piece;
}

static int run(void)
{
    check_use();
    if (!job.checking)
        tell_crowd(1, "ranks take turns, so the parts of the time say nothing about the network");
    for (int l = 0; l < levels; l++)
        make_level(&grids[l], l);
    struct solve s = make_solve();
    double seconds = 0, mine = 0;
    long timed = 0;
    bool able = !budget_over();
    if (able) {
        verify_parts(&s);
        verify_directions(&s);
    }
    begin(&s);
    spent = (struct times){0, 0, 0};
    struct rounds rounds = share_budget(solves * iterations, 1);
    while (able && next_batch(&rounds))
        for (long left = rounds.batch, piece; left > 0; left -= piece, timed += piece) {
            if (s.done == iterations) {
                verify_solve(&s);
                begin(&s);
            }
            piece = timed_piece(&s, left, timed < iterations, &seconds, &mine);
        }
    if (timed) {
        verify_solve(&s);
        report(&s, timed, seconds, mine);
    }
    void *all[] = {s.b, s.x, s.r, s.p, s.product};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    for (int l = 0; l < levels; l++)
        free_level(&grids[l]);
    return timed ? 0 : failed("the budget of %g s ended before an iteration was timed; give more --budget, or a smaller --n", job.budget);
}

/* ---- the boxes of the ranks -------------------------------------------------------------------------------------------------- */

/* The ranks along each axis, from what was asked for. */
static void share_ranks(void)
{
    long asked[AXES] = {px, py, pz}, product = 1;
    int free_axes = 0;
    for (int axis = 0; axis < AXES; axis++) {
        if (asked[axis] > job.ranks)
            misuse("%ld ranks along an axis are more than the %d of this job", asked[axis], job.ranks);
        dims[axis] = (int)asked[axis];
        product *= asked[axis] ? asked[axis] : 1;
        free_axes += asked[axis] == 0;
    }
    if (job.ranks % product != 0 || (free_axes == 0 && product != job.ranks))
        misuse("--px %ld --py %ld --pz %ld do not share out %d ranks", px, py, pz, job.ranks);
    MPI_Dims_create(job.ranks, AXES, dims);
    at[0] = job.rank % dims[0];
    at[1] = job.rank / dims[0] % dims[1];
    at[2] = job.rank / dims[0] / dims[1];
}

static long height_of(bool lower)
{
    return lower ? lower_height : height ? height : n;
}

static void check_use(void)
{
    if (levels > MOST_LEVELS)
        misuse("option '--levels': %ld is too many; the most is %d", levels, MOST_LEVELS);
    if ((double)solves * (double)iterations > 1e15)
        misuse("%ld solves of %ld iterations are too many; give fewer --solves", solves, iterations);
    if ((lower_layers > 0) != (lower_height > 0))
        misuse("--lower-layers and --lower-nz belong together: give both, or none");
    share_ranks();
    if (lower_layers >= dims[2] && lower_layers > 0)
        misuse("%ld lower layers leave no other of %d along z; give fewer --lower-layers, or more --pz", lower_layers, dims[2]);
    long tall = height_of(false) > lower_height ? height_of(false) : lower_height, sides[] = {n, height_of(false), lower_height};
    for (int i = 0; i < 3; i++)
        if (sides[i] % (1L << (levels - 1)) != 0)
            misuse("a side of %ld points cannot be halved %ld times; give a multiple of %ld, or fewer --levels", sides[i], levels - 1,
                   1L << (levels - 1));
    if ((double)(n + 2) * (double)(n + 2) * (double)(tall + 2) > INT_MAX)
        misuse("a box of %ld x %ld x %ld points is too large; give a smaller --n or --nz", n, n, tall);
    double rows = (double)n * (double)n * (double)height_of(at[2] < lower_layers);
    need_memory(rows * (8.0 / 7 * (MATRIX_BYTES + 3 * sizeof(double)) + 5 * sizeof(double)), "the matrices", "give a smaller --n");
}

static double sum_of(double mine)
{
    double began = now(), sum = all_sum(mine);
    spent.reduce += now() - began;
    return sum;
}

/* The steps from a box to its neighbour in one of 27 directions; 13 is itself. */
static int step_of(int direction, int axis)
{
    return (axis == 0 ? direction : axis == 1 ? direction / 3 : direction / 9) % 3 - 1;
}

/* Points along an axis that a box shares with its neighbour in a direction. */
static long extent_of(const struct level *l, int direction, int axis)
{
    return step_of(direction, axis) ? 1 : l->size[axis];
}

static int neighbour_in(int direction)
{
    int there[AXES];
    for (int axis = 0; axis < AXES; axis++) {
        there[axis] = at[axis] + step_of(direction, axis);
        if (there[axis] < 0 || there[axis] >= dims[axis])
            return MPI_PROC_NULL;
    }
    return (there[2] * dims[1] + there[1]) * dims[0] + there[0];
}

/* The place of a point in a vector; where it is beyond the box, among the points of that neighbour. */
static long place_of(const struct level *l, const long *point)
{
    long inside[AXES], extent[AXES];
    int direction = 0;
    for (int axis = AXES - 1; axis >= 0; axis--) {
        int step = point[axis] < 0 ? -1 : point[axis] >= l->size[axis];
        direction = 3 * direction + step + 1;
        inside[axis] = step ? 0 : point[axis];
        extent[axis] = step ? 1 : l->size[axis];
    }
    return l->halo[direction] + (inside[2] * extent[1] + inside[1]) * extent[0] + inside[0];
}

static void store_row(struct level *l, long row, const long *point)
{
    int stored = 0;
    for (int d = 0; d < POINTS; d++) {
        long there[AXES];
        bool inside = true;
        for (int axis = 0; axis < AXES; axis++) {
            there[axis] = point[axis] + step_of(d, axis);
            inside &= l->first[axis] + there[axis] >= 0 && l->first[axis] + there[axis] < l->whole[axis];
        }
        if (inside) {
            l->value[POINTS * row + stored] = d == CENTRE ? DIAGONAL : -1;
            l->column[POINTS * row + stored++] = (int)place_of(l, there);
        }
    }
    l->count[row] = (unsigned char)stored;
    l->nonzeros += stored;
}

static double *zeros(long count)
{
    double *vector = memory((size_t)count * sizeof *vector);
    memset(vector, 0, (size_t)count * sizeof *vector);
    return vector;
}

static void make_level(struct level *l, int number)
{
    bool lower = at[2] < lower_layers;
    long part = 1L << number, below = (at[2] < lower_layers ? at[2] : lower_layers) * lower_height;
    long own[AXES] = {n, n, height_of(lower)};
    long starts[AXES] = {at[0] * n, at[1] * n, below + (lower ? 0 : at[2] - lower_layers) * height_of(false)};
    long ends[AXES] = {dims[0] * n, dims[1] * n, lower_layers * lower_height + (dims[2] - lower_layers) * height_of(false)};
    *l = (struct level){.rows = 1};
    for (int axis = 0; axis < AXES; axis++) {
        l->size[axis] = own[axis] / part;
        l->first[axis] = starts[axis] / part;
        l->whole[axis] = ends[axis] / part;
        l->rows *= l->size[axis];
    }
    l->length = l->rows;
    for (int d = 0; d < POINTS; d++) {
        l->neighbours[d] = d == CENTRE ? MPI_PROC_NULL : neighbour_in(d);
        l->halo[d] = d == CENTRE ? 0 : l->length;
        if (l->neighbours[d] != MPI_PROC_NULL)
            l->length += extent_of(l, d, 0) * extent_of(l, d, 1) * extent_of(l, d, 2);
    }
    l->value = memory((size_t)l->rows * POINTS * sizeof *l->value);
    l->column = memory((size_t)l->rows * POINTS * sizeof *l->column);
    l->count = memory((size_t)l->rows);
    l->x = zeros(l->length);
    l->b = zeros(l->rows);
    l->product = zeros(l->rows);
    l->out = zeros(l->length - l->rows);
    long point[AXES], row = 0;
    for (point[2] = 0; point[2] < l->size[2]; point[2]++)
        for (point[1] = 0; point[1] < l->size[1]; point[1]++)
            for (point[0] = 0; point[0] < l->size[0]; point[0]++)
                store_row(l, row++, point);
}

static void free_level(struct level *l)
{
    void *all[] = {l->value, l->column, l->count, l->x, l->b, l->product, l->out};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

/* ---- vectors and products ---------------------------------------------------------------------------------------------------- */

static void exchange(const struct level *l, double *x)
{
    double began = now(), *out = l->out;
    MPI_Request requests[2 * POINTS];
    int count = 0;
    for (int d = 0; d < POINTS; d++)
        if (l->neighbours[d] != MPI_PROC_NULL)
            MPI_Irecv(x + l->halo[d], (int)(extent_of(l, d, 0) * extent_of(l, d, 1) * extent_of(l, d, 2)), MPI_DOUBLE, l->neighbours[d],
                      POINTS - 1 - d, MPI_COMM_WORLD, &requests[count++]);
    for (int d = 0; d < POINTS; d++) {
        if (l->neighbours[d] == MPI_PROC_NULL)
            continue;
        long begin[AXES], packed = 0;
        for (int axis = 0; axis < AXES; axis++)
            begin[axis] = step_of(d, axis) > 0 ? l->size[axis] - 1 : 0;
        for (long z = begin[2]; z < begin[2] + extent_of(l, d, 2); z++)
            for (long y = begin[1]; y < begin[1] + extent_of(l, d, 1); y++)
                for (long i = begin[0]; i < begin[0] + extent_of(l, d, 0); i++)
                    out[packed++] = x[(z * l->size[1] + y) * l->size[0] + i];
        MPI_Isend(out, (int)packed, MPI_DOUBLE, l->neighbours[d], d, MPI_COMM_WORLD, &requests[count++]);
        out += packed;
    }
    settle_all(requests, count, job.crowded);
    spent.halo += now() - began;
}

static ONE_COPY void multiply_rows(const struct level *l, const double *x, double *product)
{
    for (long row = 0; row < l->rows; row++) {
        const double *value = l->value + POINTS * row;
        const int *column = l->column + POINTS * row;
        double sum = 0;
        for (int k = 0; k < l->count[row]; k++)
            sum += value[k] * x[column[k]];
        product[row] = sum;
    }
    counted += FLOPS * l->nonzeros;
}

static void multiply(const struct level *l, double *x, double *product)
{
    exchange(l, x);
    multiply_rows(l, x, product);
}

/* One way of a sweep: each point is set so that its own equation holds. */
static ONE_COPY void sweep(const struct level *l, const double *b, double *x, bool upwards)
{
    for (long i = 0; i < l->rows; i++) {
        long row = upwards ? i : l->rows - 1 - i;
        const double *value = l->value + POINTS * row;
        const int *column = l->column + POINTS * row;
        double sum = b[row];
        for (int k = 0; k < l->count[row]; k++)
            sum -= value[k] * x[column[k]];
        x[row] += sum / DIAGONAL;
    }
    counted += FLOPS * l->nonzeros;
}

static void smooth(const struct level *l, const double *b, double *x)
{
    exchange(l, x);
    double began = now();
    sweep(l, b, x, true);
    sweep(l, b, x, false);
    spent.smoother += now() - began;
}

static double dot(const double *a, const double *b)
{
    double sum = 0;
    for (long i = 0; i < grids[0].rows; i++)
        sum += a[i] * b[i];
    counted += FLOPS * (double)grids[0].rows;
    return sum_of(sum);
}

/* to = a + factor * b; `to` may be either of them. */
static void update(double *to, const double *a, double factor, const double *b)
{
    for (long i = 0; i < grids[0].rows; i++)
        to[i] = a[i] + factor * b[i];
    counted += FLOPS * (double)grids[0].rows;
}

/* A V-cycle from zero on: grids[number].x is what it makes of b. */
static void precondition(int number, const double *b)
{
    struct level *l = &grids[number], *coarse = l + 1;
    memset(l->x, 0, (size_t)l->length * sizeof *l->x);
    smooth(l, b, l->x);
    if (number + 1 == levels)
        return;
    multiply(l, l->x, l->product);
    long row = 0, layer = l->size[0] * l->size[1];
    for (long z = 0; z < l->size[2]; z += 2)
        for (long y = 0; y < l->size[1]; y += 2)
            for (long i = z * layer + y * l->size[0], end = i + l->size[0]; i < end; i += 2)
                coarse->b[row++] = b[i] - l->product[i];
    precondition(number + 1, coarse->b);
    row = 0;
    for (long z = 0; z < l->size[2]; z += 2)
        for (long y = 0; y < l->size[1]; y += 2)
            for (long i = z * layer + y * l->size[0], end = i + l->size[0]; i < end; i += 2)
                l->x[i] += coarse->x[row++];
    smooth(l, b, l->x);
}

/* ---- the solve --------------------------------------------------------------------------------------------------------------- */

/* What a point of any grid is in the solution: whole numbers that differ between neighbours. */
static double known(const long *point)
{
    return (double)(1 + (point[0] + 2 * point[1] + 3 * point[2]) % 7);
}

/* What `make` says of each point of a grid, by its place in the whole grid. */
static void fill(const struct level *l, double *vector, double (*make)(const struct level *, const long *))
{
    long point[AXES];
    for (point[2] = l->first[2]; point[2] < l->first[2] + l->size[2]; point[2]++)
        for (point[1] = l->first[1]; point[1] < l->first[1] + l->size[1]; point[1]++)
            for (point[0] = l->first[0]; point[0] < l->first[0] + l->size[0]; point[0]++)
                *vector++ = make(l, point);
}

static double solution(const struct level *l, const long *point)
{
    (void)l;
    return known(point);
}

/* The product of the matrix and the solution, without the matrix: of 27 points, those beyond the grid are no part of it. */
static double right_side(const struct level *l, const long *point)
{
    double sum = (DIAGONAL + 1) * known(point);
    for (int d = 0; d < POINTS; d++) {
        long there[AXES];
        bool inside = true;
        for (int axis = 0; axis < AXES; axis++) {
            there[axis] = point[axis] + step_of(d, axis);
            inside &= there[axis] >= 0 && there[axis] < l->whole[axis];
        }
        sum -= inside ? known(there) : 0;
    }
    return sum;
}

static struct solve make_solve(void)
{
    const struct level *l = &grids[0];
    struct solve s = {zeros(l->rows), zeros(l->length), zeros(l->rows), zeros(l->length), zeros(l->rows), 0, 0, 0, 0, 0};
    fill(l, s.b, right_side);
    s.bb = dot(s.b, s.b);
    return s;
}

static void begin(struct solve *s)
{
    memset(s->x, 0, (size_t)grids[0].length * sizeof *s->x);
    memset(s->p, 0, (size_t)grids[0].length * sizeof *s->p);
    memcpy(s->r, s->b, (size_t)grids[0].rows * sizeof *s->r);
    s->rr = s->bb;
    s->rz = s->shrunk = counted = 0;
    s->done = 0;
}

/* 0 where nothing is left: the solve of a small grid may become exact. */
static double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

static void iterate(struct solve *s)
{
    double *z = grids[0].x;
    precondition(0, s->r);
    double rz = dot(s->r, z);
    update(s->p, z, ratio(rz, s->rz), s->p);
    multiply(&grids[0], s->p, s->product);
    double alpha = ratio(rz, dot(s->p, s->product));
    update(s->x, s->x, alpha, s->p);
    update(s->r, s->r, -alpha, s->product);
    s->rr = dot(s->r, s->r);
    s->rz = rz;
    s->shrunk += alpha * rz;
    s->done++;
}

static double residual(const struct solve *s)
{
    return sqrt(s->rr / s->bb);
}

/* ---- what must hold ---------------------------------------------------------------------------------------------------------- */

/* Of a sentence that all ranks know to be wrong, the last one says it; the others wait until it ended the job. */
#define must(held, ...) do { if (!(held)) { if (job.rank == job.ranks - 1) fail(__VA_ARGS__); sync_ranks(); } } while (0)

static double noise_at(const struct level *l, const long *point)
{
    unsigned long long bits = (unsigned long long)((point[2] * l->whole[1] + point[1]) * l->whole[0] + point[0]) + 1;
    for (int i = 0; i < 3; i++) {
        bits ^= bits >> 29;
        bits *= 0xbf58476d1ce4e5b9ULL;
    }
    return (double)(bits >> 11) / 9007199254740992.0 - 0.5;
}

static double noise_elsewhere(const struct level *l, const long *point)
{
    long other[AXES] = {point[0] + 17, point[1] + 5, point[2] + 3};
    return noise_at(l, other);
}

/* The product of each grid's matrix with whole numbers is exact. */
static void verify_product(struct level *l)
{
    fill(l, l->x, solution);
    multiply(l, l->x, l->product);
    fill(l, l->b, right_side);
    for (long i = 0; i < l->rows; i++)
        if (l->product[i] != l->b[i])
            fail("on the grid of %ld x %ld x %ld points row %ld of the product is %.17g, and must be %.17g", l->whole[0], l->whole[1],
                 l->whole[2], i, l->product[i], l->b[i]);
}

static double stored_numbers(const long *whole, int level)
{
    double all = 1;
    for (int axis = 0; axis < AXES; axis++)
        all *= 3 * (double)(whole[axis] >> level) - 2;
    return all;
}

/* Before the first solve: the matrices, and that operator and preconditioner are symmetric. */
static void verify_parts(struct solve *s)
{
    for (int l = 0; l < levels; l++) {
        verify_product(&grids[l]);
        double stored = all_sum(grids[l].nonzeros), wanted = stored_numbers(grids[0].whole, l);
        must(stored == wanted, "grid %d has %.17g numbers that are not zero, and must have %.17g", l, stored, wanted);
    }
    double *u = s->p, *v = s->x, *mu = s->r, there, back, size;
    fill(&grids[0], u, noise_at);
    fill(&grids[0], v, noise_elsewhere);
    multiply(&grids[0], u, s->product);
    there = dot(v, s->product);
    size = sqrt(dot(v, v) * dot(s->product, s->product));
    multiply(&grids[0], v, s->product);
    back = dot(u, s->product);
    must(fabs(there - back) <= 1e-11 * size, "the operator is not symmetric: v A u is %.17g, and u A v is %.17g", there, back);
    precondition(0, u);
    memcpy(mu, grids[0].x, (size_t)grids[0].rows * sizeof *mu);
    there = dot(v, mu);
    size = sqrt(dot(v, v) * dot(mu, mu));
    must(dot(u, mu) > 0, "the preconditioner is not positive");
    precondition(0, v);
    back = dot(u, grids[0].x);
    verify_sweep(&grids[0], v, s->product);
    must(fabs(there - back) <= 1e-11 * size, "the preconditioner is not symmetric: v M u is %.17g, and u M v is %.17g", there, back);
}

/* The last sweep set the first point of each rank so that its equation holds, with the neighbours' values that it had. */
static void verify_sweep(const struct level *l, const double *b, double *product)
{
    multiply_rows(l, l->x, product);
    if (!(fabs(product[0] - b[0]) <= 1e-12 * (fabs(b[0]) + DIAGONAL * fabs(l->x[0]))))
        fail("after a sweep the equation of the first point says %.17g, and must say %.17g", product[0], b[0]);
}

/* A direction is conjugate to the one before it, unless the first one left but rounding errors. */
static void verify_directions(struct solve *s)
{
    double *before = grids[0].b;
    begin(s);
    iterate(s);
    bool enough = residual(s) > 1e-5;
    memcpy(before, s->product, (size_t)grids[0].rows * sizeof *before);
    iterate(s);
    double both = dot(s->p, before), size = sqrt(dot(s->p, s->p) * dot(before, before));
    must(!enough || fabs(both) <= 1e-9 * size, "two directions are not conjugate: p A q is %.9g, of vectors of %.9g", both, size);
}

/* After some iterations: operations, the remainder, and by how much the error shrank. Changes s->product and grids[0].x. */
static void verify_solve(struct solve *s)
{
    struct times before = spent;
    double *error = grids[0].x, kept = counted, done = all_sum(counted), wanted = flops_of(grids[0].whole, levels) * (double)s->done;
    must(fabs(done - wanted) <= 1e-12 * wanted, "%ld iterations made %.17g operations, and must make %.17g", s->done, done, wanted);
    if (job.fault && job.rank == job.ranks - 1)
        s->x[grids[0].rows - 1] += 1;
    fill(&grids[0], error, solution);
    double energy = dot(error, s->b);
    update(error, error, -1, s->x);
    multiply(&grids[0], s->x, s->product);
    update(s->product, s->b, -1, s->product);
    double left = dot(error, s->product), rr = dot(s->product, s->product);
    must(fabs(sqrt(rr / s->bb) - residual(s)) <= 1e-10, "after %ld iterations the residual is %.9g, and the iteration says %.9g", s->done,
         sqrt(rr / s->bb), residual(s));
    must(fabs(energy - left - s->shrunk) <= 1e-9 * energy,
         "after %ld iterations the error has shrunk from %.12g to %.12g, and must have shrunk by %.12g", s->done, energy, left, s->shrunk);
    spent = before;
    counted = kept;
    last_residual = residual(s);
}

/* ---- the report -------------------------------------------------------------------------------------------------------------- */

/* Of all ranks in one iteration. */
static double flops_of(const long *whole, long grid_count)
{
    double points = (double)whole[0] * (double)whole[1] * (double)whole[2];
    double all = FLOPS * ((DOTS + UPDATES) * points + stored_numbers(whole, 0));
    for (int l = 0; l < grid_count; l++)    /* two sweeps there and back and a product; on the last grid one sweep there and back */
        all += FLOPS * (l + 1 < grid_count ? 5 : 2) * stored_numbers(whole, l);
    return all;
}

/* Of the first solve: after 1, 2, 4, 8 ... iterations, and after the last. */
static void tell_residual(const struct solve *s)
{
    if ((s->done & (s->done - 1)) != 0 && s->done != iterations)
        return;
    open_record("iteration");
    put_count("iteration", s->done);
    put_number("residual", residual(s));
    close_record();
}

/* Of ranks in one region: how fast they compute while they compute, and how much of the time. */
static void tell_region(const char *name, bool lower, const double *ranks)
{
    double count = 0, rate = 0, busy = 0;
    for (int r = 0; job.rank == 0 && r < job.ranks; r++)
        if ((ranks[3 * r + 2] > 0) == lower) {
            count++;
            rate += ranks[3 * r];
            busy += ranks[3 * r + 1];
        }
    open_record("region");
    put_text("region", name);
    put_count("ranks", (long long)count);
    put_count("points", (long long)(n * n * height_of(lower)));
    put_number("computing_gflop_s", rate / count);
    put_number("computing_share", busy / count);
    close_record();
}

/* The nodes' rates while they compute, and the regions. */
static void tell_ranks(double seconds, double mine)
{
    double busy = seconds - spent.halo - spent.reduce, own[] = {mine / busy / 1e9, busy / seconds, at[2] < lower_layers};
    double *ranks = job.rank == 0 ? zeros(3L * job.ranks) : NULL, *nodes = job.rank == 0 ? zeros(job.nodes) : NULL;
    gather_numbers(own, 3, ranks);
    for (int r = 0; nodes && r < job.ranks; r++)
        nodes[job.node_of[r]] += ranks[3 * r];
    open_record("nodes");
    put_text("name", "computing");
    put_text("unit", "GFLOP/s");
    open_list("labels");
    for (int node = 0; nodes && node < job.nodes; node++)
        put_text(NULL, job.node_names + (size_t)node * NAME_BYTES);
    close_list();
    open_list("values");
    for (int node = 0; nodes && node < job.nodes; node++)
        put_number(NULL, nodes[node]);
    close_list();
    close_record();
    if (lower_layers)
        tell_region("lower", true, ranks);
    tell_region(lower_layers ? "upper" : "all", false, ranks);
    free(ranks);
    free(nodes);
}

static double gflop_s(double flops, double seconds)
{
    return flops / seconds / 1e9;
}

static void report(const struct solve *s, long done, double seconds, double mine)
{
    double flops = flops_of(grids[0].whole, levels) * (double)done, all = seconds * job.ranks;
    double smoother = all_sum(spent.smoother), halo = all_sum(spent.halo), reduce = all_sum(spent.reduce);
    tell_ranks(seconds, mine);
    open_record("result");
    open_object("cg");
    put_number("gflop_s", gflop_s(flops, seconds));
    put_number("rank_gflop_s", gflop_s(flops, seconds) / job.ranks);
    put_number("iteration_ms", 1e3 * seconds / (double)done);
    put_number("smoother_share", smoother / all);
    put_number("halo_share", halo / all);
    put_number("allreduce_share", reduce / all);
    put_number("residual", residual(s));
    close_object();
    open_list("ranks_along");
    for (int axis = 0; axis < AXES; axis++)
        put_count(NULL, dims[axis]);
    close_list();
    open_list("points_along");
    for (int axis = 0; axis < AXES; axis++)
        put_count(NULL, grids[0].whole[axis]);
    close_list();
    put_work(flops, seconds, done);
    end_result();
}

static int self_check(void)
{
    const long cube[AXES] = {4, 4, 4};
    check(stored_numbers(cube, 0) == 1000 && stored_numbers(cube, 1) == 64, "4 x 4 x 4 points have 1000 numbers, and 2 x 2 x 2 have 64");
    check(flops_of(cube, 1) == 6768, "an iteration on 64 points is 6 times 128, 2000 and 4000 operations");
    check(flops_of(cube, 2) == 13024, "with a grid of 8 points it is 6 times 128, 2000, 10000 and 256 operations");
    check(DIAGONAL - (POINTS - 1) == 0, "a row in the middle of the grid adds up to nothing");
    check(gflop_s(6e9, 2) == 3, "6 thousand million operations in 2 s are 3 GFLOP/s");
    n = 16;
    height = lower_layers = lower_height = 0;
    px = py = pz = 0;
    iterations = 7;
    solves = 2;
    levels = 1;
    if (run() != 0)
        return 1;
    double alone = last_residual;
    levels = 4;
    if (run() != 0)
        return 1;
    check(job.stopped || job.shortened || last_residual < alone, "several grids leave less after 7 iterations than one");
    if (job.ranks == 1)
        return 0;
    px = py = 1;
    lower_layers = 1;
    lower_height = 8;
    return run();
}
