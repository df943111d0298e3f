// How far gold outputs are from the best wrong ones.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "learn/difference.hpp"
#include "search/structure.hpp"

namespace marginalia {

// For each of the examples [first, last): score of gold minus score of the best other output, and the norm of
// the difference of their features. Where there is no other output, gold leads by infinity. If several
// outputs are right, gold is the best of them, and others are those that are not right.
struct Margin {
  double margin = std::numeric_limits<double>::infinity();
  double norm = 0.0;
};

template <Structure S>
std::optional<Scored<typename S::Output>> best_other(S& structure, std::size_t i) {
  if constexpr (PartiallyLabelled<S>)
    if (!structure.complete(i)) return structure.best_wrong(i);
  for (Scored<typename S::Output>& other : structure.k_best(i, 2))
    if (structure.errors(i, other.output) != 0) return std::move(other);
  return std::nullopt;
}

template <Structure S>
std::vector<Margin> margins_of(S& structure, const SparseRows& weights, std::size_t first, std::size_t last) {
  std::vector<Margin> margins(last - first);
  NetDifference net;
  for (std::size_t i = first; i < last; ++i) {
    const typename S::Output gold = structure.gold(i);
    const auto other = best_other(structure, i);
    if (!other) continue;
    net.clear();
    difference(structure, i, gold, other->output,
               [&](const Coordinate& at, double count) { net.add(at, count); });
    net.finish();
    double margin = 0.0;
    for (const auto& [at, value] : net.terms())
      if (const std::size_t cell = weights.place_of(at); cell != SIZE_MAX)
        margin += value * static_cast<double>(weights.cells[cell].weight);
    margins[i - first] = {margin, std::sqrt(net.squared_norm())};
  }
  return margins;
}

}  // namespace marginalia
