/* mpimem: the memory that MPI takes on a node: before it begins, after it began, and as ranks talk to more and more others.
 *
 * Steps: before MPI_Init; after it; after an all-to-all; then messages to the ranks that are 1, 2, 3 ... above, until each rank has exchanged
 * one with every other. After 1, 3, 7, 15 ... peers and after the last one the memory is read: what it grows by is what a connection
 * takes.
 *
 * `resident_mb` is the resident memory of all ranks of a node together, where pages that ranks share count for each of them; `shared_mb`
 * divides these pages among the processes that use them, so it is what the node has less. Both are of the node with the most. `mpi_mb` and
 * `mpi_shared_mb` are by how much they grew since before MPI_Init, without the kernel's own buffers. 1 MB = 10^6 bytes. */
#include "common.h"

#include <limits.h>
#include <math.h>

static size_t size = 1024, all_size = 1024;
static bool no_all;

static const struct option options[] = {
    {"--size", "BYTES", SIZE, &size, 1, "of the message that each rank exchanges with each other one"},
    {"--all-size", "BYTES", SIZE, &all_size, 1, "from each rank to each other one in the all-to-all"},
    {"--no-all-to-all", "", FLAG, &no_all, 0, "leave the all-to-all out, so that the messages make all connections"},
    {NULL, NULL, FLAG, NULL, 0, NULL}};

static int run(void);
static int self_check(void);

const struct kernel kernel = {
    "mpimem", "The memory of MPI on a node: before and after MPI_Init, after an all-to-all, and by the number of peers that each rank talked to.", options, run,
    self_check};

enum { MESSAGE = 1, BALLAST = 8 << 20, ASK_EVERY = 16 };

/* By how much this rank grew. */
struct growth { double resident, share; };

static struct { unsigned char *all_out, *all_in, *out, *in; } buffers;

static void make_buffers(void);
static void write_step(const char *step, int peers, struct growth all);
static void all_to_all(void);
static void connect_ranks(void);
static void check_ballast(void);
static void check_step(struct growth all);
static void check_own(void);
static struct growth grown(struct footprint from, struct footprint to);
static struct growth of_mpi(void);

static struct growth own;           /* by the kernel's own buffers */
static struct on_nodes last;        /* what was reported last, of resident memory since before MPI_Init */
static int reported;
static struct { struct growth all; long peers; int verified; } seen;    /* in a self-check: this rank's last growth, and what was done */

static int run(void)
{
    if (size > INT_MAX || all_size > INT_MAX)
        misuse("messages of %zu bytes are too long; the most is %d", size > all_size ? size : all_size, INT_MAX);
    need_memory(2 * (double)all_size * (no_all ? 0 : job.ranks) + 2 * (double)size, "the buffers", "give a smaller --all-size or --size");
    reported = 0;
    write_step("before_init", 0, (struct growth){0, 0});
    write_step("init", 0, grown(job.at_start, job.after_init));
    make_buffers();
    if (!no_all && !budget_over()) {
        all_to_all();
        write_step("all_to_all", job.ranks - 1, of_mpi());
    }
    connect_ranks();
    free(buffers.all_out);
    free(buffers.all_in);
    free(buffers.out);
    free(buffers.in);
    open_record("result");
    put_count("ranks", job.ranks);
    put_count("nodes", job.nodes);
    put_count("steps", reported);
    open_object("mpi");
    put_number("node_mb", 1e-6 * last.max);
    put_number("least_node_mb", 1e-6 * last.min);
    put_number("rank_mb", 1e-6 * last.mean * job.nodes / job.ranks);
    close_object();
    put_flag("complete", all_measured());
    close_record();
    return 0;
}

static double megabytes(double bytes)
{
    return bytes / 1e6;
}

static struct growth grown(struct footprint from, struct footprint to)
{
    return (struct growth){to.resident - from.resident, to.share - from.share};
}

static struct growth without(struct growth all, struct growth part)
{
    return (struct growth){all.resident - part.resident, all.share - part.share};
}

static struct growth of_mpi(void)
{
    return without(grown(job.at_start, read_footprint()), own);
}

static void write_step(const char *step, int peers, struct growth all)
{
    struct on_nodes resident = on_nodes(job.at_start.resident + all.resident), share = on_nodes(job.at_start.share + all.share);
    struct on_nodes own_share = on_nodes(all.share);
    last = on_nodes(all.resident);
    open_record("memory");
    put_text("step", step);
    put_count("peers", peers);
    put_number("resident_mb", megabytes(resident.max));
    put_number("shared_mb", megabytes(share.max));
    put_number("mpi_mb", megabytes(last.max));
    put_number("mpi_shared_mb", megabytes(own_share.max));
    close_record();
    reported++;
    seen.all = all;
    seen.peers += peers;
    if (job.checking)
        check_step(all);
}

/* The memory before MPI_Init is what each number without it has less. Nodes differ in it, so that of the fullest one lies between. */
static void check_step(struct growth all)
{
    struct on_nodes before = on_nodes(job.at_start.resident), before_share = on_nodes(job.at_start.share), grew = on_nodes(all.resident);
    double more = 1e6 * (last_told("resident_mb") - last_told("mpi_mb")), more_share = 1e6 * (last_told("shared_mb") - last_told("mpi_shared_mb"));
    check(told("mpi_mb", grew.max / 1e6), "the fullest node is told");
    check(job.rank || isnan(more) || (more > 0.999 * before.min && more < 1.001 * before.max), "resident memory is that before MPI began, and what it grew by");
    check(job.rank || isnan(more_share) || (more_share > 0.999 * before_share.min && more_share < 1.001 * before_share.max),
          "shared memory is that before MPI began, and what it grew by");
}

/* ---- messages ---------------------------------------------------------------------------------------------------------- */

static unsigned char content(int sender, int receiver, size_t at)
{
    return (unsigned char)(at % 251 + 31U * (unsigned)sender + 17U * (unsigned)receiver + 3);
}

static void fill(unsigned char *block, size_t bytes, int sender, int receiver)
{
    for (size_t at = 0; at < bytes; at++)
        block[at] = content(sender, receiver, at);
}

static void verify(const unsigned char *block, size_t bytes, int sender)
{
    for (size_t at = 0; at < bytes; at++)
        if (block[at] != content(sender, job.rank, at))
            fail("what rank %d sent to rank %d arrived with wrong content", sender, job.rank);
    seen.verified++;
}

/* They are there and touched before the first message, so that what grows later is the library's. */
static void make_buffers(void)
{
    size_t bytes = no_all ? 0 : (size_t)job.ranks * all_size;
    struct footprint before = read_footprint();
    buffers.all_out = memory(bytes);
    buffers.all_in = memory(bytes);
    buffers.out = memory(size);
    buffers.in = memory(size);
    for (int r = 0; !no_all && r < job.ranks; r++)
        fill(buffers.all_out + (size_t)r * all_size, all_size, job.rank, r);
    memset(buffers.all_in, 0xee, bytes);
    memset(buffers.out, 0xee, size);
    memset(buffers.in, 0xee, size);
    own = grown(before, read_footprint());
    if (job.checking)
        check_own();
}

static void all_to_all(void)
{
    MPI_Request request;
    if (all_max(job.crowded) > 0) {
        MPI_Ialltoall(buffers.all_out, (int)all_size, MPI_BYTE, buffers.all_in, (int)all_size, MPI_BYTE, MPI_COMM_WORLD, &request);
        settle(&request);
    } else
        MPI_Alltoall(buffers.all_out, (int)all_size, MPI_BYTE, buffers.all_in, (int)all_size, MPI_BYTE, MPI_COMM_WORLD);
    for (int r = 0; r < job.ranks; r++)
        verify(buffers.all_in + (size_t)r * all_size, all_size, r);
}

/* One message to the rank `apart` above, and one from the rank as far below. */
static void exchange(int apart)
{
    int to = (job.rank + apart) % job.ranks, from = (job.rank + job.ranks - apart) % job.ranks;
    MPI_Request requests[2];
    fill(buffers.out, size, job.rank, to);
    memset(buffers.in, 0xee, size);
    MPI_Irecv(buffers.in, (int)size, MPI_BYTE, from, MESSAGE, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(buffers.out, (int)size, MPI_BYTE, to, MESSAGE, MPI_COMM_WORLD, &requests[1]);
    settle(&requests[0]);
    settle(&requests[1]);
    if (job.fault && job.rank == job.ranks - 1)
        buffers.in[size - 1] ^= 1;
    verify(buffers.in, size, from);
}

/* After so many peers the memory is read: 1, 3, 7 ... and all. */
static bool is_read_after(int peers, int ranks)
{
    return peers == ranks - 1 || (peers & (peers + 1)) == 0;
}

static void connect_ranks(void)
{
    for (int apart = 1; apart < job.ranks; apart++) {
        if (apart % ASK_EVERY == 1 && budget_over())
            return;
        exchange(apart);
        if (is_read_after(apart, job.ranks))
            write_step("connected", apart, of_mpi());
    }
    if (job.checking)
        check_ballast();
}

/* In a self-check: memory of a known size is seen as such, on each node. */
static void check_ballast(void)
{
    int node_ranks;
    double before = last.max;
    char *ballast = memory(BALLAST);
    memset(ballast, 1, BALLAST);
    MPI_Comm_size(job.node_comm, &node_ranks);
    double wanted = all_max(node_ranks) * BALLAST;
    write_step("ballast", job.ranks - 1, of_mpi());
    free(ballast);
    if (!isnan(before) && !job.stopped)
        check(last.max - before > 0.9 * wanted && last.max - before < 1.5 * wanted, "8 MiB on each rank make the fullest node larger by 8 MiB for each of its ranks");
}

/* In a self-check: the buffers are seen, and are no part of what MPI takes. */
static void check_own(void)
{
    double wanted = 2 * (double)job.ranks * (double)all_size, all = grown(job.at_start, read_footprint()).resident;
    if (isnan(all))
        return;
    check(own.resident > 0.9 * wanted && own.resident < 1.5 * wanted, "the buffers are there, and touched, before the first message");
    check(fabs(all - of_mpi().resident - own.resident) < 0.1 * wanted, "the buffers are no part of what MPI takes");
}

/* ---- the self-check ---------------------------------------------------------------------------------------------------- */

static int self_check(void)
{
    check(megabytes(3e6) == 3, "3 million bytes are 3 MB");
    struct footprint from = {.resident = 5, .share = 2}, to = {.resident = 9, .share = 3};
    check(grown(from, to).resident == 4 && grown(from, to).share == 1, "from 5 to 9 are 4 more");
    check(without(grown(from, to), (struct growth){1, 1}).resident == 3, "4 more, of which 1 is our own, are 3 more");
    check(is_read_after(1, 20) && !is_read_after(2, 20) && is_read_after(7, 20) && is_read_after(19, 20), "the memory is read after 1, 3, 7, 15 and all 19 peers");
    int wanted = 4 + (job.ranks > 1);       /* with the ballast */
    for (int peers = 1; peers < job.ranks - 1; peers = 2 * peers + 1)
        wanted++;
    long peers = 2L * (job.ranks - 1);      /* after the all-to-all, and with the ballast */
    for (int p = 1; p < job.ranks; p++)
        peers += is_read_after(p, job.ranks) ? p : 0;
    all_size = 1 << 20;
    int status = run();
    check(job.stopped || reported == wanted, "every step is reported");
    check(job.stopped || (seen.verified == 2 * job.ranks - 1 && (job.ranks < 2 || seen.peers == peers)), "each rank hears of every other one, and peers are told");
    struct on_nodes grew = on_nodes(seen.all.resident);
    check(told("steps", reported) && told("mpi.node_mb", grew.max / 1e6) && told("mpi.least_node_mb", grew.min / 1e6), "nodes with most and least are told");
    check(told("mpi.rank_mb", all_sum(seen.all.resident) / job.ranks / 1e6), "the mean of all ranks is told");
    check(job.after_init.resident > job.at_start.resident || isnan(job.at_start.resident), "MPI takes memory");
    return status;
}
