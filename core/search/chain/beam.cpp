#include "search/chain/beam.hpp"

#include <algorithm>

namespace marginalia {

namespace {

struct Candidate {
  double score;
  double rank;           // the score of the labels so far, without what belongs to the next choice
  std::uint32_t parent;  // among those kept at the token before
  std::uint32_t label;
};

void keep_best(std::vector<Candidate>& candidates, std::size_t width) {
  const auto better = [](const Candidate& a, const Candidate& b) {
    if (a.rank != b.rank) return a.rank > b.rank;
    return a.parent != b.parent ? a.parent < b.parent : a.label < b.label;
  };
  const std::size_t kept = std::min(width, candidates.size());
  std::partial_sort(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(kept),
                    candidates.end(), better);
  candidates.resize(kept);
}

// The score of label c at token t after candidate k of the token before.
double step(const Lattice& lattice, const std::vector<std::vector<Candidate>>& kept, std::size_t t,
            std::size_t k, std::size_t c) {
  const std::size_t n = lattice.labels();
  double score = lattice.node[t * n + c] + (t + 1 == lattice.length ? lattice.constants->end[c] : 0.0);
  if (t == 0) return score + lattice.constants->start[c];
  const Candidate& before = kept[t - 1][k];
  score += lattice.pairs(t)[before.label * n + c];
  if (lattice.shape->order == 1) return score;
  const std::size_t older = t == 1 ? n : kept[t - 2][before.parent].label;
  return score + lattice.trigrams(t)[(older * n + before.label) * n + c];
}

}  // namespace

std::vector<ScoredLabels> beam_search(const Lattice& lattice, std::size_t width) {
  if (lattice.length == 0) return {{{}, 0.0}};
  std::vector<std::vector<Candidate>> kept(lattice.length);
  for (std::size_t t = 0; t < lattice.length; ++t) {
    const std::size_t parents = t == 0 ? 1 : kept[t - 1].size();
    for (std::size_t k = 0; k < parents; ++k)
      for (std::size_t c = 0; c < lattice.labels(); ++c) {
        const double score = (t == 0 ? 0.0 : kept[t - 1][k].score) + step(lattice, kept, t, k, c);
        if (score == kIllegal) continue;
        const std::size_t before = t == 0 ? lattice.labels() : kept[t - 1][k].label;
        kept[t].push_back({score, score + lattice.normaliser_ahead(t, before, c),
                           static_cast<std::uint32_t>(k), static_cast<std::uint32_t>(c)});
      }
    keep_best(kept[t], width);
  }
  std::vector<ScoredLabels> found;
  for (const Candidate& last : kept.back()) {
    found.push_back({std::vector<std::uint32_t>(lattice.length), last.score});
    const Candidate* at = &last;
    for (std::size_t t = lattice.length; t-- > 0;) {
      found.back().output[t] = at->label;
      if (t > 0) at = &kept[t - 1][at->parent];
    }
  }
  return found;
}

}  // namespace marginalia
