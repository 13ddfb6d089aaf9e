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

/* `flops` of one multiplication by one rank; `whole` are the seconds of all ranks together. */
static void put_rates(double flops, const double *whole, struct spread ranks, long done)
{
    double sum = 0;
    for (long k = 1; k < done; k++)
        sum += whole[k];
    open_object("gemm");
    put_number("gflop_s", gflop_s(flops * job.ranks, best_of(whole, done)));
    put_number("avg_gflop_s", gflop_s(flops * job.ranks * (double)(done - 1), sum));
    put_number("slowest_rank_gflop_s", ranks.min);
    put_number("median_rank_gflop_s", ranks.median);
    close_object();
    put_work(flops * job.ranks * (double)(done - 1), sum, done - 1);
}

static void check_products(void)
{
    double seconds[] = {0.1, 4, 2}, sum = 0;
    check(best_of(seconds, 3) == 2, "the first multiplication does not count");
    check(gflop_s(6e9, 2) == 3, "6 billion operations in 2 s are 3 GFLOP/s");
    for (long k = 0; k < 88; k++)
        sum += in_a(1, 3, k) * in_b(1, k, 4);
    check(known(1, 3, 4, 88) == sum, "an element that is reckoned by cycles is the sum of its products");
}

#endif
