// One pass of any online learner over the examples of any structure. A learner is an update rule: what to do
// at an example, with what a `Visit` offers. Sample weights, dropout, penalties and counting are the same for
// all.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>

#include "features/dropout.hpp"
#include "features/index.hpp"
#include "learn/difference.hpp"
#include "search/structure.hpp"
#include "search/tiers.hpp"
#include "weights/weight_table.hpp"

namespace marginalia {

struct PassCounts {
  std::uint64_t examples = 0;
  std::uint64_t mistakes = 0;     // examples whose output, as the rule found it, was wrong
  std::uint64_t parts = 0;        // of all outputs: tokens, if outputs label tokens
  std::uint64_t wrong_parts = 0;  // of the outputs found
  std::uint64_t updates = 0;      // examples that changed the weights
  double largest = 0.0;           // the largest squared norm of gold's features minus the other output's
  double loss = 0.0;              // of rules that minimise one
};

// An example as its rule sees it.
template <Structure S>
class Visit {
 public:
  using Output = typename S::Output;
  // What visits take from each other, to allocate it once.
  struct Space {
    NetDifference net;
    Violation<Output> violation;
  };

  Visit(S& structure, WeightTable& weights, Space& space, PassCounts& counts, std::size_t i,
        double sample_weight, std::uint64_t step)
      : structure(structure),
        weights(weights),
        i(i),
        sample_weight(sample_weight),
        step(step),
        counts(counts),
        space_(space) {
    ++counts.examples;
    counts.parts += structure.parts(i);
  }

  S& structure;
  WeightTable& weights;
  const std::size_t i;
  const double sample_weight;
  const std::uint64_t step;
  PassCounts& counts;

  // The right output; if there are several, the best of them by the weights of now.
  const Output& gold() {
    if (!gold_) gold_ = structure.gold(i);
    return *gold_;
  }

  // What to compare; counts its errors. The same object every time.
  const Violation<Output>& against(Against which) {
    find_violation(structure, i, which, space_.violation);
    counts.wrong_parts += space_.violation.errors;
    counts.mistakes += space_.violation.errors != 0;
    return space_.violation;
  }

  // The features of the right part minus those of the wrong one.
  const NetDifference& difference_of(const Violation<Output>& violation) {
    NetDifference& net = space_.net;
    net.clear();
    difference(structure, i, violation.right, violation.wrong.output,
               [&](const Coordinate& at, double count) { net.add(at, count); });
    net.finish();
    return net;
  }

  // By how much the right part's score exceeds that of the wrong one.
  double margin(const NetDifference& net) const {
    double sum = 0.0;
    for (const auto& [at, value] : net.terms()) sum += weights.weight(at) * value;
    return sum;
  }

  // Brings all weights of the example up to date.
  void catch_up() {
    const auto steps = static_cast<double>(step);
    if constexpr (LazilyPenalised<S>)
      structure.rows_of(i, [&](std::uint32_t row) { weights.catch_up(row, steps); });
    weights.catch_up(kConstantRow, steps);
  }

  // weight += change(coordinate, value) for each term.
  template <class Change>
  void apply(const NetDifference& net, Change&& change) {
    if (sample_weight == 0.0) return;
    ++counts.updates;
    counts.largest = std::max(counts.largest, net.squared_norm());
    const auto& terms = net.terms();
    for (std::size_t k = 0; k < terms.size(); ++k) {
      if (k + kRowAhead < terms.size()) weights.prefetch_row(terms[k + kRowAhead].at.row);
      if (k + kCellsAhead < terms.size()) weights.prefetch_cells(terms[k + kCellsAhead].at.row);
      const auto& [at, value] = terms[k];
      if (weights.shrinks_first()) weights.catch_up(at.row, static_cast<double>(step + 1));
      const double now = weights.update(at, sample_weight * change(at, value), static_cast<double>(step));
      if constexpr (WithConstants<S>)
        if (at.row == kConstantRow) structure.constant_changed(at.output, now);
    }
  }

 private:
  static constexpr std::size_t kRowAhead = 16, kCellsAhead = 6;  // rows are met in no order: prefetch them

  Space& space_;
  std::optional<Output> gold_;
};

template <Structure S>
void update_constants([[maybe_unused]] S& structure, const WeightTable& weights) {
  if constexpr (WithConstants<S>) {
    const SparseRows& rows = weights.current();
    for (const Cell* c = rows.begin(kConstantRow); c != rows.end(kConstantRow); ++c)
      structure.constant_changed(c->output, static_cast<double>(c->weight));
  }
}

// Until the next call, example i has only some of its features.
template <Structure S>
void hide([[maybe_unused]] S& structure, [[maybe_unused]] std::size_t i, const Dropout& dropout,
          [[maybe_unused]] std::uint64_t step) {
  if constexpr (Droppable<S>)
    structure.hide(i, dropout, step);
  else if (dropout.active())
    refuse("dropout", Tier::dropout, S::kName);
}

// Visits the examples in the given order. `step` counts examples since training began: the first one has step
// 0, so that `WeightTable::averaged(steps)` is the mean of the weights after each example. `sample_weights`
// are by example, or there are none. `first` is the number of example 0 among those of the whole pass. A pass
// may be made in parts that add to the same counts: sums of losses do not depend on where it is cut.
template <Structure S, class Rule>
  requires std::invocable<const Rule&, Visit<S>&>
void online_pass(S& structure, WeightTable& weights, const Rule& rule, std::span<const std::uint32_t> order,
                 std::span<const double> sample_weights, const Dropout& dropout, std::uint64_t& step,
                 PassCounts& counts, std::uint32_t first = 0) {
  check_fit<S>(Rule::kName, rule.needs());
  if (weights.penalised()) check_fit<S>("a penalty", Tier::penalties);
  typename Visit<S>::Space space;
  if constexpr (requires { structure.row_outputs(); }) weights.keep_copies(structure.row_outputs());
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::uint32_t i = order[k];
    if constexpr (requires { structure.prefetch(i); })
      if (k + 1 < order.size()) structure.prefetch(order[k + 1]);
    weights.visit(first + i);
    if (dropout.active()) hide(structure, i, dropout, step);
    Visit<S> visit(structure, weights, space, counts, i, sample_weights.empty() ? 1.0 : sample_weights[i],
                   step);
    if (weights.penalised()) {
      visit.catch_up();
      update_constants(structure, weights);
    }
    if (weights.shrinks_first()) weights.charge(rule.penalty_scale(step));
    rule(visit);
    if (weights.penalised() && !weights.shrinks_first()) weights.charge(rule.penalty_scale(step));
    ++step;
  }
  if (dropout.active()) hide(structure, 0, Dropout{}, 0);
}

}  // namespace marginalia
