// The outputs of structures as paths from the first token to the last: parts of one or more tokens, which
// are opened and, some tokens later, closed. What the search for outputs that satisfy constraints knows of a
// structure.
#pragma once

#include <cstddef>
#include <cstdint>

#include "search/chain/lattice.hpp"
#include "search/segments/search.hpp"

namespace marginalia {

// A chain's parts are tokens. Open and closed ones are the states of its lattice.
struct ChainPaths {
  const Lattice& lattice;

  std::size_t length() const { return lattice.length; }
  std::size_t longest(std::size_t) const { return 1; }

  template <class F>
  void for_starts(F&& f) const {
    for (std::size_t label = 0; label < lattice.labels(); ++label) f(label, lattice.constants->start[label]);
  }
  // f(open state at t, score) for what may follow a part that was closed at t - 1.
  template <class F>
  void for_next(std::size_t t, std::size_t closed, F&& f) const {
    const std::size_t n = lattice.labels(), label = closed % n;
    const double* pair = lattice.pairs(t) + label * n;
    if (lattice.shape->order == 1) {
      for (std::size_t to = 0; to < n; ++to) f(to, pair[to]);
      return;
    }
    const std::size_t older = t == 1 ? n : closed / n;
    const double* trigram = &lattice.constants->trigram[(older * n + label) * n];
    for (std::size_t to = 0; to < n; ++to) f(label * n + to, pair[to] + trigram[to]);
  }
  double part(std::size_t t, std::size_t open, std::size_t) const {
    return lattice.node[t * lattice.labels() + open % lattice.labels()];
  }
  std::size_t closed(std::size_t open, std::size_t) const { return open; }
  double end(std::size_t closed) const { return lattice.constants->end[closed % lattice.labels()]; }
  // The labels of the tokens of a part, and of the last one of a closed part.
  std::uint32_t label(std::size_t open, std::size_t) const { return label_of_closed(open); }
  std::uint32_t label_of_closed(std::size_t closed) const {
    return static_cast<std::uint32_t>(closed % lattice.labels());
  }
  double score(const Labels& y) const { return path_score(lattice, y.data()); }
};

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
