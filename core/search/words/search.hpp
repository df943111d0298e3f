// Beam search over the words of a sentence, with an agenda at each place between two tokens.
//   A state is the last word before a place, with its type. All that features of what follows can see of what
//   stands before is that word, so prefixes that end with the same word are one state, and the best of them
//   is its score: if the beam keeps all states, search is exact. T tokens, S types, M tokens in the longest
//   word, B states in the beam: O(T * M * B * S).
// Ties: the shorter last word is better, then the lower type; then the better state before it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "features/right.hpp"
#include "search/labels.hpp"
#include "search/segments/search.hpp"
#include "search/words/pair_scoring.hpp"

namespace marginalia {

struct WordState {
  double score;
  std::size_t begin;  // first token of the word; kNoPrevious: nothing before the sentence
  std::uint32_t type;
  std::uint32_t from;  // place in the agenda of `begin`
  bool wrong;          // is there a word that cannot be right on the way? Only if the search is told what is
  bool gold;           // is it gold's prefix? Only if the search follows gold
};

class WordSearch {
 public:
  // Both must outlive it.
  WordSearch(const SegmentExtractor& extractor, const WordShape& shape)
      : shape_(shape), pairs(extractor, shape) {}

  struct Options {
    const RightLabels* right = nullptr;  // keeps apart what cannot be right
    std::span<const Segment> gold = {};  // to be followed beside the beam
    bool stops = false;                  // when the beam has lost gold
  };
  // Where a gold word ends: gold's score so far, and whether the beam still has gold's state.
  struct GoldStep {
    std::size_t place;
    double score;
    bool kept;
  };

  // All must outlive the search.
  void begin(const SegmentConstants& constants, const SegmentValues& x, const Options& options);
  // The words that begin at the tokens of some scores; to be called for blocks of them, one after another,
  // until all tokens were there. False: it has stopped.
  template <class Lookup>
  bool go_on(const Lookup& lookup, const SegmentScores& scores);

  // The states at a place, best first, once search has come there.
  const std::vector<WordState>& agenda(std::size_t place) const { return agendas_[place]; }
  const std::vector<WordState>& last() const { return agendas_[x_->length]; }
  const std::vector<GoldStep>& gold_steps() const { return gold_steps_; }
  // The labels up to a place, on the best way to a state there.
  Labels output(std::size_t place, std::uint32_t state) const;

  // Calls f(place, number of a state there, number of a state at `begin`, score of the step) for all steps of
  // states that were kept: from those at `begin` to words of `least` to `most` tokens.
  template <class Lookup, class F>
  void for_steps(const Lookup& lookup, const SegmentScores& scores, std::size_t begin, std::size_t least,
                 std::size_t most, F&& f);

 private:
  template <class Lookup>
  void score_pairs(const Lookup& lookup, std::size_t begin, std::size_t least, std::size_t most,
                   std::size_t also = SIZE_MAX);
  void prune(std::size_t place);
  void extend(const SegmentScores& scores, std::size_t begin, std::size_t tokens);
  void offer(std::size_t begin, std::size_t tokens, const double* own, bool from_wrong);
  void follow_gold(const SegmentScores& scores, std::size_t begin);
  double step(std::uint32_t from_type, std::size_t begin, std::size_t span, std::size_t tokens,
              std::uint32_t type) const;
  bool fits(std::size_t begin, std::size_t tokens, std::uint32_t type) const;

  const WordShape& shape_;
  const SegmentConstants* constants_ = nullptr;
  const SegmentValues* x_ = nullptr;
  Options options_;
  std::vector<std::vector<WordState>> agendas_;  // [T + 1]
  std::vector<std::size_t> previous_;            // first tokens of the words before, each once
  std::vector<std::size_t> span_of_;             // [states of an agenda] which of them
  std::vector<double> best_;                     // [S] of the words that are being offered
  std::vector<std::uint32_t> from_;              // [S] beside them
  std::size_t gold_at_ = 0;                      // the next gold word
  double gold_score_ = 0.0;
  std::vector<GoldStep> gold_steps_;

 public:
  PairScoring pairs;
};

template <class Lookup>
void WordSearch::score_pairs(const Lookup& lookup, std::size_t begin, std::size_t least, std::size_t most,
                             std::size_t also) {
  previous_.clear();
  span_of_.clear();
  const auto place_of = [&](std::size_t first) {
    const auto found = std::find(previous_.begin(), previous_.end(), first);
    const auto at = static_cast<std::size_t>(found - previous_.begin());
    if (found == previous_.end()) previous_.push_back(first);
    return at;
  };
  for (const WordState& state : agendas_[begin]) span_of_.push_back(place_of(state.begin));
  if (also != SIZE_MAX) place_of(also == begin ? kNoPrevious : also);
  pairs.score(lookup, *x_, begin, previous_, least, most);
}

template <class Lookup>
bool WordSearch::go_on(const Lookup& lookup, const SegmentScores& scores) {
  for (std::size_t begin = scores.first; begin < scores.first + scores.count; ++begin) {
    const bool at_gold = gold_at_ < options_.gold.size() && options_.gold[gold_at_].begin == begin;
    if (!agendas_[begin].empty() || at_gold) {
      const std::size_t before = gold_at_ == 0 ? begin : options_.gold[gold_at_ - 1].begin;
      score_pairs(lookup, begin, 1, scores.longest(begin), at_gold ? before : SIZE_MAX);
      for (std::size_t tokens = 1; tokens <= scores.longest(begin); ++tokens) extend(scores, begin, tokens);
      if (at_gold) follow_gold(scores, begin);
    }
    prune(begin + 1);
    if (options_.stops && !gold_steps_.empty() && !gold_steps_.back().kept) return false;
  }
  return true;
}

template <class Lookup, class F>
void WordSearch::for_steps(const Lookup& lookup, const SegmentScores& scores, std::size_t begin,
                           std::size_t least, std::size_t most, F&& f) {
  if (agendas_[begin].empty()) return;
  score_pairs(lookup, begin, least, most);
  for (std::size_t tokens = least; tokens <= most; ++tokens) {
    const std::vector<WordState>& next = agendas_[begin + tokens];
    for (std::uint32_t at = 0; at < next.size(); ++at) {
      if (next[at].begin != begin) continue;
      const double own = scores.at(begin, tokens)[next[at].type];
      for (std::uint32_t from = 0; from < agendas_[begin].size(); ++from)
        f(begin + tokens, at, from,
          own + step(agendas_[begin][from].type, begin, span_of_[from], tokens, next[at].type));
    }
  }
}

}  // namespace marginalia
