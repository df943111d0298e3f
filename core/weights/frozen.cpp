#include "weights/frozen.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "base/simd.hpp"

namespace marginalia {

namespace {

void require(bool fits, const char* what) {
  if (!fits) throw std::invalid_argument(what);
}

// About one key per bucket.
int bits_for(std::size_t keys) {
  return std::clamp(static_cast<int>(std::bit_width(keys)), 1, 31);
}

}  // namespace

MARGINALIA_KERNEL
void add_dense(const float* __restrict weights, std::size_t size, double* __restrict scores) {
  for (std::size_t i = 0; i < size; ++i) scores[i] += static_cast<double>(weights[i]);
}

FrozenWeights::FrozenWeights(const FrozenArrays& arrays, std::span<const std::uint8_t> edge_rows,
                             std::uint32_t node_outputs, std::uint64_t edge_outputs)
    : arrays_(arrays) {
  const std::size_t rows = arrays.keys.size();
  require(arrays.row_end.size() == rows && edge_rows.size() == rows, "weights: rows disagree in number");
  const std::size_t cells = arrays.weights.size();
  require(
      arrays.narrow.size() + arrays.wide.size() == cells && (arrays.narrow.empty() || arrays.wide.empty()),
      "weights: cells disagree in number");
  require(arrays.bucket.size() >= 3 && std::has_single_bit(arrays.bucket.size() - 1),
          "weights: the bucket index has a wrong size");
  shift_ = 64 - (static_cast<int>(std::bit_width(arrays.bucket.size() - 1)) - 1);
  require(arrays.bucket.front() == 0 && arrays.bucket.back() == rows, "weights: the bucket index is damaged");
  require(std::is_sorted(arrays.bucket.begin(), arrays.bucket.end()), "weights: the bucket index is damaged");
  for (std::size_t b = 0; b + 1 < arrays.bucket.size(); ++b)
    for (std::size_t i = arrays.bucket[b]; i < arrays.bucket[b + 1]; ++i)
      require(arrays.keys[i] >> shift_ == b && (i == 0 || arrays.keys[i - 1] < arrays.keys[i]),
              "weights: keys are not in order");
  require(std::is_sorted(arrays.row_end.begin(), arrays.row_end.end()), "weights: rows overlap");
  require((rows == 0 ? 0 : arrays.row_end.back()) == cells, "weights: rows and cells disagree");
  std::uint32_t i = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    std::uint64_t least = 0;  // outputs rise within a row: `add_row` relies on it
    for (; i < arrays.row_end[row]; ++i) {
      const std::uint64_t output = arrays.wide.empty() ? arrays.narrow[i] : arrays.wide[i];
      require(output >= least, "weights: the outputs of a row are not sorted");
      require(std::isfinite(arrays.weights[i]), "weights: a weight is not finite");
      least = output + 1;
    }
    require(least <= (edge_rows[row] != 0 ? edge_outputs : node_outputs),
            "weights: an output is out of range");
  }
}

FrozenStorage freeze(const SparseRows& weights, const FeatureIndex& index) {
  FrozenStorage out;
  const auto nonzero = [](const Cell& c) { return c.weight != 0.0f; };
  for (std::uint32_t row = 1; row < index.rows(); ++row)
    if (std::any_of(weights.begin(row), weights.end(row), nonzero)) out.rows.push_back(row);
  std::sort(out.rows.begin(), out.rows.end(),
            [&](std::uint32_t a, std::uint32_t b) { return index.key(a) < index.key(b); });
  for (const std::uint32_t row : out.rows) {
    out.keys.push_back(index.key(row));
    out.edge.push_back(index.scope(row) == Scope::edge ? 1 : 0);
    std::vector<Cell> cells(weights.begin(row), weights.end(row));
    std::sort(cells.begin(), cells.end(), [](const Cell& a, const Cell& b) { return a.output < b.output; });
    for (const Cell& cell : cells) {
      if (!nonzero(cell)) continue;
      out.outputs.push_back(cell.output);
      out.weights.push_back(cell.weight);
    }
    if (out.outputs.size() > UINT32_MAX) throw std::length_error("more than 4 billion weights");
    out.row_end.push_back(static_cast<std::uint32_t>(out.outputs.size()));
  }
  const int bits = bits_for(out.keys.size());
  out.bucket.assign((std::size_t{1} << bits) + 1, 0);
  for (const std::uint64_t key : out.keys) ++out.bucket[(key >> (64 - bits)) + 1];
  for (std::size_t b = 1; b < out.bucket.size(); ++b) out.bucket[b] += out.bucket[b - 1];
  return out;
}

}  // namespace marginalia
