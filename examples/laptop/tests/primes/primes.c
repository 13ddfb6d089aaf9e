/* Counts the primes below a limit with a sieve, and says how many numbers it went through in a second. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long count_primes(long limit)
{
    char *composite = calloc((size_t)limit, 1);
    if (!composite)
        return -1;
    long primes = 0;
    for (long number = 2; number < limit; number++) {
        if (composite[number])
            continue;
        primes++;
        for (long multiple = 2 * number; multiple < limit; multiple += number)
            composite[multiple] = 1;
    }
    free(composite);
    return primes;
}

int main(int count, char **words)
{
    long limit = count == 2 ? strtol(words[1], NULL, 10) : 0;
    if (limit < 1) {
        fprintf(stderr, "usage: primes LIMIT\n");
        return 2;
    }
    struct timespec began, ended;
    clock_gettime(CLOCK_MONOTONIC, &began);
    long primes = count_primes(limit);
    clock_gettime(CLOCK_MONOTONIC, &ended);
    if (primes < 0) {
        fprintf(stderr, "error: no memory for %ld numbers\n", limit);
        return 1;
    }
    double seconds = (double)(ended.tv_sec - began.tv_sec) + 1e-9 * (double)(ended.tv_nsec - began.tv_nsec);
    printf("primes = %ld\n", primes);
    printf("rate = %.1f million numbers/s\n", 1e-6 * (double)limit / seconds);
    return 0;
}
