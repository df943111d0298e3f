// The outputs of a chain as paths through its lattice, as the search under constraints sees them: parts that
// are opened and closed. A chain's parts are tokens; open and closed ones are the states of its lattice.
#pragma once

#include <cstddef>
#include <cstdint>

#include "search/chain/lattice.hpp"
#include "search/labels.hpp"

namespace marginalia {

struct ChainPaths {
  const Lattice& lattice;

  std::size_t length() const { return lattice.length; }
  std::size_t longest(std::size_t) const { return 1; }

  template <class F>
  void for_starts(F&& f) const {
    refuse_wide(lattice);
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
    const double* trigram = lattice.trigrams(t) + (older * n + label) * n;
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

}  // namespace marginalia
