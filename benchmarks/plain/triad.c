/* Plain OpenMP loops: copy c = a, scale, add, triad a = b + q c, in the order of the kernel and of the STREAM benchmark, so that the
 * caches hold the same. usage: triad ELEMENTS REPEATS; prints the best GB/s (10^9 bytes) of triad and of copy, all but the first. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    long n = atol(argv[1]), repeats = atol(argv[2]);
    double *a = malloc((size_t)n * sizeof *a), *b = malloc((size_t)n * sizeof *b), *c = malloc((size_t)n * sizeof *c);
    const double q = 0.4142135623730950;
    double best = 1e30, best_copy = 1e30;
    if (!a || !b || !c)
        return 1;
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
        a[i] = 1;
        b[i] = 2;
        c[i] = 0;
    }
    for (long k = 0; k < repeats; k++) {
        double copy_began = omp_get_wtime();
#pragma omp parallel for
        for (long i = 0; i < n; i++)
            c[i] = a[i];
        double copy_seconds = omp_get_wtime() - copy_began;
#pragma omp parallel for
        for (long i = 0; i < n; i++)
            b[i] = q * c[i];
#pragma omp parallel for
        for (long i = 0; i < n; i++)
            c[i] = a[i] + b[i];
        double began = omp_get_wtime();
#pragma omp parallel for
        for (long i = 0; i < n; i++)
            a[i] = b[i] + q * c[i];
        double seconds = omp_get_wtime() - began;
        if (k > 0 && seconds < best)
            best = seconds;
        if (k > 0 && copy_seconds < best_copy)
            best_copy = copy_seconds;
    }
    printf("%.4f %.4f\n", 24.0 * (double)n / best / 1e9, 16.0 * (double)n / best_copy / 1e9);
    fprintf(stderr, "%g\n", a[n / 2]);
    return 0;
}
