// The structured perceptron (Collins 2002) for any structure: w += features(gold) - features(best) on
// mistakes.
#pragma once

#include <cstdint>
#include <span>

#include "features/index.hpp"
#include "search/structure.hpp"
#include "weights/table.hpp"

namespace marginalia {

struct PassCounts {
  std::uint64_t examples = 0;
  std::uint64_t mistakes = 0;     // examples whose best output was wrong
  std::uint64_t parts = 0;        // tokens seen
  std::uint64_t wrong_parts = 0;  // tokens labelled wrongly
};

// Visits the examples in the given order. `step` counts examples since training began: the first one has step
// 0, so that `WeightTable::averaged(steps)` is the mean of the weights after each example.
template <Structure S>
PassCounts perceptron_pass(S& structure, WeightTable& weights, std::span<const std::uint32_t> order,
                           std::uint64_t& step) {
  PassCounts counts;
  for (const std::uint32_t i : order) {
    const std::vector<std::uint32_t> gold = structure.gold(i);
    const std::vector<std::uint32_t>& best = structure.best(i).output;
    std::uint64_t wrong = 0;
    for (std::size_t t = 0; t < gold.size(); ++t) wrong += gold[t] != best[t];
    ++counts.examples;
    counts.parts += gold.size();
    counts.wrong_parts += wrong;
    if (wrong != 0) {
      ++counts.mistakes;
      difference(structure, i, gold, best, [&](const Coordinate& c, double change) {
        const double now = weights.update(c.row, c.output, c.outputs, change, static_cast<double>(step));
        if (c.row == kConstantRow) structure.constant_changed(c.output, now);
      });
    }
    ++step;
  }
  return counts;
}

}  // namespace marginalia
