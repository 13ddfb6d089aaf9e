/* Forces among n bodies on a line: assembles their places (n), then solves for all pairs (n^2): bodies N.
   By symmetry all forces together are nothing, which is checked. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

int main(int count, char **words)
{
    long n = count > 1 ? atol(words[1]) : 0;
    if (n < 2 || n > 1000000) {
        fprintf(stderr, "usage: bodies N, from 2 to 1000000\n");
        return 2;
    }
    double *at = malloc(n * sizeof(double)), *force = calloc(n, sizeof(double)), sum = 0.0;
    if (!at || !force) {
        fprintf(stderr, "no memory for %ld bodies\n", n);
        return 1;
    }
    double begun = now();
    for (int k = 0; k < 100; k++)
        for (long i = 0; i < n; i++)
            at[i] = i + 0.25 * sin(k + (double)i);
    double assembled = now();
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++) {
            double apart = at[j] - at[i];
            force[i] += apart / (fabs(apart * apart * apart) + 1.0);
        }
    double solved = now();
    for (long i = 0; i < n; i++)
        sum += force[i];
    printf("bodies = %ld\nbalance = %s\n", n, fabs(sum) < 1e-6 ? "yes" : "no");
    printf("assemble = %.9f s\nsolve = %.9f s\n", assembled - begun, solved - assembled);
    return 0;
}
