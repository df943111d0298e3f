// How far gold outputs are from the best wrong ones.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "learn/difference.hpp"
#include "search/structure.hpp"

namespace marginalia {

// For each of the examples [first, last): score of gold minus score of the best other output, and the norm of
// the difference of their features. Where there is no other output, gold leads by infinity.
struct Margin {
  double margin = std::numeric_limits<double>::infinity();
  double norm = 0.0;
};

template <Structure S>
std::vector<Margin> margins_of(S& structure, const SparseRows& weights, std::size_t first, std::size_t last) {
  std::vector<Margin> found(last - first);
  NetDifference net;
  for (std::size_t i = first; i < last; ++i) {
    const Output gold = structure.gold(i);
    for (const Scored& other : structure.k_best(i, 2)) {
      if (other.output == gold) continue;
      net.clear();
      difference(structure, i, gold, other.output,
                 [&](const Coordinate& at, double count) { net.add(at, count); });
      net.finish();
      double margin = 0.0;
      for (const auto& [at, value] : net.terms())
        if (const std::size_t cell = weights.place_of(at); cell != SIZE_MAX)
          margin += value * static_cast<double>(weights.cells[cell].weight);
      found[i - first] = {margin, std::sqrt(net.squared_norm())};
      break;
    }
  }
  return found;
}

}  // namespace marginalia
