/* What the ranks counted goes to rank 0 as numbers, one rank after another, and into the file as JSON lines. Part of trace.c. */

/* ---- packing ------------------------------------------------------------------------------------------------------------ */

static void add(struct words *words, int64_t word)
{
    if (words->count == words->room) {
        words->room = words->room ? 2 * words->room : 512;
        words->at = room(words->at, words->room * sizeof *words->at);
    }
    words->at[words->count++] = word;
}

static void add_counters(struct words *words, const struct counter *from, int count)
{
    int64_t used = 0;
    for (int i = 0; i < count; i++)
        used += from[i].calls > 0;
    add(words, used);
    for (int i = 0; i < count; i++)
        if (from[i].calls > 0) {
            add(words, i);
            add(words, from[i].calls);
            add(words, from[i].bytes);
            add(words, from[i].ns);
            add(words, from[i].wait);
        }
}

static int by_world(const void *one, const void *other)
{
    const struct peer *a = one, *b = other;
    return (a->world > b->world) - (a->world < b->world);
}

static int by_bytes(const void *one, const void *other)
{
    const struct peer *a = one, *b = other;
    return a->bytes != b->bytes ? (a->bytes < b->bytes) - (a->bytes > b->bytes) : by_world(one, other);
}

/* One entry for each other rank, the one with the most bytes first; how many. */
static size_t gather_peers(void)
{
    size_t found = 0, merged = 0;
    for (size_t i = 0; i < peers.slots; i++)
        if (peers.at[i].used)
            peers.at[found++] = peers.at[i];
    qsort(peers.at, found, sizeof *peers.at, by_world);
    for (size_t i = 0; i < found; i++)
        if (merged && peers.at[merged - 1].world == peers.at[i].world) {
            peers.at[merged - 1].messages += peers.at[i].messages;
            peers.at[merged - 1].bytes += peers.at[i].bytes;
        } else
            peers.at[merged++] = peers.at[i];
    qsort(peers.at, merged, sizeof *peers.at, by_bytes);
    return merged;
}

static int block_of(int rank, int ranks)
{
    return (int)((int64_t)rank * (ranks < BLOCKS ? ranks : BLOCKS) / ranks);
}

/* Listed ones, the sum of the others, and the bytes to each block of ranks, which are complete. */
static void add_peers(struct words *words, int ranks)
{
    size_t found = gather_peers(), listed = found < (size_t)self.listed ? found : (size_t)self.listed;
    int64_t blocks[BLOCKS] = {0}, messages = 0, bytes = 0;
    add(words, (int64_t)listed);
    for (size_t i = 0; i < found; i++) {
        const struct peer *peer = &peers.at[i];
        if (peer->world >= 0 && peer->world < ranks)
            blocks[block_of(peer->world, ranks)] += peer->bytes;
        if (i < listed) {
            add(words, peer->world >= 0 && peer->world < ranks ? peer->world : -1);
            add(words, peer->messages);
            add(words, peer->bytes);
        } else {
            messages += peer->messages;
            bytes += peer->bytes;
        }
    }
    add(words, (int64_t)(found - listed));
    add(words, messages);
    add(words, bytes);
    for (int i = 0; i < BLOCKS; i++)
        add(words, blocks[i]);
}

/* In the order in which `absorb` reads it. */
static void pack(struct words *words, int ranks, uint64_t ended)
{
    struct memory memory = read_memory();
    char host[HOST_WORDS * sizeof(int64_t)] = "";
    gethostname(host, sizeof host - 1);
    for (int i = 0; i < HOST_WORDS; i++) {
        int64_t word;
        memcpy(&word, host + (size_t)i * sizeof word, sizeof word);
        add(words, word);
    }
    add(words, (int64_t)(ended - self.began));
    add(words, self.memory.resident);
    add(words, memory.resident);
    add(words, memory.peak);
    add_counters(words, counters, CALLS);
    add_counters(words, operations, OPERATIONS);
    add(words, line.shift);
    for (int i = 0; i < BINS; i++)
        add(words, line.ns[i]);
    add_peers(words, ranks);
}

/* ---- rank 0 ------------------------------------------------------------------------------------------------------------- */

struct all { struct counter sum; int64_t ranks, least_calls, most_calls, least_ns, most_ns; int most_rank; };

static struct {
    FILE *file;
    int ranks;
    int64_t wall_ns;
    struct all calls[CALLS], operations[OPERATIONS];
    int64_t blocks[BLOCKS][BLOCKS], line[BINS];
    int shift;
} job;

static void put_text(const char *text)
{
    fputc('"', job.file);
    for (const unsigned char *at = (const unsigned char *)text; *at; at++)
        if (*at == '"' || *at == '\\')
            fprintf(job.file, "\\%c", *at);
        else if (*at < 0x20 || *at > 0x7e)
            fputc('?', job.file);
        else
            fputc(*at, job.file);
    fputc('"', job.file);
}

static double seconds(int64_t ns)
{
    return 1e-9 * (double)ns;
}

/* "name":[calls, bytes, seconds, seconds of wait] of each; the seconds of all. */
static int64_t put_counters(const char *key, const int64_t **at, const char *const *names, struct all *all, int rank)
{
    int64_t count = *(*at)++, ns = 0;
    fprintf(job.file, ",\"%s\":{", key);
    for (int64_t i = 0; i < count; i++, *at += 5) {
        const int64_t *word = *at;
        struct all *one = &all[word[0]];
        fprintf(job.file, "%s\"%s\":[%" PRId64 ",%" PRId64 ",%.9f,%.9f]", i ? "," : "", names[word[0]], word[1], word[2], seconds(word[3]), seconds(word[4]));
        ns += word[3];
        one->sum.calls += word[1];
        one->sum.bytes += word[2];
        one->sum.ns += word[3];
        one->sum.wait += word[4];
        if (!one->ranks || word[3] > one->most_ns) {
            one->most_ns = word[3];
            one->most_rank = rank;
        }
        one->least_ns = one->ranks && one->least_ns < word[3] ? one->least_ns : word[3];
        one->least_calls = one->ranks && one->least_calls < word[1] ? one->least_calls : word[1];
        one->most_calls = one->most_calls > word[1] ? one->most_calls : word[1];
        one->ranks++;
    }
    fputc('}', job.file);
    return ns;
}

static const int64_t *absorb_line(const int64_t *at)
{
    int shift = (int)*at++;
    for (; job.shift < shift; job.shift++)
        for (int i = 0; i < BINS; i++)
            job.line[i] = i < BINS / 2 ? job.line[2 * i] + job.line[2 * i + 1] : 0;
    for (int i = 0; i < BINS; i++)
        job.line[i >> (job.shift - shift)] += at[i];
    return at + BINS;
}

static const int64_t *put_pairs(const int64_t *at, int rank)
{
    int64_t count = *at++;
    const int64_t *others = at + 3 * count;
    static const char *const keys[] = {"to", "messages", "bytes"};
    if (count || others[0]) {
        fprintf(job.file, "{\"record\":\"pairs\",\"from\":%d", rank);
        for (int key = 0; key < 3; key++) {
            fprintf(job.file, ",\"%s\":[", keys[key]);
            for (int64_t i = 0; i < count; i++)
                fprintf(job.file, "%s%" PRId64, i ? "," : "", at[3 * i + key]);
            fputc(']', job.file);
        }
        fprintf(job.file, ",\"others\":{\"ranks\":%" PRId64 ",\"messages\":%" PRId64 ",\"bytes\":%" PRId64 "}}\n", others[0], others[1], others[2]);
    }
    for (int i = 0; i < BLOCKS; i++)
        job.blocks[block_of(rank, job.ranks)][i] += others[3 + i];
    return others + 3 + BLOCKS;
}

/* The lines of one rank, and its part of the sums. */
static void absorb(const int64_t *at, int rank)
{
    char host[HOST_WORDS * sizeof(int64_t) + 1] = "";
    memcpy(host, at, HOST_WORDS * sizeof *at);
    at += HOST_WORDS;
    fprintf(job.file, "{\"record\":\"rank\",\"rank\":%d,\"host\":", rank);
    put_text(host);
    fprintf(job.file, ",\"wall_s\":%.9f,\"memory_mb\":{\"after_init\":%.3f,\"end\":%.3f,\"peak\":%.3f}", seconds(at[0]), 1.024e-3 * (double)at[1],
            1.024e-3 * (double)at[2], 1.024e-3 * (double)at[3]);
    job.wall_ns = job.wall_ns > at[0] ? job.wall_ns : at[0];
    at += 4;
    int64_t mpi = put_counters("calls", &at, call_names, job.calls, rank);
    int64_t files = put_counters("files", &at, operation_names, job.operations, rank);
    fprintf(job.file, ",\"mpi_s\":%.9f,\"files_s\":%.9f}\n", seconds(mpi), seconds(files));
    put_pairs(absorb_line(at), rank);
}

static void put_sums(const char *record, const char *const *names, const struct all *all, int count)
{
    for (int i = 0; i < count; i++) {
        const struct all *one = &all[i];
        if (!one->ranks)
            continue;
        fprintf(job.file, "{\"record\":\"%s\",\"name\":\"%s\",\"ranks\":%" PRId64 ",\"calls\":%" PRId64 ",\"bytes\":%" PRId64, record, names[i],
                one->ranks, one->sum.calls, one->sum.bytes);
        fprintf(job.file, ",\"s\":%.9f,\"wait_s\":%.9f,\"least_s\":%.9f,\"most_s\":%.9f,\"most_rank\":%d,\"even\":%s}\n", seconds(one->sum.ns),
                seconds(one->sum.wait), seconds(one->least_ns), seconds(one->most_ns), one->most_rank,
                one->ranks == job.ranks && one->least_calls == one->most_calls ? "true" : "false");
    }
}

static void put_matrix(void)
{
    int blocks = job.ranks < BLOCKS ? job.ranks : BLOCKS;
    fputs("{\"record\":\"matrix\",\"name\":\"data sent\",\"unit\":\"MB\",\"labels\":[", job.file);
    for (int i = 0, last = 0; i < blocks; i++, last++) {
        int first = last;
        while (last + 1 < job.ranks && block_of(last + 1, job.ranks) == i)
            last++;
        fprintf(job.file, first == last ? "%s\"%d\"" : "%s\"%d-%d\"", i ? "," : "", first, last);
    }
    fputs("],\"rows\":[", job.file);
    for (int i = 0; i < blocks; i++) {
        fputs(i ? ",[" : "[", job.file);
        for (int k = 0; k < blocks; k++)
            fprintf(job.file, "%s%.6f", k ? "," : "", 1e-6 * (double)job.blocks[i][k]);
        fputc(']', job.file);
    }
    fputs("]}\n", job.file);
}

static void put_line(void)
{
    double step = seconds((int64_t)1 << job.shift);
    fprintf(job.file, "{\"record\":\"line\",\"step_s\":%.9f,\"mpi_share\":[", step);
    for (int i = 0; i < BINS && (int64_t)i << job.shift < job.wall_ns; i++) {
        double length = seconds(job.wall_ns) - i * step;
        fprintf(job.file, "%s%.4f", i ? "," : "", seconds(job.line[i]) / job.ranks / (length < step ? length : step));
    }
    fputs("]}\n", job.file);
}

/* A new file: -2, -3 ... before the suffix where there is one already, as of another program of the same run. */
static bool open_file(void)
{
    char name[PATH_BYTES + 32];
    char *slash = strrchr(path, '/'), *suffix = strrchr(slash ? slash : path, '.');
    int stem = suffix ? (int)(suffix - path) : (int)strlen(path), handle = -1;
    snprintf(name, sizeof name, "%s", path);
    for (int number = 2; number < 10000; number++) {
        handle = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (handle >= 0 || errno != EEXIST)
            break;
        snprintf(name, sizeof name, "%.*s-%d%s", stem, path, number, suffix ? suffix : "");
    }
    job.file = handle >= 0 ? fdopen(handle, "w") : NULL;
    if (!job.file)
        fprintf(stderr, "note: trace: %s cannot be written: %s\n", name, strerror(errno));
    return job.file;
}

static void begin_file(int ranks)
{
    char program[PATH_BYTES] = "", mpi[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    int used = 0;
    program[length > 0 ? length : 0] = '\0';
    PMPI_Get_library_version(mpi, &used);
    mpi[strcspn(mpi, "\n,")] = '\0';
    for (char *from = mpi, *to = mpi; (*to = *from == '\t' ? ' ' : *from); from++)
        to += *to != ' ' || to == mpi || to[-1] != ' ';
    job.ranks = ranks;
    fprintf(job.file, "{\"record\":\"trace\",\"version\":1,\"ranks\":%d,\"program\":", ranks);
    put_text(program);
    fputs(",\"mpi\":", job.file);
    put_text(mpi);
    fprintf(job.file, ",\"waits_measured\":%s}\n", self.waits ? "true" : "false");
}

static void end_file(void)
{
    put_sums("call", call_names, job.calls, CALLS);
    put_sums("file", operation_names, job.operations, OPERATIONS);
    put_matrix();
    put_line();
    fprintf(job.file, "{\"record\":\"end\",\"wall_s\":%.9f,\"complete\":true}\n", seconds(job.wall_ns));
    if (fclose(job.file) != 0)
        fprintf(stderr, "note: trace: %s is not complete: %s\n", path, strerror(errno));
}

/* A rank sends when it is told to, so that no flood of messages reaches rank 0; some are told ahead. */
static void collect(const struct words *own, MPI_Comm comm, int ranks, bool writes)
{
    int64_t *block = NULL;
    for (int r = 1; r < ranks && r <= SENDERS_AHEAD; r++)
        PMPI_Send(NULL, 0, MPI_BYTE, r, TAG, comm);
    if (writes)
        absorb(own->at, 0);
    for (int r = 1; r < ranks; r++) {
        int bytes;
        MPI_Status status;
        PMPI_Probe(r, TAG, comm, &status);
        PMPI_Get_count(&status, MPI_BYTE, &bytes);
        block = room(block, (size_t)bytes);
        PMPI_Recv(block, bytes, MPI_BYTE, r, TAG, comm, MPI_STATUS_IGNORE);
        if (r + SENDERS_AHEAD < ranks)
            PMPI_Send(NULL, 0, MPI_BYTE, r + SENDERS_AHEAD, TAG, comm);
        if (writes)
            absorb(block, r);
    }
    free(block);
}

/* At MPI_Finalize: on a communicator of our own, where no message of the program is under way. */
static void write_trace(void)
{
    MPI_Comm comm;
    int rank, ranks;
    struct words own = {NULL, 0, 0};
    uint64_t ended = now();
    inside++;
    self.counting = false;
    PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    pack(&own, ranks, ended);
    if (rank == 0) {
        bool writes = open_file();
        if (writes)
            begin_file(ranks);
        collect(&own, comm, ranks, writes);
        if (writes)
            end_file();
    } else {
        PMPI_Recv(NULL, 0, MPI_BYTE, 0, TAG, comm, MPI_STATUS_IGNORE);
        PMPI_Send(own.at, (int)(own.count * sizeof *own.at), MPI_BYTE, 0, TAG, comm);
    }
    free(own.at);
    PMPI_Comm_free(&comm);
    inside--;
}
