// The outputs of segments as paths from the first token to the last, as the search under constraints sees
// them: parts of one or more tokens, which are opened and, some tokens later, closed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "search/labels.hpp"
#include "search/segments/search.hpp"

namespace marginalia {

// An open segment is its type; a closed one also says whether it had more than one token.
struct SegmentPaths {
  const SegmentShape& shape;
  const SegmentConstants& constants;
  const SegmentScores& scores;  // of the whole sentence

  std::size_t length() const { return scores.length; }
  std::size_t longest(std::size_t t) const { return scores.longest(t); }

  template <class F>
  void for_starts(F&& f) const {
    for (std::size_t type = 0; type < shape.types(); ++type) f(type, constants.start[type]);
  }
  template <class F>
  void for_next(std::size_t, std::size_t closed, F&& f) const {
    const double* transition = &constants.transition[closed / 2 * shape.types()];
    for (std::size_t type = 0; type < shape.types(); ++type)
      f(type, shape.transitions ? transition[type] : 0.0);
  }
  double part(std::size_t t, std::size_t type, std::size_t tokens) const {
    return scores.at(t, tokens)[type];
  }
  std::size_t closed(std::size_t type, std::size_t tokens) const { return type * 2 + (tokens > 1 ? 1 : 0); }
  double end(std::size_t closed) const { return constants.end[closed / 2]; }
  std::uint32_t label(std::size_t type, std::size_t place) const {
    return (place == 0 ? shape.begin_label : shape.inside_label)[type];
  }
  std::uint32_t label_of_closed(std::size_t closed) const { return label(closed / 2, closed % 2); }
  double score(const Labels& y) const { return score_of(shape, constants, scores, y); }
};

}  // namespace marginalia
