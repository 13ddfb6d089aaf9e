/* Three small applications whose counts of floating point operations are known: kernels matrix|stencil|vectors.
   Each prints what it computed, to check it by, and the seconds that it took. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static double *array(size_t count)
{
    double *found = malloc(count * sizeof(double));
    if (!found) {
        fprintf(stderr, "no memory for %zu numbers\n", count);
        exit(1);
    }
    for (size_t i = 0; i < count; i++)
        found[i] = 1.0;
    return found;
}

/* c = a b of 512 x 512 matrices of ones: 2 x 512^3 operations; each number of c is 512. */
static double matrix(void)
{
    enum { N = 512 };
    double *a = array(N * N), *b = array(N * N), *c = array(N * N);
    memset(c, 0, sizeof(double) * N * N);
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++)
            for (int j = 0; j < N; j++)
                c[i * N + j] += a[i * N + k] * b[k * N + j];
    return c[N * N - 1];
}

/* 40 steps of a five-point stencil over 1024 x 1024 ones: 5 operations a point inside; the ones stay ones. */
static double stencil(void)
{
    enum { N = 1024, STEPS = 40 };
    double *from = array(N * N), *to = array(N * N);
    for (int step = 0; step < STEPS; step++) {
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                to[i * N + j] = 0.2 * (from[i * N + j] + from[i * N + j - 1] + from[i * N + j + 1]
                                       + from[(i - 1) * N + j] + from[(i + 1) * N + j]);
        double *kept = from;
        from = to;
        to = kept;
    }
    return floor(from[N * N / 2 + N / 2] + 0.5);
}

/* 40 times y = y + x and a sum over 2^20 numbers: 2 operations a number and time; the sum is 41 x 2^20. */
static double vectors(void)
{
    enum { N = 1 << 20, TIMES = 40 };
    double *x = array(N), *y = array(N), sum = 0.0;
    for (int k = 0; k < TIMES; k++) {
        sum = 0.0;
        for (int i = 0; i < N; i++) {
            y[i] += x[i];
            sum += y[i];
        }
    }
    return sum;
}

int main(int count, char **words)
{
    const char *name = count > 1 ? words[1] : "";
    double (*application)(void) = !strcmp(name, "matrix")    ? matrix
                                  : !strcmp(name, "stencil") ? stencil
                                  : !strcmp(name, "vectors") ? vectors
                                                             : NULL;
    if (!application) {
        fprintf(stderr, "usage: kernels matrix|stencil|vectors\n");
        return 2;
    }
    double begun = now(), found = application(), took = now() - begun;
    printf("%s = %.0f\nsolve = %.9f s\n", name, found, took);
    return 0;
}
