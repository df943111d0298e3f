// The update rules of the online learners: what each does at an example. They name no structure, state which
// tiers of the contract they need (`needs`, and the concept of their call operator), and ask for nothing of
// outputs but violations; docs/learners.md has the formulas.
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include "learn/online.hpp"

namespace marginalia {

// Collins 2002: w += features(gold) - features(best) where they differ.
struct PerceptronRule {
  static constexpr const char* kName = "perceptron";
  Tiers needs() const { return {}; }
  double penalty_scale(std::uint64_t) const { return 1.0; }

  template <Structure S>
  void operator()(Visit<S>& visit) const {
    const auto& violation = visit.against(Against::best);
    if (!violation.found) return;
    const NetDifference& net = visit.difference_of(violation);
    if (violation.right_may_lead && visit.margin(net) > 0.0) return;
    visit.apply(net, [](auto&&, double value) { return value; });
  }
};

// Kazama and Torisawa 2007, algorithm 3.1: the perceptron, which also learns from the second best output
// where gold is the best but not by more than `margin`. If several outputs are right, it is the best wrong
// one that must be beaten.
struct MarginRule {
  static constexpr const char* kName = "margin";
  double margin = 0.0;
  Tiers needs() const { return {}; }
  double penalty_scale(std::uint64_t) const { return 1.0; }

  template <Structure S>
  void operator()(Visit<S>& visit) const {
    const auto& violation = visit.against(Against::second);
    if (!violation.found) return;
    const NetDifference& net = visit.difference_of(violation);
    if ((violation.errors != 0 && !violation.right_may_lead) || visit.margin(net) <= margin)
      visit.apply(net, [](auto&&, double value) { return value; });
  }
};

// The output that is best by score + cost, and by how much gold fails to beat it by its cost.
template <CostSensitive S, class Learn>
void with_costly_best(Visit<S>& visit, Learn&& learn) {
  const auto& violation = visit.against(Against::costly);
  if (!violation.found) return;
  const NetDifference& net = visit.difference_of(violation);
  const double loss = violation.cost - visit.margin(net);
  visit.counts.loss += std::max(loss, 0.0);
  if (loss > 0.0 && !net.terms().empty()) learn(net, loss);
}

// Crammer et al. 2006: the smallest change that makes gold beat the other output by its cost, held back by C.
struct PassiveAggressiveRule {
  static constexpr const char* kName = "pa";
  enum class Kind { hard, linear, squared } kind = Kind::linear;  // PA, PA-I, PA-II
  double c = 1.0;
  Tiers needs() const { return Tier::costs; }
  double penalty_scale(std::uint64_t) const { return 1.0; }

  template <CostSensitive S>
  void operator()(Visit<S>& visit) const {
    with_costly_best(visit, [&](const NetDifference& net, double loss) {
      const double norm = net.squared_norm();
      const double tau = kind == Kind::squared  ? loss / (norm + 0.5 / c)
                         : kind == Kind::linear ? std::min(c, loss / norm)
                                                : loss / norm;
      visit.apply(net, [tau](auto&&, double value) { return tau * value; });
    });
  }
};

// Crammer et al. 2009 with a diagonal of variances: sure weights move less.
struct ArowRule {
  static constexpr const char* kName = "arow";
  double r = 1.0;
  Tiers needs() const { return Tier::costs; }
  double penalty_scale(std::uint64_t) const { return 1.0; }

  template <CostSensitive S>
  void operator()(Visit<S>& visit) const {
    if (!visit.weights.has_variances()) throw std::invalid_argument("AROW needs weights with variances");
    with_costly_best(visit, [&](const NetDifference& net, double loss) {
      double confidence = 0.0;
      for (const auto& [at, value] : net.terms()) confidence += value * value * visit.weights.variance(at);
      const double beta = 1.0 / (confidence + r), alpha = loss * beta;
      visit.apply(net, [&](const Coordinate& at, double value) {
        const double variance = visit.weights.variance(at);
        visit.weights.set_variance(at, variance - beta * variance * variance * value * value);
        return alpha * variance * value;
      });
    });
  }
};

// A correction: the smallest change that makes gold beat the best other output by `margin`, and a little
// more, so that rounding leaves nothing to do. `local`: scores are normalised choice by choice, and a step
// may have to be followed by others.
struct CorrectionRule {
  static constexpr const char* kName = "correction";
  static constexpr double kMore = 1.01;
  double margin = 0.0;
  bool local = false;
  Tiers needs() const { return Tiers().with(Tier::steps, local); }
  double penalty_scale(std::uint64_t) const { return 1.0; }

  template <Structure S>
  void operator()(Visit<S>& visit) const {
    const auto& violation = visit.against(Against::second);
    if (!violation.found) return;
    const bool wrong = violation.errors != 0;
    const NetDifference& net = visit.difference_of(violation);
    const double lead = local ? log_probability(visit) - violation.wrong.score : visit.margin(net);
    if (lead >= margin && !(wrong && local)) return;
    const double missing = lead < margin ? kMore * margin - lead : margin;  // a beam may lose the best
    visit.counts.loss += missing;
    if (net.terms().empty()) return;
    const double tau = missing / net.squared_norm();
    visit.apply(net, [tau](auto&&, double value) { return tau * value; });
  }

 private:
  template <Structure S>
  static double log_probability(Visit<S>& visit) {
    double score = -expectations(visit.structure, visit.i, true, NoMeans{});
    visit.structure.features_of(visit.i, visit.gold(), [&](const Coordinate& at, double count) {
      score += count * visit.weights.weight(at);
    });
    return score;
  }
};

// Stochastic gradient of the negative log-likelihood, with a rate that falls exponentially (Tsuruoka 2009):
// rate * decay^(step / examples). Only weights that have room are learned.
struct GradientRule {
  static constexpr const char* kName = "gradient";
  double rate = 0.1, decay = 0.85;
  double examples = 1.0;
  bool local = false;  // each label a choice given gold's labels before it, instead of whole outputs
  double rate_at(std::uint64_t step) const {
    return rate * std::pow(decay, static_cast<double>(step) / examples);
  }
  Tiers needs() const { return Tiers().with(Tier::steps, local).with(Tier::expectations, !local); }
  double penalty_scale(std::uint64_t step) const { return rate_at(step); }

  template <Structure S>
    requires Probabilistic<S> || Stepwise<S>
  void operator()(Visit<S>& visit) const {
    const double eta = rate_at(visit.step) * visit.sample_weight;
    WeightTable& weights = visit.weights;
    const bool complete = marginalia::complete(visit.structure, visit.i);
    double log_right = 0.0;  // of the sum over all right outputs
    if (complete)
      visit.structure.features_of(visit.i, visit.gold(), [&](const Coordinate& at, double count) {
        log_right += count * weights.weight(at);
      });
    // Expectations come while scores are still being read: nothing may change before they are all there.
    std::vector<std::pair<std::size_t, double>> changes;
    double sign = -eta;
    const auto collect = [&](std::uint32_t row, std::uint32_t first, const double* means,
                             std::uint32_t count) {
      weights.current().for_cells(row, first, count, [&](std::size_t cell, std::uint32_t k) {
        changes.emplace_back(cell, sign * means[k]);
      });
    };
    const double log_z = expectations(visit.structure, visit.i, local, collect);
    sign = eta;
    if (!complete) log_right = right_expectations(visit.structure, visit.i, collect);
    if (complete)
      visit.structure.features_of(visit.i, visit.gold(), [&](const Coordinate& at, double count) {
        const std::size_t cell = weights.current().place_of(at);
        if (cell != SIZE_MAX) changes.emplace_back(cell, eta * count);
      });
    if (weights.shrinks_first()) visit.catch_up();
    for (const auto& [cell, change] : changes) weights.add_to_cell(cell, change);
    update_constants(visit.structure, weights);
    visit.counts.loss += visit.sample_weight * (log_z - log_right);
    ++visit.counts.updates;
  }
};

using UpdateRule =
    std::variant<PerceptronRule, MarginRule, PassiveAggressiveRule, ArowRule, CorrectionRule, GradientRule>;

}  // namespace marginalia
