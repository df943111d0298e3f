// A choice from a list that is given with each example: re-ranking. An item is a sentence whose tokens are
// its candidates, an output is the number of one of them. Its score is the sum of its own features' weights,
// so that a feature has one weight, whatever candidate has it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <vector>

#include "base/candidates.hpp"
#include "base/hash.hpp"
#include "base/vector.hpp"
#include "search/labels.hpp"
#include "search/single/single.hpp"
#include "search/tiers.hpp"

namespace marginalia {

// Gold labels of candidates: which of them is right.
inline constexpr std::uint32_t kRightCandidate = 0, kOtherCandidate = 1;

inline std::uint64_t base_score_key() {
  return key_of(hash_of(kBaseScore).hash, false);
}

// `base_scale` is what the base score is multiplied by, beside the learned weight.
struct CandidateShape {
  float base_scale = 1.0f;
  std::uint32_t row_width() const { return 1; }
  std::size_t constants() const { return 0; }
};

// Examples, and the loss of each candidate; without, each candidate that is not right costs 1.
struct CandidateData {
  const ExampleRows& examples;
  std::shared_ptr<const std::vector<float>> losses;

  std::size_t size() const { return examples.sentences(); }
  std::size_t parts() const { return examples.tokens(); }
  std::uint32_t most_row() const { return examples.most_row(); }
  bool can_hide() const { return examples.can_hide(); }
  std::size_t right_ones(std::size_t i) const {
    const auto first = examples.gold.begin() + examples.sentence[i];
    const auto last = examples.gold.begin() + examples.sentence[i + 1];
    return static_cast<std::size_t>(std::count(first, last, kRightCandidate));
  }
  bool complete() const {
    if (examples.gold.empty()) return true;
    for (std::size_t i = 0; i < size(); ++i)
      if (right_ones(i) != 1) return false;
    return true;
  }
  void check_gold(const CandidateShape&) const {
    if (examples.gold.size() != parts()) throw std::invalid_argument("candidates: there is no gold");
    for (std::size_t i = 0; i < size(); ++i)
      if (right_ones(i) == 0) throw std::invalid_argument("candidates: an item has none that is right");
  }
};

inline const CandidateData& closed(const CandidateData& data) {
  return data;
}

class Candidates {
 public:
  using Output = std::uint32_t;
  static constexpr const char* kName = "candidates";

  // All must outlive it.
  Candidates(const CandidateShape&, const CandidateData& data, const SparseRows& weights)
      : data_(data), weights_(weights) {}

  std::size_t size() const { return data_.size(); }
  std::size_t parts(std::size_t) const { return 1; }
  std::size_t outputs(std::size_t i) const {
    return data_.examples.sentence[i + 1] - data_.examples.sentence[i];
  }
  Output gold(std::size_t i) {
    if (!complete(i)) return best_of(i, true)->output;
    Output y = 0;
    while (!is_right(i, y)) ++y;
    return y;
  }
  std::size_t errors(std::size_t i, Output y) const { return is_right(i, y) ? 0 : 1; }
  const ScoredClass& best(std::size_t i) { return best_ = best_class(scores_of(i)); }
  std::vector<ScoredClass> k_best(std::size_t i, std::size_t k) { return best_classes(scores_of(i), k); }

  // What it loses that the right candidate (of several the one that loses most) does not.
  double cost(std::size_t i, Output y) const {
    if (is_right(i, y)) return 0.0;
    if (data_.losses->empty()) return 1.0;
    return std::max(0.0, loss(i, y) - right_loss(i));
  }
  const ScoredClass& costly_best(std::size_t i) {
    scores_of(i);
    for (Output y = 0; y < scores_.size(); ++y) scores_[y] += cost(i, y);
    return best_ = best_class(scores_);
  }
  bool complete(std::size_t i) const { return data_.right_ones(i) == 1; }
  std::optional<ScoredClass> best_wrong(std::size_t i) { return best_of(i, false); }

  void features_of(std::size_t i, Output y, auto&& sink) const {
    at(i).for_node_rows(y, [&](std::uint32_t row, double n) { sink(Coordinate{row, 0, 1}, n); });
  }
  // Every feature has its one weight, whether a right candidate has it or not.
  void supported_features(std::size_t i, auto&& sink) const {
    for (Output y = 0; y < outputs(i); ++y) features_of(i, y, sink);
  }
  void named_features(std::size_t i, auto&& sink) const { supported_features(i, sink); }
  void rows_of(std::size_t i, auto&& f) const {
    const Example x = at(i);
    for (std::size_t y = 0; y < x.length; ++y) x.for_node_rows(y, [&](std::uint32_t row, double) { f(row); });
  }
  double expectations(std::size_t i, auto&& means) { return expect(i, false, means); }
  double local_expectations(std::size_t i, auto&& means) { return expect(i, false, means); }  // one choice
  double right_expectations(std::size_t i, auto&& means) { return expect(i, true, means); }
  void hide(std::size_t i, const Dropout& dropout, std::uint64_t step) {
    hides_ = dropout.active();
    if (hides_) thin(data_.examples, i, dropout, step, thinned_);
  }

 private:
  Example at(std::size_t i) const { return hides_ ? example(thinned_, 0) : example(data_.examples, i); }
  std::size_t place(std::size_t i, Output y) const { return data_.examples.sentence[i] + std::size_t{y}; }
  bool is_right(std::size_t i, Output y) const { return data_.examples.gold[place(i, y)] == kRightCandidate; }
  double loss(std::size_t i, Output y) const { return static_cast<double>((*data_.losses)[place(i, y)]); }
  double right_loss(std::size_t i) const {
    double most = -std::numeric_limits<double>::infinity();
    for (Output y = 0; y < outputs(i); ++y)
      if (is_right(i, y)) most = std::max(most, loss(i, y));
    return most;
  }

  const ClassScores& scores_of(std::size_t i) {
    const Example x = at(i);
    scores_.resize(x.length);
    sum_node_rows(x, weights_, 1, scores_.data());
    return scores_;
  }
  // The best candidate that is right, or that is wrong.
  std::optional<ScoredClass> best_of(std::size_t i, bool right) {
    std::optional<ScoredClass> found;
    scores_of(i);
    for (Output y = 0; y < scores_.size(); ++y)
      if (is_right(i, y) == right && (!found || scores_[y] > found->score))
        found = ScoredClass{y, scores_[y]};
    return found;
  }

  double expect(std::size_t i, bool right_only, auto& means) {
    scores_of(i);
    for (Output y = 0; y < scores_.size() && right_only; ++y)
      if (!is_right(i, y)) scores_[y] = -std::numeric_limits<double>::infinity();
    const double most = *std::max_element(scores_.begin(), scores_.end());
    exp_all(scores_.data(), scores_.size(), most);
    const double sum = std::accumulate(scores_.begin(), scores_.end(), 0.0);
    const Example x = at(i);
    for (std::size_t y = 0; y < x.length; ++y) {
      const double share = scores_[y] / sum;
      if (share == 0.0) continue;
      x.for_node_rows(y, [&](std::uint32_t row, double value) {
        const double mean = value * share;
        means(row, 0u, &mean, 1u);
      });
    }
    return most + std::log(sum);
  }

  const CandidateData& data_;
  const SparseRows& weights_;
  ClassScores scores_;
  ScoredClass best_;
  ExampleRows thinned_;
  bool hides_ = false;
};

static_assert(Listed<Candidates> && CostSensitive<Candidates> && Probabilistic<Candidates>);
static_assert(Stepwise<Candidates> && PartiallyLabelled<Candidates> && Droppable<Candidates>);

}  // namespace marginalia
