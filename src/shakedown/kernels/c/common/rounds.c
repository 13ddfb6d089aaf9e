/* How often one of many measurements is repeated: as often as wanted, or as long as its share of the wall-time budget lasts.
 *
 * A kernel with a curve of many points would spend its whole budget on the first ones where ranks share cores, and leave the curve
 * cut off. So each point gets an equal share of what is left, and what one does not need the next ones have. Repeats go in batches
 * that double: between two batches all ranks agree on the time, and no batch begins that would not be done in time at the pace so far. */
#include "common.h"

struct rounds share_budget(long wanted, long left)
{
    double began = now();
    return (struct rounds){.wanted = wanted, .began = began, .until = began + budget_left() / (double)(left > 1 ? left : 1)};
}

/* Repeats of the next batch, when `done` took `each` seconds and `seconds` are left; 0 where not one more fits. */
static long next_repeats(const struct rounds *rounds, double each, double seconds)
{
    long left = rounds->wanted - rounds->done, next = rounds->done ? 2 * rounds->batch : 1;
    next = next < left ? next : left;
    if (rounds->done && (double)next * each > seconds)
        next = (long)(seconds / each);
    return next > 0 ? next : rounds->done ? 0 : 1;
}

bool next_batch(struct rounds *rounds)
{
    enum { OVER, MINUS_LEFT, EACH, AGREED };
    rounds->done += rounds->batch;
    if (rounds->done >= rounds->wanted || job.stopped)
        return false;
    double time = now(), each = rounds->done ? (time - rounds->began) / (double)rounds->done : 0;
    double agreed[AGREED] = {budget_left() <= 0, time - rounds->until, each};
    all_largest(agreed, AGREED);
    job.stopped = agreed[OVER] > 0;
    rounds->batch = job.stopped ? 0 : next_repeats(rounds, agreed[EACH], -agreed[MINUS_LEFT]);
    job.shortened |= rounds->batch == 0;
    return rounds->batch > 0;
}

bool all_measured(void)
{
    return !job.stopped && !job.shortened;
}

void check_rounds(void)
{
    struct rounds rounds = {.wanted = 10, .began = now(), .until = now() + 1e6};
    long batches = 0, made = 0;
    for (; next_batch(&rounds); made += rounds.batch)
        batches++;
    check(job.stopped || (batches == 4 && made == 10 && rounds.done == 10), "10 repeats are made in batches of 1, 2, 4 and 3");
    bool before = job.shortened;
    rounds = (struct rounds){.wanted = 10, .began = now() - 2, .until = now() - 1};
    for (made = 0; next_batch(&rounds); made += rounds.batch)
        ;
    check(job.stopped || (made == 1 && rounds.done == 1 && job.shortened), "a share that is over leaves one repeat, and says so");
    job.shortened = before;
    rounds = (struct rounds){.wanted = 100, .done = 7, .batch = 4};
    check(next_repeats(&rounds, 0.5, 60) == 8 && next_repeats(&rounds, 0.5, 3) == 6, "of repeats of half a second 6 fit into 3 s");
    check(next_repeats(&rounds, 0.5, 0.4) == 0 && next_repeats(&rounds, 0.5, -1) == 0, "no repeat begins that does not fit");
}
