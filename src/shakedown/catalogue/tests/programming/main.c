#include <stdio.h>

double sum_to(int n);
int threads_used(void);

int main(void) {
    double sum = sum_to(1000000);
    printf("sum of 1..1000000 = %.0f\n", sum);
    printf("threads = %d\n", threads_used());
    return sum == 500000500000.0 ? 0 : 1;
}
