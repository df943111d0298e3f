// The n best outputs of a search, kept as what each changes in an earlier one: memory and time follow the
// differences, not the number of outputs times their length.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "features/global_evaluator.hpp"
#include "search/chain/lattice.hpp"
#include "search/labels.hpp"
#include "search/segments/search.hpp"

namespace marginalia {

class HypothesisList {
 public:
  HypothesisList() = default;  // an empty one
  HypothesisList(Labels first, double score) : first_(std::move(first)) {
    steps_.push_back({0, 0, 0, 0, score});
  }
  // One more, which differs from `parent` in `labels`, from token `begin` on.
  void add(std::uint32_t parent, std::size_t begin, std::span<const std::uint32_t> labels, double score);

  std::size_t size() const { return steps_.size(); }
  std::size_t length() const { return first_.size(); }
  const Labels& first() const { return first_; }
  double score(std::size_t k) const { return steps_[k].score; }
  Labels output(std::size_t k) const;

  // The first n of them, with scores of another model: score(labels) is that of an output.
  template <class Score>
  HypothesisList rescored(std::size_t n, Score&& score) const;

 private:
  friend class HypothesisCursor;
  struct Step {
    std::uint32_t parent;
    std::size_t begin, offset, count;  // tokens [begin, begin + count) have labels_[offset ...]
    double score;
  };
  Labels first_;
  std::vector<Step> steps_;  // the first has none
  std::vector<std::uint32_t> labels_;
};

// One output of a list at a time, with where it may differ from the first.
class HypothesisCursor {
 public:
  explicit HypothesisCursor(const HypothesisList& list) : list_(list), labels_(list.first()) {}
  void move_to(std::size_t k);
  const Labels& labels() const { return labels_; }
  const std::vector<Stretch>& changed() const { return changed_; }

 private:
  const HypothesisList& list_;
  Labels labels_;
  std::vector<Stretch> changed_;  // rising, apart
  std::vector<std::uint32_t> way_;
};

template <class Score>
HypothesisList HypothesisList::rescored(std::size_t n, Score&& score) const {
  HypothesisList found = *this;
  found.steps_.resize(std::min(n, steps_.size()));
  HypothesisCursor cursor(*this);
  for (std::size_t k = 0; k < found.size(); ++k) {
    cursor.move_to(k);
    found.steps_[k].score = score(cursor.labels());
  }
  return found;
}

// At most n, best first; none if there is no legal output.
HypothesisList hypotheses_of(const Lattice& lattice, std::size_t n);
HypothesisList hypotheses_of(const SegmentShape& shape, const SegmentConstants& constants,
                             const SegmentScores& scores, std::size_t n);
// Outputs that are listed in full, the first being the one that others are compared with.
HypothesisList listed(std::span<const ScoredLabels> outputs);

}  // namespace marginalia
