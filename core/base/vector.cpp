#include "base/vector.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/simd.hpp"

namespace marginalia {

MARGINALIA_KERNEL
void exp_all(double* __restrict values, std::size_t n, double shift) {
  // exp(x) = 2^k * exp(r) with |r| <= ln(2) / 2. Adding 1.5 * 2^52 rounds x / ln 2 to the integer k, which
  // then stands in the low bits of the sum.
  constexpr double kRound = 6755399441055744.0, kLog2E = 1.4426950408889634;
  constexpr double kLn2High = 6.93147180369123816490e-01, kLn2Low = 1.90821492927058770002e-10;
  for (std::size_t i = 0; i < n; ++i) {
    const double given = values[i] - shift;
    const double x = given < -708.0 ? -708.0 : given;
    const double sum = x * kLog2E + kRound;
    const double k = sum - kRound;
    const double r = (x - k * kLn2High) - k * kLn2Low;
    double p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    const auto bits = std::bit_cast<std::uint64_t>(p) + (std::bit_cast<std::uint64_t>(sum) << 52);
    values[i] = given < -708.0 ? 0.0 : std::bit_cast<double>(bits);
  }
}

MARGINALIA_KERNEL
void multiply(double* __restrict out, const double* __restrict by, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) out[i] *= by[i];
}

MARGINALIA_KERNEL
double dot(const double* __restrict a, const double* __restrict b, std::size_t n) {
  double sums[8] = {};  // eight at a time, so that they may be added side by side
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (std::size_t k = 0; k < 8; ++k) sums[k] += a[i + k] * b[i + k];
  for (std::size_t k = 0; i < n; ++i, ++k) sums[k] += a[i] * b[i];
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

MARGINALIA_KERNEL
void add_scaled(double* __restrict out, const double* __restrict in, double scale, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) out[i] += scale * in[i];
}

}  // namespace marginalia
