// Outputs that are a label for each token, and what structures with such outputs share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "features/example_rows.hpp"
#include "features/right.hpp"
#include "search/structure.hpp"

namespace marginalia {

using Labels = std::vector<std::uint32_t>;
using ScoredLabels = Scored<Labels>;

// Tokens whose label is not right.
inline std::size_t errors_of(const RightLabels& right, const Labels& given) {
  std::size_t wrong = 0;
  for (std::size_t t = 0; t < right.size(); ++t) wrong += !right.allows(t, given[t]);
  return wrong;
}

// What it costs to give a token one label when another one is right; the cost of an output is the sum over
// its tokens.
struct LabelCosts {
  std::uint32_t labels = 0;
  std::vector<float> cost;  // [right][given]; empty: 1 for each wrong one

  // Where more than one label may be right, those cost nothing, and others what they cost at least.
  double of(const RightLabels& right, std::size_t t, std::uint32_t given) const {
    if (cost.empty()) return right.allows(t, given) ? 0.0 : 1.0;
    if (!right.is_set(t)) return static_cast<double>(cost[std::size_t{right.ids()[t]} * labels + given]);
    if (right.allows(t, given)) return 0.0;
    float least = std::numeric_limits<float>::max();
    right.for_labels(
        t, [&](std::uint32_t one) { least = std::min(least, cost[std::size_t{one} * labels + given]); });
    return static_cast<double>(least);
  }
  double of(const RightLabels& right, const Labels& given) const {
    double sum = 0.0;
    for (std::size_t t = 0; t < right.size(); ++t) sum += of(right, t, given[t]);
    return sum;
  }
};

// Throws std::invalid_argument unless each token has a label or a set of them.
inline void check_gold(std::span<const std::uint32_t> gold, const LabelSets& sets, std::size_t tokens,
                       std::uint32_t labels) {
  const std::size_t most = labels + sets.size();
  bool fits = gold.size() == tokens && (sets.size() == 0 || sets.labels == labels);
  for (const std::uint32_t label : gold) fits = fits && label < most;
  if (!fits) throw std::invalid_argument("gold labels do not fit the examples and the shape");
}

// scores[t][label] = the sum of the weights of the rows of token t. Waiting for memory is most of the cost,
// so rows are prefetched.
inline void sum_node_rows(const Example& x, const SparseRows& weights, std::uint32_t labels, double* scores) {
  constexpr std::uint64_t kRowAhead = 24, kCellsAhead = 8;
  const LargeVector<std::uint32_t>& rows = x.all->node_rows;
  const std::vector<std::uint64_t>& ends = x.all->node_end;
  if (weights.dense.width() == labels && x.all->node_values.empty())
    return weights.sum_rows(rows.data(), ends.data() + x.first, x.length, scores);
  const std::uint64_t last = ends[x.first + x.length];
  std::uint64_t i = ends[x.first];
  std::fill(scores, scores + x.length * labels, 0.0);
  for (std::size_t t = 0; t < x.length; ++t, scores += labels) {
    for (; i < ends[x.first + t + 1]; ++i) {
      if (i + kRowAhead < last) weights.prefetch_row(rows[i + kRowAhead]);
      if (i + kCellsAhead < last) weights.prefetch_cells(rows[i + kCellsAhead]);
      weights.add_row(rows[i], x.all->node_value(i), labels, scores);
    }
  }
}

// Examples, and what wrong labels cost.
struct LabelData {
  const ExampleRows& examples;
  std::shared_ptr<const LabelCosts> costs;

  std::size_t size() const { return examples.sentences(); }
  std::size_t parts() const { return examples.tokens(); }
  std::uint32_t most_row() const { return examples.most_row(); }
  bool can_hide() const { return examples.can_hide(); }
  bool complete() const { return examples.sets.size() == 0; }
  template <class Shape>
  void check_gold(const Shape& shape) const {
    marginalia::check_gold(examples.gold, examples.sets, parts(), shape.labels);
  }
};

// Data to look at only, which add no features: these have all their features from the start.
inline const LabelData& closed(const LabelData& data) {
  return data;
}

}  // namespace marginalia
