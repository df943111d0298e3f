#include "weights/score_cache.hpp"

#include "base/simd.hpp"

namespace marginalia {

namespace {

// The sums of a few neighbours stay in registers while all vectors are added.
template <std::size_t Width>
inline __attribute__((always_inline)) void sum_block(const double* const* vectors, std::size_t count,
                                                     std::size_t at, double* out) {
  double sums[Width];
  for (std::size_t i = 0; i < Width; ++i) sums[i] = vectors[0][at + i];
  for (std::size_t v = 1; v < count; ++v)
    for (std::size_t i = 0; i < Width; ++i) sums[i] += vectors[v][at + i];
  for (std::size_t i = 0; i < Width; ++i) out[at + i] = sums[i];
}

}  // namespace

MARGINALIA_KERNEL
void sum_vectors(const double* const* vectors, std::size_t count, std::size_t size, double* out) {
  std::size_t at = 0;
  if (count == 0) {
    for (; at < size; ++at) out[at] = 0.0;
    return;
  }
  for (; at + 16 <= size; at += 16) sum_block<16>(vectors, count, at, out);
  for (; at + 4 <= size; at += 4) sum_block<4>(vectors, count, at, out);
  for (; at < size; ++at) sum_block<1>(vectors, count, at, out);
}

}  // namespace marginalia
