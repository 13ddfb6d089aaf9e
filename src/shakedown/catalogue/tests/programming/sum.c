/* The sum of 1..n, in double precision: exact while it is below 2^53. In parallel where OpenMP is on. */
#ifdef _OPENMP
#include <omp.h>
#endif

double sum_to(int n);
int threads_used(void);

double sum_to(int n) {
    double sum = 0.0;
#ifdef _OPENMP
#pragma omp parallel for reduction(+ : sum)
#endif
    for (int i = 1; i <= n; i++)
        sum += i;
    return sum;
}

int threads_used(void) {
    int threads = 1;
#ifdef _OPENMP
#pragma omp parallel
#pragma omp single
    threads = omp_get_num_threads();
#endif
    return threads;
}
