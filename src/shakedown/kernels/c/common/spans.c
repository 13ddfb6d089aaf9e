/* The time in which many ranks did their parts together.
 *
 * Ranks leave a barrier one after another, and where they share cores one may be done before the next begins. The longest of
 * their own times is then far too short for what all of them did, so a rate of many ranks is taken over the time from the first
 * start to the last end. The ranks of a host read one clock. Clocks of different hosts have nothing to do with each other: there
 * a host's time begins when the last of its ranks enters the barrier, since no rank of any host starts before that, and the
 * longest of the hosts' times holds all the work: it is never too short, and too long by no more than one barrier. */
#include "common.h"

/* The largest of each over some ranks; the start is negated, so that its largest is the earliest. */
enum { ENTERED, MINUS_BEGAN, ENDED, OWN, EXTREMES };

enum { AT_ONCE = 65536 };       /* spans in one reduction */

struct span start_together(void)
{
    sync_ranks();       /* who waits for a late rank waits here, so that the second barrier is short */
    double entered = now();
    sync_ranks();
    return (struct span){entered, now(), 0};
}

/* Where a rank started before another one entered the barrier, they do not read the same clock, although their hosts have the same
 * name: then only what each rank measured on its own is true. */
static double seconds_from(const double *most, bool one_host)
{
    double entered = most[ENTERED], began = -most[MINUS_BEGAN], ended = most[ENDED];
    if (began < entered)
        return most[OWN];
    return one_host ? ended - began : ended - entered;
}

/* The largest of each number over the ranks of a communicator. */
static void largest_among(double *numbers, long count, MPI_Comm among)
{
    MPI_Request request;
    MPI_Iallreduce(MPI_IN_PLACE, numbers, (int)count, MPI_DOUBLE, MPI_MAX, among, &request);
    settle(&request);
}

static void seconds_among(MPI_Comm among, bool one_host, const struct span *spans, long count, double *seconds)
{
    double *most = memory(AT_ONCE * EXTREMES * sizeof *most);
    for (long done = 0; done < count; done += AT_ONCE) {
        long some = count - done < AT_ONCE ? count - done : AT_ONCE;
        for (long s = 0; s < some; s++) {
            struct span span = spans[done + s];
            const double own[EXTREMES] = {span.entered, -span.began, span.ended, span.ended - span.entered};
            memcpy(most + s * EXTREMES, own, sizeof own);
        }
        largest_among(most, some * EXTREMES, among);
        for (long s = 0; s < some; s++)
            seconds[done + s] = seconds_from(most + s * EXTREMES, one_host);
    }
    free(most);
}

static bool one_host(void)
{
    return job.host_ranks == job.ranks;
}

void node_seconds(const struct span *spans, long count, double *seconds)
{
    seconds_among(job.node_comm, true, spans, count, seconds);
}

void job_seconds(const struct span *spans, long count, double *seconds)
{
    seconds_among(job.host_comm, one_host(), spans, count, seconds);
    for (long done = 0; done < count; done += AT_ONCE)
        largest_among(seconds + done, count - done < AT_ONCE ? count - done : AT_ONCE, MPI_COMM_WORLD);
}

const char *what_is_timed(void)
{
    return one_host() ? "all ranks, from the first start to the last end"
                      : "all ranks of a host, from the last entry into the barrier to the last end; the longest host";
}

void check_spans(void)
{
    int first, last;
    double node = 0, whole = 0;
    MPI_Allreduce(&job.rank, &first, 1, MPI_INT, MPI_MIN, job.node_comm);
    MPI_Allreduce(&job.rank, &last, 1, MPI_INT, MPI_MAX, job.node_comm);
    const double turns[EXTREMES] = {1, -3, 9, 8}, apart[EXTREMES] = {5000, -3, 5009, 8};
    check(seconds_from(turns, true) == 6, "ranks of one host that began at 3 s and ended by 9 s took 6 s");
    check(seconds_from(turns, false) == 8, "ranks of several hosts are timed from the last entry into the barrier, here 1 s");
    check(seconds_from(apart, true) == 8, "ranks that read different clocks are timed each on its own");
    struct span turn = {0, job.rank, job.rank + 1};
    node_seconds(&turn, 1, &node);
    job_seconds(&turn, 1, &whole);
    check(node == last - first + 1, "ranks of a node that work 1 s each, one after another, take as many seconds as there are ranks");
    check(!one_host() || whole == job.ranks, "ranks that work 1 s each, one after another, take as many seconds as there are ranks");
    struct span together = {0, 1 + 0.25 * job.rank / job.ranks, 4};
    job_seconds(&together, 1, &whole);
    check(whole == (one_host() ? 3 : 4), "ranks that work side by side take the time from the first start to the last end");
    turn = start_together();
    turn.ended = now();
    job_seconds(&turn, 1, &whole);
    check(whole >= turn.ended - turn.began && whole >= all_max(turn.ended - turn.began), "no rank takes longer than all of them together");
}
