// Weights of a finished model: read-only views of arrays that may be mapped from a file.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "features/index.hpp"
#include "weights/table.hpp"

namespace marginalia {

// Keys are sorted; `bucket[b]` is the first key whose top bits are >= b, so a look-up reads one bucket and
// about one key. Row r has the outputs [row_end[r-1], row_end[r]) and weights beside them.
struct FrozenArrays {
  std::span<const std::uint64_t> keys;     // [rows]
  std::span<const std::uint32_t> bucket;   // [2^bits + 1]
  std::span<const std::uint32_t> row_end;  // [rows]
  std::span<const std::uint16_t> narrow;   // [cells] outputs, where 16 bits hold them all ...
  std::span<const std::uint32_t> wide;     // ... or else here; the other one is empty
  std::span<const float> weights;          // [cells]
};

// scores[i] += weights[i]
void add_dense(const float* weights, std::size_t size, double* scores);

class FrozenWeights {
 public:
  // Throws std::invalid_argument unless the arrays fit each other: nothing is trusted later.
  // `node_outputs` and `edge_outputs` bound the outputs of rows; `edge_rows` flags rows by scope.
  FrozenWeights(const FrozenArrays& arrays, std::span<const std::uint8_t> edge_rows,
                std::uint32_t node_outputs, std::uint64_t edge_outputs);

  static constexpr std::uint32_t kNone = UINT32_MAX;

  void prefetch(std::uint64_t key) const { __builtin_prefetch(&arrays_.bucket[key >> shift_]); }

  std::uint32_t find(std::uint64_t key) const {
    const std::size_t b = key >> shift_;
    for (std::uint32_t i = arrays_.bucket[b]; i < arrays_.bucket[b + 1]; ++i)
      if (arrays_.keys[i] == key) return i;
    return kNone;
  }

  // scores[output] += weight, for all outputs of the row; `outputs` is the size of its output space.
  void add_row(std::uint32_t row, std::size_t outputs, double* scores) const {
    const std::uint32_t begin = row == 0 ? 0 : arrays_.row_end[row - 1], end = arrays_.row_end[row];
    const float* weights = arrays_.weights.data();
    if (end - begin == outputs)  // outputs are distinct and sorted, so these are all of them
      add_dense(weights + begin, outputs, scores);
    else if (arrays_.wide.empty())
      for (std::uint32_t i = begin; i < end; ++i) scores[arrays_.narrow[i]] += weights[i];
    else
      for (std::uint32_t i = begin; i < end; ++i) scores[arrays_.wide[i]] += weights[i];
  }

 private:
  FrozenArrays arrays_;
  int shift_;
};

// The arrays of a frozen model, made from trained weights: all-zero rows and cells are left out.
struct FrozenStorage {
  std::vector<std::uint64_t> keys;
  std::vector<std::uint32_t> bucket, row_end, outputs;
  std::vector<float> weights;
  std::vector<std::uint8_t> edge;   // [rows] 1: the row's outputs are label pairs
  std::vector<std::uint32_t> rows;  // [rows] the training row each came from
};
FrozenStorage freeze(const SparseRows& weights, const FeatureIndex& index);

}  // namespace marginalia
