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

// Keys of the groups of a state with the fields that they look at; what is known of them will be asked for
// soon.
void TreeScoring::add_keys(TreeStates& states, const TreeState& s) {
  const std::size_t first = fields_.size();
  states.add_fields(extractor_, s, fields_);
  const std::uint32_t* fields = fields_.data() + first;
  std::uint64_t number = 0;
  for (const TreeExtractor::Group& group : extractor_.groups()) {
    std::uint64_t key = 0x9e3779b97f4a7c15ULL * ++number;
    for (const std::uint32_t field : group.fields) key = (key ^ fields[field]) * 0xbf58476d1ce4e5b9ULL;
    key = scrambled(key);
    known_.prefetch_slot(key);
    keys_.push_back(key);
  }
}

}  // namespace marginalia
