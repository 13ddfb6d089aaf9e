/* Products of matrices whose elements are known exactly: what gemm and gpu-gemm share. Part of each of them, since a device has code of its own. */
#ifndef SHAKEDOWN_PRODUCTS_H
#define SHAKEDOWN_PRODUCTS_H

#include "common.h"

#include <math.h>

enum { VALUES_A = 7, VALUES_B = 5 };

/* Small whole numbers: sums of their products are exact. */
#pragma omp declare target
static double in_a(int rank, long i, long k)
{
    return (double)((i + 3 * k + rank) % VALUES_A - 3);
}

static double in_b(int rank, long k, long j)
{
    return (double)((2 * k + j + rank) % VALUES_B - 2);
}
#pragma omp end declare target

/* The product's element (i, j): A repeats after 7 columns and B after 5 rows, so 35 products of a whole cycle, and the rest. */
static double known(int rank, long i, long j, long size)
{
    double cycle = 0, rest = 0;
    for (long k = 0; k < VALUES_A * VALUES_B; k++) {
        double product = in_a(rank, i, k) * in_b(rank, k, j);
        cycle += product;
        rest += k < size % (VALUES_A * VALUES_B) ? product : 0;
    }
    return (double)(size / (VALUES_A * VALUES_B)) * cycle + rest;
}

static double gflop_s(double flops, double seconds)
{
    return flops / seconds / 1e9;
}

/* Of a multiplication of square matrices. */
static double flops_of(long size)
{
    return 2 * (double)size * (double)size * (double)size;
}

/* The seconds of each multiplication, the first one's included, which does not count: of all ranks together, and of this one. */
struct products { double *whole, *own; long done; };

/* Multiplies `repeats` times and once before, or as often as the budget allows. Collective. */
static struct products time_products(void (*multiply)(const void *matrices), const void *matrices, long repeats)
{
    size_t bytes = (size_t)(repeats + 1) * sizeof(double);
    struct products timed = {memory(bytes), memory(bytes), 0};
    struct rounds rounds = share_budget(repeats + 1, 1);
    while (next_batch(&rounds))
        for (long i = 0; i < rounds.batch; i++, timed.done++) {
            struct span span = start_together();
            multiply(matrices);
            span.ended = now();
            timed.own[timed.done] = span.ended - span.began;
            job_seconds(&span, 1, &timed.whole[timed.done]);
        }
    return timed;
}

/* The exit status of a kernel that has made its report, if there was anything to tell. */
static int free_products(struct products timed)
{
    free(timed.whole);
    free(timed.own);
    return timed.done > 1
               ? 0
               : failed("the budget of %g s ended before a multiplication counted; give more --budget, or a smaller --n", job.budget);
}

/* The first one does not count. */
static double best_of(const double *seconds, long done)
{
    double best = INFINITY;
    for (long k = 1; k < done; k++)
        best = fmin(best, seconds[k]);
    return best;
}

/* The rates of all ranks, on rank 0. Collective. */
static struct spread rates_of_ranks(double rate)
{
    double *rates = memory((size_t)job.ranks * sizeof *rates);
    gather_numbers(&rate, 1, rates);
    struct spread spread = spread_of(rates, job.rank == 0 ? job.ranks : 0);
    free(rates);
    return spread;
}

/* What all ranks did together: GFLOP/s of the best multiplication and in the mean, operations and seconds of all that count. */
struct products_sum { double best, mean, flops, seconds; };

static struct products_sum sum_products(double flops, struct products timed, int ranks)
{
    struct products_sum sum = {gflop_s(flops * ranks, best_of(timed.whole, timed.done)), 0, flops * ranks * (double)(timed.done - 1), 0};
    for (long k = 1; k < timed.done; k++)
        sum.seconds += timed.whole[k];
    sum.mean = gflop_s(sum.flops, sum.seconds);
    return sum;
}

/* `flops` of one multiplication by one rank; `ranks` are the rates of single ranks. */
static void put_rates(double flops, struct products timed, struct spread ranks)
{
    struct products_sum sum = sum_products(flops, timed, job.ranks);
    open_object("gemm");
    put_number("gflop_s", sum.best);
    put_number("avg_gflop_s", sum.mean);
    put_number("slowest_rank_gflop_s", ranks.min);
    put_number("median_rank_gflop_s", ranks.median);
    close_object();
    put_work(sum.flops, sum.seconds, timed.done - 1);
}

static void check_products(void)
{
    double seconds[] = {0.1, 4, 2}, own[] = {0.1, 3, 1}, sum = 0;
    struct products_sum all = sum_products(6e9, (struct products){seconds, own, 3}, 5);
    check(all.best == 15, "30 billion operations of 5 ranks in 2 s are 15 GFLOP/s");
    check(all.flops == 6e10 && all.seconds == 6 && all.mean == 10, "60 billion operations in 6 s are 10 GFLOP/s");
    check(best_of(seconds, 3) == 2, "the first multiplication does not count");
    check(flops_of(100) == 2e6, "matrices of 100 by 100 need 2 million operations");
    check(gflop_s(6e9, 2) == 3, "6 billion operations in 2 s are 3 GFLOP/s");
    for (long k = 0; k < 88; k++)
        sum += in_a(1, 3, k) * in_b(1, k, 4);
    check(known(1, 3, 4, 88) == sum, "an element that is reckoned by cycles is the sum of its products");
}

#endif
