/* Time, the wall-time budget, and waiting for other ranks.
 *
 * An MPI library that spins while it waits keeps the core that the awaited rank needs: with four ranks on two cores a plain
 * MPI_Barrier takes about 10 ms here, and 15 us when the waiting ranks yield. So no kernel calls a blocking collective in its
 * measurement: it starts the non-blocking one and settles it. */
#include "common.h"

#include <math.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { GRACE_SECONDS = 30 };

static volatile sig_atomic_t signalled;

double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

double budget_left(void)
{
    return signalled ? -1 : job.began + job.budget - now();
}

bool budget_over(void)
{
    if (!job.stopped)
        job.stopped = all_max(budget_left() <= 0) > 0;
    return job.stopped;
}

static void on_stop(int signal)
{
    (void)signal;
    signalled = 1;
}

static void on_alarm(int signal)
{
    static const char sentence[] = "error: the kernel hangs: its wall-time budget ended long ago and some rank does not answer\n";
    (void)signal;
    if (write(STDERR_FILENO, sentence, sizeof sentence - 1) < 0)
        _exit(1);
    _exit(1);
}

/* The first SIGTERM or SIGINT asks for a collective stop with partial results; the second ends the process. The alarm is for
 * a rank that waits for one that never comes: the launcher ends the others when this one leaves without MPI_Finalize. */
void arm_watchdog(void)
{
    struct sigaction stop = {.sa_handler = on_stop, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
    struct sigaction hang = {.sa_handler = on_alarm};
    double seconds = ceil(2 * job.budget + GRACE_SECONDS);
    struct itimerval timer = {.it_value = {.tv_sec = (time_t)(seconds < 1e8 ? seconds : 1e8)}};
    sigaction(SIGTERM, &stop, NULL);
    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGALRM, &hang, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
}

void settle(MPI_Request *request)
{
    for (int done = 0; ; sched_yield()) {
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (done)
            return;
    }
}

void settle_all(MPI_Request *requests, int count, bool yielding)
{
    static MPI_Status *statuses;        /* MPICH's header has a compiler warn of a call without any */
    static int most;
    if (count > most) {
        free(statuses);
        statuses = memory((size_t)count * sizeof *statuses);
        most = count;
    }
    if (!yielding) {
        MPI_Waitall(count, requests, statuses);
        return;
    }
    for (int done = 0; ; sched_yield()) {
        MPI_Testall(count, requests, &done, statuses);
        if (done)
            return;
    }
}

void relax(void)
{
    if (job.crowded)
        sched_yield();
}

void sync_ranks(void)
{
    MPI_Request request;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    settle(&request);
}

static double all(double value, MPI_Op operation)
{
    double result = 0;
    MPI_Request request;
    MPI_Iallreduce(&value, &result, 1, MPI_DOUBLE, operation, MPI_COMM_WORLD, &request);
    settle(&request);
    return result;
}

double all_sum(double value) { return all(value, MPI_SUM); }
double all_max(double value) { return all(value, MPI_MAX); }
double all_min(double value) { return all(value, MPI_MIN); }

void all_largest(double *values, int count)
{
    MPI_Request request;
    MPI_Iallreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD, &request);
    settle(&request);
}

int first_rank_with(bool here)
{
    return (int)all_min(here ? job.rank : job.ranks);
}

void gather_numbers(const double *from, int count, double *into)
{
    MPI_Request request;
    MPI_Igather(from, count, MPI_DOUBLE, into, count, MPI_DOUBLE, 0, MPI_COMM_WORLD, &request);
    settle(&request);
}
