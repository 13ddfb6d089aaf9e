/* Sorting, percentiles and means of plain numbers. */
#include "common.h"

#include <math.h>

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

void sort_numbers(double *values, long count)
{
    if (count > 1)
        qsort(values, (size_t)count, sizeof *values, by_value);
}

double percentile(const double *sorted, long count, double share)
{
    if (count < 1)
        return NAN;
    long index = (long)ceil(share * (double)count - 1e-9) - 1;
    if (index < 0)
        index = 0;
    return sorted[index < count ? index : count - 1];
}

struct spread spread_of(double *values, long count)
{
    if (count < 1)
        return (struct spread){NAN, NAN, NAN, NAN, NAN, 0};
    sort_numbers(values, count);
    double sum = 0, inverse = 0;
    for (long i = 0; i < count; i++) {
        sum += values[i];
        inverse += 1 / values[i];
    }
    double middle = count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
    return (struct spread){values[0], middle, sum / (double)count, (double)count / inverse, values[count - 1], count};
}

void check_numbers(void)
{
    double values[] = {4, 1, 2, 8};
    struct spread spread = spread_of(values, 4);
    check(spread.min == 1 && spread.max == 8 && spread.median == 3 && spread.mean == 3.75, "the mean of 1, 2, 4, 8 is 3.75");
    check(fabs(spread.harmonic - 4 / 1.875) < 1e-12, "the harmonic mean of 1, 2, 4, 8 is 4/1.875");
    check(percentile(values, 4, 0.5) == 2 && percentile(values, 4, 0.99) == 8, "percentiles are nearest ranks");
    check(percentile(values, 4, 0.0) == 1 && isnan(percentile(values, 0, 0.5)), "percentiles have ends");
}
