// Loops over arrays of doubles that take most of the time of probabilistic learning; compiled for wide
// registers where there are any (see simd.hpp). Sums are in a fixed order, so results are the same
// everywhere.
#pragma once

#include <cstddef>

namespace marginalia {

// values[i] = exp(values[i] - shift), to about 2 units in the last place; 0 below -708 (and at -infinity).
// Values must not exceed the shift by more than 700.
void exp_all(double* values, std::size_t n, double shift);

// out[i] *= by[i]
void multiply(double* out, const double* by, std::size_t n);

double dot(const double* a, const double* b, std::size_t n);

// out[i] += scale * in[i]
void add_scaled(double* out, const double* in, double scale, std::size_t n);

}  // namespace marginalia
