// The negative log-likelihood of examples and its gradient, for any structure. The observed counts do not
// depend on the weights, so they are summed once: loss = sum of log Z - w · observed.
#pragma once

#include <cstdint>
#include <span>

#include "base/prefetch.hpp"
#include "search/structure.hpp"
#include "weights/table.hpp"

namespace marginalia {

// Makes room for the features of the gold outputs; `whole_rows`: with all outputs of those features, and of
// all others.
template <Structure S>
void make_room_for_gold(S& structure, WeightTable& weights, bool whole_rows) {
  for (std::size_t i = 0; i < structure.size(); ++i)
    structure.features_of(i, structure.gold(i),
                          [&](const Coordinate& at, double) { weights.make_room(at, whole_rows); });
}

// counts[cell] += how often the weight's feature is seen in the gold outputs.
template <Structure S>
void count_gold(S& structure, const SparseRows& weights, std::span<const double> sample_weights,
                double* counts) {
  for (std::size_t i = 0; i < structure.size(); ++i) {
    const double share = sample_weights.empty() ? 1.0 : sample_weights[i];
    structure.features_of(i, structure.gold(i), [&](const Coordinate& at, double count) {
      if (const std::size_t cell = weights.place_of(at); cell != SIZE_MAX) counts[cell] += share * count;
    });
  }
}

// Adds mean counts, `share` times, to the gradient by cell.
struct GradientSink {
  const SparseRows& weights;
  double* gradient;
  double share;

  void operator()(std::uint32_t row, std::uint32_t first, const double* means, std::uint32_t count) const {
    weights.for_cells(row, first, count,
                      [&](std::size_t cell, std::uint32_t k) { gradient[cell] += share * means[k]; });
  }
  void prefetch_row(std::uint32_t row) const { weights.prefetch_row(row); }
  void prefetch_cells(std::uint32_t row) const {
    weights.prefetch_cells(row);
    prefetch(gradient + weights.rows[row].begin);
  }
};

// gradient[cell] += expected counts of the examples [first, last); returns the sum of their log Z. `local`:
// each label a choice given gold's labels before it.
template <Structure S>
double add_expectations(S& structure, const SparseRows& weights, std::size_t first, std::size_t last,
                        std::span<const double> sample_weights, bool local, double* gradient) {
  double log_z = 0.0;
  for (std::size_t i = first; i < last; ++i) {
    GradientSink sink{weights, gradient, sample_weights.empty() ? 1.0 : sample_weights[i]};
    log_z += sink.share * (local ? local_expectations(structure, i, sink) : structure.expectations(i, sink));
  }
  return log_z;
}

}  // namespace marginalia
