#include "search/chain/best_wrong.hpp"

#include <algorithm>

namespace marginalia {

namespace {

// The best way to somewhere that went wrong or did not, and the place in the table that it came from.
struct Way {
  double score = kIllegal;
  std::size_t from = 0;
  std::uint32_t tokens = 0;  // of its last segment

  void take(double other, std::size_t other_from, std::uint32_t other_tokens = 1) {
    if (other > score) *this = {other, other_from, other_tokens};
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

// ways[place][type that ends there][went wrong?]
std::optional<ScoredLabels> best_wrong(const SegmentShape& shape, const SegmentConstants& constants,
                                       const SegmentScores& scores, const RightLabels& right) {
  const std::size_t types = shape.types(), width = 2 * types, length = scores.length;
  if (length == 0) return std::nullopt;
  std::vector<Way> ways((length + 1) * width), entering(width);
  for (std::size_t begin = 0; begin < length; ++begin) {
    std::fill(entering.begin(), entering.end(), Way{});
    for (std::size_t s = 0; s < types; ++s) {
      if (begin == 0) entering[2 * s].score = constants.start[s];
      for (std::size_t from = 0; from < width && begin > 0; ++from)
        entering[2 * s + from % 2].take(
            ways[begin * width + from].score + constants.transition[from / 2 * types + s],
            begin * width + from);
    }
    for (std::size_t s = 0; s < types; ++s) {
      bool wrong = !right.allows(begin, shape.begin_label[s]);
      for (std::size_t tokens = 1; tokens <= scores.longest(begin); ++tokens) {
        const double score = scores.at(begin, tokens)[s];
        if (score == kIllegal) continue;
        if (tokens > 1) wrong = wrong || !right.allows(begin + tokens - 1, shape.inside_label[s]);
        for (std::size_t w = 0; w < 2; ++w)
          ways[(begin + tokens) * width + 2 * s + (w | std::size_t{wrong})].take(
              entering[2 * s + w].score + score, entering[2 * s + w].from,
              static_cast<std::uint32_t>(tokens));
      }
    }
  }
  Way last;
  for (std::size_t s = 0; s < types; ++s) {
    const std::size_t from = length * width + 2 * s + 1;
    last.take(ways[from].score + constants.end[s], from);
  }
  if (last.score == kIllegal) return std::nullopt;
  ScoredLabels found{Labels(length), last.score};
  for (std::size_t at = last.from, end = length; end > 0; at = ways[at].from) {
    const std::size_t begin = end - ways[at].tokens;
    shape.write({begin, end - 1, static_cast<std::uint32_t>(at % width / 2)}, found.output);
    end = begin;
  }
  return found;
}

}  // namespace marginalia
