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

using Kept = std::vector<std::vector<Candidate>>;  // by step, each with a label

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
double step(const Lattice& lattice, const Kept& kept, std::size_t t, std::size_t k, std::size_t c) {
  const std::size_t n = lattice.labels();
  double score = lattice.node[t * n + c] + (t + 1 == lattice.length ? lattice.constants->end[c] : 0.0);
  if (t == 0) return score + lattice.constants->start[c];
  const Candidate& before = kept[t - 1][k];
  score += lattice.pairs(t)[before.label * n + c];
  if (lattice.shape->order == 1) return score;
  const std::size_t older = t == 1 ? n : kept[t - 2][before.parent].label;
  return score + lattice.trigrams(t)[(older * n + before.label) * n + c];
}

std::vector<ScoredLabels> outputs_of(const Kept& kept, bool backwards) {
  const std::size_t length = kept.size();
  std::vector<ScoredLabels> found;
  for (const Candidate& last : kept.back()) {
    found.push_back({std::vector<std::uint32_t>(length), last.score});
    const Candidate* at = &last;
    for (std::size_t k = length; k-- > 0;) {
      found.back().output[backwards ? length - 1 - k : k] = at->label;
      if (k > 0) at = &kept[k - 1][at->parent];
    }
  }
  return found;
}

// The labels of candidate k of a step and of those before it, at most so many.
void find_near(const Kept& kept, std::size_t step, std::size_t k, std::size_t most,
               std::vector<std::uint32_t>& near) {
  near.clear();
  for (const Candidate* at = &kept[step][k]; near.size() < most; at = &kept[--step][at->parent]) {
    near.push_back(at->label);
    if (step == 0) return;
  }
}

std::vector<ScoredLabels> wide_search(const Lattice& lattice, std::size_t width) {
  const WideScores& wide = *lattice.wide();
  const ChainConstants& constants = *lattice.constants;
  const std::size_t n = lattice.labels(), length = lattice.length;
  const bool back = wide.backwards();
  const auto pair = [&](std::size_t before, std::size_t c) {
    return constants.transition[back ? c * n + before : before * n + c];
  };
  Kept kept(length);
  std::vector<std::uint32_t> near;
  std::vector<double> scores(n);
  for (std::size_t step = 0; step < length; ++step) {
    const std::size_t t = back ? length - 1 - step : step, parents = step == 0 ? 1 : kept[step - 1].size();
    for (std::size_t k = 0; k < parents; ++k) {
      if (step > 0) find_near(kept, step - 1, k, wide.neighbours(), near);
      wide.write(t, near, scores.data());
      for (std::size_t c = 0; c < n; ++c) {
        double score = scores[c];
        score += step > 0 ? kept[step - 1][k].score + pair(near[0], c)
                          : (back ? constants.end : constants.start)[c];
        if (step + 1 == length) score += (back ? constants.start : constants.end)[c];
        if (score != kIllegal && lattice.allows(t, c))
          kept[step].push_back({score, score, static_cast<std::uint32_t>(k), static_cast<std::uint32_t>(c)});
      }
    }
    keep_best(kept[step], width);
  }
  return outputs_of(kept, back);
}

}  // namespace

std::vector<ScoredLabels> beam_search(const Lattice& lattice, std::size_t width) {
  if (lattice.length == 0) return {{{}, 0.0}};
  if (lattice.wide() != nullptr) return wide_search(lattice, width);
  Kept kept(lattice.length);
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
  return outputs_of(kept, false);
}

}  // namespace marginalia
