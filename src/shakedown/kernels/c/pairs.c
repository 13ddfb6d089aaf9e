/* pairs: the bandwidth between every two ranks, in rings, as mpiGraph measures it.
 *
 * For each distance D = 1 .. ranks-1 every rank sends a window of messages to the rank D above it while it receives one from
 * the rank D below it, so the network is loaded evenly and each ordered pair is measured once. The time until all sends are
 * complete gives the cell (sender, receiver) of one matrix, the time until all receives are complete that of the other: a slow
 * receiver is a dark column in the first and a dark row in the second. A cell is size / mean time over the iterations, so a
 * harmonic mean of rates, and so is the mean over the cells. 1 MB = 10^6 bytes. The first window of a distance is not counted.
 *
 * The two matrices are of the same messages and differ in where the time ends, and it may end first on either side. Sends are
 * complete when their buffers may be used again: small messages when the library has copied them, long ones when it heard that
 * they have arrived, which is after the receiver had them. So receiving may be faster than sending. On one host both times begin
 * with the earlier start of the two ranks, by their common clock: where ranks share cores, a rank that starts late finds its
 * messages there, and would time only how it picked them up. Between hosts each rank's time begins with its own start. */
#include "common.h"

#include <limits.h>
#include <math.h>

static size_t size = 1048576;
static long window = 10, iterations = 10;

static const struct option options[] = {
    {"--size", "BYTES", SIZE, &size, 1, "of one message; 4096, 64KiB, 1MiB"},
    {"--window", "N", COUNT, &window, 1, "messages under way at once in each direction"},
    {"--iterations", "N", COUNT, &iterations, 1, "windows that are timed for each pair"},
    {NULL, NULL, FLAG, NULL, 0, NULL}};

static int run(void);
static int self_check(void);

const struct kernel kernel = {
    "pairs", "Bandwidth in MB/s between every two ranks, each sending and receiving at once; one rank per node or per NIC. Means are harmonic. Sends and receives are timed each to their own end, so receive may exceed send.",
    options, run, self_check};

enum { MOST_WINDOW = 100000, PROBE_STEP = 4096 };   /* bytes between the bytes that are checked in every window */
enum { TELL_SENDER, TELL_RECEIVER };                /* tags of messages after a window */

struct buffers { unsigned char *out, *in; MPI_Request *sends, *receives; MPI_Status *statuses; };

/* Seconds and windows of this rank, by partner. */
struct times { double *send, *receive; long *windows_to, *windows_from; };

static struct buffers make_buffers(void);
static struct times make_times(void);
static void measure(struct buffers buffers, struct times times);
static bool report(struct times times);

static int run(void)
{
    if (job.ranks < 2)
        misuse("needs at least 2 ranks, this job has 1; start it with mpiexec -n 2");
    if (size > INT_MAX || window > MOST_WINDOW)
        misuse("%ld messages of %zu bytes are too many or too long; the most are %d of %d", window, size, MOST_WINDOW, INT_MAX);
    char what[96];
    snprintf(what, sizeof what, "two windows of %ld messages of %zu bytes", window, size);
    need_memory(2 * (double)size * (double)window, what, "give a smaller --size or --window");
    tell_crowd(1, "they take turns, and no rate here is that of a link");
    struct buffers buffers = make_buffers();
    struct times times = make_times();
    measure(buffers, times);
    bool measured = report(times);
    free(buffers.out);
    free(buffers.in);
    free(buffers.sends);
    free(buffers.receives);
    free(buffers.statuses);
    free(times.send);
    free(times.receive);
    free(times.windows_to);
    free(times.windows_from);
    if (!measured)
        return failed("the budget of %g s ended before a window was timed; give more --budget, or a smaller --size", job.budget);
    return 0;
}

/* ---- messages ---------------------------------------------------------------------------------------------------------- */

static unsigned char content(int sender, long slot, size_t at)
{
    return (unsigned char)(at + at / 255 + 31U * (unsigned)sender + 17U * (unsigned long)slot);
}

static struct buffers make_buffers(void)
{
    size_t bytes = size * (size_t)window;
    size_t requests = (size_t)window * sizeof(MPI_Request);
    size_t statuses = (size_t)window * sizeof(MPI_Status);
    struct buffers buffers = {memory(bytes), memory(bytes), memory(requests), memory(requests), memory(statuses)};
    memset(buffers.in, 0, bytes);
    for (long w = 0; w < window; w++)
        for (size_t at = 0; at < size; at++)
            buffers.out[(size_t)w * size + at] = content(job.rank, w, at);
    if (job.fault && job.rank == job.ranks - 1)
        buffers.out[size - 1] ^= 1;
    return buffers;
}

static bool same_byte(const unsigned char *in, int sender, long slot, size_t at)
{
    return in[(size_t)slot * size + at] == content(sender, slot, at);
}

/* Spoil the bytes that will be checked, so that an old message cannot pass for a new one. */
static void spoil(unsigned char *in, int sender)
{
    for (long w = 0; w < window; w++) {
        for (size_t at = 0; at < size; at += PROBE_STEP)
            in[(size_t)w * size + at] = (unsigned char)~content(sender, w, at);
        in[(size_t)(w + 1) * size - 1] = (unsigned char)~content(sender, w, size - 1);
    }
}

static void verify(const unsigned char *in, int sender, size_t step)
{
    for (long w = 0; w < window; w++) {
        bool right = same_byte(in, sender, w, size - 1);
        for (size_t at = 0; at < size; at += step)
            right &= same_byte(in, sender, w, at);
        if (!right)
            fail("the message %ld of a window from rank %d arrived with wrong content", w, sender);
    }
}

/* ---- measuring --------------------------------------------------------------------------------------------------------- */

static struct times make_times(void)
{
    size_t n = (size_t)job.ranks;
    struct times times = {memory(n * sizeof(double)), memory(n * sizeof(double)), memory(n * sizeof(long)), memory(n * sizeof(long))};
    for (size_t r = 0; r < n; r++) {
        times.send[r] = times.receive[r] = 0;
        times.windows_to[r] = times.windows_from[r] = 0;
    }
    return times;
}

/* When this rank started a window, and the first moments at which all its sends, all its receives were done. */
struct moments { double entered, began, sent, received; };

/* One window each way. */
static struct moments exchange(struct buffers buffers, int to, int from)
{
    int count = (int)window, sent = 0, received = 0;
    struct span span = start_together();
    struct moments moments = {span.entered, span.began, 0, 0};
    for (int w = 0; w < count; w++)
        MPI_Irecv(buffers.in + (size_t)w * size, (int)size, MPI_BYTE, from, MPI_ANY_TAG, MPI_COMM_WORLD, &buffers.receives[w]);
    for (int w = 0; w < count; w++)
        MPI_Isend(buffers.out + (size_t)w * size, (int)size, MPI_BYTE, to, w, MPI_COMM_WORLD, &buffers.sends[w]);
    while (!sent || !received) {
        if (!sent) {
            MPI_Testall(count, buffers.sends, &sent, buffers.statuses);
            moments.sent = sent ? now() : 0;
        }
        if (!received) {
            MPI_Testall(count, buffers.receives, &received, buffers.statuses);
            moments.received = received ? now() : 0;
        }
        if (!sent || !received)
            relax();
    }
    return moments;
}

/* Where both ranks are on one host, and so read one clock, the earlier start of the two; else this rank's own. A start before
 * `entered` is of another clock, since no rank starts before all have entered the barrier. */
static double earlier_start(struct moments own, double host, double began)
{
    return (int)host == job.host && began >= own.entered && began < own.began ? began : own.began;
}

/* Seconds of the sends and of the receives of one window; the partners tell each other where they are and when they started. */
static void seconds_of(struct moments moments, int to, int from, double *send, double *receive)
{
    double own[2] = {job.host, moments.began}, receiver[2], sender[2];
    MPI_Request requests[4];
    MPI_Irecv(receiver, 2, MPI_DOUBLE, to, TELL_SENDER, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(sender, 2, MPI_DOUBLE, from, TELL_RECEIVER, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(own, 2, MPI_DOUBLE, to, TELL_RECEIVER, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(own, 2, MPI_DOUBLE, from, TELL_SENDER, MPI_COMM_WORLD, &requests[3]);
    for (int r = 0; r < 4; r++)
        settle(&requests[r]);
    *send = moments.sent - earlier_start(moments, receiver[0], receiver[1]);
    *receive = moments.received - earlier_start(moments, sender[0], sender[1]);
}

static void measure(struct buffers buffers, struct times times)
{
    for (int distance = 1; distance < job.ranks; distance++) {
        int to = (job.rank + distance) % job.ranks, from = (job.rank + job.ranks - distance) % job.ranks;
        for (long i = 0; i <= iterations; i++) {    /* the first is not counted */
            double send = 0, receive = 0;
            spoil(buffers.in, from);
            if (budget_over())
                return;
            seconds_of(exchange(buffers, to, from), to, from, &send, &receive);
            verify(buffers.in, from, distance == 1 && i == 0 ? 1 : PROBE_STEP);
            if (i == 0)
                continue;
            times.send[to] += send;
            times.receive[from] += receive;
            times.windows_to[to]++;
            times.windows_from[from]++;
        }
    }
}

/* ---- the report -------------------------------------------------------------------------------------------------------- */

/* MB/s, or NaN where nothing was measured. */
static double rate(double seconds, long windows)
{
    return windows ? (double)size * (double)window * (double)windows / seconds / 1e6 : NAN;
}

/* Every rank's row of rates on rank 0; NULL elsewhere. */
static double *gather_rows(const double *seconds, const long *windows)
{
    size_t n = (size_t)job.ranks;
    double *row = memory(n * sizeof *row), *rows = job.rank == 0 ? memory(n * n * sizeof *rows) : NULL;
    for (size_t r = 0; r < n; r++)
        row[r] = rate(seconds[r], windows[r]);
    gather_numbers(row, job.ranks, rows);
    free(row);
    return rows;
}

static void put_label(const char *key, int rank)
{
    char label[NAME_BYTES + 16];
    snprintf(label, sizeof label, "%s:%d", job.node_names + (size_t)job.node_of[rank] * NAME_BYTES, rank);
    put_text(key, label);
}

static void write_matrix(const char *name, const char *row, const char *column, const double *rows)
{
    open_record("matrix");
    put_text("name", name);
    put_text("unit", "MB/s");
    put_text("row", row);
    put_text("column", column);
    open_list("labels");
    for (int r = 0; r < job.ranks; r++)
        put_label(NULL, r);
    close_list();
    open_list("rows");
    for (int r = 0; r < job.ranks; r++) {
        open_list(NULL);
        for (int c = 0; c < job.ranks; c++)
            put_number(NULL, rows[(size_t)r * (size_t)job.ranks + (size_t)c]);
        close_list();
    }
    close_list();
    close_record();
}

static void put_cells(const char *key, const char *row, const char *column, const double *rows)
{
    size_t n = (size_t)job.ranks;
    double *cells = memory(n * n * sizeof *cells);
    long count = 0, slowest = -1;
    for (size_t cell = 0; cell < n * n; cell++) {
        if (isnan(rows[cell]))
            continue;
        slowest = slowest < 0 || rows[cell] < rows[slowest] ? (long)cell : slowest;
        cells[count++] = rows[cell];
    }
    struct spread spread = spread_of(cells, count);
    open_object(key);
    put_number("min_mb_s", spread.min);
    put_number("median_mb_s", spread.median);
    put_number("mean_mb_s", spread.harmonic);
    put_text("mean", "harmonic");
    put_number("max_mb_s", spread.max);
    put_count("cells", count);
    if (slowest >= 0) {
        open_object("slowest");
        put_label(row, (int)(slowest / job.ranks));
        put_label(column, (int)(slowest % job.ranks));
        close_object();
    }
    close_object();
    free(cells);
}

static bool report(struct times times)
{
    bool measured = first_rank_with(times.windows_to[(job.rank + 1) % job.ranks] > 0) < job.ranks;
    double *send = gather_rows(times.send, times.windows_to), *receive = gather_rows(times.receive, times.windows_from);
    if (send && measured) {
        write_matrix("bandwidth", "sender", "receiver", send);
        write_matrix("received bandwidth", "receiver", "sender", receive);
        open_record("result");
        put_cells("send", "sender", "receiver", send);
        put_cells("receive", "receiver", "sender", receive);
        put_flag("complete", !job.stopped);
        close_record();
    }
    free(send);
    free(receive);
    return measured;
}

static int self_check(void)
{
    size = 1000;
    window = 4;
    iterations = 3;
    check(rate(0.002, 2) == 4.0, "2 windows of 4 messages of 1000 bytes in 2 ms are 4 MB/s");
    check(isnan(rate(0, 0)), "what was not measured has no rate");
    struct moments late = {1, 5, 9, 6};
    check(late.received - earlier_start(late, job.host, 2) == 4, "a receiver that starts 3 s after the sender of its host is timed from the sender's start");
    check(earlier_start(late, job.host, 7) == 5, "a partner that starts later changes nothing");
    check(earlier_start(late, -1, 2) == 5 && earlier_start(late, job.host, 0.5) == 5, "the start of a rank with another clock is not taken");
    check(content(1, 0, 0) != content(0, 0, 0) && content(0, 1, 0) != content(0, 0, 0), "messages differ by sender and slot");
    if (job.ranks < 2)
        return 0;
    return run();
}
