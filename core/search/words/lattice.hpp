// Once search has come to the end of a sentence: its k best outputs, and the probabilities of its words,
// among the outputs whose states the beam has kept; and the score of any output. Scores are those of all
// words.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

#include "search/words/search.hpp"

namespace marginalia {

// Outputs, best first: best-first search from the end, with the scores of states as exact heuristic.
template <class Lookup>
class WordKBest {
 public:
  // All must outlive it.
  WordKBest(const WordShape& shape, WordSearch& search, const Lookup& lookup, const SegmentScores& scores)
      : shape_(shape), search_(search), lookup_(lookup), scores_(scores) {
    const std::vector<WordState>& last = search.last();
    for (std::uint32_t at = 0; at < last.size(); ++at) push(last[at].score, {scores.length, at, kNone, 0.0});
  }

  std::optional<double> next(Labels& output) {
    while (!queue_.empty()) {
      const Candidate top = queue_.top();
      queue_.pop();
      if (nodes_[top.node].place == 0) {
        output = output_of(top.node);
        return top.bound;
      }
      expand(top.node);
    }
    return std::nullopt;
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Node {  // a state, and all words behind it
    std::size_t place;
    std::uint32_t state, parent;
    double behind;
  };
  struct Candidate {
    double bound;  // the best score of an output that ends so
    std::uint64_t order;
    std::uint32_t node;
    bool operator<(const Candidate& other) const {
      return bound != other.bound ? bound < other.bound : order > other.order;
    }
  };
  void push(double bound, const Node& node) {
    nodes_.push_back(node);
    queue_.push({bound, pushed_++, static_cast<std::uint32_t>(nodes_.size() - 1)});
  }
  void expand(std::uint32_t number) {
    const Node node = nodes_[number];
    const std::size_t begin = search_.agenda(node.place)[node.state].begin, tokens = node.place - begin;
    search_.for_steps(lookup_, scores_, begin, tokens, tokens,
                      [&](std::size_t, std::uint32_t at, std::uint32_t from, double score) {
                        if (at != node.state) return;
                        const double behind = node.behind + score;
                        push(search_.agenda(begin)[from].score + behind, {begin, from, number, behind});
                      });
  }
  Labels output_of(std::uint32_t number) const {
    Labels output(scores_.length);
    for (std::uint32_t at = nodes_[number].parent; at != kNone; at = nodes_[at].parent) {
      const WordState& word = search_.agenda(nodes_[at].place)[nodes_[at].state];
      shape_.write({word.begin, nodes_[at].place - 1, word.type}, output);
    }
    return output;
  }

  const WordShape& shape_;
  WordSearch& search_;
  const Lookup lookup_;
  const SegmentScores& scores_;
  std::vector<Node> nodes_;
  std::priority_queue<Candidate> queue_;
  std::uint64_t pushed_ = 0;
};

// At most k outputs.
template <class Lookup>
std::vector<ScoredLabels> k_best_words(const WordShape& shape, WordSearch& search, const Lookup& lookup,
                                       const SegmentScores& scores, std::size_t k) {
  WordKBest<Lookup> outputs(shape, search, lookup, scores);
  std::vector<ScoredLabels> found;
  ScoredLabels one;
  while (found.size() < k) {
    const std::optional<double> score = outputs.next(one.output);
    if (!score) break;
    one.score = *score;
    found.push_back(one);
  }
  return found;
}

inline double log_sum(double a, double b) {
  const double most = std::max(a, b);
  return most == kIllegal ? most : most + std::log1p(std::exp(std::min(a, b) - most));
}

struct WordProbabilities {
  SegmentScores words;        // [T][M][types]
  std::vector<double> twins;  // [T][S] that one word of a type ends before a token and another begins
  double log_z = 0.0;
};

// Where the probability of an output is proportional to exp(factor * score).
template <class Lookup>
WordProbabilities probabilities_of_words(const WordShape& shape, WordSearch& search, const Lookup& lookup,
                                         const SegmentScores& scores, double factor) {
  const std::size_t length = scores.length;
  std::vector<std::vector<double>> forward(length + 1), backward(length + 1);
  for (std::size_t place = 0; place <= length; ++place) {
    const bool ends = place == length;
    forward[place].assign(search.agenda(place).size(), place == 0 ? 0.0 : kIllegal);
    backward[place].assign(search.agenda(place).size(), ends ? 0.0 : kIllegal);
  }
  const auto for_steps = [&](std::size_t begin, auto&& f) {
    search.for_steps(lookup, scores, begin, 1, scores.longest(begin), f);
  };
  for (std::size_t begin = 0; begin < length; ++begin)
    for_steps(begin, [&](std::size_t place, std::uint32_t at, std::uint32_t from, double score) {
      forward[place][at] = log_sum(forward[place][at], forward[begin][from] + factor * score);
    });
  WordProbabilities found;
  found.words.begin(shape, length, 0, length);
  std::fill(found.words.values.begin(), found.words.values.end(), 0.0);
  found.twins.assign(length * shape.types(), 0.0);
  found.log_z = kIllegal;
  for (const double one : forward[length]) found.log_z = log_sum(found.log_z, one);
  for (std::size_t begin = length; begin-- > 0;)
    for_steps(begin, [&](std::size_t place, std::uint32_t at, std::uint32_t from, double score) {
      const double behind = factor * score + backward[place][at];
      backward[begin][from] = log_sum(backward[begin][from], behind);
      const double probability = std::exp(forward[begin][from] + behind - found.log_z);
      const std::uint32_t type = search.agenda(place)[at].type;
      found.words.at(begin, place - begin)[type] += probability;
      if (begin > 0 && search.agenda(begin)[from].type == type)
        found.twins[begin * shape.types() + type] += probability;
    });
  return found;
}

// Of any output; -infinity if its labels spell no words.
template <class Lookup>
double score_of_words(const WordShape& shape, const SegmentConstants& constants, PairScoring& pairs,
                      const Lookup& lookup, const SegmentValues& x, const SegmentScores& scores,
                      const Labels& y) {
  const std::vector<Segment> words = shape.segments(y);
  if (words.empty() && !y.empty()) return kIllegal;
  double sum = 0.0;
  for (std::size_t k = 0; k < words.size(); ++k) {
    const Segment& word = words[k];
    const std::size_t tokens = word.last + 1 - word.begin,
                      previous = k == 0 ? kNoPrevious : words[k - 1].begin;
    pairs.score(lookup, x, word.begin, {&previous, 1}, tokens, tokens);
    sum += scores.at(word.begin, tokens)[word.type] + pairs.pair(0, tokens)[word.type];
    if (k == 0)
      sum += constants.start[word.type];
    else
      sum += pairs.before(tokens)[words[k - 1].type] +
             constants.transition[words[k - 1].type * shape.types() + word.type];
    if (k + 1 == words.size()) sum += constants.end[word.type];
  }
  return sum;
}

}  // namespace marginalia
