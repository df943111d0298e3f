// One pass of any online learner over the examples of any structure. A learner is a rule: what to do at an
// example, with what a `Visit` offers. Sample weights, dropout, penalties and counting are the same for all.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include "features/dropout.hpp"
#include "features/index.hpp"
#include "learn/difference.hpp"
#include "search/structure.hpp"
#include "weights/table.hpp"

namespace marginalia {

struct PassCounts {
  std::uint64_t examples = 0;
  std::uint64_t mistakes = 0;     // examples whose output, as the rule found it, was wrong
  std::uint64_t parts = 0;        // tokens seen
  std::uint64_t wrong_parts = 0;  // tokens labelled wrongly
  std::uint64_t updates = 0;      // examples that changed the weights
  double largest = 0.0;           // the largest squared norm of gold's features minus the other output's
  double loss = 0.0;              // of rules that minimise one
};

// An example as its rule sees it.
template <Structure S>
class Visit {
 public:
  Visit(S& structure, WeightTable& weights, NetDifference& net, PassCounts& counts, std::size_t i,
        double sample_weight, std::uint64_t step)
      : structure(structure),
        weights(weights),
        right(structure.right(i)),
        i(i),
        sample_weight(sample_weight),
        step(step),
        counts(counts),
        net_(net) {
    ++counts.examples;
    counts.parts += right.size();
  }

  S& structure;
  WeightTable& weights;
  const RightLabels right;
  const std::size_t i;
  const double sample_weight;
  const std::uint64_t step;
  PassCounts& counts;

  // The right output; if there are several, the one that the weights of now like best.
  const Output& gold() {
    if (!gold_) gold_ = structure.gold(i);
    return *gold_;
  }

  // Counts the parts whose label is not right; true if there are any.
  bool is_wrong(const Output& output) {
    std::uint64_t wrong = 0;
    for (std::size_t t = 0; t < right.size(); ++t) wrong += !right.allows(t, output[t]);
    counts.wrong_parts += wrong;
    counts.mistakes += wrong != 0;
    return wrong != 0;
  }

  // features(gold) - features(other)
  const NetDifference& minus(const Output& other) {
    net_.clear();
    difference(structure, i, gold(), other, [&](const Coordinate& at, double count) { net_.add(at, count); });
    net_.finish();
    return net_;
  }

  // By how much gold's score exceeds the other's.
  double margin(const NetDifference& net) const {
    double sum = 0.0;
    for (const auto& [at, value] : net.terms()) sum += weights.weight(at) * value;
    return sum;
  }

  // Brings all weights of the example up to date.
  void settle() {
    const auto steps = static_cast<double>(step);
    structure.rows_of(i, [&](std::uint32_t row) { weights.settle(row, steps); });
    weights.settle(kConstantRow, steps);
  }

  // weight += change(coordinate, value) for each term.
  template <class Change>
  void apply(const NetDifference& net, Change&& change) {
    if (sample_weight == 0.0) return;
    ++counts.updates;
    counts.largest = std::max(counts.largest, net.squared_norm());
    for (const auto& [at, value] : net.terms()) {
      if (weights.shrinks_first()) weights.settle(at.row, static_cast<double>(step + 1));
      const double now = weights.update(at, sample_weight * change(at, value), static_cast<double>(step));
      if (at.row == kConstantRow) structure.constant_changed(at.output, now);
    }
  }

 private:
  NetDifference& net_;
  std::optional<Output> gold_;
};

template <Structure S>
void tell_constants(S& structure, const WeightTable& weights) {
  const SparseRows& rows = weights.current();
  for (const Cell* c = rows.begin(kConstantRow); c != rows.end(kConstantRow); ++c)
    structure.constant_changed(c->output, static_cast<double>(c->weight));
}

// Visits the examples in the given order. `step` counts examples since training began: the first one has step
// 0, so that `WeightTable::averaged(steps)` is the mean of the weights after each example. `sample_weights`
// are by example, or there are none. `first` is the number of example 0 among those of the whole pass.
template <Structure S, class Rule>
PassCounts online_pass(S& structure, WeightTable& weights, const Rule& rule,
                       std::span<const std::uint32_t> order, std::span<const double> sample_weights,
                       const Dropout& dropout, std::uint64_t& step, std::uint32_t first = 0) {
  PassCounts counts;
  NetDifference net;
  for (const std::uint32_t i : order) {
    weights.visit(first + i);
    if (dropout.active()) structure.hide(i, dropout, step);
    Visit<S> visit(structure, weights, net, counts, i, sample_weights.empty() ? 1.0 : sample_weights[i],
                   step);
    if (weights.penalised()) {
      visit.settle();
      tell_constants(structure, weights);
    }
    if (weights.shrinks_first()) weights.charge(rule.penalty_scale(step));
    rule(visit);
    if (weights.penalised() && !weights.shrinks_first()) weights.charge(rule.penalty_scale(step));
    ++step;
  }
  if (dropout.active()) structure.hide(0, Dropout{}, 0);
  return counts;
}

}  // namespace marginalia
