#include "search/chain/best_wrong.hpp"

#include <vector>

namespace marginalia {

namespace {

// The best way to somewhere that went wrong or did not, and the place in the table that it came from.
struct Way {
  double score = kIllegal;
  std::size_t from = 0;

  void take(double other, std::size_t other_from) {
    if (other > score) *this = {other, other_from};
  }
};

}  // namespace

// ways[t][state][went wrong?]
std::optional<ScoredLabels> best_wrong(const Lattice& lattice, const RightLabels& right) {
  const std::size_t n = lattice.labels(), length = lattice.length;
  if (length == 0) return std::nullopt;
  const std::size_t width = 2 * lattice.states(length - 1);
  std::vector<Way> ways(length * width);
  const auto wrong = [&](std::size_t t, std::size_t state) {
    return !right.allows(t, static_cast<std::uint32_t>(state % n));
  };
  for (std::size_t c = 0; c < n; ++c)
    ways[2 * c + wrong(0, c)].score = lattice.constants->start[c] + lattice.node[c];
  for (std::size_t t = 1; t < length; ++t)
    for (std::size_t state = 0; state < lattice.states(t); ++state) {
      const double node = lattice.node[t * n + state % n];
      Way* here = &ways[t * width + 2 * state];
      lattice.for_predecessors(t, state, [&](std::size_t before, double step) {
        for (std::size_t w = 0; w < 2; ++w) {
          const std::size_t from = (t - 1) * width + 2 * before + w;
          here[w | std::size_t{wrong(t, state)}].take(ways[from].score + step + node, from);
        }
      });
    }
  Way last;
  for (std::size_t state = 0; state < lattice.states(length - 1); ++state) {
    const std::size_t from = (length - 1) * width + 2 * state + 1;
    last.take(ways[from].score + lattice.constants->end[state % n], from);
  }
  if (last.score == kIllegal) return std::nullopt;
  ScoredLabels found{Labels(length), last.score};
  for (std::size_t at = last.from, t = length; t-- > 0; at = ways[at].from)
    found.output[t] = static_cast<std::uint32_t>(at % width / 2 % n);
  return found;
}

}  // namespace marginalia
