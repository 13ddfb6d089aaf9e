/* sweep: transport through a grid by the algorithm of Koch, Baker and Alcouffe (KBA): wavefronts over a plane of ranks, eight octants.
 *
 * Each rank has a column of the grid: some cells along x and y, and all along z. For each octant of directions, and each block of planes, it
 * waits for the faces that come in along x and y, computes the block cell by cell (diamond differences, some angles and energy groups), and
 * sends on the faces that go out. The solution is known: linear in x, y and z, which diamond differences render exactly, so each cell is
 * checked after each number of planes. A sweep's source is what the sweep before left. Operations are counted as written: 14 for a cell,
 * angle and group. Beside the measured efficiency, which is the part of the ranks' time in which they compute, stands that of the
 * pipeline alone: of P x Q ranks with K blocks each octant, 8K stages of work in 8K + 3(P-1) + 2(Q-1), in the order of octants used here. */
#include "common.h"

#include <limits.h>
#include <math.h>

static long n = 32, height = 64, planes, angles = 6, groups = 8, repeats = 5, px;

static const struct option options[] = {
    {"--n", "N", COUNT, &n, 1, "cells of a rank along x and y"},
    {"--nz", "N", COUNT, &height, 1, "cells along z, all of them on each rank"},
    {"--planes", "N", COUNT, &planes, 0, "planes of a block; 0: each of 1, 2, 4, 8 ... up to all"},
    {"--angles", "N", COUNT, &angles, 1, "directions of an octant"},
    {"--groups", "N", COUNT, &groups, 1, "energy groups"},
    {"--repeats", "N", COUNT, &repeats, 1, "sweeps that count, for each number of planes; one before them does not"},
    {"--px", "N", COUNT, &px, 0, "ranks along x; 0: chosen"},
    {NULL, NULL, FLAG, NULL, 0, NULL}};

static int run(void);
static int self_check(void);

const struct kernel kernel = {
    "sweep", "A transport sweep over a plane of ranks: its time and operations, and the efficiency of its pipeline beside what can be.", options,
    run, self_check};

enum { AXES = 3, OCTANTS = 8, CORNERS = 4, FLOPS = 14, BUFFERS = 2, ALONG_X = 1, ALONG_Y = 2 };

struct place { int dims[2], at[2]; };
struct octant { int sign[AXES], from[2], to[2]; };         /* ranks along x and y where faces come from and go to */
struct column {
    double *source, *flux;                  /* [z][y][x][group] */
    double *x[BUFFERS], *y[BUFFERS], *z;    /* faces: [plane of the block][y or x][angle][group], [y][x][angle][group] */
    double *slope[AXES], *inverse, *drift;  /* [angle]; [angle][group] */
    MPI_Request sent[BUFFERS][2];
};
struct point { long planes, done; double seconds, best, computing; };

static struct place place;
static double computing, bytes_sent, messages_sent;     /* of this rank, for one number of planes */

static void check_use(void);
static struct column make_column(void);
static void free_column(struct column *c);
static void sweep(struct column *c, long depth);
static void verify(struct column *c, long depth);
static long depths(void);
static long depth_of(long number);
static long blocks_of(long depth);
static struct point measure(struct column *c, long depth, long left);
static double faces_of(const int *dims, long blocks);
static double bytes_of(const int *dims, long side, long tall, long each);
static void report_point(const struct point *p);
static void report(const struct point *best);

static int run(void)
{
    check_use();
    tell_crowd(1, "ranks take turns, so the efficiency says nothing about the pipeline");
    struct column c = make_column();
    struct point best = {0};
    long points = depths(), begun = 0;
    if (!budget_over())
        sweep(&c, depth_of(0));     /* makes the connections */
    for (; begun < points && !budget_over(); begun++) {
        struct point point = measure(&c, depth_of(begun), points - begun);
        if (!point.done)
            break;
        report_point(&point);
        if (!best.done || point.seconds / (double)point.done < best.seconds / (double)best.done)
            best = point;
    }
    job.stopped |= begun < points;
    if (best.done)
        report(&best);
    free_column(&c);
    return best.done ? 0 : failed("the budget of %g s ended before a sweep was timed; give more --budget, or a smaller --n", job.budget);
}

/* As many sweeps as wanted by blocks of so many planes; every cell is checked after them, and what was sent. */
static struct point measure(struct column *c, long depth, long left)
{
    struct point point = {.planes = depth};
    struct rounds rounds = share_budget(repeats, left);
    computing = bytes_sent = messages_sent = 0;
    while (next_batch(&rounds))
        for (long i = 0; i < rounds.batch; i++) {
            double took = 0;
            struct span span = start_together();
            sweep(c, depth);
            span.ended = now();
            job_seconds(&span, 1, &took);
            point.seconds += took;
            point.best = point.done && point.best < took ? point.best : took;
            point.done++;
        }
    if (!point.done)
        return point;
    verify(c, depth);
    point.computing = all_sum(computing);
    double messages = faces_of(place.dims, blocks_of(depth)) * (double)point.done, sent = all_sum(messages_sent);
    double bytes = bytes_of(place.dims, n, height, angles * groups) * (double)point.done, gone = all_sum(bytes_sent);
    if ((sent != messages || gone != bytes) && job.rank == job.ranks - 1)
        fail("%ld sweeps sent %.17g messages of %.17g bytes, and must send %.17g of %.17g", point.done, sent, gone, messages, bytes);
    return point;
}

/* ---- the plane of ranks ------------------------------------------------------------------------------------------------------ */

static void check_use(void)
{
    if (planes > height)
        misuse("option '--planes': %ld is more than the %ld planes along z", planes, height);
    if (px && job.ranks % px != 0)
        misuse("option '--px': %ld ranks along x do not share out %d ranks", px, job.ranks);
    double each = (double)angles * (double)groups * sizeof(double), deepest = (double)(planes ? planes : height);
    double face = (double)n * deepest * each, cells = (double)n * (double)n * (double)height;
    if (face > INT_MAX || cells * (double)groups > INT_MAX)
        misuse("a face of %g bytes in cells of %ld x %ld x %ld is too long; the most is %d: give a smaller --n or --nz", face, n, n, height, INT_MAX);
    need_memory(2 * cells * (double)groups * sizeof(double) + 4 * face + (double)n * (double)n * each, "the cells", "give a smaller --n");
    place.dims[0] = (int)px;
    place.dims[1] = 0;
    MPI_Dims_create(job.ranks, 2, place.dims);
    if (!px && place.dims[0] > place.dims[1]) {     /* in our order of octants a rank more along x costs more than one along y */
        place.dims[0] = place.dims[1];
        place.dims[1] = job.ranks / place.dims[0];
    }
    place.at[0] = job.rank % place.dims[0];
    place.at[1] = job.rank / place.dims[0];
}

static int rank_beside(int axis, int step)
{
    int at[] = {place.at[0], place.at[1]};
    at[axis] += step;
    return at[axis] < 0 || at[axis] >= place.dims[axis] ? MPI_PROC_NULL : at[1] * place.dims[0] + at[0];
}

/* Both directions along z of a corner follow each other; the corners go round, so that a rank that ends one may begin the next. */
static struct octant octant_of(int number)
{
    static const int corner[CORNERS][2] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}};
    struct octant o = {{corner[number / 2][0], corner[number / 2][1], number % 2 ? -1 : 1}, {0, 0}, {0, 0}};
    for (int axis = 0; axis < 2; axis++) {
        o.from[axis] = rank_beside(axis, -o.sign[axis]);
        o.to[axis] = rank_beside(axis, o.sign[axis]);
    }
    return o;
}

static long blocks_of(long depth)
{
    return (height + depth - 1) / depth;
}

/* How many numbers of planes are measured: the one that was asked for, or 1, 2, 4, 8 ... up to all. */
static long depths(void)
{
    long count = 1;
    while (!planes && 1L << (count - 1) < height)
        count++;
    return count;
}

static long depth_of(long number)
{
    long depth = planes ? planes : 1L << number;
    return depth < height ? depth : height;
}

/* ---- the problem ------------------------------------------------------------------------------------------------------------- */

/* The solution in a group, in all directions alike; cells are 1 along each side. */
static double known(long group, double x, double y, double z)
{
    return (double)(group + 1) * (1 + x + 2 * y + 3 * z);
}

static double absorbed(long group)
{
    return 1 + 0.25 * (double)(group % 4);
}

static double *numbers(long count)
{
    double *all = memory((size_t)count * sizeof *all);
    memset(all, 0, (size_t)count * sizeof *all);
    return all;
}

static void fill_known(double *flux)
{
    for (long z = 0; z < height; z++)
        for (long y = 0; y < n; y++)
            for (long x = 0; x < n; x++)
                for (long g = 0; g < groups; g++)
                    *flux++ = known(g, 0.5 + (double)(place.at[0] * n + x), 0.5 + (double)(place.at[1] * n + y), 0.5 + (double)z);
}

/* Directions spread over an octant; each weighs the same, and all of the eight octants together weigh 1. */
static void make_directions(struct column *c)
{
    for (long a = 0; a < angles; a++) {
        double up = ((double)a + 0.5) / (double)angles, round = 1.5707963267948966 * fmod(0.5 + 0.6180339887498949 * (double)a, 1);
        double cosine[AXES] = {sqrt(1 - up * up) * cos(round), sqrt(1 - up * up) * sin(round), up};
        for (int axis = 0; axis < AXES; axis++)
            c->slope[axis][a] = 2 * cosine[axis];
        for (long g = 0; g < groups; g++)
            c->inverse[a * groups + g] = 1 / (absorbed(g) + 2 * (cosine[0] + cosine[1] + cosine[2]));
    }
}

static struct column make_column(void)
{
    long cells = n * n * height, each = angles * groups, deepest = planes ? planes : height;
    struct column c = {.source = numbers(cells * groups), .flux = numbers(cells * groups), .z = numbers(n * n * each)};
    for (int b = 0; b < BUFFERS; b++) {
        c.x[b] = numbers(n * deepest * each);
        c.y[b] = numbers(n * deepest * each);
        c.sent[b][0] = c.sent[b][1] = MPI_REQUEST_NULL;
    }
    for (int axis = 0; axis < AXES; axis++)
        c.slope[axis] = numbers(angles);
    c.inverse = numbers(each);
    c.drift = numbers(each);
    make_directions(&c);
    fill_known(c.flux);
    return c;
}

static void free_column(struct column *c)
{
    void *all[] = {c->source, c->flux, c->x[0], c->x[1], c->y[0], c->y[1], c->z, c->slope[0], c->slope[1], c->slope[2], c->inverse, c->drift};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

/* ---- a sweep ----------------------------------------------------------------------------------------------------------------- */

/* What the solution needs beside what is scattered: its slope along the direction. */
static void make_drift(struct column *c, const struct octant *o)
{
    for (long a = 0; a < angles; a++)
        for (long g = 0; g < groups; g++) {
            double slope = o->sign[0] * c->slope[0][a] + 2 * o->sign[1] * c->slope[1][a] + 3 * o->sign[2] * c->slope[2][a];
            c->drift[a * groups + g] = 0.5 * (double)(g + 1) * slope;
        }
}

static void fill_face(double *face, double x, double y, double z)
{
    for (long a = 0; a < angles; a++)
        for (long g = 0; g < groups; g++)
            face[a * groups + g] = known(g, x, y, z);
}

/* Where the directions of an octant enter along an axis: the first of all cells, or the end of the last. */
static double edge(int sign, long cells)
{
    return sign > 0 ? 0 : (double)cells;
}

/* What comes into the grid from outside along x and y, for the planes of a block; the first plane swept is `first`. */
static void fill_edges(double *x_face, double *y_face, const struct octant *o, long first, long depth)
{
    for (long p = 0; p < depth; p++)
        for (long i = 0; i < n; i++) {
            double z = 0.5 + (double)(first + o->sign[2] * p);
            long at = (p * n + i) * angles * groups;
            if (o->from[0] == MPI_PROC_NULL)
                fill_face(x_face + at, edge(o->sign[0], place.dims[0] * n), 0.5 + (double)(place.at[1] * n + i), z);
            if (o->from[1] == MPI_PROC_NULL)
                fill_face(y_face + at, 0.5 + (double)(place.at[0] * n + i), edge(o->sign[1], place.dims[1] * n), z);
        }
}

/* One cell, all angles and groups: faces that came in become those that go out. */
static inline void sweep_cell(const struct column *c, const double *restrict source, double *restrict flux, double *restrict x,
                              double *restrict y, double *restrict z)
{
    double weight = 1 / (double)(OCTANTS * angles);
    for (long a = 0; a < angles; a++) {
        double along_x = c->slope[0][a], along_y = c->slope[1][a], along_z = c->slope[2][a];
        const double *restrict drift = c->drift + a * groups, *restrict inverse = c->inverse + a * groups;
        for (long g = 0; g < groups; g++) {
            long i = a * groups + g;
            double centre = (source[g] + drift[g] + along_x * x[i] + along_y * y[i] + along_z * z[i]) * inverse[g], twice = 2 * centre;
            x[i] = twice - x[i];
            y[i] = twice - y[i];
            z[i] = twice - z[i];
            flux[g] += weight * centre;
        }
    }
}

static ONE_COPY void sweep_block(const struct column *c, const struct octant *o, double *x_face, double *y_face, long first, long depth)
{
    long each = angles * groups;
    for (long p = 0; p < depth; p++)
        for (long j = 0; j < n; j++)
            for (long i = 0; i < n; i++) {
                long x = o->sign[0] > 0 ? i : n - 1 - i, y = o->sign[1] > 0 ? j : n - 1 - j, z = first + o->sign[2] * p;
                long cell = ((z * n + y) * n + x) * groups;
                sweep_cell(c, c->source + cell, c->flux + cell, x_face + (p * n + y) * each, y_face + (p * n + x) * each, c->z + (y * n + x) * each);
            }
}

static void receive_faces(struct column *c, const struct octant *o, int buffer, long depth)
{
    MPI_Request requests[2];
    int count = (int)(n * depth * angles * groups);
    settle_all(c->sent[buffer], 2, job.crowded);    /* what the buffer held has left it */
    MPI_Irecv(c->x[buffer], count, MPI_DOUBLE, o->from[0], ALONG_X, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(c->y[buffer], count, MPI_DOUBLE, o->from[1], ALONG_Y, MPI_COMM_WORLD, &requests[1]);
    settle_all(requests, 2, job.crowded);
}

static void send_faces(struct column *c, const struct octant *o, int buffer, long depth)
{
    int count = (int)(n * depth * angles * groups), ways = (o->to[0] != MPI_PROC_NULL) + (o->to[1] != MPI_PROC_NULL);
    MPI_Isend(c->x[buffer], count, MPI_DOUBLE, o->to[0], ALONG_X, MPI_COMM_WORLD, &c->sent[buffer][0]);
    MPI_Isend(c->y[buffer], count, MPI_DOUBLE, o->to[1], ALONG_Y, MPI_COMM_WORLD, &c->sent[buffer][1]);
    messages_sent += ways;
    bytes_sent += (double)ways * count * (double)sizeof(double);
}

static void sweep_octant(struct column *c, const struct octant *o, long depth)
{
    double began = now();
    make_drift(c, o);
    for (long y = 0; y < n; y++)
        for (long x = 0; x < n; x++)
            fill_face(c->z + (y * n + x) * angles * groups, 0.5 + (double)(place.at[0] * n + x), 0.5 + (double)(place.at[1] * n + y),
                      edge(o->sign[2], height));
    computing += now() - began;
    for (long block = 0, done = 0; done < height; block++, done += depth) {
        long some = height - done < depth ? height - done : depth, first = o->sign[2] > 0 ? done : height - 1 - done;
        int buffer = (int)(block % BUFFERS);
        receive_faces(c, o, buffer, some);
        began = now();
        fill_edges(c->x[buffer], c->y[buffer], o, first, some);
        sweep_block(c, o, c->x[buffer], c->y[buffer], first, some);
        computing += now() - began;
        send_faces(c, o, buffer, some);
    }
}

/* All octants. The source of a sweep is what the one before it left. */
static void sweep(struct column *c, long depth)
{
    double began = now();
    for (long i = 0, cells = n * n * height; i < cells; i++)
        for (long g = 0; g < groups; g++) {
            c->source[i * groups + g] = absorbed(g) * c->flux[i * groups + g];
            c->flux[i * groups + g] = 0;
        }
    computing += now() - began;
    for (int number = 0; number < OCTANTS; number++) {
        struct octant o = octant_of(number);
        sweep_octant(c, &o, depth);
    }
    for (int buffer = 0; buffer < BUFFERS; buffer++)
        settle_all(c->sent[buffer], 2, job.crowded);
}

/* Every cell of every group. */
static void verify(struct column *c, long depth)
{
    if (job.fault && job.rank == job.ranks - 1)
        c->flux[n * n * height * groups - 1] += 1;
    const double *flux = c->flux;
    for (long z = 0; z < height; z++)
        for (long y = 0; y < n; y++)
            for (long x = 0; x < n; x++)
                for (long g = 0; g < groups; g++, flux++) {
                    double wanted = known(g, 0.5 + (double)(place.at[0] * n + x), 0.5 + (double)(place.at[1] * n + y), 0.5 + (double)z);
                    if (!(fabs(*flux - wanted) <= 1e-9 * wanted))
                        fail("by blocks of %ld planes group %ld of cell %ld,%ld,%ld is %.12g, and must be %.12g", depth, g, x, y, z, *flux,
                             wanted);
                }
}

/* ---- the report -------------------------------------------------------------------------------------------------------------- */

/* Of all ranks in one sweep. */
static double flops_of(int ranks, long side, long tall, long directions, long energies)
{
    return (double)FLOPS * OCTANTS * ranks * (double)side * (double)side * (double)tall * (double)directions * (double)energies;
}

/* Pairs of ranks that share a border. */
static double borders_of(const int *dims)
{
    return (double)(dims[0] - 1) * dims[1] + (double)dims[0] * (dims[1] - 1);
}

/* Faces that leave a rank for another in one sweep, of all ranks. */
static double faces_of(const int *dims, long blocks)
{
    return (double)OCTANTS * (double)blocks * borders_of(dims);
}

/* Their bytes; `each`: angles and groups of a cell's face. */
static double bytes_of(const int *dims, long side, long tall, long each)
{
    return (double)OCTANTS * borders_of(dims) * (double)side * (double)tall * (double)each * (double)sizeof(double);
}

/* Stages from the first block to the last, where each takes as long as any other and messages take no time. A corner's 2K blocks take
 * 2K stages on a rank. The wavefront crosses all ranks along x and y once; two of the three turns to the next corner cost a crossing along x,
 * one a crossing along y. */
static double stages_of(const int *dims, long blocks)
{
    return (double)OCTANTS * (double)blocks + 3 * (double)(dims[0] - 1) + 2 * (double)(dims[1] - 1);
}

static double modelled(const int *dims, long blocks)
{
    return (double)OCTANTS * (double)blocks / stages_of(dims, blocks);
}

static double gflop_s(double flops, double seconds)
{
    return flops / seconds / 1e9;
}

static double efficiency(const struct point *p)
{
    return p->computing / (p->seconds * job.ranks);
}

static double flops_of_all(const struct point *p)
{
    return flops_of(job.ranks, n, height, angles, groups) * (double)p->done;
}

static void report_point(const struct point *p)
{
    open_record("blocks");
    put_count("planes", p->planes);
    put_count("blocks", blocks_of(p->planes));
    put_number("ms", 1e3 * p->seconds / (double)p->done);
    put_number("best_ms", 1e3 * p->best);
    put_number("gflop_s", gflop_s(flops_of_all(p), p->seconds));
    put_number("efficiency", efficiency(p));
    put_number("modelled_efficiency", modelled(place.dims, blocks_of(p->planes)));
    put_number("messages", faces_of(place.dims, blocks_of(p->planes)));
    put_number("bytes", bytes_of(place.dims, n, height, angles * groups));
    put_count("counted", p->done);
    close_record();
}

static void report(const struct point *best)
{
    open_record("result");
    open_object("sweep");
    put_number("ms", 1e3 * best->seconds / (double)best->done);
    put_number("gflop_s", gflop_s(flops_of_all(best), best->seconds));
    put_number("rank_gflop_s", gflop_s(flops_of_all(best), best->seconds) / job.ranks);
    put_number("efficiency", efficiency(best));
    put_number("modelled_efficiency", modelled(place.dims, blocks_of(best->planes)));
    put_count("planes", best->planes);
    close_object();
    open_list("ranks_along");
    put_count(NULL, place.dims[0]);
    put_count(NULL, place.dims[1]);
    close_list();
    put_work(flops_of_all(best), best->seconds, best->done);
    end_result();
}

/* The stages again, block by block: each begins when its rank is free and both faces are there. For at most 4 x 4 ranks. */
static long stages_by_blocks(int p, int q, long blocks)
{
    long available[4][4] = {{0}}, last = 0;
    for (int number = 0; number < OCTANTS; number++) {
        int x_sign = octant_of(number).sign[0], y_sign = octant_of(number).sign[1];
        for (long block = 0; block < blocks; block++)
            for (int j = 0; j < q; j++)
                for (int i = 0; i < p; i++) {
                    int x = x_sign > 0 ? i : p - 1 - i, y = y_sign > 0 ? j : q - 1 - j;
                    long begin = available[x][y], from_x = i ? available[x - x_sign][y] : 0, from_y = j ? available[x][y - y_sign] : 0;
                    begin = begin > from_x ? begin : from_x;
                    begin = begin > from_y ? begin : from_y;
                    available[x][y] = begin + 1;
                    last = last > begin + 1 ? last : begin + 1;
                }
    }
    return last;
}

static int self_check(void)
{
    const int one[] = {1, 1}, several[] = {3, 2};
    const struct point half = {.seconds = 2, .computing = job.ranks};
    check(efficiency(&half) == 0.5, "ranks that compute for 1 s of 2 s reach half of what they could");
    check(flops_of(2, 10, 5, 3, 2) == 672000, "2 ranks with 500 cells, 24 directions and 2 groups need 672000 operations");
    check(faces_of(several, 10) == 560, "7 borders between 3 x 2 ranks are crossed by 10 blocks of 8 octants");
    check(bytes_of(several, 10, 5, 6) == 134400, "7 borders of 50 cells, each with 6 numbers of 8 bytes, are crossed in 8 octants");
    check(modelled(one, 4) == 1, "one rank never waits");
    check(modelled(several, 1) == 0.5, "8 stages of work on 3 x 2 ranks take 16");
    check(gflop_s(6e9, 2) == 3, "6 thousand million operations in 2 s are 3 GFLOP/s");
    for (int p = 1; p <= 4; p++)
        for (int q = 1; q <= 4; q++)
            for (long blocks = 1; blocks <= 5; blocks++) {
                const int dims[] = {p, q};
                check(stages_of(dims, blocks) == (double)stages_by_blocks(p, q, blocks), "the stages are those that blocks need one after another");
            }
    int seen = 0;
    for (int number = 0; number < OCTANTS; number++) {
        struct octant o = octant_of(number);
        seen |= 1 << ((o.sign[0] > 0) + 2 * (o.sign[1] > 0) + 4 * (o.sign[2] > 0));
    }
    check(seen == 255, "the octants are eight different ones");
    n = 3;
    height = 5;
    angles = 2;
    groups = 3;
    repeats = 2;
    planes = px = 0;
    return run();
}
