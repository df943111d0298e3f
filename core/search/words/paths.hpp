// The outputs of words as paths from the first token to the last, as the search under constraints sees them
// (search/constrained_search.hpp). Constraints may want what the beam would have lost: all words are here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "search/words/lattice.hpp"

namespace marginalia {

// A closed word is its number of tokens and its type; an open one its type and the closed one before it,
// which has no tokens before the first.
template <class Lookup>
struct WordPaths {
  const WordShape& shape;
  const SegmentConstants& constants;
  const SegmentScores& scores;  // of the whole sentence
  const SegmentValues& x;
  Lookup lookup;
  mutable PairScoring pairs;
  mutable std::size_t scored = SIZE_MAX;  // the token whose words `pairs` has

  std::size_t length() const { return scores.length; }
  std::size_t longest(std::size_t t) const { return scores.longest(t); }

  template <class F>
  void for_starts(F&& f) const {
    for (std::size_t type = 0; type < shape.types(); ++type) f(type, constants.start[type]);
  }
  template <class F>
  void for_next(std::size_t, std::size_t closed, F&& f) const {
    const double* transition = &constants.transition[closed % shape.types() * shape.types()];
    for (std::size_t type = 0; type < shape.types(); ++type)
      f(closed * shape.types() + type, transition[type]);
  }
  double part(std::size_t t, std::size_t open, std::size_t tokens) const {
    const std::size_t type = open % shape.types(), closed = open / shape.types();
    if (scores.at(t, tokens)[type] == kIllegal) return kIllegal;
    score_at(t);
    const std::size_t before = closed / shape.types();
    double score = scores.at(t, tokens)[type] + pairs.pair(before == 0 ? 0 : before - 1, tokens)[type];
    if (before != 0) score += pairs.before(tokens)[closed % shape.types()];
    return score;
  }
  std::size_t closed(std::size_t open, std::size_t tokens) const {
    return tokens * shape.types() + open % shape.types();
  }
  double end(std::size_t closed) const { return constants.end[closed % shape.types()]; }
  std::uint32_t label(std::size_t open, std::size_t place) const {
    return (place == 0 ? shape.begin_label : shape.inside_label)[open % shape.types()];
  }
  std::uint32_t label_of_closed(std::size_t closed) const {
    return label(closed, closed / shape.types() == 1 ? 0 : 1);
  }
  double score(const Labels& y) const {
    scored = SIZE_MAX;
    return score_of_words(shape, constants, pairs, lookup, x, scores, y);
  }

 private:
  void score_at(std::size_t t) const {
    if (scored == t) return;
    std::vector<std::size_t> previous;
    for (std::size_t n = 1; n <= std::min<std::size_t>(t, shape.most); ++n) previous.push_back(t - n);
    if (t == 0) previous.push_back(kNoPrevious);
    pairs.score(lookup, x, t, previous, 1, scores.longest(t));
    scored = t;
  }
};

}  // namespace marginalia
