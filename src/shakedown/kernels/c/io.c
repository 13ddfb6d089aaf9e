/* io: bandwidth of a file system with one file per rank and one shared file, and the rates of its metadata.
 *
 * A phase lasts from the first rank's start, when all are ready, until the last has closed its file (spans.c); MB/s is all bytes
 * over that time, opening, fsync and closing included (1 MB = 10^6 bytes). Reads follow after a request to drop the page cache, and each rank
 * reads what a rank of the next node wrote, or the next rank where there is one node. Every byte is checked. All files are in a
 * directory of this job's own, which is removed at the end, whatever happened. Shared file: rank r writes segment s at s * ranks * block + r * block. */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *directory = ".", *modes = "file-per-process,shared,metadata", *operations = "write,read";
static size_t transfer = 1048576, block = 67108864;
static long segments = 1, files = 500;
static bool no_fsync;

static const struct option options[] = {
    {"--directory", "PATH", TEXT, &directory, 0, "a directory on the file system to measure; it must exist"},
    {"--mode", "file-per-process|shared|metadata", TEXT, &modes, 0, "a list with commas of what to measure"},
    {"--operations", "write|read", TEXT, &operations, 0, "a list with commas; files are always written, and timed only on request"},
    {"--transfer", "BYTES", SIZE, &transfer, 512, "of one read or write call"},
    {"--block", "BYTES", SIZE, &block, 512, "of one rank in each segment; a multiple of the transfer"},
    {"--segments", "N", COUNT, &segments, 1, "how often the ranks' blocks follow each other in the file"},
    {"--files", "N", COUNT, &files, 1, "per rank, for the metadata rates"},
    {"--no-fsync", "", FLAG, &no_fsync, 0, "do not wait for the storage at the end of a write"},
    {NULL, NULL, FLAG, NULL, 0, NULL}};

static int run(void);
static int self_check(void);

const struct kernel kernel = {
    "io", "File system: MB/s of writes and reads with a file per process and a shared file, and files created, examined, removed per second; what all ranks did over the time from the first rank's start to the last rank's end.",
    options, run, self_check};

enum { RESULTS = 16 };

static char place[PATH_BYTES];      /* the directory of this job */
static unsigned char *buffer;       /* one transfer */
static struct { const char *operation, *mode; double value; bool complete; } results[RESULTS];
static int measured;
static int last_owner = -1;         /* whose data this rank read last */

static void check_sizes(void);
static void measure_bandwidth(const char *mode);
static void measure_metadata(void);
static void write_result(void);

static int run(void)
{
    check_sizes();
    tell_crowd(1, "they take turns; a rate is what all did over the time from the first start to the last end");
    buffer = memory(transfer);
    make_place(directory, place);
    if (!troubled() && chosen(modes, "file-per-process"))
        measure_bandwidth("file-per-process");
    if (!troubled() && chosen(modes, "shared"))
        measure_bandwidth("shared");
    if (!troubled() && chosen(modes, "metadata"))
        measure_metadata();
    remove_place(place);
    free(buffer);
    if (troubled())
        return tell_trouble();
    if (!measured)
        return failed("the budget of %g s ended before anything was measured; give more --budget, or a smaller --block", job.budget);
    write_result();
    return 0;
}

static void check_sizes(void)
{
    if (block % transfer)
        misuse("the block of %zu bytes is not a multiple of the transfer of %zu bytes", block, transfer);
    if (transfer % SECTOR)
        misuse("the transfer of %zu bytes is not a multiple of %d bytes", transfer, SECTOR);
    if ((double)block * (double)segments * job.ranks > 4e18)
        misuse("%ld segments of %zu bytes in %d ranks are too much for a file", segments, block, job.ranks);
    if (!*directory || strlen(directory) > PATH_BYTES - 200)
        misuse("option '--directory': the path is %s", *directory ? "too long" : "empty");
    need_memory((double)transfer, "buffers of one transfer", "give a smaller --transfer");
}

/* ---- writing and reading ----------------------------------------------------------------------------------------------- */

struct file { char path[PATH_BYTES + 64]; int owner; bool shared; };

/* `at` is the place in the owner's own data. */
static off_t offset_of(struct file file, uint64_t at)
{
    if (!file.shared)
        return (off_t)at;
    return (off_t)((at / block * (uint64_t)job.ranks + (uint64_t)file.owner) * block + at % block);
}

static struct file file_of(const char *mode, int owner)
{
    struct file file = {.owner = owner, .shared = strcmp(mode, "shared") == 0};
    if (file.shared)
        snprintf(file.path, sizeof file.path, "%s/shared", place);
    else
        snprintf(file.path, sizeof file.path, "%s/rank%08d", place, owner);
    return file;
}

/* Bytes written; stops early when the budget is used up or something fails. */
static uint64_t write_file(struct file file)
{
    uint64_t total = (uint64_t)segments * block, at = 0;
    int handle = open(file.path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (handle < 0) {
        note_trouble("open for writing", file.path);
        return 0;
    }
    for (; at < total && (at == 0 || budget_left() > 0); at += transfer) {
        stamp_buffer(buffer, transfer, file.owner, at);
        if (job.fault && at == 0 && job.rank == job.ranks - 1)
            buffer[0] ^= 1;
        if (!write_whole(handle, buffer, transfer, offset_of(file, at))) {
            note_trouble("write", file.path);
            break;
        }
    }
    if (!no_fsync && fsync(handle) != 0)
        note_trouble("flush", file.path);
    if (close(handle) != 0)
        note_trouble("close", file.path);
    return at;
}

/* Bytes read of the first `total`; `thorough` checks every byte, else one number in every sector. */
static uint64_t read_file(struct file file, uint64_t total, bool thorough)
{
    uint64_t at = 0;
    last_owner = file.owner;
    int handle = open(file.path, O_RDONLY | O_CLOEXEC);
    if (handle < 0) {
        note_trouble("open for reading", file.path);
        return 0;
    }
    for (; at < total && (at == 0 || budget_left() > 0); at += transfer) {
        if (!read_whole(handle, buffer, transfer, offset_of(file, at))) {
            note_trouble("read", file.path);
            break;
        }
        if (!stamps_right(buffer, transfer, file.owner, at) || (thorough && !fillers_right(buffer, transfer))) {
            note_wrong_data(file.path, (long long)offset_of(file, at));
            break;
        }
    }
    close(handle);
    return at;
}

/* Ask the kernel to forget the file, so that a read goes to the storage. Only written data can be forgotten. */
static void forget(struct file file)
{
    int handle = open(file.path, O_RDONLY | O_CLOEXEC);
    if (handle < 0)
        return;
    if (no_fsync)
        fdatasync(handle);
    posix_fadvise(handle, 0, 0, POSIX_FADV_DONTNEED);
    close(handle);
}

/* ---- phases ------------------------------------------------------------------------------------------------------------ */

static void write_io(const char *operation, const char *mode, const char *unit, double value, bool complete)
{
    open_record("io");
    put_text("operation", operation);
    put_text("mode", mode);
    if (strcmp(mode, "metadata") == 0)
        put_count("files", files);
    else {
        put_count("transfer", (long long)transfer);
        put_count("block", (long long)block);
    }
    put_text("unit", unit);
    put_number("value", value);
    put_flag("complete", complete);
    close_record();
}

/* Collective: turns this rank's amount and span into the job's rate, unless any rank is in trouble. */
static void keep(const char *operation, const char *mode, const char *unit, double amount, double wanted, struct span span)
{
    double all = all_sum(amount), of = all_sum(wanted), seconds;
    job_seconds(&span, 1, &seconds);
    bool complete = all == of;
    if (!complete)
        budget_over();
    if (troubled() || all <= 0 || measured == RESULTS)
        return;
    double value = all / seconds;
    write_io(operation, mode, unit, value, complete);
    results[measured].operation = operation;
    results[measured].mode = mode;
    results[measured].complete = complete;
    results[measured++].value = value;
}

/* 1 MB = 10^6 bytes. */
static double megabytes(double bytes)
{
    return bytes / 1e6;
}

/* Of ranks that stand node by node: one of the next node, so that no rank reads what its own node holds in memory; on one node the
 * next rank. */
static int neighbour_of(int rank, int ranks, int ranks_per_node, int nodes)
{
    return (rank + (nodes > 1 ? ranks_per_node : 1)) % ranks;
}

/* All ranks, node by node, however the launcher spread them; `place_of` says where a rank stands among them. */
static void order_by_node(const int *node_of, int ranks, int nodes, int *order, int *place_of)
{
    int *first = memory(((size_t)nodes + 1) * sizeof *first);      /* of each node's places, the next that is free */
    memset(first, 0, ((size_t)nodes + 1) * sizeof *first);
    for (int r = 0; r < ranks; r++)
        first[node_of[r] + 1]++;
    for (int node = 1; node <= nodes; node++)
        first[node] += first[node - 1];
    for (int r = 0; r < ranks; r++) {
        place_of[r] = first[node_of[r]]++;
        order[place_of[r]] = r;
    }
    free(first);
}

static int neighbour(void)
{
    int node_ranks;
    size_t bytes = (size_t)job.ranks * sizeof(int);
    int *node_of = memory(bytes), *order = memory(bytes), *place_of = memory(bytes);
    MPI_Request request;
    if (job.rank == 0)
        memcpy(node_of, job.node_of, bytes);
    MPI_Ibcast(node_of, job.ranks, MPI_INT, 0, MPI_COMM_WORLD, &request);
    settle(&request);
    MPI_Comm_size(job.node_comm, &node_ranks);
    order_by_node(node_of, job.ranks, job.nodes, order, place_of);
    int next = order[neighbour_of(place_of[job.rank], job.ranks, (int)all_max(node_ranks), job.nodes)];
    free(node_of);
    free(order);
    free(place_of);
    return next;
}

/* In a self-check: where there are others, what was read is another rank's, and of another node if there is one. */
static void check_who_was_read(void)
{
    double owner = last_owner, *owners = job.rank == 0 ? memory((size_t)job.ranks * sizeof *owners) : NULL;
    gather_numbers(&owner, 1, owners);
    for (int r = 0; owners && r < job.ranks; r++) {
        check(job.ranks == 1 || (int)owners[r] != r, "each rank reads what another rank wrote");
        check(job.nodes == 1 || job.node_of[(int)owners[r]] != job.node_of[r], "each rank reads what another node wrote");
    }
    free(owners);
}

/* In a self-check: the rate that was kept last, times its time, is all that the ranks were to move. */
static void check_rate(struct span span)
{
    double seconds, bytes = (double)segments * (double)block * job.ranks;
    job_seconds(&span, 1, &seconds);
    if (troubled() || !measured)
        return;
    check(results[measured - 1].complete || job.stopped, "everything was moved unless the budget ended");
    if (results[measured - 1].complete)
        check(fabs(results[measured - 1].value * seconds * 1e6 / bytes - 1) < 1e-9, "a rate times its time is what was moved, in units of 10^6 bytes");
}

static void measure_bandwidth(const char *mode)
{
    if (budget_over())
        return;
    struct file own = file_of(mode, job.rank), other = file_of(mode, neighbour());
    double total = (double)segments * (double)block;
    fill_buffer(buffer, transfer);
    struct span span = start_together();
    uint64_t written = write_file(own);
    span.ended = now();
    if (chosen(operations, "write")) {
        keep("write", mode, "MB/s", megabytes((double)written), megabytes(total), span);
        if (job.checking)
            check_rate(span);
    }
    uint64_t readable = (uint64_t)all_min((double)written);
    if (!troubled() && chosen(operations, "read") && readable && !budget_over()) {
        forget(own);
        span = start_together();
        uint64_t read = read_file(other, readable, false);
        span.ended = now();
        keep("read", mode, "MB/s", megabytes((double)read), megabytes(total), span);
        if (job.checking)
            check_rate(span);
    }
    if (!troubled() && readable && !budget_over()) {
        if (job.checking)
            check_who_was_read();       /* in the timed reads */
        read_file(other, readable, true);
        if (job.checking)
            check_who_was_read();
    }
    sync_ranks();
    if ((!own.shared || job.rank == 0) && unlink(own.path) != 0)
        note_trouble("remove", own.path);
}

/* ---- metadata ---------------------------------------------------------------------------------------------------------- */

/* Files done, of the first `count` of this rank's directory. */
static long each_file(const char *folder, long count, bool (*act)(const char *), const char *what, bool bounded)
{
    char path[PATH_BYTES + 96];
    for (long f = 0; f < count; f++) {
        if (bounded && f % 64 == 63 && budget_left() <= 0)
            return f;
        snprintf(path, sizeof path, "%s/file%08ld", folder, f);
        if (!act(path)) {
            note_trouble(what, path);
            return f;
        }
    }
    return count;
}

static void measure_metadata(void)
{
    if (budget_over())
        return;
    static const struct { const char *name; bool (*act)(const char *); bool bounded; } steps[] = {
        {"create", create_file, true}, {"stat", examine_file, true}, {"remove", remove_file, false}};
    char folder[PATH_BYTES + 64];
    snprintf(folder, sizeof folder, "%s/metadata%08d", place, job.rank);
    bool made = mkdir(folder, 0700) == 0;
    if (!made)
        note_trouble("make the directory", folder);
    long created = made ? files : 0;
    for (int s = 0; s < 3; s++) {
        struct span span = start_together();
        long done = each_file(folder, created, steps[s].act, steps[s].name, steps[s].bounded);
        span.ended = now();
        if (s == 0)
            created = done;
        keep(steps[s].name, "metadata", "ops/s", (double)done, (double)files, span);
    }
    if (made && rmdir(folder) != 0)
        note_trouble("remove", folder);
}

/* ---- the report -------------------------------------------------------------------------------------------------------- */

static void write_result(void)
{
    static const char *const groups[][2] = {
        {"file-per-process", "file_per_process"}, {"shared", "shared"}, {"metadata", "metadata"}};
    open_record("result");
    for (int g = 0; g < 3; g++) {
        bool opened = false;
        for (int r = 0; r < measured; r++) {
            if (strcmp(results[r].mode, groups[g][0]) != 0)
                continue;
            char key[64];
            snprintf(key, sizeof key, "%s_%s", results[r].operation, g == 2 ? "per_s" : "mb_s");
            if (!opened)
                open_object(groups[g][1]);
            opened = true;
            put_number(key, results[r].value);
        }
        if (opened)
            close_object();
    }
    put_text("timed", what_is_timed());
    put_flag("complete", !job.stopped);
    close_record();
}

static int self_check(void)
{
    check_files();
    check(offset_of((struct file){.owner = 1}, 5) == 5, "in a file of its own a rank's data begins at 0");
    check(megabytes(5e6) == 5, "5 million bytes are 5 MB");
    check(neighbour_of(3, 8, 2, 4) == 5 && neighbour_of(7, 8, 2, 4) == 1, "with 2 ranks a node, rank 3 reads what rank 5 wrote");
    check(neighbour_of(1, 4, 4, 1) == 2 && neighbour_of(0, 1, 1, 1) == 0, "on one node the next rank is read");
    int order[4], place_of[4];
    order_by_node((const int[]){0, 1, 0, 1}, 4, 2, order, place_of);
    check(order[neighbour_of(place_of[0], 4, 2, 2)] == 1 && order[neighbour_of(place_of[1], 4, 2, 2)] == 0, "ranks that are dealt out to nodes in turn read what another node wrote");
    size_t kept = block;
    block = 1024;
    off_t wanted = (off_t)((job.ranks + 1) * 1024 + 512);
    check(offset_of((struct file){.owner = 1, .shared = true}, 1536) == wanted, "segments of the shared file follow each other");
    block = kept;
    transfer = 4096;
    block = 65536;
    segments = 2;
    files = 20;
    return run();
}
