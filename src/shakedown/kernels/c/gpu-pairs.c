/* gpu-pairs: the bandwidth between the memories of every two devices through MPI, in rings, as `pairs` measures that of hosts.
 *
 * For each distance D = 1 .. ranks-1 every rank sends messages to the rank D above it while it receives from the rank D below it. Two ways:
 * `staged` copies to the host, sends from there, and copies to the device at the other end; `direct` hands the addresses of device memory
 * to MPI, which must be built for GPUs (GPU-aware): an MPI that is not usually ends the job with a signal. Staged comes first, and its
 * records are written by then. A cell is bytes over the time of the sender and receiver, whichever took longer. The first message of a
 * pair does not count. Every message is compared with what was sent. 1 MB = 10^6 bytes. */
#include "common.h"
#include "devices.h"

#include <limits.h>
#include <math.h>

static const char every_way[] = "staged,direct";
static const char *ways = every_way;
static size_t size = 16777216;
static long iterations = 10;

static const struct option options[] = {
    {"--size", "BYTES", SIZE, &size, 1, "of one message; 4096, 64KiB, 16MiB"},
    {"--ways", "staged|direct", TEXT, &ways, 0, "through memory of the host, or by an MPI that knows device memory; joined by commas"},
    {"--iterations", "N", COUNT, &iterations, 1, "messages that are timed for each pair"},
    {"--gpus", "N", COUNT, &gpus, 0, "of each node; where there are any, a rank whose code runs on the host is a failure"},
    {NULL, NULL, FLAG, NULL, 0, NULL}};

static int run(void);
static int self_check(void);

const struct kernel kernel = {
    "gpu-pairs", "Bandwidth in MB/s between the memories of every two GPUs through MPI, staged by the host or handed to a GPU-aware MPI; one rank for each GPU. Means are harmonic.",
    options, run, self_check};

enum { STAGED, DIRECT, WAYS };
static const char *const way_names[WAYS] = {"staged", "direct"};

struct buffers { unsigned char *out, *in, *host_out, *host_in; };    /* the first two on the device */

static double *rows[WAYS];      /* rank 0: MB/s from each rank to each other; NaN where nothing was measured */

static struct buffers make_buffers(void);
static bool measure(struct buffers buffers, int way);
static void write_result(void);

static int run(void)
{
    if (job.ranks < 2)
        misuse("needs at least 2 ranks, this job has 1; start it with mpiexec -n 2");
    if (size > INT_MAX)
        misuse("option '--size': %zu bytes are too many; the most is %d", size, INT_MAX);
    choose_device();
    struct buffers buffers = make_buffers();
    bool measured = false;
    for (int w = 0; w < WAYS; w++)
        if (chosen(ways, way_names[w]))
            measured |= measure(buffers, w);
    if (measured)
        write_result();
    free_device(buffers.out);
    free_device(buffers.in);
    free(buffers.host_out);
    free(buffers.host_in);
    for (int w = 0; w < WAYS; w++) {
        free(rows[w]);
        rows[w] = NULL;
    }
    return measured ? 0 : failed("the budget of %g s ended before a message was timed; give more --budget, or a smaller --size", job.budget);
}

/* ---- messages ---------------------------------------------------------------------------------------------------------- */

static unsigned char content(int sender, size_t at)
{
    return (unsigned char)(at + at / 255 + 31U * (unsigned)sender);
}

static struct buffers make_buffers(void)
{
    const char *way_out = "give a smaller --size";
    need_memory((device.host ? 4 : 2) * (double)size, "the messages", way_out);
    struct buffers buffers = {device_memory(size, way_out), device_memory(size, way_out), memory(size), memory(size)};
    for (size_t at = 0; at < size; at++)
        buffers.host_out[at] = content(job.rank, at);
    if (job.fault && job.rank == job.ranks - 1)
        buffers.host_out[size - 1] ^= 1;
    to_device(buffers.out, buffers.host_out, size);
    return buffers;
}

/* What was there before cannot pass for a new message. */
static void spoil(struct buffers buffers, int way)
{
    memset(buffers.host_in, 0, size);
    to_device(buffers.in, buffers.host_in, size);
    if (way == STAGED)
        memset(buffers.host_out, 0, size);
}

static void verify(struct buffers buffers, int way, int sender)
{
    from_device(buffers.host_in, buffers.in, size);
    for (size_t at = 0; at < size; at++)
        if (buffers.host_in[at] != content(sender, at))
            fail("a %s message from rank %d arrived with wrong content, at byte %zu", way_names[way], sender, at);
}

/* One message each way, from device memory to device memory. */
static void exchange(struct buffers buffers, int way, int to, int from)
{
    unsigned char *out = way == STAGED ? buffers.host_out : buffers.out, *in = way == STAGED ? buffers.host_in : buffers.in;
    MPI_Request requests[2];
    MPI_Irecv(in, (int)size, MPI_BYTE, from, way, MPI_COMM_WORLD, &requests[0]);
    if (way == STAGED)
        from_device(buffers.host_out, buffers.out, size);
    MPI_Isend(out, (int)size, MPI_BYTE, to, way, MPI_COMM_WORLD, &requests[1]);
    settle_all(requests, 2, job.crowded);
    if (way == STAGED)
        to_device(buffers.in, buffers.host_in, size);
}

/* ---- measuring --------------------------------------------------------------------------------------------------------- */

/* Seconds of this rank for `count` messages each way. */
static double seconds_of(struct buffers buffers, int way, int to, int from, long count)
{
    struct span span = start_together();
    for (long i = 0; i < count; i++)
        exchange(buffers, way, to, from);
    return now() - span.began;
}

/* The longer of the sender's time and the receiver's: the receiver, `to`, tells the sender its own. */
static double longer(double own, int to, int from)
{
    double receiver;
    MPI_Request requests[2];
    MPI_Irecv(&receiver, 1, MPI_DOUBLE, to, WAYS, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&own, 1, MPI_DOUBLE, from, WAYS, MPI_COMM_WORLD, &requests[1]);
    settle_all(requests, 2, job.crowded);
    return own > receiver ? own : receiver;
}

static double rate(double seconds, long messages)
{
    return messages ? (double)size * (double)messages / seconds / 1e6 : NAN;
}

/* All distances of one way; rank 0 keeps the rows. False where nothing was timed. */
static bool measure(struct buffers buffers, int way)
{
    size_t n = (size_t)job.ranks;
    double *row = memory(n * sizeof *row);
    long distances = 0, later = 0;
    for (size_t r = 0; r < n; r++)
        row[r] = NAN;
    for (int w = way + 1; w < WAYS; w++)
        later += chosen(ways, way_names[w]) ? job.ranks - 1 : 0;
    if (way == DIRECT && !device.host)
        warn("device addresses are handed to MPI now; where the MPI is not GPU-aware the job ends here");
    for (int distance = 1; distance < job.ranks; distance++) {
        int to = (job.rank + distance) % job.ranks, from = (job.rank + job.ranks - distance) % job.ranks;
        double seconds = 0;
        long done = 0;
        spoil(buffers, way);
        if (budget_over())
            break;
        exchange(buffers, way, to, from);
        verify(buffers, way, from);
        struct rounds rounds = share_budget(iterations, job.ranks - distance + later);
        while (next_batch(&rounds)) {
            seconds += longer(seconds_of(buffers, way, to, from, rounds.batch), to, from);
            done += rounds.batch;
        }
        if (done) {
            verify(buffers, way, from);
            row[to] = rate(seconds, done);
            distances++;
        }
    }
    rows[way] = job.rank == 0 ? memory(n * n * sizeof **rows) : NULL;
    gather_numbers(row, job.ranks, rows[way]);
    free(row);
    return distances > 0;
}

/* ---- the report -------------------------------------------------------------------------------------------------------- */

static void write_matrix(int way)
{
    open_record("matrix");
    put_text("name", way_names[way]);
    put_text("unit", "MB/s");
    put_text("row", "sender");
    put_text("column", "receiver");
    open_list("labels");
    for (int r = 0; job.rank == 0 && r < job.ranks; r++) {
        char label[NAME_BYTES + 16];
        snprintf(label, sizeof label, "%s:%d", job.node_names + (size_t)job.node_of[r] * NAME_BYTES, r);
        put_text(NULL, label);
    }
    close_list();
    open_list("rows");
    for (int r = 0; job.rank == 0 && r < job.ranks; r++) {
        open_list(NULL);
        for (int c = 0; c < job.ranks; c++)
            put_number(NULL, rows[way][(size_t)r * (size_t)job.ranks + (size_t)c]);
        close_list();
    }
    close_list();
    close_record();
}

static struct spread spread_of_cells(const double *cells)
{
    size_t n = (size_t)job.ranks;
    long count = 0;
    double *kept = memory(n * n * sizeof *kept);
    for (size_t k = 0; k < n * n; k++)
        if (!isnan(cells[k]))
            kept[count++] = cells[k];
    struct spread spread = spread_of(kept, count);
    free(kept);
    return spread;
}

static void write_result(void)
{
    for (int w = 0; w < WAYS; w++)
        if (chosen(ways, way_names[w]))
            write_matrix(w);
    open_record("result");
    for (int w = 0; job.rank == 0 && w < WAYS; w++) {
        if (!chosen(ways, way_names[w]))
            continue;
        struct spread spread = spread_of_cells(rows[w]);
        open_object(way_names[w]);
        put_number("mean_mb_s", spread.harmonic);
        put_number("median_mb_s", spread.median);
        put_number("min_mb_s", spread.min);
        put_number("max_mb_s", spread.max);
        put_count("pairs", spread.count);
        close_object();
    }
    put_devices();
    end_result();
}

static int self_check(void)
{
    double cells[] = {NAN, 2, 6, NAN};
    int kept = job.ranks;
    job.ranks = 2;
    struct spread spread = spread_of_cells(cells);
    job.ranks = kept;
    check(spread.count == 2 && fabs(spread.harmonic - 3) < 1e-12 && spread.min == 2, "2 and 6 MB/s are 3 in the harmonic mean, without empty cells");
    check(content(1, 0) != content(0, 0) && content(0, 1) != content(0, 0), "content differs by rank and by place");
    size = 1000000;
    check(rate(2, 6) == 3, "6 messages of a million bytes in 2 s are 3 MB/s");
    size = 5000;
    iterations = 3;
    ways = every_way;
    return job.ranks < 2 ? 0 : run();
}
