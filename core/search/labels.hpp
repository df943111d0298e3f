// Outputs that are a label for each token, and what structures with such outputs share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

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

}  // namespace marginalia
