// One class for a whole item: the structure whose output is a single choice. An item is a sentence of one
// token; the score of a class is the sum of the item's weights for it, so that the search is a look at all
// classes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "base/vector.hpp"
#include "search/labels.hpp"

namespace marginalia {

using ScoredClass = Scored<std::uint32_t>;
using ClassScores = std::vector<double>;

// The k best classes, ties by lowest class.
inline std::vector<ScoredClass> best_classes(const ClassScores& scores, std::size_t k) {
  std::vector<ScoredClass> all;
  for (const double score : scores) all.push_back({static_cast<std::uint32_t>(all.size()), score});
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.score > b.score; });
  all.resize(std::min(k, all.size()));
  return all;
}

inline ScoredClass best_class(const ClassScores& scores) {
  const auto most = std::max_element(scores.begin(), scores.end());
  return {static_cast<std::uint32_t>(most - scores.begin()), *most};
}

struct SingleShape {
  std::uint32_t labels = 0;
  std::uint32_t row_width() const { return labels; }
  std::size_t constants() const { return 0; }
};

class Single {
 public:
  using Output = std::uint32_t;
  static constexpr const char* kName = "single";

  // All must outlive it.
  Single(const SingleShape& shape, const LabelData& data, const SparseRows& weights)
      : classes_(shape.labels), data_(data), weights_(weights) {}

  std::size_t size() const { return data_.size(); }
  const ExampleRows& examples() const { return data_.examples; }
  std::size_t parts(std::size_t) const { return 1; }
  Output gold(std::size_t i) { return complete(i) ? right(i).ids()[0] : best_of(i, true)->output; }
  std::size_t errors(std::size_t i, Output y) const { return right(i).allows(0, y) ? 0 : 1; }
  const ScoredClass& best(std::size_t i) { return best_ = best_class(scores_of(i)); }
  std::vector<ScoredClass> k_best(std::size_t i, std::size_t k) { return best_classes(scores_of(i), k); }
  double cost(std::size_t i, Output y) const { return data_.costs->of(right(i), 0, y); }
  const ScoredClass& costly_best(std::size_t i) {
    scores_of(i);
    for (Output y = 0; y < classes_; ++y) scores_[y] += cost(i, y);
    return best_ = best_class(scores_);
  }
  bool complete(std::size_t i) const { return right(i).complete(); }
  std::optional<ScoredClass> best_wrong(std::size_t i) { return best_of(i, false); }

  void features_of(std::size_t i, Output y, auto&& sink) const {
    at(i).for_node_rows(0, [&](std::uint32_t row, double n) { sink(Coordinate{row, y, classes_}, n); });
  }
  void named_features(std::size_t i, auto&& sink) const {
    if (right(i).names(0)) right(i).for_labels(0, [&](Output y) { features_of(i, y, sink); });
  }
  void rows_of(std::size_t i, auto&& f) const {
    at(i).for_node_rows(0, [&](std::uint32_t row, double) { f(row); });
  }
  double expectations(std::size_t i, auto&& means) { return expect(i, nullptr, means); }
  double local_expectations(std::size_t i, auto&& means) { return expect(i, nullptr, means); }  // one choice
  double right_expectations(std::size_t i, auto&& means) {
    return expect(i, right(i).mask(0, classes_, mask_), means);
  }
  void hide(std::size_t i, const Dropout& dropout, std::uint64_t step) {
    hides_ = dropout.active();
    if (hides_) thin(data_.examples, i, dropout, step, thinned_);
  }

 private:
  RightLabels right(std::size_t i) const { return right_labels(data_.examples, i); }
  Example at(std::size_t i) const { return hides_ ? example(thinned_, 0) : example(data_.examples, i); }

  const ClassScores& scores_of(std::size_t i) {
    scores_.resize(classes_);
    sum_node_rows(at(i), weights_, classes_, scores_.data());
    return scores_;
  }
  // The best class that is right, or that is wrong.
  std::optional<ScoredClass> best_of(std::size_t i, bool is_right) {
    for (const ScoredClass& one : k_best(i, classes_))
      if (right(i).allows(0, one.output) == is_right) return one;
    return std::nullopt;
  }

  double expect(std::size_t i, const std::uint8_t* allowed, auto& means) {
    scores_of(i);
    for (Output y = 0; y < classes_ && allowed != nullptr; ++y)
      if (allowed[y] == 0) scores_[y] = -std::numeric_limits<double>::infinity();
    const double most = *std::max_element(scores_.begin(), scores_.end());
    exp_all(scores_.data(), classes_, most);
    const double sum = std::accumulate(scores_.begin(), scores_.end(), 0.0);
    at(i).for_node_rows(0, [&](std::uint32_t row, double value) {
      scaled_ = scores_;
      for (double& mean : scaled_) mean *= value / sum;
      means(row, 0u, scaled_.data(), classes_);
    });
    return most + std::log(sum);
  }

  std::uint32_t classes_;
  const LabelData& data_;
  const SparseRows& weights_;
  ClassScores scores_, scaled_;
  std::vector<std::uint8_t> mask_;
  ScoredClass best_;
  ExampleRows thinned_;
  bool hides_ = false;
};

}  // namespace marginalia
