// Beam search over the states of a transition-based parser: at each step the best states go on. With a beam
// of one it is greedy.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "search/trees/scoring.hpp"
#include "search/trees/states.hpp"

namespace marginalia {

// What search adds to scores, and what it may not leave.
struct TreeSearchOptions {
  const GivenArcs* given = nullptr;  // arcs that outputs must have
  const TreeArcs* costs = nullptr;   // 1 for each arc that is known here and made otherwise
};

class TreeSearch {
 public:
  TreeSearch(const TreeExtractor& extractor, const TreeShape& shape)
      : scoring(extractor, shape), states(shape), shape_(shape) {}

  TreeScoring scoring;  // its `x` is the sentence
  TreeStates states;

  // Begins with the sentence; the first state is the beam. `gold`: actions to be followed beside the beam.
  void begin(const TreeSearchOptions& options, std::span<const std::uint32_t> gold = {});
  // One step of all states of the beam. False: all are done, or there is none.
  template <class Lookup>
  bool advance(const Lookup& lookup);
  template <class Lookup>
  void finish(const Lookup& lookup) {
    while (advance(lookup)) {
    }
  }

  const std::vector<std::uint32_t>& beam() const { return beam_; }  // best first; empty: no way on
  std::uint32_t gold() const { return gold_; }                      // the state of gold's actions so far
  bool gold_in_beam() const { return gold_at_ < beam_.size(); }

 private:
  static constexpr std::uint32_t kStay = UINT32_MAX;
  struct Candidate {
    double score;
    std::uint32_t at;      // place in the beam
    std::uint32_t column;  // action, or kStay
    bool is_gold = false;
  };
  static bool better(const Candidate& a, const Candidate& b) {
    if (a.score != b.score) return a.score > b.score;
    return a.at != b.at ? a.at < b.at : a.column < b.column;
  }
  void offer(const Candidate& one);
  void offer_all(std::uint32_t at, const float* scores);
  void offer_labels(const Candidate& base, const float* scores, std::size_t move, const NewArc& arc);
  void follow_gold(const float* scores);
  void take();

  const TreeShape& shape_;
  TreeSearchOptions options_;
  std::vector<std::uint32_t> beam_, next_, asked_;
  std::vector<Candidate> top_;  // a heap, the worst first
  std::span<const std::uint32_t> actions_;
  std::uint32_t gold_ = 0;
  bool follows_ = false;            // is there gold?
  std::size_t gold_at_ = SIZE_MAX;  // its place in the beam
};

template <class Lookup>
bool TreeSearch::advance(const Lookup& lookup) {
  asked_.clear();
  for (const std::uint32_t s : beam_)
    if (!states.done(states[s])) asked_.push_back(s);
  if (asked_.empty()) return false;
  const bool beside = follows_ && !gold_in_beam() && !states.done(states[gold_]);
  if (beside) asked_.push_back(gold_);
  scoring.score(lookup, states, asked_);
  top_.clear();
  std::size_t k = 0;
  const float* of_gold = beside ? scoring.scores(asked_.size() - 1) : nullptr;
  for (std::uint32_t at = 0; at < beam_.size(); ++at) {
    if (states.done(states[beam_[at]])) {
      offer({states[beam_[at]].score, at, kStay, at == gold_at_});
      continue;
    }
    if (at == gold_at_) of_gold = scoring.scores(k);
    offer_all(at, scoring.scores(k++));
  }
  if (of_gold != nullptr) follow_gold(of_gold);
  take();
  return true;
}

}  // namespace marginalia
