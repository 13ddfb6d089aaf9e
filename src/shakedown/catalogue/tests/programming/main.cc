// C++ with exceptions, templates and its library, calling a function that C or Fortran has.
#include <cstdio>
#include <numeric>
#include <stdexcept>
#include <vector>

extern "C" double sum_to(int n);

template <typename Number> Number own_sum(int n) {
    std::vector<Number> numbers(n);
    std::iota(numbers.begin(), numbers.end(), Number(1));
    return std::accumulate(numbers.begin(), numbers.end(), Number(0));
}

int main() {
    try {
        const double sum = sum_to(1000000);
        if (sum != own_sum<double>(1000000))
            throw std::runtime_error("the two sums differ");
        std::printf("sum of 1..1000000 = %.0f\nthreads = 1\n", sum);
    } catch (const std::exception &error) {
        std::printf("error: %s\n", error.what());
        return 1;
    }
    return 0;
}
