// The negative log-likelihood of examples and its gradient, for any structure. The observed counts do not
// depend on the weights, so they are summed once: loss = sum of log Z - w · observed. Of examples that leave
// open what is right nothing is observed; their loss is log Z minus the same sum over the right outputs only.
#pragma once

#include <cstdint>
#include <span>

#include "base/prefetch.hpp"
#include "search/structure.hpp"
#include "search/tiers.hpp"
#include "weights/weight_table.hpp"

namespace marginalia {

// Makes room for the features of the gold outputs (of the labels that are named, where several are right);
// `whole_rows`: with all outputs of those features, and of all others.
template <Structure S>
void make_room_for_gold(S& structure, WeightTable& weights, bool whole_rows) {
  const auto make = [&](const Coordinate& at, double) { weights.make_room(at, whole_rows); };
  for (std::size_t i = 0; i < structure.size(); ++i)
    if (complete(structure, i))
      structure.features_of(i, structure.gold(i), make);
    else if constexpr (PartiallyLabelled<S>)
      structure.named_features(i, make);
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

// counts[cell] += how often the weight's feature is seen in the gold outputs. Examples with several right
// ones have nothing to count; if asked for, the expected count in those is.
template <Structure S>
void count_gold(S& structure, const SparseRows& weights, std::span<const double> sample_weights,
                double* counts, bool expected = false) {
  for (std::size_t i = 0; i < structure.size(); ++i) {
    const double share = sample_weights.empty() ? 1.0 : sample_weights[i];
    if (!complete(structure, i)) {
      if (expected) right_expectations(structure, i, GradientSink{weights, counts, share});
      continue;
    }
    structure.features_of(i, structure.gold(i), [&](const Coordinate& at, double count) {
      if (const std::size_t cell = weights.place_of(at); cell != SIZE_MAX) counts[cell] += share * count;
    });
  }
}

// gradient[cell] += expected counts of the examples [first, last), minus those of the right outputs where
// several are; returns the sum of their log Z, minus the logs of the latter. `local`: of each choice on the
// way to gold.
template <Structure S>
double add_expectations(S& structure, const SparseRows& weights, std::size_t first, std::size_t last,
                        std::span<const double> sample_weights, bool local, double* gradient) {
  double log_z = 0.0;
  for (std::size_t i = first; i < last; ++i) {
    GradientSink sink{weights, gradient, sample_weights.empty() ? 1.0 : sample_weights[i]};
    log_z += sink.share * expectations(structure, i, local, sink);
    if (complete(structure, i)) continue;
    sink.share = -sink.share;
    log_z += sink.share * right_expectations(structure, i, sink);
  }
  return log_z;
}

}  // namespace marginalia
