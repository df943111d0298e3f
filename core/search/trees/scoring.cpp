#include "search/trees/scoring.hpp"

#include <algorithm>

#include "base/simd.hpp"

namespace marginalia {

MARGINALIA_KERNEL void sum_vectors(const float* const* rows, std::size_t count, std::size_t width,
                                   float* sum) {
  using Floats = float __attribute__((vector_size(32)));
  for (std::size_t i = 0; i < width; i += 8) {
    Floats total{};
    for (std::size_t k = 0; k < count; ++k) {
      Floats one;
      std::memcpy(&one, rows[k] + i, sizeof one);
      total += one;
    }
    std::memcpy(sum + i, &total, sizeof total);
  }
}

MARGINALIA_KERNEL void add_vector(const float* row, std::size_t width, float* sum) {
  using Floats = float __attribute__((vector_size(32)));
  for (std::size_t i = 0; i < width; i += 8) {
    Floats one, total;
    std::memcpy(&one, row + i, sizeof one);
    std::memcpy(&total, sum + i, sizeof total);
    total += one;
    std::memcpy(sum + i, &total, sizeof total);
  }
}

}  // namespace marginalia
