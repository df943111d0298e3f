// Random numbers that are the same on every machine and in every version.
#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "base/hash.hpp"

namespace marginalia {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() { return scrambled(state_ += 0x9e3779b97f4a7c15ULL); }

  // Uniform in [0, bound), without bias.
  std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t threshold = (0 - bound) % bound;
    for (;;) {
      const std::uint64_t draw = next();
      if (draw >= threshold) return draw % bound;
    }
  }

 private:
  std::uint64_t state_;
};

inline std::vector<std::uint32_t> permutation(std::uint32_t n, std::uint64_t seed) {
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  Random random(seed);
  for (std::uint32_t i = n; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

}  // namespace marginalia
