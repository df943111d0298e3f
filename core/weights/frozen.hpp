// Weights of a finished model: read-only views of arrays that may be mapped from a file.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "features/index.hpp"
#include "weights/table.hpp"

namespace marginalia {

// A table of slots, at most one key in each. A key's home is key * homes / 2^64, so homes rise with keys; the
// keys stand in rising order, each at its home or in the first free slot after it. A look-up therefore reads
// a few neighbouring slots. Slot s has the cells [row_end[s-1], row_end[s]): outputs, rising, with a weight
// beside each.
struct FrozenArrays {
  std::uint64_t homes = 1;
  std::span<const std::uint64_t> keys;     // [slots] 0 = empty; the last slot is empty
  std::span<const std::uint32_t> row_end;  // [slots]
  std::span<const std::uint16_t> narrow;   // [cells] outputs, where 16 bits hold them all ...
  std::span<const std::uint32_t> wide;     // ... or else here; the other one is empty
  std::span<const float> weights;          // [cells]
  std::span<const std::uint8_t> edge;      // [slots] 1: outputs are label pairs; empty if there are none such
};

inline std::uint64_t home_of(std::uint64_t key, std::uint64_t homes) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(static_cast<Wide>(key) * homes >> 64);
}

// scores[i] += weights[i]
void add_dense(const float* weights, std::size_t size, double* scores);

class FrozenWeights {
 public:
  // Throws std::invalid_argument unless the arrays are as described: nothing is checked later.
  // `node_outputs` and `edge_outputs` are the sizes of the output spaces.
  FrozenWeights(const FrozenArrays& arrays, std::uint64_t node_outputs, std::uint64_t edge_outputs);

  std::size_t slots() const { return arrays_.keys.size(); }

  // A look-up waits for memory three times: the key, the row's bounds, its cells. Ask for each well ahead.
  void prefetch_key(std::uint64_t key) const {
    __builtin_prefetch(&arrays_.keys[home_of(key, arrays_.homes)]);
  }
  void prefetch_row(std::uint32_t row) const { __builtin_prefetch(&arrays_.row_end[row]); }
  void prefetch_cells(std::uint32_t row) const {
    const std::uint32_t i = begin(row);
    __builtin_prefetch(&arrays_.weights[i]);
    if (arrays_.wide.empty()) __builtin_prefetch(&arrays_.narrow[i]);
  }

  std::uint32_t find(std::uint64_t key) const {
    std::size_t i = home_of(key, arrays_.homes);
    while (arrays_.keys[i] != 0 && arrays_.keys[i] < key) ++i;
    return arrays_.keys[i] == key ? static_cast<std::uint32_t>(i) : kUnknownRow;
  }

  bool is_edge(std::uint32_t row) const { return !arrays_.edge.empty() && arrays_.edge[row] != 0; }

  // scores[output] += weight, for all outputs of the row; `outputs` is the size of its output space.
  void add_row(std::uint32_t row, std::size_t outputs, double* scores) const {
    const std::uint32_t first = begin(row), last = arrays_.row_end[row];
    const float* weights = arrays_.weights.data();
    if (last - first == outputs)  // outputs are distinct and sorted, so these are all of them
      add_dense(weights + first, outputs, scores);
    else if (arrays_.wide.empty())
      for (std::uint32_t i = first; i < last; ++i) scores[arrays_.narrow[i]] += weights[i];
    else
      for (std::uint32_t i = first; i < last; ++i) scores[arrays_.wide[i]] += weights[i];
  }

  // scores[output] += scale * weight
  void add_row(std::uint32_t row, double scale, std::size_t outputs, double* scores) const {
    if (scale == 1.0) return add_row(row, outputs, scores);
    for_cells(row, [&](std::uint32_t output, float weight) {
      scores[output] += scale * static_cast<double>(weight);
    });
  }

  // Calls f(output, weight) for the cells of a row.
  template <class F>
  void for_cells(std::uint32_t row, F&& f) const {
    const bool narrow = arrays_.wide.empty();
    for (std::uint32_t i = begin(row); i < arrays_.row_end[row]; ++i)
      f(narrow ? std::uint32_t{arrays_.narrow[i]} : arrays_.wide[i], arrays_.weights[i]);
  }

 private:
  std::uint32_t begin(std::uint32_t row) const { return row == 0 ? 0 : arrays_.row_end[row - 1]; }
  void check_slots() const;
  void check_cells(std::uint64_t node_outputs, std::uint64_t edge_outputs) const;

  FrozenArrays arrays_;
};

// The arrays of a frozen model, made from trained weights: all-zero rows and (but for nearly
// full rows) zero cells are left out.
struct FrozenStorage {
  std::uint64_t homes = 1;
  std::vector<std::uint64_t> keys;
  std::vector<std::uint32_t> row_end, outputs;
  std::vector<float> weights;
  std::vector<std::uint8_t> edge;
  std::vector<std::uint32_t> rows;  // [slots] the training row each came from; kNoRow: empty
};
FrozenStorage freeze(const SparseRows& weights, const FeatureIndex& index, std::uint32_t labels,
                     const std::vector<std::uint8_t>& kept = {});

}  // namespace marginalia
